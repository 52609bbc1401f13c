"""Data sets that are made in code."""
