"""The results page, generated from stored rows: RESULTS.md with its pictures, and the same as HTML.

The text is in the template beside this module; a section without results is left out.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from markdown_it import MarkdownIt  # comes with rich
from scipy import stats

import twinwl as tw
from reproduction import charts, runs
from reproduction import results as stored
from reproduction.results import DATASETS, MOLECULES, TABLES, TITLES, PaperTable, ResultCell, Results, signed
from twinwl.research import PROTOCOLS

_BEGIN, _END = "<!-- figures:start -->", "<!-- figures:end -->"
_BEST = "best-fold-epoch"
_IN_SUMMARY = ("wl", "stwin", "wl-encoder", "ntwin", "wl-svc", "stwin-svc")


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
        compared = stored.twins_against_wl(results, DATASETS)
        self.pictures = {
            "figure-1-label-and-identity-trees": charts.trees_figure(),
            "figure-2-worked-example": charts.rounds_figure(),
        }
        if compared:
            self.pictures["results-significance"] = charts.difference_charts(compared)
        if mutagenicity is not None:
            self.pictures["figure-4-case-study"] = charts.case_figure(mutagenicity)
        cells = {name: results.complete(each, [name]) for each in TABLES.values() for name in each.datasets}
        complete = {name: found for name, found in cells.items() if found}
        molecules = {name: found for name, found in complete.items() if name in MOLECULES}
        leaking = {
            f"{name} ({found[0].n_leaked})": found for name, found in molecules.items() if found[0].n_leaked
        }
        tables = {
            "summary": summary(results),
            "significance": _significance(compared),
            "ceiling": _ceilings(results),
            "protocols": by_method(complete, _fair_and_best),
            "closeness": _closeness(results),
            **{name: _accuracies(results, each) for name, each in TABLES.items()},
            "pairs": _pairs(results),
            "runtime": _runtimes(results),
            "cost": by_method(molecules, lambda cell: f"{cell.percent():.2f}, {cell.seconds:.2f} s"),
            "copies": by_method(leaking, _without_copies),
            "cosines": _cosines(results),
            "predictions": _predictions(results),
            "growth": _growth(benchmark or {}),
        }
        versions = {", ".join(map(" ".join, row["versions"].items())) for row in results.rows}
        loader = jinja2.FileSystemLoader(Path(__file__).parent)
        environment = jinja2.Environment(loader=loader, trim_blocks=True, lstrip_blocks=True)  # noqa: S701  (Markdown)
        text = environment.get_template("RESULTS.md.jinja").render(
            tables, pictures=self.pictures, n_rows=len(results.rows), versions=sorted(versions)
        )
        self.markdown = re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"

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


def summary(results: Results) -> str:
    """Return what was found as a table, the most important first.

    >>> print(summary(Results([])))
    | what was found |  |
    | --- | ---: |
    | cells of tables 1 and 2 that are complete | 0 of 101 |
    """
    rows = []
    if compared := stored.twins_against_wl(results, MOLECULES):
        points = [each.points for each in compared]
        better = [each.points > 0 for each in compared if each.comparison.significant]
        of = f"of {len(points)} comparisons"
        rows += [
            [
                "on molecules, a Twin is significantly better than 1-WL, same classifier",
                f"in {sum(better)} {of}",
            ],
            ["… and significantly worse", f"in {len(better) - sum(better)} {of}"],
            ["… and the mean differences are", f"{signed(min(points))} to {signed(max(points))} points"],
        ]
    rows += [
        [f"fair accuracy of {TITLES[cell.method]} on EXP", f"{cell.percent():.1f} %"]
        for cell in results.complete(TABLES["table2"])
        if cell.method in ("stwin", "ntwin", "wl")
    ]
    if rises := [cell.rise for cell in results.complete(TABLES["table1"]) if cell.rise is not None]:
        what = "points that choosing the epoch on each test fold adds to the fair accuracy"
        rows += [
            [f"{what}, mean of {len(rises)} cells", f"{np.mean(rises):.1f}"],
            ["… from the least to the most", f"{min(rises):.1f} to {max(rises):.1f}"],
        ]
    if close := _close_cells(results):
        for protocol in (_BEST, "fair"):
            near = sum(reported.near(cell.percent(protocol)) for cell, reported in close)
            what = f"figures of STwin-GNN and NTwin-GNN within the paper's deviation, {protocol}"
            rows.append([what, f"{near} of {len(close)}"])
    n_cells = sum(len(each.rows) * len(each.datasets) for each in TABLES.values())
    n_complete = sum(len(results.complete(each)) for each in TABLES.values())
    rows.append(["cells of tables 1 and 2 that are complete", f"{n_complete} of {n_cells}"])
    return table(["what was found", ""], rows)


def _significance(compared: Sequence[stored.TwinAgainstWL]) -> str:
    rows = []
    for each in compared:
        one = each.comparison
        points = f"**{signed(each.points)}**" if one.significant else signed(each.points)
        means, p_values = [f"{100 * mean:.2f}" for mean in one.means], (one.t_p_value, one.wilcoxon_p_value)
        pair = " against ".join(one.names)
        rows.append([pair, each.dataset, *means, points, *map(_p_value, p_values), str(one.n_folds)])
    header = ["", "", "Twin", "1-WL", "points", "p (t)", "p (Wilcoxon)", "runs"]
    return table(header, rows, n_left=2)


def _ceilings(results: Results) -> str:
    found: dict[str, dict[str, Mapping[str, float]]] = defaultdict(dict)
    for row in results.of_kind(runs.CEILINGS):
        found[row["dataset"]][row["method"]] = row["scores"]
    rows = []
    for name, seen in found.items():
        wl, exact = seen["1-WL"], seen["isomorphism"]
        best = [f"{100 * seen[by]['best']:.2f}" for by in runs.SEEN_BY]
        counts = [f"{count:,.0f}" for count in (wl["mixed"], wl["distinct"], exact["distinct"])]
        rows.append([name, f"{wl['of']:,.0f}", f"{100 * wl['baseline']:.2f}", *best, *counts])
    header = ["best accuracy, %", "graphs", "largest class", *runs.SEEN_BY, "look like another class (1-WL)"]
    return table([*header, "look different (1-WL)", "not isomorphic"], rows)


def _fair_and_best(cell: ResultCell) -> str:
    return " → ".join(f"{cell.percent(name):.2f}" for name in ("fair", _BEST) if name in cell.by_protocol)


def _without_copies(cell: ResultCell) -> str:
    left = 100 * cell.without_leaks
    return f"{left:.2f} ({signed(stored.points_between(left, cell.percent()))})"


def _closeness(results: Results) -> str:
    rows = []
    for cell, reported in _close_cells(results):
        ours = cell.percent(_BEST)
        points = signed(stored.points_between(ours, reported.mean))
        figures = [f"{cell.percent():.2f}", f"{ours:.2f}", _plus_minus(*reported), points]
        rows.append([TITLES[cell.method], cell.dataset, *figures, "yes" if reported.near(ours) else "no"])
    header = ["", "", "ours, fair", "ours, best-fold-epoch", "paper", "points", "within one deviation"]
    return table(header, rows, n_left=2)


def _close_cells(results: Results) -> list[tuple[ResultCell, stored.Reported]]:
    """Return the complete cells of STwin-GNN and NTwin-GNN with the reported figures."""
    return [
        (cell, row.reported[cell.dataset])
        for each in TABLES.values()
        for row in each.rows
        for cell in results.complete(each)
        if cell.method == row.method in ("stwin", "ntwin") and cell.rise is not None
    ]


def _accuracies(results: Results, paper: PaperTable) -> str:
    """Return a table of the paper: each method's readings, the reported figures, and the grid."""
    rows = []
    for row in paper.rows:
        cells = [results.cell(name, row.method) for name in paper.datasets]
        lines = {name: [_reading(cell, name) for cell in cells] for name in PROTOCOLS}
        reported = [row.reported.get(name) for name in paper.datasets]
        lines["paper"] = [_plus_minus(*each) if each else "–" for each in reported]
        lines["grid"] = [(cell and cell.grid) or "–" for cell in cells]
        for name, texts in lines.items():
            if name == "fair" or set(texts) != {"–"}:
                title = f"**{row.title}**" if name == "fair" else ""
                rows.append([title, name + ", optimistic" * name.startswith("best"), *texts])
    return table(["", "reading", *paper.datasets], rows, n_left=2)


