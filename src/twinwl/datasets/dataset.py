"""Dataset: graphs with their targets, names, groups and rows.

Statistics of a data set beyond its card: sizes, degrees and labels.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from twinwl.arguments import (
    MAX_ITEMS,
    NAME,
    Constraint,
    checked,
    foreign_array,
    instance,
    integer,
    items,
)
from twinwl.arrays import Float64, Int32, Int64, Ints, Values
from twinwl.datasets.catalogue import Card, measure
from twinwl.errors import LabelError, TwinWLError
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.coercion import GraphsLike, as_batch
from twinwl.graphs.labels import Coded, Label, encode_labels, label_token


class Spread(NamedTuple):
    """Distribution of a number over the graphs."""

    smallest: float
    median: float
    mean: float
    largest: float


class Statistics(NamedTuple):
    """Figures of a data set.

    Attributes
    ----------
    nodes, edges, degree : Spread
        Nodes and edges of a graph; degree of a node.
    node_labels, edge_labels : list of (label, count)
        The most common first; an undirected edge counts once.
    n_groups : int or None
        Groups to be kept together in folds.
    """

    nodes: Spread
    edges: Spread
    degree: Spread
    node_labels: list[tuple[str, int]]
    edge_labels: list[tuple[str, int]]
    n_groups: int | None


def statistics_of(data: Dataset) -> Statistics:
    """Compute the statistics of a data set.

    >>> from twinwl import load_dataset
    >>> figures = statistics_of(load_dataset("CSL"))
    >>> figures.nodes.mean, figures.degree.largest
    (41.0, 4.0)
    """
    graphs = data.graphs
    ends = 1 if graphs.directed else 2
    degrees = np.diff(graphs.indptr)
    arcs_of_graph = np.diff(graphs.indptr[graphs.graph_ptr])
    edge_codes = np.empty(0, np.int32) if graphs.edge_labels is None else graphs.edge_labels
    edge_labels = _common(edge_codes, graphs.edge_vocabulary)
    return Statistics(
        _spread(graphs.nodes_per_graph),
        _spread(arcs_of_graph // ends),
        _spread(degrees),
        _common(graphs.node_labels, graphs.node_vocabulary) if graphs.has_node_labels else [],
        [(label, count // ends) for label, count in edge_labels],
        None if data.groups is None else len(np.unique(data.groups)),
    )


def _spread(values: Ints) -> Spread:
    if not len(values):
        return Spread(0.0, 0.0, 0.0, 0.0)
    return Spread(float(values.min()), float(np.median(values)), float(values.mean()), float(values.max()))


def _common(codes: Int32, vocabulary: tuple[object, ...]) -> list[tuple[str, int]]:
    counts = np.bincount(codes, minlength=len(vocabulary))
    order = np.argsort(-counts, kind="stable")
    return [(str(vocabulary[code]), int(counts[code])) for code in order if counts[code]]


class RowError(NamedTuple):
    """A row of a source that was left out.

    Attributes
    ----------
    row : int
        Its place among the rows of the source, from 0.
    line : int or None
        Its line in the file, from 1; None if the source has no lines.
    kind : str
        ``"graph"`` if the graph cannot be read, ``"target"`` if only the target is missing.
    reason : str
    """

    row: int
    line: int | None
    kind: str
    reason: str


def _of_kinds(kinds: str, what: str) -> Constraint:
    def accept(value: Values) -> Values:
        if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind not in kinds:
            raise TypeError
        return value

    return Constraint(f"an array of {what}, one per graph", accept)


def _is_table(value: Values) -> Values:
    if (
        not isinstance(value, np.ndarray)
        or value.ndim != 2  # noqa: PLR2004
        or value.dtype != np.float64
        or value.shape[1] < 2  # noqa: PLR2004
    ):
        raise TypeError
    return value


_TABLE = Constraint("an array of float64, one row per graph and one column per task", _is_table)
_PARTS: dict[str, tuple[Constraint | None, ...]] = {
    "name": (NAME,),
    "graphs": (instance(GraphBatch),),
    "y": (_of_kinds("biufSU", "numbers or strings"), _TABLE, None),
    "groups": (_of_kinds("iu", "integers"), None),
    "smiles": (instance(tuple), None),
    "names": (instance(tuple),),
    "rows": (_of_kinds("iu", "integers"),),
    "errors": (instance(tuple),),
    "target": (NAME, None),
    "about": (NAME,),
    "tasks": (instance(tuple),),
}


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A collection of graphs; build one with `from_graphs` or `twinwl.load_dataset`.

    Attributes
    ----------
    name : str
    graphs : GraphBatch
    y : array, shape (n_graphs,) or (n_graphs, n_tasks), or None
        The target of each graph, as in the file; of several tasks a table of floats, NaN where a target is
        missing.
    groups : array of int64, shape (n_graphs,), or None
        Graphs of one group must stay in one fold (the pairs of EXP and TWINS).
    smiles : tuple of str, or None
        One per graph, if the graphs are molecules read from SMILES.
    names : tuple of str
        Name of each graph: from its source, or ``name#row``.
    rows : array of int64, shape (n_graphs,)
        Place of each graph in its source, from 0; rows that were left out count.
    errors : tuple of RowError
        The rows that were left out, and why.
    target : str or None
        The column of the targets.
    about : str
        One-line description of graphs and targets.
    tasks : tuple of str
        The columns of the targets, if there are several.
    card : Card
        Its figures.
    digest : str
        64 hex digits that depend only on graphs, targets and groups, not on the file they came from.

    Examples
    --------
    >>> from twinwl import load_dataset
    >>> load_dataset("TWINS", n_pairs=10)
    Dataset('TWINS', 20 graphs, 2 classes)
    """

    name: str
    graphs: GraphBatch
    y: Values | None = None
    groups: Int64 | None = None
    smiles: tuple[str, ...] | None = None
    names: tuple[str, ...] = ()
    rows: Int64 = field(default_factory=lambda: np.empty(0, np.int64))
    errors: tuple[RowError, ...] = ()
    target: str | None = None
    about: str = ""
    tasks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for what, constraints in _PARTS.items():
            checked(what, getattr(self, what), *constraints)
        n_tasks = self.y.shape[1] if self.y is not None and self.y.ndim > 1 else 0
        if n_tasks and not self.tasks:
            object.__setattr__(self, "tasks", tuple(f"y{task}" for task in range(n_tasks)))
        if len(self.tasks) != n_tasks:
            raise TwinWLError(f"{self.name}: got {len(self.tasks)} tasks for {n_tasks} columns of targets")
        if len(self.graphs) and not self.rows.size:
            object.__setattr__(self, "rows", np.arange(len(self.graphs)))
        if len(self.graphs) and not self.names:
            object.__setattr__(self, "names", tuple(f"{self.name}#{row}" for row in self.rows.tolist()))
        for what in ("y", "groups", "smiles", "names", "rows"):
            values = getattr(self, what)
            if values is not None and len(values) != len(self.graphs):
                raise TwinWLError(
                    f"{self.name}: {what} has {len(values)} entries for {len(self.graphs)} graphs; "
                    "give one per graph"
                )
            if isinstance(values, np.ndarray):
                values.flags.writeable = False

    @classmethod
    def from_graphs(
        cls,
        graphs: GraphsLike,
        y: object = None,
        *,
        name: str = "graphs",
        groups: object = None,
        smiles: tuple[str, ...] | None = None,
        about: str = "",
    ) -> Dataset:
        """Build a data set from your own graphs and targets; card and digest are computed.

        Parameters
        ----------
        graphs
            A batch, or anything `twinwl.as_batch` accepts.
        y
            One target per graph: numbers, strings or booleans. For several tasks an array or DataFrame of
            numbers, one column per task, NaN where a target is missing. None if there are no targets.
        name
            Name of the data set in results.
        groups
            One value per graph; graphs with the same value stay in one fold.
        smiles
            One string per graph, if they are molecules.
        about
            One-line description of graphs and targets.

        Examples
        --------
        >>> path, triangle = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]
        >>> Dataset.from_graphs([path, triangle], ["open", "closed"], name="tiny")
        Dataset('tiny', 2 graphs, 2 classes)
        """
        checked("name", name, NAME)
        codes = None
        if groups is not None:
            codes = np.unique(_column(groups, "groups", name), return_inverse=True)[1].astype(np.int64)
        tasks, table = _tasks(y, name)
        targets = table if y is None or table is not None else _column(y, "y", name)
        return cls(name, as_batch(graphs), targets, codes, smiles, about=about, tasks=tasks)

    @cached_property
    def card(self) -> Card:
        """Its figures."""
        return replace(measure(self.name, self.graphs, self.y, self.about), digest=self.digest)

    @cached_property
    def digest(self) -> str:
        """Digest of graphs, targets and groups."""
        return content_digest(self.graphs, self.y, self.groups)

    def __getitem__(self, graph: int) -> Dataset:
        """Return the data set of one graph alone.

        >>> from twinwl import load_dataset
        >>> load_dataset("TWINS", n_pairs=2)[3].names
        ('TWINS#3',)
        """
        graph = checked("graph", graph, integer(-MAX_ITEMS, MAX_ITEMS))
        return Dataset(
            self.name,
            self.graphs[graph],
            None if self.y is None else self.y[[graph]],
            smiles=None if self.smiles is None else (self.smiles[graph],),
            names=(self.names[graph],),
            rows=self.rows[[graph]],
            target=self.target,
            about=self.about,
            tasks=self.tasks,
        )

    @property
    def targets(self) -> Values:
        """The targets; raises an error if there are none."""
        if self.y is None:
            raise TwinWLError(f"{self.name} has no targets; give one per graph, as y")
        return self.y

    def __len__(self) -> int:
        return len(self.graphs)

    def __repr__(self) -> str:
        n_classes = self.card.n_classes
        known = "measured targets" if n_classes is None else f"{n_classes} class{'es' * (n_classes != 1)}"
        known = f"{len(self.tasks)} tasks" if self.tasks else known
        targets = "without targets" if self.y is None else known
        return f"Dataset({self.name!r}, {len(self):,} graph{'s' * (len(self) != 1)}, {targets})"


