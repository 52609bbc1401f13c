"""The hash that runs until nothing changes: stable colours, and how far every rooted subgraph grows.

``docs/hash.md`` says to the bit what is computed. **Any change here breaks every stored hash.**
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.compilation.kernel import kernel
from twinwl.isomorphism.counting import size
from twinwl.isomorphism.keys import absorbed, absorbed_rows
from twinwl.isomorphism.readouts import Readout, ReadoutError, RoundReader
from twinwl.refinement.content_keys import fold_keys
from twinwl.refinement.graph_arrays import union_of
from twinwl.refinement.identities import rooted_sizes
from twinwl.refinement.searches import search
from twinwl.refinement.stable_keys import stable_signatures
from twinwl.refinement.threads import STEPS_PER_PIECE

if TYPE_CHECKING:
    from twinwl.arrays import Bool, Int32, Int64, UInt64
    from twinwl.graphs.batch import GraphBatch

EVERY_RADIUS_UP_TO = 256
"""Rooted subgraphs of larger graphs are followed to `RADIUS_BEYOND` only, so that the cost stays bounded."""
RADIUS_BEYOND = 3
_FIRST_ROUNDS = 16
_NODES_PER_SEARCH = 64  # where no more than one node in so many is wanted, searching from each is cheapest


def stable_folds(batch: GraphBatch, readouts: tuple[Readout, ...]) -> UInt64:
    """Return a key for each graph's multiset of (stable signature, growth), shape (n_graphs, 2)."""
    signatures, class_size = stable_signatures(batch)
    # How fast rooted subgraphs grow follows from the classes for a node that is alone in its class.
    wanted = class_size > 1 if _only_sizes(readouts) else np.ones(batch.n_nodes, np.bool_)
    large = np.repeat(batch.nodes_per_graph > EVERY_RADIUS_UP_TO, batch.nodes_per_graph)
    growths = _growths(batch, readouts, wanted & large, RADIUS_BEYOND)
    growths += _growths(batch, readouts, wanted & ~large, _FIRST_ROUNDS)
    folds = np.empty((len(batch), 2), np.uint64)
    fold_keys(batch.graph_ptr, signatures, growths, folds)
    return folds


def _growths(batch: GraphBatch, readouts: tuple[Readout, ...], wanted: Bool, n_iter: int) -> UInt64:
    """Return the key of the readouts of each wanted node's rooted subgraphs while they grow; 0 for others."""
    out = np.zeros((batch.n_nodes, 2), np.uint64)
    graphs = _holding(batch, wanted)
    if not graphs.any():
        return out
    nodes = np.repeat(graphs, batch.nodes_per_graph)
    part, wanted = batch[np.flatnonzero(graphs)], wanted[nodes]
    few = _only_sizes(readouts) and np.count_nonzero(wanted) <= part.n_nodes // _NODES_PER_SEARCH
    rows = _searched_sizes(part, np.flatnonzero(wanted), n_iter) if few else rooted_sizes(part, n_iter)
    try:
        if _only_sizes(readouts):
            keys = np.zeros((part.n_nodes, 2), np.uint64)
            _follow_sizes(rows, wanted, keys)
        else:
            keys = _follow(part, readouts, rows)
        still_growing = wanted & (rows[-1] != rows[-2])
        if n_iter > RADIUS_BEYOND and still_growing.any():
            again = wanted & np.repeat(_holding(part, still_growing), part.nodes_per_graph)
            keys[again] = _growths(part, readouts, again, 4 * n_iter)[again]
    except ReadoutError as error:
        raise error.moved(int(np.flatnonzero(graphs)[error.graph])) from error
    out[nodes] = keys
    return out


def _searched_sizes(batch: GraphBatch, roots: Int64, n_iter: int) -> Int32:
    """Do as `rooted_sizes` does for few nodes alone: large random graphs have few that are alike."""
    sizes = np.ones((n_iter + 1, batch.n_nodes), np.int32)
    union = union_of(batch)
    nothing_below = np.empty((0, n_iter + 1), np.int32)
    done = 0
    while done < len(roots):
        done, _ = search(roots, done, len(roots), union, nothing_below, STEPS_PER_PIECE, sizes)
    return sizes


def _holding(batch: GraphBatch, nodes: Bool) -> Bool:
    """Tell which graphs hold one of the nodes."""
    before = np.concatenate([[0], np.cumsum(nodes)])
    return before[batch.graph_ptr[1:]] > before[batch.graph_ptr[:-1]]


def _only_sizes(readouts: tuple[Readout, ...]) -> bool:
    return all(readout.on_block is size for readout in readouts)


def _follow(batch: GraphBatch, readouts: tuple[Readout, ...], rows: Int32) -> UInt64:
    """Absorb what readouts say of each node's rooted subgraphs, round by round, while these grow."""
    keys = np.zeros((batch.n_nodes, 2), np.uint64)
    reader = RoundReader(batch, readouts)
    before = np.zeros(batch.n_nodes, np.int32)
    for sizes in rows:
        growing = np.flatnonzero(sizes != before)
        if not len(growing):
            break
        keys[growing] = absorbed_rows(keys[growing], reader.read_keys(sizes)[growing])
        before = sizes
    return keys


@kernel
def _follow_sizes(rows: Int32, wanted: Bool, keys: UInt64) -> None:
    """Do the same for the readout that is there already, of the wanted nodes alone."""
    for node in range(len(wanted)):
        if not wanted[node]:
            continue
        a, b = np.uint64(0), np.uint64(0)
        for h in range(len(rows)):
            if h > 0 and rows[h, node] == rows[h - 1, node]:
                break
            a, b = absorbed(a, b, np.uint64(rows[h, node]), np.uint64(h))
        keys[node, 0], keys[node, 1] = a, b
