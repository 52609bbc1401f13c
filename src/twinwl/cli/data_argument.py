"""DATA on the command line: graphs with their classes, wherever they come from.

==============================  ==========================================================================
``MUTAG``                       a known name
``MUTAG.zip``, a folder         a TU data set
``molecules.csv``               a column of SMILES, and one of classes
a folder of GraphML             a subfolder a class, or ``labels.csv`` beside the files
``.smi`` ``.g6`` ``.json`` …    graphs without classes, to predict or to encode
==============================  ==========================================================================
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.cli.smiles_columns import columns_to_read
from twinwl.datasets.graph_spec import FORMATS
from twinwl.datasets.named_graphs import NamedGraphs
from twinwl.errors import GraphInputError, TwinWLError
from twinwl.progress import ProgressBar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from twinwl.arrays import Int64
    from twinwl.graphs.batch import GraphBatch

__all__ = ["Data", "Reading", "read_data", "read_one"]

_WITHOUT_CLASSES = tuple(
    suffix for name, suffixes in FORMATS.items() if name not in {"tu", "edges"} for suffix in suffixes
)
_LITERALS = ("smiles:", "graph6:")
_TABLES = {".csv", ".tsv"}


class Reading(NamedTuple):
    """What the options of a command say about the reading of DATA."""

    target: str | None = None
    """Column of a CSV that holds the classes."""
    smiles_column: str | None = None
    on_error: str = "fail"
    """``"skip"`` leaves out what cannot be read, with a count; ``"fail"`` stops there."""
    node_label: str | None = None
    edge_label: str | None = None
    data_dir: Path | None = None


class Data(NamedTuple):
    """Graphs, and what DATA says about each of them."""

    name: str
    graphs: GraphBatch
    names: tuple[str, ...]
    """SMILES where they are molecules of a CSV; else file, ``name#index`` or the like."""
    rows: Int64
    """Place of each graph in DATA, from 0: what was skipped is counted."""
    y: NDArray[np.generic] | None = None
    target: str | None = None
    """Name of the column that the classes came from."""
    groups: Int64 | None = None
    smiles: tuple[str, ...] | None = None
    n_skipped: int = 0


def read_data(spec: str, reading: Reading, *, classes: str) -> Data:
    """Read what DATA names.

    Parameters
    ----------
    spec
        As the user wrote it; see the top of this module.
    reading
        What the options say.
    classes
        ``"needed"``: fail where there are none. ``"obvious"``: take them where no choice is to be made.
        ``"given"``: of a CSV only where the user named their column.

    >>> data = read_data("graph6:Bw", Reading(), classes="given")
    >>> data.graphs, data.names
    (GraphBatch(1 graph, 3 nodes, 3 edges), ('graph6:Bw',))
    """
    if _split_index(spec)[1] is not None:
        one = read_one(spec, reading)
        data = Data(spec, one.graphs, one.names, np.zeros(1, np.int64), smiles=one.smiles)
    else:
        data = _read_all(spec, reading, classes)
    if classes == "needed" and data.y is None:
        raise GraphInputError(
            f"{spec}: nothing says the classes of its graphs; give a TU data set, a .csv with a column of "
            "classes, or a folder of GraphML with a subfolder for each class (or a labels.csv)"
        )
    return data


def read_one(spec: str, reading: Reading) -> NamedGraphs:
    """Read a single graph: ``smiles:CCO``, a file, or ``DATA#17`` counted from 0.

    >>> read_one("graph6:Bw", Reading()).names
    ('graph6:Bw',)
    """
    from twinwl.datasets.graph_files import read_graph  # noqa: PLC0415  (only one of several ways)

    place, wanted = _split_index(spec)
    path = Path(place)
    of_data = path.suffix.lower() in _TABLES or (path.is_dir() and _holds_graphml(path)) or _is_name(place)
    if not of_data:
        return read_graph(spec, node_label=reading.node_label, edge_label=reading.edge_label)
    data = _read_all(place, reading, "given")
    last = int(data.rows[-1])
    if wanted is None and len(data.graphs) > 1:
        raise GraphInputError(
            f"{spec}: holds {len(data.graphs):,} graphs where one is needed; pick one, "
            f"'{spec}#0' to '{spec}#{last}'"
        )
    found = np.flatnonzero(data.rows == (last if wanted is None else wanted))
    if not len(found):
        raise GraphInputError(
            f"{place}: there is no graph {wanted} that can be read; they are numbered 0 to {last}"
        )
    index = int(found[0])
    smiles = None if data.smiles is None else (data.smiles[index],)
    return NamedGraphs(data.graphs[index], (data.names[index],), smiles)


