"""Edge lists, networkx and igraph graphs and adjacency matrices into a GraphBatch.

Libraries are imported where they are used, so that a GraphBatch needs none of them.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from twinwl.arguments import FLAG, MAX_ITEMS, NAME, checked, foreign_array, integer, items, one_of
from twinwl.arrays import Int64, Values, pointer
from twinwl.errors import GraphInputError, nearest, shown
from twinwl.graphs.building import (
    PLAUSIBLE_NODES,
    aligned,
    build,
    check_plausible,
    coded,
    listed,
    stacked_features,
)
from twinwl.graphs.labels import WEIGHT, count_weights, encode_labels, warn_weights

if TYPE_CHECKING:
    import igraph
    import networkx as nx
    import scipy.sparse

    from twinwl.graphs.batch import GraphBatch

_PAIR = "pairs (u, v) of node numbers 0..n-1"
_BINARISE = "binarise the matrix, (matrix != 0).astype(int), or threshold it"


class ObjectConstructors:
    """The constructors of `GraphBatch` from edge lists and the graphs of other libraries."""

    __slots__ = ()

    @classmethod
    def from_edges(
        cls,
        edge_lists: Iterable[Iterable[tuple[int, int]]],
        node_labels: Iterable[Sequence[object]] | None = None,
        num_nodes: Iterable[int] | None = None,
        edge_labels: Iterable[Sequence[object]] | None = None,
        node_features: Iterable[Values] | None = None,
        *,
        directed: bool = False,
    ) -> GraphBatch:
        """Build a batch from one list of ``(u, v)`` per graph; nodes are 0..n-1.

        Parameters
        ----------
        edge_lists
            An edge may be given once or from both ends; arrays of shape (n_edges, 2) are accepted too.
        node_labels
            One sequence of labels per graph; its length is that graph's number of nodes.
        num_nodes
            Number of nodes of each graph; needed only if the last nodes are isolated.
        edge_labels
            One sequence of labels per graph, aligned with its edge list.
        node_features
            One array of shape (n_nodes, n_features) per graph.
        directed
            Keep arcs one-way.

        Returns
        -------
        GraphBatch

        Examples
        --------
        >>> from twinwl import GraphBatch
        >>> GraphBatch.from_edges([[(0, 1), (1, 2)]], num_nodes=[4])
        GraphBatch(1 graph, 4 nodes, 2 edges)
        """
        lists = listed(edge_lists, "edge_lists")
        n_graphs = len(lists)
        edge_counts, edges = _flat_edges(lists)
        labels = aligned(node_labels, n_graphs, "node_labels")
        features = aligned(node_features, n_graphs, "node_features")
        declared = aligned(num_nodes, n_graphs, "num_nodes")
        node_counts = _node_counts(declared, labels or features, edge_counts, edges)
        return build(
            node_counts,
            edge_counts,
            edges[:, 0],
            edges[:, 1],
            nodes=coded(labels, node_counts, "node"),
            edges=coded(aligned(edge_labels, n_graphs, "edge_labels"), edge_counts, "edge"),
            node_features=stacked_features(features, node_counts),
            directed=checked("directed", directed, FLAG),
        )

    @classmethod
    def from_networkx(
        cls,
        graphs: Iterable[nx.Graph],
        node_label: str | None = None,
        edge_label: str | None = None,
        node_features: str | None = None,
    ) -> GraphBatch:
        """Build a batch from networkx graphs; nodes keep the order of ``graph.nodes``.

        Attributes that are not named are not read; the guide, "What counts as the same graph", has the rules.

        Parameters
        ----------
        graphs
            Directed graphs give a directed batch; directed and undirected ones do not mix.
        node_label, edge_label
            Attributes with the labels. Weights are ignored with a warning, unless ``edge_label="weight"``.
        node_features
            Attribute with the vector of features of each node.

        Returns
        -------
        GraphBatch

        Examples
        --------
        >>> import networkx as nx
        >>> from twinwl import GraphBatch
        >>> GraphBatch.from_networkx([nx.path_graph(3), nx.cycle_graph(4)])
        GraphBatch(2 graphs, 7 nodes, 6 edges)
        """
        import networkx as nx  # noqa: PLC0415

        node_label = checked("node_label", node_label, NAME, None)
        edge_label = checked("edge_label", edge_label, NAME, None)
        node_features = checked("node_features", node_features, NAME, None)
        collected = _of_one_kind(graphs, nx.Graph, "networkx")
        node_counts = np.array([len(graph) for graph in collected], np.int64)
        edges = [list(graph.edges(data=True)) for graph in collected]
        edge_counts = np.array(list(map(len, edges)), np.int64)
        ends: list[int] = []
        for graph, own in zip(collected, edges, strict=True):
            number_of: dict[Hashable, int] = {node: number for number, node in enumerate(graph)}
            ends += [number_of[end] for u, v, _ in own for end in (u, v)]
        features = labels = edge_values = None
        if node_features is not None:
            name = f"node attribute {node_features!r}"
            rows = _attributes([graph.nodes(data=True) for graph in collected], node_features, "node")
            features = [foreign_array(name, row, np.float64, graph) for graph, row in enumerate(rows)]
            features = [
                row[:, None] if row.ndim == 1 else row for row in features
            ]  # a number is a vector too
        if node_label is not None:
            labels = _attributes([graph.nodes(data=True) for graph in collected], node_label, "node")
        if edge_label is not None:
            pairs = [[((u, v), data) for u, v, data in own] for own in edges]
            edge_values = _attributes(pairs, edge_label, "edge")
        if edge_label != WEIGHT:
            weights = (data.get(WEIGHT) for own in edges for _, _, data in own if data)
            warn_weights(count_weights(weights), len(ends) // 2)
        return build(
            node_counts,
            edge_counts,
            *np.array(ends, np.int64).reshape(-1, 2).T,
            nodes=coded(labels, node_counts, "node"),
            edges=coded(edge_values, edge_counts, "edge"),
            node_features=stacked_features(features, node_counts),
            directed=bool(collected) and collected[0].is_directed(),
        )

    @classmethod
    def from_igraph(
        cls, graphs: Iterable[igraph.Graph], node_label: str | None = None, edge_label: str | None = None
    ) -> GraphBatch:
        """Build a batch from igraph graphs.

        Parameters
        ----------
        graphs
            Directed graphs give a directed batch; directed and undirected ones do not mix.
        node_label, edge_label
            Vertex and edge attributes with the labels. Weights are ignored with a warning, unless
            ``edge_label="weight"``.

        Returns
        -------
        GraphBatch

        Examples
        --------
        >>> import igraph
        >>> from twinwl import GraphBatch
        >>> GraphBatch.from_igraph([igraph.Graph.Ring(5)])
        GraphBatch(1 graph, 5 nodes, 5 edges)
        """
        import igraph  # noqa: PLC0415

        node_label = checked("node_label", node_label, NAME, None)
        edge_label = checked("edge_label", edge_label, NAME, None)
        collected = _of_one_kind(graphs, igraph.Graph, "igraph")
        node_counts = np.array([graph.vcount() for graph in collected], dtype=np.int64)
        edge_counts, edges = _flat_edges([graph.get_edgelist() for graph in collected])
        node_values = _igraph_values([graph.vs for graph in collected], node_label, "node")
        edge_values = _igraph_values([graph.es for graph in collected], edge_label, "edge")
        if edge_label != WEIGHT:
            weighted = [graph.es[WEIGHT] for graph in collected if WEIGHT in graph.es.attributes()]
            warn_weights(sum(map(count_weights, weighted)), len(edges))
        return build(
            node_counts,
            edge_counts,
            edges[:, 0],
            edges[:, 1],
            nodes=coded(node_values, node_counts, "node"),
            edges=coded(edge_values, edge_counts, "edge"),
            directed=bool(collected) and collected[0].is_directed(),
        )

    @classmethod
    def from_scipy(
        cls,
        adjacencies: Iterable[scipy.sparse.sparray | Values],
        node_labels: Iterable[Sequence[object]] | None = None,
        edge_label: str | None = None,
        *,
        directed: bool = False,
    ) -> GraphBatch:
        """Build a batch from adjacency matrices, sparse or dense.

        Parameters
        ----------
        adjacencies
            One square matrix per graph.
        node_labels
            One sequence of labels per graph.
        edge_label
            ``"weight"`` reads entries as edge labels; otherwise entries other than 0 and 1 are weights, which
            are ignored with a warning.
        directed
            Keep arcs one-way; otherwise a matrix that is not symmetric is an error.

        Returns
        -------
        GraphBatch

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> from twinwl import GraphBatch
        >>> GraphBatch.from_scipy([sp.csr_array([[0, 1], [1, 0]])])
        GraphBatch(1 graph, 2 nodes, 1 edge)
        """
        edge_label = checked("edge_label", edge_label, one_of(WEIGHT), None)
        directed = checked("directed", directed, FLAG)
        if is_sparse(adjacencies) or (isinstance(adjacencies, np.ndarray) and adjacencies.ndim == 2):  # noqa: PLR2004
            raise GraphInputError("this is one matrix, not a list of them; wrap it in a list: [matrix]")
        parts = [_entries(matrix, graph) for graph, matrix in enumerate(listed(adjacencies, "adjacencies"))]
        nothing = (0, *[np.empty(0, np.int64)] * 3)  # for a batch without graphs
        rows, columns, weights = (
            np.concatenate(column) for column in list(zip(nothing, *parts, strict=True))[1:]
        )
        edge_counts = np.array([len(part[1]) for part in parts], np.int64)
        node_counts = np.array([part[0] for part in parts], np.int64)
        if edge_label is None:
            edges = rows != columns if directed else rows < columns  # a symmetric matrix has each edge twice
            warn_weights(count_weights(weights[edges]), int(np.count_nonzero(edges)))
        return build(
            node_counts,
            edge_counts,
            rows,
            columns,
            nodes=coded(aligned(node_labels, len(parts), "node_labels"), node_counts, "node"),
            edges=None if edge_label is None else encode_labels((weights + 0).tolist()),  # True is 1
            directed=directed,
            one_way_remedy="an undirected graph has a symmetric matrix: add the transpose, or pass "
            "directed=True",
        )


def _flat_edges(lists: Sequence[object]) -> tuple[Int64, Int64]:
    """Return the number of edges of each graph, and all edges as one array of shape (n_edges, 2).

    >>> counts, edges = _flat_edges([[(0, 1), (1, 2)], []])
    >>> counts.tolist(), edges.tolist()
    ([2, 0], [[0, 1], [1, 2]])
    """
    # Plain lists of plain pairs are flattened in C; everything else is read one by one.
    if all(type(part) is list for part in lists):
        pairs: list[Any] = list(itertools.chain.from_iterable(lists))  # type: ignore[arg-type]
        if set(map(type, pairs)) <= {tuple, list} and set(map(len, pairs)) <= {2}:
            numbers = list(itertools.chain.from_iterable(pairs))
            if set(map(type, numbers)) <= {int}:
                try:
                    edges = np.array(numbers, dtype=np.int64).reshape(-1, 2)
                except OverflowError:
                    pass
                else:
                    return np.fromiter(map(len, lists), np.int64, len(lists)), edges  # type: ignore[arg-type]
    arrays = [_edge_array(graph, part) for graph, part in enumerate(lists)]
    counts = np.fromiter(map(len, arrays), np.int64, len(arrays))
    return counts, np.concatenate(arrays) if arrays else np.empty((0, 2), np.int64)


def _edge_array(graph: int, edge_list: object) -> Int64:
    """Return one graph's edges as an integer array of shape (n_edges, 2)."""
    edges = edge_list if isinstance(edge_list, np.ndarray) else _without_bools(graph, edge_list)
    array = foreign_array("edge list", edges, None, graph)
    if array.ndim and not len(array):
        return np.empty((0, 2), np.int64)
    if array.ndim == 1 and array.dtype.kind in "iu":
        raise GraphInputError(
            f"edge list: got {shown(edge_list)}, expected {_PAIR}, in one list per graph; wrap the edges of "
            "a single graph in a list",
            graph,
        )
    if array.ndim != 2 or array.shape[1] != 2:  # noqa: PLR2004
        raise GraphInputError(f"edge list: got shape {array.shape}, expected (n_edges, 2): {_PAIR}", graph)
    if array.dtype.kind not in "iu" or (array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max):
        wrong = next(tuple(edge) for edge in array.tolist() if not all(map(_is_node, edge)))
        raise GraphInputError(f"edge list: got edge {shown(wrong)}, expected {_PAIR}", graph)
    return array.astype(np.int64)


