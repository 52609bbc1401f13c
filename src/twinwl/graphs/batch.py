"""GraphBatch: one immutable CSR batch of graphs, which scikit-learn can use like an array.

This module selects and joins graphs; how they come from and go to other libraries is in `building`,
`from_pyg`, `from_graph6`, `molecules` and `exporters`.
"""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from types import EllipsisType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from twinwl.arguments import (
    FLAG,
    MAX_ITEMS,
    NAME,
    Constraint,
    checked,
    exactly,
    foreign_array,
    graph_of_node,
    instance,
    integer,
    items,
    pointer,
    ranges,
)
from twinwl.arrays import Float64, Int32, Int64, Names, Values
from twinwl.errors import GraphIndexError, GraphInputError, LabelError, first_line, setting, shown
from twinwl.graphs.building import ObjectConstructors, aligned, coded
from twinwl.graphs.descriptors import Extra
from twinwl.graphs.exporters import Exporters
from twinwl.graphs.from_graph6 import Graph6Constructors
from twinwl.graphs.from_pyg import PyGConstructors
from twinwl.graphs.labels import (
    Coded,
    Label,
    Vocabulary,
    encode_labels,
    in_use,
    label_token,
    normalise_label,
    recode,
)
from twinwl.graphs.molecules import ATOMS, AtomLevel, MoleculeConstructors
from twinwl.terminal import counted

Key: TypeAlias = "int | slice | Sequence[int] | Values | tuple[Key, EllipsisType]"
Places: TypeAlias = "slice | Int64"
Bins: TypeAlias = "Sequence[float] | Sequence[Sequence[float]] | Values | None"

UNLABELLED: Vocabulary = (None,)
UNNAMED = "labels"
"""What a batch's own labels are called as a view, unless they have a name."""

_ARRAYS: dict[str, tuple[Constraint | None, ...]] = {
    "indptr": (exactly(np.int64, 1),),
    "indices": (exactly(np.int32, 1),),
    "graph_ptr": (exactly(np.int64, 1),),
    "node_labels": (exactly(np.int32, 1),),
    "edge_labels": (exactly(np.int32, 1), None),
    "node_features": (exactly(np.float64, 2), None),
}


