"""What ``twinwl dedup -o`` writes: a table of groups, or one graph of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twinwl.cli.output_files import check_output, write_table, written
from twinwl.datasets.formats.text_files import STDIN, numbered_lines
from twinwl.datasets.graph_spec import FORMATS, parse_spec
from twinwl.files.tables import TABLE_ENDINGS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from twinwl.isomorphism.deduplication import Deduplication

__all__ = ["check_dedup_output", "write_output"]

_LINE_FORMATS = ("graph6", "smiles")


def check_dedup_output(output: Path, source: str) -> None:
    """Refuse a file that could not be written in the end, before any work is done.

    Raises
    ------
    TwinWLError
        If the ending does not fit the input, or the file cannot be written.
    """
    where = parse_spec(source)
    rereadable = (
        where.format in _LINE_FORMATS and where.source != STDIN and not where.literal and where.index is None
    )
    check_output(output, (*TABLE_ENDINGS, *(FORMATS[where.format] if rereadable else ())))


def write_output(
    output: Path, source: str, found: Deduplication, names: list[str], skipped: list[int]
) -> None:
    """Write the groups, or the first graph of each group as it stands in the input."""
    if output.suffix.lower() in TABLE_ENDINGS:
        write_table(output, _table(found, names))
        return
    with written(output) as stream:
        for line in _chosen_lines(source, set(found.representatives.tolist()), set(skipped)):
            stream.write(line)


def _table(found: Deduplication, names: list[str]) -> dict[str, list[object]]:
    return {
        "graph": list(range(len(names))),
        "name": list(names),
        "group": found.labels.tolist(),
        "representative": found.representatives[found.labels].tolist(),
    }


def _chosen_lines(source: str, chosen: set[int], skipped: set[int]) -> Iterator[bytes]:
    """Yield the lines of some graphs: the file is read once more instead of having been kept."""
    graph = 0
    for number, text in numbered_lines(parse_spec(source).source):
        if number in skipped:
            continue
        if graph in chosen:
            yield f"{text}\n".encode()
        graph += 1
