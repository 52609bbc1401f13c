"""``twinwl search``: the graphs of a file that are most like each query.

QUERY is a data set or file, one graph of it, counted from 0 ([cyan]MUTAG#17[/], [cyan]molecules.csv#3[/]),
or a graph given directly ([cyan]smiles:CCO[/], [cyan]graph6:Bw[/]). FILE is a data set, a file, or the folder
of a corpus (twinwl corpus build), which may be larger than memory.

The similarity is the share of node environments within --n-iter steps, counted with their rooted sizes, that
two graphs have in common: from 0, nothing, to 1, all of them (twin kernel, minmax). Every graph of FILE is
compared, so the result is exact; equally similar graphs are in the order of FILE. A query that is in FILE
finds itself first.

[bold]Examples[/]

$ twinwl search 'smiles:CC(=O)Oc1ccccc1C(=O)O' HIV.csv --html page.html

$ twinwl search hits.csv library.csv -k 20 --id compound -o neighbours.csv

$ twinwl search MUTAG#17 MUTAG -k 5

[dim]in a corpus[/]

$ twinwl search hits.smi library/
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from twinwl.cli import options as o
from twinwl.cli.options import arg, opt
from twinwl.cli.output import publish


def search(
    query: Annotated[str, arg("QUERY", "The graphs to look for.")],
    file: Annotated[str, arg("FILE", "The graphs to search, or a corpus.")],
    k: Annotated[int, opt("How many graphs for each query.", None, "-k", "--neighbours", min=1)] = 10,
    output: o.TableFile = None,
    html: o.Html = None,
    n_iter: Annotated[int, opt("Rounds of twin passing.", min=0)] = 2,
    edge_labels: o.EdgeLabels = None,
    json: o.Json = False,
    *,
    reading: o.ReadingSame,
) -> None:
    """Find the graphs of a file that are most like each query."""
    from twinwl.datasets.source import open_source  # noqa: PLC0415  (keeps --help fast)

    o.check_output(output, o.TABLES, inputs=(query, file))
    reading = replace(reading, target=None)
    open_source(query, replace(reading, shared=True), "none")
    from twinwl.evaluation import neighbours as library  # noqa: PLC0415  (slow; only after the checks)

    result = library.search(query, file, k, reading, n_iter=n_iter, edge_labels=edge_labels is not False)
    for data in (result.queries, result.graphs):
        o.say_ids(data, reading.id)
    publish(result, library.Neighbour._fields, output, html, json=json)
