"""Output files: checked before any work is done, and never left half-written.

The ending of the name decides the format; an ending whose format the command does not write is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from twinwl.errors import TwinWLError, import_extra
from twinwl.files.atomic import written
from twinwl.files.tables import TABLE_ENDINGS, table_bytes

PAGES = (".html", ".htm")
PICTURES = (".png", ".svg", ".pdf")
MODELS = (".twinwl",)
STORES = (".jsonl", ".json")
_ARRAYS = (".npz",)
_OF_OTHERS = (".bz2", ".gz", ".npy", ".pickle", ".pkl", ".pt", ".xls", ".xlsx", ".zip")
_KNOWN = {*TABLE_ENDINGS, *PAGES, *PICTURES, *MODELS, *STORES, *_ARRAYS, *_OF_OTHERS}


def check_output(
    path: Path | None,
    endings: tuple[str, ...],
    *,
    inputs: Iterable[str | Path | None] = (),
    or_unknown: bool = False,
) -> None:
    """Check that a file can be written, before any work is done.

    Parameters
    ----------
    path
        The file; None is fine.
    endings
        Endings of the formats that the command writes.
    inputs
        What the command reads; ``data.csv#3`` reads ``data.csv``.
    or_unknown
        Also accept names whose ending is not a known format, such as ``model`` or ``results.v2``.

    >>> check_output(Path("predictions.csv"), TABLE_ENDINGS)

    Raises
    ------
    TwinWLError
        If the folder does not exist or is not writable, the ending is not one of ``endings``, the file is one
        of the inputs, or the package that writes the format is not installed.
    """
    check_ending(path, endings, or_unknown=or_unknown)
    if path is None:
        return
    folder = path.resolve().parent
    if not folder.is_dir():
        raise TwinWLError(f"cannot write {str(path)!r}: its folder does not exist; create it first")
    if path.is_dir():
        raise TwinWLError(f"cannot write {str(path)!r}: that is a folder; name a file in it")
    if not os.access(folder, os.W_OK):
        raise TwinWLError(f"cannot write {str(path)!r}: its folder is not writable")
    for given in filter(None, inputs):
        if any(_same_file(path, name) for name in (str(given), str(given).rpartition("#")[0])):
            raise TwinWLError(f"cannot write {str(path)!r}: that is the input; name another file")


def _same_file(path: Path, name: str) -> bool:
    try:
        return bool(name) and path.samefile(name)
    except (OSError, ValueError):  # one of them does not exist, or is no name of a file
        return False


def check_ending(path: Path | None, endings: tuple[str, ...], *, or_unknown: bool = False) -> None:
    """Check only the ending of a name, and that the package for its format is installed.

    >>> check_ending(Path("new_folder/results.jsonl"), STORES)
    """
    ending = "" if path is None else path.suffix.lower()
    if path is None or (or_unknown and ending not in _KNOWN):
        return
    if ending not in endings:
        listed = " or ".join(filter(None, [", ".join(endings[:-1]), endings[-1]]))
        raise TwinWLError(f"cannot write {str(path)!r}: its name must end in {listed}")
    if ending == ".parquet":
        import_extra("pyarrow.parquet", extra="parquet")


def write_table(path: Path, columns: Mapping[str, Sequence[object]]) -> None:
    """Write a table in the format given by the ending of the name."""
    with written(path) as stream:
        stream.write(table_bytes(columns, path.suffix.lower()))