class View(NamedTuple):
    """The labels of a further view, as in `GraphBatch`."""

    node_labels: Int32
    node_vocabulary: Vocabulary
    edge_labels: Int32 | None = None
    edge_vocabulary: Vocabulary = ()
    atoms: str | None = None

    @classmethod
    def of(cls, batch: GraphBatch) -> View:
        """Return the labels of a batch."""
        return cls(*(getattr(batch, name) for name in cls._fields))

    def part(self, nodes: Places, arcs: Places) -> View:
        """Return the labels of some nodes and arcs."""
        edges = None if self.edge_labels is None else self.edge_labels[arcs]
        return self._replace(node_labels=self.node_labels[nodes], edge_labels=edges)


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class GraphBatch(ObjectConstructors, PyGConstructors, Graph6Constructors, MoleculeConstructors, Exporters):
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
    views : tuple of View
        Further labels of the same graphs; `view` gives the graphs with one of them.
    view_names : tuple of str
        Names of all views, the batch's own labels first; empty where there are no others.
    extra : Extra or None
        Numbers about whole graphs, as `with_extra` gives them.

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
    node_vocabulary: Vocabulary = UNLABELLED
    edge_labels: Int32 | None = None
    edge_vocabulary: Vocabulary = ()
    node_features: Float64 | None = None
    directed: bool = False
    atoms: AtomLevel | None = None
    views: tuple[View, ...] = ()
    view_names: Names = ()
    extra: Extra | None = None

    def __post_init__(self) -> None:
        validate(self)
        for name in _ARRAYS:
            array = getattr(self, name)
            if array is not None and array.flags.writeable:  # the caller may keep writing to their own
                copy = array.copy()
                copy.flags.writeable = False
                object.__setattr__(self, name, copy)

    @classmethod
    def unchecked(cls, **parts: Any) -> GraphBatch:  # noqa: ANN401  (the attributes, by name)
        """Build a batch from arrays that are right by construction, such as a slice of another batch.

        The arrays are taken over, not copied, and become read-only.
        """
        batch = object.__new__(cls)
        for name, value in (_DEFAULTS | parts).items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(batch, name, value)
        return batch

    def changed(self, **parts: object) -> GraphBatch:
        """Return a batch with some parts replaced by others that are right by construction."""
        return GraphBatch.unchecked(**{name: getattr(self, name) for name in _DEFAULTS} | parts)

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
        indices = indices_of(key, len(self))
        return _select_one(self, indices) if isinstance(indices, int) else _select(self, indices)

    def __iter__(self) -> Iterator[GraphBatch]:
        return (_select_one(self, graph) for graph in range(len(self)))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[np.object_]:
        # Without this NumPy would look for a sequence inside each batch of one, without end.
        if copy is False or (dtype is not None and np.dtype(dtype) != object):
            raise GraphInputError(
                "a GraphBatch is not an array of numbers; vectorise it first, or use dtype=object"
            )
        out = np.empty(len(self), dtype=object)
        for graph in range(len(self)):
            out[graph] = _select_one(self, graph)
        return out

    # Frozen, so a copy is the batch itself; unpickled arrays would come back writable without a rebuild.

    def __copy__(self) -> GraphBatch:
        return self

    def __deepcopy__(self, memo: object) -> GraphBatch:
        return self

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _rebuilt, tuple(getattr(self, name) for name in _DEFAULTS)

    def __eq__(self, other: object) -> bool:
        """Return whether both hold the same graphs in the same order, nodes numbered and labelled alike.

        Labels are equal if they agree in kind and value, whatever their codes; isomorphic graphs whose nodes
        are numbered differently are not equal (`twinwl.compare`, `twinwl.graph_hash`). What the labels of
        molecules say (``atoms``) does not count.

        >>> path = GraphBatch.from_edges([[(0, 1), (1, 2)]])
        >>> path == GraphBatch.from_edges([[(2, 1), (1, 0)]])
        True
        >>> path == GraphBatch.from_edges([[(0, 1), (0, 2)]])
        False
        """
        if not isinstance(other, GraphBatch):
            return NotImplemented
        arrays = ("graph_ptr", "indptr", "indices", "node_features")
        return (
            self.directed == other.directed
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in arrays)
            and all(map(_same_labels, self._coded_labels(), other._coded_labels()))
        )

    __hash__ = None  # type: ignore[assignment]  # it would go through all arrays; see `twinwl.graph_hash`

    def __repr__(self) -> str:
        parts = [
            (len(self), "graph"),
            (self.n_nodes, "node"),
            (self.n_edges, "arc" if self.directed else "edge"),
        ]
        if self.has_node_labels:
            parts.append((len(self.node_vocabulary), "node label"))
        if self.edge_labels is not None:
            parts.append((len(self.edge_vocabulary), "edge label"))
        if self.node_features is not None:
            parts.append((self.node_features.shape[1], "node feature"))
        if self.views:
            parts.append((len(self.view_names), "view"))
        if self.extra is not None:
            parts.append((len(self.extra.names), "extra feature"))
        return f"GraphBatch({', '.join(itertools.starmap(counted, parts))})"

    def _repr_html_(self) -> str:
        from twinwl.report.page import batch_html  # noqa: PLC0415  (drawing, on demand)

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

    def _coded_labels(self) -> tuple[Coded, Coded | None]:
        """Return the labels of nodes and those of arcs, if these have any."""
        edges = None if self.edge_labels is None else Coded(self.edge_labels, self.edge_vocabulary)
        return Coded(self.node_labels, self.node_vocabulary), edges

    def arcs(self) -> tuple[Int64, Int32]:
        """Return source and target of each arc, numbered within the whole batch."""
        sources = np.repeat(np.arange(self.n_nodes, dtype=np.int64), np.diff(self.indptr))
        return sources, self.indices

    # ------------------------------------------------------------------ views
    # Several label columns of the same graphs, such as levels of atoms or several node attributes. The own
    # labels of the batch are the first view; each further one is a complete set of labels beside them. So
    # `view` gives an ordinary batch without any work, and nothing else has to know of views.

    def view(self, which: int | str = 0) -> GraphBatch:
        """Return the graphs with the labels of one view alone.

        Parameters
        ----------
        which
            Its name, or its place among ``view_names``; 0 is the batch's own labels.

        Returns
        -------
        GraphBatch

        Examples
        --------
        >>> from twinwl import GraphBatch
        >>> batch = GraphBatch.from_smiles(["CC(=O)[O-]"], atoms=("skeleton", "constitution"))
        >>> batch.view_names, batch.view("constitution").labels_of_nodes()
        (('skeleton', 'constitution'), ['CH3', 'C', 'O', 'O-'])
        """
        names = self.view_names or (self.atoms or UNNAMED,)
        found = checked("view", which, integer(0, MAX_ITEMS), NAME)
        place = names.index(found) if found in names else found
        if isinstance(place, str) or place >= len(names):
            raise GraphInputError(f"view: got {shown(which)}, but these graphs have {shown(list(names))}")
        own = {} if place == 0 else self.views[place - 1]._asdict()
        return self.changed(**own, views=(), view_names=()) if self.views else self

    def each_view(self) -> list[GraphBatch]:
        """Return the graphs with the labels of each view."""
        return [self.view(place) for place in range(max(1, len(self.view_names)))]

    def select_views(self, names: Sequence[str]) -> GraphBatch:
        """Return the graphs with some of the views, in this order.

        >>> from twinwl import GraphBatch
        >>> batch = GraphBatch.from_smiles(["CCO"], atoms=("skeleton", "constitution", "ecfp"))
        >>> batch.select_views(["ecfp", "skeleton"]).view_names
        ('ecfp', 'skeleton')
        """
        wanted = items("views", names, "names of views")
        return self if tuple(wanted) == self.view_names else stacked({one: self.view(one) for one in wanted})

    def with_views(
        self, labels: Mapping[str, Sequence[Sequence[object]]], own: str | None = None
    ) -> GraphBatch:
        """Return the same graphs with further views.

        Parameters
        ----------
        labels
            By the name of the view, one sequence of node labels per graph.
        own
            What the batch's own labels are called, which remain the first view. None is the level of its
            atoms, or ``"labels"``.

        Returns
        -------
        GraphBatch

        Examples
        --------
        >>> from twinwl import GraphBatch
        >>> batch = GraphBatch.from_edges([[(0, 1), (1, 2)]], node_labels=[["a", "b", "a"]])
        >>> batch.with_views({"size": [[3, 1, 3]]})
        GraphBatch(1 graph, 3 nodes, 2 edges, 2 node labels, 2 views)
        """
        counts = self.nodes_per_graph
        first = checked("own", own, NAME, None) or self.atoms or UNNAMED
        views = dict(zip(self.view_names or (first,), self.each_view()))
        for name, parts in checked("labels", labels, instance(dict)).items():
            if checked("view", name, NAME) in views:
                raise GraphInputError(f"view: there are two called {name!r}; rename one")
            codes = coded(aligned(parts, len(self), f"view {name!r}"), counts, "node")
            if codes is None:
                raise GraphInputError(f"view {name!r}: got None, expected one sequence of labels per graph")
            # With structure and edge labels of the first view.
            views[name] = views[next(iter(views))].changed(
                node_labels=codes.codes, node_vocabulary=codes.vocabulary, atoms=None
            )
        return stacked(views)

    # ------------------------------------------------------------------ the same graphs with other labels

    def with_extra(self, values: object) -> GraphBatch:
        """Return the same graphs with numbers about each, such as measurements or descriptors.

        They stay with their graphs in slices and joined batches. `STwinSVC` and `STwinSVR` learn from them.

        Parameters
        ----------
        values
            An array of shape (n_graphs, n_features), a DataFrame, or a dictionary of columns, such as
            `twinwl.graphs.descriptors.rdkit_descriptors` returns; NaN or None where a value is missing. None
            leaves them out.

        Returns
        -------
        GraphBatch

        Examples
        --------
        >>> GraphBatch.from_edges([[(0, 1)]]).with_extra({"mass": [46.1]})
        GraphBatch(1 graph, 2 nodes, 1 edge, 1 extra feature)
        """
        return self.changed(extra=None if values is None else Extra.read(values, len(self)))

    def without_features(self) -> GraphBatch:
        """Return the same graphs without node features.

        >>> GraphBatch.from_edges([[(0, 1)]], node_features=[[[0.5], [1.5]]]).without_features()
        GraphBatch(1 graph, 2 nodes, 1 edge)
        """
        return self if self.node_features is None else self.changed(node_features=None)

    def without_node_labels(self) -> GraphBatch:
        """Return the same graphs without node labels.

        >>> GraphBatch.from_edges([[(0, 1)]], node_labels=[["C", "O"]]).without_node_labels()
        GraphBatch(1 graph, 2 nodes, 1 edge)
        """
        zeros = np.zeros(self.n_nodes, np.int32)
        return self.view().changed(node_labels=zeros, node_vocabulary=UNLABELLED, atoms=None)

    def without_edge_labels(self) -> GraphBatch:
        """Return the same graphs without edge labels.

        >>> GraphBatch.from_edges([[(0, 1)]], edge_labels=[["single"]]).without_edge_labels()
        GraphBatch(1 graph, 2 nodes, 1 edge)
        """
        without = {"edge_labels": None, "edge_vocabulary": ()}
        views = tuple(view._replace(**without) for view in self.views)  # type: ignore[arg-type]
        return self if self.edge_labels is None else self.changed(**without, views=views)

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
        features = self.node_features
        if features is None or not features.size:
            return self.without_features()
        values = features + 0.0 if bins is None else _bin_features(features, bins)  # -0.0 is 0.0
        # Each label is represented by its code, converted to the type of the values, so that a row has a
        # single type and can be compared as bytes.
        rows = np.column_stack([self.node_labels.astype(values.dtype), values])
        as_bytes = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))
        _, first, inverse = np.unique(as_bytes.ravel(), return_index=True, return_inverse=True)
        own = [self.node_vocabulary[code] for code in self.node_labels[first]]
        try:
            ranks, vocabulary = encode_labels(
                [(label, *row) for label, row in zip(own, values[first].tolist())]
            )
        except LabelError as error:
            raise error.at(graph_of_node(self.graph_ptr, int(first[error.position or 0]))) from error
        return self.changed(
            node_labels=ranks[inverse.ravel()], node_vocabulary=vocabulary, node_features=None
        )


