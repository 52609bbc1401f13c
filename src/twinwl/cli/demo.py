"""``twinwl demo``: from a table of graphs to a trained and explained model, beside 1-WL, in half a minute.

``twinwl demo --example``: the paper's worked example, computed.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from twinwl.cli.options import DataDir
from twinwl.terminal import new_console, say

if TYPE_CHECKING:
    from rich.table import Table

    from twinwl.arrays import Int64
    from twinwl.datasets.dataset import Dataset
    from twinwl.models.explanation import Explanation
    from twinwl.report.page import Page

_ROUNDS = 2
_DRAWINGS = {
    "G1": "1 --- 2\n|     |\n3 --- 4\n|     |\n5 --- 6",
    "G2": "1         5\n| \\     / |\n|  3 - 4  |\n| /     \\ |\n2         6",
}
_EXAMPLE_STORY = (
    "The first colour of a node is its degree. In each round, 1-WL gives every node a new colour for its own "
    "and its neighbours' colours, and counts the nodes of each colour. Twin-WL also passes identities: for "
    "each colour, STwin sums how many nodes its nodes have reached."
)


class _Vectors(NamedTuple):
    """The vectors of both methods: one array per round, with one row per graph and one column per colour."""

    wl: list[Int64]
    stwin: list[Int64]
    stable: bool


def show_worked_example() -> None:
    """Print the paper's worked example: two graphs that Twin-WL tells apart and 1-WL cannot."""
    from rich.columns import Columns  # noqa: PLC0415  (keeps --help fast)
    from rich.panel import Panel  # noqa: PLC0415

    vectors = _refined(_ROUNDS)
    console = new_console(markup=True)
    console.print("[bold]Twin Weisfeiler-Lehman: the worked example of the paper[/]\n")
    console.print(Columns([Panel(art, title=name, padding=(0, 3)) for name, art in _DRAWINGS.items()]))
    console.print(_EXAMPLE_STORY)
    console.print(_example_table(vectors))
    console.print(f"[bold]{'1-WL':>7}[/]  {_wl_verdict(vectors)}", soft_wrap=True)
    console.print(f"[bold]{'Twin-WL':>7}[/]  {_twin_verdict(vectors)}", soft_wrap=True)


def _refined(n_iter: int) -> _Vectors:
    """Refine the worked example; count nodes and sum rooted sizes by colour."""
    import numpy as np  # noqa: PLC0415

    from twinwl.datasets.generators import worked_example  # noqa: PLC0415
    from twinwl.models.features import stwin_features  # noqa: PLC0415
    from twinwl.refinement.colours import refine  # noqa: PLC0415

    batch = worked_example()
    found = [stwin_features(batch, n_iter, kind) for kind in ("count", "size")]
    cuts = np.cumsum(found[0].space.columns_per_round)[:-1]
    wl, stwin = (np.split(one.matrix.toarray().astype(np.int64), cuts, axis=1) for one in found)
    return _Vectors(wl, stwin, stable=refine(batch, None).n_iter <= n_iter)


def _example_table(vectors: _Vectors) -> Table:
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("round", justify="right")
    for method in ("1-WL", "STwin"):
        for name in _DRAWINGS:
            table.add_column(f"{method} {name}", justify="right", min_width=10)
    for h, (counts, sums) in enumerate(zip(vectors.wl, vectors.stwin, strict=True)):
        table.add_row(str(h), *_row(counts), *_row(sums))
    return table


def _row(of_graphs: Int64) -> list[str]:
    """Format the vectors of both graphs, in colour where they differ."""
    texts = [_written(vector.tolist()) for vector in of_graphs]
    return texts if len(set(texts)) == 1 else [f"[bold green]{text}[/]" for text in texts]


def _wl_verdict(vectors: _Vectors) -> str:
    parted = _parted(vectors.wl)
    if parted is not None:
        return f"[bold green]tells G1 and G2 apart[/] in round {parted}"
    ending = "its colours are stable" if vectors.stable else f"not within {_ROUNDS} rounds"
    return f"[bold red]cannot tell G1 and G2 apart[/]: {ending}"


