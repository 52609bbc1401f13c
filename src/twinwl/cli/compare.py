"""``twinwl compare``: whether the Twin-WL test tells two graphs apart, in which round, and by what.

A difference proves that the graphs are not isomorphic. No difference proves that they are isomorphic only
with [bold]--readout canonical[/].

[bold]Graphs[/] are files (.g6 .s6 .d6 .smi .edges .csv .graphml .gml .json .zip), one graph of a file,
counted from 0 ([cyan]MUTAG.zip#17[/]), or given directly ([cyan]smiles:CCO[/], [cyan]graph6:Bw[/]).

[bold]Readouts[/], weakest first: size, edges, degrees, wl, rooted-wl, marked-wl-1 … marked-wl-9, canonical
(exact); and rooted-fwl2, stronger than marked-wl-1.

[bold]Exit code[/]: 0 not told apart, 1 different, 2 error.

[bold]Examples[/]

[dim]two molecules that 1-WL cannot tell apart, and a page that shows why[/]

$ twinwl compare smiles:C1CCC2CCCCC2C1 smiles:C1CCCC1C1CCCC1 --html page.html

[dim]an exact test of isomorphism[/]

$ twinwl compare a.graphml b.graphml --readout canonical

[dim]for scripts[/]

$ twinwl compare EXP.zip#0 EXP.zip#1 --readout size --readout edges --json
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twinwl.cli.options import EdgeLabels, IgnoreFeatures, Json, Readouts, file_option, long_help, reads_data
from twinwl.terminal import new_console, say

if TYPE_CHECKING:
    from twinwl.datasets.dataset import Dataset
    from twinwl.datasets.formats import ReadOptions
    from twinwl.isomorphism.comparison import Comparison

_DIFFERENT = 1  # exit code, as of diff and cmp


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command(epilog=long_help(__doc__))(reads_data(compare, "same"))


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="The first graph.", show_default=False)],
    b: Annotated[str, typer.Argument(metavar="B", help="The second graph.", show_default=False)],
    readout: Readouts = None,
    n_iter: Annotated[
        int | None,
        typer.Option(
            min=0, help="Maximum number of rounds. \\[default: until nothing changes]", show_default=False
        ),
    ] = None,
    json: Json = False,
    html: Annotated[
        Path | None, file_option("Also write a page that shows the graphs, round by round.")
    ] = None,
    edge_labels: EdgeLabels = None,
    ignore_features: IgnoreFeatures = False,
    *,
    reading: ReadOptions,
) -> None:
    """Compare two graphs with the Twin-WL test."""
    from twinwl.cli.output_files import PAGES, check_output  # noqa: PLC0415
    from twinwl.datasets.source import check_source, read_one  # noqa: PLC0415

    check_output(html, PAGES)
    for source in (a, b):
        check_source(source, reading, "given")
    first, second = (read_one(source, reading) for source in (a, b))
    if edge_labels is False:
        first, second = (replace(part, graphs=part.graphs.without_edge_labels()) for part in (first, second))
    from twinwl.isomorphism.comparison import compare as run  # noqa: PLC0415  (slow; only after the checks)
    from twinwl.terminal import ProgressBar  # noqa: PLC0415

    with ProgressBar("comparing"):
        comparison = run(
            first.graphs,
            second.graphs,
            readout=readout or ["size"],
            n_iter=n_iter,
            ignore_features=ignore_features,
        )
        if html is not None:
            from twinwl.report.compare import compare_page  # noqa: PLC0415
            from twinwl.report.page import write_page  # noqa: PLC0415

            write_page(html, compare_page(first, second, comparison, n_iter))
    if json:
        say(_as_json(first, second, comparison))
    else:
        _tell(first, second, comparison, html)
    if comparison.distinguished:
        raise typer.Exit(_DIFFERENT)


def _as_json(first: Dataset, second: Dataset, comparison: Comparison) -> str:
    import json  # noqa: PLC0415
    from dataclasses import asdict  # noqa: PLC0415

    found = {
        "distinguished": comparison.distinguished,
        "iteration": comparison.iteration,
        "by": comparison.by,
        "readout": comparison.readout,
        "iterations_run": comparison.iterations_run,
        "features_ignored": comparison.features_ignored,
        "proves_isomorphism": comparison.proves_isomorphism,
        "witness": asdict(comparison.witness) if comparison.witness else None,
        "graphs": [
            {"name": part.names[0], "nodes": part.graphs.n_nodes, "edges": part.graphs.n_edges}
            for part in (first, second)
        ],
    }
    return json.dumps(found, default=repr)


def _tell(first: Dataset, second: Dataset, comparison: Comparison, html: Path | None) -> None:
    from rich.text import Text  # noqa: PLC0415

    from twinwl.graphs.batch import concatenate  # noqa: PLC0415
    from twinwl.report.compare import verdict_of  # noqa: PLC0415
    from twinwl.report.page import facts_of  # noqa: PLC0415

    pair = concatenate([part.graphs.without_features() for part in (first, second)])
    verdict = verdict_of(pair, comparison)
    console = new_console(soft_wrap=True)
    for letter, part in zip("AB", (first, second), strict=True):
        console.print(Text.assemble((letter, "bold"), f"  {part.names[0]}  ", (facts_of(part.graphs), "dim")))
    console.print()
    console.print(Text(verdict.headline, "bold yellow" if verdict.distinguished else "bold green"))
    for sentence in verdict.sentences:
        console.print(Text(sentence))
    if html is not None:
        console.print(Text.assemble("\nThe page is in ", (str(html), "cyan")))
