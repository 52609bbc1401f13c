"""GraphBatch: one immutable CSR batch of graphs, and an array of graphs in the eyes of scikit-learn."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from types import EllipsisType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from twinwl.errors import GraphIndexError, GraphInputError
from twinwl.graphs.labels import Label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import igraph
    import networkx as nx
    import scipy.sparse
    import torch_geometric.data
    from numpy.typing import NDArray

__all__ = ["GraphBatch", "concatenate"]

Key: TypeAlias = "int | slice | Sequence[int] | NDArray[np.generic] | tuple[Key, EllipsisType]"

_ARRAYS = {
    "indptr": np.int64,
    "indices": np.int32,
    "graph_ptr": np.int64,
    "node_labels": np.int32,
    "edge_labels": np.int32,
    "node_features": np.float64,
}

UNLABELLED: tuple[Label, ...] = (None,)


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class GraphBatch:
    """A batch of graphs in one CSR structure; a single graph is a batch of one.

    It behaves as a one-dimensional array of graphs: ``len(batch)``, ``batch.shape``, ``batch[3]``,
    ``batch[2:5]``, ``batch[index_array]``, ``batch[mask]`` and iteration all give a GraphBatch again, so
    scikit-learn's splitters and searches take it as it is. Build one with a ``from_…`` constructor.

    Attributes
    ----------
    indptr : array of int64, shape (n_nodes + 1,)
        CSR row pointer over all nodes of all graphs.
    indices : array of int32, shape (n_arcs,)
        Neighbours, numbered within the whole batch and sorted within each node.
    graph_ptr : array of int64, shape (n_graphs + 1,)
        Node range of each graph.
    node_labels : array of int32, shape (n_nodes,)
        Index of each node's label in ``node_vocabulary``.
    node_vocabulary : tuple of labels
        ``(None,)`` where the nodes carry no labels.
    edge_labels : array of int32, shape (n_arcs,), or None
        Index of each arc's label in ``edge_vocabulary``, aligned with ``indices``.
    edge_vocabulary : tuple of labels
    node_features : array of float64, shape (n_nodes, n_features), or None
    directed : bool
        Whether arcs are one-way. Otherwise each edge stands in ``indices`` from both ends.

    Examples
    --------
    >>> batch = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1)]], node_labels=[["C", "C", "O"], ["N", "N"]])
    >>> batch
    GraphBatch(2 graphs, 5 nodes, 3 edges, 3 node labels)
    >>> batch[1].labels_of_nodes()
    ['N', 'N']
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    graph_ptr: NDArray[np.int64]
    node_labels: NDArray[np.int32]
    node_vocabulary: tuple[Label, ...] = UNLABELLED
    edge_labels: NDArray[np.int32] | None = None
    edge_vocabulary: tuple[Label, ...] = ()
    node_features: NDArray[np.float64] | None = None
    directed: bool = field(default=False)

    def __post_init__(self) -> None:
        self._validate()
        self._freeze()

    @classmethod
    def unchecked(cls, **fields: object) -> GraphBatch:
        """Build a batch from arrays that are right by construction, such as a slice of another batch."""
        batch = object.__new__(cls)
        for name in cls.__slots__:
            object.__setattr__(batch, name, fields[name])
        batch._freeze()
        return batch

    def _freeze(self) -> None:
        for name in _ARRAYS:
            array = getattr(self, name)
            if array is not None:
                array.setflags(write=False)

    def _validate(self) -> None:
        """Refuse arrays that do not fit together, before any kernel reads past their end."""
        for name, dtype in _ARRAYS.items():
            array = getattr(self, name)
            if array is None and name in {"edge_labels", "node_features"}:
                continue
            if not isinstance(array, np.ndarray) or array.dtype != dtype:
                kind = getattr(array, "dtype", type(array).__name__)
                raise GraphInputError(f"{name} must be an array of {np.dtype(dtype)}, not {kind}")
        _check_pointer("graph_ptr", self.graph_ptr, len(self.node_labels))
        _check_pointer("indptr", self.indptr, len(self.indices))
        if len(self.indptr) != len(self.node_labels) + 1:
            raise GraphInputError(f"indptr is for {len(self.indptr) - 1} nodes, node_labels for {len(self.node_labels)}")
        _check_codes("node_labels", self.node_labels, len(self.node_vocabulary))
        self._check_arcs()
        if self.edge_labels is not None:
            if len(self.edge_labels) != len(self.indices):
                raise GraphInputError(f"{len(self.edge_labels)} edge labels for {len(self.indices)} arcs")
            _check_codes("edge_labels", self.edge_labels, len(self.edge_vocabulary))
        if self.node_features is not None and (
            self.node_features.ndim != 2 or len(self.node_features) != len(self.node_labels)  # noqa: PLR2004
        ):
            raise GraphInputError(
                f"node_features has shape {self.node_features.shape}; it needs one row for each of the "
                f"{len(self.node_labels)} nodes"
            )

    def _check_arcs(self) -> None:
        """Refuse arcs that leave their graph: every kernel relies on graphs being apart."""
        arcs_of_graph = np.diff(self.indptr[self.graph_ptr])
        low = np.repeat(self.graph_ptr[:-1], arcs_of_graph)
        high = np.repeat(self.graph_ptr[1:], arcs_of_graph)
        wrong = np.flatnonzero((self.indices < low) | (self.indices >= high))
        if len(wrong):
            graph = int(np.searchsorted(self.indptr[self.graph_ptr], wrong[0], side="right")) - 1
            raise GraphInputError(
                f"an arc leads to node {self.indices[wrong[0]]}, which is not in this graph "
                f"(its nodes are {self.graph_ptr[graph]}..{self.graph_ptr[graph + 1] - 1})",
                graph,
            )

    # ------------------------------------------------------------------ an array of graphs

    def __len__(self) -> int:
        return len(self.graph_ptr) - 1

    @property
    def shape(self) -> tuple[int]:
        """``(n_graphs,)``, as of a one-dimensional array."""
        return (len(self),)

    @property
    def ndim(self) -> int:
        """Always 1."""
        return 1

    def __getitem__(self, key: Key) -> GraphBatch:
        from twinwl.graphs.selection import select  # noqa: PLC0415  (selection builds GraphBatch)

        return select(self, _graph_indices(key, len(self)))

    def __iter__(self) -> Iterator[GraphBatch]:
        return (self[index] for index in range(len(self)))

    def __array__(self, dtype: object = None, copy: bool | None = None) -> NDArray[np.object_]:
        # Without this NumPy would look for a sequence inside each batch of one, without end.
        out = np.empty(len(self), dtype=object)
        for index, graph in enumerate(self):
            out[index] = graph
        return out

    def __repr__(self) -> str:
        parts = [
            _counted(len(self), "graph"),
            _counted(self.n_nodes, "node"),
            _counted(self.n_edges, "arc" if self.directed else "edge"),
        ]
        if self.has_node_labels:
            parts.append(_counted(len(self.node_vocabulary), "node label"))
        if self.edge_labels is not None:
            parts.append(_counted(len(self.edge_vocabulary), "edge label"))
        if self.node_features is not None:
            parts.append(_counted(self.node_features.shape[1], "node feature"))
        return f"GraphBatch({', '.join(parts)})"

    # ------------------------------------------------------------------ what is inside

    @property
    def n_nodes(self) -> int:
        """Number of nodes in all graphs."""
        return len(self.node_labels)

    @property
    def n_edges(self) -> int:
        """Number of edges (of arcs where directed) in all graphs."""
        return len(self.indices) if self.directed else len(self.indices) // 2

    @property
    def nodes_per_graph(self) -> NDArray[np.int64]:
        """Number of nodes of each graph, shape (n_graphs,)."""
        return np.diff(self.graph_ptr)

    @property
    def has_node_labels(self) -> bool:
        """Whether nodes carry labels of their own."""
        return self.node_vocabulary != UNLABELLED

    def labels_of_nodes(self) -> list[Label]:
        """Return each node's label, in node order."""
        return [self.node_vocabulary[code] for code in self.node_labels]

    def arcs(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return source and target of each arc, numbered within the whole batch."""
        sources = np.repeat(np.arange(self.n_nodes, dtype=np.int64), np.diff(self.indptr))
        return sources, self.indices

    # ------------------------------------------------------------------ from the outside world

    @classmethod
    def from_edges(
        cls,
        edge_lists: Iterable[Iterable[tuple[int, int]]],
        node_labels: Iterable[Sequence[object]] | None = None,
        num_nodes: Iterable[int] | None = None,
        edge_labels: Iterable[Sequence[object]] | None = None,
        node_features: Iterable[NDArray[np.generic]] | None = None,
        *,
        directed: bool = False,
    ) -> GraphBatch:
        """Build a batch from one list of ``(u, v)`` a graph; nodes are 0..n-1.

        Parameters
        ----------
        edge_lists
            An edge may be named once or from both ends; arrays of shape (n_edges, 2) are taken too.
        node_labels
            One sequence of labels a graph; its length is that graph's number of nodes.
        num_nodes
            Number of nodes of each graph; needed only where isolated nodes come last.
        edge_labels
            One sequence of labels a graph, aligned with its edge list.
        node_features
            One array of shape (n_nodes, n_features) a graph.
        directed
            Keep arcs one-way.

        >>> GraphBatch.from_edges([[(0, 1), (1, 2)]], num_nodes=[4])
        GraphBatch(1 graph, 4 nodes, 2 edges)
        """
        from twinwl.graphs.from_edges import from_edges  # noqa: PLC0415

        return from_edges(edge_lists, node_labels, num_nodes, edge_labels, node_features, directed=directed)

    @classmethod
    def from_networkx(
        cls,
        graphs: Iterable[nx.Graph],
        node_label: str | None = None,
        edge_label: str | None = None,
        node_features: str | None = None,
    ) -> GraphBatch:
        """Build a batch from networkx graphs; nodes keep the order of ``graph.nodes``.

        ``node_label``, ``edge_label`` and ``node_features`` name the attributes to read. Directed graphs
        give a directed batch; directed and undirected ones do not mix.

        >>> import networkx as nx
        >>> GraphBatch.from_networkx([nx.path_graph(3), nx.cycle_graph(4)])
        GraphBatch(2 graphs, 7 nodes, 6 edges)
        """
        from twinwl.graphs.from_networkx import from_networkx  # noqa: PLC0415

        return from_networkx(graphs, node_label, edge_label, node_features)

    @classmethod
    def from_scipy(
        cls,
        adjacencies: Iterable[scipy.sparse.sparray | NDArray[np.generic]],
        node_labels: Iterable[Sequence[object]] | None = None,
        *,
        directed: bool = False,
    ) -> GraphBatch:
        """Build a batch from adjacency matrices, sparse or dense.

        A matrix that is not symmetric is an error unless ``directed=True``; so is one with weights.

        >>> import scipy.sparse as sp
        >>> GraphBatch.from_scipy([sp.csr_array([[0, 1], [1, 0]])])
        GraphBatch(1 graph, 2 nodes, 1 edge)
        """
        from twinwl.graphs.from_scipy import from_scipy  # noqa: PLC0415

        return from_scipy(adjacencies, node_labels, directed=directed)

    @classmethod
    def from_pyg(cls, data_list: Iterable[torch_geometric.data.Data]) -> GraphBatch:
        """Build a batch from PyTorch Geometric ``Data`` objects.

        ``x`` becomes labels where its rows are one-hot or a single integer column, and continuous node
        features otherwise; ``edge_attr`` likewise becomes edge labels where it is discrete.
        """
        from twinwl.graphs.from_pyg import from_pyg  # noqa: PLC0415

        return from_pyg(data_list)

    @classmethod
    def from_graph6(cls, strings: Iterable[str | bytes]) -> GraphBatch:
        """Build a batch from graph6, sparse6 or digraph6 strings, one a graph.

        >>> GraphBatch.from_graph6(["Bw", "A_"])
        GraphBatch(2 graphs, 5 nodes, 4 edges)
        """
        from twinwl.graphs.from_graph6 import from_graph6  # noqa: PLC0415

        return from_graph6(strings)

    @classmethod
    def from_smiles(cls, smiles: Iterable[str]) -> GraphBatch:
        """Build a batch from SMILES strings: atoms labelled by element symbol, bonds by bond type."""
        from twinwl.graphs.from_smiles import from_smiles  # noqa: PLC0415

        return from_smiles(smiles)

    @classmethod
    def from_igraph(
        cls, graphs: Iterable[igraph.Graph], node_label: str | None = None, edge_label: str | None = None
    ) -> GraphBatch:
        """Build a batch from igraph graphs; the arguments name the vertex and edge attributes to read.

        >>> import igraph
        >>> GraphBatch.from_igraph([igraph.Graph.Ring(5)])
        GraphBatch(1 graph, 5 nodes, 5 edges)
        """
        from twinwl.graphs.from_igraph import from_igraph  # noqa: PLC0415

        return from_igraph(graphs, node_label, edge_label)


def concatenate(batches: Sequence[GraphBatch]) -> GraphBatch:
    """Join batches into one, with one vocabulary.

    >>> triangle = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 0)]])
    >>> len(concatenate([triangle, triangle]))
    2
    """
    from twinwl.graphs.selection import join  # noqa: PLC0415

    return join(batches)


def _graph_indices(key: Key, n_graphs: int) -> NDArray[np.int64]:
    """Turn whatever may stand in square brackets into graph indices."""
    if isinstance(key, tuple):  # scikit-learn writes X[key, ...]
        if len(key) != 2 or key[1] is not Ellipsis:  # noqa: PLR2004
            raise GraphIndexError(f"a batch has one axis, so it cannot be indexed with {key!r}")
        key = key[0]
    if isinstance(key, slice):
        return np.arange(n_graphs, dtype=np.int64)[key]
    if isinstance(key, int | np.integer) and not isinstance(key, bool):
        indices = np.array([operator.index(key)], dtype=np.int64)
    else:
        array = np.asarray(key)
        if array.size == 0:
            array = array.astype(np.int64)
        if array.ndim != 1 or array.dtype.kind not in "iub":
            raise GraphIndexError(f"a batch is indexed with an integer, a slice, an index array or a mask, not {key!r}")
        if array.dtype.kind == "b":
            if len(array) != n_graphs:
                raise GraphIndexError(f"a mask of length {len(array)} does not fit a batch of {n_graphs} graphs")
            array = np.flatnonzero(array)
        indices = array.astype(np.int64)
    wrong = (indices < -n_graphs) | (indices >= n_graphs)
    if wrong.any():
        raise GraphIndexError(
            f"graph index {indices[wrong][0]} is out of range: the batch has {n_graphs} graphs, numbered from 0"
        )
    return np.where(indices < 0, indices + n_graphs, indices)


def _check_pointer(name: str, pointer: NDArray[np.int64], end: int) -> None:
    if len(pointer) == 0 or pointer[0] != 0 or pointer[-1] != end or (np.diff(pointer) < 0).any():
        raise GraphInputError(f"{name} must rise from 0 to {end}")


def _check_codes(name: str, codes: NDArray[np.int32], bound: int) -> None:
    if len(codes) and (codes.min() < 0 or codes.max() >= bound):
        raise GraphInputError(f"{name} must lie in 0..{bound - 1}, but spans {codes.min()}..{codes.max()}")


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
