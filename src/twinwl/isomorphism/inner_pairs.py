"""The readout that runs folklore 2-WL inside each rooted subgraph: three-dimensional power, cubic cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.compilation.kernel import kernel
from twinwl.isomorphism.inner_colours import n_distinct
from twinwl.isomorphism.keys import absorbed
from twinwl.refinement.mixing import stirred

if TYPE_CHECKING:
    from twinwl.arrays import Int32, Int64, UInt64
    from twinwl.isomorphism.rooted import RootedBlock

__all__ = ["rooted_fwl2"]


def rooted_fwl2(block: RootedBlock) -> UInt64:
    """Return the key of the stable colours of all pairs of nodes, the root marked.

    A pair (u, v) hears, for each node w, the colours of (u, w) and (w, v) together. That costs O(n³) time a
    round and O(n²) memory for a subgraph of n nodes.
    """
    messages = block.messages
    return _refined_pairs(
        block.graphs.graph_ptr,
        block.root,
        messages.indptr,
        messages.indices,
        messages.codes,
        block.code_keys,
        block.label_keys,
    )


@kernel
def _refined_pairs(
    subgraph_ptr: Int64,
    roots: Int32,
    indptr: Int64,
    indices: Int32,
    codes: Int32,
    code_keys: UInt64,
    label_keys: UInt64,
) -> UInt64:
    """Return one key a subgraph: size, the round s its pairs are stable in, their colours in round s + 1."""
    out = np.empty((len(subgraph_ptr) - 1, 2), np.uint64)
    for index in range(len(out)):
        first, last = subgraph_ptr[index], subgraph_ptr[index + 1]
        a, b = _initial_pairs(first, last, roots[index], indptr, indices, codes, code_keys, label_keys)
        n_colours = n_distinct(a.ravel(), 0, a.size)
        stable_round = 0
        while True:
            a, b = _next_pairs(a, b)
            n_following = n_distinct(a.ravel(), 0, a.size)
            if n_following == n_colours:
                break
            n_colours = n_following
            stable_round += 1
        out[index, 0], out[index, 1] = absorbed(
            a.sum(), b.sum(), np.uint64(last - first), np.uint64(stable_round)
        )
    return out


@kernel
def _initial_pairs(
    first: int,
    last: int,
    root: int,
    indptr: Int64,
    indices: Int32,
    codes: Int32,
    code_keys: UInt64,
    label_keys: UInt64,
) -> tuple[UInt64, UInt64]:
    """Colour (u, v) by both labels, which of them is the root, whether they are one, and what joins them."""
    n = last - first
    a = np.zeros((n, n), np.uint64)
    b = np.zeros((n, n), np.uint64)
    for u in range(n):
        for message in range(indptr[first + u], indptr[first + u + 1]):
            code = codes[message] if len(codes) else 0
            v = indices[message] - first
            # A sum, because two arcs may join a pair, one each way.
            a[u, v] += code_keys[code, 0]
            b[u, v] += code_keys[code, 1]
    for u in range(n):
        for v in range(n):
            kind = np.uint64((first + u == root) + 2 * (first + v == root) + 4 * (u == v))
            x, y = absorbed(a[u, v], b[u, v], kind, kind)
            x, y = absorbed(x, y, label_keys[first + u, 0], label_keys[first + u, 1])
            a[u, v], b[u, v] = absorbed(x, y, label_keys[first + v, 0], label_keys[first + v, 1])
    return a, b


@kernel
def _next_pairs(a: UInt64, b: UInt64) -> tuple[UInt64, UInt64]:
    n = len(a)
    # A colour is absorbed once for each of the two places it can stand in, outside the cubic loop.
    left_a, left_b = np.empty_like(a), np.empty_like(b)
    right_a, right_b = np.empty_like(a), np.empty_like(b)
    for u in range(n):
        for v in range(n):
            left_a[u, v], left_b[u, v] = absorbed(a[u, v], b[u, v], np.uint64(1), np.uint64(2))
            # Transposed, so that the inner loop walks both along rows.
            right_a[v, u], right_b[v, u] = absorbed(a[u, v], b[u, v], np.uint64(3), np.uint64(4))
    new_a, new_b = np.empty_like(a), np.empty_like(b)
    for u in range(n):
        for v in range(n):
            total_a, total_b = np.uint64(0), np.uint64(0)
            for w in range(n):
                total_a += stirred(left_a[u, w] ^ right_a[v, w])
                total_b += stirred(left_b[u, w] + right_b[v, w])
            new_a[u, v], new_b[u, v] = absorbed(a[u, v], b[u, v], total_a, total_b)
    return new_a, new_b
