"""Rooted subgraphs one by one, for people who want to look at them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.arguments import ROUNDS, checked
from twinwl.graphs.coercion import as_batch
from twinwl.isomorphism.rooted import Neighbourhoods
from twinwl.refinement.identities import rooted_sizes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from twinwl.graphs.coercion import GraphsLike
    from twinwl.isomorphism.rooted import RootedSubgraph

__all__ = ["iter_rooted_subgraphs"]


def iter_rooted_subgraphs(graphs: GraphsLike, hops: int) -> Iterator[tuple[int, RootedSubgraph]]:
    """Yield every node's rooted subgraph, with the number of its graph; memory stays that of a block.

    Parameters
    ----------
    graphs
        A GraphBatch, or whatever `twinwl.as_batch` takes.
    hops
        The h of ``G_v^h``.

    Yields
    ------
    graph : int
    rooted : RootedSubgraph
        Its ``to_networkx()`` gives a networkx graph.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> path = GraphBatch.from_edges([[(0, 1), (1, 2)]])
    >>> [(graph, rooted.root, rooted.nodes) for graph, rooted in iter_rooted_subgraphs(path, 1)]
    [(0, 0, (0, 1)), (0, 1, (0, 1, 2)), (0, 2, (1, 2))]
    """
    hops = checked("hops", hops, ROUNDS)
    batch = as_batch(graphs)
    roots = np.arange(batch.n_nodes, dtype=np.int64)
    sizes = rooted_sizes(batch, hops)[hops]
    for block in Neighbourhoods(batch).blocks(roots, hops, sizes):
        graph_of_root = np.searchsorted(batch.graph_ptr, block.roots, side="right") - 1
        yield from zip(graph_of_root.tolist(), block.subgraphs(), strict=True)
