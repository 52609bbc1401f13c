"""The summary of the results: a few sentences and figures, for the results page and for a README."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from twinwl.errors import TwinWLError
from twinwl.files.atomic import written
from twinwl.paper.feature_runs import RUNTIME_SETS, RUNTIMES, compare_runtimes
from twinwl.paper.findings import closeness_to_paper, protocol_rises, twins_against_wl
from twinwl.paper.markdown import markdown_list
from twinwl.paper.measured_sections import pairs_apart
from twinwl.paper.result_cells import ResultCell, Results, signed
from twinwl.paper.tables import TABLES, TITLES
from twinwl.report.page import enumerated

_METHODS = ("wl", "stwin", "wl-encoder", "ntwin", "wl-svc", "stwin-svc")
_BEGIN, _END = "<!-- figures:start -->", "<!-- figures:end -->"
_FEW = 4
_ON_PAIRS = {"STwin-GNN": "stwin", "NTwin-GNN": "ntwin", "1-WL": "wl"}


class Finding(NamedTuple):
    """A sentence, and optionally a figure in large type with its description."""

    sentence: str
    figure: str = ""
    caption: str = ""


def findings_of(results: Results) -> list[Finding]:
    """Return the findings, most important first; parts that were not run are left out.

    >>> from twinwl.paper.result_cells import Results
    >>> [finding.figure for finding in findings_of(Results([]))]
    ['']
    """
    makers = (_on_molecules, _on_pairs, _protocol, _closeness, _runtime, _coverage)
    return [finding for make in makers if (finding := make(results)) is not None]


def headline_table(results: Results) -> str:
    """Return fair accuracies of 1-WL and the Twins on all data sets of the paper, as Markdown.

    >>> from twinwl.paper.result_cells import Results
    >>> headline_table(Results([])).splitlines()[2]
    "| 1-WL, STwin's MLP | not run | not run | not run | not run | not run | not run |"
    """
    datasets = [*TABLES["table1"].datasets, *TABLES["table2"].datasets]
    lines = [["fair accuracy, %", *datasets], ["---", *["---:"] * len(datasets)]]
    for method in _METHODS:
        cells = []
        for dataset in datasets:
            cell = results.cell(dataset, method)
            if cell is None:
                cells.append("not run")
                continue
            fair = cell.readings["fair"]
            part = f" ({cell.n_runs} of {cell.n_folds} folds)" if cell.partial else ""
            cells.append(f"{100 * fair.mean:.1f} ± {100 * fair.std:.1f}{part}")
        lines.append([TITLES[method], *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def update_readme(path: Path, results: Results) -> None:
    """Write what was found, and the table, between the marks of a file.

    Raises
    ------
    TwinWLError
        If the file cannot be read or written, or has no marks.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise TwinWLError(f"cannot update {str(path)!r}: {error.strerror or error}") from error
    marked = re.compile(f"({re.escape(_BEGIN)}\n).*?({re.escape(_END)})", re.DOTALL)
    if not marked.search(text):
        raise TwinWLError(
            f"{str(path)!r} has no place for results; put the lines {_BEGIN} and {_END} into it"
        )
    findings = markdown_list([finding.sentence for finding in findings_of(results)])
    between = f"{findings}\n\n{headline_table(results)}"
    with written(path) as stream:
        stream.write(marked.sub(lambda found: f"{found[1]}\n{between}\n\n{found[2]}", text).encode())


def _on_molecules(results: Results) -> Finding | None:
    found = twins_against_wl(results, TABLES["table1"].datasets)
    found = [each for each in found if each.comparison.n_folds >= results.n_folds]
    if not found:
        return None
    better, worse = [each for each in found if each.better], [each for each in found if each.worse]
    points = sorted(each.points for each in found)
    spread = f"mean differences run from {signed(points[0])} to {signed(points[-1])} points"
    if better or worse:
        said = [f"{TITLES[each.twin]} on {each.dataset}" for each in better]
        sentence = (
            "On real molecules a Twin is significantly better than 1-WL under the same classifier in "
            f"{len(better)} of {len(found)} comparisons"
            + (f" ({enumerated(said)})" if 0 < len(said) <= _FEW else "")
            + f" and significantly worse in {len(worse)}; in all others it does not help as far as the folds "
            f"can tell ({spread})."
        )
    else:
        sentence = (
            "On real molecules the Twin does not help on these folds: in none of "
            f"{len(found)} comparisons does it differ significantly from 1-WL under the same classifier "
            f"({spread})."
        )
    caption = "comparisons on real molecules in which a Twin is significantly better than 1-WL"
    return Finding(sentence, f"{len(better)} of {len(found)}", caption)


