"""graph6 and SMILES files: one graph a line, read block by block."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from twinwl.datasets.formats.text_files import STDIN, numbered_lines
from twinwl.datasets.named_graphs import NamedGraphs
from twinwl.errors import GraphInputError
from twinwl.graphs.batch import GraphBatch

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["iter_line_blocks", "read_literal", "read_one_line"]

_HEADER = re.compile(r"^>>(?:graph6|sparse6|digraph6)<<")

Line = tuple[int, str, str]  # line number, graph as text, name


def read_literal(format_name: str, text: str) -> NamedGraphs:
    """Read the graph that stands in the spec itself.

    >>> read_literal("graph6", "Bw").graphs
    GraphBatch(1 graph, 3 nodes, 3 edges)
    """
    try:
        return _parsed(format_name, [(1, text, f"{format_name}:{text}")])
    except GraphInputError as error:
        raise GraphInputError(f"'{format_name}:{text}': {_bare(error)}") from error


def read_one_line(format_name: str, source: str, index: int) -> NamedGraphs:
    """Read graph ``index`` of a file without parsing the others."""
    count = 0
    for line in _graph_lines(format_name, source):
        if count == index:
            return _located(format_name, source, [line])
        count += 1
    if not count:
        raise GraphInputError(f"{source}: the file is empty")
    raise GraphInputError(
        f"{source}: graph {index} is out of range: the file holds {count} graphs, numbered 0 to {count - 1}"
    )


def iter_line_blocks(
    format_name: str, source: str, block: int, *, skip_invalid: bool = False
) -> Iterator[NamedGraphs]:
    """Yield the graphs of a file in blocks of at most ``block``, never holding more than one block.

    With ``skip_invalid`` a line that cannot be read is left out; its number is in ``skipped`` of its block,
    which may then be empty.
    """
    lines = _graph_lines(format_name, source)
    empty = True
    while chunk := list(itertools.islice(lines, block)):
        empty = False
        if not skip_invalid:
            yield _located(format_name, source, chunk)
            continue
        try:
            yield _located(format_name, source, chunk)
        except GraphInputError:
            yield from _survivors(format_name, chunk)
    if empty:
        raise GraphInputError(f"{'standard input' if source == STDIN else source}: there is no graph in it")


def _survivors(format_name: str, chunk: list[Line]) -> Iterator[NamedGraphs]:
    """Keep the lines that can be read each by itself."""
    good: list[Line] = []
    bad: list[int] = []
    for line in chunk:
        try:
            _parsed(format_name, [line])
        except GraphInputError:
            bad.append(line[0])
        else:
            good.append(line)
    kept = _parsed(format_name, good) if good else NamedGraphs(GraphBatch.from_edges([]), ())
    yield kept._replace(skipped=tuple(bad))


def _graph_lines(format_name: str, source: str) -> Iterator[Line]:
    shown = "stdin" if source == STDIN else source
    for index, (number, text) in enumerate(numbered_lines(source)):
        graph, name = text, f"{shown}#{index}"
        if format_name == "smiles":
            graph, *given = text.split(maxsplit=1)
            name = given[0] if given else graph
        elif index == 0:
            graph = _HEADER.sub("", text)
        yield number, graph, name


def _located(format_name: str, source: str, lines: list[Line]) -> NamedGraphs:
    """Parse lines, and let an error name the file and the line."""
    try:
        return _parsed(format_name, lines)
    except GraphInputError as error:
        if error.graph is None:
            raise GraphInputError(f"{source}: {error}") from error
        number, text, _ = lines[error.graph]
        shown = text if len(text) <= 60 else text[:57] + "…"  # noqa: PLR2004
        raise GraphInputError(f"{source}, line {number} ({shown!r}): {_bare(error)}") from error


def _parsed(format_name: str, lines: list[Line]) -> NamedGraphs:
    texts = [text for _, text, _ in lines]
    names = tuple(name for _, _, name in lines)
    if format_name == "smiles":
        return NamedGraphs(GraphBatch.from_smiles(texts), names, tuple(texts))
    return NamedGraphs(GraphBatch.from_graph6(texts), names)


def _bare(error: GraphInputError) -> str:
    """Return the message without the index within the block, which means nothing to the reader."""
    message = str(error).removeprefix(f"graph {error.graph}: ")
    return message.replace('pass on_error="skip"', "skip invalid lines")
