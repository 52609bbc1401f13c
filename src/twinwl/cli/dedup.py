"""``twinwl dedup``: groups of isomorphic graphs in a file.

Graphs are the same if they are isomorphic, including the labels of nodes and edges. [bold]--same[/] sets
what the labels of molecules contain: acetate and acetic acid are the same only at the level skeleton, L-
and D-alanine at every level except stereo. Tables of molecules, .sdf, graph6 and
SMILES files are read as a stream, so they can have any length.

-o writes DATA again without its duplicates: of a table (.csv, .tsv, .json, .jsonl or .parquet) all columns,
in the order of the rows; of a .smi or .g6 the lines, unchanged; of a table to a .smi, SMILES and ids. --keep
decides which row of a group stays: the first, the last, or best:COLUMN, the one with the largest number there
(an empty cell loses, and of equal numbers the first stays). Rows that cannot be read are left out, and listed
with the reason in a .skipped.csv beside the output.

--groups writes the group of each graph, and the graph that represents it there, to a table.

If the table has targets (--target, or a column called label, class, target or y, or the only other one), the
groups whose rows have different targets are counted.

[bold]Examples[/]

$ twinwl dedup molecules.csv

[dim]distinguish stereoisomers[/]

$ twinwl dedup molecules.csv --same stereo

[dim]keep one row of each group, and see the groups[/]

$ twinwl dedup molecules.csv -o clean.csv --groups groups.csv

[dim]the most potent measurement of each molecule[/]

$ twinwl dedup measured.csv --keep best:pIC50 --target pIC50 -o clean.csv

$ twinwl dedup molecules.smi -o unique.smi
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import twinwl as tw
from twinwl.cli import options as o
from twinwl.cli.options import OUTPUT, TABLES, arg, check_output, opt, say_ids
from twinwl.cli.output import cells_for, write_table
from twinwl.errors import TwinWLError
from twinwl.files.storage import open_to_write
from twinwl.terminal import ProgressBar, counted, one_line, say

if TYPE_CHECKING:
    from twinwl.arrays import Float64
    from twinwl.datasets.dataset import RowError
    from twinwl.datasets.formats import ReadOptions
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
    output: Annotated[
        Path | None, opt("Write DATA without its duplicates: a table, .smi or .g6.", *OUTPUT)
    ] = None,
    keep: Annotated[str, opt("Which row of each group to keep.", "first|last|best:COL")] = "first",
    groups: Annotated[Path | None, opt("Write the group of each graph to a table.", "FILE")] = None,
    json: o.Json = False,
    edge_labels: o.EdgeLabels = None,
    ignore_attributes: o.IgnoreAttributes = False,
    *,
    reading: o.ReadingSame,
) -> None:
    """Find groups of isomorphic graphs, and write a table or file without duplicates."""
    from twinwl.datasets.source import targets_in  # noqa: PLC0415  (keeps --help fast)
    from twinwl.isomorphism.deduplication import differing_groups  # noqa: PLC0415

    columns, table_targets, rule = _check(file, reading, output, keep, groups)
    read = _Rows([], array("q"), [], [], [], {})
    with ProgressBar("graphs compared") as progress:
        blocks = read.of(
            file, reading, progress, edge_labels=edge_labels is not False, lines=output is not None
        )
        grouping = tw.deduplicate(blocks, exact=exact, ignore_features=ignore_attributes)
        level = reading.level if read.names and len(read.smiles) == len(read.names) else None
        differing = {} if level is None else differing_groups(grouping, read.smiles, level)
    of_table = {name: targets_in(columns, name, read.rows, file) for name in table_targets}
    targets = read.targets | of_table
    contradictions = {name: len(grouping.contradictions(values)) for name, values in targets.items()}
    chosen = grouping.choose(rule if isinstance(rule, str) else rule[read.rows])
    notes = [] if output is None else _write(output, file, reading, columns, read, sorted(chosen.tolist()))
    if groups is not None:
        of_graph = {"group": grouping.labels.tolist(), "representative": chosen[grouping.labels].tolist()}
        about = {"graph": range(len(read.names)), "row": read.rows.tolist(), "name": read.names, **of_graph}
        write_table(groups, {**about, **targets, **about})  # ours, where a target has such a name
        notes.append(f"Groups written to {groups}")
    if json:
        errors = read.errors
        result = {
            "graphs": len(grouping.labels),
            "distinct": len(grouping),
            "exact": grouping.exact,
            "same": level,
            "groups_that_differ": differing,
            "contradictions": contradictions,
            "features_ignored": grouping.features_ignored,
            "rows": read.rows.tolist(),
            "skipped_lines": [error.line for error in errors if error.line is not None],
            "errors": [error._asdict() for error in errors],
            "representatives": chosen.tolist(),
            "labels": grouping.labels.tolist(),
        }
        say(dumps(result))
        return
    _print_summary(grouping, read.names, level, differing)
    for name, count in contradictions.items():
        say(f"{counted(count, 'group')} with more than one {name!r}.")
    if notes:
        say("\n" + "\n".join(notes))


def _check(
    file: str, reading: ReadOptions, output: Path | None, keep: str, groups: Path | None
) -> tuple[dict[str, list[Any]], tuple[str, ...], str | Float64]:
    """Check the options before any work is done.

    Return the cells of the table (if they are needed), the columns of its targets, and which row of a group
    stays: the first, the last, or the one with the largest of these numbers.
    """
    from twinwl.arguments import checked, one_of  # noqa: PLC0415
    from twinwl.datasets.formats import FORMATS  # noqa: PLC0415
    from twinwl.datasets.source import open_source, read_columns  # noqa: PLC0415

    records = open_source(file, reading, "obvious").records
    targets = () if records is None else records.targets
    # Rows of a file can be written again as they are there.
    endings = () if records is None or records.source == "-" else FORMATS[records.kind].endings
    check_output(output, (*TABLES, *endings), inputs=(file,))
    check_output(groups, TABLES, inputs=(file, output))
    best = keep.removeprefix("best:") if keep.startswith("best:") else None
    if best is None:
        checked("--keep", keep, one_of("first", "last", "best:COLUMN"))
    as_table = output is not None and output.suffix.lower() in TABLES
    columns = read_columns(file, reading) if as_table or best is not None or targets else {}
    if as_table and not columns:
        others = f", or the graphs with -o to a {' or '.join(endings)}" if endings else ""
        raise TwinWLError(
            f"cannot write {str(output)!r}: {file} is no table; write its groups with --groups{others}"
        )
    return columns, targets, keep if best is None else _numbers_in(columns, best, file)


def _numbers_in(columns: Mapping[str, list[Any]], name: str, file: str) -> Float64:
    """Return the numbers of a column, one for each row, NaN for empty cells."""
    from twinwl.datasets.dataset import known_cells, named_column, task_table  # noqa: PLC0415
    from twinwl.datasets.records import Record  # noqa: PLC0415

    cells = known_cells(columns[named_column(list(columns), name, "--keep best", file)])
    rows = [Record(row, None, "", "") for row in range(len(cells))]
    return task_table([(cell,) for cell in cells], (name,), file, rows)[:, 0]


class _Rows(NamedTuple):
    """What a summary and an output need of graphs that stream by."""

    names: list[str]
    rows: array[int]
    errors: list[RowError]
    smiles: list[str]
    lines: list[str]
    targets: dict[str, list[Any]]
    """Of sources that are no tables, whose targets come with the graphs."""

    def of(
        self, file: str, reading: ReadOptions, progress: ProgressBar, *, edge_labels: bool, lines: bool
    ) -> Iterator[tw.GraphBatch]:
        """Yield the graphs of a source in blocks, and note what they are."""
        from twinwl.datasets.source import iter_source  # noqa: PLC0415

        for block in iter_source(file, reading):
            if not self.rows:
                say_ids(block, reading.id)
            self.names.extend(block.names)
            self.rows.extend(block.rows)
            self.errors.extend(block.errors)
            self.smiles.extend(block.smiles or ())
            self.lines.extend(block.lines if lines else ())  # they may take more memory than all else
            if block.y is not None and not block.tasks:
                self.targets[block.target or "target"] = block.y.tolist()
            if len(block.graphs):
                yield block.graphs if edge_labels else block.graphs.without_edge_labels()
            progress.advance(len(block.graphs))


def _write(
    output: Path,
    file: str,
    reading: ReadOptions,
    columns: dict[str, list[Any]],
    read: _Rows,
    graphs: list[int],
) -> list[str]:
    """Write the rows or lines of some graphs, and the rows that cannot be read; return what was written."""
    from twinwl.datasets.source import place_in  # noqa: PLC0415

    n_rows = len(read.rows) + len(read.errors)
    if place_in(file, reading).kind == "sdf":  # whose properties do not tell the structure
        text_of_row = dict(zip(read.rows, read.smiles))
        columns = {"smiles": [text_of_row.get(row) for row in range(n_rows)], **columns}
    if output.suffix.lower() in TABLES:
        _write_rows(output, {}, columns, [read.rows[graph] for graph in graphs])
    else:
        with open_to_write(output) as stream:
            stream.writelines(f"{read.lines[graph]}\n".encode() for graph in graphs)
    notes = [f"Written to {output}: {len(graphs):,} of {counted(n_rows, 'row')}"]
    if read.errors:
        skipped = output.with_suffix(".skipped.csv")
        rows, lines, _, reasons = map(list, zip(*read.errors))
        _write_rows(skipped, {"row": rows, "line": lines, "reason": reasons}, columns, rows)
        notes.append(f"{counted(len(rows), 'row')} that cannot be read: {skipped}")
    return notes


def _write_rows(
    path: Path, more: Mapping[str, Sequence[Any]], columns: Mapping[str, list[Any]], rows: Sequence[int]
) -> None:
    """Write some rows of a table, behind further columns of these rows."""
    cells = {name: [column[row] for row in rows] for name, column in columns.items()}
    write_table(path, {**more, **cells_for(path, cells)})


def _print_summary(
    grouping: tw.results.Deduplication,
    names: list[str],
    level: AtomLevel | None,
    differing: dict[AtomLevel, int],
) -> None:
    import numpy as np  # noqa: PLC0415

    n_graphs, n_groups = len(grouping.labels), len(grouping)
    spare = n_graphs - n_groups
    copies = f"{counted(spare, 'duplicate')} ({100 * spare / n_graphs:.1f} %)" if spare else "no duplicates"
    say(f"{counted(n_graphs, 'graph')}, {n_groups:,} distinct, {copies}")
    if level is not None:
        say(f"Molecules are the same if they agree in {_AGREE[level]} (--same {level}).")
    sizes = np.bincount(grouping.labels)
    n_copied = int(np.count_nonzero(sizes > 1))
    for finer, count in differing.items():
        if count:
            say(f"{counted(count, 'group')} of {n_copied:,} differ in {_DIFFER[finer]}.")
    if not grouping.exact:
        say("By hash only: graphs that the Twin-WL test cannot tell apart count as the same.")
    if grouping.features_ignored:
        say("Node features were ignored: graphs that count as the same may differ in them.")
    if n_copied:
        say("\nLargest groups")
    for group in np.argsort(-sizes, kind="stable")[: min(n_copied, _GROUPS_SHOWN)]:
        members = np.flatnonzero(grouping.labels == group)
        shown = ", ".join(one_line(names[graph]) for graph in members[:_NAMES_SHOWN].tolist())
        say(f"{len(members):>8,}  {shown}{', …' * (len(members) > _NAMES_SHOWN)}")
