"""Sections about what is measured without folds: runtimes, pairs told apart, the case study, growth."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from twinwl.evaluation.case_study_runs import CASE_GRAPHS, COSINES, PREDICTIONS
from twinwl.evaluation.feature_runs import PAIRS_APART, RUNTIME_ROUNDS, RUNTIMES
from twinwl.evaluation.paper_tables import TABLES, TITLES
from twinwl.evaluation.reported import CASE_COSINES, RUNTIME_P_VALUE
from twinwl.report.blocks import Drawings, Paragraph, PlainTable, Section
from twinwl.report.result_charts import growth_chart, pairs_chart
from twinwl.report.result_tables import runtime_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from twinwl.report.blocks import Block
    from twinwl.report.result_cells import Results

__all__ = ["case_section", "growth_section", "pairs_drawing", "runtime_section"]

_FEWEST_IN_A_CHART = 2


def pairs_drawing(results: Results) -> Drawings | None:
    """Show how many pairs of EXP features tell apart, round by round; None where that was not counted."""
    counts = _pairs_apart(results)
    if not counts:
        return None
    n_pairs = next(of for found in counts.values() for _, of in found.values())
    plain = {name: {h: pairs for h, (pairs, _) in found.items()} for name, found in counts.items()}
    rounds = sorted({h for found in plain.values() for h in found})
    table = PlainTable(
        ["pairs told apart", *(f"h = {h}" for h in rounds)],
        [[name, *(str(found.get(h, "–")) for h in rounds)] for name, found in plain.items()],
    )
    dataset = TABLES["table2"].datasets[0]
    caption = f"How many of the {n_pairs} pairs of {dataset} have different features after h rounds."
    return Drawings([pairs_chart(plain, n_pairs, dataset)], caption, [], table)


def runtime_section(results: Results) -> Section | None:
    """Set table 3 beside ours."""
    table = runtime_table(results.of_kind(RUNTIMES))
    if table is None:
        return None
    text = (
        f"Time to represent all graphs of a set, {RUNTIME_ROUNDS} rounds, each method run in turns after a "
        f"warm-up. The paper reports p = {RUNTIME_P_VALUE} over ten runs each; ours is Welch's t-test, set "
        "by set. A small p says that the ratio differs from 1, not that it differs by much."
    )
    return Section("table3", "Table 3: runtime of the features", [Paragraph(text), table])


def case_section(results: Results, pictures: list[str]) -> Section | None:
    """Show the case study: the drawing where the data are at hand, cosines and predictions from the store."""
    cosines = {row["method"]: row["scores"]["cosine"] for row in results.of_kind(COSINES)}
    predictions = results.of_kind(PREDICTIONS)
    if not cosines and not pictures:
        return None
    blocks: list[Block] = []
    first, second = CASE_GRAPHS
    if pictures:
        caption = (
            f"Graphs {first} and {second} of Mutagenicity, counted from 1. Shaded: atoms whose surroundings "
            "(own element and those of the neighbours) do not occur in the other molecule."
        )
        words = f"Graphs {first} and {second} of Mutagenicity, counted from 1 (drawn in the HTML page)."
        blocks.append(Drawings(pictures, caption, size="medium", in_words=words))
    if cosines:
        rows = [[name, f"{value:.4f}", f"{CASE_COSINES[name]:.4f}"] for name, value in cosines.items()]
        blocks.append(PlainTable(["cosine after two rounds", "ours", "expected"], rows))
    if predictions:
        blocks.append(Paragraph("What models predict that learnt from all other graphs:"))
        blocks.append(_predictions(results))
    return Section("case-study", "Case study: two real molecules", blocks)


def growth_section(benchmark: Mapping[str, object] | None) -> Section | None:
    """Show how the cost of features grows, as measured by ``benchmarks/refinement.py``."""
    if not benchmark:
        return None
    charts, rows = [], []
    for field, unit, title in (
        ("graphs", "graphs", "STwin features of ever more graphs"),
        ("nodes", "nodes", "Rooted sizes of one ever larger graph"),
    ):
        measured = benchmark.get(field)
        if isinstance(measured, list) and len(measured) >= _FEWEST_IN_A_CHART:
            points = [(float(each[unit]), float(each["seconds"])) for each in measured]
            charts.append(growth_chart(title, unit, points))
            rows += [[f"{size:,.0f} {unit}", f"{seconds:.4f}"] for size, seconds in points]
    if not charts:
        return None
    caption = "Dashed: what growing in proportion to the first point would be. Both axes are logarithmic."
    drawings = Drawings(charts, caption, [], PlainTable(["", "seconds"], rows), in_words="")
    return Section("growth", "How runtime grows", [drawings])


def _pairs_apart(results: Results) -> dict[str, dict[int, tuple[int, int]]]:
    counts: dict[str, dict[int, tuple[int, int]]] = defaultdict(dict)
    for row in results.of_kind(PAIRS_APART):
        h = row["config"]["n_iter"]
        if row["dataset"] in TABLES["table2"].datasets and isinstance(h, int):
            counts[row["method"]][h] = (int(row["scores"]["pairs"]), int(row["scores"]["of"]))
    return counts


def _predictions(results: Results) -> PlainTable:
    first, second = CASE_GRAPHS
    of_method = defaultdict(list)
    for row in results.of_kind(PREDICTIONS):
        of_method[row["method"]].append(row["scores"])
    rows = []
    for method, scores in of_method.items():
        cells = []
        for graph in (first, second):
            right = sum(score[f"right-{graph}"] for score in scores)
            sure = sum(score[f"probability-{graph}"] for score in scores) / len(scores)
            cells += [f"{right:.0f} of {len(scores)}", f"{sure:.2f}"]
        rows.append([TITLES.get(method, method), *cells])
    header = [
        "",
        f"{first}: right",
        "probability of its class",
        f"{second}: right",
        "probability of its class",
    ]
    return PlainTable(header, rows)