_DEFAULTS = {part.name: part.default for part in fields(GraphBatch)}
"""Default of each attribute; `MISSING` for those that must be given."""


def _same_labels(one: Coded | None, other: Coded | None) -> bool:
    """Compare labels whose codes may be places in different vocabularies."""
    if one is None or other is None:
        return one is other
    return np.array_equal(one.codes, recode(other.codes, other.vocabulary, one.vocabulary))


def _rebuilt(*parts: object) -> GraphBatch:
    """Undo `GraphBatch.__reduce__`."""
    return GraphBatch.unchecked(**dict(zip(_DEFAULTS, parts)))  # older pickles have fewer


# ---------------------------------------------------------------------- checks


def validate(batch: GraphBatch) -> None:  # noqa: C901  (one check after the other)
    """Refuse arrays that do not fit together, before a kernel may read past the end of one.

    Raises
    ------
    TwinWLError
        If an array has the wrong kind, a pointer does not rise, a code has no label, or an arc leaves its
        graph.
    """
    for name, constraints in _ARRAYS.items():
        checked(name, getattr(batch, name), *constraints)
    for name in ("node_vocabulary", "edge_vocabulary"):
        checked(name, getattr(batch, name), _VOCABULARY)
    checked("directed", batch.directed, FLAG)
    checked("atoms", batch.atoms, ATOMS, None)
    n_nodes, n_arcs = len(batch.node_labels), len(batch.indices)
    for name, rising, end in (("graph_ptr", batch.graph_ptr, n_nodes), ("indptr", batch.indptr, n_arcs)):
        if len(rising) == 0 or rising[0] != 0 or rising[-1] != end or (np.diff(rising) < 0).any():
            raise GraphInputError(f"{name} must rise from 0 to {end}")
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
    for place, _ in enumerate(checked("views", batch.views, instance(tuple)), start=1):
        if len(batch.view_names) != len(batch.views) + 1:
            raise GraphInputError(f"{len(batch.view_names)} names for {len(batch.views) + 1} views")
        validate(batch.view(place))
    checked("extra", batch.extra, instance(Extra), None)


