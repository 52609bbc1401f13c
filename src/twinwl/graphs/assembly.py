"""Conversion of arcs in any order to one CSR structure: symmetric, sorted, without loops or parallel arcs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twinwl.arrays import Int32, Int64
from twinwl.errors import GraphInputError, warn_caller

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
    from twinwl.graphs.arc_kernels import Arcs, Entries, bucket, merge  # noqa: PLC0415  (numba: for those who build graphs)

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
