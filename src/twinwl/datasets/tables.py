"""Files of one graph per row: tables (CSV, TSV, Parquet, frames), SD files, lines of SMILES or graph6.

One column of a table has the SMILES and, usually, one the target. The column of SMILES is found by its name;
the target is the column given by the user, or else the only other column or the one called label, class,
target or y.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from twinwl.datasets.records import Record, Records
from twinwl.datasets.targets import Targets, choose_targets, is_missing, named_column
from twinwl.datasets.text_files import STDIN, numbered_lines, open_file, text_lines
from twinwl.errors import GraphInputError, first_line, import_extra, setting
from twinwl.files.tables import plain_cell

if TYPE_CHECKING:
    from twinwl.datasets.formats import ReadOptions

_SMILES = ("smiles", "canonical_smiles", "isomeric_smiles", "mol")
SEPARATORS = ",;\t"
_HEADER = re.compile(r"^>>(?:graph6|sparse6|digraph6)<<")
Lines = Iterable[tuple[int, str]]
Rows = Iterator[tuple[int | None, list[object] | str]]
"""The line of each row, and its cells or why they cannot be read."""


# ---------------------------------------------------------------------- lines of text


def read_smiles_lines(where: str, reading: ReadOptions, _: Targets) -> Records:
    """Open a file of SMILES, or standard input."""
    records = smiles_records(numbered_lines(where))
    return Records(where, "smiles", records, None, reading.level, reading.n_jobs)


def read_graph6_lines(where: str, _: ReadOptions, __: Targets) -> Records:
    """Open a file of graph6, sparse6 or digraph6, or standard input."""
    return Records(
        where, "graph6", graph6_records(numbered_lines(where), "stdin" if where == STDIN else where)
    )


def smiles_records(lines: Lines) -> Iterator[Record]:
    """Yield one record per line that is not empty; a SMILES may be followed by the name of its molecule."""
    for row, (line, text) in enumerate(lines):
        smiles, *given = text.split(maxsplit=1)
        yield Record(row, line, smiles, given[0] if given else smiles)


def graph6_records(lines: Lines, name: str) -> Iterator[Record]:
    """Yield one record per line that is not empty."""
    for row, (line, text) in enumerate(lines):
        yield Record(row, line, text if row else _HEADER.sub("", text), f"{name}#{row}")


# ---------------------------------------------------------------------- tables


class Table(NamedTuple):
    """A table that is read on demand."""

    name: str
    header: list[str]
    read: Callable[[list[int]], Rows]
    """Function from columns to rows: the line, and the cells of these columns or why they cannot be read."""


def read_table(where: str, reading: ReadOptions, targets: Targets) -> Records:
    """Open a file with a table of molecules."""
    return records_of(_open_table(where), reading, targets)


def table_columns(where: str) -> dict[str, list[object]]:
    """Return all cells of a file with a table."""
    return all_cells(_open_table(where))


def _open_table(where: str) -> Table:
    return parquet_table(Path(where)) if where.lower().endswith(".parquet") else csv_table(where)


def records_of(table: Table, reading: ReadOptions, targets: Targets) -> Records:
    """Choose the columns of a table."""
    smiles = choose_smiles(table.header, table.name, reading.smiles_column)
    header = [column for column in table.header if column != smiles or reading.target is not None]

    def cells() -> dict[str, list[object]]:
        return {name: found for name, found in all_cells(table).items() if name != smiles}

    target = choose_targets(header, table.name, reading.target, targets, cells, reading.not_targets)
    wanted = target if isinstance(target, tuple) else () if target is None else (target,)
    records = table_records(table, smiles, wanted)
    return Records(table.name, "smiles", records, target, reading.level, reading.n_jobs)


def table_records(table: Table, smiles: str, wanted: Sequence[str] = ()) -> Iterator[Record]:
    """Yield one record per molecule, with the ``wanted`` cells; empty lines do not count."""
    for row, (line, cells) in enumerate(table.read([table.header.index(name) for name in (smiles, *wanted)])):
        if isinstance(cells, str):
            yield Record(row, line, "", "", error=cells)
        else:
            text = "" if is_missing(cells[0]) else str(cells[0])
            error = "" if text else f"its cell of {smiles!r} is empty"
            yield Record(row, line, text, text, tuple(cells[1:]), error)


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
    given = None if lines is None else list(lines)

    def rows() -> Iterator[tuple[int, list[str]]]:
        texts = iter(given) if given is not None else (text for _, text in text_lines(name))
        first = next(texts, "").removeprefix("\ufeff")
        return _csv_rows(name, itertools.chain([first], texts), max(SEPARATORS, key=first.count))

    header = [plain_cell(column.strip()) for column in next(rows(), (1, []))[1]]

    def read(columns: list[int]) -> Rows:
        for line, cells in itertools.islice(rows(), 1, None):
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                count = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
                remedy = "; quote cells that contain separators" if len(cells) > len(header) else ""
                yield line, f"got {count}, expected {len(header)} as in the header{remedy}"
            else:
                yield line, [plain_cell(cells[column].strip()) for column in columns]

    return Table(name, header, read)


def _csv_rows(name: str, lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
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
        problem = f"{error}; correct that line"
        if "new-line" in str(error):
            problem = "lines end in CR alone; save the file with the line ends LF or CRLF"
        if "field limit" in str(error):
            limit = f"{csv.field_size_limit():,}"
            problem = f"a cell of more than {limit} characters; close its quote, or shorten the cell"
        raise GraphInputError(f"{name}, line {line}: {problem}") from error


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

    def read(columns: list[int]) -> Rows:
        names = [header[column] for column in columns]
        try:
            for batch in file.iter_batches(columns=list(dict.fromkeys(names))):
                values = batch.to_pydict()
                yield from ((None, list(cells)) for cells in zip(*map(values.get, names), strict=True))
        except Exception as error:
            raise failed(error) from error

    return Table(str(path), header, read)


def frame_table(frame: Any) -> Table:  # noqa: ANN401
    """Read a pandas or polars frame as a table.

    >>> import pandas
    >>> frame_table(pandas.DataFrame({"smiles": ["CC"], "y": [1]})).header
    ['smiles', 'y']
    """
    if all(kind.__name__ != "DataFrame" for kind in type(frame).__mro__):
        raise GraphInputError(
            f"got a {type(frame).__name__}, expected a DataFrame; call collect() on lazy frames"
        )
    keys = list(frame.columns)

    def read(columns: list[int]) -> Rows:
        lists = [frame[keys[column]].to_list() for column in columns]
        yield from ((None, list(cells)) for cells in zip(*lists, strict=True))

    return Table("the frame", [str(key) for key in keys], read)


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


def choose_smiles(header: Sequence[str], name: str, wanted: str | None) -> str:
    """Return the column of SMILES: the one that the user named, or the one called so."""
    if not any(header):
        raise GraphInputError(
            f"{name}: its first line is empty; name the columns there, one of them 'smiles'"
        )
    found = wanted or smiles_column_of(header)
    if found is None:
        raise GraphInputError(
            f"{name}: no column is called 'smiles'; name the column of SMILES with "
            f"{setting(smiles_column=...)}. The columns are {', '.join(map(repr, header))}"
        )
    return named_column(header, found, "smiles_column", name)


# ---------------------------------------------------------------------- SD files

END = "$$$$"
"""What the line after each record of an SD file starts with."""
_MAX_RECORD = 2**22  # characters; a molecule of 10,000 atoms takes about a million
_MAX_ATOMS, _MAX_RINGS = 10_000, 500  # RDKit reads so many in a second or two


def read_sdf(where: str, reading: ReadOptions, targets: Targets) -> Records:
    """Open an SD file, or a file of one molecule (``.mol``); the targets are properties of its records."""
    target = reading.target
    if target is not None or targets not in {"given", "none"}:
        header = list(properties_in(next(_blocks_of(_sd_lines(where)), (0, ""))[1]))
        if target is not None and target not in header:  # not in the first record, perhaps in another
            header = [name for name in sdf_columns(where) if name != "title" or "title" in header]

        def cells() -> dict[str, list[object]]:
            return {name: found for name, found in sdf_columns(where).items() if name != "title"}

        target = choose_targets(header, where, target, targets, cells, reading.not_targets)
    wanted = target if isinstance(target, tuple) else () if target is None else (target,)
    records = sdf_records(_sd_lines(where), where, wanted)
    return Records(where, "smiles", records, target, reading.level, reading.n_jobs)


def sdf_columns(where: str) -> dict[str, list[object]]:
    """Return the title and the properties of every record, by name; None if a record lacks one."""
    found = [
        {"title": text.partition("\n")[0].strip(), **properties_in(text)}
        for _, text in _blocks_of(_sd_lines(where))
    ]
    return {name: [cells.get(name) for cells in found] for name in dict.fromkeys(itertools.chain(*found))}


def sdf_records(lines: Lines, name: str, wanted: tuple[str, ...] = ()) -> Iterator[Record]:
    """Yield one record per molecule: its SMILES, its title as name, and the ``wanted`` properties.

    Each record is converted to SMILES, so that a molecule gives the same graph whether it comes from an SD
    file or from a table.
    """
    chem = import_extra("rdkit.Chem", "chem")
    logs = import_extra("rdkit.rdBase", "chem").BlockLogs
    for row, (line, text) in enumerate(_blocks_of(lines)):
        with logs():  # the reason kept with the record says all that RDKit would have logged
            smiles, error = _smiles_of(chem, text)
        properties = properties_in(text) if wanted else {}
        title = text.partition("\n")[0].strip() or (f"{name}#{row}" if name else "")
        yield Record(row, line, smiles, title, tuple(properties.get(each) for each in wanted), error)


def _sd_lines(where: str) -> Lines:
    return text_lines(where, errors="replace")


def _blocks_of(numbered: Lines) -> Iterator[tuple[int, str]]:
    """Yield the text of each record of an SD file, with the number of its first line."""
    lines: list[str] = []
    start, length = 1, 0
    for number, text in numbered:
        if text.startswith(END):
            yield start, "".join(lines)
            lines, start, length = [], number + 1, 0
            continue
        length += len(text)
        if length <= _MAX_RECORD:
            lines.append(text)
        elif lines:
            lines = [" " * (_MAX_RECORD + 1)]  # too long to be read, and kept no longer than that
    if any(text.strip() for text in lines):
        yield start, "".join(lines)


def _smiles_of(chem: Any, text: str) -> tuple[str, str]:  # noqa: ANN401
    """Return the SMILES of a record, or the problem with it."""
    if len(text) > _MAX_RECORD:
        return "", f"the record has more than {_MAX_RECORD:,} characters"
    supplier = chem.SDMolSupplier()
    try:
        supplier.SetData(text, sanitize=False, removeHs=False)
        molecule = supplier[0] if len(supplier) else None
        if molecule is None:
            return "", "the record is not a valid mol block"
        n_rings = molecule.GetNumBonds() - molecule.GetNumAtoms() + 1
        if molecule.GetNumAtoms() > _MAX_ATOMS or n_rings > _MAX_RINGS:
            size = f"{molecule.GetNumAtoms():,} atoms and about {max(n_rings, 0):,} rings"
            return "", f"it has {size}; the limits are {_MAX_ATOMS:,} and {_MAX_RINGS:,}"
        problems = chem.DetectChemistryProblems(molecule)
        supplier.SetData(text)  # hydrogens and stereo as RDKit sees them by default
        molecule = None if problems else supplier[0]
        if molecule is None:  # sanitising can fail without a problem that was detected
            return "", problems[0].Message().strip() if problems else "RDKit cannot sanitise it"
        smiles = chem.MolToSmiles(molecule)
    except (RuntimeError, ValueError, OSError, IndexError) as error:
        return "", f"RDKit cannot read the record ({first_line(error)})"
    return smiles, "" if smiles else "the record holds no atoms"


def properties_in(text: str) -> dict[str, str]:
    """Read the data items of a record: a line ``> <name>``, then lines up to an empty one."""
    found: dict[str, str] = {}
    lines = iter([line.rstrip("\r") for line in text.split("\n")])
    for line in lines:
        name = line.partition("<")[2].rpartition(">")[0] if line.startswith(">") else ""
        if name:
            found[name] = "\n".join(itertools.takewhile(str.strip, lines))
    return found
