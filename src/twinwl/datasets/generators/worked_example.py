"""The two graphs of the paper's worked example, which 1-WL cannot tell apart and Twin-WL can."""

from __future__ import annotations

from twinwl.graphs.batch import GraphBatch

# Figure 2 counts nodes from 1. G1 is a ladder of three rungs, G2 two triangles joined by an edge.
_EDGES_FROM_1 = (
    ((1, 2), (1, 3), (2, 4), (3, 4), (3, 5), (4, 6), (5, 6)),
    ((1, 2), (1, 3), (2, 3), (3, 4), (4, 5), (4, 6), (5, 6)),
)
# The initial label: 1 for the four nodes of degree 2, 2 for the two nodes of degree 3.
_LABELS = (1, 1, 2, 2, 1, 1)


def worked_example() -> GraphBatch:
    """Return the paper's G1 and G2 as a batch, each node labelled by its degree as in the paper.

    Returns
    -------
    GraphBatch
        Two graphs of six nodes; node ``v`` of the paper is node ``v - 1`` here.

    >>> worked_example()
    GraphBatch(2 graphs, 12 nodes, 14 edges, 2 node labels)
    """
    return GraphBatch.from_edges(
        [[(u - 1, v - 1) for u, v in edges] for edges in _EDGES_FROM_1],
        node_labels=[_LABELS] * len(_EDGES_FROM_1),
    )
