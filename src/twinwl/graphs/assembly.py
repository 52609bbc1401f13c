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
    plain = sources != targets
    n_loops = len(plain) - int(np.count_nonzero(plain))
    if n_loops:
        sources, targets = sources[plain], targets[plain]
        edge_codes = None if edge_codes is None else edge_codes[plain]
    given = np.empty(0, np.int32) if edge_codes is None else np.ascontiguousarray(edge_codes, np.int32)
    leaving, entering = (np.bincount(ends, minlength=n_nodes) for ends in (sources, targets))
    if not directed:
        leaving = entering = leaving + entering
    indptr, cursor = (np.concatenate([[0], np.cumsum(number)]) for number in (leaving, entering))
    entries, moved = np.empty((2, indptr[-1]), np.uint32)
    codes, moved_codes = np.empty((2, indptr[-1] if len(given) else 0), np.int32)
    arcs = np.ascontiguousarray(sources, np.int64), np.ascontiguousarray(targets, np.int64), given, directed
    _bucket(*arcs, cursor, indptr.copy(), moved, moved_codes, entries, codes)
    indices = np.empty(len(entries), np.int32)
    found = np.array([0, -1, -1, -1, -1])
    n_neighbours = _merge(indptr, entries, codes, indices, found)
    n_parallel, clash, one_way = int(found[0]), found[1:3], found[3:]
    if clash[0] >= 0:
        graph = graph_of_node(graph_ptr, int(clash[0]))
        u, v = clash - graph_ptr[graph]
        raise GraphInputError(f"edge ({u}, {v}) is given twice with different labels; keep one", graph)
    if warn and (n_loops or n_parallel):
        warn_caller(f"dropped {n_loops} self-loops and merged {n_parallel} repeated edges")
    return Adjacency(
        indptr,
        indices[:n_neighbours].copy(),
        None if edge_codes is None else codes[:n_neighbours].copy(),
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
def _bucket(sources, targets, given, directed, cursor, place_of_node, moved, moved_codes, entries, codes):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Enter each arc at its source and, where undirected, its reverse at its target, in order of neighbours.

    An entry is ``2 * neighbour + reversed``: the bit remembers from which end an edge was named, so that
    naming it from both ends is no repetition but naming it twice from one end is. Entries go into buckets by
    neighbour first and by node then. Both times they keep their order, so a node's are sorted in the end.
    """
    for end in range(1 if directed else 2):
        for arc in range(len(sources)):
            here, there = (targets[arc], sources[arc]) if end else (sources[arc], targets[arc])
            place = cursor[there]
            moved[place] = 2 * here + end
            if len(given):
                moved_codes[place] = given[arc]
            cursor[there] = place + 1
    begin = 0
    for there in range(len(cursor) - 1):
        # Filling the buckets has moved each one's begin to its end.
        for place in range(begin, cursor[there]):
            here, end = moved[place] >> 1, moved[place] & 1
            entries[place_of_node[here]] = 2 * there + end
            if len(given):
                codes[place_of_node[here]] = moved_codes[place]
            place_of_node[here] += 1
        begin = cursor[there]


@kernel
def _merge(indptr, entries, codes, indices, found):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Keep one entry per neighbour; `indptr` and `codes` are rewritten in place.

    Written to ``found``: the number of repetitions, the ends of an edge with two labels, and those of one
    that was named from one end only (-1 where there is none). Returns the number of neighbours.
    """
    out = 0
    start = 0
    for node in range(len(indptr) - 1):
        end = indptr[node + 1]
        place = start
        while place < end:
            first = place
            target = entries[first] >> 1
            place += 1
            while place < end and entries[place] >> 1 == target:
                if len(codes) and codes[place] != codes[first] and found[1] < 0:
                    found[1], found[2] = node, target
                # Only repetitions in the direction it was named count, or each would count twice.
                if entries[place] == entries[place - 1] and entries[place] & 1 == 0:
                    found[0] += 1
                place += 1
            if entries[place - 1] & 1 == 0 and found[3] < 0:  # no entry came from the other end
                found[3], found[4] = node, target
            indices[out] = target
            if len(codes):
                codes[out] = codes[first]
            out += 1
        start = end
        indptr[node + 1] = out
    return out