def _twin_verdict(vectors: _Vectors) -> str:
    parted = _parted(vectors.stwin)
    if parted is None:
        return "[bold red]cannot tell G1 and G2 apart[/]"
    first, second = (
        _written([value for of_graphs in vectors.stwin for value in of_graphs[graph].tolist()])
        for graph in (0, 1)
    )
    return f"[bold green]tells G1 and G2 apart[/] in round {parted}: {first} is not {second}"


def _parted(rounds: list[Int64]) -> int | None:
    """Return the first round in which the vectors of the two graphs differ."""
    return next((h for h, (first, second) in enumerate(rounds) if (first != second).any()), None)


def _written(values: list[int]) -> str:
    return f"({', '.join(map(str, values))})"


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
        show_worked_example()
        return
    from rich.text import Text  # noqa: PLC0415  (keeps --help fast)

    from twinwl.cli.output import PAGES, check_output  # noqa: PLC0415

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
    from twinwl.datasets.catalogue import find  # noqa: PLC0415
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
    from twinwl.terminal import ProgressBar  # noqa: PLC0415

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
    from twinwl.report.page import write_page  # noqa: PLC0415

    groups = np.asarray(data.groups)
    kept_back = groups == groups[int(data.graphs.nodes_per_graph.argmin())]
    rest = np.flatnonzero(~kept_back)
    model = twinwl.STwinSVC(edge_labels=False, random_state=0).fit(
        data.graphs[rest], data.targets[rest], groups=groups[rest]
    )
    path = report.with_suffix(".twinwl")
    twinwl.save(model, path)
    pair = np.flatnonzero(kept_back).tolist()
    write_page(report, demo_page(figures, {graph: model.explain(data.graphs[graph]) for graph in pair}))
    return pair[0], path


def demo_page(figures: list[list[str]], explained: dict[int, Explanation]) -> Page:
    """Put the page together: what was just run, the model explained, and the worked example.

    Parameters
    ----------
    figures
        Header and rows of the table of accuracies.
    explained
        Explanations of a pair of TWINS that the model was not trained on, by their index.
    """
    from twinwl.report.page import Drawings, Page, Paragraph, PlainTable, Section  # noqa: PLC0415
    from twinwl.report.svg import Canvas  # noqa: PLC0415

    class Picture(Canvas):
        """A drawing of an explanation."""

        def __init__(self, graph: int, explanation: Explanation) -> None:
            super().__init__(0, 0, f"Graph {graph}, predicted {explanation.predicted}")
            self.markup = explanation._repr_html_  # type: ignore[method-assign, assignment]

    strongest = [
        [
            f"{found.predicted}, graph {graph}",
            f"{column.share:+.3f}",
            f"{len(column.nodes)} × {str(column.tree).partition(chr(10))[0]}",
        ]
        for graph, found in explained.items()
        for column in found.columns[:2]
    ]
    pair = "A pair that the model has not seen, its nodes shaded by their shares of the decision."
    columns = "Patterns with the largest shares of the decision: how often, and the atom in the centre."
    vectors = _refined(_ROUNDS)
    rounds = [
        [f"{name}, round {h}", *(_written(vector.tolist()) for vector in of_graphs)]
        for name, found in (("1-WL", vectors.wl), ("STwin", vectors.stwin))
        for h, of_graphs in enumerate(found)
    ]
    drawings = Drawings([Picture(*item) for item in explained.items()], pair, size="medium")
    sections = [
        Section("accuracy", "Accuracy", [Paragraph(_STORY), PlainTable(figures[0], figures[1:])]),
        Section(
            "explained",
            "Why the model predicts these classes",
            [
                drawings,
                Paragraph(columns),
                PlainTable(["class", "share", "pattern"], strongest, frozenset({2})),
            ],
        ),
        Section(
            "example",
            "Two graphs that 1-WL cannot tell apart",
            [Paragraph(_EXAMPLE_STORY), PlainTable(["", *_DRAWINGS], rounds)],
        ),
    ]
    lede = f"Both were trained with the same classifiers on {' and '.join(figures[0][1:])}, on this machine."
    highlights = [(row[1].partition(" ")[0] + " %", f"{row[0]} on {figures[0][1]}") for row in figures[1:3]]
    made_by = ["Every figure on this page was generated by the program that ran the experiments."]
    return Page("Twin-WL compared with 1-WL", [lede], highlights, sections, made_by)
