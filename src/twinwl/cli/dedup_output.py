"""The output of ``twinwl dedup -o``: a table of groups, or one graph of each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from twinwl.cli.output_files import check_output, write_table
from twinwl.datasets.formats import KINDS, ROW_KINDS, ReadOptions
from twinwl.datasets.opening import rows_of
from twinwl.datasets.source import place_in
from twinwl.datasets.text_files import STDIN
from twinwl.files.atomic import written
from twinwl.files.tables import TABLE_ENDINGS

if TYPE_CHECKING:
    from twinwl.isomorphism.deduplication import Deduplication


def check_dedup_output(output: Path, source: str, reading: ReadOptions) -> None:
    """Check that the output file can be written, before any work is done.

    Raises
    ------
    TwinWLError
        If the ending does not match the input, or the file cannot be written.
    """
    place = place_in(source, reading)
    by_rows = place.kind in ROW_KINDS and place.where != STDIN and not place.literal and place.number is None
    text = "graph6" if place.kind == "graph6" else "smiles"  # the format of one row
    endings = (*TABLE_ENDINGS, *(KINDS[text].endings if by_rows else ()))
    check_output(output, endings, inputs=(source,))


def write_output(
    output: Path, source: str, reading: ReadOptions, found: Deduplication, names: list[str], rows: list[int]
) -> None:
    """Write the groups, or the first graph of each group as it is in the input."""
    if output.suffix.lower() in TABLE_ENDINGS:
        write_table(output, _table(found, names))
        return
    with written(output) as stream:
        for line in _chosen_lines(source, reading, {rows[graph] for graph in found.representatives.tolist()}):
            stream.write(line)


def _table(found: Deduplication, names: list[str]) -> dict[str, list[object]]:
    return {
        "graph": list(range(len(names))),
        "name": list(names),
        "group": found.labels.tolist(),
        "representative": found.representatives[found.labels].tolist(),
    }


def _chosen_lines(source: str, reading: ReadOptions, chosen: set[int]) -> Iterator[bytes]:
    """Yield the chosen rows as lines; the source is read a second time, so that it need not fit in memory."""
    opened = rows_of(place_in(source, reading), reading, "given")
    for row in opened.rows:
        if row.row in chosen:
            named = opened.kind == "smiles" and row.name != row.text
            yield (f"{row.text} {row.name}\n" if named else f"{row.text}\n").encode()
