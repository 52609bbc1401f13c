"""Text files, whole or by line, and files in a zip or folder; sizes are limited, errors name the file."""

from __future__ import annotations

import gzip
import stat
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path, PurePosixPath
from typing import IO, Self

from twinwl.errors import GraphInputError, TwinWLError, shown

STDIN = "-"
MAX_BYTES = 2**29  # formats that are parsed as a whole are refused beyond this
MAX_LINE = 2**26  # a graph6 line of this length has some 28,000 nodes
# A column of equal numbers packs hundreds to one, but a whole set, with its arcs, about six to one.
MAX_RATIO, RATIO_FROM = 100, 2**24


class ArchiveMembers:
    """The files of a zip or of a folder and its subfolders, by their names inside it; nothing is unpacked.

    Parameters
    ----------
    path
        A zip file or a folder.

    Raises
    ------
    TwinWLError
        If the path does not exist, is not a readable zip, would unpack to far more than real data does, or
        has member names outside its folder.

    >>> import tempfile
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
        with _one_error(f"{path} is not a readable zip"):
            self._zip = zipfile.ZipFile(path)
        sizes = {member.filename: member.file_size for member in self._zip.infolist() if not member.is_dir()}
        self.names = sorted(sizes)
        places = {name: PurePosixPath(name.replace("\\", "/")) for name in self.names}
        outside = [name for name, place in places.items() if place.is_absolute() or ".." in place.parts]
        try:
            # Entries may overlap, so what they say they take up counts for nothing beside the file's size.
            check_ratio(packed, sum(sizes.values()), str(path))
            if outside:
                problem = f"the member name {outside[0]!r} is outside its folder; pack it again"
                raise TwinWLError(f"{path}: {problem}")  # noqa: TRY301
        except TwinWLError:
            self._zip.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._zip is not None:
            self._zip.close()

    def read(self, name: str) -> bytes:
        """Return the content of one file, which must be small enough to be parsed as a whole."""
        if self._zip is None:
            with open_file(self.path / PurePosixPath(name)) as stream:
                return _bounded(stream, f"{self.path}: {name}")
        with _one_error(f"{self.path}: cannot read {name}"), self._zip.open(name) as member:
            return _bounded(member, f"{self.path}: {name}")

    def check_sums(self) -> None:
        """Compare the content of every file of a zip with its checksum."""
        with _one_error(f"{self.path} is not a readable zip"):
            damaged = None if self._zip is None else self._zip.testzip()
        if damaged is not None:
            raise TwinWLError(f"{self.path}: its member {damaged} is damaged; get it again")


@contextmanager
def _one_error(problem: str) -> Iterator[None]:
    """Turn whatever zipfile and its decompressors raise on broken bytes, a dozen kinds, into one error."""
    try:
        yield
    except TwinWLError:
        raise
    except Exception as error:
        raise TwinWLError(f"{problem} ({error}); get it again") from error


def read_bytes(path: Path) -> bytes:
    """Return the content of a text file that is small enough to be parsed at once; ``.gz`` is unpacked.

    Raises
    ------
    GraphInputError
        If it cannot be opened, is empty, too large, or not text.
    """
    with open_file(path) as stream:
        content = _bounded(stream, str(path))
    if path.suffix.lower() == ".gz":
        check_ratio(path.stat().st_size, len(content), str(path))
    if not content.strip():
        raise GraphInputError(f"{path}: the file is empty")
    _refuse_binary(content, str(path))
    return content


def read_text(path: Path) -> str:
    """Return the same, decoded."""
    return decode(read_bytes(path), str(path))


def ending_of(name: str) -> str:
    """Return the ending of a file name in lower case, without ``.gz``.

    >>> ending_of("a.GML.gz")
    '.gml'
    """
    return Path(name.lower().removesuffix(".gz")).suffix


def _bounded(stream: IO[bytes], name: str) -> bytes:
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
    """Yield the lines that are not empty, stripped, with their number from 1; ``-`` is standard input."""
    for number, text in text_lines(name):
        if stripped := text.strip():
            yield number, stripped


def text_lines(name: str | Path, errors: str = "strict") -> Iterator[tuple[int, str]]:
    """Yield all lines unchanged, with their ends and their number from 1; one is in memory at a time.

    Parameters
    ----------
    name
        A path, or ``-`` for standard input.
    errors
        ``"replace"`` replaces bytes that are not UTF-8 by a mark, for text that does not matter.
    """
    with nullcontext(sys.stdin.buffer) if name == STDIN else open_file(Path(name)) as stream:
        number = 0
        while line := stream.readline(MAX_LINE):
            number += 1
            if len(line) == MAX_LINE:
                raise GraphInputError(
                    f"{name}, line {number}: longer than {MAX_LINE >> 20} MiB; is this a text file?"
                )
            _refuse_binary(line, str(name))
            try:
                yield number, line.decode("utf-8-sig" if number == 1 else "utf-8", errors)
            except UnicodeDecodeError as error:
                raise _not_text(str(name), number) from error


@contextmanager
def open_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading, unpacking ``.gz``; errors of the operating system become `GraphInputError`.

    Only regular files are opened: reading a named pipe or a device might never end.
    """
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            kind = "a folder" if stat.S_ISDIR(mode) else "a pipe or device; pipe its text to '-'"
            raise GraphInputError(f"cannot read {shown(str(path))}: expected a file, got {kind}")
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
        reason = error.strerror or str(error)
        raise GraphInputError(f"cannot read {shown(str(path))}: {reason[:1].lower() + reason[1:]}") from error


def _not_text(name: str, line: int) -> GraphInputError:
    return GraphInputError(f"{name}, line {line}: not UTF-8 text; save the file as UTF-8")


def _refuse_binary(content: bytes, name: str) -> None:
    if b"\0" in content:
        raise GraphInputError(
            f"{name}: contains zero bytes, so it is a binary file (or UTF-16), not UTF-8 text; save it as "
            "UTF-8 text"
        )
