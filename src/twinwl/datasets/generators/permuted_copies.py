"""Data sets whose classes are isomorphism classes: shuffled copies of a few graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.errors import TwinWLError
from twinwl.graphs.batch import GraphBatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twinwl.arrays import Int64


def permuted_copies(
    edge_lists: Sequence[Int64], n_copies: int, random_state: int
) -> tuple[GraphBatch, Int64]:
    """Return copies of each graph, the nodes of each copy in another order, and the class of each copy.

    Parameters
    ----------
    edge_lists : sequence of arrays of int64, shape (n_edges, 2)
        One graph per class, without isolated nodes.
    n_copies
        Copies of each graph.
    random_state
        Seed of the node orders.

    >>> graphs, y = permuted_copies([np.array([(0, 1), (1, 2)]), np.array([(0, 1)])], 2, random_state=0)
    >>> graphs, y.tolist()
    (GraphBatch(4 graphs, 10 nodes, 6 edges), [0, 0, 1, 1])
    """
    if n_copies < 1:
        raise TwinWLError(f"n_copies: got {n_copies}, expected an integer of at least 1")
    rng = np.random.default_rng(random_state)
    copies = []
    for edges in edge_lists:
        n_nodes = int(edges.max()) + 1
        copies += [rng.permutation(n_nodes)[edges] for _ in range(n_copies)]
    return GraphBatch.from_edges(copies), np.repeat(np.arange(len(edge_lists)), n_copies)
