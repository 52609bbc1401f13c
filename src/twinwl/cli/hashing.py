"""``twinwl hash``: a stable hash of each graph, equal for isomorphic graphs.

One line per graph: the hash and the graph's name. Isomorphic graphs have equal hashes, so different hashes
mean different graphs. Graphs with equal hashes are not necessarily isomorphic: they have the same colours
of 1-WL and sizes of rooted subgraphs. [bold]--same[/] sets what the labels of molecules contain (see
docs/molecules.md).

[bold]Examples[/]

$ twinwl hash molecules.smi

$ twinwl hash a.graphml b.gml MUTAG.zip --readout wl

[dim]graph6 from another program, one per line[/]

$ geng -c 7 | twinwl hash - | sort | uniq -cw37
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from twinwl.cli.options import EdgeLabels, IgnoreFeatures, Readouts, long_help, reads_data
from twinwl.errors import TwinWLError
from twinwl.terminal import one_line, say

if TYPE_CHECKING:
    from twinwl.datasets.formats import ReadOptions


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command("hash", epilog=long_help(__doc__))(reads_data(hash_graphs, "same"))


def hash_graphs(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA", help="Files, FILE#17, smiles:CCO, graph6:Bw, or - for graph6 from standard input."
        ),
    ],
    n_iter: Annotated[
        str | None,
        typer.Option(
            metavar="N|stable",
            help="Hash of version 1, with N rounds or until stable. \\[default: hash of version 2]",
            show_default=False,
        ),
    ] = None,
    readout: Readouts = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per graph, one per line.")
    ] = False,
    edge_labels: EdgeLabels = None,
    ignore_features: IgnoreFeatures = False,
    *,
    reading: ReadOptions,
) -> None:
    """Print a stable hash of each graph, equal for isomorphic graphs and never weaker than 1-WL."""
    from json import dumps  # noqa: PLC0415  (keeps --help fast)

    from twinwl.datasets.source import check_source, iter_source  # noqa: PLC0415

    rounds = _rounds(n_iter)
    for spec in files:
        check_source(spec, reading, "given")
    from twinwl.isomorphism.hashing import graph_hashes  # noqa: PLC0415
    from twinwl.terminal import ProgressBar  # noqa: PLC0415

    with ProgressBar("hashing") as progress:
        for spec in files:
            for block in iter_source(spec, reading):
                hashes = graph_hashes(
                    block.graphs,
                    n_iter=rounds,  # type: ignore[arg-type]
                    readout=readout or ["size"],
                    edge_labels=edge_labels is not False,
                    ignore_features=ignore_features,
                )
                found = zip(hashes, block.names, block.rows.tolist(), strict=True)
                lines = [
                    dumps({"hash": digest, "name": name, "row": row})
                    if json
                    else f"{digest}  {one_line(name)}"
                    for digest, name, row in found
                ]
                if lines:
                    say("\n".join(lines))
                progress.advance(len(lines))


def _rounds(text: str | None) -> int | str | None:
    if text is None or text == "stable":
        return text
    if text.isdecimal():
        return int(text)
    raise TwinWLError(f"--n-iter: got {text!r}, expected an integer of at least 0 or 'stable'")
