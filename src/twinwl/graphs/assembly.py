"""From a heap of arcs to one clean CSR structure: symmetrised, sorted, without loops or parallels."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.compilation.kernel import kernel
from twinwl.errors import GraphInputError, warn_caller

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MAX_NODES", "Adjacency", "assemble", "graph_of_node"]

MAX_NODES = 2**31 - 2  # node numbers are int32
_SMALL = 32  # up to this many neighbours insertion sort beats anything that allocates


class Adjacency(NamedTuple):
    """The arcs of a batch in CSR form, and what was noticed on the way."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    edge_labels: NDArray[np.int32] | None
    n_loops: int
    n_parallel: int
    one_way: tuple[int, int] | None


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

    Returns
    -------
    Adjacency
        ``n_loops`` and ``n_parallel`` count the arcs dropped and merged. ``one_way`` is the first arc of
        an undirected batch that was named from one end only, as batch-wide node numbers, or None.

    Raises
    ------
    GraphInputError
        If one edge is named twice with different labels, or there are too many nodes.
    """
    n_nodes = int(graph_ptr[-1])
    if n_nodes > MAX_NODES:
        raise GraphInputError(f"{n_nodes} nodes in one batch; the limit is {MAX_NODES}, so split the batch")
    has_codes = edge_codes is not None
    codes = np.empty(0, np.int32) if edge_codes is None else np.ascontiguousarray(edge_codes, np.int32)
    indptr, entries, entry_codes, n_loops = _bucket(
        n_nodes,
        np.ascontiguousarray(sources, np.int64),
        np.ascontiguousarray(targets, np.int64),
        codes,
        has_codes,
        directed,
    )
    indices, n_parallel, clash, one_way = _merge(indptr, entries, entry_codes, has_codes)
    if clash[0] >= 0:
        graph = graph_of_node(graph_ptr, int(clash[0]))
        u, v = clash - graph_ptr[graph]
        raise GraphInputError(f"edge ({u}, {v}) is given twice with different labels; keep one", graph)
    if warn and (n_loops or n_parallel):
        warn_caller(f"dropped {n_loops} self-loops and merged {n_parallel} repeated edges")
    return Adjacency(
        indptr,
        indices,
        entry_codes[: len(indices)].copy() if has_codes else None,
        n_loops,
        n_parallel,
        None if directed or one_way[0] < 0 else (int(one_way[0]), int(one_way[1])),
    )


def graph_of_node(graph_ptr: NDArray[np.int64], node: int) -> int:
    """Return the index of the graph that holds a node of the batch.

    >>> graph_of_node(np.array([0, 3, 3, 5]), 3)
    2
    """
    return int(np.searchsorted(graph_ptr, node, side="right")) - 1


@kernel
def _bucket(n_nodes, sources, targets, codes, has_codes, directed):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Enter each arc at its source and, where undirected, its reverse at its target.

    An entry is ``2 * neighbour + reversed``: the bit remembers from which end an edge was named, so that
    naming it from both ends is no repetition but naming it twice from one end is.
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
    entries = np.empty(indptr[-1], np.int64)
    entry_codes = np.empty(indptr[-1] if has_codes else 0, np.int32)
    for arc in range(n_arcs):
        source, target = sources[arc], targets[arc]
        if source == target:
            continue
        for end in range(1 if directed else 2):
            here, there = (target, source) if end else (source, target)
            entries[cursor[here]] = 2 * there + end
            if has_codes:
                entry_codes[cursor[here]] = codes[arc]
            cursor[here] += 1
    return indptr, entries, entry_codes, n_loops


@kernel
def _merge(indptr, entries, codes, has_codes):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Sort each node's entries and keep one a neighbour; `indptr` and `codes` are rewritten in place."""
    indices = np.empty(len(entries), np.int32)
    clash = np.full(2, -1, np.int64)
    one_way = np.full(2, -1, np.int64)
    n_parallel = 0
    out = 0
    start = 0
    for node in range(len(indptr) - 1):
        end = indptr[node + 1]
        _sort(entries[start:end], codes[start:end] if has_codes else codes, has_codes)
        place = start
        while place < end:
            first = place
            target = entries[first] >> 1
            place += 1
            while place < end and entries[place] >> 1 == target:
                if has_codes and codes[place] != codes[first] and clash[0] < 0:
                    clash[0], clash[1] = node, target
                # Only repetitions in the direction it was named count, or each would count twice.
                if entries[place] == entries[place - 1] and entries[place] & 1 == 0:
                    n_parallel += 1
                place += 1
            if entries[place - 1] & 1 == 0 and one_way[0] < 0:  # no entry came from the other end
                one_way[0], one_way[1] = node, target
            indices[out] = target
            if has_codes:
                codes[out] = codes[first]
            out += 1
        start = end
        indptr[node + 1] = out
    return indices[:out].copy(), n_parallel, clash, one_way


@kernel
def _sort(entries, codes, has_codes):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Sort one node's entries, carrying their codes along."""
    if len(entries) > _SMALL:
        order = np.argsort(entries, kind="mergesort")
        entries[:] = entries[order]
        if has_codes:
            codes[:] = codes[order]
        return
    for place in range(1, len(entries)):
        entry = entries[place]
        code = codes[place] if has_codes else 0
        left = place - 1
        while left >= 0 and entries[left] > entry:
            entries[left + 1] = entries[left]
            if has_codes:
                codes[left + 1] = codes[left]
            left -= 1
        entries[left + 1] = entry
        if has_codes:
            codes[left + 1] = code