def _vocabulary(value: object) -> object:
    if not isinstance(value, tuple):
        raise TypeError
    tokens = [label_token(normalise_label(label)) for label in value]
    if tokens != [label_token(label) for label in value] or len(set(tokens)) != len(tokens):
        raise ValueError
    return value


_VOCABULARY = Constraint(
    "a tuple of labels that differ: None, bool, int, float, str, bytes or tuples of these", _vocabulary
)


def _check_codes(name: str, codes: Int32, bound: int) -> None:
    if len(codes) and (codes.min() < 0 or codes.max() >= bound):
        raise GraphInputError(f"{name} must lie in 0..{bound - 1}, but spans {codes.min()}..{codes.max()}")


def _check_arcs(batch: GraphBatch) -> None:
    """Refuse arcs that leave their graph (kernels rely on graphs being apart), unsorted ones, and loops."""
    from scipy.sparse import csr_array  # noqa: PLC0415  (slow to load)

    targets = batch.indices
    arc_ptr = batch.indptr[batch.graph_ptr]
    low, high = (np.repeat(ends, np.diff(arc_ptr)) for ends in (batch.graph_ptr[:-1], batch.graph_ptr[1:]))
    wrong = np.flatnonzero((targets < low) | (targets >= high))
    if len(wrong):
        graph, arc = graph_of_node(arc_ptr, int(wrong[0])), wrong[0]
        raise GraphInputError(
            f"an arc leads to node {targets[arc]}, which is not in this graph "
            f"(its nodes are {low[arc]}..{high[arc] - 1})",
            graph,
        )
    codes = np.ones(len(targets), np.int64) if batch.edge_labels is None else batch.edge_labels + np.int64(1)
    matrix = csr_array((codes, targets, batch.indptr), shape=(batch.n_nodes, batch.n_nodes))
    if not matrix.has_canonical_format:
        raise GraphInputError(
            "the neighbours of each node must rise; build the batch with a from_… constructor"
        )
    loops = np.flatnonzero(matrix.diagonal())
    if len(loops):
        raise GraphInputError(f"node {loops[0]} has a self-loop; drop it")
    # Edge labels are the entries, so this also finds edges labelled differently in the two directions.
    unequal = matrix != matrix.T
    if not batch.directed and unequal.nnz:
        u, v = (ends[0] for ends in unequal.nonzero())
        raise GraphInputError(
            f"the batch is undirected, but an arc between nodes {u} and {v} has no equal in the other "
            "direction; pass directed=True or build it with a from_… constructor"
        )


