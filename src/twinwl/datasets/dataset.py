"""Dataset: graphs with their targets, names, groups and rows; its card and its statistics."""

from __future__ import annotations

import datetime as dt
import hashlib
import math
import numbers
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from twinwl.arguments import NAME, checked, foreign_array, items
from twinwl.arrays import Float64, Int32, Int64, Ints, Names, Values
from twinwl.errors import GraphInputError, LabelError, TwinWLError, nearest, setting, shown, warn_caller
from twinwl.graphs.batch import GraphBatch, Key, indices_of
from twinwl.graphs.building import GraphsLike, as_batch
from twinwl.graphs.labels import encode_labels, in_use, label_token

if TYPE_CHECKING:
    from twinwl.datasets.formats import ReadOptions
    from twinwl.datasets.records import Record

ClassValue: TypeAlias = "int | float | str"


class CardError(TwinWLError):
    """The loaded data do not match the card of the data set."""


@dataclass(frozen=True, slots=True)
class Card:
    """The figures of a data set; None if a figure is not known in advance.

    Attributes
    ----------
    name, about : str
        Name, and a one-line description of the graphs and classes.
    n_graphs, n_nodes, n_edges, n_classes : int or None
        There are no classes if the targets are measurements.
    classes : tuple of (class, number of its graphs), or None
        Sorted by class.
    n_node_labels, n_edge_labels : int or None
        Number of different labels; 0 if there are none.
    n_isolated : int or None
        Nodes without an edge.
    digest : str or None
        `twinwl.datasets.dataset.content_digest` of the graphs, classes and groups.

    >>> from twinwl.datasets.catalogue import CARDS
    >>> CARDS["MUTAG"].n_graphs, CARDS["MUTAG"].classes
    (188, ((-1, 63), (1, 125)))
    """

    name: str
    about: str = ""
    n_graphs: int | None = None
    n_nodes: int | None = None
    n_edges: int | None = None
    n_classes: int | None = None
    classes: tuple[tuple[ClassValue, int], ...] | None = None
    n_node_labels: int | None = None
    n_edge_labels: int | None = None
    n_isolated: int | None = None
    digest: str | None = None

    def as_dict(self) -> dict[str, object]:
        """Return the card as plain values, for JSON; classes become strings.

        >>> Card("X", n_graphs=2).as_dict()["n_graphs"]
        2
        """
        plain: dict[str, object] = {name: getattr(self, name) for name in ("name", "about", *_FIGURES)}
        if self.classes is not None:
            plain["classes"] = {str(value): count for value, count in self.classes}
        return plain


_FIGURES = {
    "n_graphs": "graphs",
    "n_nodes": "nodes",
    "n_edges": "edges",
    "n_classes": "classes",
    "classes": "graphs by class",
    "n_node_labels": "node labels",
    "n_edge_labels": "edge labels",
    "n_isolated": "isolated nodes",
}


def measure(name: str, graphs: GraphBatch, y: Values | None, about: str = "") -> Card:
    """Compute the card of a data set from its graphs and, if it has any, its classes.

    >>> from twinwl.graphs.batch import GraphBatch
    >>> measure("tiny", GraphBatch.from_edges([[(0, 1)], []], num_nodes=[2, 1]), np.array([1, 0])).n_isolated
    1
    """
    several = y is not None and y.ndim > 1
    values, counts = np.unique(np.empty(0) if y is None or several else y, return_counts=True)
    measured = several or (values.dtype.kind == "f" and bool((values != np.floor(values)).any()))
    edge_codes = graphs.edge_labels
    return Card(
        name,
        about,
        n_graphs=len(graphs),
        n_nodes=graphs.n_nodes,
        n_edges=graphs.n_edges,
        n_classes=None if measured else len(values),
        classes=None if measured else tuple(zip(values.tolist(), counts.tolist())),
        n_node_labels=len(np.unique(graphs.node_labels)) if graphs.has_node_labels else 0,
        n_edge_labels=0 if edge_codes is None else len(np.unique(edge_codes)),
        n_isolated=int((np.diff(graphs.indptr) == 0).sum()),
    )


