"""The page of an audit: what data sets share, which copies contradict each other, and pairs drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from twinwl.models.metrics import METRICS
from twinwl.report.drawing import svg_of
from twinwl.report.page import Block, Drawings, Page, PlainTable, Section, counted

if TYPE_CHECKING:
    from twinwl.datasets.dataset import Dataset
    from twinwl.evaluation.audit import Audit, Match, PartScores

_ROWS_SHOWN = 40
_A_PAIR = 2
_PAIRS_DRAWN = 12
_LARGEST_DRAWN = 80  # nodes
_LONGEST_NAME = 34
_SIZE = (480.0, 250.0)


def audit_page(audit: Audit, sets: Sequence[Dataset]) -> Page:
    """Return the page.

    Parameters
    ----------
    audit
        What was found.
    sets
        The data sets, in their order, to draw graphs of.
    """
    noun, scores, pictures = _noun(audit), audit.scores, _pictures(audit, sets)
    sections = [
        Section("overlap", f"{noun}s in common".capitalize(), _overlap(audit) if audit.overlaps else []),
        Section("scores", "Scores with and without them", [_score_table(scores, noun)] if scores else []),
        Section("pairs", "Nearly the same", _near(audit, pictures) if pictures else []),
        Section(
            "contradictions",
            "Copies with different targets",
            _contradictions(audit) if audit.contradictions else [],
        ),
        Section("matches", f"Which {noun}s", _matches(audit.matches, noun) if audit.matches else []),
    ]
    return Page(
        title=f"Audit of {' and '.join(audit.sizes)}",
        lede=[", ".join(f"{name}: {counted(size, noun)}" for name, size in audit.sizes.items()) + "."],
        highlights=_highlights(audit),
        sections=[section for section in sections if section.blocks],
        made_by=["twinwl audit"],
        kind="audit",
    )


def _noun(audit: Audit) -> str:
    return "molecule" if len(audit.levels) > 1 else "graph"


def _highlights(audit: Audit) -> list[tuple[str, str]]:
    """Count copies at the chosen level first; what only a coarser level, or nothing, calls the same after."""
    place = audit.levels.index(audit.level)
    n_same = sum(match.same in audit.levels[place:] for match in audit.matches)
    n_near = sum(match.same is None for match in audit.matches)
    n_coarser = len(audit.matches) - n_same - n_near
    names, sizes = list(audit.sizes), list(audit.sizes.values())
    later, earlier = (names[1], names[0]) if len(names) == _A_PAIR else ("later sets", "an earlier one")
    molecules = len(audit.levels) > 1
    found = []
    if audit.overlaps:
        at = f" (same {audit.level})" if molecules else ""
        about = f"{_noun(audit)}s of {later} are also in {earlier}{at}"
        found.append((f"{n_same:,} of {sum(sizes[1:]):,}", about))
        if n_coarser:
            found.append((f"{n_coarser:,}", f"more have only the same {' or '.join(audit.levels[:place])}"))
        found.append((f"{n_near:,}", f"more are nearly the same (similarity {audit.near:g} or more)"))
    if audit.targets_compared:
        at = f" ({audit.level})" if molecules else ""
        found.append((f"{len(audit.contradictions):,}", f"groups of copies{at} have different targets"))
    return found


def _overlap(audit: Audit) -> list[Block]:
    noun = _noun(audit)
    levels = f" Levels, from coarse to fine: {', '.join(audit.levels)}." if len(audit.levels) > 1 else ""
    text = (
        f"{noun.capitalize()}s are the same if their graphs are isomorphic, labels included.{levels} "
        "“Only nearly” counts those without a copy at any level, but with a similarity of "
        f"{audit.near:g} or more: the share of {'atom' if noun == 'molecule' else 'node'} environments, "
        f"within two steps, that two {noun}s have in common (twin kernel, minmax)."
    )
    return [
        text,
        PlainTable(
            [f"{noun.capitalize()}s of", "also in", *audit.levels, "only nearly"],
            [
                [one.set, one.earlier, *(f"{one.same[level]:,}" for level in audit.levels), f"{one.near:,}"]
                for one in audit.overlaps
            ],
            frozenset([1]),
        ),
    ]


def _score_table(scores: Sequence[PartScores], noun: str) -> PlainTable:
    names = list(dict.fromkeys(name for part in scores for name in part.scores))
    rows = []
    for part in scores:
        texts = [METRICS[name].text(part.scores.get(name, np.nan)) for name in names]
        rows.append([part.part, f"{part.n_graphs:,}", *texts])
    titles = [METRICS[name].titled(scores[0].positive) for name in names]
    return PlainTable([f"Test {noun}s", "number", *titles], rows)


def _matches(matches: Sequence[Match], noun: str) -> list[Block]:
    rows = [
        [
            _named(match.set, match.row, match.name),
            _text(match.target),
            match.same or "nearly",
            f"{match.similarity:.3f}",
            _named(match.other_set, match.other_row, match.other_name),
            _text(match.other_target),
        ]
        for match in matches[:_ROWS_SHOWN]
    ]
    header = [noun.capitalize(), "target", "same", "similarity", f"earlier {noun}", "its target"]
    table = PlainTable(header, rows, frozenset([2, 4]))
    if len(matches) <= _ROWS_SHOWN:
        return [table]
    return [f"The first {_ROWS_SHOWN} of {len(matches):,}; twinwl audit -o FILE writes all.", table]


def _contradictions(audit: Audit) -> list[Block]:
    shown, n_groups = audit.contradictions[:_ROWS_SHOWN], len(audit.contradictions)
    rows = [
        [f"{number}", _named(member.set, member.row, member.name), _text(member.target)]
        for number, found in enumerate(shown, start=1)
        for member in found.members
    ]
    more = f" The first {len(shown)} of {n_groups:,} groups are listed." if len(shown) < n_groups else ""
    return [
        f"A model cannot be right about all of them, and no split should part them.{more}",
        PlainTable(["Group", _noun(audit), "target"], rows, frozenset([1])),
    ]


def _near(audit: Audit, pictures: list[str]) -> list[Block]:
    noun, n_near = _noun(audit), sum(match.same is None for match in audit.matches)
    n_drawn = len(pictures) // 2
    which = f"The {n_drawn} most similar of {n_near:,} pairs" if n_drawn < n_near else "All pairs"
    text = (
        f"{which}: first a {noun} of a later set, then the {noun} of an earlier set that is most like "
        "it, with their similarity."
    )
    if any(match.same is None and match.similarity == 1 for match in audit.matches):
        text += f" If it is 1, the {noun}s have the same environments within two steps, and differ beyond."
    return [text, Drawings(pictures, "", size="medium")]


def _pictures(audit: Audit, sets: Sequence[Dataset]) -> list[str]:
    """Draw the most similar pairs; a label has one colour in all pictures."""
    by_name = dict(zip(audit.sizes, sets, strict=True))
    near = sorted((match for match in audit.matches if match.same is None), key=lambda one: -one.similarity)
    pictures: list[str] = []
    slots: dict[object, int] = {}
    for match in near:
        sides = [(match.set, match.row, match.name), (match.other_set, match.other_row, match.other_name)]
        pair = [(by_name[name], int(np.flatnonzero(by_name[name].rows == row)[0])) for name, row, _ in sides]
        if all(0 < data.graphs.nodes_per_graph[place] <= _LARGEST_DRAWN for data, place in pair):
            for (data, place), side in zip(pair, sides, strict=True):
                smiles = None if data.smiles is None else data.smiles[place]
                title = f"{_named(*side)}  ({match.similarity:.3f})"
                pictures.append(svg_of(data.graphs[place], smiles, title=title, size=_SIZE, slots=slots))
        if len(pictures) == 2 * _PAIRS_DRAWN:
            break
    return pictures


def _named(name: str, row: int, title: str) -> str:
    short = title if len(title) <= _LONGEST_NAME else f"{title[: _LONGEST_NAME - 1]}…"
    return f"{name}, row {row}: {short}"


def _text(target: object) -> str:
    return "" if target is None else str(target)
