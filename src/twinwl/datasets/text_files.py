"""Reading of text files, as a whole or line by line, with limits on their size.

Files inside a zip or a folder, read into memory and never unpacked to disk.
"""

from __future__ import annotations

import gzip
import lzma
import stat
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import IO, Self

from twinwl.errors import GraphInputError, TwinWLError, shown

_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    IndexError,  # a member without a name
    ValueError,  # a member that starts before the file, or a date that does not exist
    RuntimeError,  # encrypted
    NotImplementedError,  # packed by a method Python lacks
)


class ArchiveMembers:
    """The files of a zip or of a folder and its subfolders, by their names inside it.

    Parameters
    ----------
    path
        A zip file or a folder.

    Raises
    ------
    TwinWLError
        If the path does not exist, is not a readable zip, would unpack to far more than real data does, or
        has member names outside its folder.

    >>> import io, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.txt").write_text("1")
    ...     with ArchiveMembers(Path(folder)) as members:
    ...         members.names, members.read("a.txt")
    (['a.txt'], b'1')
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._zip: zipfile.ZipFile | None = None
        if path.is_dir():
            found = [*path.glob("*"), *path.glob("*/*")]
            self.names = sorted(file.relative_to(path).as_posix() for file in found if file.is_file())
            return
        with open_file(path) as stream:  # refuses what is not a file or not readable
            packed = stream.seek(0, 2)
        try:
            self._zip = zipfile.ZipFile(path)
        except _BROKEN as error:
            raise TwinWLError(f"{path} is not a readable zip ({error}); get it again") from error
        members = [member for member in self._zip.infolist() if not member.filename.endswith("/")]
        self.names = sorted(member.filename for member in members)
        try:
            # Entries may overlap, so what they say they take up counts for nothing beside the file's size.
            check_ratio(packed, sum(member.file_size for member in members), str(path))
            self._check_names()
        except TwinWLError:
            self._zip.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._zip is not None:
            self._zip.close()

    def read(self, name: str) -> bytes:
        """Return the content of one file, which must be small enough to be parsed as a whole."""
        if self._zip is None:
            with open_file(self.path / PurePosixPath(name)) as stream:
                return bounded(stream, f"{self.path}: {name}")
        try:
            with self._zip.open(name) as member:
                return bounded(member, f"{self.path}: {name}")
        except TwinWLError:
            raise
        except _BROKEN as error:
            raise TwinWLError(f"{self.path}: cannot read {name} ({error}); get the file again") from error

    def check_sums(self) -> None:
        """Compare the content of every file of a zip with its checksum."""
        try:
            damaged = None if self._zip is None else self._zip.testzip()
        except _BROKEN as error:
            raise TwinWLError(f"{self.path} is not a readable zip ({error}); get it again") from error
        if damaged is not None:
            raise TwinWLError(f"{self.path}: its member {damaged} is damaged; get it again")

    def _check_names(self) -> None:
        for name in self.names:
            place = PurePosixPath(name.replace("\\", "/"))
            if place.is_absolute() or ".." in place.parts:
                raise TwinWLError(
                    f"{self.path}: the member name {name!r} is outside its folder; pack it again"
                )


STDIN = "-"
MAX_BYTES = 2**29  # formats that are parsed as a whole are refused beyond this
MAX_LINE = 2**26  # a graph6 line of this length has some 28,000 nodes
# A column of equal numbers packs hundreds to one, but a whole set, with its arcs, about six to one.
MAX_RATIO, RATIO_FROM = 100, 2**24
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_bytes(path: Path) -> bytes:
    """Return the content of a text file that is small enough to be parsed at once; ``.gz`` is unpacked.

    Raises
    ------
    GraphInputError
        If it cannot be opened, is empty, too large, or not text.
    """
    with open_file(path) as stream:
        content = bounded(stream, str(path))
    if path.suffix.lower() == ".gz":
        check_ratio(path.stat().st_size, len(content), str(path))
    if not content.strip():
        raise GraphInputError(f"{path}: the file is empty")
    _refuse_binary(content, str(path))
    return content


def ending_of(name: str) -> str:
    """Return the ending of a file name in lower case, without ``.gz``.

    >>> ending_of("a.GML.gz")
    '.gml'
    """
    return Path(name.lower().removesuffix(".gz")).suffix


def bounded(stream: IO[bytes], name: str) -> bytes:
    """Read a stream to its end; refuse one that is too long."""
    content = stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise GraphInputError(
            f"{name}: larger than {MAX_BYTES >> 20} MiB, too large to parse at once; "
            "write its graphs as graph6 or SMILES, one per line, which are streamed"
        )
    return content


def check_ratio(packed: int, unpacked: int, name: str) -> None:
    """Refuse an archive that unpacks to far more than real data does, before it is unpacked.

    >>> check_ratio(1000, 10**9, "small.zip")
    Traceback (most recent call last):
    ...
    twinwl.errors.GraphInputError: small.zip: unpacks from 1,000 to 1,000,000,000 bytes, which looks like an \
