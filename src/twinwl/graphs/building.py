"""Graphs of other kinds into a GraphBatch: edge lists, networkx, igraph, matrices, and what `as_batch` finds.

Libraries are imported where they are used, so that a GraphBatch needs none of them. `build` is the last step
of every constructor: it checks the parts and sorts the arcs.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import sys
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np

from twinwl.arguments import (
    FLAG,
    MAX_ITEMS,
    NAME,
    Constraint,
    checked,
    foreign_array,
    graph_of_node,
    integer,
    items,
    one_of,
    pointer,
)
from twinwl.arrays import Array, Float64, Int32, Int64, Values
from twinwl.errors import GraphInputError, LabelError, nearest, prefix_errors, shown, warn_caller
from twinwl.graphs.labels import WEIGHT, Coded, count_weights, encode_labels, warn_weights

if TYPE_CHECKING:
    import igraph
    import networkx as nx
    import scipy.sparse

    from twinwl.graphs.batch import GraphBatch

_PAIR = "pairs (u, v) of node numbers 0..n-1"


def _attribute_names(value: object) -> list[str | None]:
    if value is None:
        return [None]
    if not isinstance(value, list | tuple) or not value:
        return [NAME.accept(value)]
    return [NAME.accept(name) for name in value]


_ATTRIBUTES = Constraint("a string, a list of different ones or None", _attribute_names)
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
        if declared is not None:
            count = integer(0, MAX_ITEMS)
            sizes = [checked("num_nodes", value, count, graph=graph) for graph, value in enumerate(declared)]
            node_counts = np.array(sizes, np.int64)
        elif labels or features:
            node_counts = np.array([_length(part) for part in labels or features or ()], np.int64)
        else:
            node_counts = largest_ends(edge_counts, edges)
        return build_labelled(
            node_counts,
            edge_counts,
            edges.T,
            labels,
            aligned(edge_labels, n_graphs, "edge_labels"),
            features,
            directed=checked("directed", directed, FLAG),
        )

    @classmethod
    def from_networkx(
        cls,
        graphs: Iterable[nx.Graph],
        node_label: str | Sequence[str] | None = None,
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
            Attributes with the labels. Several node attributes become views of the graphs; see `view`.
            Weights are ignored with a warning, unless ``edge_label="weight"``.
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

        first, *others = checked("node_label", node_label, _ATTRIBUTES)
        edge_label = checked("edge_label", edge_label, NAME, None)
        node_features = checked("node_features", node_features, NAME, None)
        collected = _of_one_kind(graphs, nx.Graph, "networkx")
        nodes = [graph.nodes(data=True) for graph in collected]
        edges = [list(graph.edges(data=True)) for graph in collected]
        ends: list[int] = []
        for graph, own in zip(collected, edges):
            number_of: dict[Hashable, int] = {node: number for number, node in enumerate(graph)}
            ends += [number_of[end] for u, v, _ in own for end in (u, v)]
        features = _attributes(nodes, node_features, "node")
        if features is not None:
            name = f"node attribute {node_features!r}"
            rows = [foreign_array(name, row, np.float64, graph) for graph, row in enumerate(features)]
            features = [row[:, None] if row.ndim == 1 else row for row in rows]  # a number is a vector too
        labels = _attributes(nodes, first, "node"), _attributes(edges, edge_label, "edge")
        if edge_label != WEIGHT:
            weights = (data.get(WEIGHT) for own in edges for _, _, data in own if data)
            warn_weights(count_weights(weights), len(ends) // 2)
        batch = build_labelled(
            np.array(list(map(len, nodes)), np.int64),
            np.array(list(map(len, edges)), np.int64),
            np.array(ends, np.int64).reshape(-1, 2).T,
            *labels,
            features,
            directed=bool(collected) and collected[0].is_directed(),
        )
        return batch.with_views({name: _attributes(nodes, name, "node") or [] for name in others}, first)

    @classmethod
    def from_igraph(
        cls,
        graphs: Iterable[igraph.Graph],
        node_label: str | Sequence[str] | None = None,
        edge_label: str | None = None,
    ) -> GraphBatch:
        """Build a batch from igraph graphs.

        Parameters
        ----------
        graphs
            Directed graphs give a directed batch; directed and undirected ones do not mix.
        node_label, edge_label
            Vertex and edge attributes with the labels. Several vertex attributes become views of the graphs;
            see `view`. Weights are ignored with a warning, unless ``edge_label="weight"``.

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

        first, *others = checked("node_label", node_label, _ATTRIBUTES)
        edge_label = checked("edge_label", edge_label, NAME, None)
        collected = _of_one_kind(graphs, igraph.Graph, "igraph")
        node_counts = np.array([graph.vcount() for graph in collected], dtype=np.int64)
        edge_counts, edges = _flat_edges([graph.get_edgelist() for graph in collected])
        nodes, links = [graph.vs for graph in collected], [graph.es for graph in collected]
        labels = _igraph_values(nodes, first, "node"), _igraph_values(links, edge_label, "edge")
        if edge_label != WEIGHT:
            weighted = [own[WEIGHT] for own in links if WEIGHT in own.attributes()]
            warn_weights(sum(map(count_weights, weighted)), len(edges))
        batch = build_labelled(
            node_counts,
            edge_counts,
            edges.T,
            *labels,
            directed=bool(collected) and collected[0].is_directed(),
        )
        return batch.with_views({name: _igraph_values(nodes, name, "node") or [] for name in others}, first)

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
        rows, columns, weights = (np.concatenate(column) for column in list(zip(nothing, *parts))[1:])
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
            # The sum turns booleans into integers.
            edges=None if edge_label is None else encode_labels((weights + 0).tolist()),
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
                with contextlib.suppress(OverflowError):
                    edges = np.array(numbers, dtype=np.int64).reshape(-1, 2)
                    return np.fromiter(map(len, lists), np.int64, len(lists)), edges  # type: ignore[arg-type]
    arrays = [_edge_array(graph, part) for graph, part in enumerate(lists)]
    counts = np.fromiter(map(len, arrays), np.int64, len(arrays))
    return counts, np.concatenate(arrays) if arrays else np.empty((0, 2), np.int64)