# ---------------------------------------------------------------------- selection


def indices_of(key: Key, n_graphs: int) -> int | Int64:
    """Turn whatever may stand in square brackets into graph indices, none of them negative."""
    if type(key) is int and 0 <= key < n_graphs:  # the usual case, and a quick one
        return key
    try:
        indices = np.arange(n_graphs)[key]  # type: ignore[index]
    except (IndexError, TypeError, ValueError) as error:
        raise GraphIndexError(
            f"a batch of {n_graphs} graphs has no {shown(key)} ({first_line(error)})"
        ) from error
    if indices.ndim > 1:
        raise GraphIndexError(f"a batch has one axis, so it cannot be indexed with {shown(key)}")
    return indices if indices.ndim else int(indices)


def _select_one(batch: GraphBatch, graph: int) -> GraphBatch:
    """Return one graph as a batch; made of slices, since loops call it once per graph."""
    start, stop = batch.graph_ptr[graph : graph + 2].tolist()
    return _node_range(batch, slice(graph, graph + 1), start, stop, np.array((0, stop - start), np.int64))


def _select(batch: GraphBatch, graphs: Int64) -> GraphBatch:
    """Return some graphs, in the given order, as a batch with the same vocabularies."""
    starts = batch.graph_ptr[graphs]
    node_lengths = batch.graph_ptr[graphs + 1] - starts
    graph_ptr = pointer(node_lengths)
    if graph_ptr[-1] > MAX_ITEMS:
        raise GraphIndexError(
            f"the selection has {graph_ptr[-1]} nodes, more than a batch can hold ({MAX_ITEMS}); take fewer"
        )
    if len(graphs) and (np.diff(graphs) == 1).all():  # neighbours in memory: plain slices
        return _node_range(batch, graphs, int(starts[0]), int(batch.graph_ptr[graphs[-1] + 1]), graph_ptr)
    nodes = ranges(starts, node_lengths)
    degrees = batch.indptr[nodes + 1] - batch.indptr[nodes]
    arcs = ranges(batch.indptr[nodes], degrees)
    arc_ptr = pointer(degrees)
    shift = np.repeat((graph_ptr[:-1] - starts).astype(np.int32), np.diff(arc_ptr[graph_ptr]))
    return _part(batch, graphs, nodes, arcs, (arc_ptr, batch.indices[arcs] + shift, graph_ptr))


