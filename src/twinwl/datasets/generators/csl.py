"""CSL: circular skip links, regular graphs that 1-WL cannot tell apart.

The set of Murphy et al., "Relational Pooling for Graph Representations" (2019).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.datasets.generators.permuted_copies import permuted_copies

if TYPE_CHECKING:
    from twinwl.arrays import Int64
    from twinwl.graphs.batch import GraphBatch

N_NODES = 41
SKIPS = (2, 3, 4, 5, 6, 9, 11, 12, 13, 16)


def csl(n_copies: int = 15, random_state: int = 0) -> tuple[GraphBatch, Int64]:
    """Return copies of ten circular skip links of 41 nodes, and the class of each copy.

    All graphs are 4-regular, so 1-WL gives every node the same colour and scores 10 %.

    Parameters
    ----------
    n_copies
        Copies of each graph, the nodes of each in another order; the published set has 15.
    random_state
        Seed of the node orders.

    >>> graphs, y = csl()
    >>> graphs, len(set(y.tolist()))
    (GraphBatch(150 graphs, 6,150 nodes, 12,300 edges), 10)
    """
    return permuted_copies([circular_skip_links(N_NODES, skip) for skip in SKIPS], n_copies, random_state)


def circular_skip_links(n_nodes: int, skip: int) -> Int64:
    """Return the edges of a cycle with links between nodes that are ``skip`` apart, shape (2 n_nodes, 2).

    >>> circular_skip_links(5, 2)[5:].tolist()
    [[0, 2], [1, 3], [2, 4], [3, 0], [4, 1]]
    """
    nodes = np.arange(n_nodes, dtype=np.int64)
    return np.concatenate([np.column_stack([nodes, (nodes + step) % n_nodes]) for step in (1, skip)])
