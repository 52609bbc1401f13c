"""From a heap of arcs to one clean CSR structure: symmetrised, sorted, without loops or parallels."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from twinwl.errors import GraphInputError, TwinWLWarning

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MAX_NODES", "Adjacency", "assemble", "graph_of_node"]

MAX_NODES = 2**31 - 2  # node numbers are int32


class Adjacency(NamedTuple):
    """The arcs of a batch in CSR form, and what was tidied away on the way."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    edge_labels: NDArray[np.int32] | None
    n_loops: int
    n_parallel: int


def assemble(
    graph_ptr: NDArray[np.int64],
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    edge_codes: NDArray[np.int32] | None = None,
    *,
    directed: bool = False,
    warn: bool = True,
) -> Adjacency:
    """Build the CSR arrays of a batch from arcs in any order.

    An undirected edge may be named once or from both ends. Self-loops are dropped and repeated arcs
    merged, with one warning that counts them.

    Parameters
    ----------
    graph_ptr : array of int64, shape (n_graphs + 1,)
        Node range of each graph.
    sources, targets : arrays of int64, shape (n_arcs,)
        Node numbers within the whole batch, already known to be in range.
    edge_codes : array of int32, shape (n_arcs,), optional
        Label code of each arc.
    directed
        Keep arcs as they are instead of adding each one's reverse.
    warn
        Whether to warn about what was dropped or merged.

    Raises
    ------
    GraphInputError
        If one edge is named twice with different labels, or there are too many nodes.
    """
    n_nodes = int(graph_ptr[-1])
    if n_nodes > MAX_NODES:
        raise GraphInputError(f"{n_nodes} nodes in one batch; the limit is {MAX_NODES}, so split the batch")
    codes = np.empty(0, np.int32) if edge_codes is None else np.ascontiguousarray(edge_codes, np.int32)
    indptr, indices, labels, n_loops, n_parallel, clash = _csr_from_arcs(
        n_nodes,
        np.ascontiguousarray(sources, np.int64),
        np.ascontiguousarray(targets, np.int64),
        codes,
        edge_codes is not None,
        directed,
    )
    if clash[0] >= 0:
        graph = graph_of_node(graph_ptr, int(clash[0]))
        u, v = clash - graph_ptr[graph]
        raise GraphInputError(f"edge ({u}, {v}) is given twice with different labels; keep one", graph)
    if warn and (n_loops or n_parallel):
        warnings.warn(
            f"dropped {n_loops} self-loops and merged {n_parallel} repeated edges",
            TwinWLWarning,
            stacklevel=3,
        )
    return Adjacency(indptr, indices, labels if edge_codes is not None else None, n_loops, n_parallel)


def graph_of_node(graph_ptr: NDArray[np.int64], node: int) -> int:
    """Return the index of the graph that holds a node of the batch."""
    return int(np.searchsorted(graph_ptr, node, side="right")) - 1


@njit(cache=True, nogil=True)
def _csr_from_arcs(n_nodes, sources, targets, codes, has_codes, directed):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Bucket arcs by source, sort and merge each bucket.

    Each undirected edge is entered as two arcs; a bit on each entry remembers whether it was named in
    this direction, so that naming an edge from both ends is no repetition but naming it twice from one
    end is.
    """
    n_arcs = len(sources)
    n_loops = 0
    indptr = np.zeros(n_nodes + 1, np.int64)
    for arc in range(n_arcs):
        if sources[arc] == targets[arc]:
            n_loops += 1
            continue
        indptr[sources[arc] + 1] += 1
        if not directed:
            indptr[targets[arc] + 1] += 1
    for node in range(n_nodes):
        indptr[node + 1] += indptr[node]
    cursor = indptr[:-1].copy()
    # An entry is (target, direction bit); sorting brings repetitions together.
    entries = np.empty(indptr[-1], np.int64)
    entry_codes = np.empty(indptr[-1] if has_codes else 0, np.int32)
    for arc in range(n_arcs):
        source, target = sources[arc], targets[arc]
        if source == target:
            continue
        entries[cursor[source]] = 2 * target
        if has_codes:
            entry_codes[cursor[source]] = codes[arc]
        cursor[source] += 1
        if not directed:
            entries[cursor[target]] = 2 * source + 1
            if has_codes:
                entry_codes[cursor[target]] = codes[arc]
            cursor[target] += 1
    indices = np.empty(len(entries), np.int32)
    labels = np.empty(len(entry_codes), np.int32)
    clash = np.full(2, -1, np.int64)
    n_parallel = 0
    out = 0
    start = 0
    for node in range(n_nodes):
        end = indptr[node + 1]
        bucket = entries[start:end]
        order = np.argsort(bucket, kind="mergesort") if end - start > 1 else np.zeros(end - start, np.int64)
        for place in range(end - start):
            entry = bucket[order[place]]
            target = entry >> 1
            if place > 0 and bucket[order[place - 1]] >> 1 == target:
                if has_codes and entry_codes[start + order[place]] != labels[out - 1]:
                    clash[0], clash[1] = node, target
                # Only repetitions in the direction it was named count, or each would count twice.
                if bucket[order[place - 1]] == entry and entry & 1 == 0:
                    n_parallel += 1
                continue
            indices[out] = target
            if has_codes:
                labels[out] = entry_codes[start + order[place]]
            out += 1
        start = end
        indptr[node + 1] = out
    return indptr, indices[:out].copy(), labels[: out if has_codes else 0].copy(), n_loops, n_parallel, clash