def _tasks(values: object, name: str) -> tuple[tuple[str, ...], Float64 | None]:
    """Return the names and the table of several tasks; no names and None if it is not a table."""
    keys = getattr(values, "columns", None)
    if keys is not None:  # a frame
        names = tuple(str(key) for key in items("y", keys, "named columns"))
        if len(set(names)) < len(names):
            twice = next(key for key in names if names.count(key) > 1)
            raise TwinWLError(f"{name}: {names.count(twice)} columns of y are called {twice!r}; rename one")
        columns = [
            foreign_array(f"{name}: column {key!r} of y", values[key], np.float64)  # type: ignore[index]
            for key in keys
        ]
        table = np.stack(columns, axis=1) if columns else np.empty((0, 0))
    elif isinstance(values, np.ndarray) and values.ndim == 2:  # noqa: PLR2004
        names, table = (), foreign_array(f"{name}: y", values, np.float64)
    else:
        return (), None
    if table.shape[1] < 2:  # noqa: PLR2004
        raise TwinWLError(
            f"{name}: y has {table.shape[1]} columns; give one target per graph, or several tasks"
        )
    wrong = np.argwhere(np.isinf(table))
    if len(wrong):
        row, task = wrong[0].tolist()
        called = names[task] if names else f"y{task}"
        raise TwinWLError(f"{name}: task {called!r} of row {row} is infinite; correct it, or set it to NaN")
    return names, table.copy()


