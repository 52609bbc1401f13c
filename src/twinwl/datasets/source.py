"""Conversion of every kind of source to a `Dataset`, with or without targets.

The library and every subcommand read data with these functions and options. `open_source` finds out what a
source is, checks its options and columns, and returns how to read it; nothing slow is done before that.
"""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from twinwl.arguments import old_names
from twinwl.arrays import AnyPath, Columns, Fields
from twinwl.datasets import catalogue as known_sets
from twinwl.datasets import formats
from twinwl.datasets.catalogue import MOLECULE_SETS, is_known, molecule_table
from twinwl.datasets.dataset import (
    Dataset,
    RowError,
    Targets,
    as_targets,
    is_missing,
    known_cells,
    named_column,
)
from twinwl.datasets.formats import FOLDER_ENDINGS, FORMATS, KNOWN, STDIN, Place, ReadOptions, reader_of
from twinwl.datasets.records import BLOCK, Record, Records, csv_table, frame_table, parsed, warn_left_out
from twinwl.errors import (
    GraphInputError,
    TwinWLError,
    held_warnings,
    import_extra,
    setting,
    shown,
    warn_caller,
    warn_kinds,
)
from twinwl.graphs.batch import concatenate
from twinwl.graphs.descriptors import RDKIT, rdkit_descriptors
from twinwl.terminal import ProgressBar


@old_names(progress="verbose")
def load_dataset(
    source: object,
    data_dir: AnyPath | None = None,
    *,
    kind: str | None = None,
    target: str | Sequence[str] | None = None,
    smiles_column: str | None = None,
    id: str | None = None,  # noqa: A002  (as on the command line)
    on_error: str = "skip",
    node_label: str | None = None,
    edge_label: str | None = None,
    verbose: bool | None = None,
    atoms: str | Sequence[str] | None = None,
    n_jobs: int | None = None,
    **options: int,
) -> Dataset:
    r"""Load graphs, and their targets if there are any, by name, from a file, or from a table in memory.

    Parameters
    ----------
    source
        A known name: a set of the TU collection (``"MUTAG"``), ``"EXP"`` or ``"CEXP"``, a generated set
        (``"TWINS"``, ``"CSL"``, ``"SRG"``; options may follow, as in
        ``"TWINS:n_pairs=50,random_state=1"``), a table of MoleculeNet (``"HIV"``). Or the path of a TU
        zip or folder, a table of molecules (``.csv``, ``.tsv``, ``.parquet``), ``.sdf``, ``.smi``,
        ``.g6``, GraphML, GML, node-link JSON, an edge list, or a folder of such files; text may be packed
        as ``.gz``. ``"FILE#17"`` is one graph of a file, counted from 0; ``"smiles:CCO"`` and
        ``"graph6:Bw"`` are graphs themselves. Or a pandas or polars frame with a column of SMILES, or a
        list of strings with ``kind="smiles"`` or ``kind="graph6"``.
    data_dir
        Folder to search first; None uses the environment variable ``TWINWL_DATA``. Data sets that are not
        there are read from the user's cache folder, or downloaded to it.
    kind
        Format of a file, if its ending and content do not tell: a key of `twinwl.datasets.formats.FORMATS`
        (``"graph6"``, ``"smiles"``, ``"table"``, ``"sdf"``, ``"edges"``, ``"dimacs"``, ``"graphml"``,
        ``"gml"``, ``"json"``, ``"tu"``, ``"exp"``, ``"folder"``).
    target
        Column of a table, or property of an SD file, with the targets. None uses the only column besides
        SMILES and ids, or the one called label, class, target or y; if there is no such column, the data set
        has no targets. Several targets are a list of names, or names joined by commas, or ``"all"``: every
        column of numbers of which at least two differ (a warning names the others). ``y`` is then a table
        with one column per task, NaN where a target is missing, and ``tasks`` names them; only rows without
        any target are left out.
    smiles_column
        Column of a table with the SMILES; None finds it by its name.
    id
        Column of a table, or property of an SD file, with the ids of the molecules: one per row, all
        different. They are the names of the graphs, and ``ids``. None takes the first of the columns called
        id, name, cid, mol_id, compound or the like whose cells are ids; without one, molecules are named by
        their SMILES (those of an SD file by their titles).
    on_error
        What to do with a row that cannot be read or has no target: ``"skip"`` skips it, with an entry in
        ``errors`` and one warning that counts such rows; ``"fail"`` raises an error.
    node_label, edge_label
        Attributes with the labels, in GraphML, GML and JSON (and for edges the third column of an edge
        list).
    verbose
        Whether to show a progress bar while downloading; None shows it if standard error is a terminal.
    atoms
        Content of the labels of molecules, as in `GraphBatch.from_smiles`; None is its default.
    n_jobs
        Processes that read molecules, as in `GraphBatch.from_smiles`; None is one.
    **options
        Options of generated sets: ``n_pairs``, ``n_copies``, ``random_state``.

    Returns
    -------
    Dataset
        ``graphs``, ``y``, ``name``, ``names``, ``groups``, ``smiles``, ``rows``, ``errors``, ``card``.

    Raises
    ------
    TwinWLError
        If the name is unknown (the message suggests the nearest one), a file is not valid, or the data do
        not match the card of the known set.

    Examples
    --------
    >>> twins = load_dataset("TWINS", n_pairs=50)
    >>> twins.graphs[0], twins.groups[:4].tolist()
    (GraphBatch(1 graph, 26 nodes, 27 edges, 5 node labels), [0, 0, 1, 1])
    >>> load_dataset(["CCO", "c1ccccc1"], kind="smiles")
    Dataset('list', 2 graphs, without targets)
    """
    reading = ReadOptions(
        kind=kind,
        target=target,  # type: ignore[arg-type]  # a list becomes a tuple there
        smiles_column=smiles_column,
        id=id,
        on_error=on_error,
        node_label=node_label,
        edge_label=edge_label,
        data_dir=data_dir,
        progress=verbose,
        atoms=atoms,  # type: ignore[arg-type]
        n_jobs=n_jobs,
    )
    return read_source(source, reading, options=options)


