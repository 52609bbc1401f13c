"""Graphs and molecules on a canvas or a terminal."""