def _edge_array(graph: int, edge_list: object) -> Int64:
    """Return one graph's edges as an integer array of shape (n_edges, 2)."""
    edges = edge_list
    if not isinstance(edges, np.ndarray):
        edges = items("edge list", edges, _PAIR, graph, ordered=False)
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
    if isinstance(edges, list) or array.dtype.kind != "i":  # NumPy would read True in a list as node 1
        for edge in edges:
            if not all(map(_is_node, edge)):
                raise GraphInputError(f"edge list: got edge {shown(tuple(edge))}, expected {_PAIR}", graph)
    return array.astype(np.int64)


def _is_node(end: object) -> bool:
    is_integer = isinstance(end, int | np.integer) and not isinstance(end, bool)
    return is_integer and abs(int(end)) <= MAX_ITEMS  # type: ignore[call-overload]


def _length(part: Any) -> int:  # noqa: ANN401
    """Return the number of entries, 0 if it has none: a later check says what is wrong then."""
    try:
        return len(part)
    except TypeError:
        return 0


def largest_ends(edge_counts: Int64, edges: Int64) -> Int64:
    """Return the largest node number of each graph plus one: how many nodes it has if it lists no others."""
    counts = np.zeros(len(edge_counts), dtype=np.int64)
    filled = edge_counts > 0
    if filled.any():
        largest = np.maximum.reduceat(edges.max(axis=1), pointer(edge_counts)[:-1][filled])
        counts[filled] = np.maximum(largest + 1, 0)
    return counts


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


def _attributes(parts: Iterable[Any], attribute: str | None, what: str) -> list[Any] | None:
    """Return an attribute of each node (node, data) or edge (u, v, data) of each networkx graph."""
    if attribute is None:
        return None
    values = []
    for graph, part in enumerate(parts):
        try:
            values.append([data[attribute] for *_, data in part])
        except KeyError:
            name = next(name for *name, data in part if attribute not in data)
            raise GraphInputError(
                f"{what} {shown(tuple(name) if what == 'edge' else name[0])} has no attribute {attribute!r}; "
                f"give it to every {what} of every graph, or leave {what}_label out",
                graph,
            ) from None
    return values


