"""``twinwl compare``: whether the Twin-WL test tells two graphs apart, in which round, and by what.

A difference proves that the graphs are not isomorphic. No difference proves that they are isomorphic only
with [bold]--readout canonical[/].

[bold]Graphs[/] are files of any known format (graph6, SMILES, edge lists, GraphML, JSON …), one graph of a
file, counted from 0 ([cyan]MUTAG.zip#17[/]), or given directly ([cyan]smiles:CCO[/], [cyan]graph6:Bw[/]).

[bold]Readouts[/]: {readouts}. The last is exact; marked-wl goes up to 9.

[bold]Exit code[/]: 0 not told apart, 1 different, 2 error.

[bold]Examples[/]

[dim]two molecules that 1-WL cannot tell apart, and a page that shows why[/]

$ twinwl compare smiles:C1CCC2CCCCC2C1 smiles:C1CCCC1C1CCCC1 --html page.html

[dim]an exact test of isomorphism[/]

$ twinwl compare a.graphml b.graphml --readout canonical

[dim]for scripts[/]

$ twinwl compare EXP.zip#0 EXP.zip#1 --readout size --readout edges --json
"""

from dataclasses import asdict, replace
from json import dumps
from typing import Annotated

import typer

import twinwl as tw
from twinwl.cli import options as o
from twinwl.cli.options import arg
from twinwl.terminal import ProgressBar, say

_DIFFERENT = 1  # exit code, as of diff and cmp


def compare(
    a: Annotated[str, arg("A", "The first graph.")],
    b: Annotated[str, arg("B", "The second graph.")],
    readout: o.Readouts = None,
    n_iter: o.MostRounds = None,
    json: o.Json = False,
    html: o.Html = None,
    edge_labels: o.EdgeLabels = None,
    ignore_attributes: o.IgnoreAttributes = False,
    *,
    reading: o.ReadingSame,
) -> None:
    """Compare two graphs with the Twin-WL test."""
    from twinwl.datasets.source import open_source, read_one  # noqa: PLC0415  (keeps --help fast)

    for source in (a, b):
        open_source(source, reading, "given")
    first, second = (read_one(source, reading) for source in (a, b))
    if edge_labels is False:
        first, second = (replace(part, graphs=part.graphs.without_edge_labels()) for part in (first, second))
    from twinwl.report.compare import compare_page, verdict_of  # noqa: PLC0415  (slow; only after the checks)
    from twinwl.report.page import facts_of, write_page  # noqa: PLC0415

    pair = first, second
    with ProgressBar("comparing"):
        result = tw.compare(
            first.graphs,
            second.graphs,
            readout or ["size"],
            n_iter,
            ignore_features=ignore_attributes,
        )
        if html is not None:
            write_page(html, compare_page(first, second, result, n_iter))
    if json:
        about = {
            name: getattr(result, name)
            for name in ("distinguished", "iteration", "by", "readout", "iterations_run", "features_ignored")
        }
        about |= {
            "proves_isomorphism": result.proves_isomorphism,
            "witness": asdict(result.witness) if result.witness else None,
            "graphs": [
                {"name": part.names[0], "nodes": part.graphs.n_nodes, "edges": part.graphs.n_edges}
                for part in pair
            ],
        }
        say(dumps(about, default=repr))
    else:
        for letter, part in zip("AB", pair):
            say(f"{letter}  {part.names[0]}  {facts_of(part.graphs)}")
        graphs = tw.concatenate([part.graphs.without_features() for part in pair])
        say("\n" + "\n".join(verdict_of(graphs, result)))
        if html is not None:
            say(f"\nThe page is in {html}")
    if result.distinguished:
        raise typer.Exit(_DIFFERENT)