def _without_bools(graph: int, edge_list: object) -> list[object]:
    """Return the edges as a list; NumPy would read True as node 1."""
    edges = items("edge list", edge_list, _PAIR, graph, ordered=False)
    for edge in edges:
        if isinstance(edge, (tuple, list)) and any(isinstance(end, bool) for end in edge):
            raise GraphInputError(f"edge list: got edge {shown(edge)}, expected {_PAIR}", graph)
    return edges


def _is_node(end: object) -> bool:
    return type(end) is int and abs(end) <= MAX_ITEMS


def _node_counts(
    declared: Sequence[object] | None, per_node: Sequence[Any] | None, edge_counts: Int64, edges: Int64
) -> Int64:
    """Return the number of nodes of each graph: as given, else from the largest node number."""
    if declared is not None:
        count = integer(0, MAX_ITEMS)
        given = [checked("num_nodes", value, count, graph=graph) for graph, value in enumerate(declared)]
        return np.array(given, dtype=np.int64)
    if per_node is not None:
        return np.array([_length(part) for part in per_node], np.int64)
    counts = np.zeros(len(edge_counts), dtype=np.int64)
    filled = edge_counts > 0
    if filled.any():
        largest = np.maximum.reduceat(edges.max(axis=1), pointer(edge_counts)[:-1][filled])
        counts[filled] = np.maximum(largest + 1, 0)
        for graph in np.flatnonzero(counts > PLAUSIBLE_NODES).tolist():
            check_plausible(int(counts[graph]), int(edge_counts[graph]), graph)
    return counts


