"""Splits from files: which row of a table belongs to which part.

A JSON file holds ``{"train": [0, 1, …], "valid": […], "test": […]}``, a list of such objects (one per fold),
an object from row to part, or a list of parts, one per row. A table (.csv, .tsv) has a column of parts, and
may have one of rows. A folder holds ``train.csv``, ``valid.csv`` and ``test.csv`` with a row number per line,
as OGB publishes them. Rows are those of the source, from 0; rows that could not be read count.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from twinwl.datasets.formats.tables import all_cells, csv_table
from twinwl.datasets.formats.text_files import decode, numbered_lines, read_bytes
from twinwl.errors import TwinWLError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from twinwl.datasets.dataset import Dataset

_NAMES = {"train": ("train",), "validation": ("valid", "validation", "val", "dev"), "test": ("test",)}
_ROW_COLUMNS = ("row", "index", "idx", "")
_PART_COLUMNS = ("split", "part", "set", "subset", "partition", "fold")


def is_published(split: str | Path) -> bool:
    """Return whether a file has the format of the splits of "A Fair Comparison of Graph Neural Networks"."""
    path = Path(split)
    if str(split) == "gnn-comparison" or path.suffix.lower() == ".zip":
        return True
    if path.suffix.lower() != ".json":
        return False
    content = _json(path)
    return isinstance(content, list) and any(isinstance(e, dict) and "model_selection" in e for e in content)


def read_split(path: Path, data: Dataset) -> list[list[object]]:
    """Return for each fold the part of each graph; None for a graph in no part."""
    if path.is_dir():
        return [_of_graphs(_from_folder(path), path, data)]
    if path.suffix.lower() == ".json":
        content = _json(path)
        folds = [content]
        if isinstance(content, list) and content and all(isinstance(entry, dict) for entry in content):
            folds = content
        return [_of_graphs(_from_json(entry, path), path, data) for entry in folds]
    return [_of_graphs(_from_table(path), path, data)]


def _json(path: Path) -> object:
    try:
        return json.loads(decode(read_bytes(path), str(path)))
    except (ValueError, RecursionError) as error:
        if isinstance(error, TwinWLError):
            raise
        raise TwinWLError(f"{path}: not readable as JSON ({error}); correct it") from error


def _from_json(content: object, path: Path) -> list[tuple[object, object]]:
    if isinstance(content, list):
        return list(enumerate(content))
    if not isinstance(content, dict):
        raise TwinWLError(f'{path}: got {shown(content)}, expected {{"train": [rows], "test": [rows]}}')
    if any(isinstance(rows, list) for rows in content.values()):
        return [
            (row, part)
            for part, rows in content.items()
            for row in (rows if isinstance(rows, list) else [rows])
        ]
    return list(content.items())


def _from_table(path: Path) -> list[tuple[object, object]]:
    columns = all_cells(csv_table(str(path)))
    of_row = next((name for name in columns if name.strip().lower() in _ROW_COLUMNS), None)
    others = [name for name in columns if name != of_row]
    named = others if len(others) == 1 else [name for name in others if name.strip().lower() in _PART_COLUMNS]
    if len(named) != 1:
        raise TwinWLError(
            f"{path}: expected a column 'split' with the part of each row, and optionally 'row' with row "
            f"numbers; got the columns {', '.join(map(repr, columns)) or 'none'}"
        )
    parts = columns[named[0]]
    return list(zip(range(len(parts)) if of_row is None else columns[of_row], parts, strict=True))


def _from_folder(path: Path) -> list[tuple[object, object]]:
    found: list[tuple[object, object]] = []
    for part, names in _NAMES.items():
        files = [path / f"{name}.csv{packed}" for name in names for packed in ("", ".gz")]
        file = next((file for file in files if file.is_file()), None)
        if file is not None:
            found += [(text, part) for _, text in numbered_lines(str(file))]
    if not found:
        raise TwinWLError(f"{path}: there is no train.csv, valid.csv or test.csv in this folder; give a file")
    return found


def _of_graphs(pairs: Iterable[tuple[object, object]], path: Path, data: Dataset) -> list[object]:
    """Look up the part of each graph by its row."""
    n_rows = 1 + max([*data.rows.tolist(), *(error.row for error in data.errors)])
    part_of_row: dict[int, object] = {}
    for given, part in pairs:
        row = _row(given, path)
        if not 0 <= row < n_rows:
            raise TwinWLError(
                f"{path}: row {row} is out of range: {data.name} has the rows 0 to {n_rows - 1}; is this the "
                "split of another table?"
            )
        if row in part_of_row:
            raise TwinWLError(
                f"{path}: row {row} is listed twice, as {part_of_row[row]} and {part}; keep one"
            )
        part_of_row[row] = part
    return [part_of_row.get(row) for row in data.rows.tolist()]


def _row(given: object, path: Path) -> int:
    try:
        number = float(str(given))
        if number.is_integer():
            return int(number)
    except (ValueError, OverflowError):
        pass
    raise TwinWLError(f"{path}: got {shown(given)} for a row, expected an integer of at least 0")
