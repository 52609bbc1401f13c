"""``twinwl hash``: a stable hash of each graph, equal for isomorphic graphs.

One line per graph: the hash and the graph's name. Isomorphic graphs have equal hashes, so different hashes
mean different graphs. Graphs with equal hashes are not necessarily isomorphic: they have the same colours
of 1-WL and sizes of rooted subgraphs. [bold]--same[/] sets what the labels of molecules contain.

[bold]Examples[/]

$ twinwl hash molecules.smi

$ twinwl hash a.graphml b.gml MUTAG.zip --readout wl

[dim]graph6 from another program, one per line[/]

$ geng -c 7 | twinwl hash - | sort | uniq -cw37
"""

from json import dumps
from typing import Annotated

import twinwl as tw
from twinwl.cli.options import EdgeLabels, IgnoreAttributes, ReadingSame, Readouts, arg, opt
from twinwl.terminal import ProgressBar, one_line, say


def hash(  # noqa: A001  (the name of the command)
    files: Annotated[
        list[str], arg("DATA", "Files, FILE#17, smiles:CCO, graph6:Bw, or - for graph6 from standard input.")
    ],
    n_iter: Annotated[
        str | None,
        opt(
            "Hash of version 1, with N rounds or until stable. \\[default: hash of version 2]",
            "N|stable",
        ),
    ] = None,
    readout: Readouts = None,
    json: Annotated[bool, opt("Print one JSON object per line.", None, "--json")] = False,
    edge_labels: EdgeLabels = None,
    ignore_attributes: IgnoreAttributes = False,
    *,
    reading: ReadingSame,
) -> None:
    """Print a stable hash of each graph, equal for isomorphic graphs and never weaker than 1-WL."""
    from twinwl.datasets.source import iter_source, open_source  # noqa: PLC0415  (keeps --help fast)

    for spec in files:
        open_source(spec, reading, "given")
    with ProgressBar("hashing") as progress:
        for block in (block for spec in files for block in iter_source(spec, reading)):
            hashes = tw.graph_hashes(
                block.graphs,
                n_iter=int(n_iter) if (n_iter or "").isdecimal() else n_iter,  # type: ignore[arg-type]
                readout=readout or ["size"],
                edge_labels=edge_labels is not False,
                ignore_features=ignore_attributes,
            )
            for digest, name, row in zip(hashes, block.names, block.rows.tolist()):
                result = {"hash": digest, "name": name, "row": row}
                say(dumps(result) if json else f"{digest}  {one_line(name)}")
            progress.advance(len(hashes))
