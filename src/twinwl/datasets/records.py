"""Records: the one stream in which rows of files, frames and lists become graphs.

Whatever has one graph per row (lines of SMILES or graph6, tables, SD files, frames, lists) is opened as
`Records`: an iterator of `Record`, each with the text of its graph, its name, the cells of the columns that
were asked for, its row and line, and the reason if it cannot be read. A record that cannot be read keeps its
row, so that rows of a data set are rows of its source.

`Records.read` makes one `Dataset` of all of them, `Records.stream` one per block of rows, `Records.convert`
the graphs of a list of them. The records may come from anywhere, such as a part of a file that another
process reads: `twinwl.datasets.records` has functions from numbered lines to records (`smiles_records`,
`graph6_records`, `sdf_records`, and `table_records` of `csv_table`).
"""

import csv
import hashlib
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from twinwl.arguments import checked, integer
from twinwl.arrays import Columns, Names, Values
from twinwl.datasets import dataset, formats
from twinwl.datasets.dataset import (
    Dataset,
    RowError,
    Targets,
    choose_targets,
    is_missing,
    known_cells,
    location_of,
    named_column,
)
from twinwl.datasets.formats import ReadOptions, id_columns_of
from twinwl.errors import (
    GraphInputError,
    first_line,
    held_warnings,
    import_extra,
    prefix_errors,
    setting,
    shown,
    warn_caller,
)
from twinwl.files.model_files import from_json, restore, to_json
from twinwl.files.storage import file_digest, plain_cell, read_arrays, write_arrays
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.graphs.molecules import read_smiles
from twinwl.terminal import ProgressBar

BLOCK = 4096  # rows at a time: RDKit's molecules are large, the graphs made from them are not
_FORMAT = 6  # of cached data sets; raise it whenever the same file would be parsed or kept in another way


class Record(NamedTuple):
    """One row of a source, before it is converted to a graph."""

    row: int
    """Its place in the source, from 0."""
    line: int | None
    """Its line in the file, from 1; None if the source has no lines."""
    text: str
    """The graph: SMILES, or graph6."""
    name: str
    cells: tuple[object, ...] = ()
    """One per column that was asked for, usually the targets."""
    error: str = ""
    """Why it is left out, if that is already known."""
    kind: str = "graph"
    """What the error is about, ``"graph"`` or ``"target"``."""


