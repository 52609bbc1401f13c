"""The page of `power`: pairs told apart against cost, category by category, beside published figures."""

from __future__ import annotations

from html import escape
from math import ceil, floor, inf, log10

from twinwl.datasets.suites import BREC_PARTS
from twinwl.evaluation.power import Power, published_for
from twinwl.report.page import Block, Drawings, Page, PlainTable, Section, counted

_ROWS_SHOWN = 40
_PAIRS_SHOWN = 8
_SHORTEST = 1e-4  # seconds
_READING = (
    "A pair counts only if its two values differ by clearly more than those of a graph and its relabelled "
    "copies do. Unsound pairs do not count, whatever the difference. Of unclear pairs the difference may be "
    "rounding; more precision may separate them."
)


def power_page(power: Power) -> Page:
    """Return the page.

    Parameters
    ----------
    power
        What was found.
    """
    best = max(power.names, key=lambda name: power.score(name).separated)
    every = [power.score(name) for name in power.names]
    header, *rows = power.table()
    counts = PlainTable(["pairs told apart", *header[1:]], rows)
    sections = [
        Section("cost", "Power against cost", [_chart(power)]),
        Section("categories", "Category by category", [counts, _READING]),
        Section("published", "Beside published figures", _published(power) if published_for(power) else []),
        Section("trouble", "Unclear, unsound or failed", _troubles(power)),
        Section("remaining", "Pairs that nothing here tells apart", _remaining(power)),
    ]
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
        sections=[section for section in sections if section.blocks],
        made_by=["twinwl power"],
    )


def _chart(power: Power) -> Drawings:
    """Draw pairs told apart against processor time; a dashed line is the highest published figure.

    Names stand in a column at the right, each on a line of its own, and lines lead to them.
    """
    scores = {name: power.score(name) for name in power.names}
    logs = {name: log10(max(score.seconds, _SHORTEST)) for name, score in scores.items()}
    low, high = floor(min(logs.values()) - 0.15), ceil(max(logs.values()) + 0.15)
    left, top, right, bottom = 52.0, 40.0, 440.0, 260.0 + 8 * len(scores)

    def x(log: float) -> float:
        return left + (log - low) / (high - low) * (right - left)

    def y(pairs: float) -> float:
        return bottom - pairs / power.n_pairs * (bottom - top)

    title = f"{power.suite}: pairs told apart, of {power.n_pairs:,}"
    shapes = [_text(0, 16, title, "title")]
    step = max(1, round(power.n_pairs / 5, 1 - len(str(power.n_pairs // 5))))
    for pairs in range(0, power.n_pairs + 1, int(step)):
        shapes += [
            _line(left, y(pairs), right, y(pairs), "grid"),
            _text(left - 8, y(pairs) + 4, str(pairs), "tick end"),
        ]
    for log in range(low, high + 1):
        shapes += [_line(x(log), top, x(log), bottom, "grid")]
        shapes += [_text(x(log), bottom + 18, seconds_text(10.0**log), "tick middle")]
    shapes.append(_text((left + right) / 2, bottom + 40, "processor time of all pairs", "axis-title middle"))
    labels = [(y(score.separated), name, "stwin") for name, score in scores.items()]
    known = published_for(power)
    if known:
        highest = max(known, key=lambda row: row.total)
        shapes.append(_line(left, y(highest.total), right, y(highest.total), "guide"))
        labels.append((y(highest.total), f"{highest.method}: {highest.total}", "other"))
    place = -inf
    for wanted, label, family in sorted(labels):
        place = max(wanted, place + 17)
        start = right if family == "other" else x(logs[label])
        shapes += [
            _line(start, wanted, right + 16, place, "leader"),
            _text(right + 20, place + 4, label, f"label {family}"),
        ]
    for name, score in scores.items():
        tip = f"{name}: {score.separated:,} of {power.n_pairs:,}, {seconds_text(score.seconds)}"
        circle = f'cx="{x(logs[name]):.1f}" cy="{y(score.separated):.1f}" r="5"'
        shapes.append(f'<circle class="dot fair stwin" {circle}><title>{escape(tip)}</title></circle>')
    width, height = right + 40 + 8.5 * max(len(label) for _, label, _ in labels), max(bottom + 48, place + 12)
    box = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    picture = f'<svg {box} role="img" aria-label="{escape(title)}">{"".join(shapes)}</svg>'
    caption = "Processor time is that of both graphs of all pairs on this machine, without relabelled copies."
    if known:
        caption += " Dashed: the highest of the published totals below."
    table = PlainTable(
        ["", "told apart", "processor time"],
        [[name, f"{score.separated:,}", seconds_text(score.seconds)] for name, score in scores.items()],
    )
    return Drawings([picture], caption, table=table, size="wide")


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def seconds_text(value: float) -> str:
    """Write a time in milliseconds or seconds.

    >>> seconds_text(0.0123), seconds_text(4.5)
    ('12.3 ms', '4.5 s')
    """
    if value < 1:
        return f"{1000 * value:.3g} ms"
    return f"{value:.3g} s" if value < 1000 else f"{value:,.0f} s"  # noqa: PLR2004


def _published(power: Power) -> list[Block]:
    """Show the categories that the paper has, ours first, and where each published figure is from."""
    parts: dict[str, list[str]] = {}
    for part, about in BREC_PARTS.items():
        parts.setdefault(about.published_as, []).append(part)
    known = published_for(power)
    sources = list(dict.fromkeys(row.source for row in known))
    rows = []
    for name in power.names:
        counts = [sum(power.score(name, part).separated for part in of_group) for of_group in parts.values()]
        rows.append([f"{name} (here)", *map(str, counts), str(sum(counts)), ""])
    for row in sorted(known, key=lambda one: -one.total):
        counts_known = ["–" if part is None else str(part) for part in row[1:5]]
        rows.append([row.method, *counts_known, str(row.total), f"[{sources.index(row.source) + 1}]"])
    text = (
        "The published networks were trained for each pair and judged by the statistical test of BREC's "
        "authors, so their figures say what training realised; 3-WL and SPD-WL are tests."
    )
    return [
        text,
        PlainTable(["", *parts, "all", "source"], rows, frozenset([len(parts) + 2])),
        [f"[{number}] {source}" for number, source in enumerate(sources, start=1)],
    ]


def _troubles(power: Power) -> list[Block]:
    found = [score for score in power.scores if score.outcome in {"unclear", "unsound", "failed"}]
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
    more = [f"The first {_ROWS_SHOWN} of {len(found):,}."] if len(found) > _ROWS_SHOWN else []
    return [*more, table] if found else []


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
