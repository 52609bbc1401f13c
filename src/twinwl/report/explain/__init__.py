"""The page and the picture of an explanation."""
