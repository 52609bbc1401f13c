"""Files on disk: written whole or not at all; tables, whose cells never become formulas; the cache.

Spreadsheets run a cell of a CSV file that begins with ``=``, ``+``, ``-`` or ``@``. In .csv and .tsv files a
text that begins so is therefore written with a single quote in front, which marks it as text;
numbers, and one such character alone, stay as they are. `plain_cell` takes the quote off again.

The cache keeps arrays in the user's cache folder, under the digest of what they came from. It may be deleted,
read-only, full or damaged; files are then parsed again.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import hashlib
import io
import json
import math
import os
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import IO, TYPE_CHECKING

from twinwl.errors import TwinWLError, import_extra, warn_caller

if TYPE_CHECKING:
    from twinwl.arrays import Values

try:
    import fcntl
except ImportError:  # Windows has no such locks; writers are not kept apart there
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a binary file that replaces ``path`` only if the block ends without error.

    The bytes go to a temporary file in the same folder, which is flushed to the disk and renamed; after any
    error ``path`` is unchanged and the temporary file is removed.

    Parameters
    ----------
    path
        The file to write; its folder must exist. Anything that is not a file, such as ``/dev/stdout``, is
        written to directly.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with atomic_write(Path(folder, "note.txt")) as stream:
    ...     _ = stream.write(b"whole")
    >>> Path(folder, "note.txt").read_bytes()
    b'whole'
    """
    target = Path(os.path.realpath(path))  # a link stays one
    if target.exists() and not target.is_file():
        with target.open("wb") as stream:  # a device or a pipe: renaming would replace it by a file
            yield stream
        return
    # A part of the name: the whole may already be as long as a name can be. The name is known before the file exists,  # noqa: E501
    # so that a signal that arrives while it is created leaves nothing behind.
    temporary = target.parent / f".{target.name[:20]}.{secrets.token_hex(8)}.tmp"
    try:
        with temporary.open("xb") as stream:
            if target.exists():
                temporary.chmod(target.stat().st_mode & 0o777)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def open_to_write(path: Path) -> Iterator[IO[bytes]]:
    """Open a file as `atomic_write` does; errors are a `TwinWLError` that names the file."""
    with errors_of_writing(path), atomic_write(path) as stream:
        yield stream


def lock(stream: IO[bytes], busy: str) -> None:
    """Lock an open file until it is closed, or raise the error ``busy`` if another process has it."""
    if fcntl is not None:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise TwinWLError(busy) from error


@contextlib.contextmanager
def errors_of_writing(path: Path) -> Iterator[None]:
    """Turn errors of the operating system into a `TwinWLError` that names the file."""
    try:
        yield
    except OSError as error:
        raise TwinWLError(f"cannot write {str(path)!r}: {error.strerror or error}") from error


TABLE_ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".parquet")

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_QUOTED_FORMULA = re.compile(r"'+[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?")  # also with a decimal comma


def table_bytes(columns: Mapping[str, Sequence[object]], ending: str) -> bytes:
    r"""Return a table in the format of an ending.

    Parameters
    ----------
    columns
        Cells by column: numbers, strings, booleans or None.
    ending
        One of `TABLE_ENDINGS`: ``.json`` is a list of objects, ``.jsonl`` one object per line.

    >>> table_bytes({"name": ["CCO", "=1+1"], "share": [-0.5, "-1.5"]}, ".csv")
    b"name,share\nCCO,-0.5\n'=1+1,-1.5\n"
    >>> table_bytes({"name": ["CCO"], "share": [-0.5]}, ".jsonl")
    b'{"name": "CCO", "share": -0.5}\n'
    """
    if ending == ".parquet":
        return _parquet(columns)
    rows = zip(*columns.values())
    if ending in {".csv", ".tsv"}:
        lines: list[str] = []
        # A carriage return inside a cell is quoted only where it is part of the line ending.
        writer = csv.writer(
            SimpleNamespace(write=lines.append),
            delimiter="," if ending == ".csv" else "\t",
            lineterminator="\r\n",
        )
        writer.writerow(map(_cell, columns))
        writer.writerows(map(_cell, row) for row in rows)
        return "".join(f"{line[:-2]}\n" for line in lines).encode("utf-8", "replace")
    lines = [json.dumps(dict(zip(columns, map(_json_value, row)))) for row in rows]
    if ending == ".jsonl":
        return "".join(f"{line}\n" for line in lines).encode()
    if ending == ".json":
        return f"[{','.join(f'{chr(10)}{line}' for line in lines)}\n]\n".encode()
    raise TwinWLError(f"tables are not written as {ending!r}; use {', '.join(TABLE_ENDINGS)}")


