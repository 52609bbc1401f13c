"""What data sets share: the same graphs, nearly the same graphs, and copies whose targets disagree.

What an audit of data sets found: copies, near copies and contradictions, as records and frames.

Scores of predictions on a test set, with and without the graphs that the training data has too.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from twinwl.arguments import FLAG, checked, number, one_of
from twinwl.arrays import Int64, Values
from twinwl.datasets.dataset import Dataset
from twinwl.datasets.formats import ReadOptions
from twinwl.datasets.source import read_columns, read_source, read_with_targets, targets_in
from twinwl.datasets.targets import ALL, as_targets, known_cells
from twinwl.errors import TwinWLError
from twinwl.evaluation.metrics import figures, task_of
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.graphs.molecules import LADDER
from twinwl.isomorphism.deduplication import deduplicate
from twinwl.models.metrics import METRICS, Answers, measure, names_for, positive_name
from twinwl.models.similarity import NearGraphs
from twinwl.terminal import ProgressBar, one_line


def copies_of(graphs: GraphBatch) -> Int64:
    """Return a number for each graph, equal for isomorphic graphs, shape (n_graphs,).

    Graphs with different node features are not copies.

    >>> from twinwl import GraphBatch
    >>> copies_of(GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1)], [(0, 2), (2, 1)]]))
    array([0, 1, 0])
    """
    return deduplicate(graphs.discretise()).labels


class Member(NamedTuple):
    """A graph of a set: its row, its name, its target (None if it has none)."""

    set: str
    row: int
    name: str
    target: object


class AuditedSet(NamedTuple):
    """A data set, the target of each graph (None where it is missing), and the column they come from.

    With several columns of targets, ``tasks`` has them by name instead.
    """

    data: Dataset
    targets: list[Any] | None
    target: str | None
    tasks: Mapping[str, list[Any]] = MappingProxyType({})


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
class Audit:
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
    """

    sizes: dict[str, int]
    levels: tuple[str, ...]
    level: str
    near: float
    overlaps: list[Overlap]
    matches: list[Match]
    contradictions: list[Contradiction]
    targets_compared: bool = True
    scores: Sequence[PartScores] = ()

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
        if self.targets_compared:
            groups = f"{n_groups:,} group{'s' * (n_groups != 1)}"
            lines.append(f"{groups} of copies ({self.level}) with different targets.")
        else:
            lines.append("No targets were compared; name their column with --target.")
        for part in self.scores:
            scored = figures(part.scores, list(part.scores), part.positive)
            lines.append(f"Scores, {part.part} ({part.n_graphs:,}): {scored}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain dictionaries and lists."""
        return {
            "sizes": self.sizes,
            "levels": self.levels,
            "level": self.level,
            "near": self.near,
            "overlaps": [overlap._asdict() for overlap in self.overlaps],
            "matches": self.to_records(),
            "contradictions": [
                {"level": one.level, "members": [member._asdict() for member in one.members]}
                for one in self.contradictions
            ],
            "scores": [part._asdict() for part in self.scores],
        }

    def to_records(self) -> list[dict[str, object]]:
        """Return one dictionary per match."""
        return [match._asdict() for match in self.matches]

    def to_frame(self) -> object:
        """Return the matches as a pandas DataFrame."""
        import pandas as pd  # noqa: PLC0415

        return pd.DataFrame(self.to_records(), columns=list(Match._fields))

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
        counted = None if level is None else set(self.levels[self.levels.index(level) :])
        found = [
            match.row
            for match in self.matches
            if match.set == name and (counted is None or match.same in counted)
        ]
        return np.unique(np.array(found, np.int64))


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
    if tested.targets is None:
        raise TwinWLError(f"{name}: predictions cannot be scored without targets; name their column")
    column = _prediction_column(predictions, name)
    predicted = _by_row(predictions, column)
    known = [
        (row, target, predicted[row])
        for row, target in zip(tested.data.rows.tolist(), tested.targets, strict=True)
        if target is not None and row in predicted
    ]
    if not known:
        raise TwinWLError(f"{name}: no graph has both a target and a prediction; are the rows the same?")
    rows, targets, places = (np.array(column) for column in zip(*known, strict=True))
    answers, names = _answers(targets, places, predictions, column)
    positive = positive_name(answers.classes)
    same = np.isin(rows, audit.rows_in_common(name, audit.level))
    near = np.isin(rows, audit.rows_in_common(name))
    parts = {
        "all": np.ones(len(rows), np.bool_),
        f"without those in an earlier set ({audit.level})": ~same,
        "also without those nearly the same": ~near,
    }
    return [
        PartScores(part, int(kept.sum()), measure(answers.part(kept), names) if kept.any() else {}, positive)
        for part, kept in parts.items()
    ]


def _prediction_column(predictions: Mapping[str, Sequence[Any]], name: str) -> str:
    column = next((each for each in _PREDICTION if each in predictions), None)
    if column is None:
        raise TwinWLError(
            f"the predictions for {name} have no column 'prediction'; give what twinwl predict wrote"
        )
    return column


def _by_row(predictions: Mapping[str, Sequence[Any]], column: str) -> dict[int, int]:
    """Return the place of each row's prediction in the table."""
    cells = known_cells(predictions[column])
    rows = predictions.get("index", range(len(cells)))
    return {int(row): place for place, row in enumerate(rows) if cells[place] is not None}


def _answers(
    targets: Values, places: Values, predictions: Mapping[str, Sequence[Any]], column: str
) -> tuple[Answers, list[str]]:
    predicted = as_targets([predictions[column][place] for place in places], column, "the predictions")
    task = task_of(targets).name
    if task == "regression":
        return Answers(targets, predicted.astype(np.float64)), names_for(task)
    truth, said = targets.astype(str), predicted.astype(str)
    classes = np.unique([*truth, *said])
    columns = [predictions.get(f"p_{each}") for each in classes.tolist()]
    shares = [cells for cells in columns if cells is not None]
    if len(shares) < len(classes):
        return Answers(truth, said), [
            each for each in names_for(task) if not METRICS[each].needs_probabilities
        ]
    probability = np.array([[float(cells[place]) for cells in shares] for place in places])
    return Answers(truth, said, probability, classes), names_for(task)


GRAPH = "graph"  # the only level where graphs are not molecules
_ELEMENT = re.compile(r"[A-Z][a-z]?|\*")


def audit(
    train: object,
    *others: object,
    near: float = 0.9,
    level: str | None = None,
    target: str | Sequence[str] | None = None,
    smiles_column: str | None = None,
    edge_labels: bool = True,
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
    edge_labels
        Whether graphs that differ only in edge labels are different; of molecules, the types of bonds.

    Returns
    -------
    Audit

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
    reading = ReadOptions(target=target, smiles_column=smiles_column)  # type: ignore[arg-type]
    edge_labels = checked("edge_labels", edge_labels, FLAG)
    return audit_sets(read_audited((train, *others), reading), near, level, edge_labels=edge_labels)


def audit_sets(
    given: Sequence[AuditedSet], near: float, level: str | None, *, edge_labels: bool = True
) -> Audit:
    """Do the same for sets that have been read, each with one target per graph (None if it is missing)."""
    sets = _named_apart(given)
    graphs = [_plain(one.data, edge_labels=edge_labels) for one in sets]
    levels = LADDER if all(one.data.smiles is not None for one in sets) else (GRAPH,)
    usual = "constitution" if len(levels) > 1 else GRAPH
    level = checked("level", level, one_of(*levels), None) or usual
    cuts = np.cumsum([len(one.data) for one in sets])[:-1]
    groups = _groups(sets, graphs, levels, edge_labels=edge_labels)
    copies = {name: np.split(labels, cuts) for name, labels in groups}
    overlaps: list[Overlap] = []
    matches: list[Match] = []
    for first, second in itertools.combinations(range(len(sets)), 2):
        partner = {name: _partners(parts[first], parts[second]) for name, parts in copies.items()}
        pair = _Pair(sets[first], sets[second], partner)
        with ProgressBar("searching for near copies"):
            found = [*pair.same(), *pair.near(NearGraphs(graphs[first]), graphs[second], near)]
        counts = {name: int(np.count_nonzero(partner[name] >= 0)) for name in levels}
        n_near = sum(match.same is None for match in found)
        overlaps.append(Overlap(sets[second].data.name, sets[first].data.name, counts, n_near))
        matches += found
    return Audit(
        {one.data.name: len(one.data) for one in sets},
        levels,
        level,
        near,
        overlaps,
        _best(matches, levels),
        _contradictions(sets, copies[level], level),
        any(one.targets is not None or one.tasks for one in sets),
    )


class _Pair(NamedTuple):
    """Two sets and, by level from coarse to fine, each later graph's first copy among the earlier, or -1."""

    earlier: AuditedSet
    later: AuditedSet
    partner: dict[str, Int64]

    def same(self) -> list[Match]:
        """Return the graphs that both sets have, each with the finest level at which they are the same."""
        finest = {}
        for level, partner in self.partner.items():
            for graph in np.flatnonzero(partner >= 0).tolist():
                finest[graph] = level, int(partner[graph])
        return [self._match(graph, other, level, 1.0) for graph, (level, other) in sorted(finest.items())]

    def near(self, searched: NearGraphs, graphs: GraphBatch, threshold: float) -> list[Match]:
        """Return the graphs that are the same at no level but nearly so, each with the most similar one."""
        pairs = searched.pairs(graphs, threshold)
        apart = np.ones(len(self.later.data), np.bool_)
        for partner in self.partner.values():
            apart &= partner < 0
        best: dict[int, tuple[float, int]] = {}
        for graph, other, similarity in zip(*(part.tolist() for part in pairs), strict=True):
            if apart[graph] and similarity > best.get(graph, (0.0, 0))[0]:
                best[graph] = similarity, other
        return [self._match(graph, other, None, value) for graph, (value, other) in best.items()]

    def _match(self, graph: int, other: int, level: str | None, similarity: float) -> Match:
        one, two = _member(self.later, graph), _member(self.earlier, other)
        return Match(*one, level, similarity, *two)


def _member(one: AuditedSet, graph: int) -> Member:
    target = None if one.targets is None else one.targets[graph]
    return Member(one.data.name, int(one.data.rows[graph]), one.data.names[graph], target)


def read_audited(sources: Sequence[object], reading: ReadOptions) -> list[AuditedSet]:
    """Read sets, with their targets if they have the column.

    Raises
    ------
    TwinWLError
        If no set has the column, or there is nothing to compare: one set, and no targets.
    """
    sets = [_read(source, reading) for source in sources]
    asked = (reading.target,) if isinstance(reading.target, str) else reading.target or ()
    if len(asked) == 1 and asked != (ALL,):
        asked = tuple(name.strip() for name in asked[0].split(","))
    found = {name for one in sets for name in (*one.tasks, *(asked if one.targets is not None else ()))}
    for name in asked:
        if name != ALL and name not in found:
            raise TwinWLError(f"target: got {name!r}; no data set has a column of this name")
    if len(sets) == 1 and sets[0].targets is None and not sets[0].tasks:
        raise TwinWLError(
            f"{sets[0].data.name}: there is nothing to compare it with; give a second data set or, to find "
            'copies with different targets, name their column with target="…"'
        )
    return sets


def _read(source: object, reading: ReadOptions) -> AuditedSet:
    if isinstance(source, Dataset):
        if source.tasks:
            table = np.where(np.isnan(source.targets), None, source.targets)  # type: ignore[call-overload]
            return AuditedSet(source, None, None, dict(zip(source.tasks, table.T.tolist(), strict=True)))
        return AuditedSet(*read_with_targets(source, reading), _name(reading.target))
    target, plain = reading.target, replace(reading, target=None)
    columns = {} if target is None else read_columns(source, plain)
    if target is None or (isinstance(target, str) and (target in columns or not columns)):
        return AuditedSet(*read_with_targets(source, reading), _name(target))
    if target == ALL:
        names = read_source(source, reading, "given").tasks
    else:
        asked = target.split(",") if isinstance(target, str) else target
        names = tuple(name.strip() for name in asked if name.strip() in columns)
    found, _ = read_with_targets(source, plain)
    return AuditedSet(found, None, None, {name: targets_in(columns, name, found) for name in names})


def _name(target: str | tuple[str, ...] | None) -> str | None:
    return target if isinstance(target, str) else None


def _named_apart(sets: Sequence[AuditedSet]) -> list[AuditedSet]:
    """Make the names of sets unique, by numbers."""
    named: dict[str, AuditedSet] = {}
    for one in sets:
        numbered = (f"{one.data.name} ({place})" for place in itertools.count(2))
        name = next(name for name in itertools.chain([one.data.name], numbered) if name not in named)
        named[name] = one._replace(data=replace(one.data, name=name))
    return list(named.values())


def _plain(data: Dataset, *, edge_labels: bool) -> GraphBatch:
    """Return molecules with elements as labels, whatever level they were read at, and other graphs as is."""
    graphs = data.graphs
    if data.smiles is not None and not all(map(_ELEMENT.fullmatch, map(str, graphs.node_vocabulary))):
        graphs = GraphBatch.from_smiles(list(data.smiles))
    return graphs if edge_labels else graphs.without_edge_labels()


def _groups(
    sets: Sequence[AuditedSet], graphs: list[GraphBatch], levels: tuple[str, ...], *, edge_labels: bool
) -> Iterator[tuple[str, Int64]]:
    """Yield, for each level, the group of each graph of all sets.

    Molecules that differ at one level differ at all finer ones, so those that are alone are not read again.
    """
    with ProgressBar("comparing", len(levels)) as bar:
        groups = copies_of(_joined(graphs, sets))
        bar.advance()
        yield levels[0], groups
        for level in LADDER[1 : len(levels)]:
            smiles = [text for one in sets for text in one.data.smiles or ()]
            shared = np.flatnonzero((np.bincount(groups) > 1)[groups])
            if len(shared):
                again = GraphBatch.from_smiles([smiles[graph] for graph in shared], atoms=level)
                finer = copies_of(again if edge_labels else again.without_edge_labels())
                parts = np.unique(np.stack([groups[shared], finer]), axis=1, return_inverse=True)[1]
                groups = groups.copy()
                groups[shared] = groups.max() + 1 + parts.ravel()
                groups = np.unique(groups, return_inverse=True)[1].astype(np.int64)
            bar.advance()
            yield level, groups


def _joined(graphs: list[GraphBatch], sets: Sequence[AuditedSet]) -> GraphBatch:
    try:
        return concatenate(graphs)
    except TwinWLError as error:
        listing = ", ".join(f"{place}: {one.data.name}" for place, one in enumerate(sets))
        raise TwinWLError(f"the sets ({listing}) cannot be compared: {error}") from error


def _partners(earlier: Int64, later: Int64) -> Int64:
    """Return the first graph of the earlier set that has the group of each later graph, -1 for none."""
    groups, first = np.unique(earlier, return_index=True)
    place = np.minimum(np.searchsorted(groups, later), max(0, len(groups) - 1))
    if not len(groups):
        return np.full(len(later), -1)
    return np.where(groups[place] == later, first[place], -1)


def _best(matches: Sequence[Match], levels: tuple[str, ...]) -> list[Match]:
    """Keep one match for each graph: the finest, then the most similar, then the earliest set."""
    best: dict[tuple[str, int], Match] = {}
    for match in matches:
        key = match.set, match.row
        if key not in best or _strength(match, levels) > _strength(best[key], levels):
            best[key] = match
    return list(best.values())


def _strength(match: Match, levels: tuple[str, ...]) -> tuple[int, float]:
    return -1 if match.same is None else levels.index(match.same), match.similarity


def _contradictions(sets: Sequence[AuditedSet], copies: Sequence[Int64], level: str) -> list[Contradiction]:
    """Find copies with different targets: within a set, and between sets whose targets have one name."""
    comparable: dict[str, list[tuple[int, list[Any]]]] = {}
    for place, one in enumerate(sets):
        if one.targets is not None:
            comparable.setdefault(one.target or f"set {place}", []).append((place, one.targets))
        for name, values in one.tasks.items():
            named = [None if value is None else f"{name} = {value}" for value in values]
            comparable.setdefault(name, []).append((place, named))
    found = []
    for columns in comparable.values():
        members: dict[int, list[Member]] = {}
        for place, values in columns:
            for graph, group in enumerate(copies[place].tolist()):
                member = _member(sets[place], graph)._replace(target=values[graph])
                members.setdefault(group, []).append(member)
        found += [
            Contradiction(level, tuple(copies_of_one))
            for copies_of_one in members.values()
            if len({member.target for member in copies_of_one} - {None}) > 1
        ]
    return found