@dataclass(frozen=True)
class Source:
    """A source that was found and checked.

    Attributes
    ----------
    name : str
        For messages.
    read : function
        Returns the data set; called once.
    records : Records or None
        If the source has one graph per row, and all of them are asked for: what ``read`` reads.
    """

    name: str
    read: Callable[[], Dataset]
    records: Records | None = None


def open_source(
    source: object,
    reading: ReadOptions,
    targets: Targets = "obvious",
    options: Mapping[str, int] | None = None,
) -> Source:
    """Find a source, and check its options, columns and rows; no graph is built.

    Only the header is read, and of text the rows up to the one that is asked for. The parameters are those of
    `read_source`.
    """
    if isinstance(source, Dataset):
        _refuse_options(source.name, options or ())
        return Source(source.name, lambda: source)
    if not isinstance(source, str | Path):
        _refuse_options(shown(source), options or ())
        records = _records_in_memory(source, reading, targets)
        name = records.source.removeprefix("the ")
        return Source(records.source, lambda: records.read(name), records)
    place = place_in(source, reading)
    if place.kind == KNOWN:
        opened = _open_known(place.where, reading, targets, options or {})
    else:
        _refuse_options(place.where, options or ())
        opened = _open_literal(place, reading) if place.literal else _open_file(place, reading, targets)
    if place.number is None or place.literal:
        return opened
    return _pick(opened, place, place.number)


def _open_known(text: str, reading: ReadOptions, targets: Targets, options: Mapping[str, int]) -> Source:
    name, chosen = known_sets.split_options(text, options)
    if name in known_sets.GENERATED:
        known_sets.check_generator_options(name, chosen)
        return Source(name, lambda: known_sets.generate(name, chosen))
    _refuse_options(name, chosen)
    if name not in MOLECULE_SETS:
        known_sets.check_known(name, reading.data_dir)
        return Source(name, lambda: known_sets.load_collection(name, reading.data_dir, reading.progress))
    known = MOLECULE_SETS[name]
    path, member, table = molecule_table(name, reading.data_dir)
    reading = replace(
        reading,
        target=reading.target or (None if targets == "none" else known.target),
        smiles_column=reading.smiles_column or known.smiles_column,
    )
    opened = _cached_source(table.records(reading, "given"), name, path, f"{member}", reading)
    return replace(opened, read=lambda: replace(opened.read(), about=known.about))


def _open_literal(place: Place, reading: ReadOptions) -> Source:
    source = f"{place.kind}:{place.where}"
    record = Record(0, None, place.where, source)
    records = Records(source, place.kind, [record], reading, single=True)  # type: ignore[arg-type]
    return Source(source, lambda: records.read(source))