def check_card(card: Card, actual: Card, where: str) -> Card:
    """Return the card with every figure filled in, or raise an error that lists the differences.

    Parameters
    ----------
    card
        The known figures.
    actual
        The measured figures.
    where
        The file the data came from.

    Raises
    ------
    CardError
        If a figure differs; the message has the expected and the actual value of each. The digest is
        mentioned only if no other figure differs.

    >>> check_card(Card("X", n_graphs=2), Card("X", n_graphs=2, n_nodes=9), "X.zip").n_nodes
    9
    """
    differences = []
    for name, title in _FIGURES.items():
        expected, measured = getattr(card, name), getattr(actual, name)
        if expected is not None and expected != measured:
            differences.append(
                f"{title}: {_figure_text(expected)} on the card, {_figure_text(measured)} in the file"
            )
    if not differences and card.digest not in {None, actual.digest}:
        differences = [f"the digest of its graphs and classes is {actual.digest}, expected {card.digest}"]
    if differences:
        raise CardError(
            f"{where} is not the known data set {card.name}: {'; '.join(differences)}. "
            "Get it again, or give its path instead of its name if the difference is intended"
        )
    return replace(actual, name=card.name, about=card.about or actual.about)


def _figure_text(figure: object) -> str:
    if isinstance(figure, tuple):
        return ", ".join(f"{value}: {count:,}" for value, count in figure)
    return f"{figure:,}"


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
    edges = np.diff(graphs.indptr[graphs.graph_ptr]) // ends
    nodes = _common(graphs.node_labels, graphs.node_vocabulary) if graphs.has_node_labels else []
    links = [] if graphs.edge_labels is None else _common(graphs.edge_labels, graphs.edge_vocabulary, ends)
    return Statistics(
        _spread(graphs.nodes_per_graph),
        _spread(edges),
        _spread(np.diff(graphs.indptr)),
        nodes,
        links,
        None if data.groups is None else len(np.unique(data.groups)),
    )


def _spread(values: Ints) -> Spread:
    values = values if len(values) else np.zeros(1, np.int64)
    return Spread(*(float(of(values)) for of in (np.min, np.median, np.mean, np.max)))