def _length(part: Any) -> int:  # noqa: ANN401
    try:
        return len(part)
    except TypeError:  # what has no length is refused when it is read
        return 0


def _of_one_kind(graphs: Iterable[Any], kind: Any, library: str) -> list[Any]:  # noqa: ANN401
    """Return the graphs of a library as a list: all of its type, all directed or all undirected."""
    if isinstance(graphs, kind):
        raise GraphInputError(f"this is one {library} graph, not a list of them; wrap it in a list: [graph]")
    collected: list[Any] = listed(graphs, "graphs")
    for position, graph in enumerate(collected):
        if not isinstance(graph, kind):
            raise GraphInputError(
                f"{type(graph).__name__} is not a graph of {library}; use the from_… constructor of its kind",
                position,
            )
        if graph.is_directed() != collected[0].is_directed():
            here, there = ("", "un") if graph.is_directed() else ("un", "")
            raise GraphInputError(
                f"it is {here}directed and graph 0 is {there}directed; convert them all to one kind", position
            )
    return collected


def _attributes(parts: Iterable[Any], attribute: str, what: str) -> list[list[object]]:
    """Return one attribute of each node or edge of each graph, of pairs of its name and its attributes."""
    found = []
    for graph, part in enumerate(parts):
        try:
            found.append([attributes[attribute] for _, attributes in part])
        except KeyError:
            name = next(name for name, attributes in part if attribute not in attributes)
            raise GraphInputError(
                f"{what} {shown(name)} has no attribute {attribute!r}; give it to every {what} of every "
                f"graph, or leave {what}_label out",
                graph,
            ) from None
    return found