@dataclass(frozen=True)
class Records:
    """A source of one graph per row, opened but not yet read."""

    source: str
    """Name of the source, for messages."""
    kind: Literal["smiles", "graph6"]
    """Format of the text of a record."""
    records: Iterable[Record]
    reading: ReadOptions
    """How molecules are read."""
    targets: Names = ()
    """The columns of the targets."""
    single: bool = False
    """Whether this is the one record that was asked for, which cannot be skipped."""
    id: str | None = None
    """The column of the ids, which the names are."""

    def read(self, name: str) -> Dataset:
        """Read all records into one data set; unusable ones are skipped or an error.

        >>> Records("here", "graph6", [Record(0, None, "Bw", "triangle")], ReadOptions()).read("tiny").names
        ('triangle',)
        """
        usable: list[Record] = []
        errors: list[RowError] = []
        batches = []
        rows = self._with_known_cells() if self.targets else self.records
        with ProgressBar(f"reading {name}") as bar:
            for graphs, some, unusable in self._blocks(rows, BLOCK):
                batches += [graphs] if some else []
                usable += some
                errors += unusable
                bar.advance(len(some))
        if not usable:
            raise _none_usable(self.source, errors)
        with prefix_errors(self.source):
            graphs = concatenate(batches)
        y = dataset.targets_of(usable, self.targets, self.source) if self.targets else None
        return self._dataset(name, graphs, usable, errors, y)

    def stream(self, size: int = BLOCK) -> Iterator[Dataset]:
        """Read records block by block, with one block in memory at a time; targets are not read.

        Blocks have the ``lines`` that write their graphs again. At the end one warning counts the rows that
        were skipped.
        """
        checked("block", size, integer(1))
        errors: list[RowError] = []
        n_kept = 0
        for graphs, usable, unusable in self._blocks(self.records, size):
            errors += unusable
            n_kept += len(usable)
            named = self.kind == "smiles"
            lines = (f"{r.text} {r.name}" if named and r.name != r.text else r.text for r in usable)
            block = self._dataset(self.source, graphs, usable, unusable)
            yield replace(block, lines=tuple(lines))
        if not n_kept:
            raise _none_usable(self.source, errors)
        warn_left_out(errors, n_kept, self.source)

    def convert(self, chunk: list[Record]) -> tuple[GraphBatch, list[Record], list[RowError]]:
        """Return the graphs of some records, the records that they are of, and the errors of the others."""
        usable = [record for record in chunk if not record.error]
        texts = [record.text for record in usable]
        failed: dict[int, str] = {}
        if self.kind == "smiles":
            graphs, failures = read_smiles(
                texts, "skip", atoms=self.reading.level, n_jobs=self.reading.n_jobs
            )
            failed = {place: f"SMILES {shown(text)} cannot be read: {why}" for place, text, why in failures}
        else:
            try:
                graphs = GraphBatch.from_graph6(texts)
            except GraphInputError:  # some cannot be read: find out which
                for place, text in enumerate(texts):
                    try:
                        GraphBatch.from_graph6([text])
                    except GraphInputError as error:
                        failed[place] = str(error.at(None))
                readable = [text for place, text in enumerate(texts) if place not in failed]
                graphs = GraphBatch.from_graph6(readable)
        unusable = [record for record in chunk if record.error]
        unusable += [usable[place]._replace(error=why, kind="graph") for place, why in failed.items()]
        errors = [RowError(record.row, record.line, record.kind, record.error) for record in unusable]
        return graphs, [one for place, one in enumerate(usable) if place not in failed], sorted(errors)

    def _blocks(
        self, rows: Iterable[Record], size: int
    ) -> Iterator[tuple[GraphBatch, list[Record], list[RowError]]]:
        stream = iter(rows)
        first = True
        while chunk := list(itertools.islice(stream, size)):
            graphs, usable, errors = self.convert(chunk)
            if errors and (self.single or self.reading.on_error == "fail"):
                where = "" if self.single and errors[0].line is None else location_of(errors[0])
                remedy = "" if self.single else f", or skip such rows with {setting(on_error='skip')}"
                raise GraphInputError(f"{self.source}{where}: {errors[0].reason}; correct it{remedy}")
            first = False
            yield graphs, usable, errors
        if first:
            raise GraphInputError(f"{self.source}: there is no graph in it; is it the right file?")

    def _with_known_cells(self) -> list[Record]:
        """Read all rows, because a cell may be missing or not by what is in its column; see `known_cells`."""
        listed = list(self.records)
        no_cells = (None,) * len(self.targets)
        columns = zip(*(record.cells or no_cells for record in listed))
        known = zip(*map(known_cells, columns))
        rows = []
        for record, cells in zip(listed, known):
            if not record.error and all(cell is None for cell in cells):
                cells_as_text = ", ".join(map(shown, record.cells))
                problem = f"its target {' or '.join(map(repr, self.targets))} is missing ({cells_as_text})"
                rows.append(record._replace(error=problem, kind="target"))
            else:
                rows.append(record._replace(cells=cells))
        return rows

    def _dataset(
        self,
        name: str,
        graphs: GraphBatch,
        usable: list[Record],
        errors: list[RowError],
        y: Values | None = None,
    ) -> Dataset:
        targets = () if y is None else self.targets
        several = len(targets) > 1
        return Dataset(
            name,
            graphs,
            y,
            smiles=tuple(record.text for record in usable) if self.kind == "smiles" else None,
            names=tuple(record.name for record in usable),
            rows=np.array([record.row for record in usable], np.int64),
            errors=tuple(errors),
            target=None if several else next(iter(targets), None),
            tasks=targets if several else (),
            id=self.id,
        )


def parsed(path: Path, kind: str, parse: Callable[[], Dataset]) -> Dataset:
    """Parse a file, or return the cached result, with its warnings, if the same content was parsed before.

    Parameters
    ----------
    path
        A file or folder; nothing is written next to it.
    kind
        Name of the format, and of every option that changes the result.
    parse
        Function that parses the file if the cache has no valid entry.
    """
    key = hashlib.sha256(f"{kind} {_FORMAT} {file_digest(path)}".encode()).hexdigest()
    try:
        arrays = read_arrays(key) or {}
        y, text = arrays.pop("y", None), arrays.pop("json").tobytes()
        content, tasks, messages = from_json(json.loads(text), arrays)
        data: Dataset = replace(restore(Dataset, content), y=y, tasks=tasks)
    except (LookupError, ValueError, TypeError):  # not there, or damaged, which is as good
        with held_warnings() as messages:
            data = parse()
        stored: dict[str, Values] = {}
        # Targets may be NaN, which files of models do not hold.
        form = to_json((replace(data, y=None, tasks=()), data.tasks, list(messages)), stored, "data")
        stored["json"] = np.frombuffer(json.dumps(form).encode(), np.uint8)
        write_arrays(key, stored if data.y is None else {**stored, "y": data.y})
    for message in messages:
        warn_caller(message)
    return data


