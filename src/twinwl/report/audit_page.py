"""The pages of `audit`, `neighbours` and `power`.

That of an audit shows what data sets share, which copies contradict each other, and drawings of pairs; that
of `power` shows pairs told apart against cost, category by category, beside published figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from twinwl.datasets.generators import BREC_PARTS
from twinwl.evaluation.power import Power, published_for
from twinwl.models.metrics import METRICS
from twinwl.report.page import Block, Drawings, Page, PlainTable, Section, svg_of
from twinwl.report.picture import svg_element
from twinwl.terminal import counted

if TYPE_CHECKING:
    from twinwl.datasets.dataset import Dataset
    from twinwl.evaluation.audit import Audit, Match, PartScores
    from twinwl.evaluation.neighbours import Neighbours


_ROWS_SHOWN = 40
_A_PAIR = 2
_PAIRS_DRAWN = 12
_QUERIES_DRAWN = 20
_LARGEST_DRAWN = 80  # nodes
_LONGEST_NAME = 34
_SIZE, _TILE = (480.0, 250.0), (340.0, 220.0)


def audit_page(audit: Audit) -> Page:
    """Return the page of what data sets share."""
    noun, pictures = _noun(audit), _pictures(audit)
    scores = [_score_table(audit.scores, noun)] if audit.scores else []
    sections = [
        Section("overlap", f"{noun}s in common".capitalize(), _overlap(audit) if audit.overlaps else []),
        Section("scores", "Scores with and without them", scores),
        Section("pairs", "Nearly the same", _near(audit, pictures) if pictures else []),
        Section("contradictions", "Copies with different targets", _contradictions(audit)),
        Section("matches", f"Which {noun}s", _matches(audit.matches, noun)),
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
    result, level = [], audit.level if len(audit.levels) > 1 else None
    if audit.overlaps:
        at = f" (same {level})" if level else ""
        about = f"{_noun(audit)}s of {later} are also in {earlier}{at}"
        result.append((f"{n_same:,} of {sum(sizes[1:]):,}", about))
        if n_coarser:
            result.append((f"{n_coarser:,}", f"more have only the same {' or '.join(audit.levels[:place])}"))
        result.append((f"{n_near:,}", f"more are nearly the same (similarity {audit.near:g} or more)"))
    if audit.targets_compared:
        at = f" ({level})" if level else ""
        result.append((f"{len(audit.contradictions):,}", f"groups of copies{at} have different targets"))
    return result


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
            _anchor(match.set, match.row, match.name),
            match.target,
            match.same or "nearly",
            f"{match.similarity:.3f}",
            _anchor(match.other_set, match.other_row, match.other_name),
            match.other_target,
        ]
        for match in matches[:_ROWS_SHOWN]
    ]
    header = [noun.capitalize(), "target", "same", "similarity", f"earlier {noun}", "its target"]
    table = PlainTable(header, rows, frozenset([2, 4]))
    more = []
    if len(matches) > _ROWS_SHOWN:
        more = [f"The first {_ROWS_SHOWN} of {len(matches):,}; twinwl audit -o FILE writes all."]
    return [*more, table] if matches else []


def _contradictions(audit: Audit) -> list[Block]:
    shown, n_groups = audit.contradictions[:_ROWS_SHOWN], len(audit.contradictions)
    rows = [
        [number, _anchor(member.set, member.row, member.name), member.target]
        for number, result in enumerate(shown, start=1)
        for member in result.members
    ]
    more = f" The first {len(shown)} of {n_groups:,} groups are listed." if len(shown) < n_groups else ""
    if not shown:
        return []
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
    return [text, Drawings(pictures, "")]


def _pictures(audit: Audit) -> list[str]:
    """Draw the most similar pairs; a label has one colour in all pictures."""
    by_name = dict(zip(audit.sizes, audit.data))
    near = sorted((match for match in audit.matches if match.same is None), key=lambda one: -one.similarity)
    pictures: list[str] = []
    slots: dict[object, int] = {}
    for match in near:
        pair = []
        for name, row, title in (match[:3], (match.other_set, match.other_row, match.other_name)):
            place = by_name[name].rows.tolist().index(row)
            heading = f"{_anchor(name, row, title)}  ({match.similarity:.3f})"
            pair += _picture(by_name[name], place, heading, _SIZE, slots)
        pictures += pair if len(pair) == _A_PAIR else []
        if len(pictures) == 2 * _PAIRS_DRAWN:
            break
    return pictures


def _picture(
    data: Dataset, place: int, title: str, size: tuple[float, float], slots: dict[object, int]
) -> list[str]:
    """Draw a graph, a molecule as its formula; nothing if it is too large to be seen."""
    graph, smiles = data.graphs[place], None if data.smiles is None else data.smiles[place]
    small = 0 < graph.n_nodes <= _LARGEST_DRAWN
    return [svg_of(graph, smiles, title=title, size=size, slots=slots)] if small else []


def _anchor(name: str, row: int, title: str) -> str:
    return f"{name}, row {row}: {_short(title)}"


def _short(title: str) -> str:
    return title if len(title) <= _LONGEST_NAME else f"{title[: _LONGEST_NAME - 1]}…"


def neighbours_page(neighbours: Neighbours) -> Page:
    """Return the page of a search: for each query, drawings of it and of what is most like it."""
    noun = "graph" if neighbours.graphs.smiles is None else "molecule"
    place_of_row = {row: place for place, row in enumerate(neighbours.graphs.rows.tolist())}
    slots: dict[object, int] = {}

    sections = []
    for query, name in enumerate(neighbours.queries.names[:_QUERIES_DRAWN]):
        drawn, rows = _picture(neighbours.queries, query, f"query: {_short(name)}", _TILE, slots), []
        for one in neighbours.of(query):
            title = f"{one.similarity:.3f}  {_short(one.name)}"
            drawn += _picture(neighbours.graphs, place_of_row[one.row], title, _TILE, slots)
            rows.append([one.rank, f"{one.similarity:.3f}", one.name, one.row])
        table = PlainTable(["Rank", "similarity", noun, "row"], rows, frozenset([2]))
        blocks: list[Block] = [Drawings(drawn, "", table, "small")] if drawn else [table]
        sections.append(Section(f"query-{query + 1}", _short(name), blocks))
    n_queries, k = neighbours.indices.shape
    best, node = neighbours.similarities[:, 0], "node" if noun == "graph" else "atom"
    about = (
        f"The {k:,} of {counted(neighbours.n_graphs, noun)} that are most like each query. The similarity is "
        f"the share of {node} environments that two {noun}s have in common, from 0 to 1 (twin kernel)."
    )
    return Page(
        title=f"The most similar {noun}s",
        lede=[about, *([f"The first {_QUERIES_DRAWN} queries are shown."] * (n_queries > _QUERIES_DRAWN))],
        highlights=[
            (f"{n_queries:,}", "query" if n_queries == 1 else "queries"),
            (f"{best.mean():.3f}", "similarity of the nearest, on average"),
            (f"{int((best == 1).sum()):,}", f"with a {noun} of similarity 1"),
        ],
        sections=sections,
        made_by=["twinwl search"],
        kind="search",
    )


_PAIRS_SHOWN = 8
_SHORTEST = 1e-4  # seconds
_READING = (
    "A pair counts only if its two values differ by clearly more than those of a graph and its relabelled "
    "copies do. Unsound pairs do not count, whatever the difference. Of unclear pairs the difference may be "
    "rounding; more precision may separate them."
)


def power_page(power: Power) -> Page:
    """Return the page of what was told apart."""
    best = max(power.names, key=lambda name: power.score(name).separated)
    every = [power.score(name) for name in power.names]
    header, *rows = power.table()
    counts = PlainTable(["pairs told apart", *header[1:]], rows)
    sections = [
        Section("cost", "Power against cost", [_chart(power)]),
        Section("categories", "Category by category", [counts, _READING]),
        Section(
            "published", "Beside published figures", _published_table(power) if published_for(power) else []
        ),
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
    """Draw pairs told apart against processor time; a dashed line is the highest published figure."""
    scores, known = {name: power.score(name) for name in power.names}, published_for(power)
    figure = Figure(figsize=(9, 4.5), facecolor="white", layout="constrained")
    axes = figure.add_subplot(
        xscale="log", xlabel="processor time of all pairs, s", ylabel="pairs told apart"
    )
    axes.grid(color="0.9")
    axes.set_title(f"{power.suite}: pairs told apart, of {power.n_pairs:,}", parse_math=False)
    for name, score in sorted(scores.items(), key=lambda item: -item[1].separated):
        place = max(score.seconds, _SHORTEST), score.separated
        axes.plot(*place, "o", label=name.replace("$", r"\$"))
    caption = "Processor time is that of both graphs of all pairs on this machine, without relabelled copies."
    if known:
        highest = max(known, key=lambda row: row.total)
        axes.axhline(highest.total, color="0.5", ls="--", label=f"{highest.method}: {highest.total}")
        caption += " Dashed: the highest of the published totals below."
    axes.set_ylim(0, 1.05 * power.n_pairs)
    axes.locator_params(axis="y", integer=True)
    figure.legend(loc="outside right upper")
    rows = [[name, f"{score.separated:,}", seconds_text(score.seconds)] for name, score in scores.items()]
    table = PlainTable(["", "told apart", "processor time"], rows)
    return Drawings([svg_element(figure)], caption, table, "wide")


def seconds_text(value: float) -> str:
    """Write a time in milliseconds or seconds.

    >>> seconds_text(0.0123), seconds_text(4.5)
    ('12.3 ms', '4.5 s')
    """
    if value < 1:
        return f"{1000 * value:.3g} ms"
    return f"{value:.3g} s" if value < 1000 else f"{value:,.0f} s"  # noqa: PLR2004


def _published_table(power: Power) -> list[Block]:
    """Show the categories that the paper has, ours first, and where each published figure is from."""
    parts: dict[str, list[str]] = {}
    for part, about in BREC_PARTS.items():
        parts.setdefault(about.published_as, []).append(part)
    known = published_for(power)
    sources = list(dict.fromkeys(row.source for row in known))
    rows = []
    for name in power.names:
        counts = [sum(power.score(name, part).separated for part in of_group) for of_group in parts.values()]
        rows.append([f"{name} (here)", *counts, sum(counts), None])
    for row in sorted(known, key=lambda one: -one.total):
        known_counts = ["–" if part is None else part for part in row[1:5]]
        rows.append([row.method, *known_counts, row.total, f"[{sources.index(row.source) + 1}]"])
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
    result = [score for score in power.scores if score.outcome in {"unclear", "unsound", "failed"}]
    rows = []
    for each in result[:_ROWS_SHOWN]:
        why = f"differs by {each.difference:.3g}, changes by {each.noise:.3g} when relabelled"
        rows.append([each.title, each.scored, each.outcome, each.error or why])
    table = PlainTable(["pair", "scored", "outcome", "why"], rows, frozenset([1, 2, 3]))
    more = [f"The first {_ROWS_SHOWN} of {len(result):,}."] if len(result) > _ROWS_SHOWN else []
    return [*more, table] if result else []


def _remaining(power: Power) -> list[Block]:
    separated = {score.pair for score in power.scores if score.outcome == "separated"}
    left: dict[str, list[str]] = {}
    for score in power.scores:
        if score.scored == power.names[0] and score.pair not in separated:
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
