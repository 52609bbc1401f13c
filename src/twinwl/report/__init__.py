"""Figures and self-contained HTML pages."""
