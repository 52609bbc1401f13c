"""The quotient of the graphs themselves, for a GIN as subtree encoder: plain 1-WL colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.ntwin.pools import PoolBuilder
from twinwl.ntwin.quotient import Quotient
from twinwl.refinement.colours import refine

if TYPE_CHECKING:
    from twinwl.arrays import Int32
    from twinwl.graphs.batch import GraphBatch

__all__ = ["whole_quotient"]


def whole_quotient(batch: GraphBatch, layers: int, *, edge_labels: bool = False) -> tuple[Quotient, Int32]:
    """Return the quotient of a batch without rooted subgraphs, and the colours of its nodes by layer.

    Parameters
    ----------
    batch
        The graphs.
    layers
        Number of layers.
    edge_labels
        Distinguish messages by edge label, if the batch has any.

    Examples
    --------
    >>> from twinwl.datasets.generators.worked_example import worked_example
    >>> quotient, colours = whole_quotient(worked_example(), layers=2)
    >>> quotient.n_colours, colours.shape
    ([2, 2, 2], (3, 12))
    """
    colours, alphabet = refine(batch, layers, edge_labels=edge_labels)
    alone = np.arange(batch.n_nodes + 1, dtype=np.int64)
    pools = []
    for layer in range(1, layers + 1):
        builder = PoolBuilder(batch.graph_ptr)
        if batch.n_nodes:
            builder.add(0, alone, colours[layer])
        pools.append(builder.finished())
    quotient = Quotient(
        labels=alphabet.labels,
        edge_labels=alphabet.edge_labels,
        root_mark="none",
        hops=(0,) * layers,  # there are no rooted subgraphs
        directed=batch.directed,
        rounds=alphabet.rounds,
        pools=tuple(pools),
        n_pairs=(batch.n_nodes,) * layers,
    )
    return quotient, colours
