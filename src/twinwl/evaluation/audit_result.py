"""What an audit of data sets found: copies, near copies and contradictions, as records and frames."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twinwl.arguments import checked, one_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from twinwl.arrays import Int64
    from twinwl.datasets.dataset import Dataset


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
    """

    sizes: dict[str, int]
    levels: tuple[str, ...]
    level: str
    near: float
    overlaps: list[Overlap]
    matches: list[Match]
    contradictions: list[Contradiction]
    targets_compared: bool = True

    def __repr__(self) -> str:
        return (
            f"Audit({', '.join(f'{name}: {size:,}' for name, size in self.sizes.items())}; "
            f"{len(self.matches):,} graphs in common or nearly so, "
            f"{len(self.contradictions):,} contradictions)"
        )

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
