"""Sections about measurements without folds: ceilings, runtimes, pairs told apart, the case study, growth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from twinwl.evaluation.ceiling import ISOMORPHISM, WL
from twinwl.evaluation.store import Row
from twinwl.paper.accuracy_tables import runtime_table
from twinwl.paper.case_study import CASE_GRAPHS, COSINES, PREDICTIONS
from twinwl.paper.charts import growth_chart, pairs_chart
from twinwl.paper.feature_runs import CEILING_READOUTS, CEILINGS, PAIRS_APART, RUNTIME_ROUNDS, RUNTIMES
from twinwl.paper.result_cells import Results
from twinwl.paper.tables import CASE_COSINES, RUNTIME_P_VALUE, TABLES, TITLES
from twinwl.report.page import Block, Drawings, Paragraph, PlainTable, Section, enumerated
from twinwl.report.svg import Canvas

FEWEST_IN_A_CHART = 2


def pairs_drawing(results: Results) -> Drawings | None:
    """Show how many pairs of EXP features tell apart, round by round; None if that was not counted."""
    counts = pairs_apart(results)
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
    return Drawings([pairs_chart(plain, n_pairs, dataset)], caption, [], table, name="results-pairs")


def ceiling_section(results: Results, datasets: Sequence[str]) -> Section | None:
    """Show the best accuracy that any function of what 1-WL, readouts and isomorphism see could have."""
    found: dict[str, dict[str, Mapping[str, float]]] = defaultdict(dict)
    for row in results.of_kind(CEILINGS):
        found[row["dataset"]][row["method"]] = row["scores"]
    names = [name for name in datasets if {WL, ISOMORPHISM} <= found[name].keys()]
    if not names:
        return None
    gains = {name: 100 * (found[name][ISOMORPHISM]["best"] - found[name][WL]["best"]) for name in names}
    vain = [name for name, points in gains.items() if points <= 0]
    others = [f"on {name} it could gain {gains[name]:.1f} points" for name in names if name not in vain]
    text = (
        "Graphs that look alike but differ in class cannot all be right: for each way to look at them, this "
        "is the best accuracy that any function of what is seen could have on all graphs, without any "
        "training (edge labels left out, as in the tables). "
    )
    if vain:
        text += (
            f"On {enumerated(vain)}, 1-WL has the ceiling of isomorphism, so telling more graphs apart than "
            "1-WL does cannot help there"
        )
        text += f"; {enumerated(others)}." if others else "."
    elif others:
        text += f"Telling more graphs apart than 1-WL does can help: {enumerated(others)}."
    seen = [WL, *CEILING_READOUTS, ISOMORPHISM]
    rows = []
    for name in names:
        scores = found[name]
        best = [f"{100 * scores[one]['best']:.2f}" if one in scores else "–" for one in seen]
        counts = [
            f"{scores[WL]['mixed']:,.0f}",
            *(f"{scores[one]['distinct']:,.0f}" for one in (WL, ISOMORPHISM)),
        ]
        rows.append([name, f"{scores[WL]['of']:,.0f}", f"{100 * scores[WL]['baseline']:.2f}", *best, *counts])
    header = ["best accuracy, %", "graphs", "largest class", *seen, "look like another class (1-WL)"]
    table = PlainTable([*header, "look different (1-WL)", "not isomorphic"], rows)
    return Section("ceiling", "Could more expressive power help?", [Paragraph(text), table])


def runtime_section(results: Results) -> Section | None:
    """Show table 3 with our figures and the reported ones."""
    table = runtime_table(results.of_kind(RUNTIMES))
    if table is None:
        return None
    text = (
        f"Time to compute the features of all graphs of a data set, {RUNTIME_ROUNDS} rounds; the methods "
        f"were run alternately after a warm-up. The paper reports p = {RUNTIME_P_VALUE} over ten runs each; "
        "ours is Welch's t-test for each data set. A small p means that the ratio differs from 1, not that "
        "it differs by much."
    )
    return Section("table3", "Table 3: runtime of the features", [Paragraph(text), table])


def case_section(results: Results, pictures: list[Canvas]) -> Section | None:
    """Show the case study: cosines and predictions, and a drawing if the data are available."""
    cosines = {row["method"]: row["scores"]["cosine"] for row in results.of_kind(COSINES)}
    predictions = results.of_kind(PREDICTIONS)
    if not cosines and not pictures:
        return None
    blocks: list[Block] = []
    first, second = CASE_GRAPHS
    if pictures:
        caption = (
            f"Graphs {first} and {second} of Mutagenicity, counted from 1. Shaded: atoms whose neighbourhood "
            "(own element and those of the neighbours) does not occur in the other molecule."
        )
        blocks.append(Drawings(pictures, caption, size="medium", name="results-case-study"))
    if cosines:
        blocks.append(
            Paragraph(
                "The two graphs are less similar under STwin than under 1-WL. The cosine of their features "
                "after two rounds, and the expected value (computed in advance; the paper does not state it):"
            )
        )
        rows = [[name, f"{value:.4f}", f"{CASE_COSINES[name]:.4f}"] for name, value in cosines.items()]
        blocks.append(PlainTable(["cosine", "ours", "expected"], rows))
    if predictions:
        blocks.append(Paragraph(_what_predictions_show(predictions)))
        blocks.append(_predictions(predictions))
    return Section("case-study", "Case study: two real molecules", blocks)


def growth_section(benchmark: Mapping[str, object] | None) -> Section | None:
    """Show how the cost of features grows, as measured by ``benchmarks/refinement.py``."""
    if not benchmark:
        return None
    charts, rows = [], []
    for field, unit, title in (
        ("graphs", "graphs", "STwin features, by graphs"),
        ("nodes", "nodes", "Rooted sizes of one graph, by nodes"),
    ):
        measured = benchmark.get(field)
        if isinstance(measured, list) and len(measured) >= FEWEST_IN_A_CHART:
            points = [(float(each[unit]), float(each["seconds"])) for each in measured]
            charts.append(growth_chart(title, unit, points))
            rows += [[f"{size:,.0f} {unit}", f"{seconds:.4f}"] for size, seconds in points]
    if not charts:
        return None
    caption = (
        "Graphs: those of NCI1, repeated with nodes permuted and 1 % of the labels changed. Nodes: of one "
        "random graph with five edges per node. Dashed: linear growth from the first point. Both axes are "
        "logarithmic."
    )
    table = PlainTable(["", "seconds"], rows)
    drawings = Drawings(charts, caption, [], table, name="results-growth")
    return Section("growth", "How runtime grows", [drawings])


def pairs_apart(results: Results) -> dict[str, dict[int, tuple[int, int]]]:
    """Return how many pairs of EXP each kind of features tells apart after h rounds, and of how many.

    >>> from twinwl.paper.result_cells import Results
    >>> pairs_apart(Results([]))
    {}
    """
    counts: dict[str, dict[int, tuple[int, int]]] = defaultdict(dict)
    for row in results.of_kind(PAIRS_APART):
        h = row["config"]["n_iter"]
        if row["dataset"] in TABLES["table2"].datasets and isinstance(h, int):
            counts[row["method"]][h] = (int(row["scores"]["pairs"]), int(row["scores"]["of"]))
    return dict(counts)


def _what_predictions_show(predictions: Sequence[Row]) -> str:
    """Say whether 1-WL fails on the two graphs, as the paper states."""
    methods = list(dict.fromkeys(row["method"] for row in predictions))
    wrong = [
        TITLES.get(method, method)
        for method in methods
        if any(
            row["scores"][f"right-{graph}"] < 1
            for row in predictions
            if row["method"] == method
            for graph in CASE_GRAPHS
        )
    ]
    asked = "Each model below was trained on all graphs except these two. "
    if not wrong:
        return (
            f"{asked}All of them, 1-WL included, predict the true class of both molecules every time: the "
            "paper's statement that 1-WL gives both the same class is not confirmed, and this pair shows no "
            "advantage of STwin as a classifier."
        )
    return f"{asked}Not always right: {enumerated(wrong)}."


def _predictions(predictions: Sequence[Row]) -> PlainTable:
    first, second = CASE_GRAPHS
    of_method = defaultdict(list)
    for row in predictions:
        of_method[row["method"]].append(row["scores"])
    rows = []
    for method, scores in of_method.items():
        cells = []
        for graph in (first, second):
            right = sum(score[f"right-{graph}"] for score in scores)
            sure = sum(score[f"probability-{graph}"] for score in scores) / len(scores)
            cells += [f"{right:.0f} of {len(scores)}", f"{sure:.2f}"]
        rows.append([TITLES.get(method, method), *cells])
    header = ["", f"{first} right", "probability", f"{second} right", "probability"]
    return PlainTable(header, rows)
