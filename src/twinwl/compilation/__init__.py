"""Compiling kernels: the one decorator that makes them, and where their machine code is kept."""
