"""``twinwl power``: how many hard pairs of graphs readouts, or code of your own, tell apart.

The command shows for each pair of the suite whether it is told apart, and whether relabelled copies of its
graphs get the same value; a value that changes then is unsound and does not count.

[bold]What can be scored[/]: readouts of the Twin-WL test ({readouts}; marked-wl goes up to 9; several
joined by + are taken together) and, by import path, your own code, [cyan]package.module:name[/]: a function
of a graph, a kernel, a transformer, or a torch module in evaluation mode. [cyan]--takes[/] says whether a
function receives a batch of one graph, a networkx graph or PyG data.

[bold]Suites[/]: brec (its authors' files in FOLDER or TWINWL_DATA, or the path of their zip or folder),
atlas, regular, csl, strongly-regular, cfi, exp, twins; or a file of graphs of which 2p and 2p + 1 are a
pair.

[bold]Examples[/]

[dim]three readouts on the CFI graphs of 19 base graphs[/]

$ twinwl power size rooted-wl canonical --suite cfi

[dim]BREC, with a page that shows power against cost beside published figures[/]

$ twinwl power size rooted-wl --suite BREC.zip --html power.html

[dim]your own function of a networkx graph, in mine.py[/]

$ twinwl power mine:spectrum --takes networkx --suite strongly-regular --json
"""

import sys
from typing import Annotated

from twinwl.cli.options import DataDir, EdgeLabels, Html, Json, TableFile, among, arg, opt
from twinwl.cli.output import publish


def power(
    scored: Annotated[list[str], arg("READOUT", "Readouts, or import paths.")],
    suite: Annotated[str, opt("Which pairs.", "SUITE")] = "brec",
    category: Annotated[list[str] | None, opt("Only this category; may be repeated.", "NAME")] = None,
    copies: Annotated[int, opt("Relabelled copies of each graph, which must have its value.", min=0)] = 16,
    takes: Annotated[str | None, opt("What a function receives: batch, networkx or pyg.", "KIND")] = None,
    on_error: Annotated[str, opt("Stop at a failure, or count it as failed.", "raise|count")] = "raise",
    output: TableFile = None,
    html: Html = None,
    edge_labels: EdgeLabels = None,
    json: Json = False,
    data_dir: DataDir = None,
) -> None:
    """Count the hard pairs of graphs that readouts, or code of your own, tell apart."""
    from twinwl.arguments import checked, one_of  # noqa: PLC0415  (not for the help)

    checked("--takes", takes, one_of("batch", "networkx", "pyg"), None)
    checked("--on-error", on_error, one_of("raise", "count"))
    tested = {
        name: name if ":" in name else list(map(among("readout", "READOUT"), name.split("+")))
        for name in scored
    }
    from twinwl.evaluation import power as library  # noqa: PLC0415  (slow; only after the checks)

    if "" not in sys.path:
        sys.path.insert(0, "")  # a function of one's own is often in the folder where the command runs
    result = library.power(
        tested,
        suite,
        categories=category or None,
        copies=copies,
        takes=takes,
        on_error=on_error,
        edge_labels=edge_labels is not False,
        data_dir=data_dir,
    )
    publish(result, library.PairScore._fields, output, html, json=json)
