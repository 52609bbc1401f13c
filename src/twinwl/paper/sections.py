"""The sections of the results page, built from stored rows; sections without results are left out."""

from __future__ import annotations

from collections.abc import Sequence

from twinwl.paper.accuracy_tables import (
    accuracy_table,
    by_method,
    closeness_table,
    leaks_table,
    significance_table,
)
from twinwl.paper.charts import cost_chart, difference_axes, difference_chart, protocol_chart
from twinwl.paper.findings import (
    PROTOCOL_SENTENCE,
    closeness_to_paper,
    no_help,
    protocol_gap,
    twins_against_wl,
    verdict,
)
from twinwl.paper.measured_sections import FEWEST_IN_A_CHART, pairs_drawing
from twinwl.paper.result_cells import ResultCell, Results
from twinwl.paper.tables import PaperTable
from twinwl.report.page import Block, Bullets, Drawings, Paragraph, Section

_READING_HELP = (
    "Mean ± standard deviation over the folds, in per cent; in parentheses the number of runs (folds × "
    "repeats). “fair” is the main figure; the protocols called optimistic, or marked *, choose by test "
    "accuracy and are shown for comparison with published figures. “not run” means that the store has no "
    "complete results."
)
_EXP_HELP = (
    "EXP consists of pairs of graphs with opposite classes that 1-WL cannot tell apart. Pairs are kept in "
    "one fold, so a method bounded by 1-WL can only guess. The rows are as in table 1."
)


def accuracy_section(table: PaperTable, results: Results) -> Section:
    """Show a table of the paper with our figures and the reported ones."""
    help_ = _EXP_HELP if table.name == "table2" else _READING_HELP
    blocks: list[Block] = [Paragraph(help_), accuracy_table(table, results)]
    apart = pairs_drawing(results) if table.name == "table2" else None
    if apart is not None:
        blocks.append(apart)
    return Section(table.name, _title(table), blocks)


def significance_section(results: Results, datasets: Sequence[str]) -> Section | None:
    """Compare Twin with 1-WL over the same folds."""
    found = twins_against_wl(results, datasets)
    found = [each for each in found if each.comparison.n_folds >= results.n_folds]
    if not found:
        return None
    help_ = (
        "Each Twin method is compared with 1-WL under the same classifier on the same folds, under the fair "
        "protocol. "
        "Folds share training graphs, so the t-test is the corrected resampled one; a plain t-test would "
        "overstate differences. A difference is significant if p (t) is below 0.05; without any true "
        "difference, one comparison in twenty would be too."
    )
    pairs = dict.fromkeys((each.twin, each.wl) for each in found)
    axes = difference_axes(found)
    charts = [
        difference_chart([each for each in found if (each.twin, each.wl) == pair], axes) for pair in pairs
    ]
    caption = (
        "Right of zero the Twin is better. Bars: 95 % intervals of the corrected test; hollow marks may be "
        "chance."
    )
    if axes.large and axes.small:
        caption += " Small differences have their own, enlarged axis."
    vain = no_help(found)
    blocks: list[Block] = [Bullets([*([] if vain is None else [vain]), *verdict(found)]), Paragraph(help_)]
    blocks.append(Drawings(charts, caption, [], significance_table(found), "medium", "results-significance"))
    return Section("significance", "Does the Twin help?", blocks)