def _read_all(spec: str, reading: Reading, classes: str) -> Data:
    path = Path(spec)
    if path.suffix.lower() in _TABLES:
        return _from_csv(path, reading, classes)
    if _is_name(spec):
        return _from_dataset(spec, reading)
    if reading.target is not None or reading.smiles_column is not None:
        raise TwinWLError(f"--target and --smiles-column name columns of a .csv, which {spec!r} is not")
    if path.is_dir() and _holds_graphml(path):
        return _from_folder(path, reading)
    if spec.startswith(_LITERALS) or spec == "-" or path.suffix.lower() in _WITHOUT_CLASSES:
        return _from_graph_file(spec, reading)
    return _from_dataset(spec, reading)


def _from_csv(path: Path, reading: Reading, classes: str) -> Data:
    from twinwl.datasets.formats.smiles_csv import parse_smiles_csv  # noqa: PLC0415
    from twinwl.datasets.formats.text_files import read_bytes  # noqa: PLC0415

    content = read_bytes(path)
    columns = columns_to_read(content, str(path), reading.smiles_column, reading.target, classes)
    with ProgressBar(f"reading {path.name}"), _options_by_their_names():
        table = parse_smiles_csv(content, str(path), columns.smiles, columns.target, reading.on_error)
    lines_of_all = np.sort(np.append(table.lines, [line for line, _ in table.skipped]))
    return Data(
        path.name,
        table.graphs,
        table.smiles,
        np.searchsorted(lines_of_all, table.lines).astype(np.int64),
        table.y,
        columns.target,
        smiles=table.smiles,
        n_skipped=len(table.skipped),
    )


def _from_folder(path: Path, reading: Reading) -> Data:
    from twinwl.datasets.formats.graphml_folder import graphml_files, read_graphml_folder  # noqa: PLC0415

    with ProgressBar(f"reading {path.name}", total=len(graphml_files(path))) as progress:
        found = read_graphml_folder(
            path, node_label=reading.node_label, edge_label=reading.edge_label, after_each=progress.advance
        )
    return Data(path.name, found.graphs, found.names, np.arange(len(found.graphs)), found.y)


def _from_graph_file(spec: str, reading: Reading) -> Data:
    from twinwl.datasets.graph_files import read_graphs  # noqa: PLC0415

    with ProgressBar(f"reading {spec}"):
        found = read_graphs(
            spec,
            node_label=reading.node_label,
            edge_label=reading.edge_label,
            skip_invalid=reading.on_error == "skip",
        )
    rows = _rows_of_lines(spec, found.skipped) or range(len(found.graphs))
    return Data(
        spec, found.graphs, found.names, np.array(rows), smiles=found.smiles, n_skipped=len(found.skipped)
    )


def _rows_of_lines(spec: str, skipped: tuple[int, ...]) -> list[int]:
    """Return the places of the graphs that could be read among all lines that hold something."""
    from twinwl.datasets.formats.text_files import STDIN, numbered_lines  # noqa: PLC0415

    if not skipped or spec.endswith(STDIN):  # standard input cannot be read twice: count what could be read
        return []
    left_out = set(skipped)
    return [row for row, (line, _) in enumerate(numbered_lines(spec)) if line not in left_out]


def _from_dataset(spec: str, reading: Reading) -> Data:
    from twinwl.datasets.registry import load_dataset  # noqa: PLC0415

    with _options_by_their_names():
        found = load_dataset(
            spec,
            reading.data_dir,
            smiles_column=reading.smiles_column,
            target=reading.target,
            on_error=reading.on_error,
        )
    rows = np.arange(len(found))
    names = found.smiles or tuple(f"{found.name}#{row}" for row in rows)
    return Data(found.name, found.graphs, names, rows, found.y, groups=found.groups, smiles=found.smiles)


@contextmanager
def _options_by_their_names() -> Iterator[None]:
    """Let errors speak of options of the command line, not of parameters in Python."""
    try:
        yield
    except TwinWLError as error:
        message = str(error).replace('on_error="skip"', "--on-error skip")
        raise GraphInputError(message) from error


def _holds_graphml(folder: Path) -> bool:
    from twinwl.datasets.formats.graphml_folder import graphml_files  # noqa: PLC0415

    return bool(graphml_files(folder))


def _split_index(spec: str) -> tuple[str, int | None]:
    """Cut off ``#17``, unless that is part of a SMILES or of the name of a file."""
    base, mark, number = spec.rpartition("#")
    if not mark or not number.isdecimal() or spec.startswith(_LITERALS) or Path(spec).exists():
        return spec, None
    return base, int(number)


def _is_name(spec: str) -> bool:
    """Tell the name of a data set, ``TWINS:n_pairs=50``, from the path of a file."""
    plain = not spec.startswith(_LITERALS) and spec != "-" and "/" not in spec
    return plain and not Path(spec).exists() and not Path(spec).suffix