def _node_range(batch: GraphBatch, graphs: Places, start: int, stop: int, graph_ptr: Int64) -> GraphBatch:
    """Cut out a run of nodes; arrays that need no renumbering are views."""
    indptr = batch.indptr[start : stop + 1]
    first, last = int(indptr[0]), int(indptr[-1])
    indices = batch.indices[first:last]
    if start:
        indptr = indptr - first
        indices = indices - np.int32(start)
    return _part(batch, graphs, slice(start, stop), slice(first, last), (indptr, indices, graph_ptr))


def _part(
    batch: GraphBatch, graphs: Places, nodes: Places, arcs: Places, structure: tuple[Int64, Int32, Int64]
) -> GraphBatch:
    """Return the batch of some graphs, with the labels and features of their nodes and arcs.

    ``structure`` is the new ``indptr``, ``indices`` and ``graph_ptr``.
    """
    indptr, indices, graph_ptr = structure
    return GraphBatch.unchecked(
        indptr=indptr,
        indices=indices,
        graph_ptr=graph_ptr,
        node_labels=batch.node_labels[nodes],
        node_vocabulary=batch.node_vocabulary,
        edge_labels=None if batch.edge_labels is None else batch.edge_labels[arcs],
        edge_vocabulary=batch.edge_vocabulary,
        node_features=None if batch.node_features is None else batch.node_features[nodes],
        directed=batch.directed,
        atoms=batch.atoms,
        views=tuple(view.part(nodes, arcs) for view in batch.views),
        view_names=batch.view_names,
        extra=None if batch.extra is None else batch.extra.of(graphs),
    )


def renumbered(batch: GraphBatch, rng: np.random.Generator) -> GraphBatch:
    """Shuffle the nodes of each graph; labels, edge labels and features move along.

    Parameters
    ----------
    batch
        The graphs.
    rng
        Draws the order.

    >>> from twinwl import GraphBatch, graph_hashes
    >>> batch = GraphBatch.from_edges([[(0, 1), (1, 2)]], node_labels=[["C", "C", "O"]])
    >>> other = renumbered(batch, np.random.default_rng(0))
    >>> sorted(other.labels_of_nodes()), graph_hashes(other) == graph_hashes(batch)
    (['C', 'C', 'O'], True)
    """
    place = np.empty(batch.n_nodes, np.int64)  # of each node in the new order
    for first, last in zip(batch.graph_ptr[:-1].tolist(), batch.graph_ptr[1:].tolist()):
        place[first:last] = first + rng.permutation(last - first)
    sources, targets = (place[ends] for ends in batch.arcs())
    order = np.lexsort((targets, sources))
    indptr = pointer(np.bincount(sources, minlength=batch.n_nodes))
    indices = targets[order].astype(np.int32)
    return _part(batch, slice(None), np.argsort(place), order, (indptr, indices, batch.graph_ptr))


# ---------------------------------------------------------------------- joining