def _open_file(place: Place, reading: ReadOptions, targets: Targets) -> Source:
    path = Path(place.where)
    if place.where != STDIN and not (path.is_dir() and place.kind in {"folder", "tu"}):
        with formats.open_file(path):  # refuses what is not a file or not readable
            pass
    if FORMATS[place.kind].rows:
        records = reader_of(place.kind)(place.where, reading, targets if place.number is None else "given")
        return _cached_source(records, _stem(place.where), path, place.kind, reading)

    def read() -> Dataset:
        content = reader_of(place.kind)(path, reading)
        if isinstance(content, Dataset):
            return content
        names = (
            [place.where] if len(content) == 1 else [f"{place.where}#{row}" for row in range(len(content))]
        )
        return Dataset(_stem(place.where), content, names=tuple(names))

    return Source(place.where, read)


def _cached_source(records: Records, name: str, path: Path, what: str, reading: ReadOptions) -> Source:
    """Read records; molecules, which are slow to parse, are cached."""

    def read() -> Dataset:
        if records.kind != "smiles" or records.source == STDIN:
            return records.read(name)
        # RDKit decides what can be read, so the result of one version is not used for another.
        version = import_extra("rdkit", "chem").__version__
        columns = (reading.smiles_column, records.targets, records.id)
        options = (what, *columns, reading.on_error, version, reading.level)
        key = repr(("molecules", *options))
        return replace(parsed(path, key, lambda: records.read(name)), name=name)

    return Source(records.source, read, records)


def _pick(opened: Source, place: Place, number: int) -> Source:
    """Return the requested graph; of rows, the others are not converted."""

    def out_of_range(n_graphs: int) -> GraphInputError:
        held = "1 graph, number 0" if n_graphs == 1 else f"{n_graphs} graphs, numbered 0 to {n_graphs - 1}"
        return GraphInputError(f"{place.where}: graph {number} is out of range: there are {held}")

    if opened.records is not None:
        rows = iter(opened.records.records)
        n_before = sum(1 for _ in itertools.islice(rows, number))
        record = next(rows, None)
        if record is None:
            raise out_of_range(n_before)
        single = replace(opened.records, records=[record], targets=(), single=True)
        return Source(opened.name, lambda: single.read(_stem(place.where)))

    def read() -> Dataset:
        data = opened.read()
        index = np.flatnonzero(data.rows == number)
        if len(index):
            return data[int(index[0])]
        for error in data.errors:
            if error.row == number:
                raise GraphInputError(f"{place.where}: graph {number} cannot be read: {error.reason}")
        raise out_of_range(len(data) + len(data.errors))

    return replace(opened, read=read)


def _stem(where: str) -> str:
    name = "stdin" if where == STDIN else Path(where).name.removesuffix(".gz")
    return Path(name).stem or name


def _is_frame(source: object) -> bool:
    return any(kind.__module__.partition(".")[0] in {"pandas", "polars"} for kind in type(source).__mro__)


def _records_in_memory(source: object, reading: ReadOptions, targets: Targets) -> Records:
    """Open a frame, or a list of strings."""
    if _is_frame(source):
        return frame_table(source).records(reading, targets)
    kind = reading.kind
    listed = source if isinstance(source, list | tuple | np.ndarray) else None
    if kind not in {"smiles", "graph6"} or listed is None or getattr(listed, "ndim", 1) != 1:
        raise TwinWLError(
            f"data set: got {shown(source)}, expected a name, a path, a frame with a column of SMILES, or a "
            f"list of strings with {setting(kind='smiles')} or {setting(kind='graph6')}; graphs become a "
            "data set by Dataset.from_graphs"
        )
    _check_options("the list", reading, FORMATS[kind].options)
    records = (
        Record(row, None, text, text, error="" if isinstance(text, str) else f"{shown(text)} is not text")
        for row, text in enumerate(listed)
    )
    return Records("the list", kind, records, reading)  # type: ignore[arg-type]


def place_in(source: AnyPath, reading: ReadOptions) -> Place:
    """Parse the name of a source; its content is read only as far as needed to find its kind."""
    if not str(source):
        raise TwinWLError("the name of the data set is empty; 'twinwl datasets' lists all names")
    has_columns = any(name is not None for name in (reading.smiles_column, reading.target, reading.id))
    place = formats.place_of(source, reading.kind, is_known, has_columns=has_columns)
    takes = FORMATS[place.kind].options if place.kind != KNOWN else ()
    _check_options(str(source), reading, formats.MOLECULES if place.where in MOLECULE_SETS else takes)
    return place


