"""Tables of molecules: CSV, TSV and Parquet files, pandas and polars frames, read row by row.

One column has the SMILES and, usually, one the target. The column of SMILES is found by its name; the target
is the column given by the user, or else the only other column or the one called label, class, target or y.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from twinwl.datasets.rows import Row
from twinwl.datasets.targets import is_missing, named_column, named_targets
from twinwl.datasets.text_files import open_file, text_lines
from twinwl.errors import GraphInputError, first_line, import_extra
from twinwl.files.tables import plain_cell

Targets = Literal["needed", "obvious", "given", "none"]
"""Fail without a target, take one where no choice is to be made, only where its column is named, or never.

``"none"`` is about tables: other data sets have their targets all the same.
"""

_SMILES = ("smiles", "canonical_smiles", "isomeric_smiles", "mol")
_TARGETS = ("label", "class", "target", "y")
_SEPARATORS = ",;\t"

Cells = "tuple[int | None, Sequence[object] | str]"


class Table(NamedTuple):
    """A table that is read on demand."""

    name: str
    header: list[str]
    read: Callable[[list[int]], Iterator[tuple[int | None, list[object] | str]]]
    """Function from columns to rows: the line, and the cells of these columns or why they cannot be read."""


class Columns(NamedTuple):
    """Names of the columns to read; the target may be None, or a tuple of several."""

    smiles: str
    target: str | tuple[str, ...] | None


def csv_table(name: str, lines: Iterable[str] | None = None) -> Table:
    r"""Open a table of text separated by commas, semicolons or tabs, whichever is most common in the header.

    Parameters
    ----------
    name
        The path of the file.
    lines
        Its lines, if it is not a file; ``name`` is then used only in messages.

    >>> table = csv_table("m.csv", ["smiles;y\n", "CC;1\n"])
    >>> table.header, list(table.read([0]))
    (['smiles', 'y'], [(2, ['CC'])])
    """
    stream = iter((text for _, text in text_lines(Path(name))) if lines is None else lines)
    first = next(stream, "")
    delimiter = max(_SEPARATORS, key=first.count)
    records = _records(name, itertools.chain([first.removeprefix("\ufeff")], stream), delimiter)
    header = [plain_cell(column.strip()) for column in next(records, (1, []))[1]]

    def read(columns: list[int]) -> Iterator[tuple[int | None, list[object] | str]]:
        for line, cells in records:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                count = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
                remedy = "; quote cells that contain separators" if len(cells) > len(header) else ""
                yield line, f"got {count}, expected {len(header)} as in the header{remedy}"
            else:
                yield line, [plain_cell(cells[column].strip()) for column in columns]

    return Table(name, header, read)


def _records(name: str, lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table of text, each with the line on which it starts."""
    ended = False

    def until_the_end() -> Iterator[str]:
        nonlocal ended
        yield from lines
        ended = True

    reader = csv.reader(until_the_end(), delimiter=delimiter)
    line = 1
    try:
        for cells in reader:
            if ended:  # it was asked for more lines within a row, so a quote is open
                raise GraphInputError(
                    f"{name}, line {line}: a quote is opened and never closed, so the rest of the file is "
                    "one cell; close it, or remove it"
                )
            yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise GraphInputError(f"{name}, line {line}: {_explained(error)}") from error


def _explained(error: csv.Error) -> str:
    """Return what is wrong with a line, and what to do about it."""
    if "new-line" in str(error):
        return "lines end in CR alone; save the file with the line ends LF or CRLF"
    if "field limit" in str(error):
        return (
            f"a cell of more than {csv.field_size_limit():,} characters; close its quote, or shorten the cell"
        )
    return f"{error}; correct that line"


def parquet_table(path: Path) -> Table:
    """Open a Parquet file; only the needed columns are read, in blocks of rows."""
    parquet = import_extra("pyarrow.parquet", extra="parquet")

    def failed(error: Exception) -> GraphInputError:
        return GraphInputError(f"{path}: not a readable Parquet file ({first_line(error)}); get it again")

    with open_file(path):  # refuses what is not a file or not readable
        pass
    try:
        file = parquet.ParquetFile(path)
        header = [str(name) for name in file.schema_arrow.names]
    except Exception as error:  # Arrow has many kinds of them
        raise failed(error) from error

    def read(columns: list[int]) -> Iterator[tuple[int | None, list[object] | str]]:
        names = [header[column] for column in columns]
        try:
            for batch in file.iter_batches(columns=list(dict.fromkeys(names))):
                values = batch.to_pydict()
                yield from ((None, list(cells)) for cells in zip(*map(values.get, names), strict=True))
        except Exception as error:
            raise failed(error) from error

    return Table(str(path), header, read)


