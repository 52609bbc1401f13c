"""Conversion of arcs in any order to one CSR structure: symmetric, sorted, without loops or parallel arcs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.compilation.kernel import kernel
from twinwl.errors import GraphInputError, warn_caller

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.arrays import Int32, Int64

MAX_NODES = 2**31 - 2  # node numbers are int32


class Adjacency(NamedTuple):
    """The arcs of a batch in CSR form, and the number of arcs that were dropped or merged."""

    indptr: Int64
    indices: Int32
    edge_labels: Int32 | None
    n_loops: int
    n_parallel: int
    one_way: tuple[int, int] | None


def assemble(
    graph_ptr: Int64,
    sources: Int64,
    targets: Int64,
    edge_codes: Int32 | None = None,
    *,
    directed: bool = False,
    warn: bool = True,
) -> Adjacency:
    """Build the CSR arrays of a batch from arcs in any order.

    An undirected edge may be given once or from both ends. Self-loops are dropped and repeated arcs
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
        an undirected batch that was given from one end only, as batch-wide node numbers, or None.

    Raises
    ------
    GraphInputError
        If an edge is given twice with different labels, or there are too many nodes.
    """
    from twinwl.graphs.assembly import Arcs, Entries, bucket, merge  # noqa: PLC0415  (numba: for those who build graphs)

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
    ends = np.ascontiguousarray(sources, np.int64), np.ascontiguousarray(targets, np.int64)
    arcs = Arcs(*ends, given, directed)
    bucket(arcs, cursor, indptr.copy(), Entries(moved, moved_codes), Entries(entries, codes))
    indices = np.empty(len(entries), np.int32)
    found = np.array([0, -1, -1, -1, -1])
    n_neighbours = merge(indptr, entries, codes, indices, found)
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


def graph_of_node(graph_ptr: Int64, node: int) -> int:
    """Return the index of the graph that holds a node of the batch.

    >>> graph_of_node(np.array([0, 3, 3, 5]), 3)
    2
    """
    return int(np.searchsorted(graph_ptr, node, side="right")) - 1


class Arcs(NamedTuple):
    """Arcs in any order; ``codes`` of their labels may be empty."""

    sources: Int64
    targets: Int64
    codes: Int32
    directed: bool


class Entries(NamedTuple):
    """Arcs by the node they are entered at.

    A number is ``2 * neighbour + reversed``: the bit is the end from which an edge was given, so that
    giving it from both ends is not a repetition, but giving it twice from one end is.
    """

    numbers: NDArray[np.uint32]
    codes: Int32


@kernel
def bucket(arcs: Arcs, cursor: Int64, place_of_node: Int64, moved: Entries, entries: Entries) -> None:
    """Enter each arc at its source and, if undirected, its reverse at its target, in order of neighbours.

    A stable bucket sort by neighbour and then by node, so the entries of each node are sorted.
    """
    sources, targets, given, directed = arcs
    for end in range(1 if directed else 2):
        for arc in range(len(sources)):
            here, there = (targets[arc], sources[arc]) if end else (sources[arc], targets[arc])
            place = cursor[there]
            moved.numbers[place] = 2 * here + end
            if len(given):
                moved.codes[place] = given[arc]
            cursor[there] = place + 1
    begin = 0
    for there in range(len(cursor) - 1):
        # Filling the buckets has moved the begin of each to its end.
        for place in range(begin, cursor[there]):
            here, end = moved.numbers[place] >> 1, moved.numbers[place] & 1
            entries.numbers[place_of_node[here]] = 2 * there + end
            if len(given):
                entries.codes[place_of_node[here]] = moved.codes[place]
            place_of_node[here] += 1
        begin = cursor[there]


@kernel
def merge(indptr: Int64, entries: NDArray[np.uint32], codes: Int32, indices: Int32, found: Int64) -> int:
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


@kernel
def fill_from_bits(
    characters: NDArray[np.uint8], text_ptr: Int64, graph_ptr: Int64, indptr: Int64, indices: Int32
) -> None:
    """Write the rows of all graphs from their upper triangles by columns, six bits in each character.

    The first character of each text is its number of nodes.
    """
    out = 0
    for graph in range(len(text_ptr) - 1):
        start, low, high = text_ptr[graph] + 1, graph_ptr[graph], graph_ptr[graph + 1]
        for node in range(high - low):
            for other in range(high - low):
                if other == node:
                    continue
                row, column = min(node, other), max(node, other)
                bit = column * (column - 1) // 2 + row
                if characters[start + bit // 6] >> (5 - bit % 6) & 1:
                    indices[out] = low + other
                    out += 1
            indptr[low + node + 1] = out
