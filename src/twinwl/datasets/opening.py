"""Opening of a source: the reader of its kind is chosen and called here."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from twinwl.arguments import items
from twinwl.datasets.catalogue import MOLECULE_SETS, find_molecules
from twinwl.datasets.dataset import Dataset
from twinwl.datasets.folders import graph_files, line_rows, read_folder
from twinwl.datasets.formats import FOLDER_KINDS, NAME, ROW_KINDS, Place, ReadOptions, known_kinds
from twinwl.datasets.generated import GENERATED, check_generator_options
from twinwl.datasets.known import (
    check_known,
    load_collection,
    load_generated,
    parsed,
    read_collection,
    split_options,
)
from twinwl.datasets.rows import Row, Rows, read_rows
from twinwl.datasets.tables import (
    Table,
    Targets,
    all_cells,
    choose_columns,
    csv_table,
    frame_table,
    in_memory,
    obvious_target,
    parquet_table,
    table_rows,
)
from twinwl.datasets.targets import ALL, named_targets, one_or_several, usable_targets
from twinwl.datasets.text_files import STDIN, ArchiveMembers, decode, ending_of, open_file
from twinwl.errors import GraphInputError, TwinWLError, import_extra, shown
from twinwl.graphs.batch import GraphBatch
from twinwl.terminal import ProgressBar

_LABELS = ("node_label", "edge_label")
_OF_MOLECULES = ("target", "smiles_column", "atoms")
_OPTIONS = {  # options that apply to each kind
    "table": _OF_MOLECULES,
    "sdf": ("target", "atoms"),
    "smiles": ("atoms",),
    "edges": ("edge_label",),
    "graphml": _LABELS,
    "gml": _LABELS,
    "json": _LABELS,
    "folder": (*_LABELS, "atoms"),
}
_LONGEST_NAME = 200
_FRAMES = {"pandas", "polars"}


def rows_of(place: Place, reading: ReadOptions, targets: Targets) -> Rows:
    """Open a source of one graph per row; only its header is read."""
    path = Path(place.where)
    if place.kind == "table":
        return _rows_of_table(_table_of(place), reading, targets)
    if place.kind == "sdf":
        from twinwl.datasets.sdf import properties_of, sdf_rows  # noqa: PLC0415

        target = reading.target
        if target is None and targets not in {"given", "none"}:
            target = obvious_target(properties_of(path), place.where, targets)
        elif target is not None:
            target = _targets_of_sdf(path, target, reading.not_targets)
        return Rows(place.where, "smiles", sdf_rows(path, target), target, reading.level, reading.n_jobs)
    return Rows(
        place.where, place.kind, line_rows(place.kind, place.where), None, reading.level, reading.n_jobs
    )


def _targets_of_sdf(
    path: Path, target: str | tuple[str, ...], not_targets: tuple[str, ...]
) -> str | tuple[str, ...]:
    """Return the properties that a target names; one that is not in the first record may be in others."""
    from twinwl.datasets.sdf import all_properties, properties_of  # noqa: PLC0415

    known = properties_of(path)
    if target == ALL and ALL not in known:
        columns = all_properties(path)
        columns.pop("title", None)
        return one_or_several(usable_targets(columns, str(path), not_targets))
    several = isinstance(target, tuple) or (target not in known and "," in target)
    return named_targets(target, list(all_properties(path)), str(path)) if several else target


def columns_of(place: Place, reading: ReadOptions) -> dict[str, list[object]]:
    """Return all cells of a table or all properties of an SD file, by column; None if a row lacks one."""
    if place.kind == "table":
        return all_cells(_table_of(place))
    if place.where in MOLECULE_SETS:
        return all_cells(_known_table(place.where, reading.data_dir))
    if place.kind == "sdf" and not place.literal:
        from twinwl.datasets.sdf import all_properties  # noqa: PLC0415

        return all_properties(Path(place.where))
    return {}


def _table_of(place: Place) -> Table:
    path = Path(place.where)
    return parquet_table(path) if path.suffix.lower() == ".parquet" else csv_table(place.where)


def check_options(place: Place, source: str, reading: ReadOptions) -> None:
    """Refuse options that do not apply to a source."""
    takes = _OF_MOLECULES if place.where in MOLECULE_SETS else _OPTIONS.get(place.kind, ())
    given = {option: getattr(reading, option) for option in (*_OF_MOLECULES, *_LABELS)}
    if reading.atoms is not None and "atoms" not in takes:
        raise _no_molecules(source, reading.atoms)
    refuse_options(source, {option: value for option, value in given.items() if option not in takes})


def check_place(place: Place, reading: ReadOptions, targets: Targets) -> None:
    """Refuse sources, columns and rows that do not exist; no graph is built.

    Only the header is read, and of text the rows up to the one that is asked for.
    """
    path = Path(place.where)
    if place.kind == NAME:
        name, options = split_options(place.where, {})
        if name in GENERATED:
            check_generator_options(name, options)
            return
        refuse_options(name, options)
        if name in MOLECULE_SETS:
            rows = _rows_of_set(name, _with_columns(name, reading, targets))
            _check_number(place, rows)
        else:
            check_known(name, reading.data_dir)
    elif place.literal or place.where == STDIN or (path.is_dir() and place.kind in {"folder", "tu"}):
        return
    else:
        with open_file(path):
            pass
        if place.kind in ROW_KINDS:
            rows = rows_of(place, reading, targets)
            if place.kind != "sdf":  # whose records only RDKit reads
                _check_number(place, rows)


def read_place(place: Place, reading: ReadOptions, targets: Targets, options: Mapping[str, int]) -> Dataset:
    """Read a source."""
    if place.kind != NAME:
        refuse_options(place.where, options)
    if place.literal:
        return _literal(place, reading)
    if place.kind in ROW_KINDS and place.number is not None:
        return _one_row(place, reading)
    if place.kind == NAME:
        found = _known(place.where, reading, targets, options)
    elif place.kind in ROW_KINDS:
        found = _read_rows(place, reading, targets)
    else:
        found = _read_whole(place, reading)
    return found if place.number is None else _picked(found, place)


def _known(given: str, reading: ReadOptions, targets: Targets, given_options: Mapping[str, int]) -> Dataset:
    name, options = split_options(given, given_options)
    if name in GENERATED:
        return load_generated(name, options)
    refuse_options(name, options)
    if name not in MOLECULE_SETS:
        return load_collection(name, reading.data_dir, reading.progress)
    path, member = find_molecules(name, reading.data_dir)
    reading = _with_columns(name, reading, targets)

    def parse() -> Dataset:
        return read_rows(_rows_of_set(name, reading), name, reading.on_error)

    found = _from_cache(path, f"{member}", reading, name, parse)
    return replace(found, about=MOLECULE_SETS[name].about)


def _with_columns(name: str, reading: ReadOptions, targets: Targets) -> ReadOptions:
    """Add the column names of a table of MoleculeNet if the user gave none."""
    known = MOLECULE_SETS[name]
    return replace(
        reading,
        target=reading.target or (None if targets == "none" else known.target),
        smiles_column=reading.smiles_column or known.smiles_column,
    )


def _rows_of_set(name: str, reading: ReadOptions) -> Rows:
    return _rows_of_table(_known_table(name, reading.data_dir), reading, "given")


def _known_table(name: str, data_dir: str | Path | None) -> Table:
    path, member = find_molecules(name, data_dir)
    if member is None:
        return csv_table(str(path))
    where = f"{path}: {member}"
    with ArchiveMembers(path) as members:
        return csv_table(where, io.StringIO(decode(members.read(member), where), newline=""))


def _read_rows(place: Place, reading: ReadOptions, targets: Targets) -> Dataset:
    """Read all rows of a file; molecules, which are slow to parse, are cached."""
    rows = rows_of(place, reading, targets)
    path = Path(place.where)
    name = "stdin" if place.where == STDIN else _stem(path)
    if rows.kind != "smiles" or place.where == STDIN:
        return read_rows(rows, name, reading.on_error)
    reading = replace(reading, target=rows.target)
    return _from_cache(path, place.kind, reading, name, lambda: read_rows(rows, name, reading.on_error))


def _from_cache(
    path: Path, what: str, reading: ReadOptions, name: str, parse: Callable[[], Dataset]
) -> Dataset:
    # RDKit decides what can be read, so the result of one version is not used for another.
    version = import_extra("rdkit", "chem").__version__
    options = (what, reading.smiles_column, reading.target, reading.on_error, version, reading.level)
    return replace(parsed(path, repr(("molecules", *options)), parse), name=name)


def _one_row(place: Place, reading: ReadOptions) -> Dataset:
    """Read one row of a file without building the graphs of the others."""
    rows = rows_of(place, reading, "given")
    row = _row_at(place, rows)
    return _read_single(rows._replace(rows=[row], target=None), _stem(Path(place.where)))


def _check_number(place: Place, rows: Rows) -> None:
    if place.number is not None:
        _row_at(place, rows)


def _row_at(place: Place, rows: Rows) -> Row:
    """Return the requested row."""
    count = 0
    for row in rows.rows:
        if row.row == place.number:
            return row
        count += 1
    raise _out_of_range(place, count)


def _literal(place: Place, reading: ReadOptions) -> Dataset:
    source = f"{place.kind}:{place.where}"
    source = source if len(source) <= _LONGEST_NAME else f"{source[: _LONGEST_NAME - 1]}…"
    rows = Rows(source, place.kind, [Row(0, None, place.where, source)], atoms=reading.level)
    return _read_single(rows, source)


def _read_single(rows: Rows, name: str) -> Dataset:
    """Read the requested row, which cannot be skipped."""
    try:
        return read_rows(rows, name, "fail")
    except GraphInputError as error:
        message = str(error).replace(f"{rows.source}, row 0", rows.source).partition("; correct it, or")[0]
        raise GraphInputError(f"{message}; correct it") from error


def _rows_of_table(table: Table, reading: ReadOptions, targets: Targets) -> Rows:
    target = reading.target
    if target == ALL and ALL not in table.header:
        smiles = choose_columns(table.header, table.name, reading.smiles_column, None, "none").smiles
        table, cells = in_memory(table)
        cells.pop(smiles)
        target = one_or_several(usable_targets(cells, table.name, reading.not_targets))
    columns = choose_columns(table.header, table.name, reading.smiles_column, target, targets)
    return Rows(
        table.name, "smiles", table_rows(table, columns), columns.target, reading.level, reading.n_jobs
    )


def is_frame(source: object) -> bool:
    """Return whether an object is a frame of pandas or polars."""
    return any(kind.__module__.partition(".")[0] in _FRAMES for kind in type(source).__mro__)


def rows_in_memory(source: object, reading: ReadOptions, targets: Targets) -> Rows:
    """Open a frame, or a list of strings."""
    if is_frame(source):
        return _rows_of_table(frame_table(source), reading, targets)
    if reading.kind in {"smiles", "graph6"} and issubclass(type(source), list | tuple | np.ndarray):
        rows = (
            Row(row, None, text, text, problem="" if isinstance(text, str) else f"{shown(text)} is not text")
            for row, text in enumerate(items("source", source, "a list of strings"))
        )
        if reading.kind == "graph6" and reading.atoms is not None:
            raise _no_molecules("the list", reading.atoms)
        return Rows("the list", reading.kind, rows, None, reading.level, reading.n_jobs)
    raise TwinWLError(
        f"data set: got {shown(source)}, expected a name, a path, a frame with a column of SMILES, or a list "
        'of strings with kind="smiles" or kind="graph6"; graphs become a data set by Dataset.from_graphs'
    )


def _read_whole(place: Place, reading: ReadOptions) -> Dataset:
    """Read a file whose format is parsed at once, or a folder."""
    path = Path(place.where)
    if place.kind in {"tu", "exp"}:
        found = read_collection(path, place.kind)
        return replace(found, names=tuple(f"{place.where}#{row}" for row in found.rows.tolist()))
    if place.kind == "folder":
        return _read_folder(path, reading)
    graphs = _graphs_of(place.kind, path, reading)
    names = [place.where] if len(graphs) == 1 else [f"{place.where}#{row}" for row in range(len(graphs))]
    return Dataset(_stem(path), graphs, names=tuple(names))


def _graphs_of(kind: str, path: Path, reading: ReadOptions) -> GraphBatch:
    # Each format brings its own dependencies: only the one in use is imported.
    if kind == "edges":
        from twinwl.datasets.edge_list import read_edge_list  # noqa: PLC0415

        return read_edge_list(path, reading.edge_label)
    if kind == "json":
        from twinwl.datasets.markup import read_node_link  # noqa: PLC0415

        return read_node_link(path, reading.node_label, reading.edge_label)
    from twinwl.datasets import markup  # noqa: PLC0415

    read = markup.read_gml if kind == "gml" else markup.read_graphml
    return read(path, reading.node_label, reading.edge_label)


def _read_folder(path: Path, reading: ReadOptions) -> Dataset:
    files = graph_files(path, FOLDER_KINDS)
    if not files:
        raise GraphInputError(
            f"{path}: neither a TU data set nor files of graphs in this folder or its subfolders. "
            f"Known: {known_kinds()}"
        )
    with ProgressBar(f"reading {path.name}", total=len(files)) as bar:

        def read(file: Path) -> Dataset:
            bar.advance()
            place = Place(FOLDER_KINDS[ending_of(file.name)], str(file))
            if place.kind not in ROW_KINDS:
                return _read_whole(place, reading)
            return read_rows(rows_of(place, reading, "given"), file.name, reading.on_error)

        return read_folder(path, files, read, reading.on_error)


def _picked(found: Dataset, place: Place) -> Dataset:
    """Return the requested graph."""
    index = np.flatnonzero(found.rows == place.number)
    if len(index):
        return found[int(index[0])]
    for error in found.errors:
        if error.row == place.number:
            raise GraphInputError(f"{place.where}: graph {place.number} cannot be read: {error.reason}")
    raise _out_of_range(place, len(found) + len(found.errors))


def _out_of_range(place: Place, n_graphs: int) -> GraphInputError:
    held = "1 graph, number 0" if n_graphs == 1 else f"{n_graphs} graphs, numbered 0 to {n_graphs - 1}"
    return GraphInputError(f"{place.where}: graph {place.number} is out of range: there are {held}")


def _stem(path: Path) -> str:
    name = path.name.removesuffix(".gz")
    return Path(name).stem or name


def _no_molecules(source: str, atoms: str) -> TwinWLError:
    return TwinWLError(
        f"{shown(source)} has no molecules, so the level {atoms!r} does not apply; leave it out"
    )


def refuse_options(given: str, options: Mapping[str, str | int | None]) -> None:
    """Refuse options that a source does not have; None means that an option was not given."""
    for option, value in options.items():
        if value is not None:
            raise TwinWLError(f"{shown(given)} does not have the option {option!r}")