def _igraph_values(parts: list[Any], attribute: str | None, what: str) -> list[list[object]] | None:
    """Return one attribute of each node or edge of each graph; igraph returns None if it was never set."""
    if attribute is None:
        return None
    values: list[list[object]] = []
    for graph, part in enumerate(parts):
        known = part.attributes()
        if len(part) and attribute not in known:
            raise GraphInputError(
                f"its {what}s have no attribute {attribute!r}; set it, or leave {what}_label out "
                f"({nearest(attribute, known)})",
                graph,
            )
        values.append(part[attribute] if len(part) else [])
        if None in values[-1]:
            place = values[-1].index(None)
            raise GraphInputError(
                f"{what} {place} has no {attribute!r} (igraph says None); give it to every {what}", graph
            )
    return values


def is_sparse(matrix: object) -> bool:
    """Whether this is a sparse matrix or array of SciPy; nothing is imported to find out."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and isinstance(matrix, (sparse.sparray, sparse.spmatrix))


def _entries(matrix: Any, graph: int) -> tuple[int, Array, Array, Array]:  # noqa: ANN401
    """Return the number of nodes, and rows, columns and values of the entries that are not zero."""
    entries: Any = matrix if is_sparse(matrix) else foreign_array("adjacency", matrix, None, graph)
    if entries.ndim != 2 or entries.shape[0] != entries.shape[1]:  # noqa: PLR2004
        raise GraphInputError(
            f"its matrix has shape {tuple(entries.shape)}; an adjacency matrix is square. "
            "An edge list goes into from_edges",
            graph,
        )
    if entries.dtype.kind not in "biuf":
        raise GraphInputError(f"its entries are {entries.dtype}, not numbers; {_BINARISE}", graph)
    if not is_sparse(entries):
        rows, columns = np.nonzero(entries)
        values = entries[rows, columns]
    elif entries.format == "csr":  # read directly, which is much faster for small graphs
        rows = np.repeat(np.arange(entries.shape[0], dtype=np.int64), np.diff(entries.indptr))
        columns, values = entries.indices[: len(rows)], entries.data[: len(rows)]
    else:
        coo = entries.tocoo()
        rows, columns, values = coo.row, coo.col, coo.data
    filled = values != 0  # a sparse matrix may store zeros, which are not edges
    rows, columns, values = rows[filled], columns[filled], values[filled]
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        place = (int(rows[wrong[0]]), int(columns[wrong[0]]))
        raise GraphInputError(f"entry {place} is {values[wrong[0]]}, not a finite number; {_BINARISE}", graph)
    return int(entries.shape[0]), rows.astype(np.int64), columns.astype(np.int64), values


# ---------------------------------------------------------------------- any kind

GraphsLike: TypeAlias = "GraphBatch | Iterable[object]"

_ACCEPTED = (
    "a GraphBatch, or a list of networkx graphs, igraph graphs, PyTorch Geometric Data, RDKit molecules, "
    "adjacency matrices (SciPy or NumPy), lists of (u, v) edges, or GraphBatches"
)
_STRINGS = (
    "a string may be SMILES or graph6 ('CC' is both), and twinwl does not guess; use "
    "GraphBatch.from_smiles(strings) or GraphBatch.from_graph6(strings)"
)
_PYG_BATCH = "PyTorch Geometric Batch"  # many graphs in one object


# The class of each kind, by its module and name, and the constructor of its graphs. An object of a class can
# only exist once its module is imported, so nothing is imported to find out.
_KINDS = {
    "GraphBatch": ("twinwl.graphs.batch", "GraphBatch", ""),
    "networkx graph": ("networkx", "Graph", "from_networkx"),
    "igraph graph": ("igraph", "Graph", "from_igraph"),
    _PYG_BATCH: ("torch_geometric.data.batch", "Batch", "from_pyg"),
    "PyTorch Geometric Data": ("torch_geometric.data.data", "BaseData", "from_pyg"),
    "RDKit molecule": ("rdkit.Chem.rdchem", "Mol", "from_rdkit"),
    # These have no class of their own; `_kind` recognises them.
    "matrix": ("", "", "from_scipy"),
    "edge list": ("", "", "from_edges"),
}


def as_batch(
    graphs: GraphsLike, node_label: str | None = None, edge_label: str | None = None, *, x: str = "auto"
) -> GraphBatch:
    """Convert a collection of graphs of any unambiguous kind to a GraphBatch.

    Parameters
    ----------
    graphs
        A GraphBatch (returned as it is), a PyTorch Geometric ``Batch`` (its graphs), or any iterable of
        networkx graphs, igraph graphs, PyTorch Geometric ``Data``, RDKit molecules, adjacency matrices
        (SciPy, or two-dimensional NumPy arrays), lists of ``(u, v)`` edges, or GraphBatches, which are
        joined. An empty list gives an empty batch.
    node_label, edge_label
        Attributes to read as labels: both for networkx and igraph, ``edge_label`` for PyTorch Geometric, and
        ``edge_label="weight"`` for matrices. Attributes that are not named are not read, and weights are
        ignored with a warning.
    x
        How ``x`` of PyTorch Geometric is read, as in `GraphBatch.from_pyg`.

    Returns
    -------
    GraphBatch

    Raises
    ------
    GraphInputError
        For strings (SMILES and graph6 look alike), for a single graph that is not in a list, for a mixture
        of kinds, and for anything else.

    Examples
    --------
    >>> import networkx as nx
    >>> as_batch([nx.path_graph(3), nx.cycle_graph(3)])
    GraphBatch(2 graphs, 6 nodes, 5 edges)
    >>> as_batch([])
    GraphBatch(0 graphs, 0 nodes, 0 edges)
    """
    from twinwl.graphs.batch import GraphBatch, concatenate  # noqa: PLC0415  (made of the constructors)

    if isinstance(graphs, GraphBatch):
        return graphs
    node_label = checked("node_label", node_label, NAME, None)
    edge_label = checked("edge_label", edge_label, NAME, None)
    kind, collected = _kind(graphs), cast("Any", graphs)
    if kind != _PYG_BATCH:
        collected = _list_graphs(graphs)
        if not collected:
            return GraphBatch.from_edges([])
        kind = _kind(collected[0])
        for position, graph in enumerate(collected):
            _check_kind(graph, kind, position)
    if kind == "GraphBatch":
        return concatenate(collected)
    constructor: Callable[..., GraphBatch] = getattr(GraphBatch, _KINDS[cast("str", kind)][2])
    takes = inspect.signature(constructor).parameters
    for name, value in (("node_label", node_label), ("edge_label", edge_label)):
        if value is not None and name not in takes:
            raise GraphInputError(
                f"{name} names an attribute, which kind {kind!r} does not have; leave it out"
            )
    options = {"node_label": node_label, "edge_label": edge_label, "x": x}
    return constructor(collected, **{name: value for name, value in options.items() if name in takes})


def _check_kind(graph: object, first: str | None, position: int) -> None:
    """Refuse what is not a graph of the kind of the first one."""
    kind = _kind(graph)
    if kind is None:
        name = type(graph).__name__
        raise GraphInputError(
            f"{shown(graph)} of type {name} is not a graph that twinwl accepts; give {_ACCEPTED}", position
        )
    if kind == "string":
        raise GraphInputError(f"{shown(graph)}: {_STRINGS}", position)
    if kind != first:
        raise GraphInputError(
            f"it is of kind {kind!r} and graph 0 of kind {first!r}; convert them to one kind", position
        )


def one_graph(graph: object, name: str, x: str = "auto") -> GraphBatch:
    """Return a batch of one graph; refuse any other number.

    Parameters
    ----------
    graph
        A batch or list of one graph, or the graph itself.
    name
        Name of the argument, for the error.
    x
        As in `as_batch`.

    >>> import networkx as nx
    >>> one_graph(nx.path_graph(3), "the first graph")
    GraphBatch(1 graph, 3 nodes, 2 edges)
    """
    with prefix_errors(name):
        many = isinstance(graph, list | tuple) or _kind(graph) in {"GraphBatch", _PYG_BATCH}
        batch = as_batch(graph if many else [graph], x=x)  # type: ignore[arg-type]
    if len(batch) != 1:
        raise GraphInputError(f"{name} is a batch of {len(batch)} graphs; pick one, as in batch[0]")
    return batch


def _list_graphs(graphs: object) -> list[Any]:
    """Return the graphs as a list; refuse a single graph, with a hint."""
    kind = _kind(graphs)
    if kind == "string":
        raise GraphInputError(f"{shown(graphs)} is one string, not a list of graphs; {_STRINGS}")
    lone_matrix = kind == "matrix" and getattr(graphs, "ndim", 2) == 2  # noqa: PLR2004
    if kind not in {None, "matrix", "edge list"} or lone_matrix:
        raise GraphInputError(f"this is one {kind}, not a list of them; wrap it in a list: [graph]")
    return items("graphs", graphs, _ACCEPTED)


def _kind(graph: object) -> str | None:
    """Name the kind of a graph, or return None."""
    if isinstance(graph, (str, bytes)):
        return "string"
    for kind, (module, name, _) in _KINDS.items():
        if module in sys.modules and isinstance(graph, getattr(sys.modules[module], name)):
            return kind
    if is_sparse(graph) or (isinstance(graph, np.ndarray) and graph.dtype != object):
        return "matrix"
    return "edge list" if isinstance(graph, (list, tuple)) else None


# ---------------------------------------------------------------------- the last step

_PLAUSIBLE_NODES = 2**24  # a graph this large may well be meant, however few its edges


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
    from twinwl.graphs.batch import UNLABELLED, GraphBatch  # noqa: PLC0415  (which is made of the constructors)

    _check_plausible(node_counts, edge_counts)
    graph_ptr = pointer(node_counts)
    _check_edges(node_counts, edge_counts, sources, targets)
    shift = np.repeat(graph_ptr[:-1], edge_counts)
    adjacency = assemble(
        graph_ptr,
        sources + shift,
        targets + shift,
        None if edges is None else edges.codes,
        directed=directed,
        warn=warn,
        one_way_remedy=one_way_remedy,
    )
    if nodes is None or not len(nodes.codes):
        nodes = Coded(np.zeros(graph_ptr[-1], np.int32), UNLABELLED)
    return GraphBatch.unchecked(
        indptr=adjacency.indptr,
        indices=adjacency.indices,
        graph_ptr=graph_ptr,
        node_labels=nodes.codes,
        node_vocabulary=nodes.vocabulary,
        edge_labels=adjacency.edge_labels,
        edge_vocabulary=() if edges is None else edges.vocabulary,
        node_features=node_features,
        directed=directed,
        atoms=atoms,
    )


def build_labelled(
    node_counts: Int64,
    edge_counts: Int64,
    ends: Int64,
    node_labels: Sequence[object] | None = None,
    edge_labels: Sequence[object] | None = None,
    node_features: Sequence[object] | None = None,
    **options: Any,  # noqa: ANN401
) -> GraphBatch:
    """Build a batch from labels and features that are still one sequence per graph.

    Parameters
    ----------
    node_counts, edge_counts
        As in `build`.
    ends : array of int64, shape (2, n_edges)
        Sources and targets.
    node_labels, edge_labels, node_features
        One sequence, or matrix, per graph.
    **options
        Of `build`.
    """
    return build(
        node_counts,
        edge_counts,
        *ends,
        nodes=coded(node_labels, node_counts, "node"),
        edges=coded(edge_labels, edge_counts, "edge"),
        node_features=stacked_features(node_features, node_counts),
        **options,
    )


class Adjacency(NamedTuple):
    """The arcs of a batch in CSR form."""

    indptr: Int64
    indices: Int32
    edge_labels: Int32 | None


def assemble(
    graph_ptr: Int64,
    sources: Int64,
    targets: Int64,
    edge_codes: Int32 | None = None,
    *,
    directed: bool = False,
    warn: bool = True,
    one_way_remedy: str | None = None,
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
    one_way_remedy
        As in `build`.

    Raises
    ------
    GraphInputError
        If an edge is given twice with different labels, or from one end only although both are needed, or
        there are too many nodes.
    """
    from twinwl.graphs.arc_kernels import Arcs, Entries, bucket, merge  # noqa: PLC0415  (loads numba, which only building needs)

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
    # Two bucket passes sort the arcs, by target and then by source. `cursor` and the copy of `indptr` are the
    # next free places.
    indptr, cursor = (np.concatenate([[0], np.cumsum(number)]) for number in (leaving, entering))
    entries, moved = np.empty((2, indptr[-1]), np.uint32)
    codes, moved_codes = np.empty((2, indptr[-1] if len(given) else 0), np.int32)
    ends = np.ascontiguousarray(sources, np.int64), np.ascontiguousarray(targets, np.int64)
    arcs = Arcs(*ends, given, directed)
    bucket(arcs, cursor, indptr.copy(), Entries(moved, moved_codes), Entries(entries, codes))
    indices = np.empty(len(entries), np.int32)
    # Number of parallel arcs, ends of an edge with two labels, ends of an edge given from one end only (-1 if
    # there is none).
    report = np.array([0, -1, -1, -1, -1])
    n_neighbours = merge(indptr, entries, codes, indices, report)
    n_parallel, clash, one_way = int(report[0]), report[1:3], report[3:]
    if clash[0] >= 0:
        graph = graph_of_node(graph_ptr, int(clash[0]))
        u, v = clash - graph_ptr[graph]
        raise GraphInputError(f"edge ({u}, {v}) is given twice with different labels; keep one", graph)
    if warn and (n_loops or n_parallel):
        warn_caller(f"dropped {n_loops} self-loops and merged {n_parallel} repeated edges")
    if one_way_remedy is not None and one_way[0] >= 0 and not directed:
        graph = graph_of_node(graph_ptr, int(one_way[0]))
        u, v = one_way - graph_ptr[graph]
        raise GraphInputError(f"({u}, {v}) is there but ({v}, {u}) is not; {one_way_remedy}", graph)
    labels = None if edge_codes is None else codes[:n_neighbours].copy()
    return Adjacency(indptr, indices[:n_neighbours].copy(), labels)


