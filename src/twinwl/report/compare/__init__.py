"""The page and the words about two graphs that were compared."""
