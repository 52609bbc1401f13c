"""The page and the text about the comparison of two graphs."""
