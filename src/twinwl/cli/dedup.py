"""``twinwl dedup``: which graphs of a file are the same."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twinwl.cli.options import EdgeLabel, IgnoreFeatures, NodeLabel
from twinwl.terminal import new_console, one_line, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from twinwl.datasets.named_graphs import NamedGraphs
    from twinwl.graphs.batch import GraphBatch
    from twinwl.isomorphism.deduplication import Deduplication
    from twinwl.progress import ProgressBar

__all__ = ["dedup", "register"]

# A line break within a paragraph would be kept, so each paragraph is one line.
EPILOG = """
Graphs are the same if they are isomorphic, labels of nodes and edges included. \
graph6 and SMILES files are read as a stream, so they may be of any length.

[bold]Examples[/]

$ twinwl dedup molecules.smi

[dim]one molecule of each kind[/]

$ twinwl dedup molecules.smi -o unique.smi

[dim]which graph belongs to which group[/]

$ twinwl dedup MUTAG.zip -o groups.csv
"""

_GROUPS_SHOWN = 5
_NAMES_SHOWN = 4


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command(epilog=EPILOG)(dedup)


def dedup(
    file: Annotated[
        str, typer.Argument(help="A file of graphs, or - for graph6 from standard input.", show_default=False)
    ],
    exact: Annotated[
        bool,
        typer.Option(
            help="Decide by canonical forms. Without, graphs of equal hash count as the same: faster."
        ),
    ] = True,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the group of each graph to a table (.csv, .tsv, .json, .jsonl or .parquet), or one "
            "graph of each group to a file "
            "of the same kind as the input (.g6, .smi).",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    skip_invalid: Annotated[
        bool, typer.Option("--skip-invalid", help="Leave out lines that cannot be read, and count them.")
    ] = False,
    node_label: NodeLabel = None,
    edge_label: EdgeLabel = None,
    ignore_features: IgnoreFeatures = False,
) -> None:
    """Find the graphs of a file that are the same, and how many distinct ones there are."""
    from twinwl.cli.dedup_output import check_dedup_output, write_output  # noqa: PLC0415  (the help must not pay)
    from twinwl.datasets.graph_files import iter_graphs  # noqa: PLC0415
    from twinwl.isomorphism.deduplication import deduplicate  # noqa: PLC0415
    from twinwl.progress import ProgressBar  # noqa: PLC0415

    if output is not None:
        check_dedup_output(output, file)
    names: list[str] = []
    skipped: list[int] = []
    with ProgressBar("graphs compared") as progress:
        blocks = iter_graphs(file, node_label=node_label, edge_label=edge_label, skip_invalid=skip_invalid)
        found = deduplicate(
            _noted(blocks, names, skipped, progress), exact=exact, ignore_features=ignore_features
        )
    if output is not None:
        write_output(output, file, found, names, skipped)
    if json:
        say(_as_json(found, skipped))
    else:
        _tell(found, names, skipped, output)


def _noted(
    blocks: Iterator[NamedGraphs], names: list[str], skipped: list[int], progress: ProgressBar
) -> Iterator[GraphBatch]:
    """Pass graphs on, and keep of each block only its names."""
    for block in blocks:
        names += block.names
        skipped += block.skipped
        if len(block.graphs):
            yield block.graphs
        progress.advance(len(block.graphs))


def _as_json(found: Deduplication, skipped: list[int]) -> str:
    import json  # noqa: PLC0415

    return json.dumps(
        {
            "graphs": len(found.labels),
            "distinct": len(found),
            "exact": found.exact,
            "features_ignored": found.features_ignored,
            "skipped_lines": skipped,
            "representatives": found.representatives.tolist(),
            "labels": found.labels.tolist(),
        }
    )


def _tell(found: Deduplication, names: list[str], skipped: list[int], output: Path | None) -> None:
    from rich.text import Text  # noqa: PLC0415

    from twinwl.report.wording import counted  # noqa: PLC0415

    console = new_console(soft_wrap=True)
    n_graphs, n_groups = len(found.labels), len(found)
    spare = n_graphs - n_groups
    share = f" ({100 * spare / n_graphs:.1f} %)" if spare else ""
    console.print(
        Text.assemble(
            f"{counted(n_graphs, 'graph')}, ",
            (f"{n_groups:,} distinct", "bold green"),
            f", {counted(spare, 'duplicate')}{share}" if spare else ", no duplicates",
        )
    )
    if not found.exact:
        console.print("By hash only: graphs that the Twin-WL test cannot tell apart count as the same.")
    if found.features_ignored:
        console.print("Node features were ignored: graphs that count as the same may differ in them.")
    if skipped:
        shown = ", ".join(map(str, skipped[:_NAMES_SHOWN])) + (", …" if len(skipped) > _NAMES_SHOWN else "")
        console.print(
            f"left out {counted(len(skipped), 'line')} that could not be read: {shown}", style="yellow"
        )
    largest = sorted((group for group in found.groups if len(group) > 1), key=len, reverse=True)[
        :_GROUPS_SHOWN
    ]
    if largest:
        console.print("\nLargest groups", style="bold")
    for group in largest:
        shown = ", ".join(one_line(names[graph]) for graph in group[:_NAMES_SHOWN].tolist())
        more = ", …" if len(group) > _NAMES_SHOWN else ""
        console.print(Text.assemble((f"{len(group):>8,}  ", "bold"), shown + more))
    if output is not None:
        console.print(Text.assemble("\nWritten to ", (str(output), "cyan")))