def _check_options(source: str, reading: ReadOptions, takes: Sequence[str]) -> None:
    if reading.shared:
        return
    if reading.atoms is not None and "atoms" not in takes:
        raise TwinWLError(
            f"{shown(source)} has no molecules, so the level {reading.atoms!r} does not apply; leave it out"
        )
    others = {*formats.MOLECULES, *formats.LABELS}.difference(takes)
    _refuse_options(source, sorted(option for option in others if getattr(reading, option) is not None))


def _refuse_options(source: str, options: Iterable[str]) -> None:
    """Refuse options that a source does not have."""
    for option in options:
        raise TwinWLError(f"{shown(source)} does not have the option {option!r}")


def read_source(
    source: object,
    reading: ReadOptions,
    targets: Targets = "obvious",
    options: Mapping[str, int] | None = None,
) -> Dataset:
    """Read all graphs of a source.

    Parameters
    ----------
    source
        As in `load_dataset`.
    reading
        The options.
    targets
        ``"needed"``: fail if there are none. ``"obvious"``: read them if their column is obvious.
        ``"given"``: read those of a table only if their column was named. ``"none"``: never read those of a
        table, so that rows without a target are not skipped.
    options
        Options of generated sets.

    >>> read_source("graph6:Bw", ReadOptions()).names
    ('graph6:Bw',)
    """
    opened = open_source(source, reading, targets, options)
    data = opened.read()
    if not isinstance(source, Dataset):
        name = str(source) if isinstance(source, str | Path) else opened.name
        warn_left_out(data.errors, len(data), name)
    if targets == "needed" and data.y is None:
        raise GraphInputError(
            f"{shown(opened.name)}: its graphs have no targets; give a TU data set, a table with a "
            "column of targets, or a folder with a subfolder for each class (or a labels.csv)"
        )
    return data


def read_one(source: AnyPath, reading: ReadOptions) -> Dataset:
    """Read a single graph: ``smiles:CCO``, a file that holds one, or ``DATA#17`` counted from 0.

    >>> read_one("graph6:Bw", ReadOptions()).names
    ('graph6:Bw',)
    """
    data = read_source(source, reading, "given")
    if len(data) != 1 or data.errors:
        last = len(data) + len(data.errors) - 1
        raise GraphInputError(
            f"{source}: got {last + 1:,} graphs, expected one; choose from '{source}#0' to '{source}#{last}'"
        )
    return data


def iter_source(source: AnyPath, reading: ReadOptions, block: int = BLOCK) -> Iterator[Dataset]:
    """Read graphs block by block, without targets; a file of rows may be larger than memory.

    Other formats are read at once, as one block. At the end one warning counts the rows that were skipped;
    each block has its own in ``errors``.

    >>> [len(part) for part in iter_source("graph6:Bw", ReadOptions())]
    [1]
    """
    records = open_source(source, reading, "given").records
    if records is not None:
        yield from records.stream(block)
    else:
        yield read_source(source, reading, "given")


def read_columns(source: object, reading: ReadOptions) -> Columns:
    """Return all cells of a table by column, unchanged; one per row, unreadable rows included.

    ``Dataset.rows`` gives the row of each graph. The columns of an SD file are its properties. Other sources
    have no columns.

    >>> import pandas
    >>> read_columns(pandas.DataFrame({"smiles": ["CC"], "year": [1999]}), ReadOptions())
    {'smiles': ['CC'], 'year': [1999]}
    """
    if _is_frame(source):
        return frame_table(source).cells()
    if not isinstance(source, str | Path):
        return {}
    place = place_in(source, reading)
    if place.kind == KNOWN:
        known = place.where in MOLECULE_SETS
        return molecule_table(place.where, reading.data_dir)[2].cells() if known else {}
    columns: Columns = {}
    if FORMATS[place.kind].columns and not place.literal:
        columns = reader_of(place.kind, "columns")(place.where)
    return columns


def read_with_targets(source: object, reading: ReadOptions) -> tuple[Dataset, list[Any] | None]:
    """Read all graphs, also those without a target, and the target of each: None if it is missing.

    Parameters
    ----------
    source, reading
        As in `read_source`. The targets of a table are read only if their column is given.

    >>> import pandas
    >>> frame = pandas.DataFrame({"smiles": ["CC", "CCO"], "y": [1, None]})
    >>> read_with_targets(frame, ReadOptions(target="y"))
    (Dataset('frame', 2 graphs, without targets), [1, None])
    """
    columns = {} if isinstance(source, Dataset) else read_columns(source, reading)
    if reading.target is None or not columns:
        data = read_source(source, reading, "none")
        return data, None if data.y is None else data.y.tolist()
    target = named_column(list(columns), str(reading.target), "target", shown(source))
    data = read_source(source, replace(reading, target=None), "none")
    return data, targets_in(columns, target, data.rows, data.name)