def _common(codes: Int32, vocabulary: tuple[object, ...], ends: int = 1) -> list[tuple[str, int]]:
    counts = np.bincount(codes, minlength=len(vocabulary))
    order = np.argsort(-counts, kind="stable")
    return [(str(vocabulary[code]), int(counts[code]) // ends) for code in order if counts[code]]


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
    lines : tuple of str
        What writes each graph again, in a file of one graph per line; only if the graphs were streamed.
    id : str or None
        The column of the ids, which are then the names of the graphs.
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
    smiles: Names | None = None
    names: Names = ()
    rows: Int64 = field(default_factory=lambda: np.empty(0, np.int64))
    errors: tuple[RowError, ...] = ()
    target: str | None = None
    about: str = ""
    tasks: Names = ()
    lines: Names = ()
    id: str | None = None

    def __post_init__(self) -> None:
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
        smiles: Names | None = None,
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
        texts = None if smiles is None else tuple(items("smiles", smiles, "one SMILES per graph"))
        return cls(name, as_batch(graphs), targets, codes, texts, about=about, tasks=tasks)

    @cached_property
    def card(self) -> Card:
        """Its figures."""
        return replace(measure(self.name, self.graphs, self.y, self.about), digest=self.digest)

    @cached_property
    def digest(self) -> str:
        """Digest of graphs, targets and groups."""
        return content_digest(self.graphs, self.y, self.groups)

    def __getitem__(self, graphs: Key) -> Dataset:
        """Return the data set of some graphs, chosen as in a `GraphBatch`: by number, slice, array or mask.

        >>> from twinwl import load_dataset
        >>> load_dataset("TWINS", n_pairs=2)[3].names
        ('TWINS#3',)
        """
        index = np.atleast_1d(indices_of(graphs, len(self)))
        places = index.tolist()
        return replace(
            self,
            graphs=self.graphs[index],
            y=None if self.y is None else self.y[index],
            groups=None,
            smiles=None if self.smiles is None else tuple(self.smiles[place] for place in places),
            names=tuple(self.names[place] for place in places),
            rows=self.rows[index],
            errors=(),
            lines=(),
        )

    @property
    def ids(self) -> Names | None:
        """The ids of the graphs; None if the source has no column of ids."""
        return None if self.id is None else self.names

    @property
    def targets(self) -> Values:
        """The targets; raises an error if there are none."""
        if self.y is None:
            raise TwinWLError(f"{self.name} has no targets; give one per graph, as y")
        return self.y

    @property
    def named_targets(self) -> Any:  # noqa: ANN401  (an array, or a dictionary of arrays)
        """The targets; those of several tasks by name."""
        return dict(zip(self.tasks, self.targets.T)) if self.tasks else self.targets

    def __len__(self) -> int:
        return len(self.graphs)

    def __repr__(self) -> str:
        n_classes = self.card.n_classes
        known = "measured targets" if n_classes is None else f"{n_classes} class{'es' * (n_classes != 1)}"
        known = f"{len(self.tasks)} tasks" if self.tasks else known
        targets = "without targets" if self.y is None else known
        return f"Dataset({self.name!r}, {len(self):,} graph{'s' * (len(self) != 1)}, {targets})"


def _tasks(values: Any, name: str) -> tuple[Names, Float64 | None]:  # noqa: ANN401
    """Return the names and the table of several tasks; no names and None if it is not a table."""
    names = tuple(map(str, getattr(values, "columns", ())))  # of a frame
    if len(set(names)) < len(names):
        raise TwinWLError(f"{name}: columns of y have the same name: {', '.join(names)}; rename one")
    if not hasattr(values, "columns") and not (isinstance(values, np.ndarray) and values.ndim == 2):  # noqa: PLR2004
        return (), None
    table = foreign_array(f"{name}: y", values, np.float64).copy()
    if table.shape[1] < 2:  # noqa: PLR2004
        raise TwinWLError(
            f"{name}: y has {table.shape[1]} columns; give one target per graph, or several tasks"
        )
    for row, task in np.argwhere(np.isinf(table)).tolist():
        called = names[task] if names else f"y{task}"
        raise TwinWLError(f"{name}: task {called!r} of row {row} is infinite; correct it, or set it to NaN")
    return names, table


def _column(values: Any, what: str, name: str) -> Values:  # noqa: ANN401
    """Return one value per graph as a new array of numbers, booleans or strings."""
    plain = items(what, values.tolist() if isinstance(values, np.ndarray) else values, "one value per graph")
    try:
        codes, distinct = encode_labels(plain)
    except LabelError as error:
        raise TwinWLError(f"{name}: {what} must have one value per graph ({error})") from error
    kinds: set[type] = set(map(type, distinct))
    if kinds != {int, float} and (len(kinds) > 1 or kinds & {tuple, bytes, type(None)}):
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise TwinWLError(f"{name}: {what} has values of the types {names}, expected numbers or strings")
    is_plain = (
        isinstance(values, np.ndarray) and values.dtype.kind in "biufSU" and values.dtype != np.longdouble
    )
    return np.array(values if is_plain else [distinct[code] for code in codes.tolist()])


def content_digest(graphs: GraphBatch, y: Values | None, groups: Ints | None = None) -> str:
    """Return the SHA-256 of the content of a data set, whatever file or batch it came from.

    >>> from twinwl.graphs.batch import GraphBatch
    >>> content_digest(GraphBatch.from_edges([[(0, 1)]]), np.array([1]))[:8]
    '57715376'
    """
    total = hashlib.sha256(b"twinwl data set 1" + (b"directed" if graphs.directed else b"undirected"))
    nodes = in_use(graphs.node_labels, graphs.node_vocabulary)
    edges = None if graphs.edge_labels is None else in_use(graphs.edge_labels, graphs.edge_vocabulary)
    integers = (graphs.graph_ptr, graphs.indptr, graphs.indices, nodes.codes, edges and edges.codes, groups)
    for array, dtype in (*((part, "<i8") for part in integers), (graphs.node_features, "<f8")):
        _add(total, b"" if array is None else _bytes(array, dtype))
    column = () if y is None or y.ndim > 1 else y.tolist()
    for labels in (nodes.vocabulary, edges.vocabulary if edges else (), column):
        _add(total, b"".join(map(label_token, labels)))
    if y is not None and y.ndim > 1:
        # There are many NaN, bit for bit; here all are the same one.
        _add(total, f"{y.shape}".encode() + _bytes(np.where(np.isnan(y), np.nan, y), "<f8"))
    for name, view in list(zip(graphs.view_names, graphs.each_view()))[1:]:
        _add(total, f"{name} {content_digest(view.with_extra(None), None)}".encode())
    if graphs.extra is not None:
        _add(total, f"{graphs.extra.names}".encode() + _bytes(graphs.extra.values, "<f8"))
    return total.hexdigest()


def _bytes(array: Values, dtype: str) -> bytes:
    return np.ascontiguousarray(array, dtype).tobytes()


def _add(total: hashlib._Hash, content: bytes) -> None:
    """Add a part preceded by its length, so that different parts cannot give the same bytes."""
    total.update(len(content).to_bytes(8, "little"))
    total.update(content)


# ---------------------------------------------------------------------- targets

Targets = Literal["needed", "obvious", "given", "none"]
"""Fail without a target, take one where no choice is to be made, only where its column is named, or never.

``"none"`` is about tables: other data sets have their targets all the same.
"""
ALL = "all"
"""As a target: every column of numbers."""

_OBVIOUS = ("label", "class", "target", "y")
# What pandas reads as missing, in any case, and what else tables of measurements have.
_MISSING = {
    "", "#n/a", "#n/a n/a", "#na", "-1.#ind", "-1.#qnan", "-nan", "1.#ind", "1.#qnan", "<na>", "n/a", "na",
    "nan", "none", "null", "-", "?", "n.d.",
}  # fmt: skip
_EXACT = 2**53  # beyond, floats skip whole numbers
_SCALARS = (str, numbers.Number, np.generic, dt.date)
_INTEGER = re.compile(r"[-+]?[0-9]+")
_DECIMAL_COMMA = re.compile(r"[-+]?[0-9]*,[0-9]+([eE][-+]?[0-9]+)?")
_GROUPED = re.compile(r"[-+]?[1-9][0-9]{0,2}((,[0-9]{3})+(\.[0-9]*)?|(\.[0-9]{3})+,[0-9]+)")


def choose_targets(
    header: Sequence[str],
    source: str,
    reading: ReadOptions,
    targets: Targets,
    cells: Callable[[], Mapping[str, Sequence[object]]] = dict,
    ids: str | None = None,
) -> Names:
    """Return the columns of targets, none if there are no targets.

    Parameters
    ----------
    header
        The columns that may be targets.
    source
        Name of the source, for messages.
    reading
        Its ``target`` is what the user named: ``"a,b"`` names two columns, unless one is called so; ``"all"``
        every column of numbers that is not used for something else.
    targets
        What to do without a name.
    cells
        Returns the cells of all columns; called for ``"all"``.
    ids
        The column of the ids.

    >>> from twinwl.datasets.formats import ReadOptions
    >>> choose_targets(["toxic", "approved"], "m.csv", ReadOptions(target="toxic, approved"), "given")
    ('toxic', 'approved')
    >>> choose_targets(["id", "Class"], "m.csv", ReadOptions(), "needed")
    ('Class',)
    """
    target = reading.target
    if target == ALL and ALL not in header:
        used = dict.fromkeys(reading.not_targets, "split or groups")
        used |= {} if ids is None else {ids: "ids"}
        return usable_targets(cells(), source, used)
    if target is not None:
        return named_targets(target, header, source)
    obvious = header if len(header) == 1 else [name for name in header if name.lower() in _OBVIOUS]
    if targets not in {"given", "none"} and len(obvious) == 1:
        return (named_column(header, obvious[0], "target", source),)
    if targets == "needed":
        held = ", ".join(map(repr, header)) or "none"
        raise GraphInputError(
            f"{source}: name the column of targets with {setting(target=...)}; there are: {held}"
        )
    return ()


def named_targets(target: str | Names, header: Sequence[str], name: str) -> Names:
    """Return the columns that a target names."""
    if isinstance(target, str):
        several = target not in header and "," in target
        target = tuple(filter(None, map(str.strip, target.split(",")))) if several else (target,)
    if not target:
        raise GraphInputError(f"{name}: target: got no column; name one, or several")
    for part, times in Counter(target).items():
        if times > 1:
            raise GraphInputError(f"{name}: target: {part!r} is named {times} times; name it once")
    return tuple(named_column(header, part, "target", name) for part in target)


def named_column(header: Sequence[str], wanted: str, option: str, name: str) -> str:
    """Return a column that a header has once."""
    if wanted not in header:
        raise GraphInputError(f"{name}: {option}: got {wanted!r}; {nearest(wanted, header)}")
    times = list(header).count(wanted)
    if times > 1:
        raise GraphInputError(f"{name}: {times} columns are called {wanted!r}; rename one")
    return wanted


def usable_targets(
    columns: Mapping[str, Sequence[object]], source: str, used: Mapping[str, str] = MappingProxyType({})
) -> Names:
    """Return the columns that can be targets: of finite numbers, at least two of which differ.

    Columns that are ``used`` for something else are none. A warning names the others.

    Raises
    ------
    GraphInputError
        If there are none; the message says why each column is none.
    """
    reasons = {name: used[name] if name in used else _unusable(cells) for name, cells in columns.items()}
    usable = tuple(name for name, reason in reasons.items() if not reason)
    others = ", ".join(f"{name!r} ({reason})" for name, reason in reasons.items() if reason)
    if not usable:
        raise GraphInputError(
            f"{source}: no column can be a target: {others or 'there is none beside the SMILES'}"
        )
    if others:
        warn_caller(f"{source}: target: all leaves out {others}")
    return usable


def _unusable(cells: Sequence[object]) -> str:
    """Say why a column cannot be a target; empty if it can."""
    numbers = {_number(cell) for cell in known_cells(cells) if cell is not None}
    if None in numbers:
        return "text"
    if not all(map(math.isfinite, numbers)):  # type: ignore[arg-type]
        return "infinite numbers"
    return "" if len(numbers) > 1 else "one value" if numbers else "empty"


def known_cells(cells: Iterable[object]) -> list[object]:
    """Return the cells of a column of targets, None where one is missing.

    A dash is a class where all other cells are ``+``, and missing elsewhere.

    >>> known_cells(["a", "-", "N/A"]), known_cells(["+", "-", "N/A"])
    (['a', None, None], ['+', '-', None])
    """
    listed = list(cells)
    known = [None if is_missing(cell) else cell for cell in listed]
    if {str(cell).strip() for cell in known if cell is not None} == {"+"}:
        return [cell if str(cell).strip() in {"+", "-"} else None for cell in listed]
    return known


def is_missing(value: object) -> bool:
    """Return whether a cell by itself is empty or stands for a missing value; see `known_cells`.

    >>> is_missing("NA"), is_missing(float("nan")), is_missing(0)
    (True, True, False)
    """
    if isinstance(value, str):
        return value.strip().lower() in _MISSING
    return value is None or str(value) in {"nan", "<NA>", "NaT"}  # (the last two are pandas')


class _Column(NamedTuple):
    """The known cells of a target, with what messages say of them."""

    cells: Sequence[object]
    target: str
    source: str
    rows: Sequence[Record]

    def error(self, place: int, problem: str) -> GraphInputError:
        where = location_of(self.rows[place]) if self.rows else ""
        return GraphInputError(
            f"{self.source}{where}: target {self.target!r}: got {shown(self.cells[place])}{problem}"
        )

    def numbers(self, *, classes: bool) -> list[float] | None:
        """Return the cells as numbers, or None if they are names of classes, where these are allowed.

        A comma is a decimal one, as a warning says, unless commas may separate thousands. Whole numbers and
        text may all be names of classes, but text among measurements is an error.
        """
        values = [_number(cell) for cell in self.cells]
        texts = [str(cell).strip() for cell in self.cells]
        commas = [place for place, text in enumerate(texts) if "," in text]
        grouped = [place for place in commas if _GROUPED.fullmatch(texts[place])]
        names = [place for place, number in enumerate(values) if number is None and place not in set(grouped)]
        if names:
            fractions = [number for number in values if number is not None and not number.is_integer()]
            if fractions or not classes:
                beside = f" beside {fractions[-1]}" if fractions else ", expected numbers"
                raise self.error(
                    names[0], f"{beside}; correct it, leave the cell empty, or choose another column"
                )
            return None
        if None in values or (commas and (grouped == commas or any("." in text for text in texts))):
            raise self.error(
                commas[0],
                ", whose comma may be decimal or separate thousands; write all numbers with a decimal point "
                "and without separators",
            )
        for place, number in enumerate(values):
            if not math.isfinite(number):  # type: ignore[arg-type]
                raise self.error(place, ", expected finite numbers; correct it, or leave the cell empty")
        if commas:
            first = texts[commas[0]]
            warn_caller(
                f"{self.source}: target {self.target!r}: {len(commas):,} numbers have a decimal comma: "
                f"{first} is read as {first.replace(',', '.')}"
            )
        return values  # type: ignore[return-value]


def as_targets(cells: Sequence[object], target: str, source: str, rows: Sequence[Record] = ()) -> Values:
    """Return integers if all cells are integers, floats if all are numbers, else strings.

    Numbers may have a decimal comma, which a warning says. ``rows`` are the rows of the cells, for messages.
    """
    wrong = next((cell for cell in cells if not isinstance(cell, _SCALARS)), None)
    if wrong is not None:
        raise GraphInputError(f"{source}: target {target!r}: got {shown(wrong)}, expected numbers or strings")
    numbers = _Column(cells, target, source, rows).numbers(classes=True)
    texts = [str(cell).strip() for cell in cells]
    if numbers is None:
        return np.array(texts)
    values: Float64 = np.array(numbers, np.float64)
    if (values == np.floor(values)).all() and (np.abs(values) <= _EXACT).all():
        return values.astype(np.int64)
    # Integers too long to be distinguished as floats are names.
    return np.array(texts) if all(map(_INTEGER.fullmatch, texts)) else values


def targets_of(records: Sequence[Record], names: Names, source: str) -> Values:
    """Return the targets in the cells of records: of one column as they are, of several as a table."""
    if len(names) == 1:
        return as_targets([record.cells[0] for record in records], *names, source, records)
    return task_table([record.cells for record in records], names, source, records)


def task_table(
    rows_of_cells: Sequence[Sequence[object]], tasks: Names, source: str, rows: Sequence[Record]
) -> Float64:
    """Return the targets of several tasks, one column each, as numbers; NaN where one is None.

    >>> from twinwl.datasets.records import Record
    >>> rows = [Record(0, 2, "CC", "CC"), Record(1, 3, "CO", "CO")]
    >>> task_table([(1, None), ("0", 1)], ("toxic", "approved"), "m.csv", rows)
    array([[ 1., nan],
           [ 0.,  1.]])
    """
    table = np.full((len(rows_of_cells), len(tasks)), np.nan)
    for task, (name, cells) in enumerate(zip(tasks, zip(*rows_of_cells))):
        places = [place for place, cell in enumerate(cells) if cell is not None]
        if not places:
            raise GraphInputError(f"{source}: target {name!r} is missing in all rows; leave that column out")
        column = _Column([cells[place] for place in places], name, source, [rows[place] for place in places])
        table[places, task] = column.numbers(classes=False)
    return table


def _number(value: object) -> float | None:
    if isinstance(value, str):
        if "_" in value:  # Python reads 1_000 as a number, a table does not mean it
            return None
        value = value.replace(",", ".") if _DECIMAL_COMMA.fullmatch(value.strip()) else value
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None


def location_of(row: RowError | Record) -> str:
    """Return where a row of a source is, to be put behind the name of the source in a message."""
    return f", row {row.row}" if row.line is None else f", line {row.line}"
