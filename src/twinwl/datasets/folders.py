"""A folder of files as a data set: classes are the names of its subfolders, or are listed in a table.

Either ``FOLDER/CLASS/*.graphml``, or ``FOLDER/*.graphml`` and ``FOLDER/labels.csv``, which has a column
``file`` and one column of classes. Other formats are possible in place of GraphML, and each file may be
packed as ``.gz``. A file may contain several graphs, which then all have its class. A warning counts the
files that are not read.

graph6 and SMILES files: one graph per line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path, PurePosixPath

import numpy as np

from twinwl.datasets.dataset import Dataset, RowError
from twinwl.datasets.rows import Row
from twinwl.datasets.tables import csv_table
from twinwl.datasets.targets import as_targets, known_cells
from twinwl.datasets.text_files import STDIN, ending_of, numbered_lines
from twinwl.errors import GraphInputError, gist, held_warnings, shown, warn_caller
from twinwl.graphs.batch import concatenate

_HEADER = re.compile(r"^>>(?:graph6|sparse6|digraph6)<<")


def line_rows(kind: str, source: str) -> Iterator[Row]:
    """Yield one row per line that is not empty.

    Parameters
    ----------
    kind
        ``"graph6"`` or ``"smiles"``; a SMILES may be followed by the name of its molecule.
    source
        A path, or ``-`` for standard input.
    """
    shown = "stdin" if source == STDIN else source
    for row, (line, text) in enumerate(numbered_lines(source)):
        if kind == "smiles":
            smiles, *given = text.split(maxsplit=1)
            yield Row(row, line, smiles, given[0] if given else smiles)
        else:
            yield Row(row, line, text if row else _HEADER.sub("", text), f"{shown}#{row}")


TABLE = "labels.csv"


def graph_files(folder: Path, endings: Collection[str]) -> list[Path]:
    """Return the files of a folder and its subfolders with one of these endings, sorted; warn about others.

    >>> from pathlib import Path
    >>> graph_files(Path("no such folder"), {".graphml"})
    []
    """
    found = [*folder.glob("*"), *folder.glob("*/*")]
    files = sorted(path for path in found if ending_of(path.name) in endings and path.is_file())
    twice = set(files) & {path.with_suffix("") for path in files if path.suffix == ".gz"}
    if twice:
        raise GraphInputError(f"{min(twice)} is also there as .gz; remove one of the two")
    below = {path for path in folder.rglob("*") if path.is_file()} - {*files, folder / TABLE}
    names = sorted(path.relative_to(folder).as_posix() for path in below)
    others = [name for name in names if not re.search(r"(^|/)\.", name)]  # .DS_Store, .git/…
    if files and others:
        warn_caller(
            f"{folder}: did not read {len(others):,} of {len(files) + len(others):,} files, first "
            f"{shown(others[0])}; files in a folder or its direct subfolders "
            f"are read if they end in {' '.join(endings)}, also packed as .gz"
        )
    return files


def read_folder(
    folder: Path, files: list[Path], read: Callable[[Path], Dataset], on_error: str = "skip"
) -> Dataset:
    """Read all files of a folder into one data set.

    Parameters
    ----------
    folder
        The folder; see the top of this module.
    files
        Its files, as returned by `graph_files`.
    read
        Function that reads one file.
    on_error
        What to do with a file that cannot be read: ``"fail"`` or ``"skip"``.

    Raises
    ------
    GraphInputError
        If no file can be read, classes are missing, or directed and undirected graphs are mixed.
    """
    class_of_file = _classes_of_files(folder, files)
    parts: dict[Path, Dataset] = {}
    names: list[str] = []
    rows: list[int] = []
    classes: list[object] = []
    errors: list[RowError] = []
    row = 0
    with held_warnings() as messages:
        for place, path in enumerate(files):
            try:
                found = read(path)
            except GraphInputError as error:
                if on_error == "fail":
                    raise
                errors.append(RowError(row, None, "graph", str(error)))
                row += 1
                continue
            name = path.relative_to(folder).as_posix()
            several = len(found) + len(found.errors) > 1
            names += [f"{name}#{index}" if several else name for index in found.rows.tolist()]
            rows += (row + found.rows).tolist()
            errors += [
                error._replace(row=row + error.row, reason=f"{path}: {error.reason}")
                for error in found.errors
            ]
            classes += [None if class_of_file is None else class_of_file[place]] * len(found)
            row += len(found) + len(found.errors)
            parts[path] = found
    for about, times in Counter(map(gist, messages)).items():
        first = next(message for message in messages if gist(message) == about)
        warn_caller(f"{first}; the same in {times:,} of {len(files):,} files" if times > 1 else first)
    if not parts:
        raise GraphInputError(f"{folder}: none of its {len(files):,} files can be read; {errors[0].reason}")
    _check_alike(parts)
    smiles = [text for part in parts.values() for text in part.smiles or ()]
    return Dataset(
        folder.name,
        concatenate([part.graphs for part in parts.values()]),
        None if class_of_file is None else as_targets(classes, "class", str(folder)),
        smiles=tuple(smiles) if len(smiles) == len(names) else None,
        names=tuple(names),
        rows=np.array(rows, np.int64),
        errors=tuple(errors),
    )


def _check_alike(parts: dict[Path, Dataset]) -> None:
    """Refuse graphs that cannot be in one batch, with the names of their files."""
    directed = [path for path, part in parts.items() if part.graphs.directed]
    others = [path for path, part in parts.items() if not part.graphs.directed]
    if directed and others:
        raise GraphInputError(f"{directed[0]} is directed and {others[0]} is not; expected all or none")


def _classes_of_files(folder: Path, files: list[Path]) -> list[str] | None:
    """Return the class of each file, or None if there are no classes."""
    if (folder / TABLE).is_file():
        return _classes_of_table(folder, files)
    in_subfolders = [path for path in files if path.parent != folder]
    if not in_subfolders:
        return None
    if len(in_subfolders) < len(files):
        stray = next(path for path in files if path.parent == folder)
        raise GraphInputError(
            f"{stray}: is not in a subfolder, which would give its class; move it into one, or add {TABLE}"
        )
    return [path.parent.name for path in files]


def _classes_of_table(folder: Path, files: list[Path]) -> list[str]:
    path = folder / TABLE
    table = csv_table(str(path))
    if len(table.header) != 2 or "file" not in table.header:  # noqa: PLR2004
        raise GraphInputError(
            f"{path}: got the header {','.join(table.header)!r}, "
            "expected two columns, 'file' and one of classes"
        )
    names = [file.relative_to(folder).as_posix() for file in files]
    unpacked = [name[:-3] if name.lower().endswith(".gz") else name for name in names]
    file_of_name = {
        str(PurePosixPath(short).with_suffix("")): name for short, name in zip(unpacked, names, strict=True)
    }
    file_of_name |= dict(zip(unpacked, names, strict=True)) | dict(zip(names, names, strict=True))
    file_at = table.header.index("file")
    class_of_file: dict[str, str] = {}
    for line, cells in table.read([file_at, 1 - file_at]):
        if isinstance(cells, str) or not all(cells):
            raise GraphInputError(f"{path}, line {line}: expected a file and its class")
        written, kind = map(str, cells)
        name = file_of_name.get(written)
        if name in class_of_file:
            raise GraphInputError(f"{path}, line {line}: {written!r} is listed twice")
        if name is not None:
            class_of_file[name] = kind
    known = dict(zip(class_of_file, known_cells(class_of_file.values()), strict=True))
    missing = [name for name in names if known.get(name) is None]
    if missing:
        raise GraphInputError(
            f"{path}: has no class for {len(missing):,} of {len(files):,} files, first {missing[0]!r}"
        )
    return [class_of_file[name] for name in names]
