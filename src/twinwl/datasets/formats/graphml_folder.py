"""A folder of GraphML files as a data set: classes are the names of its subfolders, or stand in a table.

Either ``FOLDER/CLASS/*.graphml``, or ``FOLDER/*.graphml`` beside ``FOLDER/labels.csv``, whose header names a
column ``file`` and one column of classes. A file may hold several graphs; all of them are of its class.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.datasets.formats.markup import read_graphml
from twinwl.datasets.formats.text_files import decode, read_bytes
from twinwl.errors import GraphInputError, gist, held_warnings, warn_caller
from twinwl.graphs.batch import concatenate

if TYPE_CHECKING:
    from _csv import Reader
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from twinwl.graphs.batch import GraphBatch

__all__ = ["TABLE", "GraphMLFolder", "graphml_files", "read_graphml_folder"]

TABLE = "labels.csv"
_PATTERN = "*.graphml"


class GraphMLFolder(NamedTuple):
    """Graphs of a folder, the file each came from, and their classes where there are any."""

    graphs: GraphBatch
    names: tuple[str, ...]
    """Path of the file within the folder; ``file#index`` where it holds several graphs."""
    y: NDArray[np.generic] | None
    """Integers where all classes are whole numbers, else strings."""


def graphml_files(folder: Path) -> list[Path]:
    """Return the GraphML files of a folder and of its subfolders, sorted.

    >>> from pathlib import Path
    >>> graphml_files(Path("no such folder"))
    []
    """
    return sorted([*folder.glob(_PATTERN), *folder.glob(f"*/{_PATTERN}")])


def read_graphml_folder(
    folder: Path,
    *,
    node_label: str | None = None,
    edge_label: str | None = None,
    after_each: Callable[[], None] | None = None,
) -> GraphMLFolder:
    """Read all GraphML files of a folder.

    Parameters
    ----------
    folder
        See the top of this module.
    node_label, edge_label
        Attributes with the labels, as for `twinwl.datasets.graph_files.read_graphs`; what files have in
        common that deserves a warning is told once.
    after_each
        Called after each file, for a progress bar.

    Raises
    ------
    GraphInputError
        If there is no file, one cannot be read, or the classes are not complete.

    >>> import tempfile, networkx as nx
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as name:
    ...     for kind, graph in {"path": nx.path_graph(3), "cycle": nx.cycle_graph(3)}.items():
    ...         Path(name, kind).mkdir()
    ...         nx.write_graphml(graph, Path(name, kind, "a.graphml"))
    ...     found = read_graphml_folder(Path(name))
    >>> found.names, found.y.tolist()
    (('cycle/a.graphml', 'path/a.graphml'), ['cycle', 'path'])
    """
    files = graphml_files(folder)
    if not files:
        raise GraphInputError(f"{folder}: there is no {_PATTERN} in this folder or its subfolders")
    class_of_file = _classes_of_files(folder, files)
    parts: list[GraphBatch] = []
    names: list[str] = []
    with held_warnings() as messages:
        for path in files:
            graphs = read_graphml(path, node_label, edge_label)
            if parts:
                _check_alike(parts[0], graphs, files[0], path)
            parts.append(graphs)
            name = path.relative_to(folder).as_posix()
            names += [name] if len(graphs) == 1 else [f"{name}#{index}" for index in range(len(graphs))]
            if after_each is not None:
                after_each()
    for about, times in Counter(map(gist, messages)).items():
        first = next(message for message in messages if gist(message) == about)
        warn_caller(f"{first}; so in {times:,} of {len(files):,} files" if times > 1 else first)
    y = None
    if class_of_file is not None:
        y = np.repeat(_as_numbers(class_of_file), [len(part) for part in parts])
    return GraphMLFolder(concatenate(parts), tuple(names), y)


def _check_alike(first: GraphBatch, other: GraphBatch, first_path: Path, path: Path) -> None:
    """Refuse what cannot stand in one batch, naming files: the batch itself knows only numbers."""
    if first.directed != other.directed:
        having, lacking = (first_path, path) if first.directed else (path, first_path)
        raise GraphInputError(f"{having} has directed edges and {lacking} has none; make them alike")


def _classes_of_files(folder: Path, files: list[Path]) -> list[str] | None:
    """Return the class of each file, or None where nothing says it."""
    if (folder / TABLE).is_file():
        return _classes_of_table(folder, files)
    in_subfolders = [path for path in files if path.parent != folder]
    if not in_subfolders:
        return None
    if len(in_subfolders) < len(files):
        stray = next(path for path in files if path.parent == folder)
        raise GraphInputError(
            f"{stray}: lies beside the subfolders that name the classes; move it into one, or add {TABLE}"
        )
    return [path.parent.name for path in files]


def _classes_of_table(folder: Path, files: list[Path]) -> list[str]:
    table = folder / TABLE
    reader = csv.reader(io.StringIO(decode(read_bytes(table), str(table)), newline=""))
    try:
        class_of_name = _table_rows(reader, table)
    except csv.Error as error:
        raise GraphInputError(f"{table}, line {reader.line_num}: {error}; correct that line") from error
    keys = [path.relative_to(folder).with_suffix("").as_posix() for path in files]
    missing = [key for key in keys if key not in class_of_name]
    if missing:
        raise GraphInputError(
            f"{table}: has no class for {len(missing):,} of {len(files):,} files, "
            f"first {missing[0] + '.graphml'!r}"
        )
    return [class_of_name[key] for key in keys]


def _table_rows(reader: Reader, table: Path) -> dict[str, str]:
    """Return the class of each file that the table names."""
    header = [cell.strip() for cell in next(reader, [])]
    if len(header) != 2 or "file" not in header:  # noqa: PLR2004
        raise GraphInputError(
            f"{table}: the header is {','.join(header)!r}; "
            "it must name two columns, 'file' and one of classes"
        )
    file_at = header.index("file")
    class_of_name: dict[str, str] = {}
    for cells in reader:
        if not any(cells):
            continue
        if len(cells) != 2 or not all(cell.strip() for cell in cells):  # noqa: PLR2004
            raise GraphInputError(
                f"{table}, line {reader.line_num}: {','.join(cells)!r} is not a file and its class"
            )
        name = cells[file_at].strip().removesuffix(".graphml")
        if name in class_of_name:
            raise GraphInputError(f"{table}, line {reader.line_num}: {name!r} stands there twice")
        class_of_name[name] = cells[1 - file_at].strip()
    return class_of_name


def _as_numbers(classes: list[str]) -> NDArray[np.generic]:
    try:
        return np.array([int(name) for name in classes], np.int64)
    except (ValueError, OverflowError):
        return np.array(classes)
