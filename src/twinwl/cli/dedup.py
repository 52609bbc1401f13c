"""``twinwl dedup``: groups of isomorphic graphs in a file.

Graphs are the same if they are isomorphic, including the labels of nodes and edges. [bold]--same[/] sets
what the labels of molecules contain: acetate and acetic acid are the same only at the level skeleton, L-
and D-alanine at every level except stereo (see docs/molecules.md). Tables of molecules, .sdf, graph6 and
SMILES files are read as a stream, so they can have any length.

-o writes the group of each graph to a table (.csv, .tsv, .json, .jsonl or .parquet), or one graph of each
group to a .g6 or .smi, unchanged.

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
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import twinwl as tw
from twinwl.cli import options as o
from twinwl.cli.options import OUTPUT, arg, opt
from twinwl.cli.output import TABLES, check_output, write_table
from twinwl.files.storage import open_to_write
from twinwl.terminal import ProgressBar, counted, one_line, say

if TYPE_CHECKING:
    from twinwl.datasets.dataset import RowError
    from twinwl.graphs.molecules import AtomLevel

_GROUPS_SHOWN = 5
_NAMES_SHOWN = 4
_DIFFER = {"constitution": "charge, hydrogens or radicals", "isotope": "isotopes", "stereo": "stereo"}
_AGREE = {
    "skeleton": "elements and bond types",
    "constitution": "elements, bond types, charges, hydrogens and radicals",
    "isotope": "all but stereo",
    "stereo": "all, stereo included",
}


def dedup(
    file: Annotated[str, arg("DATA", "The graphs, or - for graph6 from standard input.")],
    exact: Annotated[bool, opt("Decide exactly, or by equal hashes, as from twinwl hash.")] = True,
    output: Annotated[Path | None, opt("Write groups to a table, or graphs to .g6 or .smi.", *OUTPUT)] = None,
    json: o.Json = False,
    edge_labels: o.EdgeLabels = None,
    ignore_attributes: o.IgnoreAttributes = False,
    *,
    reading: o.ReadingSame,
) -> None:
    """Find groups of isomorphic graphs, and count the distinct ones."""
    from twinwl.datasets.formats import FORMATS  # noqa: PLC0415  (keeps --help fast)
    from twinwl.datasets.source import iter_source, open_source  # noqa: PLC0415

    records = open_source(file, reading, "given").records
    # Rows of a file can be written again as they are there.
    endings = () if records is None or records.source == "-" else FORMATS[records.kind].endings
    check_output(output, (*TABLES, *endings), inputs=(file,))
    from twinwl.isomorphism.deduplication import differing_groups  # noqa: PLC0415

    names: list[str] = []
    rows: list[int] = []
    errors: list[RowError] = []
    smiles: list[str] = []
    lines: list[str] = []

    def blocks() -> Iterator[tw.GraphBatch]:
        for block in iter_source(file, reading):
            names.extend(block.names)
            rows.extend(block.rows.tolist())
            errors.extend(block.errors)
            smiles.extend(block.smiles or ())
            lines.extend(block.lines if output is not None else ())
            if len(block.graphs):
                yield block.graphs.without_edge_labels() if edge_labels is False else block.graphs
            progress.advance(len(block.graphs))

    with ProgressBar("graphs compared") as progress:
        found = tw.deduplicate(blocks(), exact=exact, ignore_features=ignore_attributes)
        level = reading.level if names and len(smiles) == len(names) else None
        differing = {} if level is None else differing_groups(found, smiles, level)
    first = found.representatives
    if output is not None and output.suffix.lower() in TABLES:
        groups = {"group": found.labels.tolist(), "representative": first[found.labels].tolist()}
        write_table(output, {"graph": range(len(names)), "name": names, **groups})
    elif output is not None:
        with open_to_write(output) as stream:
            stream.writelines(f"{lines[graph]}\n".encode() for graph in sorted(first.tolist()))
    if json:
        about = {
            "graphs": len(found.labels),
            "distinct": len(found),
            "exact": found.exact,
            "same": level,
            "groups_that_differ": differing,
            "features_ignored": found.features_ignored,
            "rows": rows,
            "skipped_lines": [error.line for error in errors if error.line is not None],
            "errors": [error._asdict() for error in errors],
            "representatives": first.tolist(),
            "labels": found.labels.tolist(),
        }
        say(dumps(about))
        return
    _print_summary(found, names, level, differing)
    if output is not None:
        say(f"\nWritten to {output}")


def _print_summary(
    found: tw.results.Deduplication,
    names: list[str],
    level: AtomLevel | None,
    differing: dict[AtomLevel, int],
) -> None:
    import numpy as np  # noqa: PLC0415

    n_graphs, n_groups = len(found.labels), len(found)
    spare = n_graphs - n_groups
    copies = f"{counted(spare, 'duplicate')} ({100 * spare / n_graphs:.1f} %)" if spare else "no duplicates"
    say(f"{counted(n_graphs, 'graph')}, {n_groups:,} distinct, {copies}")
    if level is not None:
        say(f"Molecules are the same if they agree in {_AGREE[level]} (--same {level}).")
    sizes = np.bincount(found.labels)
    n_copied = int(np.count_nonzero(sizes > 1))
    for finer, count in differing.items():
        if count:
            say(f"{counted(count, 'group')} of {n_copied:,} differ in {_DIFFER[finer]}.")
    if not found.exact:
        say("By hash only: graphs that the Twin-WL test cannot tell apart count as the same.")
    if found.features_ignored:
        say("Node features were ignored: graphs that count as the same may differ in them.")
    if n_copied:
        say("\nLargest groups")
    for group in np.argsort(-sizes, kind="stable")[: min(n_copied, _GROUPS_SHOWN)]:
        members = np.flatnonzero(found.labels == group)
        shown = ", ".join(one_line(names[graph]) for graph in members[:_NAMES_SHOWN].tolist())
        say(f"{len(members):>8,}  {shown}{', …' * (len(members) > _NAMES_SHOWN)}")
