"""``twinwl demo``: from a table of graphs to a trained and explained model, beside 1-WL, in half a minute."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from twinwl.cli.options import DataDir
from twinwl.terminal import new_console, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from twinwl.datasets.dataset import Dataset

_FOLDS = 5
_SECONDS = 14.0  # after which nothing further is begun: what has begun takes ten seconds at most
_ROWS_SHOWN = 4
_STORY = (
    "TWINS consists of pairs of molecule-like graphs with opposite classes. 1-WL, and with it most graph "
    "neural networks, cannot tell the two graphs of a pair apart; Twin-WL can."
)


class _Comparison(NamedTuple):
    """1-WL and STwin under the same classifier, which is only worth running as a whole."""

    estimator: str
    titles: tuple[str, str]
    parameters: tuple[dict[str, Any], dict[str, Any]]
    package: str


_COMPARISONS = (
    _Comparison("STwinSVC", ("1-WL, SVM", "STwin, SVM"), ({"features": "count"}, {}), "sklearn"),
    _Comparison("STwinClassifier", ("1-WL, STwin's MLP", "STwin-GNN"), ({"features": "count"}, {}), "torch"),
)
_Scores = dict[tuple[str, str], list[float]]  # (method, data set): the accuracy of each fold


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command()(demo)


def demo(
    example: Annotated[
        bool, typer.Option("--example", help="Only print the worked example of the paper; takes a second.")
    ] = False,
    report: Annotated[
        Path, typer.Option(metavar="FILE", help="Where to write the page; the model is written beside it.")
    ] = Path("report.html"),
    pairs: Annotated[int, typer.Option(min=20, help="Number of pairs in TWINS.")] = 100,
    data_dir: DataDir = None,
) -> None:
    """Train STwin and 1-WL on graphs that 1-WL cannot tell apart, explain a prediction, and write a page.

    Needs no data. If MUTAG is available, it is run too. On a slow machine fewer comparisons are run.
    """
    if example:
        from twinwl.cli.worked_example import show_worked_example  # noqa: PLC0415

        show_worked_example()
        return
    from rich.text import Text  # noqa: PLC0415  (keeps --help fast)

    from twinwl.cli.output_files import PAGES, check_output  # noqa: PLC0415

    check_output(report, PAGES)
    console = new_console()
    console.print(Text("Twin Weisfeiler-Lehman", "bold"))
    console.print(_STORY)
    began = time.monotonic()
    try:
        datasets = _datasets(pairs, data_dir)
        console.print(f"\n{datasets[0].name}, {len(datasets[0]):,} graphs")
        console.print(_head(datasets[0]))
        scores = _scores(datasets, began)
        figures = _figures(scores)
        console.print(f"Accuracy in per cent: mean ± deviation over {_FOLDS} folds, pairs kept together")
        console.print(_printed(figures[0], figures[1:]))
        graph, model = _write(report, datasets[0], figures)
    except KeyboardInterrupt:
        say("interrupted; no page was written", error=True)
        raise typer.Exit(130) from None
    program = "twinwl" if shutil.which("twinwl") else f"{os.path.relpath(sys.executable)} -m twinwl"
    console.print(
        Text.assemble(
            f"After {time.monotonic() - began:.0f} s there are a model in {model} and a page about it:\n",
            (report.resolve().as_uri(), "bold"),
            "\n\nNext, see why it predicts what it does for a graph that it was not trained on:\n",
            (f"{program} explain {model} TWINS:n_pairs={pairs}#{graph} --html why.html", "bold"),
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


def _head(data: Dataset) -> Table:
    """Show the first graphs of a data set as the table that they are."""
    rows = [
        [str(row), str(one.n_nodes), str(len(one.indices) // 2), str(data.targets[row])]
        for row, one in enumerate(data.graphs[:_ROWS_SHOWN])
    ]
    return _printed(["graph", "nodes", "edges", "class"], [*rows, ["…", "", "", ""]])


def _scores(datasets: list[Dataset], began: float) -> _Scores:
    """Run one comparison after the other while there is time; the first always."""
    from twinwl.progress import ProgressBar  # noqa: PLC0415

    scores: _Scores = {}
    for data in datasets:
        for comparison in _COMPARISONS:
            title = f"{comparison.titles[1]} and 1-WL on {data.name}"
            if not _is_there(comparison.package):
                say(f"{title}: left out, needs {comparison.package}", error=True)
            elif scores and time.monotonic() - began > _SECONDS:
                say(f"{title}: left out, {time.monotonic() - began:.0f} s have passed", error=True)
            else:
                say(f"{title} …", error=True)
                with ProgressBar(title, 2 * _FOLDS) as bar:
                    for method, accuracy in _accuracies(comparison, data):
                        scores.setdefault((method, data.name), []).append(accuracy)
                        bar.advance()
    return scores


def _is_there(package: str) -> bool:
    try:
        importlib.import_module(package)
    except ImportError:
        return False
    return True


def _accuracies(comparison: _Comparison, data: Dataset) -> Iterator[tuple[str, float]]:
    import twinwl  # noqa: PLC0415
    from twinwl.evaluation.splits import split_of  # noqa: PLC0415

    for fold in split_of(data, None, _FOLDS, "classification").folds(0):
        train, test = fold.training_part, fold.test
        groups = None if data.groups is None else data.groups[train]
        for method, parameters in zip(comparison.titles, comparison.parameters, strict=True):
            model = getattr(twinwl, comparison.estimator)(random_state=0, edge_labels=False, **parameters)
            model.fit(data.graphs[train], data.targets[train], groups=groups)
            yield method, float(model.score(data.graphs[test], data.targets[test]))


def _figures(scores: _Scores) -> list[list[str]]:
    """Return a header and one row per method, as text."""
    import numpy as np  # noqa: PLC0415

    methods = list(dict.fromkeys(method for method, _ in scores))
    datasets = list(dict.fromkeys(name for _, name in scores))
    rows = [["", *datasets]]
    for method in methods:
        found = [100 * np.array(scores.get((method, name), [])) for name in datasets]
        rows.append(
            [method, *(f"{each.mean():.1f} ± {each.std():.1f}" if len(each) else "" for each in found)]
        )
    return rows


def _printed(header: list[str], rows: list[list[str]]) -> Table:
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(header):
        table.add_column(name, justify="right" if place else "left")
    for row in rows:
        table.add_row(*row, style="bold green" if row[0].startswith("STwin") else "")
    return table


def _write(report: Path, data: Dataset, figures: list[list[str]]) -> tuple[int, Path]:
    """Train on all pairs but the smallest, explain that one, and write model and page."""
    import numpy as np  # noqa: PLC0415

    import twinwl  # noqa: PLC0415
    from twinwl.paper.pages import demo_page  # noqa: PLC0415
    from twinwl.report.results.html_page import write_results  # noqa: PLC0415

    groups = np.asarray(data.groups)
    kept_back = groups == groups[int(data.graphs.nodes_per_graph.argmin())]
    rest = np.flatnonzero(~kept_back)
    model = twinwl.STwinSVC(edge_labels=False, random_state=0).fit(
        data.graphs[rest], data.targets[rest], groups=groups[rest]
    )
    path = report.with_suffix(".twinwl")
    twinwl.save(model, path)
    pair = np.flatnonzero(kept_back).tolist()
    write_results(
        demo_page(figures, data, {graph: model.explain(data.graphs[graph]) for graph in pair}), report
    )
    return pair[0], path