def _reading(cell: ResultCell | None, protocol: str) -> str:
    if cell is None or protocol not in cell.by_protocol:
        return "not run" if protocol == "fair" else "–"
    folds = f"{cell.n_runs} of {cell.n_folds}" if cell.partial else str(cell.n_runs)
    bold = "**" * (protocol == "fair")
    return (
        f"{bold}{_plus_minus(cell.percent(protocol), 100 * cell.by_protocol[protocol].std)}{bold} ({folds})"
    )


def _pairs(results: Results) -> str:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for row in results.of_kind(runs.PAIRS_APART):
        found[row["method"]][f"h = {row['config']['n_iter']}"] = row["scores"]["pairs"]
    rows = [[name, *(f"{count:.0f}" for count in each.values())] for name, each in found.items()]
    return table(["pairs told apart", *next(iter(found.values()), {})], rows)


def _runtimes(results: Results) -> str:
    seconds: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in results.of_kind(runs.RUNTIMES):
        seconds[row["dataset"]][row["method"]].append(row["scores"]["seconds"])
    rows = []
    for name, of in seconds.items():
        timed = of["STwin"], of["1-WL"]
        measured = [f"{_plus_minus(1000 * np.mean(one), 1000 * np.std(one), 1)} ms" for one in timed]
        ratio = f"{np.mean(timed[0]) / np.mean(timed[1]):.2f}"
        p_value = _p_value(stats.ttest_ind(*timed, equal_var=False).pvalue)  # Welch's
        n_runs = " + ".join(str(len(one)) for one in timed)
        in_paper = [f"{_plus_minus(*stored.TABLE_3[method][name])} s" for method in ("STwin", "1-WL")]
        rows.append([name, *measured, ratio, p_value, n_runs, *in_paper])
    return table(["", "STwin", "1-WL", "ratio", "p (t-test)", "runs", "paper: STwin", "paper: 1-WL"], rows)


