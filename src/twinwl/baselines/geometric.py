"""PyTorch Geometric, or an error that says which command installs it."""

from __future__ import annotations

from twinwl.errors import import_extra

__all__ = ["pyg"]

pyg = import_extra("torch_geometric.nn", "baselines")
"""Its layers and pooling operators."""