def targets_in(
    columns: Mapping[str, Sequence[object]], target: str, rows: Iterable[int], source: str
) -> list[Any]:
    """Return the target of each of some rows, from the columns of their source; None where it is missing."""
    known, listed = known_cells(columns[target]), list(rows)
    cells = [known[row] for row in listed]
    records = [Record(int(row), None, "", "") for row, cell in zip(listed, cells) if cell is not None]
    present = [cell for cell in cells if cell is not None]
    values = iter(as_targets(present, target, source, records).tolist())
    return [None if cell is None else next(values) for cell in cells]


# ---------------------------------------------------------------------- extra features


def with_extra_features(
    data: Dataset,
    wanted: Any,  # noqa: ANN401
    source: object = None,
    reading: ReadOptions | None = None,
) -> Dataset:
    """Return the data set whose graphs carry extra features.

    Parameters
    ----------
    data
        The graphs.
    wanted
        Names of columns, in a list or joined by commas; ``"rdkit"`` stands for RDKit's 2D descriptors, and
        ``"rdkit:MolWt"`` for one of them. Or an array, DataFrame or dictionary with one row per graph. None
        adds nothing.
    source, reading
        Where the graphs come from, and the options with which it was read.

    >>> import pandas
    >>> from twinwl import load_dataset
    >>> table = pandas.DataFrame({"smiles": ["CC", "CO"], "active": [0, 1], "mass": ["2", ""]})
    >>> data = load_dataset(table, target="active")
    >>> with_extra_features(data, "mass", table).graphs.extra.values.tolist()
    [[2.0], [nan]]
    """
    if wanted is None:
        return data
    names = [name.strip() for name in wanted.split(",")] if isinstance(wanted, str) else wanted
    if not isinstance(names, list | tuple) or not names or not isinstance(names[0], str):
        return replace(data, graphs=data.graphs.with_extra(wanted))
    of_rdkit = [name for name in names if name.split(":")[0] == RDKIT]
    columns: Fields = {}
    if of_rdkit:
        if data.smiles is None:
            raise TwinWLError(f"extra features: {RDKIT!r} is for molecules, and {data.name} holds none")
        columns = dict(rdkit_descriptors(data.smiles))
        if RDKIT not in of_rdkit:
            chosen = [named_column(list(columns), name, "extra features", RDKIT) for name in of_rdkit]
            columns = {name: columns[name] for name in chosen}
    others = [name for name in names if name not in of_rdkit]
    table = read_columns(source, replace(reading or ReadOptions(), target=None)) if others else {}
    for name in others:
        cells = table[named_column(list(table), name, "extra features", data.name)]
        columns[name] = [None if is_missing(cells[row]) else cells[row] for row in data.rows.tolist()]
    return replace(data, graphs=data.graphs.with_extra(columns))


# ---------------------------------------------------------------------- folders

_CLASSES = "labels.csv"
_DEPTH = 2  # the folder itself and its subfolders


