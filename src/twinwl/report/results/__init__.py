"""Pages of results: their content, as HTML and as Markdown."""
