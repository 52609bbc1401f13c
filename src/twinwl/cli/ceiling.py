"""``twinwl ceiling``: the best score that any function of what 1-WL or a readout sees could have on data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from twinwl.cli.options import EdgeLabels, IgnoreFeatures, Json, Readouts, Task, reads_data
from twinwl.terminal import say

if TYPE_CHECKING:
    from twinwl.datasets.formats import ReadOptions

EPILOG = """
Graphs that look alike but differ in class cannot all be right. The command groups the graphs by what 1-WL \
sees, by what each readout sees, and by isomorphism, and adds up the most frequent class of each group \
(numbers: the lowest possible RMSE). Nothing is trained. If 1-WL has the ceiling of isomorphism, \
telling more graphs apart cannot help on this data; a high ceiling does not mean that it can be learnt.

[bold]Examples[/]

$ twinwl ceiling MUTAG

$ twinwl ceiling EXP --readout size --readout rooted-wl --n-iter 3

$ twinwl ceiling molecules.csv --target logS --json
"""


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command(epilog=EPILOG)(reads_data(ceiling, "atoms"))


def ceiling(
    data: Annotated[str, typer.Argument(metavar="DATA", help="The data set.", show_default=False)],
    readout: Readouts = None,
    n_iter: Annotated[
        int | None,
        typer.Option(min=0, help="Number of rounds. \\[default: until nothing changes]", show_default=False),
    ] = None,
    task: Task = "auto",
    edge_labels: EdgeLabels = None,
    ignore_features: IgnoreFeatures = False,
    json: Json = False,
    *,
    reading: ReadOptions,
) -> None:
    """Compute how well any model could do on a data set, given what it can tell apart."""
    from twinwl.datasets.source import check_source, read_source  # noqa: PLC0415

    check_source(data, reading, "needed")
    from twinwl.evaluation.ceiling import ceiling as run  # noqa: PLC0415  (slow; only after the checks)

    found = read_source(data, reading, "needed")
    result = run(
        found.graphs,
        found.targets,
        readout or ["size"],
        n_iter,
        task=task,
        edge_labels=edge_labels,
        ignore_features=ignore_features,
    )
    say(result.to_json() if json else f"{found.name}\n{result}")