def read_folder(folder: Path, reading: ReadOptions) -> Dataset:
    """Read a folder of files: classes are the names of its subfolders, or are listed in a table.

    Either ``FOLDER/CLASS/*.graphml``, or ``FOLDER/*.graphml`` and ``FOLDER/labels.csv``, which has a column
    ``file`` and one column of classes. Other formats are possible in place of GraphML, and each file may be
    packed as ``.gz``. A file may contain several graphs, which then all have its class. A warning counts the
    files that are not read.

    Raises
    ------
    GraphInputError
        If no file can be read, classes are missing, or directed and undirected graphs are mixed.
    """
    files = _graph_files(folder)
    class_of_file = _classes_of_files(folder, files)
    parts: dict[Path, Dataset] = {}
    names: list[str] = []
    rows: list[int] = []
    classes: list[object] = []
    smiles: list[str] = []
    errors: list[RowError] = []
    n_rows = 0
    with held_warnings() as messages, ProgressBar(f"reading {folder.name}", total=len(files)) as bar:
        for path in bar.over(files):
            place = Place(FOLDER_ENDINGS[formats.ending_of(path.name)], str(path))
            try:
                opened = _open_file(place, reading, "given")
                # Records are read without the cache, which thousands of small files would fill.
                part = opened.read() if opened.records is None else opened.records.read(path.name)
            except GraphInputError as error:
                if reading.on_error == "fail":
                    raise
                errors.append(RowError(n_rows, None, "graph", str(error)))
                n_rows += 1
                continue
            parts[path] = part
            name, several = path.relative_to(folder).as_posix(), len(part) + len(part.errors) > 1
            names += [f"{name}#{row}" if several else name for row in part.rows.tolist()]
            rows += (n_rows + part.rows).tolist()
            classes += [class_of_file.get(path)] * len(part)
            smiles += part.smiles or ()
            errors += [
                error._replace(row=n_rows + error.row, reason=f"{path}: {error.reason}")
                for error in part.errors
            ]
            n_rows += len(part) + len(part.errors)
    warn_kinds(messages, f"; the same in {{:,}} of {len(files):,} files")
    if not parts:
        raise GraphInputError(f"{folder}: none of its {len(files):,} files can be read; {errors[0].reason}")
    one_way = {part.graphs.directed: path for path, part in parts.items()}
    if len(one_way) > 1:
        raise GraphInputError(
            f"{one_way[True]} is directed and {one_way[False]} is not; expected all or none"
        )
    return Dataset(
        folder.name,
        concatenate([part.graphs for part in parts.values()]),
        as_targets(classes, "class", str(folder)) if class_of_file else None,
        smiles=tuple(smiles) if len(smiles) == len(names) else None,
        names=tuple(names),
        rows=np.array(rows, np.int64),
        errors=tuple(errors),
    )


def _graph_files(folder: Path) -> list[Path]:
    """Return the files of a folder and its subfolders that can be read, sorted; warn about others."""
    files: list[Path] = []
    others: list[Path] = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if not path.is_file() or name.as_posix() == _CLASSES or any(part[0] == "." for part in name.parts):
            continue  # such as .DS_Store, .git/…
        known = formats.ending_of(name.name) in FOLDER_ENDINGS and len(name.parts) <= _DEPTH
        (files if known else others).append(path)
    if not files:
        raise GraphInputError(
            f"{folder}: neither a TU data set nor files of graphs in this folder or its subfolders. "
            f"Known: {formats.known_formats()}"
        )
    if others:
        warn_caller(
            f"{folder}: did not read {len(others):,} of {len(files) + len(others):,} files, first "
            f"{shown(others[0].relative_to(folder).as_posix())}; files in a folder or its direct subfolders "
            f"are read if they end in {' '.join(FOLDER_ENDINGS)}, also packed as .gz"
        )
    return files


def _classes_of_files(folder: Path, files: list[Path]) -> dict[Path, object]:
    """Return the class of each file; empty if there are no classes."""
    if (folder / _CLASSES).is_file():
        return _listed_classes(folder, files)
    stray = [path for path in files if path.parent == folder]
    if len(stray) == len(files):
        return {}
    if stray:
        raise GraphInputError(
            f"{stray[0]}: is not in a subfolder, which would give its class; move it into one, or add "
            f"{_CLASSES}"
        )
    return {path: path.parent.name for path in files}


def _listed_classes(folder: Path, files: list[Path]) -> dict[Path, object]:
    path = folder / _CLASSES
    columns = csv_table(str(path)).cells()
    listed = columns.pop("file", None)
    if listed is None or len(columns) != 1:
        raise GraphInputError(f"{path}: expected two columns, 'file' and one of classes")
    ((title, cells),) = columns.items()
    for name, times in Counter(listed).items():
        if times > 1 or not name:
            raise GraphInputError(f"{path}: file {name!r} is listed {times} times; list each file once")
    class_of_name = dict(zip(listed, known_cells(cells)))
    class_of_file = {}
    for file in files:
        # A file may be listed with its ending, without .gz, or without an ending; the fuller name wins.
        name = file.relative_to(folder).as_posix()
        unpacked = re.sub(r"\.gz$", "", name, flags=re.IGNORECASE)
        names = (name, unpacked, str(PurePosixPath(unpacked).with_suffix("")))
        class_of_file[file] = next((class_of_name[each] for each in names if each in class_of_name), None)
    missing = [name for name, value in class_of_file.items() if value is None]
    if missing:
        raise GraphInputError(
            f"{path}: column {title!r} has no class for {len(missing):,} of {len(files):,} files, first "
            f"{missing[0].relative_to(folder).as_posix()!r}"
        )
    return class_of_file
