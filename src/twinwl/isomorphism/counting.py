"""Readouts that count: rooted size, edges, degrees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.compilation.kernel import kernel
from twinwl.isomorphism.keys import absorbed

if TYPE_CHECKING:
    from twinwl.arrays import Int64, UInt64
    from twinwl.isomorphism.rooted import RootedBlock
    from twinwl.refinement.content_keys import KeyedMessages


def size(block: RootedBlock) -> Int64:
    """Return the number of nodes: the readout of STwin."""
    return block.sizes.astype(np.int64)[:, None]


def edges(block: RootedBlock) -> Int64 | UInt64:
    """Return the number of nodes and of edges; with edge labels, of edges of each label, as a key."""
    graphs, messages = block.graphs, block.messages
    if graphs.edge_labels is not None:
        return _edge_keys(graphs.graph_ptr, messages)
    n_arcs = np.diff(graphs.indptr[graphs.graph_ptr])
    n_edges = n_arcs if graphs.directed else n_arcs // 2
    return np.column_stack([block.sizes.astype(np.int64), n_edges])


def degrees(block: RootedBlock) -> UInt64:
    """Return the key of the multiset of labels and degrees.

    Degrees are counted apart by edge label, and by direction where directed.
    """
    graphs, messages = block.graphs, block.messages
    return _degree_keys(graphs.graph_ptr, messages, block.label_keys)


@kernel
def _edge_keys(subgraph_ptr: Int64, messages: KeyedMessages) -> UInt64:
    out = np.empty((len(subgraph_ptr) - 1, 2), np.uint64)
    for index in range(len(out)):
        first, last = subgraph_ptr[index], subgraph_ptr[index + 1]
        a, b = _sum_of_codes(first, last, messages)
        out[index, 0], out[index, 1] = absorbed(a, b, np.uint64(last - first), np.uint64(0))
    return out


@kernel
def _degree_keys(subgraph_ptr: Int64, messages: KeyedMessages, label_keys: UInt64) -> UInt64:
    out = np.empty((len(subgraph_ptr) - 1, 2), np.uint64)
    for index in range(len(out)):
        first, last = subgraph_ptr[index], subgraph_ptr[index + 1]
        total_a, total_b = np.uint64(0), np.uint64(0)
        for node in range(first, last):
            a, b = _sum_of_codes(node, node + 1, messages)
            a, b = absorbed(a, b, label_keys[node, 0], label_keys[node, 1])
            total_a += a
            total_b += b
        out[index, 0], out[index, 1] = absorbed(total_a, total_b, np.uint64(last - first), np.uint64(0))
    return out


@kernel
def _sum_of_codes(first: int, last: int, messages: KeyedMessages) -> tuple[np.uint64, np.uint64]:
    """Return the sum of the keys of what nodes ``first..last`` hear: a multiset in two words."""
    indptr, _, codes, code_keys = messages
    a, b = np.uint64(0), np.uint64(0)
    for message in range(indptr[first], indptr[last]):
        code = codes[message] if len(codes) else 0
        a += code_keys[code, 0]
        b += code_keys[code, 1]
    return a, b
