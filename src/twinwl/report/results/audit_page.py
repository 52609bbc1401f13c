"""The page of an audit: what data sets share, which copies contradict each other, and pairs drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.evaluation.metrics import METRICS
from twinwl.report.drawing.graph_drawing import RADIUS, draw
from twinwl.report.drawing.palette import paint
from twinwl.report.drawing.svg import Canvas
from twinwl.report.results.blocks import Block, Drawings, Page, Paragraph, PlainTable, Section
from twinwl.report.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twinwl.datasets.dataset import Dataset
    from twinwl.evaluation.audit_result import Audit, Match
    from twinwl.evaluation.audit_scores import PartScores

_ROWS_SHOWN = 40
_PAIRS_DRAWN = 12
_LARGEST_DRAWN = 80  # nodes
_LONGEST_NAME = 34
_HEADING = 30


def audit_page(audit: Audit, sets: Sequence[Dataset], scores: Sequence[PartScores]) -> Page:
    """Return the page.

    Parameters
    ----------
    audit
        What was found.
    sets
        The data sets, in their order, to draw graphs of.
    scores
        On parts of the last set; empty where there are no predictions.
    """
    n_near = sum(match.same is None for match in audit.matches)
    n_same = len(audit.matches) - n_near
    later = sum(list(audit.sizes.values())[1:])
    sections = [Section("overlap", "Graphs in common", [_explained(audit), _overlap_table(audit)])]
    if scores:
        sections.append(Section("scores", "Scores with and without them", [_score_table(scores)]))
    pictures = _pictures(audit, sets)
    if pictures.canvases:
        sections.append(Section("pairs", "Nearly the same", [pictures]))
    if audit.contradictions:
        sections.append(Section("contradictions", "Copies with different targets", _contradictions(audit)))
    if audit.matches:
        sections.append(Section("matches", "Which graphs", _matches(audit.matches)))
    return Page(
        title=f"Audit of {' and '.join(audit.sizes)}",
        lede=[", ".join(f"{name}: {counted(size, 'graph')}" for name, size in audit.sizes.items()) + "."],
        highlights=[
            (f"{n_same:,} of {later:,}", "later graphs occur in an earlier set too"),
            (f"{n_near:,}", f"more are nearly the same as one there (similarity from {audit.near:g} on)"),
            (f"{len(audit.contradictions):,}", f"groups of copies ({audit.level}) have different targets"),
        ][: 3 if audit.targets_compared else 2],
        sections=sections,
        made_by=["twinwl audit"],
    )


def _explained(audit: Audit) -> Paragraph:
    levels = f"Levels, from coarse to fine: {', '.join(audit.levels)}. " if len(audit.levels) > 1 else ""
    return Paragraph(
        f"{levels}Graphs are the same if they are isomorphic, labels included. The "
        "similarity of two graphs is the share of node environments that they have in common, within two "
        "steps (twin kernel, minmax)."
    )


def _overlap_table(audit: Audit) -> PlainTable:
    return PlainTable(
        ["Graphs of", "also in", *audit.levels, "only nearly"],
        [
            [each.set, each.earlier, *(f"{each.same[level]:,}" for level in audit.levels), f"{each.near:,}"]
            for each in audit.overlaps
        ],
        frozenset([1]),
    )


def _score_table(scores: Sequence[PartScores]) -> PlainTable:
    names = list(dict.fromkeys(name for part in scores for name in part.scores))
    return PlainTable(
        ["Test graphs", "number", *(METRICS[name].title for name in names)],
        [
            [
                part.part,
                f"{part.n_graphs:,}",
                *(METRICS[name].text(part.scores.get(name, np.nan)) for name in names),
            ]
            for part in scores
        ],
    )


def _matches(matches: Sequence[Match]) -> list[Block]:
    listed = PlainTable(
        ["Graph", "target", "same", "similarity", "earlier graph", "its target"],
        [
            [
                _named(match.set, match.row, match.name),
                _text(match.target),
                match.same or "nearly",
                f"{match.similarity:.3f}",
                _named(match.other_set, match.other_row, match.other_name),
                _text(match.other_target),
            ]
            for match in matches[:_ROWS_SHOWN]
        ],
        frozenset([2, 4]),
    )
    if len(matches) <= _ROWS_SHOWN:
        return [listed]
    return [
        Paragraph(f"The first {_ROWS_SHOWN} of {len(matches):,}; twinwl audit -o FILE writes all."),
        listed,
    ]


def _contradictions(audit: Audit) -> list[Block]:
    shown = audit.contradictions[:_ROWS_SHOWN]
    rows = [
        [f"{number}", _named(member.set, member.row, member.name), _text(member.target)]
        for number, found in enumerate(shown, start=1)
        for member in found.members
    ]
    left = len(audit.contradictions) - len(shown)
    more = f" The first {len(shown)} of {len(audit.contradictions):,} groups are listed." if left else ""
    return [
        Paragraph(f"A model cannot be right about all of them, and no split should part them.{more}"),
        PlainTable(["Group", "graph", "target"], rows, frozenset([1])),
    ]


def _pictures(audit: Audit, sets: Sequence[Dataset]) -> Drawings:
    by_name = dict(zip(audit.sizes, sets, strict=True))
    near = sorted((match for match in audit.matches if match.same is None), key=lambda one: -one.similarity)
    canvases: list[Canvas] = []
    slot_of_label: dict[object, int] = {}  # a label has one colour in all pictures
    for match in near:
        sides = [(match.set, match.row, match.name), (match.other_set, match.other_row, match.other_name)]
        drawn = [
            _canvas(
                by_name[name], row, f"{_named(name, row, title)}  ({match.similarity:.3f})", slot_of_label
            )
            for name, row, title in sides
        ]
        if all(drawn) and len(canvases) < 2 * _PAIRS_DRAWN:
            canvases += [canvas for canvas in drawn if canvas is not None]
    caption = "Pairs side by side: a graph of a later set, and the graph of an earlier set most like it."
    return Drawings(canvases, caption, size="medium")


def _canvas(data: Dataset, row: int, title: str, slot_of_label: dict[object, int]) -> Canvas | None:
    place = int(np.flatnonzero(data.rows == row)[0])
    graph = data.graphs[place]
    if not 0 < graph.n_nodes <= _LARGEST_DRAWN:
        return None
    drawing = draw(graph, None if data.smiles is None else data.smiles[place])
    canvas = Canvas(max(drawing.width, 420), drawing.height + _HEADING, title)
    canvas.text(0, 16, title, "caption")
    for stroke in drawing.strokes:
        canvas.line(stroke.x1, stroke.y1 + _HEADING, stroke.x2, stroke.y2 + _HEADING, "bond")
    for (x, y), code in zip(drawing.points.tolist(), graph.node_labels.tolist(), strict=True):
        label = graph.node_vocabulary[code]
        fill = paint(slot_of_label.setdefault(label, len(slot_of_label))).fill
        text = str(label) if graph.has_node_labels else ""
        canvas.circle(x, y + _HEADING, RADIUS * 0.6, "disc", fill=fill, tip=text)
        if text != "C":
            canvas.text(x, y + _HEADING + 4, text[:3], "in-disc small")
    return canvas


def _named(name: str, row: int, title: str) -> str:
    return f"{name}, row {row}: {_shortened(title)}"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"


def _text(target: object) -> str:
    return "" if target is None else str(target)