def protocol_section(results: Results, tables: Sequence[PaperTable]) -> Section | None:
    """Show the protocols side by side."""
    drawings, cells_shown = [], []
    for table in tables:
        for dataset in table.datasets:
            cells = _cells(results, table, dataset)
            if len(cells) < FEWEST_IN_A_CHART:
                continue
            reported = {
                row.method: table.reported[row.title][dataset]
                for row in table.rows
                if row.in_paper and dataset in table.reported.get(row.title, {})
            }
            drawings.append(protocol_chart(dataset, cells, reported))
            cells_shown += cells
    if not drawings:
        return None
    # On EXP everything stands at 50 or at 100 %, whatever the protocol: that would hide the gap.
    gap = protocol_gap([cell for cell in cells_shown if cell.dataset in tables[0].datasets])
    blocks: list[Block] = [Paragraph(PROTOCOL_SENTENCE if gap is None else f"{gap} {PROTOCOL_SENTENCE}")]
    legend = [
        ("dot fair", "fair"),
        ("dot best-epoch", "best-epoch, optimistic"),
        ("dot best-fold-epoch", "best-fold-epoch, optimistic"),
        ("paper", "paper"),
    ]
    caption = (
        "Accuracy in per cent of the same runs under three protocols (filled: fair; small and hollow: "
        "best-epoch; large and hollow: best-fold-epoch), and the paper's figures (red lines). Kernels and "
        "support vector machines have no epochs."
    )
    table_of_all = by_method(cells_shown, _fair_and_best)
    blocks.append(Drawings(drawings, caption, legend, table_of_all, name="results-protocols"))
    return Section("protocols", "The effect of the protocol", blocks)


def closeness_section(results: Results) -> Section | None:
    """Compare our most optimistic figures of the Twin-GNNs with the reported ones."""
    found = closeness_to_paper(results)
    if not found:
        return None
    n_within = sum(each.within for each in found)
    n_above = sum(each.ours > each.reported + each.reported_std for each in found)
    text = (
        f"Under best-fold-epoch, {n_within} of {len(found)} cells of STwin-GNN and NTwin-GNN are within "
        "one reported standard deviation of the paper's figure"
        + (f"; above it: {n_above} of the others. " if n_above else ". ")
        + f"Under the fair protocol, {sum(each.fair_within for each in found)} of {len(found)} are."
    )
    return Section(
        "closeness", "How close to the reported figures", [Paragraph(text), closeness_table(found)]
    )


def cost_section(results: Results, table: PaperTable) -> Section | None:
    """Show accuracy against training cost."""
    drawings, every = [], []
    for dataset in table.datasets:
        cells = _cells(results, table, dataset)
        every += cells
        if len(cells) < FEWEST_IN_A_CHART:
            continue
        drawings.append(cost_chart(dataset, cells))
    if not drawings:
        return None
    caption = (
        "Fair accuracy in per cent against the median time of one fit (one configuration on one fold, "
        "encoding included). The machine was also busy with other work, so only the order of magnitude is "
        "reliable. Points without a label show it when pointed at."
    )
    table_of_all = by_method(every, _fair_and_seconds)
    charts = Drawings(drawings, caption, [], table_of_all, "medium", "results-cost")
    return Section("cost", "Accuracy against training cost", [charts])


def copies_section(results: Results, table: PaperTable) -> Section | None:
    """Show the effect of test graphs with copies in the training part."""
    leaks = leaks_table([cell for dataset in table.datasets for cell in _cells(results, table, dataset)])
    if leaks is None:
        return None
    text = (
        "Some test graphs have an isomorphic copy, labels included, in their training part (their number is "
        "in brackets after the data set). Fair accuracy without them, and the difference in points:"
    )
    return Section("copies", "Copies in the training part", [Paragraph(text), leaks])


def _title(table: PaperTable) -> str:
    return f"Table {table.name[-1]}: {table.title[0].lower()}{table.title[1:]}"


def _cells(results: Results, table: PaperTable, dataset: str) -> list[ResultCell]:
    """Return the cells that a chart may show: only complete ones."""
    found = [results.cell(dataset, row.method) for row in table.rows]
    return [cell for cell in found if cell is not None and not cell.partial]


def _fair_and_best(cell: ResultCell) -> str:
    best = cell.readings.get("best-fold-epoch")
    fair = f"{100 * cell.readings['fair'].mean:.2f}"
    return fair if best is None else f"{fair} → {100 * best.mean:.2f}"


def _fair_and_seconds(cell: ResultCell) -> str:
    return f"{100 * cell.readings['fair'].mean:.2f}, {cell.seconds:.2f} s"