def warn_left_out(errors: Iterable[RowError], n_kept: int, source: str) -> None:
    """Warn once about the rows that were skipped, with their number."""
    listed = list(errors)
    if not listed:
        return
    n_targets = sum(error.kind == "target" for error in listed)
    counts = {"cannot be read": len(listed) - n_targets, "without a target": n_targets}
    listing = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    n_rows = len(listed) + n_kept
    warn_caller(f"{source}: left out {len(listed):,} of {n_rows:,} rows ({listing}); {_first(listed)}")


def _none_usable(source: str, errors: list[RowError]) -> GraphInputError:
    remedy = "; name another column of targets" if errors[0].kind == "target" else ""
    return GraphInputError(
        f"{source}: none of its {len(errors):,} rows can be used; {_first(errors)}{remedy}"
    )


def _first(errors: list[RowError]) -> str:
    return f"the first is{location_of(errors[0]).replace(',', '')}: {errors[0].reason}"


_HEADER = re.compile(r"^>>(?:graph6|sparse6|digraph6)<<")
Lines = Iterable[tuple[int, str]]
Rows = Iterator[tuple[int | None, list[object] | str]]
"""The line of each row, and its cells or why they cannot be read."""


# ---------------------------------------------------------------------- lines of text


def read_smiles_lines(where: str, reading: ReadOptions, _: Targets) -> Records:
    """Open a file of SMILES, or standard input."""
    records = smiles_records(formats.numbered_lines(where))
    return Records(where, "smiles", records, reading)


def read_graph6_lines(where: str, reading: ReadOptions, _: Targets) -> Records:
    """Open a file of graph6, sparse6 or digraph6, or standard input."""
    name = "stdin" if where == formats.STDIN else where
    return Records(where, "graph6", graph6_records(formats.numbered_lines(where), name), reading)


def smiles_records(lines: Lines) -> Iterator[Record]:
    """Yield one record per line that is not empty; a SMILES may be followed by the name of its molecule."""
    for row, (line, text) in enumerate(lines):
        smiles, *name = text.split(maxsplit=1)
        yield Record(row, line, smiles, name[0] if name else smiles)


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

    def records(self, reading: ReadOptions, targets: Targets) -> Records:
        """Choose the columns of molecules, ids and targets."""
        smiles = choose_smiles(self.header, self.name, reading.smiles_column)
        lacking = reading.shared and reading.id not in self.header
        ids = self.ids(None if lacking else reading.id, smiles)
        others = {smiles, *id_columns_of(self.header)} if reading.target is None else set()
        header = [name for name in self.header if name not in others]

        def cells() -> Columns:
            return {name: column for name, column in self.cells().items() if name != smiles}

        chosen = choose_targets(header, self.name, reading, targets, cells, ids)
        records = table_records(self, smiles, chosen, ids)
        return Records(self.name, "smiles", records, reading, chosen, id=ids)

    def ids(self, wanted: str | None, smiles: str) -> str | None:
        """Return the column of ids: the one that is wanted, else one of a usual name whose cells are ids."""
        if wanted is not None:
            named_column(self.header, wanted, "id", self.name)
            check_ids(self.read([self.header.index(wanted)]), wanted, self.name)
            return wanted
        for name in id_columns_of(self.header):
            with suppress(GraphInputError):
                if name != smiles and self.header.count(name) == 1:
                    return self.ids(name, smiles)
        return None

    def cells(self) -> Columns:
        r"""Return the cells of every column, one per row; a second column ``name`` becomes ``name.1``.

        >>> csv_table("m.csv", ["id,smiles,id\n", "a,CC,b\n", "a,CC\n"]).cells()
        {'id': ['a', None], 'smiles': ['CC', None], 'id.1': ['b', None]}
        """
        width = len(self.header)
        rows = [
            [None] * width if isinstance(cells, str) else cells for _, cells in self.read(list(range(width)))
        ]
        columns: Columns = {}
        for place, name in enumerate(self.header):
            repeats = self.header[:place].count(name)
            columns[f"{name}.{repeats}" if repeats else name] = [row[place] for row in rows]
        return columns


def read_table(where: str, reading: ReadOptions, targets: Targets) -> Records:
    """Open a file with a table of molecules."""
    return _open_table(where).records(reading, targets)


