"""Content keys of nodes, round after round, without numbering colours.

Where only the keys are wanted there is no need for an alphabet: a node's key follows from the keys it hears.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.refinement.content_keys import keyed_messages, label_keys, next_round_keys
from twinwl.refinement.threads import balanced_ranges, run_ranges

if TYPE_CHECKING:
    from collections.abc import Iterator

    from twinwl.arrays import UInt64
    from twinwl.graphs.batch import GraphBatch

__all__ = ["node_keys"]


def node_keys(batch: GraphBatch, n_threads: int | None = None) -> Iterator[UInt64]:
    """Yield the content key of each node's colour in round 0, 1, … without end, shape (n_nodes, 2).

    Edge labels take part where there are any. The keys are those of `content_keys`, to the bit.

    >>> from twinwl import GraphBatch
    >>> rounds = node_keys(GraphBatch.from_edges([[(0, 1), (1, 2)]]))
    >>> [len(np.unique(keys, axis=0)) for keys, _ in zip(rounds, range(3))]
    [1, 2, 2]
    """
    messages = keyed_messages(batch)
    graph_ptr = batch.graph_ptr
    ranges = balanced_ranges(messages.indptr[graph_ptr] + graph_ptr, n_threads)
    keys = label_keys(batch.node_vocabulary, b"twl1 label").take(batch.node_labels, axis=0)
    while True:
        yield keys
        following = np.empty_like(keys)

        def hear(low: int, high: int) -> None:
            # Called within this turn of the loop.
            next_round_keys(graph_ptr[low], graph_ptr[high], messages, keys, following)  # noqa: B023

        run_ranges(hear, ranges, n_threads)
        keys = following
