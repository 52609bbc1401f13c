"""``twinwl dedup``: groups of isomorphic graphs in a file.

Graphs are the same if they are isomorphic, including the labels of nodes and edges. [bold]--same[/] sets
what the labels of molecules contain: acetate and acetic acid are the same only at the level skeleton, L-
and D-alanine at every level except stereo (see docs/molecules.md). Tables of molecules, .sdf, graph6 and
SMILES files are read as a stream, so they can have any length.

[bold]Examples[/]

$ twinwl dedup molecules.csv

[dim]distinguish stereoisomers[/]

$ twinwl dedup molecules.csv --same stereo

[dim]keep one molecule per group[/]

$ twinwl dedup molecules.smi -o unique.smi

[dim]which graph belongs to which group[/]

$ twinwl dedup MUTAG.zip -o groups.csv
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twinwl.cli.options import OUTPUT, EdgeLabels, IgnoreFeatures, Json, file_option, long_help, reads_data
from twinwl.terminal import ProgressBar, new_console, one_line, say

if TYPE_CHECKING:
    from twinwl.datasets.dataset import Dataset, RowError
    from twinwl.datasets.formats import ReadOptions
    from twinwl.graphs.atom_labels import AtomLevel
    from twinwl.graphs.batch import GraphBatch
    from twinwl.isomorphism.deduplication import Deduplication


_GROUPS_SHOWN = 5
_NAMES_SHOWN = 4
_DIFFER = {"constitution": "charge, hydrogens or radicals", "isotope": "isotopes", "stereo": "stereo"}
_AGREE = {
    "skeleton": "elements and bond types",
    "constitution": "elements, bond types, charges, hydrogens and radicals",
    "isotope": "all but stereo",
    "stereo": "all, stereo included",
}


def register(app: typer.Typer) -> None:
    """Add the subcommand to the command line."""
    app.command(epilog=long_help(__doc__))(reads_data(dedup, "same"))


def dedup(
    file: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="The graphs, or - for graph6 from standard input.", show_default=False
        ),
    ],
    exact: Annotated[
        bool,
        typer.Option(
            help="Decide exactly. With --no-exact, graphs with equal hashes (as from twinwl hash) count as "
            "the same."
        ),
    ] = True,
    output: Annotated[
        Path | None,
        file_option(
            "Write the group of each graph to a table (.csv, .tsv, .json, .jsonl or .parquet), or one "
            "graph of each group to a .g6 or .smi, as it is in the input.",
            *OUTPUT,
        ),
    ] = None,
    json: Json = False,
    edge_labels: EdgeLabels = None,
    ignore_features: IgnoreFeatures = False,
    *,
    reading: ReadOptions,
) -> None:
    """Find groups of isomorphic graphs, and count the distinct ones."""
    from twinwl.cli.dedup_output import check_dedup_output, write_output  # noqa: PLC0415  (keeps --help fast)
    from twinwl.datasets.source import check_source, iter_source  # noqa: PLC0415

    check_source(file, reading, "given")
    if output is not None:
        check_dedup_output(output, file, reading)
    from twinwl.isomorphism.deduplication import deduplicate, differing_groups  # noqa: PLC0415
    from twinwl.terminal import ProgressBar  # noqa: PLC0415

    names: list[str] = []
    rows: list[int] = []
    errors: list[RowError] = []
    smiles: list[str] = []
    with ProgressBar("graphs compared") as progress:
        blocks = _noted(iter_source(file, reading), names, rows, errors, smiles, progress)
        if edge_labels is False:
            blocks = (graphs.without_edge_labels() for graphs in blocks)
        found = deduplicate(blocks, exact=exact, ignore_features=ignore_features)
        level = reading.level if names and len(smiles) == len(names) else None
        differing = {} if level is None else differing_groups(found, smiles, level)
    if output is not None:
        write_output(output, file, reading, found, names, rows)
    if json:
        say(_as_json(found, rows, errors, level, differing))
    else:
        _tell(found, names, level, differing)
        if output is not None:
            say(f"\nWritten to {output}")


def _noted(
    blocks: Iterator[Dataset],
    names: list[str],
    rows: list[int],
    errors: list[RowError],
    smiles: list[str],
    progress: ProgressBar,
) -> Iterator[GraphBatch]:
    """Yield the graphs of each block, and record its names, rows, errors and SMILES."""
    for block in blocks:
        names += block.names
        rows += block.rows.tolist()
        errors += block.errors
        smiles += block.smiles or ()
        if len(block.graphs):
            yield block.graphs
        progress.advance(len(block.graphs))


def _as_json(
    found: Deduplication,
    rows: list[int],
    errors: list[RowError],
    level: AtomLevel | None,
    differing: dict[AtomLevel, int],
) -> str:
    import json  # noqa: PLC0415

    return json.dumps(
        {
            "graphs": len(found.labels),
            "distinct": len(found),
            "exact": found.exact,
            "same": level,
            "groups_that_differ": differing,
            "features_ignored": found.features_ignored,
            "rows": rows,
            "skipped_lines": [error.line for error in errors if error.line is not None],
            "errors": [error._asdict() for error in errors],
            "representatives": found.representatives.tolist(),
            "labels": found.labels.tolist(),
        }
    )


def _tell(
    found: Deduplication, names: list[str], level: AtomLevel | None, differing: dict[AtomLevel, int]
) -> None:
    import numpy as np  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    from twinwl.report.page import counted  # noqa: PLC0415

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
    if level is not None:
        console.print(f"Molecules are the same if they agree in {_AGREE[level]} (--same {level}).")
    sizes = np.bincount(found.labels)
    n_copied = int(np.count_nonzero(sizes > 1))
    for finer, count in differing.items():
        if count:
            console.print(f"{counted(count, 'group')} of {n_copied:,} differ in {_DIFFER[finer]}.")
    if not found.exact:
        console.print("By hash only: graphs that the Twin-WL test cannot tell apart count as the same.")
    if found.features_ignored:
        console.print("Node features were ignored: graphs that count as the same may differ in them.")
    if n_copied:
        console.print("\nLargest groups", style="bold")
    for group in np.argsort(-sizes, kind="stable")[: min(n_copied, _GROUPS_SHOWN)]:
        members = np.flatnonzero(found.labels == group)
        shown = ", ".join(one_line(names[graph]) for graph in members[:_NAMES_SHOWN].tolist())
        more = ", …" if len(members) > _NAMES_SHOWN else ""
        console.print(Text.assemble((f"{len(members):>8,}  ", "bold"), shown + more))