def _check_edges(node_counts: Int64, edge_counts: Int64, sources: Int64, targets: Int64) -> None:
    bound = np.repeat(node_counts, edge_counts)
    wrong = (sources < 0) | (sources >= bound) | (targets < 0) | (targets >= bound)
    if not wrong.any():
        return
    edge = int(np.flatnonzero(wrong)[0])
    graph = graph_of_node(pointer(edge_counts), edge)
    u, v, count = sources[edge], targets[edge], node_counts[graph]
    node = v if 0 <= u < count else u
    raise GraphInputError(
        f"edge ({u}, {v}) names node {node}, which does not exist: the graph has {count} nodes, numbered "
        "from 0; correct the edge, or the number of nodes",
        graph,
    )


def _check_plausible(node_counts: Int64, edge_counts: Int64) -> None:
    """Refuse a number of nodes that would fill the memory although the input is small."""
    wrong = (node_counts > _PLAUSIBLE_NODES) & (node_counts > 64 * edge_counts)
    if wrong.any():
        graph = int(np.argmax(wrong))
        raise GraphInputError(
            f"it would have {node_counts[graph]} nodes for {edge_counts[graph]} edges; number its nodes "
            "0..n-1 without gaps",
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
    for graph, (part, count) in enumerate(zip(parts, counts.tolist())):
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
    for graph, (part, count) in enumerate(zip(parts, counts.tolist())):
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
