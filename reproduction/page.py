"""The results page, generated from stored rows: RESULTS.md with its pictures, and the same as HTML.

The text is in the templates beside this module; a section without results is left out.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

import jinja2
import numpy as np
from markdown_it import MarkdownIt  # comes with rich
from matplotlib.figure import Figure

import twinwl as tw
from reproduction import charts, runs
from reproduction import results as stored
from reproduction.results import DATASETS, TABLES, TITLES, ResultCell, Results, signed
from twinwl.research import PROTOCOLS

_BEGIN, _END = "<!-- figures:start -->", "<!-- figures:end -->"
_BEST = "best-fold-epoch"
_IN_SUMMARY = ("wl", "stwin", "wl-encoder", "ntwin", "wl-svc", "stwin-svc")
_VERDICTS = {
    "Twin is better": "better on",
    "1-WL is better": "worse on",
    "may be chance": "no significant difference on",
}


class Page:
    """A page in Markdown, and its pictures by name.

    >>> "| not run | not run |" in Page(Results([])).markdown
    True
    """

    def __init__(
        self,
        results: Results,
        mutagenicity: tw.Dataset | None = None,
        benchmark: Mapping[str, Any] | None = None,
    ) -> None:
        self.results = results
        self.pictures: dict[str, Figure] = {}
        self.tables: dict[str, str] = {}
        self.facts = _findings(results)
        for fill_in in (self._significance, self._ceiling, self._accuracies, self._charts, self._case_study):
            fill_in()
        measured = benchmark or {}
        if measured:
            self.pictures["results-growth"] = charts.growth_charts(measured)
        self.tables["growth"] = table(
            ["", "seconds"],
            [
                [f"{one[unit]:,.0f} {unit}", f"{one['seconds']:.4f}"]
                for unit, points in measured.items()
                for one in points
            ],
        )
        if mutagenicity is not None:
            self.pictures["results-case-study"] = charts.case_figure(mutagenicity)
        made_with = [row["versions"].items() for row in results.rows if "versions" in row]
        self.facts |= {
            "tables": self.tables,
            "molecules_drawn": mutagenicity is not None,
            "case_study": mutagenicity is not None or bool(self.tables["cosines"]),
            "runtime_rounds": runs.RUNTIME_ROUNDS,
            "runtime_p_value": stored.RUNTIME_P_VALUE,
            "n_rows": _count(len(results.rows), "result"),
            "made_with": sorted({", ".join(map(" ".join, versions)) for versions in made_with}),
        }
        self.markdown = _render("RESULTS.md.jinja", self.facts)

    def write(self, html: Path, markdown: Path) -> None:
        """Write the page as HTML and as Markdown, whose pictures go to the folder ``figures`` next to it."""
        folder, body = markdown.with_name("figures"), MarkdownIt().enable("table").render(self.markdown)
        template = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
        folder.mkdir(exist_ok=True)
        for name, figure in self.pictures.items():
            svg = charts.as_svg(figure)
            (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
            before, _, after = body.partition(f'<p><img src="figures/{name}.svg"')
            body = f"{before}<figure>{svg}</figure>{after.partition('</p>')[2]}"
        markdown.write_text(self.markdown, encoding="utf-8")
        html.write_text(template.replace("{{ body }}", body), encoding="utf-8")

    def _significance(self) -> None:
        found = stored.twins_against_wl(self.results, DATASETS, least=self.results.n_folds)
        if not found:
            return
        helped = {each.dataset for each in found if each.verdict == "Twin is better"}
        self.facts["vain"] = [
            name for name in _distinct(each.dataset for each in found) if name not in helped
        ]
        rows: list[list[str]] = []
        sets: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for each in found:
            one = each.comparison
            means = [f"{100 * mean:.2f}" for mean in one.means]
            p_values = [_p_value(one.t_p_value), _p_value(one.wilcoxon_p_value)]
            pair, points = " against ".join(one.names), signed(each.points)
            rows.append([each.dataset, pair, *means, points, *p_values, str(one.n_folds), each.verdict])
            sets[pair][each.verdict].append(f"{each.dataset} ({points})")
        self.facts["verdicts"] = []
        for pair, of in sets.items():
            phrases = [
                f"{words} {_join(of[verdict])}" for verdict, words in _VERDICTS.items() if verdict in of
            ]
            self.facts["verdicts"].append(f"{pair}: {'; '.join(phrases)}.")
        header = ["", "methods", "Twin", "1-WL", "points", "p (t)", "p (Wilcoxon)", "runs", "verdict"]
        self.tables["significance"] = table(header, rows, words=(1, 8))
        self.pictures["results-significance"] = charts.difference_charts(found)

    def _ceiling(self) -> None:
        found: dict[str, dict[str, Mapping[str, float]]] = defaultdict(dict)
        for row in self.results.of_kind(runs.CEILINGS):
            found[row["dataset"]][row["method"]] = row["scores"]
        gains, no_gain, rows = [], [], []
        for name, of in found.items():
            if not {"1-WL", "isomorphism"} <= of.keys():
                continue
            wl, exact = of["1-WL"], of["isomorphism"]
            if (points := 100 * (exact["best"] - wl["best"])) > 0:
                gains.append(f"on {name} it could gain {points:.1f} points")
            else:
                no_gain.append(name)
            best = [f"{100 * of[seen]['best']:.2f}" if seen in of else "–" for seen in runs.SEEN_BY]
            texts = [f"{count:,.0f}" for count in (wl["mixed"], wl["distinct"], exact["distinct"])]
            rows.append([name, f"{wl['of']:,.0f}", f"{100 * wl['baseline']:.2f}", *best, *texts])
        self.facts |= {"ceilings": bool(rows), "gains": gains, "no_gain": no_gain}
        header = [
            "best accuracy, %",
            "graphs",
            "largest class",
            *runs.SEEN_BY,
            "look like another class (1-WL)",
        ]
        self.tables["ceiling"] = table([*header, "look different (1-WL)", "not isomorphic"], rows)

    def _accuracies(self) -> None:
        """Fill in the paper's tables: each method's readings, then the reported figures."""
        for paper in TABLES.values():
            rows = []
            for row in paper.rows:
                cells = {name: self.results.cell(name, row.method) for name in paper.datasets}
                title = f"**{row.title}**{_note(cells, ours=not row.reported)}"
                for protocol in PROTOCOLS:
                    fair = protocol == "fair"
                    if fair or any(cell and protocol in cell.readings for cell in cells.values()):
                        label = protocol if fair else f"{protocol}, optimistic"
                        rows.append([title, label, *(_reading(cell, protocol) for cell in cells.values())])
                        title = ""
                if row.reported:
                    theirs = [row.reported.get(name) for name in paper.datasets]
                    rows.append(["", "paper", *(_plus_minus(*each) if each else "–" for each in theirs)])
            self.tables[paper.name] = table(["", "reading", *paper.datasets], rows, words=(1,))
        rows = []
        for cell, reported in _close_cells(self.results):
            ours = cell.percent(_BEST)
            within = "yes" if reported.near(ours) else "above it" if ours > reported.mean else "no"
            points = signed(stored.points_between(ours, reported.mean))
            figures = [f"{cell.percent():.2f}", f"{ours:.2f}", _plus_minus(*reported), points, within]
            rows.append([f"{TITLES[cell.method]}, {cell.dataset}", *figures])
        header = ["", "ours, fair", "ours, best-fold-epoch", "paper", "points", "within one deviation"]
        self.tables["closeness"] = table(header, rows)
        rows = []
        for each in runs.compare_runtimes(self.results.of_kind(runs.RUNTIMES)):
            timed = [each.stwin, each.wl]
            measured = [f"{_plus_minus(1000 * np.mean(one), 1000 * np.std(one), 1)} ms" for one in timed]
            in_paper = [f"{_plus_minus(*stored.TABLE_3[name][each.dataset])} s" for name in ("STwin", "1-WL")]
            ratio = [f"{each.ratio:.2f}", _p_value(each.p_value), " + ".join(str(len(one)) for one in timed)]
            rows.append([each.dataset, *measured, *ratio, *in_paper])
        header = ["", "STwin", "1-WL", "ratio", "p (t-test)", "runs", "paper: STwin", "paper: 1-WL"]
        self.tables["runtime"] = table(header, rows)

    def _charts(self) -> None:
        tables = {name: each for each in TABLES.values() for name in each.datasets}
        complete = {name: self.results.complete(each, [name]) for name, each in tables.items()}
        charted = {name: cells for name, cells in complete.items() if len(cells) > 1}
        of_molecules = {name: cells for name, cells in charted.items() if name in stored.MOLECULES}

        def fair_and_best(cell: ResultCell) -> str:
            return f"{cell.percent():.2f}" + ("" if cell.rise is None else f" → {cell.percent(_BEST):.2f}")

        def without_copies(cell: ResultCell) -> str:
            left = 100 * cell.without_leaks
            return f"{left:.2f} ({signed(stored.points_between(left, cell.percent()))})"

        if charted:
            reported = {name: each.reported(name) for name, each in tables.items()}
            self.pictures["results-protocols"] = charts.protocol_charts(charted, reported)
            self.tables["protocols"] = by_method(charted, fair_and_best)
        if of_molecules:
            self.pictures["results-cost"] = charts.cost_charts(of_molecules)
            self.tables["cost"] = by_method(
                of_molecules, lambda cell: f"{cell.percent():.2f}, {cell.seconds:.2f} s"
            )
        leaking = [[cell for cell in complete[name] if cell.n_leaked] for name in stored.MOLECULES]
        copies = {f"{cells[0].dataset} ({cells[0].n_leaked})": cells for cells in leaking if cells}
        self.tables["copies"] = by_method(copies, without_copies)
        if counts := _pairs_apart(self.results):
            rounds = sorted({h for found in counts.values() for h in found})
            rows = [[name, *(str(found.get(h, "–")) for h in rounds)] for name, found in counts.items()]
            self.tables["pairs"] = table(["pairs told apart", *(f"h = {h}" for h in rounds)], rows)
            self.pictures["results-pairs"] = charts.pairs_chart(counts, self.facts["n_pairs"], "EXP")

    def _case_study(self) -> None:
        cosines = {row["method"]: row["scores"]["cosine"] for row in self.results.of_kind(runs.COSINES)}
        rows = [[name, f"{value:.4f}", f"{stored.CASE_COSINES[name]:.4f}"] for name, value in cosines.items()]
        self.tables["cosines"] = table(["cosine", "ours", "expected"], rows)
        of_method = defaultdict(list)
        for row in self.results.of_kind(runs.PREDICTIONS):
            of_method[TITLES[row["method"]]].append(row["scores"])
        wrong, rows = [], []
        for title, scores in of_method.items():
            rows.append([title])
            for graph in runs.CASE_GRAPHS:
                right = sum(score[f"right-{graph}"] for score in scores)
                sure = np.mean([score[f"probability-{graph}"] for score in scores])
                rows[-1] += [f"{right:.0f} of {len(scores)}", f"{sure:.2f}"]
                wrong += [title] * (right < len(scores))
        header = ["", *(text for graph in runs.CASE_GRAPHS for text in (f"{graph} right", "probability"))]
        self.tables["predictions"] = table(header, rows)
        self.facts["wrong"] = _distinct(wrong)


def findings(results: Results) -> str:
    """Return the summary of the page as a list in Markdown, the most important sentence first.

    >>> findings(Results([]))
    '- 0 of 101 cells of tables 1 and 2 are complete; the others are marked.'
    """
    return _render("findings.md.jinja", _findings(results)).strip()


def _findings(results: Results) -> dict[str, Any]:
    """Return the figures behind the summary."""
    found = stored.twins_against_wl(results, stored.MOLECULES, least=results.n_folds)
    points = [signed(each) for each in sorted(each.points for each in found)]
    verdicts = [(f"{TITLES[each.twin]} on {each.dataset}", each.verdict) for each in found]
    on_pairs = {cell.method: cell for cell in results.complete(TABLES["table2"])}
    names = {"STwin-GNN": "stwin", "NTwin-GNN": "ntwin", "1-WL": "wl"}
    rising = [
        (cell.rise, cell.dataset) for cell in results.complete(TABLES["table1"]) if cell.rise is not None
    ]
    rises = [rise for rise, _ in rising]
    close = _close_cells(results)
    cells = {(row.method, name) for each in TABLES.values() for row in each.rows for name in each.datasets}
    of_paper = {(row.method, name) for each in TABLES.values() for row in each.rows for name in row.reported}
    complete = {(cell.method, cell.dataset) for each in TABLES.values() for cell in results.complete(each)}
    return {
        "molecules": found,
        "better": [where for where, verdict in verdicts if verdict == "Twin is better"],
        "worse": [where for where, verdict in verdicts if verdict == "1-WL is better"],
        "spread": " to ".join([*points[:1], *points[-1:]]),
        "apart": {name: rounds[max(rounds)] for name, rounds in _pairs_apart(results).items()},
        "n_pairs": next((int(row["scores"]["of"]) for row in results.of_kind(runs.PAIRS_APART)), 0),
        "on_pairs": [
            f"{name} {on_pairs[one].percent():.1f} %" for name, one in names.items() if one in on_pairs
        ],
        "rises": rises
        and {
            "mean": f"{np.mean(rises):.1f}",
            "least": f"{min(rises):.1f}",
            "most": f"{max(rises):.1f}",
            "count": _count(len(rises), "cell"),
            "sets": _distinct(name for _, name in rising),
        },
        "close": close
        and {
            "of": len(close),
            "near": sum(reported.near(cell.percent(_BEST)) for cell, reported in close),
            "fair": sum(reported.near(cell.percent()) for cell, reported in close),
            "above": sum(cell.percent(_BEST) > sum(reported) for cell, reported in close),
        },
        "ratios": sorted(
            f"{each.ratio:.2f}" for each in runs.compare_runtimes(results.of_kind(runs.RUNTIMES))
        ),
        "n_cells": len(cells),
        "n_complete": len(complete),
        "paper_complete": of_paper <= complete,
    }


def _close_cells(results: Results) -> list[tuple[ResultCell, Any]]:
    """Return the complete cells of STwin-GNN and NTwin-GNN with the reported figures."""
    return [
        (cell, each.reported(cell.dataset)[method])
        for each in TABLES.values()
        for method in ("stwin", "ntwin")
        for cell in results.complete(each)
        if cell.method == method and cell.rise is not None
    ]


def _pairs_apart(results: Results) -> dict[str, dict[int, int]]:
    """Return how many pairs of EXP each kind of features tells apart after h rounds."""
    counts: dict[str, dict[int, int]] = defaultdict(dict)
    for row in results.of_kind(runs.PAIRS_APART):
        if row["dataset"] == "EXP" and isinstance(h := row["config"]["n_iter"], int):
            counts[row["method"]][h] = int(row["scores"]["pairs"])
    return dict(counts)


def update_summary(path: Path, results: Results) -> None:
    """Write what was found, and fair accuracies of 1-WL and the Twins, between the marks of a file."""
    text = path.read_text(encoding="utf-8")
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not end:
        raise tw.TwinWLError(
            f"{str(path)!r} has no place for results; put the lines {_BEGIN} and {_END} into it"
        )
    rows = []
    for method in _IN_SUMMARY:
        rows.append([TITLES[method]])
        for cell in (results.cell(dataset, method) for dataset in DATASETS):
            part = f" ({cell.n_runs} of {cell.n_folds} folds)" if cell and cell.partial else ""
            std = 100 * cell.readings["fair"].std if cell else 0.0
            rows[-1].append(_plus_minus(cell.percent(), std, 1) + part if cell else "not run")
    shown = table(["fair accuracy, %", *DATASETS], rows)
    between = f"{begin}\n\n{findings(results)}\n\n{shown}\n\n{end}"
    path.write_text(before + between + after, encoding="utf-8")


def read_benchmark(path: Path) -> Mapping[str, Any] | None:
    """Read the series that ``benchmarks/refinement.py`` wrote; None where it has not been run."""
    if not path.is_file():
        return None
    found = json.loads(path.read_text(encoding="utf-8"))
    return {unit: found[unit] for unit in ("graphs", "nodes") if unit in found}


def table(header: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[int] = ()) -> str:
    r"""Return a table in Markdown, "" without rows; the first column and those of words are aligned left.

    >>> table(["", "a"], [["x", "1"]])
    '|  | a |\n| --- | ---: |\n| x | 1 |'
    """
    rules = ["---" if place == 0 or place in words else "---:" for place in range(len(header))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [header, rules, *rows]) if rows else ""


def by_method(cells: Mapping[str, Sequence[ResultCell]], text: Callable[[ResultCell], str]) -> str:
    """Return a table of cells, given by column: one row per method."""
    found = {(cell.method, name): text(cell) for name, each in cells.items() for cell in each}
    methods = [method for method in TITLES if any((method, name) in found for name in cells)]
    rows = [[TITLES[one], *(found.get((one, name), "–") for name in cells)] for one in methods]
    return table(["", *cells], rows)


def _reading(cell: ResultCell | None, protocol: str) -> str:
    if cell is None:
        return "not run"
    if protocol not in cell.readings:
        return "–"
    folds = f"{cell.n_runs} of {cell.n_folds}" if cell.partial else str(cell.n_runs)
    bold = "**" * (protocol == "fair")
    return f"{bold}{_plus_minus(cell.percent(protocol), 100 * cell.readings[protocol].std)}{bold} ({folds})"


def _note(cells: Mapping[str, ResultCell | None], *, ours: bool) -> str:
    """Say what the figures do not show: that a row is ours, and on which data sets a grid was searched."""
    searched: dict[str | None, list[str]] = defaultdict(list)
    for name, cell in cells.items():
        if cell is not None:
            searched[cell.grid].append(name)
    notes = ["not in the paper"] * ours
    for grid in sorted(filter(None, searched)):
        notes.append(f"{grid} grid" + f" on {_join(searched[grid])}" * (len(searched) > 1))
    return f" ({' · '.join(notes)})" if notes else ""


def _render(template: str, facts: Mapping[str, Any]) -> str:
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    environment = jinja2.Environment(loader=loader, trim_blocks=True, lstrip_blocks=True)  # noqa: S701  (Markdown)
    bullet = partial(_wrap, first="- ", others="  ")
    environment.filters |= {"wrap": _wrap, "bullet": bullet, "join_words": _join}
    return re.sub(r"\n{3,}", "\n\n", environment.get_template(template).render(facts)).strip() + "\n"


def _wrap(text: str, first: str = "", others: str = "") -> str:
    """Wrap lines, so that diffs are readable."""
    words = " ".join(text.split())
    return fill(words, 110, initial_indent=first, subsequent_indent=others, break_on_hyphens=False) + "\n"


def _join(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def _distinct(values: Any) -> list[Any]:  # noqa: ANN401
    return list(dict.fromkeys(values))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + "s" * (number != 1)


def _plus_minus(mean: float | np.floating, std: float | np.floating, digits: int = 2) -> str:
    return f"{mean:.{digits}f} ± {std:.{digits}f}"


def _p_value(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"  # noqa: PLR2004