def _igraph_values(parts: list[Any], attribute: str | None, what: str) -> list[list[object]] | None:
    """Return one attribute of each node or edge of each graph; igraph returns None if it was never set."""
    if attribute is None:
        return None
    found: list[list[object]] = []
    for graph, part in enumerate(parts):
        known = part.attributes()
        if len(part) and attribute not in known:
            raise GraphInputError(
                f"its {what}s have no attribute {attribute!r}; set it, or leave {what}_label out "
                f"({nearest(attribute, known)})",
                graph,
            )
        found.append(part[attribute] if len(part) else [])
        if None in found[-1]:
            place = found[-1].index(None)
            raise GraphInputError(
                f"{what} {place} has no {attribute!r} (igraph says None); give it to every {what}", graph
            )
    return found


def is_sparse(matrix: object) -> bool:
    """Whether this is a sparse matrix or array of SciPy; nothing is imported to find out."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and isinstance(matrix, (sparse.sparray, sparse.spmatrix))


def _entries(matrix: Any, graph: int) -> tuple[int, NDArray[Any], NDArray[Any], NDArray[Any]]:  # noqa: ANN401
    """Return the number of nodes, and rows, columns and values of the entries that are not zero."""
    given: Any = matrix if is_sparse(matrix) else foreign_array("adjacency", matrix, None, graph)
    if given.ndim != 2 or given.shape[0] != given.shape[1]:  # noqa: PLR2004
        raise GraphInputError(
            f"its matrix has shape {tuple(given.shape)}; an adjacency matrix is square. "
            "An edge list goes into from_edges",
            graph,
        )
    if given.dtype.kind not in "biuf":
        raise GraphInputError(f"its entries are {given.dtype}, not numbers; {_BINARISE}", graph)
    if not is_sparse(given):
        rows, columns = np.nonzero(given)
        values = given[rows, columns]
    elif given.format == "csr":  # read directly, which is much faster for small graphs
        rows = np.repeat(np.arange(given.shape[0], dtype=np.int64), np.diff(given.indptr))
        columns, values = given.indices[: len(rows)], given.data[: len(rows)]
    else:
        coo = given.tocoo()
        rows, columns, values = coo.row, coo.col, coo.data
    filled = values != 0  # a sparse matrix may store zeros, which are not edges
    rows, columns, values = rows[filled], columns[filled], values[filled]
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        place = (int(rows[wrong[0]]), int(columns[wrong[0]]))
        raise GraphInputError(f"entry {place} is {values[wrong[0]]}, not a finite number; {_BINARISE}", graph)
    return int(given.shape[0]), rows.astype(np.int64), columns.astype(np.int64), values