def concatenate(batches: Sequence[GraphBatch]) -> GraphBatch:
    """Join batches into one, with one vocabulary.

    Parameters
    ----------
    batches
        Batches, all directed or all undirected, molecules all read with the same ``atoms``, and all with the
        same views, if any.

    Returns
    -------
    GraphBatch

    Examples
    --------
    >>> triangle = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 0)]])
    >>> len(concatenate([triangle, triangle]))
    2
    """
    collected: list[GraphBatch] = items("batches", batches, "a list of GraphBatches")
    if not collected:
        raise GraphInputError("there is no batch to join; pass at least one")
    for position, batch in enumerate(collected):
        if not isinstance(batch, GraphBatch):
            raise GraphInputError(f"batches[{position}]: got {shown(batch)}, expected a GraphBatch")
    if len(collected) == 1:
        return collected[0]
    names = next((batch.view_names for batch in collected if batch.views), ())
    if names:
        of_view = [[batch.view(name) for batch in collected if batch.views or len(batch)] for name in names]
        return stacked(dict(zip(names, map(concatenate, of_view))))
    # A batch without nodes says nothing about node labels, one without arcs nothing about edge labels.
    filled = [batch for batch in collected if batch.n_nodes] or collected[:1]
    linked = [batch for batch in filled if len(batch.indices)] or filled[:1]
    known = [batch for batch in filled if batch.atoms is not None]  # an unknown level goes with any
    _check_alike(collected, filled, linked, known)
    node_shift = pointer([batch.n_nodes for batch in collected])
    arc_shift = pointer([len(batch.indices) for batch in collected])
    if node_shift[-1] > MAX_ITEMS:
        raise GraphInputError(f"{node_shift[-1]} nodes in one batch; the limit is {MAX_ITEMS}, so join fewer")
    node_labels, node_vocabulary = _joined_codes(
        [Coded(batch.node_labels, batch.node_vocabulary) for batch in filled]
    )
    edge_labels, edge_vocabulary = _joined_codes(
        [Coded(batch.edge_labels, batch.edge_vocabulary) for batch in linked if batch.edge_labels is not None]
    )
    features = [batch.node_features for batch in filled if batch.node_features is not None]
    shifted = [batch.indices + np.int32(shift) for batch, shift in zip(collected, node_shift, strict=False)]
    return GraphBatch.unchecked(
        indptr=_joined_pointers([batch.indptr for batch in collected], arc_shift),
        indices=np.concatenate(shifted),
        graph_ptr=_joined_pointers([batch.graph_ptr for batch in collected], node_shift),
        node_labels=node_labels,
        node_vocabulary=node_vocabulary,
        edge_labels=None if linked[0].edge_labels is None else edge_labels,
        edge_vocabulary=edge_vocabulary,
        node_features=np.concatenate(features) if len(features) == len(filled) else None,
        directed=collected[0].directed,
        atoms=known[0].atoms if known else None,
        extra=_joined_extra(collected),
    )


def _joined_extra(batches: list[GraphBatch]) -> Extra | None:
    carried = [batch.extra for batch in batches if batch.extra is not None]
    if not carried:
        return None
    names = carried[0].names
    if len(carried) < sum(len(batch) > 0 or batch.extra is not None for batch in batches):
        raise GraphInputError("some of the batches carry extra features, others do not; make them alike")
    return Extra(names, np.concatenate([extra.select(names).values for extra in carried]))


def _joined_pointers(pointers: list[Int64], shifts: Int64) -> Int64:
    shifted = [each[:-1] + shift for each, shift in zip(pointers, shifts, strict=False)]
    return np.concatenate([*shifted, shifts[-1:]])


def _joined_codes(parts: list[Coded]) -> Coded:
    """Bring codes of several vocabularies under one."""
    if not parts:
        return Coded(np.empty(0, np.int32), ())
    # The parts of one batch share its vocabulary; repr tells 1, True and 1.0 apart where == does not.
    distinct = {id(part.vocabulary): part.vocabulary for part in parts}
    if len({repr(vocabulary) for vocabulary in distinct.values()}) == 1:
        return Coded(np.concatenate([part.codes for part in parts]), parts[0].vocabulary)
    _, vocabulary = encode_labels([label for labels in distinct.values() for label in labels])
    return Coded(np.concatenate([recode(*part, vocabulary) for part in parts]), vocabulary)