def table_columns(where: str) -> Columns:
    """Return all cells of a file with a table."""
    return _open_table(where).cells()


def _open_table(where: str) -> Table:
    return parquet_table(Path(where)) if where.lower().endswith(".parquet") else csv_table(where)


def table_records(
    table: Table, smiles: str, wanted: Sequence[str] = (), ids: str | None = None
) -> Iterator[Record]:
    """Yield one record per molecule, with the ``wanted`` cells; empty lines do not count.

    Molecules are named by the cells of the column ``ids``, else by their SMILES.
    """
    columns = [table.header.index(name) for name in (smiles, *wanted, *([] if ids is None else [ids]))]
    for row, (line, cells) in enumerate(table.read(columns)):
        if isinstance(cells, str):
            yield Record(row, line, "", "", error=cells)
        else:
            text = "" if is_missing(cells[0]) else str(cells[0])
            error = "" if text else f"its cell of {smiles!r} is empty"
            name = text if ids is None else _line_of(cells[-1])
            yield Record(row, line, text, name, tuple(cells[1 : 1 + len(wanted)]), error)


def check_ids(rows: Rows, column: str, source: str) -> None:
    """Refuse a column where a cell is empty or two are equal; rows that cannot be read do not count."""
    known: dict[str, int] = {}  # by name its line, or its row where there are no lines

    def location(place: int, line: int | None) -> str:
        return location_of(Record(place, None if line is None else place, "", ""))

    for row, (line, cells) in enumerate(rows):
        if isinstance(cells, str):
            continue
        place, name = row if line is None else line, _line_of(cells[0])
        if is_missing(cells[0]):
            raise GraphInputError(
                f"{source}{location(place, line)}: id: the cell of {column!r} is empty; fill it in, or name "
                "another column"
            )
        first = known.setdefault(name, place)
        if first != place:
            raise GraphInputError(
                f"{source}{location(place, line)}: id: got {shown(name)}, which {column!r} has before"
                f"{location(first, line)}; make ids unique, or name another column"
            )


def _line_of(cell: object) -> str:
    """Return an id as text on one line, so that it can stand in a file of one molecule per line."""
    return " ".join(str(cell).split())


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
    in_memory = None if lines is None else list(lines)

    def rows() -> Iterator[tuple[int, list[str]]]:
        texts = iter(in_memory) if in_memory is not None else (text for _, text in formats.text_lines(name))
        first = next(texts, "").removeprefix("\ufeff")
        return _csv_rows(name, itertools.chain([first], texts), max(formats.SEPARATORS, key=first.count))

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
        raise GraphInputError(
            f"{name}, line {line}: {error}; close its quotes, shorten the cell, or save the file with the "
            "line ends LF or CRLF"
        ) from error


def parquet_table(path: Path) -> Table:
    """Open a Parquet file; only the needed columns are read, in blocks of rows."""
    file = parquet_file(path, str(path))
    header = [str(name) for name in file.schema_arrow.names]

    def read(columns: list[int]) -> Rows:
        names = [header[column] for column in columns]
        with formats.one_error(f"{path}: not a readable Parquet file"):
            for batch in file.iter_batches(columns=list(dict.fromkeys(names))):
                values = batch.to_pydict()
                yield from ((None, list(cells)) for cells in zip(*map(values.get, names)))

    return Table(str(path), header, read)


def parquet_file(path: Path, name: str) -> Any:  # noqa: ANN401
    """Open a Parquet file; ``name`` is used in messages."""
    parquet = import_extra("pyarrow.parquet", extra="parquet")
    with formats.open_file(path):  # refuses what is not a file or not readable
        pass
    with formats.one_error(f"{name}: not a readable Parquet file"):
        return parquet.ParquetFile(path)


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
        yield from ((None, list(cells)) for cells in zip(*lists))

    return Table("the frame", [str(key) for key in keys], read)


def choose_smiles(header: Sequence[str], name: str, wanted: str | None) -> str:
    """Return the column of SMILES: the one that the user named, or the one called so."""
    column = wanted or formats.smiles_column_of(header)
    if column is None:
        raise GraphInputError(
            f"{name}: no column is called 'smiles'; name the column of SMILES with "
            f"{setting(smiles_column=...)}. The columns are {', '.join(map(repr, header))}"
        )
    return named_column(header, column, "smiles_column", name)


# ---------------------------------------------------------------------- SD files

