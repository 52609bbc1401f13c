"""Reading text that somebody else wrote: whole or line by line, with a clear word when it is not text."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from twinwl.errors import GraphInputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

__all__ = ["STDIN", "decode", "numbered_lines", "read_bytes"]

STDIN = "-"
MAX_BYTES = 2**29  # formats that are parsed as a whole are refused beyond this
MAX_LINE = 2**26  # a graph6 line of this length has some 28,000 nodes


def read_bytes(path: Path) -> bytes:
    """Return the contents of a text file that is small enough to be parsed as a whole.

    Raises
    ------
    GraphInputError
        If it cannot be opened, is empty, too large, or not text at all.
    """
    with _opened(str(path)) as stream:
        content = stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise GraphInputError(
            f"{path}: larger than {MAX_BYTES >> 20} MiB, too large to parse at once; "
            "write its graphs as graph6 or SMILES, one a line, which are streamed"
        )
    if not content.strip():
        raise GraphInputError(f"{path}: the file is empty")
    _refuse_binary(content, str(path))
    return content


def decode(content: bytes, name: str) -> str:
    """Decode UTF-8, with or without a byte order mark.

    >>> decode(b"a b", "g.edges")
    'a b'
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise GraphInputError(f"{name}, line {line}: not UTF-8 text; save the file as UTF-8") from error


def numbered_lines(name: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that hold something, with their number from 1; ``-`` is standard input.

    Only one line is in memory at a time, however large the file.
    """
    with _opened(name) as stream:
        number = 0
        while line := stream.readline(MAX_LINE):
            number += 1
            if len(line) == MAX_LINE:
                raise GraphInputError(
                    f"{name}, line {number}: longer than {MAX_LINE >> 20} MiB; is this a text file?"
                )
            _refuse_binary(line, name)
            text = decode(line, name) if number == 1 else _decoded(line, name, number)
            if text.strip():
                yield number, text.strip()


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    """Open for reading, and turn what the operating system says into one of our errors."""
    if name == STDIN:
        yield sys.stdin.buffer
        return
    try:
        with Path(name).open("rb") as stream:
            yield stream
    except OSError as error:
        reason = error.strerror or str(error)
        raise GraphInputError(f"cannot read {name!r}: {reason[:1].lower() + reason[1:]}") from error


def _decoded(line: bytes, name: str, number: int) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise GraphInputError(f"{name}, line {number}: not UTF-8 text; save the file as UTF-8") from error


def _refuse_binary(content: bytes, name: str) -> None:
    if b"\0" in content:
        raise GraphInputError(f"{name}: holds zero bytes, so it is a binary file (or UTF-16), not UTF-8 text")