attack; if it is genuine, unpack it and give the folder or file
    """
    if unpacked > max(RATIO_FROM, MAX_RATIO * packed):
        raise GraphInputError(
            f"{name}: unpacks from {packed:,} to {unpacked:,} bytes, which looks like an attack; "
            "if it is genuine, unpack it and give the folder or file"
        )


def decode(content: bytes, name: str) -> str:
    """Decode UTF-8, with or without a byte order mark.

    >>> decode(b"a b", "g.edges")
    'a b'
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_text(name, content[: error.start].count(b"\n") + 1) from error


def numbered_lines(name: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, stripped, with their number from 1; ``-`` is standard input.

    Only one line is in memory at a time.
    """
    with _stdin() if name == STDIN else open_file(Path(name)) as stream:
        for number, text in _lines(stream, name, "strict"):
            stripped = text.strip()
            if stripped:
                yield number, stripped


def text_lines(path: Path, errors: str = "strict") -> Iterator[tuple[int, str]]:
    """Yield all lines unchanged, with their ends and their number from 1.

    Parameters
    ----------
    path
    errors
        ``"replace"`` replaces bytes that are not UTF-8 by a mark, for text that does not matter.
    """
    with open_file(path) as stream:
        yield from _lines(stream, str(path), errors)


def _lines(stream: IO[bytes], name: str, errors: str) -> Iterator[tuple[int, str]]:
    number = 0
    while line := stream.readline(MAX_LINE):
        number += 1
        if len(line) == MAX_LINE:
            raise GraphInputError(
                f"{name}, line {number}: longer than {MAX_LINE >> 20} MiB; is this a text file?"
            )
        _refuse_binary(line, name)
        if number == 1:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        try:
            yield number, line.decode("utf-8", errors)
        except UnicodeDecodeError as error:
            raise _not_text(name, number) from error


@contextmanager
def open_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading, unpacking ``.gz``; errors of the operating system become `GraphInputError`.

    Only regular files are opened: reading a named pipe or a device might never end.
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        raise _unreadable(path, error) from error
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a pipe or device; pipe its text to '-'"
        raise GraphInputError(f"cannot read {shown(str(path))}: expected a file, got {kind}")
    try:
        with path.open("rb") as stream:
            if path.suffix.lower() == ".gz":
                with gzip.open(stream) as unpacked:
                    yield unpacked  # type: ignore[misc]  # (it reads bytes, whatever the stub says)
            else:
                yield stream
    except gzip.BadGzipFile as error:
        raise GraphInputError(
            f"{path}: not a gzip file ({error}); get it again or, if it is not packed, rename it without .gz"
        ) from error
    except (EOFError, zlib.error) as error:
        raise GraphInputError(f"{path}: not a readable gzip file ({error}); get it again") from error
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError | ValueError) -> GraphInputError:
    reason = getattr(error, "strerror", None) or str(error)
    return GraphInputError(f"cannot read {shown(str(path))}: {reason[:1].lower() + reason[1:]}")


@contextmanager
def _stdin() -> Iterator[IO[bytes]]:
    yield sys.stdin.buffer


def _not_text(name: str, line: int) -> GraphInputError:
    return GraphInputError(f"{name}, line {line}: not UTF-8 text; save the file as UTF-8")


def _refuse_binary(content: bytes, name: str) -> None:
    if b"\0" in content:
        raise GraphInputError(
            f"{name}: contains zero bytes, so it is a binary file (or UTF-16), not UTF-8 text; save it as "
            "UTF-8 text"
        )
