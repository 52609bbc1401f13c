"""What ``twinwl dedup -o`` writes: a table of groups, or one graph of each."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from twinwl.datasets.formats.text_files import STDIN, numbered_lines
from twinwl.datasets.graph_spec import FORMATS, parse_spec
from twinwl.errors import TwinWLError
from twinwl.files.atomic import atomic_write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from twinwl.isomorphism.deduplication import Deduplication

__all__ = ["check_output", "write_output"]

_LINE_FORMATS = ("graph6", "smiles")


def check_output(output: Path, source: str) -> None:
    """Refuse a file that could not be written in the end, before any work is done.

    Raises
    ------
    TwinWLError
        If the ending does not fit the input, or the folder does not exist.
    """
    if not output.resolve().parent.is_dir():
        raise TwinWLError(f"cannot write {str(output)!r}: its folder does not exist")
    if output.suffix.lower() == ".csv":
        return
    where = parse_spec(source)
    rereadable = (
        where.format in _LINE_FORMATS and where.source != STDIN and not where.literal and where.index is None
    )
    fitting = FORMATS[where.format] if rereadable else ()
    if output.suffix.lower() not in fitting:
        allowed = " or ".join([".csv", *fitting])
        raise TwinWLError(f"cannot write {str(output)!r} from {source!r}: the output must end in {allowed}")


def write_output(
    output: Path, source: str, found: Deduplication, names: list[str], skipped: list[int]
) -> None:
    """Write the groups, or the first graph of each group as it stands in the input."""
    try:
        with atomic_write(output) as stream:
            if output.suffix.lower() == ".csv":
                stream.write(_table(found, names))
                return
            for line in _chosen_lines(source, set(found.representatives.tolist()), set(skipped)):
                stream.write(line)
    except OSError as error:
        raise TwinWLError(f"cannot write {str(output)!r}: {error.strerror or error}") from error


def _table(found: Deduplication, names: list[str]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["graph", "name", "group", "representative"])
    representatives = found.representatives
    for graph, (name, group) in enumerate(zip(names, found.labels.tolist(), strict=True)):
        writer.writerow([graph, name, group, int(representatives[group])])
    return text.getvalue().encode("utf-8", "replace")


def _chosen_lines(source: str, chosen: set[int], skipped: set[int]) -> Iterator[bytes]:
    """Yield the lines of some graphs: the file is read once more instead of having been kept."""
    graph = 0
    for number, text in numbered_lines(parse_spec(source).source):
        if number in skipped:
            continue
        if graph in chosen:
            yield f"{text}\n".encode()
        graph += 1