def _on_pairs(results: Results) -> Finding | None:
    counts = {name: found[max(found)] for name, found in pairs_apart(results).items()}
    dataset = TABLES["table2"].datasets[0]
    if not {"1-WL", "STwin"} <= counts.keys():
        return None
    (plain, n_pairs), (twin, _) = counts["1-WL"], counts["STwin"]
    cells = [(name, results.cell(dataset, method)) for name, method in _ON_PAIRS.items()]
    scores = [
        f"{name} {100 * cell.readings['fair'].mean:.1f} %"
        for name, cell in cells
        if cell is not None and not cell.partial
    ]
    sentence = (
        f"On {dataset}, {n_pairs} pairs that 1-WL cannot tell apart, STwin's features tell {twin} pairs "
        f"apart and those of 1-WL {plain}" + (f"; fair accuracy: {enumerated(scores)}." if scores else ".")
    )
    return Finding(
        sentence, f"{twin} of {n_pairs}", f"pairs of {dataset} that STwin tells apart; 1-WL: {plain}"
    )


def _protocol(results: Results) -> Finding | None:
    rises = protocol_rises(_complete(results, "table1"))
    if not rises:
        return None
    mean = sum(rises) / len(rises)
    sentence = (
        "The protocol matters: if the best epoch is chosen on each test fold, the accuracy of the same runs "
        f"is {mean:.1f} points higher on average than under the fair protocol, which uses a test fold once."
    )
    return Finding(
        sentence, f"+{mean:.1f} points", "on average from protocol alone: best-fold-epoch instead of fair"
    )


def _closeness(results: Results) -> Finding | None:
    found = closeness_to_paper(results)
    if not found:
        return None
    near, fair = sum(each.within for each in found), sum(each.fair_within for each in found)
    sentence = (
        f"Under that optimistic protocol {near} of {len(found)} figures of STwin-GNN and NTwin-GNN are "
        f"within one reported standard deviation of the paper's; under the fair protocol "
        f"{fair} of {len(found)} are."
    )
    caption = "figures of the Twin-GNNs within one deviation of the paper's, read as best-fold-epoch"
    return Finding(sentence, f"{near} of {len(found)}", caption)


def _runtime(results: Results) -> Finding | None:
    rows = results.of_kind(RUNTIMES)
    timed = [found for name in RUNTIME_SETS if (found := compare_runtimes(rows, name)) is not None]
    if not timed:
        return None
    ratios = sorted(sum(each.stwin) / len(each.stwin) * len(each.wl) / sum(each.wl) for each in timed)
    return Finding(
        f"STwin's features take {ratios[0]:.2f} to {ratios[-1]:.2f} times as long as those of 1-WL."
    )


def _coverage(results: Results) -> Finding:
    n_cells = sum(len(TABLES[name].rows) * len(TABLES[name].datasets) for name in ("table1", "table2"))
    complete = {
        (cell.method, cell.dataset) for name in ("table1", "table2") for cell in _complete(results, name)
    }
    n_run = len(complete)
    if n_run == n_cells:
        return Finding(f"All {n_cells} cells of tables 1 and 2 have been run.")
    reported = {
        (row.method, dataset)
        for name in ("table1", "table2")
        for row in TABLES[name].rows
        for dataset in TABLES[name].reported.get(row.title, {})
    }
    all_of_paper = ", among them all that the paper fills" if reported <= complete else ""
    return Finding(
        f"{n_run} of {n_cells} cells of tables 1 and 2 are complete{all_of_paper}; the others are marked."
    )


def _complete(results: Results, name: str) -> list[ResultCell]:
    table = TABLES[name]
    cells = [results.cell(dataset, row.method) for row in table.rows for dataset in table.datasets]
    return [cell for cell in cells if cell is not None and not cell.partial]