def frame_table(frame: object) -> Table:
    """Read a pandas or polars frame as a table.

    >>> import pandas
    >>> frame_table(pandas.DataFrame({"smiles": ["CC"], "y": [1]})).header
    ['smiles', 'y']
    """
    if all(kind.__name__ != "DataFrame" for kind in type(frame).__mro__):
        raise GraphInputError(
            f"got a {type(frame).__name__}, expected a DataFrame; call collect() on lazy frames"
        )
    keys = list(frame.columns)  # type: ignore[attr-defined]

    def read(columns: list[int]) -> Iterator[tuple[int | None, list[object] | str]]:
        lists = [frame[keys[column]].to_list() for column in columns]  # type: ignore[index]
        yield from ((None, list(cells)) for cells in zip(*lists, strict=True))

    return Table("the frame", [str(key) for key in keys], read)


def smiles_column_of(header: Sequence[str]) -> str | None:
    """Return the column of SMILES by its name, or None if no column, or more than one, has such a name.

    >>> smiles_column_of(["id", "Smiles"]), smiles_column_of(["source", "target"])
    ('Smiles', None)
    """
    for candidate in _SMILES:
        found = [column for column in header if column.lower() == candidate]
        if found:
            return found[0]
    named = [column for column in header if "smiles" in column.lower()]
    return named[0] if len(named) == 1 else None


def choose_columns(
    header: Sequence[str],
    name: str,
    smiles_column: str | None,
    target: str | tuple[str, ...] | None,
    targets: Targets,
) -> Columns:
    """Choose the columns of a table by its header.

    Parameters
    ----------
    header, name
        Header and name of the table.
    smiles_column, target
        The columns given by the user; None chooses by name.
    targets
        Whether targets are needed; see `Targets`.

    >>> choose_columns(["BBBP", "smiles"], "BBBP.csv", None, None, "needed")
    Columns(smiles='smiles', target='BBBP')
    """
    if not any(header):
        raise GraphInputError(
            f"{name}: its first line is empty; name the columns there, one of them 'smiles'"
        )
    listing = ", ".join(map(repr, header))
    if smiles_column is None:
        smiles = smiles_column_of(header)
        if smiles is None:
            raise GraphInputError(
                f"{name}: no column is called 'smiles'; name the column of SMILES with "
                f'smiles_column="…". The columns are {listing}'
            )
        smiles_column = smiles
    smiles = named_column(header, smiles_column, "smiles_column", name)
    if target is not None:
        return Columns(smiles, named_targets(target, header, name))
    others = [column for column in header if column != smiles]
    target = obvious_target(others, name, targets)
    return Columns(smiles, None if target is None else named_column(header, target, "target", name))


def obvious_target(names: Sequence[str], source: str, targets: Targets) -> str | None:
    """Choose the column of targets if it is obvious: the only column, or the only one with a usual name.

    >>> obvious_target(["id", "Class"], "m.csv", "needed")
    'Class'
    """
    obvious = names if len(names) == 1 else [name for name in names if name.lower() in _TARGETS]
    if targets not in {"given", "none"} and len(obvious) == 1:
        return obvious[0]
    if targets == "needed":
        held = ", ".join(map(repr, names)) or "none"
        raise GraphInputError(f'{source}: name the column of targets with target="…"; there are: {held}')
    return None


def table_rows(table: Table, columns: Columns) -> Iterator[Row]:
    """Yield one row per molecule, in the order of the table; empty lines do not count."""
    several = isinstance(columns.target, tuple)
    targets = columns.target if isinstance(columns.target, tuple) else (columns.target,)
    wanted = [table.header.index(column) for column in (columns.smiles, *targets) if column is not None]
    for row, (line, cells) in enumerate(table.read(wanted)):
        if isinstance(cells, str):
            yield Row(row, line, "", "", problem=cells)
            continue
        smiles = "" if is_missing(cells[0]) else cells[0]
        text = smiles if isinstance(smiles, str) else str(smiles)
        target = tuple(cells[1:]) if several else cells[1] if columns.target is not None else None
        problem = "" if text else f"its cell of {columns.smiles!r} is empty"
        yield Row(row, line, text, text, target, problem)


def in_memory(table: Table) -> tuple[Table, dict[str, list[object]]]:
    """Read a whole table; return one that can still be read, and its cells by column."""
    rows = list(table.read(list(range(len(table.header)))))

    def read(columns: list[int]) -> Iterator[tuple[int | None, list[object] | str]]:
        for line, cells in rows:
            yield line, cells if isinstance(cells, str) else [cells[column] for column in columns]

    kept = table._replace(read=read)
    return kept, all_cells(kept)


def all_cells(table: Table) -> dict[str, list[object]]:
    r"""Return the cells of every column, one per row; a second column of the same name becomes ``name.1``.

    >>> all_cells(csv_table("m.csv", ["id,smiles,id\n", "a,CC,b\n", "a,CC\n"]))
    {'id': ['a', None], 'smiles': ['CC', None], 'id.1': ['b', None]}
    """
    columns: dict[str, list[object]] = {}
    for name in table.header:
        repeats = (f"{name}.{count}" for count in itertools.count(1))
        columns[next(free for free in itertools.chain([name], repeats) if free not in columns)] = []
    for _, cells in table.read(list(range(len(table.header)))):
        row = [None] * len(table.header) if isinstance(cells, str) else cells
        for column, cell in zip(columns.values(), row, strict=True):
            column.append(cell)
    return columns
