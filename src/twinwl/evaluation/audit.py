"""What data sets share: the same graphs, nearly the same graphs, and copies whose targets disagree.

Predictions for a test set are scored with and without the graphs that the training data has too.

The *ceiling* of a data set is how good any function of what 1-WL or a readout sees could be on it.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from twinwl.arguments import FLAG, ROUNDS, checked, instance, number, one_of
from twinwl.arrays import Fields, Int64, Values
from twinwl.datasets.dataset import ALL, Dataset, as_targets, known_cells
from twinwl.datasets.formats import ReadOptions
from twinwl.datasets.source import read_columns, read_source, read_with_targets, targets_in
from twinwl.errors import TwinWLError, prefix_errors, setting, shown, warn_caller
from twinwl.evaluation.predictions import Predictions
from twinwl.graphs.atom_labels import IDENTITY_ATOMS, LADDER
from twinwl.graphs.batch import GraphBatch, concatenate, labels_only
from twinwl.graphs.building import GraphsLike
from twinwl.isomorphism.deduplication import deduplicate, wl_groups
from twinwl.isomorphism.hashing import graph_keys
from twinwl.isomorphism.readouts import resolve
from twinwl.models.metrics import Rendered, figures, measure, positive_name
from twinwl.models.search import Queries
from twinwl.models.targets import task_of
from twinwl.terminal import ProgressBar, aligned, one_line


def copies_of(graphs: GraphBatch) -> Int64:
    """Return a number for each graph, equal for isomorphic graphs, shape (n_graphs,).

    Graphs with different node features are not copies.

    >>> from twinwl import GraphBatch
    >>> copies_of(GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1)], [(0, 2), (2, 1)]]))
    array([0, 1, 0])
    """
    return deduplicate(graphs.discretise().changed(atoms=None)).labels  # whatever the labels are


class Member(NamedTuple):
    """A graph of a set: its row, its name, its target (None if it has none)."""

    set: str
    row: int
    name: str
    target: object


class AuditedSet(NamedTuple):
    """A data set, and its columns of targets by name, with one value per graph, None where it is missing."""

    data: Dataset
    columns: dict[str, list[Any]]

    def member(self, graph: int) -> Member:
        """Describe a graph; its target is that of the only column."""
        target = next(iter(self.columns.values()))[graph] if len(self.columns) == 1 else None
        return Member(self.data.name, int(self.data.rows[graph]), self.data.names[graph], target)


class Match(NamedTuple):
    """A graph of one set, and the graph of an earlier set that is most like it.

    Attributes
    ----------
    set, row, name
        The graph: its set, its row there, its name.
    target
        Its target; None if it has none.
    same : str or None
        The finest level at which both are the same graph; None if they are only nearly the same.
    similarity : float
        1 if they are the same.
    other_set, other_row, other_name, other_target
        The graph of the earlier set.
    """

    set: str
    row: int
    name: str
    target: object
    same: str | None
    similarity: float
    other_set: str
    other_row: int
    other_name: str
    other_target: object


class Overlap(NamedTuple):
    """Number of graphs of one set that an earlier set has too.

    Attributes
    ----------
    set, earlier : str
        Both sets.
    same : dict of str to int
        By level: graphs of the set with a copy in the earlier one.
    near : int
        Graphs of the set that have no copy at any level but a graph nearly the same.
    """

    set: str
    earlier: str
    same: dict[str, int]
    near: int


class Contradiction(NamedTuple):
    """Copies of one graph with different targets.

    Attributes
    ----------
    level : str
        The level at which they are copies.
    members : tuple of Member
    """

    level: str
    members: tuple[Member, ...]


@dataclass(frozen=True, eq=False)
class Audit(Rendered):
    """The result of `audit`.

    Attributes
    ----------
    sizes : dict of str to int
        Number of graphs of each set.
    levels : tuple of str
        From coarse to fine; only ``"graph"`` if not all sets are molecules.
    level : str
        The level at which contradictions are counted.
    near : float
        Graphs of this similarity or more are nearly the same.
    overlaps : list of Overlap
        One per pair of sets.
    matches : list of Match
        One per graph with the same, or nearly the same, graph in an earlier set.
    contradictions : list of Contradiction
        Copies within a set, and between sets whose targets have the same name.
    targets_compared : bool
        Whether a set has targets; if not, nothing is known about contradictions.
    scores : sequence of PartScores
        Scores of predictions for the last set, if there are any (`scores_without_overlap`).
    data : sequence of Dataset
        The sets, for the page.
    """

    _records = "matches"
    _own_page = "audit_page"
    sizes: dict[str, int]
    levels: tuple[str, ...]
    level: str
    near: float
    overlaps: list[Overlap]
    matches: list[Match]
    contradictions: list[Contradiction]
    targets_compared: bool = True
    scores: Sequence[PartScores] = ()
    data: Sequence[Dataset] = field(default=(), repr=False)

    def __repr__(self) -> str:
        return (
            f"Audit({', '.join(f'{name}: {size:,}' for name, size in self.sizes.items())}; "
            f"{len(self.matches):,} graphs in common or nearly so, "
            f"{len(self.contradictions):,} contradictions)"
        )

    def __str__(self) -> str:
        lines = []
        for one in self.overlaps:
            first, second = (f"{one_line(name)} ({self.sizes[name]:,})" for name in (one.earlier, one.set))
            lines.append(f"Graphs of {second} that are also in {first}")
            lines += [f"{one.same[level]:>10,}  the same {level}" for level in self.levels]
            lines.append(
                f"{one.near:>10,}  more that are nearly the same (similarity {self.near:g} or more)\n"
            )
        n_groups = len(self.contradictions)
        compared = (
            f"{n_groups:,} group{'s' * (n_groups != 1)} of copies ({self.level}) with different targets."
        )
        without = "No targets were compared; name their column with --target."
        lines.append(compared if self.targets_compared else without)
        for part in self.scores:
            scored = figures(part.scores, list(part.scores), part.positive)
            lines.append(f"Scores, {part.part} ({part.n_graphs:,}): {scored}")
        return "\n".join(lines)

    def table(self) -> list[list[str]]:
        """Return how many graphs of each set earlier ones have too, by level, the header first."""
        rows = [[one.set, one.earlier, *map(str, one.same.values()), str(one.near)] for one in self.overlaps]
        return [["set", "earlier set", *(f"same {level}" for level in self.levels), "nearly the same"], *rows]

    def _bars(self) -> dict[str, float]:
        return {
            f"{one.set} in {one.earlier}, {level}": float(count)
            for one in self.overlaps
            for level, count in (*one.same.items(), ("nearly", one.near))
        }

    def rows_in_common(self, name: str, level: str | None = None) -> Int64:
        """Return the rows of a set that an earlier set has too.

        Parameters
        ----------
        name
            The set.
        level
            The level at which they are the same; None also counts those that are nearly the same.

        Returns
        -------
        array of int64
        """
        checked("name", name, one_of(*self.sizes))
        checked("level", level, one_of(*self.levels), None)
        counted = (None, *self.levels) if level is None else self.levels[self.levels.index(level) :]
        result = {match.row for match in self.matches if match.set == name and match.same in counted}
        return np.array(sorted(result), np.int64)


_PREDICTION = ("twinwl_prediction", "prediction")


class PartScores(NamedTuple):
    """A part of the test graphs, how many they are, and the scores on them."""

    part: str
    n_graphs: int
    scores: dict[str, float]
    positive: str | None = None


def scores_without_overlap(
    audit: Audit, tested: AuditedSet, predictions: Mapping[str, Sequence[Any]]
) -> list[PartScores]:
    """Score predictions on all test graphs, without copies, and without graphs that are nearly the same.

    Parameters
    ----------
    audit
        What the test set shares with earlier ones.
    tested
        The test set with its targets.
    predictions
        Columns of the table that ``twinwl predict`` writes: ``index`` (the row, else the order decides),
        ``prediction`` and, for metrics that need them, ``p_…``.

    Raises
    ------
    TwinWLError
        If there is no column of predictions, or a test graph that has a target lacks its prediction.
    """
    name = tested.data.name
    if len(tested.columns) != 1:
        raise TwinWLError(f"{name}: predictions cannot be scored without targets; name their column")
    column = next((each for each in _PREDICTION if each in predictions), None)
    if column is None:
        raise TwinWLError(
            f"the predictions for {name} have no column 'prediction'; give what twinwl predict wrote"
        )
    cells = known_cells(predictions[column])
    in_table = enumerate(predictions.get("index", range(len(cells))))
    place_of_row = {int(row): place for place, row in in_table if cells[place] is not None}
    (targets,) = tested.columns.values()
    known = [
        (row, target, place_of_row[row])
        for row, target in zip(tested.data.rows.tolist(), targets)
        if target is not None and row in place_of_row
    ]
    if not known:
        raise TwinWLError(f"{name}: no graph has both a target and a prediction; are the rows the same?")
    rows, truth, places = (np.array(part) for part in zip(*known))
    values = as_targets([cells[place] for place in places], column, "the predictions")
    if task_of(truth).name == "regression":
        result = Predictions(values.astype(np.float64))
    else:
        classes = np.unique([*truth.astype(str), *values.astype(str)])
        columns = [predictions[key] for each in classes if (key := f"p_{each}") in predictions]
        shares = np.array([[float(cells[place]) for cells in columns] for place in places])
        result = Predictions(values, classes, shares if len(columns) == len(classes) else None)
    answers, names = result.answers(truth.tolist())
    parts = {
        "all": np.ones(len(rows), np.bool_),
        f"without those in an earlier set ({audit.level})": ~np.isin(
            rows, audit.rows_in_common(name, audit.level)
        ),
        "also without those nearly the same": ~np.isin(rows, audit.rows_in_common(name)),
    }
    positive = positive_name(answers.classes)
    return [
        PartScores(part, int(mask.sum()), measure(answers.part(mask), names) if mask.any() else {}, positive)
        for part, mask in parts.items()
    ]


GRAPH = "graph"  # the only level where graphs are not molecules
_OWN = ""  # the name of targets that are not a column: they compare within their set only


def audit(
    train: object,
    *others: object,
    near: float = 0.9,
    level: str | None = None,
    target: str | Sequence[str] | None = None,
    smiles_column: str | None = None,
    id: str | None = None,  # noqa: A002  (as on the command line)
    edge_labels: bool = True,
    predictions: Mapping[str, Sequence[Any]] | None = None,
) -> Audit:
    """Find graphs that earlier data sets have too, or nearly, and copies with different targets.

    Parameters
    ----------
    train
        A data set, or anything `twinwl.load_dataset` accepts. If it is the only one, it is searched for
        copies with different targets.
    *others
        More of them, each compared with all before it.
    near
        Graphs of this similarity or more (twin kernel, minmax, two rounds; molecules by elements and bonds)
        count as nearly the same.
    level
        Level at which contradictions are counted: for molecules a level of `twinwl.from_smiles` from
        ``"skeleton"`` to ``"stereo"``; None means ``"constitution"``. Other graphs have one level,
        ``"graph"``.
    target
        Column of the targets, in the tables that have it; None does not compare targets of tables.
    smiles_column
        Column of the SMILES; None looks for a column of that name.
    id
        Column of the ids that name molecules, in the tables that have it; see `twinwl.load_dataset`.
    edge_labels
        Whether graphs that differ only in edge labels are different; of molecules, the types of bonds.
    predictions
        Predictions for the last set, to be scored with and without what earlier sets have too
        (`twinwl.evaluation.audit.scores_without_overlap`).

    Returns
    -------
    Audit

    See Also
    --------
    deduplicate : Groups of equal graphs.
    neighbours : The most similar graphs.

    Examples
    --------
    >>> from twinwl import Dataset
    >>> path, triangle, star = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)], [(0, 1), (0, 2), (0, 3)]
    >>> train = Dataset.from_graphs([path, triangle, path], [0, 1, 1], name="train")
    >>> test = Dataset.from_graphs([star, triangle], [0, 1], name="test")
    >>> found = audit(train, test)
    >>> found
    Audit(train: 3, test: 2; 1 graphs in common or nearly so, 1 contradictions)
    >>> found.rows_in_common("test", "graph")
    array([1])
    """
    near = float(checked("near", near, number(0, 1, above=True)))
    reading = ReadOptions(target=target, smiles_column=smiles_column, id=id)  # type: ignore[arg-type]
    edge_labels = checked("edge_labels", edge_labels, FLAG)
    sets = read_audited((train, *others), reading)
    predictions = checked("predictions", predictions, instance(Mapping), None)
    return audit_sets(sets, near, level, edge_labels=edge_labels, predictions=predictions)


def audit_sets(
    audited: Sequence[AuditedSet],
    near: float,
    level: str | None,
    *,
    edge_labels: bool = True,
    predictions: Mapping[str, Sequence[Any]] | None = None,
) -> Audit:
    """Do the same for sets that have been read, each with one target per graph (None if it is missing)."""
    sets = _named_apart(audited)
    graphs = [_plain(one.data, edge_labels=edge_labels) for one in sets]
    levels = LADDER if all(one.data.smiles is not None for one in sets) else (GRAPH,)
    usual = IDENTITY_ATOMS if len(levels) > 1 else GRAPH
    level = checked("level", level, one_of(*levels), None) or usual
    cuts = np.cumsum([len(one.data) for one in sets])[:-1]
    groups = _groups(sets, graphs, levels, edge_labels=edge_labels)
    copies = {name: np.split(labels, cuts) for name, labels in groups}
    overlaps: list[Overlap] = []
    best: dict[tuple[str, int], Match] = {}  # one for each graph: the finest, then the most similar
    for first, second in itertools.combinations(range(len(sets)), 2):
        partner = {name: _partners(parts[first], parts[second]) for name, parts in copies.items()}
        pairs = Queries(graphs[second]).similar_pairs(graphs[first], near)
        matches = _matches(sets[first], sets[second], partner, zip(*(part.tolist() for part in pairs)))
        counts = {name: int(np.count_nonzero(partner[name] >= 0)) for name in levels}
        n_near = sum(match.same is None for match in matches)
        overlaps.append(Overlap(sets[second].data.name, sets[first].data.name, counts, n_near))
        for match in matches:
            known = best.get((match.set, match.row), match)
            best[match.set, match.row] = max(
                known, match, key=lambda one: ((None, *levels).index(one.same), one.similarity)
            )
    result = Audit(
        {one.data.name: len(one.data) for one in sets},
        levels,
        level,
        near,
        overlaps,
        list(best.values()),
        _contradictions(sets, copies[level], level),
        any(one.columns for one in sets),
        data=[one.data for one in sets],
    )
    if predictions is None:
        return result
    return replace(result, scores=scores_without_overlap(result, sets[-1], predictions))


def _matches(
    earlier: AuditedSet,
    later: AuditedSet,
    partner: dict[str, Int64],
    near: Iterable[tuple[int, int, float]],
) -> list[Match]:
    """Return the later graphs that are also among the earlier ones, then those nearly so.

    ``partner`` has, by level from coarse to fine, each later graph's first copy among the earlier, or -1;
    ``near`` are similar pairs (later, earlier, similarity), of which the most similar counts.
    """
    same: dict[int, tuple[str | None, float, int]] = {}
    for level, places in partner.items():
        same |= {graph: (level, 1.0, place) for graph, place in enumerate(places.tolist()) if place >= 0}
    close: dict[int, tuple[str | None, float, int]] = {}
    for graph, other, similarity in near:
        if graph not in same and similarity > close.get(graph, (None, 0.0, 0))[1]:
            close[graph] = None, similarity, other
    return [
        Match(*later.member(graph), level, similarity, *earlier.member(other))
        for graph, (level, similarity, other) in (*sorted(same.items()), *close.items())
    ]


def read_audited(sources: Sequence[object], reading: ReadOptions) -> list[AuditedSet]:
    """Read sets, with their targets if they have the column.

    Raises
    ------
    TwinWLError
        If no set has the column, or there is nothing to compare: one set, and no targets.
    """
    reading = replace(reading, shared=True)
    names = reading.target.split(",") if isinstance(reading.target, str) else reading.target or ()
    asked = [name.strip() for name in names]
    reading = replace(reading, usual_atoms=LADDER[0])  # what `_plain` needs
    sets = [_read(source, reading, asked) for source in sources]
    if reading.id is not None and all(one.data.id != reading.id for one in sets):
        raise TwinWLError(f"id: got {reading.id!r}; no data set has a column of this name")
    result = {name for one in sets for name in one.columns}
    for name in names:
        if name != ALL and name not in result:
            raise TwinWLError(f"target: got {name!r}; no data set has a column of this name")
    if len(sets) == 1 and not result:
        raise TwinWLError(
            f"{sets[0].data.name}: there is nothing to compare it with; give a second data set or, to find "
            f"copies with different targets, name their column with {setting(target=...)}"
        )
    return sets


def _read(source: object, reading: ReadOptions, asked: Sequence[str]) -> AuditedSet:
    """Read a set with its columns of targets: those of a table that are asked for, or its own."""
    if isinstance(source, Dataset) and source.tasks:
        table = np.where(np.isnan(source.targets), None, source.targets)  # type: ignore[call-overload]
        return AuditedSet(source, dict(zip(source.tasks, table.T.tolist())))
    plain = replace(reading, target=None)
    columns = {} if reading.target is None or isinstance(source, Dataset) else read_columns(source, plain)
    if not columns:
        data, targets = read_with_targets(source, reading)
        name = reading.target if isinstance(reading.target, str) else _OWN
        return AuditedSet(data, {} if targets is None else {name: targets})
    data = read_source(source, plain, "none")
    if reading.target == ALL:
        asked = read_source(source, reading, "given").tasks
    known = [name for name in asked if name in columns]
    return AuditedSet(data, {name: targets_in(columns, name, data.rows, data.name) for name in known})


def _named_apart(sets: Sequence[AuditedSet]) -> list[AuditedSet]:
    """Make the names of sets unique, by numbers."""
    named: dict[str, AuditedSet] = {}
    for one in sets:
        name, number = one.data.name, 1
        while name in named:
            number += 1
            name = f"{one.data.name} ({number})"
        named[name] = one._replace(data=replace(one.data, name=name))
    return list(named.values())


def _plain(data: Dataset, *, edge_labels: bool) -> GraphBatch:
    """Return molecules with elements as labels, whatever level they were read at, and other graphs as is."""
    graphs = data.graphs
    if data.smiles is not None and graphs.atoms != LADDER[0]:
        graphs = GraphBatch.from_smiles(list(data.smiles), atoms=LADDER[0])
    return graphs if edge_labels else graphs.without_edge_labels()


def _groups(
    sets: Sequence[AuditedSet], graphs: list[GraphBatch], levels: tuple[str, ...], *, edge_labels: bool
) -> Iterator[tuple[str, Int64]]:
    """Yield, for each level, the group of each graph of all sets.

    Molecules that differ at one level differ at all finer ones, so those that are alone are not read again.
    """
    listing = ", ".join(f"{place}: {one.data.name}" for place, one in enumerate(sets))
    with ProgressBar("comparing", len(levels)) as bar:
        with prefix_errors(f"the sets ({listing}) cannot be compared"):
            joined = concatenate(graphs)
        groups = copies_of(joined)
        bar.advance()
        yield levels[0], groups
        for level in LADDER[1 : len(levels)]:
            smiles = [text for one in sets for text in one.data.smiles or ()]
            shared, finer = np.flatnonzero((np.bincount(groups) > 1)[groups]), np.zeros_like(groups)
            if len(shared):
                again = GraphBatch.from_smiles([smiles[graph] for graph in shared], atoms=level)
                finer[shared] = copies_of(again if edge_labels else again.without_edge_labels())
            groups = np.unique(np.stack([groups, finer]), axis=1, return_inverse=True)[1].ravel()
            bar.advance()
            yield level, groups


def _partners(earlier: Int64, later: Int64) -> Int64:
    """Return the first graph of the earlier set that has the group of each later graph, -1 for none."""
    first = {group: graph for graph, group in reversed(list(enumerate(earlier.tolist())))}
    return np.array([first.get(group, -1) for group in later.tolist()], np.int64)


def _contradictions(sets: Sequence[AuditedSet], copies: Sequence[Int64], level: str) -> list[Contradiction]:
    """Find copies with different targets: within a set, and between sets whose targets have one name."""
    members: dict[tuple[str, int], list[Member]] = defaultdict(list)
    for place, one in enumerate(sets):
        for name, values in one.columns.items():
            key = f"set {place}" if name == _OWN else name
            for graph, (group, value) in enumerate(zip(copies[place].tolist(), values)):
                named = value is not None and len(one.columns) > 1
                target = f"{name} = {value}" if named else value
                members[key, group].append(one.member(graph)._replace(target=target))
    return [
        Contradiction(level, tuple(copies_of_one))
        for copies_of_one in members.values()
        if len({member.target for member in copies_of_one} - {None}) > 1
    ]


WL, ISOMORPHISM = "1-WL", "isomorphism"


class CeilingRow(NamedTuple):
    """What any function of what a test sees could reach.

    Attributes
    ----------
    seen_by : str
        ``"1-WL"``, a readout, or ``"isomorphism"``: the graph as it is, but for the order of its nodes.
    best : float
        Highest possible accuracy, or lowest possible RMSE.
    n_distinct : int
        Number of groups of graphs that look different.
    n_mixed : int
        Graphs that look like a graph with another target.
    n_alone : int
        Graphs that look like no other.
    """

    seen_by: str
    best: float
    n_distinct: int
    n_mixed: int
    n_alone: int


@dataclass(frozen=True, eq=False)
class Ceiling(Rendered):
    """What `ceiling` found.

    Attributes
    ----------
    task : str
        ``"classification"`` or ``"regression"``.
    metric : str
        ``"accuracy"`` or ``"rmse"``.
    n_graphs : int
    n_iter : int or None
        Number of rounds.
    baseline : float
        Without looking at the graphs: accuracy of the largest class, RMSE of the mean.
    rows : list of CeilingRow
        1-WL, the readouts in the order asked for, isomorphism.
    """

    _records = "rows"
    task: str
    metric: str
    n_graphs: int
    n_iter: int | None
    baseline: float
    rows: list[CeilingRow]

    def row(self, seen_by: str) -> CeilingRow:
        """Return the row of 1-WL (``"1-WL"``), of a readout, or of ``"isomorphism"``."""
        places = [row.seen_by for row in self.rows]
        return self.rows[places.index(checked("seen_by", seen_by, one_of(*places)))]

    @property
    def verdict(self) -> str:
        """Say whether seeing more than 1-WL can help at all."""
        wl, exact = self.row(WL).best, self.row(ISOMORPHISM).best
        low, high = self._text(wl), self._text(exact)
        gain, unit = exact - wl, ""
        text = f"1-WL could reach {low}, and no function of the graphs can reach more than {high}"
        if self.task == "classification":
            gain, unit = 100 * gain, " points"
        else:
            gain = -gain
            text = f"1-WL could reach an RMSE of {low}, and no function of the graphs less than {high}"
        if gain <= 0:
            return f"{text}: telling more graphs apart than 1-WL does cannot help here."
        return f"{text}: telling more graphs apart than 1-WL does can gain {gain:.3g}{unit} at most."

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {**super().to_dict(), "verdict": self.verdict}

    def _bars(self) -> dict[str, float]:
        return {row.seen_by: row.best for row in self.rows}

    @property
    def _title(self) -> str:
        return self.verdict

    def table(self) -> list[list[str]]:
        """Return the rows as text, the header first."""
        header = ["seen by", f"best {self.metric}", "look different", "look like another target", "alone"]
        none = [["nothing", self._text(self.baseline), "1", f"{self.n_graphs:,}", "0"]]
        rows = [
            [row.seen_by, self._text(row.best), *(f"{number:,}" for number in row[2:])] for row in self.rows
        ]
        return [header, *none, *rows]

    def _text(self, value: float) -> str:
        return f"{100 * value:.2f} %" if self.task == "classification" else f"{value:.4g}"

    def __repr__(self) -> str:
        result = ", ".join(f"{row.seen_by}: {self._text(row.best)}" for row in self.rows)
        return f"Ceiling({self.metric} of {self.n_graphs:,} graphs; {result})"

    def __str__(self) -> str:
        return f"{aligned(self.table())}\n{self.verdict}"


def ceiling(
    graphs: GraphsLike,
    y: object,
    readout: Any = "size",  # noqa: ANN401  (a readout of `compare`, or a list of them)
    n_iter: int | None = None,
    *,
    task: str = "auto",
    edge_labels: bool | None = None,
    ignore_features: bool = False,
) -> Ceiling:
    """Return the best accuracy that any function of what 1-WL or a readout sees could have on this data.

    Graphs that look alike but differ in class cannot all be right, so of each group of graphs that look alike
    at most the most frequent class counts. Targets that are numbers have a lowest possible RMSE instead. No
    model is trained, and no model on the same input can do better. If 1-WL has the ceiling of isomorphism, a
    more expressive method cannot gain anything by telling more graphs apart, although it may still be easier
    to learn with. A high ceiling says nothing about what can be learnt: graphs that look like no other can be
    known by heart.

    Parameters
    ----------
    graphs
        A batch, or anything `twinwl.as_batch` accepts.
    y : array-like, shape (n_graphs,)
        Classes or numbers.
    readout
        As in `twinwl.compare`; a list gives one row for each entry (an entry that is a tuple is several
        readouts at once). Two graphs look alike if they have equal multisets of (colour, readout) in all
        rounds.
    n_iter
        Number of rounds; None runs until nothing changes, as `twinwl.graph_hash` does.
    task
        ``"classification"``, ``"regression"`` or ``"auto"``, which decides by the targets.
    edge_labels
        Whether to use edge labels, as in the estimators: None ignores them, with a warning if edges have
        different labels; False ignores them without one.
    ignore_features
        Whether to ignore continuous node features; otherwise graphs with features are an error.

    Returns
    -------
    Ceiling

    Examples
    --------
    >>> import twinwl as tw
    >>> data = tw.load_dataset("TWINS", n_pairs=20)
    >>> print(tw.research.ceiling(data.graphs, data.y))  # doctest: +NORMALIZE_WHITESPACE
    seen by      best accuracy  look different  look like another target  alone
    nothing            50.00 %               1                        40      0
    1-WL               50.00 %              20                        40      0
    size              100.00 %              40                         0     40
    isomorphism       100.00 %              40                         0     40
    1-WL could reach 50.00 %, and no function of the graphs can reach more than 100.00 %: telling more graphs
    apart than 1-WL does can gain 50 points at most.
    """
    n_iter = checked("n_iter", n_iter, ROUNDS, None)
    choices = list(readout) if isinstance(readout, list) else [readout]
    readouts = {" + ".join(part.name for part in parts): parts for parts in map(resolve, choices)}
    data = Dataset.from_graphs(graphs, y)
    batch, targets = labels_only(data.graphs, ignore_features=ignore_features), data.targets
    if data.tasks:
        raise TwinWLError(
            f"y: got {len(data.tasks)} columns, expected one target per graph; give one of them"
        )
    if not len(batch):
        raise TwinWLError("graphs: got no graphs, expected at least two")
    if not checked("edge_labels", edge_labels, FLAG, None):
        if edge_labels is None and batch.has_different_edge_labels:
            warn_caller(
                f"models ignore edge labels unless {setting(edge_labels=True)} is given, and so does their "
                f"ceiling; {setting(edge_labels=False)} silences this"
            )
        batch = batch.without_edge_labels()
    kind = task_of(targets, task).name
    rows = []
    with ProgressBar("grouping graphs", len(readouts) + 2) as bar:
        for seen_by, groups in _groupings(batch, readouts, n_iter):
            rows.append(_row(seen_by, groups, targets, kind))
            bar.advance()
    nothing = _row("nothing", np.zeros(len(batch), np.int64), targets, kind)
    metric = "accuracy" if kind == "classification" else "rmse"
    return Ceiling(kind, metric, len(batch), n_iter, nothing.best, rows)


def _groupings(batch: GraphBatch, readouts: Fields, n_iter: int | None) -> Iterator[tuple[str, Int64]]:
    """Yield, for each way to look at them, the number of the group that each graph is in."""
    yield WL, wl_groups(batch, n_iter)
    for name, parts in readouts.items():
        keys = graph_keys(batch, n_iter, parts)
        yield name, np.unique(keys, axis=0, return_inverse=True)[1].ravel().astype(np.int64)
    yield ISOMORPHISM, deduplicate(batch.changed(atoms=None)).labels  # whatever the labels are


def _row(seen_by: str, groups: Int64, targets: Values, task: str) -> CeilingRow:
    """Return what can be reached where graphs of one group look alike; groups are numbered from 0."""
    size = np.bincount(groups)
    codes = np.unique(targets, return_inverse=True)[1].ravel()
    (group_of_kind, _), counts = np.unique(np.stack([groups, codes]), axis=1, return_counts=True)
    mixed = np.bincount(group_of_kind) > 1
    if task == "classification":  # of each group its most frequent class
        most = np.zeros_like(size)
        np.maximum.at(most, group_of_kind, counts)
        best = most.sum() / len(groups)
    else:  # each group predicts its mean
        values = targets.astype(np.float64)
        with np.errstate(all="ignore"):
            mean = np.bincount(groups, values) / size
            best = np.sqrt(np.mean((values - mean[groups]) ** 2))
        if not np.isfinite(best):
            raise TwinWLError(
                f"y: got {shown(values.tolist())}, expected finite numbers whose squares are finite"
            )
    return CeilingRow(seen_by, float(best), len(size), int(size[mixed].sum()), int((size == 1).sum()))