def _column(values: object, what: str, name: str) -> Values:
    """Return one value per graph as a new array of numbers, booleans or strings."""
    given = isinstance(values, np.ndarray) and values.dtype.kind != "O" and values.dtype != np.longdouble
    plain = items(what, values.tolist() if isinstance(values, np.ndarray) else values, "one value per graph")
    try:
        codes, distinct = encode_labels(plain)
    except LabelError as error:
        raise TwinWLError(f"{name}: {what} must have one value per graph ({error})") from error
    kinds: set[type] = set(map(type, distinct))
    if kinds == {int, float}:
        kinds = {float}
    if len(kinds) > 1 or kinds & {tuple, bytes, type(None)}:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise TwinWLError(f"{name}: {what} has values of the types {names}, expected numbers or strings")
    return np.array(values if given else [distinct[code] for code in codes.tolist()])


def content_digest(graphs: GraphBatch, y: Values | None, groups: Ints | None = None) -> str:
    """Return the SHA-256 of the content of a data set, whatever file or batch it came from.

    >>> from twinwl.graphs.batch import GraphBatch
    >>> content_digest(GraphBatch.from_edges([[(0, 1)]]), np.array([1]))[:8]
    '57715376'
    """
    total = hashlib.sha256(b"twinwl data set 1" + (b"directed" if graphs.directed else b"undirected"))
    nodes = _in_use(graphs.node_labels, graphs.node_vocabulary)
    edges = None if graphs.edge_labels is None else _in_use(graphs.edge_labels, graphs.edge_vocabulary)
    integers: list[Values | None] = [
        graphs.graph_ptr, graphs.indptr, graphs.indices, nodes.codes, edges and edges.codes, groups
    ]  # fmt: skip
    for array in integers:
        _add(total, b"" if array is None else np.ascontiguousarray(array, "<i8").tobytes())
    features = graphs.node_features
    _add(total, b"" if features is None else np.ascontiguousarray(features, "<f8").tobytes())
    column = () if y is None or y.ndim > 1 else y.tolist()
    for labels in (nodes.vocabulary, edges.vocabulary if edges else (), column):
        _add(total, b"".join(map(label_token, labels)))
    if y is not None and y.ndim > 1:
        # There are many NaN, bit for bit; here all are the same one.
        table = np.where(np.isnan(y), np.nan, y)
        _add(total, f"{y.shape}".encode() + np.ascontiguousarray(table, "<f8").tobytes())
    return total.hexdigest()


def _in_use(codes: Int32, vocabulary: tuple[Label, ...]) -> Coded:
    """Remove labels that no node (or edge) has, as in a slice of a larger batch."""
    used, dense = np.unique(codes, return_inverse=True)
    if len(used) == len(vocabulary):
        return Coded(codes, vocabulary)
    return Coded(dense.astype(np.int32), tuple(vocabulary[code] for code in used.tolist()))


def _add(total: hashlib._Hash, content: bytes) -> None:
    """Add a part preceded by its length, so that different parts cannot give the same bytes."""
    total.update(len(content).to_bytes(8, "little"))
    total.update(content)
