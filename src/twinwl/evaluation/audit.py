"""What data sets share: the same graphs, nearly the same graphs, and copies whose targets disagree."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twinwl.arguments import FLAG, checked, number, one_of
from twinwl.datasets.dataset import Dataset
from twinwl.datasets.opening import ALL
from twinwl.datasets.source import Reading, read_columns, read_source, read_with_targets, targets_in
from twinwl.errors import TwinWLError
from twinwl.evaluation.audit_result import Audit, AuditedSet, Contradiction, Match, Member, Overlap
from twinwl.evaluation.leaks import copies_of
from twinwl.graphs.atom_labels import LADDER
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.progress import ProgressBar
from twinwl.stwin.near_graphs import NearGraphs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from twinwl.arrays import Int64


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
    reading = Reading(target=target, smiles_column=smiles_column)  # type: ignore[arg-type]
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


def read_audited(sources: Sequence[object], reading: Reading) -> list[AuditedSet]:
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


def _read(source: object, reading: Reading) -> AuditedSet:
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
