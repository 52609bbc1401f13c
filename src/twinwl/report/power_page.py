"""The page of `power`: pairs told apart against cost, category by category, beside published figures."""

from __future__ import annotations

from math import log10

from twinwl.datasets.suites import BREC_PARTS
from twinwl.evaluation.power import Power, published_for
from twinwl.report.page import Block, Bullets, Drawings, Page, Paragraph, PlainTable, Section, counted
from twinwl.report.svg import (
    Canvas,
    Point,
    frame_of,
    labelled_points,
    linear_ticks,
    log_axis,
    seconds_text,
    x_axis,
    y_axis,
)

_WIDTH, _MARGIN = 620.0, 130.0
_ROWS_SHOWN = 40
_PAIRS_SHOWN = 8
_SHORTEST = 1e-4  # seconds


def power_page(power: Power) -> Page:
    """Return the page.

    Parameters
    ----------
    power
        What was found.
    """
    best = max(power.names, key=lambda name: power.score(name).separated)
    every = [power.score(name) for name in power.names]
    sections = [
        Section("cost", "Power against cost", [_chart(power)]),
        Section("categories", "Category by category", [_categories(power), _reading()]),
    ]
    if published_for(power):
        sections.append(Section("published", "Beside published figures", _published(power)))
    troubles = _troubles(power)
    if troubles:
        sections.append(Section("trouble", "Unclear, unsound or failed", troubles))
    remaining = _remaining(power)
    if remaining:
        sections.append(Section("remaining", "Pairs that nothing here tells apart", remaining))
    lede = (
        f"{counted(power.n_pairs, 'pair')} of graphs that are not isomorphic. Each graph was also relabelled "
        f"{counted(power.copies, 'time')}: a value that changes then is unsound."
    )
    return Page(
        title=f"Expressive power on {power.suite}",
        lede=[lede],
        highlights=[
            (f"{power.score(best).separated:,} of {power.n_pairs:,}", f"told apart by {best}"),
            (f"{sum(score.unsound for score in every):,}", "verdicts that are unsound"),
            (seconds_text(sum(score.seconds for score in every)), "of processor time, without the copies"),
        ],
        sections=sections,
        made_by=["twinwl power"],
    )


def _chart(power: Power) -> Drawings:
    """Draw pairs told apart against processor time; a dashed line is the highest published figure."""
    bottom = 260.0 + 8 * len(power.names)
    title = f"{power.suite}: pairs told apart against processor time"
    canvas = Canvas(_WIDTH, bottom + 48, title)
    scores = {name: power.score(name) for name in power.names}
    seconds = {name: max(score.seconds, _SHORTEST) for name, score in scores.items()}
    (low, high), powers = log_axis(list(seconds.values()))
    ticks = [tick for tick in linear_ticks(0, power.n_pairs) if tick <= power.n_pairs]
    frame = frame_of(52, 40, _WIDTH - _MARGIN, bottom, (low, high), (0, power.n_pairs))
    canvas.text(0, 16, f"{power.suite}: pairs told apart, of {power.n_pairs:,}", "title")
    y_axis(canvas, frame, [(tick, f"{tick:g}") for tick in ticks])
    x_axis(canvas, frame, [(log10(value), seconds_text(value)) for value in powers])
    canvas.text(
        (frame.left + frame.right) / 2, bottom + 40, "processor time of all pairs", "axis-title middle"
    )
    known = published_for(power)
    if known:
        highest = max(known, key=lambda row: row.total)
        y = frame.y(highest.total)
        canvas.polyline([(frame.left, y), (frame.right, y)], "guide")
        canvas.text(frame.right + 22, y + 4, f"{highest.method}: {highest.total}", "label other")
    points = [
        Point(
            log10(seconds[name]),
            score.separated,
            name,
            "stwin",
            f"{name}: {score.separated:,} of {power.n_pairs:,}, {seconds_text(score.seconds)}",
        )
        for name, score in scores.items()
    ]
    labelled_points(canvas, frame, points)
    caption = "Processor time is that of both graphs of all pairs on this machine, without relabelled copies."
    if known:
        caption += " Dashed: the highest of the published totals below."
    table = PlainTable(
        ["", "told apart", "processor time"],
        [[name, f"{score.separated:,}", seconds_text(score.seconds)] for name, score in scores.items()],
    )
    return Drawings([canvas], caption, table=table, size="wide")


def _categories(power: Power) -> PlainTable:
    header, *rows = power.table()
    return PlainTable(["pairs told apart", *header[1:]], rows)


def _reading() -> Paragraph:
    return Paragraph(
        "A pair counts only if its two values differ by clearly more than those of a graph and its "
        "relabelled copies do. Unsound pairs do not count, whatever the difference. Of unclear pairs the "
        "difference may be rounding; more precision may separate them."
    )


def _published(power: Power) -> list[Block]:
    """Show the categories that the paper has, ours first, and where each published figure is from."""
    names = list(dict.fromkeys(part.published_as for part in BREC_PARTS.values()))
    known = published_for(power)
    sources = list(dict.fromkeys(row.source for row in known))
    rows = []
    for name in power.names:
        counts = [
            sum(
                power.score(name, part).separated
                for part, about in BREC_PARTS.items()
                if about.published_as == group
            )
            for group in names
        ]
        rows.append([f"{name} (here)", *map(str, counts), str(sum(counts)), ""])
    for row in sorted(known, key=lambda one: -one.total):
        counts_known = ["–" if part is None else str(part) for part in row[1:5]]
        rows.append([row.method, *counts_known, str(row.total), f"[{sources.index(row.source) + 1}]"])
    return [
        Paragraph(
            "The published networks were trained for each pair and judged by the statistical test of BREC's "
            "authors, so their figures say what training realised; 3-WL and SPD-WL are tests."
        ),
        PlainTable(["", *names, "all", "source"], rows, frozenset([len(names) + 2])),
        Bullets([f"[{number}] {source}" for number, source in enumerate(sources, start=1)]),
    ]


def _troubles(power: Power) -> list[Block]:
    found = [score for score in power.scores if score.outcome in {"unclear", "unsound", "failed"}]
    if not found:
        return []
    rows = [
        [
            each.title,
            each.scored,
            each.outcome,
            each.error or f"differs by {each.difference:.3g}, changes by {each.noise:.3g} when relabelled",
        ]
        for each in found[:_ROWS_SHOWN]
    ]
    table = PlainTable(["pair", "scored", "outcome", "why"], rows, frozenset([1, 2, 3]))
    return [*_first_of(len(found)), table]


def _remaining(power: Power) -> list[Block]:
    told = {score.pair for score in power.scores if score.outcome == "separated"}
    left: dict[str, list[str]] = {}
    for score in power.scores:
        if score.scored == power.names[0] and score.pair not in told:
            left.setdefault(score.category, []).append(score.title)
    rows = [
        [
            category,
            f"{len(titles):,} of {power.categories[category]:,}",
            ", ".join(titles[:_PAIRS_SHOWN]) + " …" * (len(titles) > _PAIRS_SHOWN),
        ]
        for category, titles in left.items()
    ]
    return [PlainTable(["category", "pairs", "which"], rows, frozenset([2]))] if rows else []


def _first_of(number: int) -> list[Block]:
    return [Paragraph(f"The first {_ROWS_SHOWN} of {number:,}.")] if number > _ROWS_SHOWN else []
