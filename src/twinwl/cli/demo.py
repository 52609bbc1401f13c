"""``twinwl demo``: from a table of graphs to a trained and explained model, beside 1-WL, in half a minute.

``twinwl demo --example``: the paper's worked example, computed.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import twinwl as tw
from twinwl.cli.options import PAGES, DataDir, new_file, opt
from twinwl.cli.output import print_table
from twinwl.errors import MissingExtraError
from twinwl.terminal import say

_ROUNDS = 2
_FOLDS = 5
_SECONDS = 14.0  # after which nothing further is begun: what has begun takes ten seconds at most
_ROWS_SHOWN = 4
_STORY = (
    "TWINS consists of pairs of molecule-like graphs with opposite classes. 1-WL, and with it most graph "
    "neural networks, cannot tell the two graphs of a pair apart; Twin-WL can."
)
_EXAMPLE = """G1: 1 --- 2        G2: 1         5
    |     |            | \\     / |
    3 --- 4            |  3 - 4  |
    |     |            | /     \\ |
    5 --- 6            2         6
"""
_EXAMPLE_STORY = (
    "The first colour of a node is its degree. In each round, 1-WL gives every node a new colour for its own "
    "and its neighbours' colours, and counts the nodes of each colour. Twin-WL also passes identities: for "
    "each colour, STwin sums how many nodes its nodes have reached."
)


# 1-WL and STwin under the same classifier, by method: only worth running as a whole.
_COMPARISONS = (
    {"wl-svc": "1-WL, SVM", "stwin-svc": "STwin, SVM"},
    {"wl": "1-WL, STwin-GNN's network", "stwin": "STwin-GNN"},
)


def demo(
    example: Annotated[bool, opt("Only print the worked example of the paper.", None, "--example")] = False,
    report: Annotated[Path, new_file("The page; the model is written beside it.", *PAGES)] = Path(
        "report.html"
    ),
    pairs: Annotated[int, opt("Number of pairs in TWINS.", min=20)] = 100,
    data_dir: DataDir = None,
) -> None:
    """Train STwin and 1-WL on graphs that 1-WL cannot tell apart, explain a prediction, and write a page.

    Needs no data. If MUTAG is available, it is run too. On a slow machine fewer comparisons are run.
    """
    if example:
        say(f"Twin Weisfeiler-Lehman: the worked example of the paper\n\n{_EXAMPLE}\n{_EXAMPLE_STORY}")
        vectors = _refine()
        print_table(_example_rows(vectors), ["", "G1", "G2"])
        for method, rounds in vectors.items():
            say(f"{method:>7}  {_verdict(rounds)}")
        return
    say(f"Twin Weisfeiler-Lehman\n{_STORY}")
    began = time.monotonic()
    datasets = _datasets(pairs, data_dir)
    twins = datasets[0]
    say(f"\n{twins.name}, {len(twins):,} graphs")
    head = [
        (row, one.n_nodes, one.n_edges, twins.targets[row])
        for row, one in enumerate(twins.graphs[:_ROWS_SHOWN])
    ]
    print_table([*head, ("…", "", "", "")], ["graph", "nodes", "edges", "class"])
    header, *rows = figures = _figures(datasets, began)
    say(f"Accuracy in per cent: mean ± deviation over {_FOLDS} folds, pairs kept together")
    print_table(rows, header)
    graph, model = _write(report, twins, figures)
    program = "twinwl" if shutil.which("twinwl") else f"{os.path.relpath(sys.executable)} -m twinwl"
    say(
        f"After {time.monotonic() - began:.0f} s there are a model in {model} and a page about it:\n"
        f"{report.resolve().as_uri()}\n\n"
        "Next, see why it predicts what it does for a graph that it was not trained on:\n"
        f"{program} explain {model} TWINS:n_pairs={pairs}#{graph} --html why.html"
    )


def _refine() -> dict[str, list[Any]]:
    """Return the vectors of the worked example by method: for each round, those of both graphs."""
    from twinwl.datasets.generators import worked_example  # noqa: PLC0415
    from twinwl.report.compare import rounds_of_pair  # noqa: PLC0415

    rounds = rounds_of_pair(worked_example(), _ROUNDS)
    return {
        "1-WL": [tuple(zip(*(row.counts for row in result.rows))) for result in rounds],
        "Twin-WL": [tuple(zip(*(row.sums for row in result.rows))) for result in rounds],
    }


def _example_rows(vectors: dict[str, list[Any]]) -> list[list[str]]:
    return [
        [f"{method}, round {h}", *map(str, pair)]
        for method, rounds in vectors.items()
        for h, pair in enumerate(rounds)
    ]


def _verdict(rounds: list[Any]) -> str:
    """Say in which round the vectors of the two graphs first differ."""
    parted = next((h for h, (first, second) in enumerate(rounds) if first != second), None)
    if parted is None:
        return f"cannot tell G1 and G2 apart: its colours are stable after {_ROUNDS} rounds"
    first, second = (sum(vectors, ()) for vectors in zip(*rounds))
    return f"tells G1 and G2 apart in round {parted}: {first} is not {second}"


def _datasets(pairs: int, data_dir: Path | None) -> list[tw.Dataset]:
    """Return TWINS, and MUTAG if it is available; nothing is downloaded."""
    from twinwl.datasets.catalogue import find  # noqa: PLC0415

    mutag = [] if find("MUTAG", data_dir) is None else [tw.load_dataset("MUTAG", data_dir=data_dir)]
    return [tw.load_dataset("TWINS", n_pairs=pairs), *mutag]


def _figures(datasets: list[tw.Dataset], began: float) -> list[list[str]]:
    """Run one comparison after the other while there is time, the first always.

    Return accuracies as text: a header, and one row per method.
    """
    figures: dict[str, dict[str, str]] = {}
    for data in datasets:
        for methods in _COMPARISONS:
            title = f"{' and '.join(methods.values())} on {data.name}"
            seconds = time.monotonic() - began
            if figures and seconds > _SECONDS:
                say(f"{title}: left out, {seconds:.0f} s have passed", error=True)
                continue
            say(f"{title} …", error=True)
            try:
                for method, name in methods.items():
                    result = tw.evaluate(method, data, n_folds=_FOLDS)
                    figure = f"{100 * result.mean:.1f} ± {100 * result.std:.1f}"
                    figures.setdefault(name, {})[data.name] = figure
            except MissingExtraError as error:
                say(f"left out: {error}", error=True)
    names = list(dict.fromkeys(name for row in figures.values() for name in row))
    return [
        ["", *names],
        *([method, *(row.get(name, "") for name in names)] for method, row in figures.items()),
    ]


def _write(report: Path, data: tw.Dataset, figures: list[list[str]]) -> tuple[int, Path]:
    """Train on all pairs but the smallest, explain that one, and write model and page."""
    import numpy as np  # noqa: PLC0415

    groups = np.asarray(data.groups)
    kept_back = groups == groups[int(data.graphs.nodes_per_graph.argmin())]
    rest = np.flatnonzero(~kept_back)
    model = tw.STwinSVC(edge_labels=False, random_state=0).fit(
        data.graphs[rest], data.targets[rest], groups=groups[rest]
    )
    path = report.with_suffix(".twinwl")
    tw.save(model, path)
    pair = np.flatnonzero(kept_back).tolist()
    _write_page(report, figures, {graph: model.explain(data.graphs[graph]) for graph in pair})
    return pair[0], path


def _write_page(path: Path, figures: list[list[str]], explained: dict[int, Any]) -> None:
    """Write the page: what was just run, a pair of TWINS explained, and the worked example."""
    from twinwl.report.page import Drawings, Page, PlainTable, Section, write_page  # noqa: PLC0415

    patterns = [
        [
            f"{result.predicted}, graph {graph}",
            f"{column.share:+.3f}",
            f"{len(column.nodes)} × {str(column.tree).partition(chr(10))[0]}",
        ]
        for graph, result in explained.items()
        for column in result.columns[:2]
    ]
    pair = "A pair that the model has not seen, its nodes shaded by their shares of the decision."
    columns = "Patterns with the largest shares of the decision: how often, and the atom in the centre."
    drawings = Drawings([result._repr_html_() for result in explained.values()], pair)
    listed = PlainTable(["class", "share", "pattern"], patterns, frozenset({2}))
    example = PlainTable(["", "G1", "G2"], _example_rows(_refine()))
    page = Page(
        "Twin-WL compared with 1-WL",
        [f"Both were trained with the same classifiers on {' and '.join(figures[0][1:])}, on this machine."],
        [(row[1].partition(" ")[0] + " %", f"{row[0]} on {figures[0][1]}") for row in figures[1:3]],
        [
            Section("accuracy", "Accuracy", [_STORY, PlainTable(figures[0], figures[1:])]),
            Section("explained", "Why the model predicts these classes", [drawings, columns, listed]),
            Section("example", "Two graphs that 1-WL cannot tell apart", [_EXAMPLE_STORY, example]),
        ],
        ["Every figure on this page was generated by the program that ran the experiments."],
    )
    write_page(path, page)
