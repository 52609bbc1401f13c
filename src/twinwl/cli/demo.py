"""``twinwl demo``: 1-WL and the Twin-GNNs trained and tested within a minute, with a page of results."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twinwl.cli.options import DataDir
from twinwl.terminal import new_console, say

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from twinwl.datasets.dataset import Dataset
    from twinwl.report.results.cells import ResultCell, Results

_METHODS = ("wl", "stwin", "ntwin")
_FOLDS = 5
_SECONDS = 45.0  # if TWINS took longer, the second data set is skipped
_STORY = (
    "TWINS consists of pairs of molecule-like graphs with opposite classes that 1-WL cannot tell apart. "
    "Three networks are trained on them: one with 1-WL features, and the two Twin-GNNs of the paper."
)


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command()(demo)


def demo(
    example: Annotated[
        bool, typer.Option("--example", help="Only print the worked example of the paper; takes a second.")
    ] = False,
    report: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the page of results.")] = Path(
        "report.html"
    ),
    pairs: Annotated[int, typer.Option(min=20, help="Number of pairs in TWINS.")] = 200,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes. \\[default: one per core, two at most]")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Train 1-WL, STwin and NTwin on graphs that 1-WL cannot tell apart, and write an HTML page of results.

    Needs no data. If MUTAG is available, it is run too.
    """
    if example:
        from twinwl.cli.worked_example import show_worked_example  # noqa: PLC0415

        show_worked_example()
        return
    from rich.text import Text  # noqa: PLC0415  (keeps --help fast)

    from twinwl.cli.output_files import PAGES, check_output  # noqa: PLC0415
    from twinwl.errors import check_extra  # noqa: PLC0415

    check_output(report, PAGES)
    check_extra("torch", "neural")
    from twinwl.paper.pages import demo_page  # noqa: PLC0415
    from twinwl.report.results.html_page import write_results  # noqa: PLC0415

    console = new_console()
    console.print(Text("Twin Weisfeiler-Lehman", "bold"))
    console.print(_STORY)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        datasets = _datasets(pairs, data_dir)
        store = Path(folder) / "demo.jsonl"
        try:
            results = _run(datasets, store, jobs or min(2, os.cpu_count() or 1), began, console)
        except KeyboardInterrupt:
            say("interrupted; no page was written", error=True)
            raise typer.Exit(130) from None
    console.print(f"\nAccuracy in per cent, fair: mean ± deviation over {_FOLDS} folds")
    console.print(_table(results, [data.name for data in datasets]))
    _explain(console, results)
    write_results(demo_page(results, datasets[0]), report)
    seconds = time.monotonic() - began
    console.print(
        Text.assemble(
            "Written to ",
            (str(report), "bold"),
            f" after {seconds:.0f} s; open it in a browser:\n{report.resolve().as_uri()}",
        ),
        soft_wrap=True,
    )


def _datasets(pairs: int, data_dir: Path | None) -> list[Dataset]:
    """Return TWINS, and MUTAG if it is available; nothing is downloaded."""
    from twinwl.datasets.catalogue.locations import find  # noqa: PLC0415
    from twinwl.datasets.source import load_dataset  # noqa: PLC0415

    datasets = [load_dataset("TWINS", n_pairs=pairs)]
    if find("MUTAG", data_dir) is not None:
        datasets.append(load_dataset("MUTAG", data_dir=data_dir))
    return datasets


def _run(datasets: list[Dataset], store: Path, jobs: int, began: float, console: Console) -> Results:
    """Run all methods on the same folds of each data set; skip the second one if the first took too long."""
    from twinwl.evaluation.evaluate import evaluate  # noqa: PLC0415
    from twinwl.paper.reproduction import stored_rows  # noqa: PLC0415
    from twinwl.report.results.cells import Results  # noqa: PLC0415

    for data in list(datasets):
        if time.monotonic() - began > _SECONDS:
            say(f"{data.name} is skipped: the run has already taken {time.monotonic() - began:.0f} s")
            datasets.remove(data)
            continue
        for method in _METHODS:
            evaluate(method, data, edge_labels=False, n_folds=_FOLDS, n_jobs=jobs, store=store)
            if not console.is_terminal:  # there is no bar to watch
                cell = Results(stored_rows([store]), _FOLDS).cell(data.name, method)
                say(f"{method} on {data.name}: {_figure(cell)}", error=True)
    return Results(stored_rows([store]), _FOLDS)


def _table(results: Results, datasets: list[str]) -> Table:
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    from twinwl.paper.tables import TITLES  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for dataset in datasets:
        table.add_column(dataset, justify="right")
    for method in _METHODS:
        cells = [_figure(results.cell(dataset, method)) for dataset in datasets]
        name = Text(TITLES[method], "" if method == "wl" else "bold green")
        table.add_row(name, *cells)
    return table


def _figure(cell: ResultCell | None) -> str:
    if cell is None:
        return "not run"
    fair = cell.readings["fair"]
    return f"{100 * fair.mean:.2f} ± {100 * fair.std:.2f}"


def _explain(console: Console, results: Results) -> None:
    from rich.text import Text  # noqa: PLC0415

    from twinwl.paper.findings import twins_against_wl  # noqa: PLC0415
    from twinwl.paper.tables import DEMO_PAIRS  # noqa: PLC0415

    for found in twins_against_wl(results, ["TWINS", "MUTAG"], DEMO_PAIRS):
        console.print(Text.assemble((found.dataset, "bold"), f": {found.comparison}"))
