"""Readers, one per file format: text or bytes in, graphs out."""
