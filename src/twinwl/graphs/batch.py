"""GraphBatch: one immutable CSR batch of graphs, which scikit-learn can use like an array.

What makes a GraphBatch sound: checked before any kernel may read past an array's end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import DTypeLike, NDArray

from twinwl.arguments import FLAG, Constraint, checked, exactly, items
from twinwl.arrays import Float64, Int32, Int64
from twinwl.errors import GraphInputError, shown
from twinwl.graphs.atom_labels import ATOMS, AtomLevel
from twinwl.graphs.constructors import Constructors
from twinwl.graphs.exporters import Exporters
from twinwl.graphs.labels import Label, label_token, normalise_label
from twinwl.graphs.node_features import Bins, labels_with_features
from twinwl.graphs.selection import Key, graph_indices, join, select, select_one

ARRAYS: dict[str, tuple[Constraint | None, ...]] = {
    "indptr": (exactly(np.int64, 1),),
    "indices": (exactly(np.int32, 1),),
    "graph_ptr": (exactly(np.int64, 1),),
    "node_labels": (exactly(np.int32, 1),),
    "edge_labels": (exactly(np.int32, 1), None),
    "node_features": (exactly(np.float64, 2), None),
}


def _vocabulary(value: object) -> object:
    if type(value) is not tuple:
        raise TypeError
    tokens = [label_token(normalise_label(label)) for label in value]
    if tokens != [label_token(label) for label in value] or len(set(tokens)) != len(tokens):
        raise ValueError
    return value


_VOCABULARY = Constraint(
    "a tuple of labels that differ: None, bool, int, float, str, bytes or tuples of these", _vocabulary
)


def validate(batch: GraphBatch) -> None:
    """Refuse arrays that do not fit together.

    Raises
    ------
    TwinWLError
        If an array has the wrong kind, a pointer does not rise, a code has no label, or an arc leaves its
        graph.
    """
    for name, constraints in ARRAYS.items():
        checked(name, getattr(batch, name), *constraints)
    for name in ("node_vocabulary", "edge_vocabulary"):
        checked(name, getattr(batch, name), _VOCABULARY)
    checked("directed", batch.directed, FLAG)
    checked("atoms", batch.atoms, ATOMS, None)
    n_nodes, n_arcs = len(batch.node_labels), len(batch.indices)
    _check_pointer("graph_ptr", batch.graph_ptr, n_nodes)
    _check_pointer("indptr", batch.indptr, n_arcs)
    if len(batch.indptr) != n_nodes + 1:
        raise GraphInputError(f"indptr is for {len(batch.indptr) - 1} nodes, node_labels for {n_nodes}")
    _check_codes("node_labels", batch.node_labels, len(batch.node_vocabulary))
    if batch.edge_labels is not None:
        if len(batch.edge_labels) != n_arcs:
            raise GraphInputError(f"{len(batch.edge_labels)} edge labels for {n_arcs} arcs")
        _check_codes("edge_labels", batch.edge_labels, len(batch.edge_vocabulary))
    if batch.node_features is not None and len(batch.node_features) != n_nodes:
        raise GraphInputError(
            f"node_features has shape {batch.node_features.shape}; give one row for each of {n_nodes} nodes"
        )
    _check_arcs(batch)


def _check_pointer(name: str, pointer: Int64, end: int) -> None:
    if len(pointer) == 0 or pointer[0] != 0 or pointer[-1] != end or (np.diff(pointer) < 0).any():
        raise GraphInputError(f"{name} must rise from 0 to {end}")


def _check_codes(name: str, codes: Int32, bound: int) -> None:
    if len(codes) and (codes.min() < 0 or codes.max() >= bound):
        raise GraphInputError(f"{name} must lie in 0..{bound - 1}, but spans {codes.min()}..{codes.max()}")


def _check_arcs(batch: GraphBatch) -> None:
    """Refuse arcs that leave their graph (kernels rely on graphs being apart) and unsorted neighbours."""
    arc_ptr = batch.indptr[batch.graph_ptr]
    arcs_of_graph = np.diff(arc_ptr)
    low = np.repeat(batch.graph_ptr[:-1], arcs_of_graph)
    high = np.repeat(batch.graph_ptr[1:], arcs_of_graph)
    wrong = np.flatnonzero((batch.indices < low) | (batch.indices >= high))
    if len(wrong):
        graph = int(np.searchsorted(arc_ptr, wrong[0], side="right")) - 1
        raise GraphInputError(
            f"an arc leads to node {batch.indices[wrong[0]]}, which is not in this graph "
            f"(its nodes are {batch.graph_ptr[graph]}..{batch.graph_ptr[graph + 1] - 1})",
            graph,
        )
    rises = np.diff(batch.indices) > 0
    rises[batch.indptr[1:-1][(batch.indptr[1:-1] > 0) & (batch.indptr[1:-1] < len(batch.indices))] - 1] = True
    if not rises.all():
        arc = int(np.flatnonzero(~rises)[0])
        raise GraphInputError(
            f"the neighbours of a node must rise, but arc {arc + 1} leads to {batch.indices[arc + 1]} after "
            f"{batch.indices[arc]}; build the batch with a from_… constructor"
        )
    sources = np.repeat(np.arange(len(batch.node_labels)), np.diff(batch.indptr))
    loops = np.flatnonzero(sources == batch.indices)
    if len(loops):
        raise GraphInputError(f"node {sources[loops[0]]} has a self-loop; drop it")
    if not batch.directed:
        _check_symmetry(batch, sources)


def _check_symmetry(batch: GraphBatch, sources: Int64) -> None:
    """Refuse an undirected batch that names an edge from one end only, or with two labels."""
    # Sorted by (target, source), the arcs of a symmetric structure read as if sorted by (source, target).
    order = np.argsort(batch.indices, kind="stable")
    wrong = (sources[order] != batch.indices) | (batch.indices[order] != sources)
    if batch.edge_labels is not None:
        wrong |= batch.edge_labels[order] != batch.edge_labels
    if wrong.any():
        arc = int(np.flatnonzero(wrong)[0])
        raise GraphInputError(
            f"the batch is undirected, but arc ({sources[arc]}, {batch.indices[arc]}) has no equal in "
            "the other direction; pass directed=True or build it with a from_… constructor"
        )


UNLABELLED: tuple[Label, ...] = (None,)


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class GraphBatch(Constructors, Exporters):
    """A batch of graphs in one CSR structure; a single graph is a batch of one.

    It behaves as a one-dimensional array of graphs: ``len(batch)``, ``batch.shape``, ``batch[3]``,
    ``batch[2:5]``, ``batch[index_array]``, ``batch[mask]`` and iteration all give a GraphBatch, so it can be
    used with scikit-learn's splitters and searches. Build one with a ``from_…`` constructor.

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
        ``(None,)`` if the nodes have no labels.
    edge_labels : array of int32, shape (n_arcs,), or None
        Index of each arc's label in ``edge_vocabulary``, aligned with ``indices``.
    edge_vocabulary : tuple of labels
    node_features : array of float64, shape (n_nodes, n_features), or None
    directed : bool
        Whether arcs are one-way. Otherwise each edge is in ``indices`` from both ends.
    atoms : str or None
        What the labels of molecules say, as in `from_smiles`; None if that is not known, or for other graphs.

    Examples
    --------
    >>> batch = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1)]], node_labels=[["C", "C", "O"], ["N", "N"]])
    >>> batch
    GraphBatch(2 graphs, 5 nodes, 3 edges, 3 node labels)
    >>> batch[1].labels_of_nodes()
    ['N', 'N']
    """

    indptr: Int64
    indices: Int32
    graph_ptr: Int64
    node_labels: Int32
    node_vocabulary: tuple[Label, ...] = UNLABELLED
    edge_labels: Int32 | None = None
    edge_vocabulary: tuple[Label, ...] = ()
    node_features: Float64 | None = None
    directed: bool = False
    atoms: AtomLevel | None = None

    def __post_init__(self) -> None:
        validate(self)
        for name in ARRAYS:
            array = getattr(self, name)
            if array is not None and array.flags.writeable:  # the caller may keep writing to their own
                object.__setattr__(self, name, array.copy())
        self._freeze()

    @classmethod
    def unchecked(
        cls,
        *,
        indptr: Int64,
        indices: Int32,
        graph_ptr: Int64,
        node_labels: Int32,
        node_vocabulary: tuple[Label, ...],
        edge_labels: Int32 | None,
        edge_vocabulary: tuple[Label, ...],
        node_features: Float64 | None,
        directed: bool,
        atoms: AtomLevel | None = None,
    ) -> GraphBatch:
        """Build a batch from arrays that are right by construction, such as a slice of another batch.

        The arrays are taken over, not copied, and become read-only.
        """
        batch = object.__new__(cls)
        write = object.__setattr__
        write(batch, "indptr", indptr)
        write(batch, "indices", indices)
        write(batch, "graph_ptr", graph_ptr)
        write(batch, "node_labels", node_labels)
        write(batch, "node_vocabulary", node_vocabulary)
        write(batch, "edge_labels", edge_labels)
        write(batch, "edge_vocabulary", edge_vocabulary)
        write(batch, "node_features", node_features)
        write(batch, "directed", directed)
        write(batch, "atoms", atoms)
        batch._freeze()
        return batch

    def _freeze(self) -> None:
        self.indptr.flags.writeable = False
        self.indices.flags.writeable = False
        self.graph_ptr.flags.writeable = False
        self.node_labels.flags.writeable = False
        if self.edge_labels is not None:
            self.edge_labels.flags.writeable = False
        if self.node_features is not None:
            self.node_features.flags.writeable = False

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
        indices = graph_indices(key, len(self))
        return select_one(self, indices) if isinstance(indices, int) else select(self, indices)

    def __iter__(self) -> Iterator[GraphBatch]:
        return (select_one(self, graph) for graph in range(len(self)))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[np.object_]:
        # Without this NumPy would look for a sequence inside each batch of one, without end.
        if copy is False or (dtype is not None and np.dtype(dtype) != object):
            raise GraphInputError(
                "a GraphBatch is not an array of numbers; vectorise it first, or use dtype=object"
            )
        out = np.empty(len(self), dtype=object)
        for graph in range(len(self)):
            out[graph] = select_one(self, graph)
        return out

    # Frozen, so a copy is the batch itself; unpickled arrays would come back writable without a rebuild.

    def __copy__(self) -> GraphBatch:
        return self

    def __deepcopy__(self, memo: object) -> GraphBatch:
        return self

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _rebuilt, tuple(getattr(self, part.name) for part in fields(self))

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

    def _repr_html_(self) -> str:
        from twinwl.report.notebook import batch_html  # noqa: PLC0415  (drawing, on demand)

        return batch_html(self)

    @property
    def n_nodes(self) -> int:
        """Number of nodes in all graphs."""
        return len(self.node_labels)

    @property
    def n_edges(self) -> int:
        """Number of edges (of arcs if directed) in all graphs."""
        return len(self.indices) if self.directed else len(self.indices) // 2

    @property
    def nodes_per_graph(self) -> Int64:
        """Number of nodes of each graph, shape (n_graphs,)."""
        return np.diff(self.graph_ptr)

    @property
    def has_node_labels(self) -> bool:
        """Whether nodes have labels."""
        return self.node_vocabulary != UNLABELLED

    @property
    def has_different_edge_labels(self) -> bool:
        """Whether edges have labels, and not all the same one."""
        return self.edge_labels is not None and len(np.unique(self.edge_labels)) > 1

    @property
    def has_node_features(self) -> bool:
        """Whether nodes have continuous features."""
        return self.node_features is not None and self.node_features.size > 0

    def labels_of_nodes(self) -> list[Label]:
        """Return each node's label, in node order."""
        return [self.node_vocabulary[code] for code in self.node_labels]

    def arcs(self) -> tuple[Int64, Int32]:
        """Return source and target of each arc, numbered within the whole batch."""
        sources = np.repeat(np.arange(self.n_nodes, dtype=np.int64), np.diff(self.indptr))
        return sources, self.indices

    # ------------------------------------------------------------------ the same graphs with other labels

    def without_features(self) -> GraphBatch:
        """Return the same graphs without node features.

        >>> GraphBatch.from_edges([[(0, 1)]], node_features=[[[0.5], [1.5]]]).without_features()
        GraphBatch(1 graph, 2 nodes, 1 edge)
        """
        return self if self.node_features is None else self._with(node_features=None)

    def without_node_labels(self) -> GraphBatch:
        """Return the same graphs without node labels.

        >>> GraphBatch.from_edges([[(0, 1)]], node_labels=[["C", "O"]]).without_node_labels()
        GraphBatch(1 graph, 2 nodes, 1 edge)
        """
        zeros = np.zeros(self.n_nodes, np.int32)
        return self._with(node_labels=zeros, node_vocabulary=UNLABELLED, atoms=None)

    def without_edge_labels(self) -> GraphBatch:
        """Return the same graphs without edge labels.

        >>> GraphBatch.from_edges([[(0, 1)]], edge_labels=[["single"]]).without_edge_labels()
        GraphBatch(1 graph, 2 nodes, 1 edge)
        """
        return self if self.edge_labels is None else self._with(edge_labels=None, edge_vocabulary=())

    def discretise(self, bins: Bins = None) -> GraphBatch:
        """Return the same graphs with node features turned into labels.

        The new label of a node is the tuple of its label (None if it has none) and its features, so that
        nodes have equal labels if and only if they agree in both. It does not depend on the rest of the
        batch: graphs of different batches, and their hashes, stay comparable. A batch without features is
        returned unchanged.

        Parameters
        ----------
        bins
            None uses the exact values, which is right for features that are codes or counts. An increasing
            list of numbers is the bin edges of every feature: ``[0.5, 2]`` gives the bins below 0.5, from 0.5
            to below 2, and from 2 on. A list of such lists has the bin edges of each feature. Choose them on
            the training graphs, for instance with ``np.quantile``.

        Returns
        -------
        GraphBatch

        Examples
        --------
        >>> batch = GraphBatch.from_edges([[(0, 1), (1, 2)]], node_features=[[[0.1], [0.2], [7.0]]])
        >>> batch.discretise().labels_of_nodes()
        [(None, 0.1), (None, 0.2), (None, 7.0)]
        >>> batch.discretise(bins=[1, 5]).labels_of_nodes()
        [(None, 0), (None, 0), (None, 2)]
        """
        if not self.has_node_features:
            return self.without_features()
        codes, vocabulary = labels_with_features(self, bins)
        return self._with(node_labels=codes, node_vocabulary=vocabulary, node_features=None)

    def _with(self, **changed: object) -> GraphBatch:
        """Return a batch with some parts replaced by others that are right by construction."""
        parts = {part.name: getattr(self, part.name) for part in fields(self)}
        return GraphBatch.unchecked(**parts | changed)


def concatenate(batches: Sequence[GraphBatch]) -> GraphBatch:
    """Join batches into one, with one vocabulary.

    Parameters
    ----------
    batches
        Batches, all directed or all undirected, molecules all read with the same ``atoms``.

    Returns
    -------
    GraphBatch

    Examples
    --------
    >>> triangle = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 0)]])
    >>> len(concatenate([triangle, triangle]))
    2
    """
    collected = items("batches", batches, "a list of GraphBatches")
    for position, batch in enumerate(collected):
        if not isinstance(batch, GraphBatch):
            raise GraphInputError(f"batches[{position}]: got {shown(batch)}, expected a GraphBatch")
    return join(collected)


def _rebuilt(*parts: object) -> GraphBatch:
    """Undo `GraphBatch.__reduce__`."""
    named = {part.name: value for part, value in zip(fields(GraphBatch), parts, strict=False)}
    return GraphBatch.unchecked(**named)  # type: ignore[arg-type]


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