def plain_cell(cell: str) -> str:
    """Return a cell of a .csv or .tsv file without the quote that keeps it from being a formula.

    >>> plain_cell("'=1+1"), plain_cell("'quoted'"), plain_cell("-1.5")
    ('=1+1', "'quoted'", '-1.5')
    """
    return cell[1:] if _QUOTED_FORMULA.match(cell) else cell


def _cell(value: object) -> object:
    if not isinstance(value, str) or len(value) < 2 or _NUMBER.fullmatch(value):  # noqa: PLR2004
        return value
    return f"'{value}" if _FORMULA.match(value) else value


def _json_value(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _parquet(columns: Mapping[str, Sequence[object]]) -> bytes:
    arrow = import_extra("pyarrow", extra="parquet")
    parquet = import_extra("pyarrow.parquet", extra="parquet")
    arrays = {}
    for name, cells in columns.items():
        kinds = {type(cell) for cell in cells if cell is not None}
        # A column of one type stays so; of several it becomes text, as it would in a CSV file.
        plain = cells if len(kinds) <= 1 and str not in kinds else [_text(cell) for cell in cells]
        # An empty column is text too, such as the errors of a table without any: tables can be joined then.
        arrays[_text(name)] = arrow.array(plain) if kinds else arrow.array(plain, arrow.string())
    stream = io.BytesIO()
    parquet.write_table(arrow.table(arrays), stream)
    return stream.getvalue()


def _text(cell: object) -> str | None:
    return None if cell is None else str(cell).encode("utf-8", "replace").decode()


def cache_folder() -> Path:
    """Return the cache folder: ``TWINWL_CACHE``, or ``twinwl`` in the user's cache folder.

    >>> cache_folder().is_absolute()
    True
    """
    chosen = os.environ.get("TWINWL_CACHE")
    if chosen:
        return Path(chosen).expanduser().absolute()
    from twinwl.arguments import user_cache  # noqa: PLC0415  (NumPy, which commands do not load for their help)

    cache = user_cache()
    if cache is None:
        raise TwinWLError("your home folder is unknown; set TWINWL_CACHE to a folder")
    return cache


def file_digest(path: str | Path) -> str:
    """Return the SHA-256 of a file, or of the files of a folder with their names, as 64 hex digits.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as empty:
    ...     file_digest(empty.name)[:8]
    'e3b0c442'
    """
    path = Path(path)
    try:
        if not path.is_dir():
            if path.exists() and not path.is_file():  # reading a pipe would wait, reading a device never end
                raise TwinWLError(f"cannot read {str(path)!r}: it is a pipe or device, not a file")
            return _digest(path)
        total = hashlib.sha256()
        for part in sorted(path.rglob("*")):
            if part.is_file():
                # Both have a length of their own, so no two folders run together.
                name = os.fsencode(part.relative_to(path).as_posix())
                total.update(hashlib.sha256(name).digest() + bytes.fromhex(_digest(part)))
        return total.hexdigest()
    except OSError as error:
        raise TwinWLError(f"cannot read {str(path)!r}: {error.strerror or error}") from error


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_arrays(key: str) -> dict[str, Values] | None:
    """Return the arrays that were kept under a key, or None where there are none or they are damaged.

    Parameters
    ----------
    key
        A digest of the content and of the version of the form it is kept in, 64 hex digits.
    """
    import numpy as np  # noqa: PLC0415

    path = _place(key)
    try:
        # The zip holds a checksum of each array, so damage is noticed; pickled objects are never read.
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except Exception:  # noqa: BLE001  (NumPy, zip and zlib have many words for damage)
        return None


def write_arrays(key: str, arrays: Mapping[str, Values]) -> bool:
    """Keep arrays under a key, and return whether they were kept; where that cannot be done, nothing happens.

    A full disk causes a warning, a folder without write permission does not.
    """
    import numpy as np  # noqa: PLC0415

    path = _place(key)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as stream:
            np.savez(stream, **arrays)  # type: ignore[arg-type]  # (the stub takes them for allow_pickle)
    except OSError as error:
        if not isinstance(error, PermissionError) and error.errno != errno.EROFS:
            warn_caller(
                f"could not write to the cache {str(path.parent)!r} ({error.strerror or error}): the data is "
                "loaded, but will be parsed again next time; make room there or set TWINWL_CACHE elsewhere"
            )
        return False
    return True


def _place(key: str) -> Path:
    return cache_folder() / "arrays" / key[:2] / f"{key[2:]}.npz"