def _check_alike(
    batches: list[GraphBatch], filled: list[GraphBatch], linked: list[GraphBatch], known: list[GraphBatch]
) -> None:
    """Refuse to join batches that differ in more than their graphs; see `concatenate` for the lists."""
    properties: list[tuple[str, list[GraphBatch], Callable[[GraphBatch], object]]] = [
        ("directed", batches, lambda batch: batch.directed),
        ("node labels", filled, lambda batch: batch.has_node_labels),
        ("number of node features", filled, _n_features),
        ("atoms", known, lambda batch: batch.atoms),
        ("edge labels", linked, lambda batch: batch.edge_labels is not None),
    ]
    for what, group, property_of in properties:
        for batch in group[1:]:
            if property_of(batch) != property_of(group[0]):
                position = next(place for place, other in enumerate(batches) if other is batch)
                raise GraphInputError(
                    f"batch {position} differs from the batches before it in {what} "
                    f"({property_of(batch)} against {property_of(group[0])}); make them alike before joining"
                )


def _n_features(batch: GraphBatch) -> int:
    return 0 if batch.node_features is None else batch.node_features.shape[1]


# ---------------------------------------------------------------------- labels and features


def stacked(batches: Mapping[str, GraphBatch]) -> GraphBatch:
    """Join batches of the same graphs, each with other labels, into one with a view for each."""
    if not batches:
        raise GraphInputError("views: got no name, expected at least one")
    first, *others = batches.values()
    if not others:
        return first
    return first.changed(views=tuple(map(View.of, others)), view_names=tuple(batches))


def without_unused_labels(batch: GraphBatch) -> GraphBatch:
    """Return the same graphs, and drop unused labels from the vocabularies if there are many.

    A small part of a batch has few of its labels, so work on every part that runs over all labels would be
    quadratic.
    """
    changed: dict[str, object] = {}
    for name in ("node", "edge"):
        codes, vocabulary = getattr(batch, f"{name}_labels"), getattr(batch, f"{name}_vocabulary")
        if codes is not None and len(vocabulary) > max(1, len(codes)):
            changed[f"{name}_labels"], changed[f"{name}_vocabulary"] = in_use(codes, vocabulary)
    return batch.changed(**changed) if changed else batch


def labels_only(batch: GraphBatch, *, ignore_features: bool, name: str = "") -> GraphBatch:
    """Return the batch without node features, or refuse graphs with features.

    Parameters
    ----------
    batch
        The graphs.
    ignore_features
        Whether features may be left out; otherwise a graph that has some is an error.
    name
        What to call a single graph in the error; its index where empty.

    Raises
    ------
    GraphInputError
        If a graph has features that may not be ignored.
    """
    ignore_features = checked("ignore_features", ignore_features, FLAG)
    features = batch.node_features
    if batch.has_node_features and features is not None and not ignore_features:
        graph = int(np.flatnonzero(batch.nodes_per_graph)[0])
        shape = (int(batch.nodes_per_graph[graph]), features.shape[1])
        message = (
            f"its nodes have continuous features (shape {shape}), and only labels are compared; make labels "
            f"of them with GraphBatch.discretise(), or pass {setting(ignore_features=True)}"
        )
        raise GraphInputError(message, None if name else graph, parameter=name or None)
    return batch.without_features()


def _bin_features(features: Float64, bins: Bins) -> Int64:
    """Return the bin of each value: how many of its column's edges are not above it."""
    if not np.isfinite(features).all():
        raise GraphInputError("some node features are not finite, so they fall into no bin; replace them")
    n_features = features.shape[1]
    wanted = "rising numbers for all features, or one such list for each feature"
    entries = items("bins", bins, wanted)
    lists = [entries] * n_features if all(isinstance(edge, numbers.Real) for edge in entries) else entries
    if len(lists) != n_features:
        raise GraphInputError(f"bins: got {len(lists)} lists for {n_features} features, expected {wanted}")
    places = np.empty(features.shape, np.int64)
    for column, edges in enumerate(foreign_array("bins", one, np.float64) for one in lists):
        if edges.ndim != 1 or not (edges[1:] > edges[:-1]).all() or np.isnan(edges).any():
            raise GraphInputError(f"bins of feature {column}: got {shown(edges.tolist())}, expected {wanted}")
        places[:, column] = np.searchsorted(edges, features[:, column], side="right")
    return places
