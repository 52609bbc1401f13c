"""Conversion of every kind of source to a `Dataset`, with or without targets.

The library and every subcommand read data with these functions and options. `twinwl.datasets.formats`
lists the kinds of sources.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from twinwl.datasets.dataset import Dataset
from twinwl.datasets.formats import ROW_KINDS, Place, ReadOptions, place_of
from twinwl.datasets.known import is_known
from twinwl.datasets.opening import (
    check_options,
    check_place,
    columns_of,
    is_frame,
    read_place,
    refuse_options,
    rows_in_memory,
    rows_of,
)
from twinwl.datasets.rows import BLOCK, Row, read_rows, stream_rows, warn_left_out
from twinwl.datasets.tables import Targets, all_cells, frame_table
from twinwl.datasets.targets import as_targets, known_cells
from twinwl.errors import GraphInputError, TwinWLError, nearest, shown


def load_dataset(
    source: object,
    data_dir: str | Path | None = None,
    *,
    kind: str | None = None,
    target: str | Sequence[str] | None = None,
    smiles_column: str | None = None,
    on_error: str = "skip",
    node_label: str | None = None,
    edge_label: str | None = None,
    progress: bool | None = None,
    atoms: str | None = None,
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
        Format of a file, if its ending and content do not tell: ``"graph6"``, ``"smiles"``,
        ``"table"``, ``"sdf"``, ``"edges"``, ``"graphml"``, ``"gml"``, ``"json"``, ``"tu"``, ``"exp"``,
        ``"folder"``.
    target
        Column of a table, or property of an SD file, with the targets. None uses the only column besides
        the SMILES, or the one called label, class, target or y; if there is no such column, the data set
        has no targets. Several targets are a list of names, or names joined by commas, or ``"all"``: every
        column of numbers of which at least two differ (a warning names the others). ``y`` is then a table
        with one column per task, NaN where a target is missing, and ``tasks`` names them; only rows without
        any target are left out.
    smiles_column
        Column of a table with the SMILES; None finds it by its name.
    on_error
        What to do with a row that cannot be read or has no target: ``"skip"`` skips it, with an entry in
        ``errors`` and one warning that counts such rows; ``"fail"`` raises an error.
    node_label, edge_label
        Attributes with the labels, in GraphML, GML and JSON (and for edges the third column of an edge
        list).
    progress
        Whether to show a progress bar while downloading; None shows it if standard error is a terminal.
    atoms
        Content of the labels of molecules, as in `GraphBatch.from_smiles`: ``"skeleton"`` (the default),
        ``"constitution"``, ``"isotope"``, ``"stereo"`` or ``"ecfp"``.
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
        on_error=on_error,
        node_label=node_label,
        edge_label=edge_label,
        data_dir=data_dir,
        progress=progress,
        atoms=atoms,
        n_jobs=n_jobs,
    )
    return read_source(source, reading, options=options)


def read_source(
    source: object,
    reading: ReadOptions,
    targets: Targets = "obvious",
    options: Mapping[str, int] = MappingProxyType({}),
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
    if isinstance(source, Dataset):
        refuse_options(source.name, options)
        found, name = source, source.name
    elif isinstance(source, (str, Path)):
        name = str(source)
        found = read_place(place_in(source, reading), reading, targets, options)
        warn_left_out(found.errors, len(found), name)
    else:
        refuse_options(shown(source), options)
        rows = rows_in_memory(source, reading, targets)
        name = rows.source
        found = read_rows(rows, name.removeprefix("the "), reading.on_error)
        warn_left_out(found.errors, len(found), name)
    if targets == "needed" and found.y is None:
        raise GraphInputError(
            f"{shown(name)}: its graphs have no targets; give a TU data set, a table with a "
            "column of targets, or a folder with a subfolder for each class (or a labels.csv)"
        )
    return found


def read_one(source: str | Path, reading: ReadOptions) -> Dataset:
    """Read a single graph: ``smiles:CCO``, a file that holds one, or ``DATA#17`` counted from 0.

    >>> read_one("graph6:Bw", ReadOptions()).names
    ('graph6:Bw',)
    """
    found = read_source(source, reading, "given")
    if len(found) != 1 or found.errors:
        last = len(found) + len(found.errors) - 1
        raise GraphInputError(
            f"{source}: got {last + 1:,} graphs, expected one; choose from '{source}#0' to '{source}#{last}'"
        )
    return found


def iter_source(source: str | Path, reading: ReadOptions, block: int = BLOCK) -> Iterator[Dataset]:
    """Read graphs block by block, without targets; a file of rows may be larger than memory.

    Other formats are read at once, as one block. At the end one warning counts the rows that were skipped;
    each block has its own in ``errors``.

    >>> [len(part) for part in iter_source("graph6:Bw", ReadOptions())]
    [1]
    """
    place = place_in(source, reading)
    if place.kind in ROW_KINDS and not place.literal and place.number is None:
        yield from stream_rows(rows_of(place, reading, "given"), reading.on_error, block)
    else:
        yield read_source(source, reading, "given")


def read_columns(source: object, reading: ReadOptions) -> dict[str, list[object]]:
    """Return all cells of a table by column, unchanged; one per row, unreadable rows included.

    ``Dataset.rows`` gives the row of each graph. The columns of an SD file are its properties. Other sources
    have no columns.

    >>> import pandas
    >>> read_columns(pandas.DataFrame({"smiles": ["CC"], "year": [1999]}), ReadOptions())
    {'smiles': ['CC'], 'year': [1999]}
    """
    if is_frame(source):
        return all_cells(frame_table(source))
    if not (isinstance(source, (str, Path))):
        return {}
    return columns_of(place_in(source, reading), reading)


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
        found = read_source(source, reading, "none")
        return found, None if found.y is None else found.y.tolist()
    if not isinstance(reading.target, str) or reading.target not in columns:
        raise GraphInputError(
            f"{shown(source)}: target: got {reading.target!r}; {nearest(str(reading.target), columns)}"
        )
    found = read_source(source, replace(reading, target=None), "none")
    return found, targets_in(columns, reading.target, found)


def targets_in(columns: Mapping[str, Sequence[object]], target: str, found: Dataset) -> list[Any]:
    """Return the target of each graph, from the columns of its source; None where it is missing."""
    cells = known_cells(columns[target])
    cells = [cells[row] for row in found.rows]
    rows = [Row(int(row), None, "", "", cell) for row, cell in zip(found.rows, cells, strict=True)]
    known = [row for row in rows if row.target is not None]
    values = iter(as_targets([row.target for row in known], target, found.name, known).tolist())
    return [None if cell is None else next(values) for cell in cells]


def check_source(source: str | Path, reading: ReadOptions, targets: Targets = "obvious") -> None:
    """Check the kind of a source, its options and its columns, before any slow work.

    >>> check_source("graph6:Bw", ReadOptions())
    """
    check_place(place_in(source, reading), reading, targets)


def place_in(source: str | Path, reading: ReadOptions) -> Place:
    """Parse the name of a source; its content is read only as far as needed to find its kind."""
    if not str(source):
        raise TwinWLError("the name of the data set is empty; 'twinwl datasets' lists all names")
    has_columns = reading.smiles_column is not None or reading.target is not None
    place = place_of(source, reading.kind, is_known, has_columns=has_columns)
    check_options(place, str(source), reading)
    return place