END = "$$$$"
"""What the line after each record of an SD file starts with."""
_MAX_RECORD = 2**22  # characters; a molecule of 10,000 atoms takes about a million
_MAX_ATOMS, _MAX_RINGS = 10_000, 500  # RDKit reads so many in a second or two


def read_sdf(where: str, reading: ReadOptions, targets: Targets) -> Records:
    """Open an SD file, or a file of one molecule (``.mol``); the targets are properties of its records."""
    chosen: Names = ()
    if reading.target is not None or targets not in {"given", "none"}:
        header = list(properties_in(next(_blocks_of(_sd_lines(where)), (0, ""))[1]))

        def cells() -> Columns:
            return {name: column for name, column in sdf_columns(where).items() if name != "title"}

        if reading.target is not None and reading.target not in header:  # in another record, perhaps
            header = list(cells())
        chosen = choose_targets(header, where, reading, targets, cells)
    ids = reading.id
    if ids is not None:
        columns = sdf_columns(where)
        ids = None if reading.shared and ids not in columns else named_column(list(columns), ids, "id", where)
    if ids is not None:
        check_ids(((None, [cell]) for cell in columns[ids]), ids, where)
    records = sdf_records(_sd_lines(where), where, chosen, ids)
    return Records(where, "smiles", records, reading, chosen, id=ids)


def sdf_columns(where: str) -> Columns:
    """Return the title and the properties of every record, by name; None if a record lacks one."""
    rows = [
        {"title": text.partition("\n")[0].strip(), **properties_in(text)}
        for _, text in _blocks_of(_sd_lines(where))
    ]
    return {name: [cells.get(name) for cells in rows] for name in dict.fromkeys(itertools.chain(*rows))}


def sdf_records(lines: Lines, name: str, wanted: Names = (), ids: str | None = None) -> Iterator[Record]:
    """Yield one record per molecule: its SMILES, its name (title, or ``ids``), the ``wanted`` properties.

    Each record is converted to SMILES, so that a molecule gives the same graph whether it comes from an SD
    file or from a table.
    """
    chem = import_extra("rdkit.Chem", "chem")
    logs = import_extra("rdkit.rdBase", "chem").BlockLogs
    for row, (line, text) in enumerate(_blocks_of(lines)):
        smiles = error = ""
        try:
            with logs():  # the reason kept with the record says all that RDKit would have logged
                smiles = _smiles_of(chem, text)
        except (RuntimeError, ValueError, OSError, IndexError) as problem:
            error = first_line(problem)
        properties = properties_in(text) if wanted or ids else {}
        title = text.partition("\n")[0].strip() or (f"{name}#{row}" if name else "")
        title = _line_of(properties[ids]) if ids in properties else title
        yield Record(row, line, smiles, title, tuple(properties.get(each) for each in wanted), error)


def _sd_lines(where: str) -> Lines:
    return formats.text_lines(where, errors="replace")


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


def _smiles_of(chem: Any, text: str) -> str:  # noqa: ANN401
    """Return the SMILES of a record, or raise an error that says why there is none."""
    if len(text) > _MAX_RECORD:
        raise ValueError(f"the record has more than {_MAX_RECORD:,} characters")
    molecule = chem.MolFromMolBlock(text, sanitize=False, removeHs=False)
    if molecule is None:
        raise ValueError("the record is not a valid mol block")
    n_rings = molecule.GetNumBonds() - molecule.GetNumAtoms() + 1
    if molecule.GetNumAtoms() > _MAX_ATOMS or n_rings > _MAX_RINGS:
        size = f"{molecule.GetNumAtoms():,} atoms and about {max(n_rings, 0):,} rings"
        raise ValueError(f"it has {size}; the limits are {_MAX_ATOMS:,} and {_MAX_RINGS:,}")
    for problem in chem.DetectChemistryProblems(molecule):
        raise ValueError(problem.Message().strip())
    molecule = chem.MolFromMolBlock(text)  # hydrogens and stereo as RDKit sees them by default
    smiles: str = "" if molecule is None else chem.MolToSmiles(molecule)
    if not smiles:
        raise ValueError("the record holds no atoms, or RDKit cannot sanitise it")
    return smiles


def properties_in(text: str) -> dict[str, str]:
    """Read the data items of a record: a line ``> <name>``, then lines up to an empty one."""
    properties: dict[str, str] = {}
    lines = iter([line.rstrip("\r") for line in text.split("\n")])
    for line in lines:
        name = line.partition("<")[2].rpartition(">")[0] if line.startswith(">") else ""
        if name:
            properties[name] = "\n".join(itertools.takewhile(str.strip, lines))
    return properties