def _cosines(results: Results) -> str:
    rows = [
        [row["method"], f"{row['scores']['cosine']:.4f}", f"{stored.CASE_COSINES[row['method']]:.4f}"]
        for row in results.of_kind(runs.COSINES)
    ]
    return table(["cosine", "ours", "expected"], rows)


def _predictions(results: Results) -> str:
    of_method = defaultdict(list)
    for row in results.of_kind(runs.PREDICTIONS):
        of_method[TITLES[row["method"]]].append(row["scores"])
    rows = []
    for title, scores in of_method.items():
        rows.append([title])
        for graph in runs.CASE_GRAPHS:
            right = sum(score[f"right-{graph}"] for score in scores)
            sure = np.mean([score[f"probability-{graph}"] for score in scores])
            rows[-1] += [f"{right:.0f} of {len(scores)}", f"{sure:.2f}"]
    return table(
        ["", *(text for graph in runs.CASE_GRAPHS for text in (f"{graph} right", "probability"))], rows
    )


def _growth(benchmark: Mapping[str, Any]) -> str:
    rows = [
        [f"{one[unit]:,.0f} {unit}", f"{one['seconds']:.4f}", f"{1e6 * one['seconds'] / one[unit]:.1f}"]
        for unit, points in benchmark.items()
        for one in points
    ]
    return table(["", "seconds", "µs for each"], rows)


def update_summary(path: Path, results: Results) -> None:
    """Write what was found, and fair accuracies of 1-WL and the Twins, between the marks of a file."""
    cells = {name: [results.cell(name, method) for method in _IN_SUMMARY] for name in DATASETS}
    shown = by_method(
        {name: [cell for cell in each if cell and not cell.partial] for name, each in cells.items()},
        lambda cell: _plus_minus(cell.percent(), 100 * cell.by_protocol["fair"].std, 1),
        "fair accuracy, %",
    )
    between = f"{_BEGIN}\n\n{summary(results)}\n\n{shown}\n\n{_END}"
    text = path.read_text(encoding="utf-8")
    text, n_places = re.subn(f"{_BEGIN}.*{_END}", lambda _: between, text, flags=re.DOTALL)
    if not n_places:
        raise tw.TwinWLError(
            f"{str(path)!r} has no place for results; put the lines {_BEGIN} and {_END} into it"
        )
    path.write_text(text, encoding="utf-8")


def read_benchmark(path: Path) -> Mapping[str, Any] | None:
    """Read the series that ``benchmarks/refinement.py`` wrote; None where it has not been run."""
    if not path.is_file():
        return None
    found = json.loads(path.read_text(encoding="utf-8"))
    return {unit: found[unit] for unit in ("graphs", "nodes")}


def table(header: Sequence[str], rows: Sequence[Sequence[str]], n_left: int = 1) -> str:
    r"""Return a table in Markdown, "" without rows; its first columns are aligned left.

    >>> table(["", "a"], [["x", "1"]])
    '|  | a |\n| --- | ---: |\n| x | 1 |'
    """
    rules = ["---"] * n_left + ["---:"] * (len(header) - n_left)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [header, rules, *rows]) if rows else ""


def by_method(
    cells: Mapping[str, Sequence[ResultCell]], text: Callable[[ResultCell], str], title: str = ""
) -> str:
    """Return a table of cells, given by column: one row per method."""
    found = {(cell.method, name): text(cell) for name, each in cells.items() for cell in each}
    methods = [method for method in TITLES if any((method, name) in found for name in cells)]
    rows = [[TITLES[one], *(found.get((one, name), "–") for name in cells)] for one in methods]
    return table([title, *cells], rows)


def _plus_minus(mean: float | np.floating, std: float | np.floating, digits: int = 2) -> str:
    return f"{mean:.{digits}f} ± {std:.{digits}f}"


def _p_value(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"  # noqa: PLR2004
