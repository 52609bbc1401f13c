"""Load graph collections by name or from local files."""
