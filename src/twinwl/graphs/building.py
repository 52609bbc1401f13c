"""The last step of every constructor: parts of graphs are checked and become one GraphBatch."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twinwl.arguments import MAX_ITEMS, foreign_array, items
from twinwl.arrays import Float64, Int32, Int64, graph_of_node, pointer
from twinwl.errors import GraphInputError, LabelError, warn_caller
from twinwl.graphs.labels import Coded, encode_labels

if TYPE_CHECKING:
    from twinwl.graphs.batch import GraphBatch


PLAUSIBLE_NODES = 2**24  # a graph this large may well be meant, however few its edges


def build(
    node_counts: Int64,
    edge_counts: Int64,
    sources: Int64,
    targets: Int64,
    *,
    nodes: Coded | None = None,
    edges: Coded | None = None,
    node_features: Float64 | None = None,
    directed: bool = False,
    warn: bool = True,
    one_way_remedy: str | None = None,
    atoms: str | None = None,
) -> GraphBatch:
    """Build a batch from the edges of all graphs, one graph after the other.

    Parameters
    ----------
    node_counts, edge_counts : arrays of int64, shape (n_graphs,)
    sources, targets : arrays of int64, shape (n_edges,)
        Ends of each edge, numbered from 0 within its graph; checked here against the node counts.
    nodes, edges
        Label codes of all nodes and of all edges.
    node_features : array of float64, shape (n_nodes, n_features), optional
    directed, warn
        As in `assemble`.
    one_way_remedy
        If given, each undirected edge must be given from both ends; the text says what to do otherwise.
    atoms
        What the labels of molecules say.
    """
    from twinwl.graphs.batch import GraphBatch  # noqa: PLC0415  (which is made of the constructors)

    graph_ptr = pointer(node_counts)
    _check_edges(node_counts, edge_counts, sources, targets)
    shift = np.repeat(graph_ptr[:-1], edge_counts)
    try:
        adjacency = assemble(
            graph_ptr,
            sources + shift,
            targets + shift,
            None if edges is None else edges.codes,
            directed=directed,
            warn=warn,
        )
    except MemoryError as error:
        raise GraphInputError(
            f"{graph_ptr[-1]} nodes and {len(sources)} edges do not fit in memory; split the batch"
        ) from error
    if one_way_remedy is not None and adjacency.one_way is not None:
        graph = graph_of_node(graph_ptr, adjacency.one_way[0])
        u, v = (end - int(graph_ptr[graph]) for end in adjacency.one_way)
        raise GraphInputError(f"({u}, {v}) is there but ({v}, {u}) is not; {one_way_remedy}", graph)
    labels: dict[str, object] = {"node_labels": np.zeros(int(graph_ptr[-1]), np.int32)}
    if nodes is not None and len(nodes.codes):
        labels = {"node_labels": nodes.codes, "node_vocabulary": nodes.vocabulary}
    return GraphBatch.unchecked(
        indptr=adjacency.indptr,
        indices=adjacency.indices,
        graph_ptr=graph_ptr,
        **labels,
        edge_labels=adjacency.edge_labels,
        edge_vocabulary=() if edges is None else edges.vocabulary,
        node_features=node_features,
        directed=directed,
        atoms=atoms,
    )


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
    if n_nodes > MAX_ITEMS:
        raise GraphInputError(f"{n_nodes} nodes in one batch; the limit is {MAX_ITEMS}, so split the batch")
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


def _check_edges(node_counts: Int64, edge_counts: Int64, sources: Int64, targets: Int64) -> None:
    bound = np.repeat(node_counts, edge_counts)
    wrong = (sources < 0) | (sources >= bound) | (targets < 0) | (targets >= bound)
    if not wrong.any():
        return
    edge = int(np.flatnonzero(wrong)[0])
    graph = graph_of_node(pointer(edge_counts), edge)
    u, v, count = int(sources[edge]), int(targets[edge]), int(node_counts[graph])
    node = v if 0 <= u < count else u
    what = "a negative node number" if node < 0 else f"node {node}, which does not exist"
    raise GraphInputError(
        f"edge ({u}, {v}) names {what}: the graph has {count} nodes, numbered from 0; correct the edge, or "
        "the number of nodes",
        graph,
    )


def check_plausible(n_nodes: int, size: int, graph: int) -> None:
    """Refuse a number of nodes that would fill the memory although the input is small.

    >>> check_plausible(1_000, 3, graph=0)
    """
    if n_nodes > MAX_ITEMS or (n_nodes > PLAUSIBLE_NODES and n_nodes > 64 * size):
        raise GraphInputError(
            f"it would have {n_nodes} nodes for input of size {size}; number its nodes 0..n-1 without gaps",
            graph,
        )


def listed(values: Iterable[object], name: str) -> list[Any]:
    """Return one entry per graph as a list, refusing a single graph."""
    return items(name, values, "one entry per graph; wrap a single one in a list")


def aligned(values: Iterable[object] | None, n_graphs: int, name: str) -> list[object] | None:
    """Return one entry per graph, or None if no graph has one; only some of them is an error."""
    if values is None:
        return None
    entries = listed(values, name)
    if len(entries) != n_graphs:
        raise GraphInputError(f"{name} has {len(entries)} entries for {n_graphs} graphs; give one per graph")
    missing = [graph for graph, value in enumerate(entries) if value is None]
    if missing and len(missing) == n_graphs:
        return None
    if missing:
        raise GraphInputError(
            f"no {name} here, while other graphs of the batch have them; give them to all graphs or to none",
            missing[0],
        )
    return entries


def coded(parts: Sequence[object] | None, counts: Int64, what: str) -> Coded | None:
    """Encode per-graph label sequences with one vocabulary for the batch."""
    if parts is None:
        return None
    sequences: list[Any] = []
    for graph, (part, count) in enumerate(zip(parts, counts.tolist(), strict=True)):
        plain = isinstance(part, np.ndarray) and part.ndim == 1 and part.dtype.kind in "iu"
        sequences.append(part if plain else items(f"{what} labels", part, "a list of labels", graph))
        if len(sequences[-1]) != count:
            raise GraphInputError(
                f"{len(sequences[-1])} {what} labels for {count} {what}s; give one label per {what}", graph
            )
    try:
        kinds = {labels.dtype if isinstance(labels, np.ndarray) else None for labels in sequences}
        if len(kinds) == 1 and None not in kinds:
            return encode_labels(np.concatenate(sequences))
        return encode_labels(list(itertools.chain.from_iterable(sequences)))
    except LabelError as error:
        position = error.position or 0
        starts = pointer(counts)
        graph = graph_of_node(starts, position)
        raise LabelError(error.message, graph, parameter=f"{what} {position - starts[graph]}") from error


def stacked_features(parts: Sequence[object] | None, counts: Int64) -> Float64 | None:
    """Stack per-graph feature matrices, refusing different widths and values that are not numbers."""
    if parts is None:
        return None
    stacked: list[Float64] = []
    for graph, (part, count) in enumerate(zip(parts, counts.tolist(), strict=True)):
        matrix: Float64 = foreign_array("node features", part, np.float64, graph)
        if matrix.size == 0 and count == 0:
            continue
        if matrix.ndim != 2 or len(matrix) != count:  # noqa: PLR2004
            raise GraphInputError(
                f"its node features have shape {matrix.shape}; give one row for each of {count} nodes", graph
            )
        if stacked and matrix.shape[1] != stacked[0].shape[1]:
            raise GraphInputError(
                f"its nodes have {matrix.shape[1]} features, those before it {stacked[0].shape[1]}; give all "
                "nodes equally many",
                graph,
            )
        if not np.isfinite(matrix).all():
            node = int(np.flatnonzero(~np.isfinite(matrix).all(axis=1))[0])
            raise GraphInputError(f"node {node} has a feature that is not finite; replace it", graph)
        stacked.append(matrix)
    return np.concatenate(stacked) if stacked else np.empty((0, 0))
