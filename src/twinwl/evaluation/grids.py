"""The grids of hyperparameters of each method.

``PAPER`` is section 5 of the paper. Where the paper takes the figures of a method from elsewhere it states no
grid, and the method runs with one configuration. ``COMPACT`` is a smaller grid for two cores. Kernels choose
their penalty C, and the WL kernels also the number of rounds, inside each training part, so their grids are
small or empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

__all__ = ["COMPACT", "PAPER", "Grid", "grids_of"]

Grid: TypeAlias = Mapping[str, Sequence[object]]
"""Values to try of each parameter, in every combination."""

PAPER: dict[str, Grid] = {
    "stwin": {"n_iter": [2, 3, 4, 5]},
    "stwin-joint": {"n_iter": [2, 3, 4, 5]},
    "wl": {"n_iter": [2, 3, 4, 5]},
    "ntwin": {"layers": [2, 3, 4, 5], "hops": ["growing", 2, 3, 4, 5]},
    "wl-encoder": {"layers": [2, 3, 4, 5]},
    "dgk": {"n_iter": [2, 3, 4, 5]},
    "gcn": {"layers": [2, 3, 4, 5], "hidden": [32, 64, 128]},
    "gin": {"layers": [2, 3, 4, 5], "hidden": [32, 64, 128]},
    "diffpool": {},
    "sortpool": {},
    "sagpool": {},
    "123-gnn": {},
    "3-hop-gnn": {},
    "nested-gin": {"height": [2, 3, 4, 5], "layers": [4]},
    "ppgn": {},
    "gcn-rni": {"ratio": [0.125, 0.5, 0.875, 1.0]},
    "id-gnn": {},
    "id-gnn-fast": {},
}

COMPACT: dict[str, Grid] = {
    "stwin": {"n_iter": [2, 3]},
    "stwin-joint": {"n_iter": [2, 3]},
    "wl": {"n_iter": [2, 3]},
    "ntwin": {"layers": [3], "hops": ["growing", 3]},
    "wl-encoder": {"layers": [3]},
    "dgk": {"n_iter": [2, 3]},
    "gcn": {"layers": [3, 5]},
    "gin": {"layers": [2, 4]},
    "diffpool": {"cluster_ratio": [0.1, 0.25]},
    "sortpool": {"hidden": [32, 64]},
    "sagpool": {"ratio": [0.5, 0.8]},
    "123-gnn": {"hidden": [32]},
    "3-hop-gnn": {"hidden": [32, 64]},
    "nested-gin": {"height": [2, 3]},
    "ppgn": {"layers": [2, 3]},
    "gcn-rni": {"ratio": [0.5]},
    "id-gnn": {"layers": [2, 3]},
    "id-gnn-fast": {"longest_walk": [4, 6]},
}


def grids_of(name: str) -> dict[str, Grid]:
    """Return the grids of a method, by grid name.

    >>> grids_of("nested-gin")["paper"]
    {'height': [2, 3, 4, 5], 'layers': [4]}
    """
    return {"compact": COMPACT.get(name, {}), "paper": PAPER.get(name, {})}
