"""Files of whole graphs: edge lists, DIMACS, GraphML, GML, JSON (node-link), TU and EXP.

Labels are read only if they are named, in the library and on the command line, so that a file always gives
the same graph; a warning lists the attributes that are not read.

An edge list has ``u v`` on each line, or ``u v value`` if edges have an attribute. Names of nodes may be any
text without separators; nodes are numbered in the order of their first occurrence. A line with a single name
is an isolated node. Fields are separated by spaces, tabs, commas or semicolons; in a ``.csv`` file a field
may be quoted, and a first line ``source,target`` (or ``from,to``, ``src,dst``) is a header. Lines that begin
with ``#`` are comments. The graph is undirected. The third field is read as a label only if its column is
named. Its name is that of the header; without a header it is ``weight`` if all values are numbers, else
``label``. A value that looks like an integer is an integer, any other a string; if all values are numbers
and not all are integers, all are floats.
A TU data set is a zip or a folder of ``DS_*.txt`` files, one row per node, arc or graph. ``DS_A.txt`` has
the arcs (nodes numbered from 1 over the whole collection), ``DS_graph_indicator.txt`` the graph of each
node, ``DS_graph_labels.txt`` the class of each graph; node labels, edge labels and attributes are optional.
The number of nodes comes from the indicator, since nodes may be isolated.

EXP's ``GRAPHSAT.txt`` has the number of graphs; then for each a line ``n class`` and n lines ``label degree
neighbour…``, nodes numbered from 0 within the graph. (Its other form is a pickle, which could run anything:
it is never loaded.)
"""

import io
import json
import os
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree as ET

import networkx as nx
import numpy as np
from networkx.readwrite.graphml import GraphMLReader

from twinwl.arguments import pointer
from twinwl.arrays import Fields, Int64
from twinwl.datasets import formats
from twinwl.datasets.dataset import Dataset
from twinwl.datasets.formats import ArchiveMembers, ReadOptions, read_text
from twinwl.errors import GraphInputError, TwinWLError, first_line, prefix_errors, setting, shown, warn_caller
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.building import build
from twinwl.graphs.labels import WEIGHT, Coded, count_weights, encode_labels, warn_weights

# What only identifies nodes and edges; weights have a warning of their own.
_NO_LABELS = {"node": {"id"}, "edge": {"id", "key", WEIGHT}}
_MOST_LISTED = 6


def _batch(graphs: list[nx.Graph], path: Path, reading: ReadOptions) -> GraphBatch:
    """Convert networkx graphs with the labels that were named; a warning lists attributes not read."""
    nodes = [data for graph in graphs for _, data in graph.nodes(data=True)]
    edges = [data for graph in graphs for _, _, data in graph.edges(data=True)]
    unread = {}
    for what, entries, label in (("node", nodes, reading.node_label), ("edge", edges, reading.edge_label)):
        known = sorted({str(key) for entry in entries for key in entry})
        missing = sum(label not in entry for entry in entries)
        if label is None:
            unread[what] = [name for name in known if name not in _NO_LABELS[what]]
        elif missing:
            raise GraphInputError(
                f"{path}: {missing} of {len(entries)} {what}s have no attribute {label!r}; there are: "
                f"{', '.join(known) or 'none'}"
            )
    _warn_unread(unread)
    with prefix_errors(path):
        return GraphBatch.from_networkx(graphs, node_label=reading.node_label, edge_label=reading.edge_label)


def _warn_unread(attributes: Mapping[str, list[str]]) -> None:
    """Warn about attributes of nodes or edges that were not named as labels."""
    lists, parameters = [], []
    for what, names in attributes.items():
        if names:
            listed = ", ".join(map(shown, names[:_MOST_LISTED])) + ", …" * (len(names) > _MOST_LISTED)
            lists.append(f"{what} attribute{'s' * (len(names) > 1)} {listed}")
            example = "label" if "label" in names else names[0]
            parameters.append(setting(**{f"{what}_label": example if example.isprintable() else ...}))
    if lists:
        warn_caller(
            f"did not read {' and '.join(lists)}; to read one as labels pass {' or '.join(parameters)}"
        )


# ---------------------------------------------------------------------- edge lists

_SEPARATORS = re.compile(r"[\s,;]+")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,2})?")
_MAX_FIELDS = 3

_ARROW = re.compile(r"<?[-=~]+>|<[-=~]+|--+|[\u2190-\u21ff\u27f0-\u27ff]")
_ARROW_OR_DASH = re.compile(rf"{_ARROW.pattern}|[-\u2013\u2014]")


def read_edge_list(path: Path, reading: ReadOptions) -> GraphBatch:
    """Read the one graph of an edge list file.

    Raises
    ------
    GraphInputError
        If a line has more than three fields, only some lines have three, or ``edge_label`` is not the name of
        the third column.
    """
    name, quoted = str(path), formats.ending_of(path.name) in {".csv", ".tsv"}
    number_of_node: dict[str, int] = {}
    edges: list[tuple[int, int]] = []
    values: list[str] = []
    heading: list[str] = []
    for place, (line, fields) in enumerate(_fields_of_lines(read_text(path), name, quoted=quoted)):
        if quoted and place == 0 and tuple(field.lower() for field in fields[:2]) in formats.HEADINGS:
            heading = fields
            continue
        _refuse_arrows(fields, f"{name}, line {line}")
        if len(fields) > _MAX_FIELDS:
            raise GraphInputError(
                f"{name}, line {line}: got {len(fields)} fields, expected 'u v' or 'u v label'"
                + ("; write networkx graphs with data=False" if "{" in fields[2] else "")
            )
        ends = [number_of_node.setdefault(field, len(number_of_node)) for field in fields[:2]]
        if len(fields) == 1:
            continue
        edges.append((ends[0], ends[1]))
        values += fields[2:]
        if values and len(values) != len(edges):
            state = "has a label" if len(fields) == _MAX_FIELDS else "has no label"
            raise GraphInputError(
                f"{name}, line {line}: this edge {state}, unlike the previous ones; label all or none"
            )
    if not number_of_node:
        raise GraphInputError(f"{name}: there is no edge in it")
    labels = _edge_list_labels(values, heading[2:], reading.edge_label, name)
    return GraphBatch.from_edges(
        [edges], num_nodes=[len(number_of_node)], edge_labels=None if labels is None else [labels]
    )


def _refuse_arrows(fields: list[str], where: str) -> None:
    """Refuse ``a -> b``, ``a - b`` and ``a->b``, which would give nodes called ``->``, ``-`` and ``a->b``."""
    arrow = len(fields) == _MAX_FIELDS and _ARROW_OR_DASH.fullmatch(fields[1])
    if arrow or (len(fields) == 1 and _ARROW.search(fields[0])):
        raise GraphInputError(
            f"{where}: got {shown(' '.join(fields))}, expected names of nodes; write an undirected edge as "
            "'u v', and a directed graph as GraphML, GML, JSON or digraph6"
        )


def _edge_list_labels(
    values: list[str], heading: list[str], edge_label: str | None, name: str
) -> list[Any] | None:
    """Return the third column if it is named; otherwise warn that it is not read."""
    numbers = all(map(_NUMBER.fullmatch, values))
    column = heading[0] if heading else WEIGHT if numbers else "label"
    if edge_label is not None and (not values or edge_label != column):
        held = f"it is called {column!r}" if values else "there is none"
        raise GraphInputError(f"{name}: there is no column {edge_label!r} beside the nodes; {held}")
    whole = [_INTEGER.fullmatch(value) is not None for value in values]
    labels: list[Any] = [int(value) if is_whole else value for value, is_whole in zip(values, whole)]
    if numbers and not all(whole):
        labels = [float(value) for value in values]
    if edge_label is not None:
        return labels
    if column.lower() == WEIGHT:
        warn_weights(count_weights(labels), len(labels), column)
    elif values:
        _warn_unread({"edge": [column]})
    return None


def _fields_of_lines(text: str, name: str, *, quoted: bool) -> Iterator[tuple[int, list[str]]]:
    for line, content in enumerate(io.StringIO(text, newline=None), start=1):
        stripped = content.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if quoted:
            fields = formats.split_fields(stripped)
            if "" in fields:
                raise GraphInputError(f"{name}, line {line}: a field is empty; give each node a name")
        else:
            # networkx ends each line with {} where edges have no attributes.
            fields = [field for field in _SEPARATORS.split(stripped.removesuffix("{}")) if field]
        if fields:
            yield line, fields


# ---------------------------------------------------------------------- DIMACS

_DIMACS = re.compile(r"p\s+(?:edge|col)\s+(\d+)\s+(\d+)\s*|e\s+(\d+)\s+(\d+)\s*")


def read_dimacs(path: Path, _: ReadOptions) -> GraphBatch:
    """Read the graph of a DIMACS file: ``p edge NODES EDGES``, then ``e u v`` for each edge, nodes from 1."""
    edges: list[tuple[int, int]] = []
    n_nodes, n_edges = -1, 0
    for line, content in enumerate(read_text(path).splitlines(), start=1):
        if not content.strip() or content.split()[0] == "c":
            continue
        match = _DIMACS.fullmatch(content)
        if match is None or (match[1] is None) == (n_nodes < 0):
            raise GraphInputError(
                f"{path}, line {line}: got {shown(content)}, expected one line 'p edge NODES EDGES', then "
                "lines 'e u v'; comments begin with 'c '"
            )
        if match[1] is not None:
            n_nodes, n_edges = int(match[1]), int(match[2])
            continue
        u, v = int(match[3]), int(match[4])
        if not (1 <= u <= n_nodes and 1 <= v <= n_nodes):
            raise GraphInputError(f"{path}, line {line}: got {shown(content)}, expected nodes 1 to {n_nodes}")
        edges.append((u - 1, v - 1))
    # Files that list each edge from both ends count it once or twice.
    if n_nodes < 0 or len(edges) not in {n_edges, 2 * n_edges}:
        raise GraphInputError(
            f"{path}: has {len(edges)} edges, but no line 'p edge NODES EDGES' with that number; is it cut "
            "off?"
        )
    once = {(min(edge), max(edge)) for edge in edges}
    return GraphBatch.from_edges([sorted(once)], num_nodes=[n_nodes])


# ---------------------------------------------------------------------- GraphML and GML

_GRAPH, _NODE, _EDGE = (f"{{{GraphMLReader.NS_GRAPHML}}}{tag}" for tag in ("graph", "node", "edge"))
_DIRECTIONS = {"edgedefault": ("directed", "undirected"), "directed": ("true", "false")}


class _WithoutDocumentType(ET.TreeBuilder):
    """Builds the tree of an XML document without entities of its own, which can exhaust memory."""

    def doctype(self, *_: object) -> None:
        raise GraphInputError("it declares a document type, which can exhaust memory; remove <!DOCTYPE …>")


def read_graphml(path: Path, reading: ReadOptions) -> GraphBatch:
    """Read the graphs of a GraphML file; what networkx would ignore or invent is refused.

    A graph without ``edgedefault`` is undirected, as networkx and igraph read it.
    """
    start = f'<graphml xmlns="{GraphMLReader.NS_GRAPHML}">'.encode()  # many files lack the namespace
    content = formats.read_bytes(path).replace(b"<graphml>", start, 1)
    try:
        parser = ET.XMLParser(target=_WithoutDocumentType())  # noqa: S314  (it refuses entities)
        root = ET.fromstring(content, parser)  # noqa: S314
        graphs = list(GraphMLReader()(string=content))
    except Exception as error:  # networkx lets errors of any kind through
        raise GraphInputError(f"{path}: not valid GraphML ({first_line(error)}); is it cut off?") from error
    if not graphs:
        raise GraphInputError(f"{path}: not valid GraphML (there is no <graph> in a <graphml>)")
    _check_directions(root, path)
    for element, graph in zip(root.findall(_GRAPH), graphs):
        _check_nodes((node.get("id") for node in element.iter(_NODE)), graph, str(path))
        if graph.number_of_edges() != len(list(element.iter(_EDGE))):
            raise GraphInputError(f"{path}: an <edge> is not read; write it directly into its <graph>")
    return _batch(graphs, path, reading)


def _check_nodes(ids: Iterable[object], graph: nx.Graph, name: str) -> None:
    """Refuse ids that are given twice, which networkx merges, and those only edges have, which it adds."""
    listed, nodes = Counter(ids), Counter(graph)
    for node in (listed - nodes) + (nodes - listed):
        raise GraphInputError(
            f"{name}: got {listed[node]} nodes with the id {shown(node)}, expected one, directly in the "
            "graph of its edges"
        )


def _check_directions(root: ET.Element, path: Path) -> None:
    """Refuse spellings of directions that networkx would take for the default."""
    for element in root.iter():
        for key, values in _DIRECTIONS.items():
            if element.get(key, values[0]) not in values:
                wanted = " or ".join(map(repr, values))
                raise GraphInputError(f"{path}: {key}: got {shown(element.get(key))}, expected {wanted}")


def read_gml(path: Path, reading: ReadOptions) -> GraphBatch:
    """Read the graph of a GML file."""
    text = read_text(path)
    try:
        graph = nx.parse_gml(text, label="id")
    except Exception as error:  # networkx lets errors of any kind through
        raise GraphInputError(f"{path}: not valid GML ({first_line(error)}); is it cut off?") from error
    directions = set(re.findall(r"\bdirected\s+(\S+)", re.sub(r'"[^"]*"', '""', text)))
    if len(directions) > 1 or not directions <= {"0", "1"}:  # networkx takes all but 0 for directed
        listing = ", ".join(sorted(directions))
        raise GraphInputError(f"{path}: directed: got {listing}, expected 0 or 1, the same for all edges")
    nodes = [data for _, data in graph.nodes(data=True)]
    if reading.node_label is None and len({str(data.get("label")) for data in nodes}) == len(nodes):
        for data in nodes:  # by the format's convention these are the names of the nodes
            data.pop("label", None)
    return _batch([graph], path, reading)


# ---------------------------------------------------------------------- JSON

_SHAPE = (
    'expected an object {"nodes": [{"id": …}, …], "links" or "edges": [{"source": …, "target": …}, …]}, and '
    '"directed" true or false'
)


def read_node_link(path: Path, reading: ReadOptions) -> GraphBatch:
    """Read the graphs of a JSON node-link file: one object per graph, or an array of them.

    The edges may be under ``"links"`` or ``"edges"``. Nodes without an id are numbered, as d3 does.
    """
    text = read_text(path)
    try:
        document = _frozen(json.loads(text, object_pairs_hook=_object))
    except (ValueError, RecursionError) as error:  # also of integers with more than 4,300 digits
        raise GraphInputError(f"{path}: not valid JSON ({first_line(error)}); is it cut off?") from error
    listed = document if isinstance(document, tuple) else (document,)
    if not listed:
        raise GraphInputError(f"{path}: got an empty list, expected at least one graph")
    graphs = [_node_link_graph(graph, f"{path}#{index}") for index, graph in enumerate(listed)]
    if len({graph.is_directed() for graph in graphs}) > 1:
        raise GraphInputError(f"{path}: directed and undirected graphs cannot be mixed; use separate files")
    return _batch(graphs, path, reading)


def _object(pairs: list[tuple[str, Any]]) -> Fields:
    """Refuse a key that is there twice: JSON readers take the first, the last, or neither."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("an object has a key twice")
    return fields


def _frozen(value: Any) -> Any:  # noqa: ANN401
    """Turn JSON arrays into tuples, as networkx writes tuples as arrays."""
    if isinstance(value, dict):
        return {key: _frozen(part) for key, part in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _node_link_graph(document: Any, name: str) -> nx.MultiGraph:  # noqa: ANN401
    """Convert one graph of a document."""
    keys = [key for key in ("links", "edges") if isinstance(document, dict) and key in document]
    if len(keys) != 1 or not isinstance(document.get("directed", False), bool):
        raise GraphInputError(f"{name}: {_SHAPE}")
    try:
        graph = nx.node_link_graph({**document, "multigraph": True}, edges=keys[0])
        ids = [node.get("id", place) for place, node in enumerate(document["nodes"])]
    except Exception as error:  # networkx lets errors of any kind through
        raise GraphInputError(f"{name}: {_SHAPE} ({type(error).__name__}: {first_line(error)})") from error
    _check_nodes(ids, graph, name)
    return graph


# ---------------------------------------------------------------------- TU data sets

_NUMBERS = {np.int64: "integers", np.float64: "finite numbers"}


def number_table(data: bytes, name: str, dtype: Any) -> Any:  # noqa: ANN401  (an array of that type)
    r"""Parse rows of finite numbers that commas or blanks separate, all as long as the first, and none empty.

    Parameters
    ----------
    data
        The file's content.
    name
        The file's name, for error messages.
    dtype
        ``np.int64`` or ``np.float64``.

    >>> number_table(b"2, 1\n1, 2\n", "A.txt", np.int64).tolist()
    [[2, 1], [1, 2]]
    """
    lines = formats.decode(data, name).rstrip().splitlines()
    if not lines:
        return np.empty((0, 1), dtype)
    table = _parse_numbers(lines, dtype)
    if table is not None:
        return table
    # The first line that is wrong is found by bisection: the lines before `sound` can be read, those before
    # `wrong` cannot. The first line comes along each time, for the number of columns.
    sound, wrong = 0, len(lines)
    while wrong - sound > 1:
        middle = (sound + wrong) // 2
        if _parse_numbers(lines[:1] + lines[sound:middle], dtype) is None:
            wrong = middle
        else:
            sound = middle
    raise GraphInputError(
        f"{name}, line {wrong}: got {shown(lines[sound].strip())}, expected {_NUMBERS[dtype]}, as many as in "
        "the lines before; correct that line, or get the file again"
    )


def _parse_numbers(lines: list[str], dtype: Any) -> Any:  # noqa: ANN401
    """Return the numbers of some lines, or None if one of them is wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # NumPy only warns of integers that are written as fractions
            separator = "," if "," in lines[0] else None
            table = np.loadtxt(lines, dtype, comments=None, delimiter=separator, ndmin=2)
    except (ValueError, Warning):
        return None
    # NumPy skips empty lines.
    return table if len(table) == len(lines) and np.isfinite(table).all() else None


def read_tu(path: str | os.PathLike[str]) -> Dataset:
    r"""Read a TU data set from its zip, or from the unpacked folder.

    Nothing is unpacked to disk. Labels of several columns are tuples of integers, node attributes are
    ``node_features``, classes are those of the file. Edge attributes, and files that are not part of the
    format, are ignored.

    Parameters
    ----------
    path
        The zip, or the folder with ``DS_A.txt`` in it or in a subfolder.

    Raises
    ------
    TwinWLError
        If the data are not valid; the message names the file, the line and the remedy.

    >>> import tempfile
    >>> files = {"A": "1, 2\n2, 1\n", "graph_indicator": "1\n1\n2\n", "graph_labels": "1\n-1\n"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part, text in files.items():
    ...         _ = (Path(folder) / f"TINY_{part}.txt").write_text(text)
    ...     tiny = read_tu(folder)
    >>> tiny.graphs, tiny.y.tolist()
    (GraphBatch(2 graphs, 3 nodes, 1 edge), [1, -1])
    """
    with ArchiveMembers(Path(path)) as members:
        return _Files(members).collection()


class _Files:
    """The files of one data set, by the part of the name after the data set's."""

    def __init__(self, members: ArchiveMembers) -> None:
        arcs = [name for name in members.names if name.endswith("_A.txt") and not name.startswith("__MACOSX")]
        if len(arcs) != 1:
            held = ", ".join(arcs or members.names[:5]) or "nothing"
            problem = "several data sets" if arcs else "no file DS_A.txt"
            raise TwinWLError(
                f"{members.path}: {problem} (its files: {held}); expected the zip or folder of a TU data set"
            )
        self.members = members
        self.stem = arcs[0].removesuffix("A.txt")
        self.name = PurePosixPath(arcs[0]).name.removesuffix("_A.txt")

    def named(self, part: str) -> str:
        """Name a file for an error message."""
        return f"{self.members.path}: {self.name}_{part}.txt"

    def table(
        self, part: str, n_columns: int | None = None, n_rows: int | None = None, dtype: type = np.int64
    ) -> Any:  # noqa: ANN401
        """Return the numbers of a file, or None if it is optional (its rows are known) and not there."""
        name = f"{self.stem}{part}.txt"
        if name not in self.members.names:
            if n_rows is not None:
                return None
            raise TwinWLError(
                f"{self.named(part)} is missing, which the format requires; get the data set again"
            )
        table = number_table(self.members.read(name), self.named(part), dtype)
        if n_rows not in {None, len(table)}:
            raise TwinWLError(
                f"{self.named(part)} has {len(table)} lines, expected {n_rows}; it is truncated, or from "
                "another data set: get it again"
            )
        if len(table) and n_columns not in {None, table.shape[1]}:
            raise TwinWLError(
                f"{self.named(part)}, line 1: got {table.shape[1]} numbers, expected {n_columns}"
            )
        return table

    def labels(self, part: str, n_rows: int, order: Int64) -> Coded | None:
        """Return the labels of a file in another order, tuples if it has several columns."""
        table = self.table(part, n_rows=n_rows)
        if table is None:
            return None
        rows = table[order]
        return encode_labels(rows[:, 0] if table.shape[1] == 1 else list(map(tuple, rows.tolist())))

    def collection(self) -> Dataset:
        """Read and check all files, and return the data set."""
        y = self.table("graph_labels", 1)[:, 0]
        owners = self._owners(len(y))
        arcs = self._arcs(owners)
        # Neither the nodes nor the arcs of a graph need stand together in the file.
        by_owner = np.argsort(owners, kind="stable")
        place = np.argsort(by_owner)  # of each node after sorting
        node_counts = np.bincount(owners, minlength=len(y))
        owner_of_arc = owners[arcs[:, 0]]
        order = np.argsort(owner_of_arc, kind="stable")
        ends = place[arcs[order]] - pointer(node_counts)[owner_of_arc[order], None]
        features = self.table("node_attributes", n_rows=len(owners), dtype=np.float64)
        with prefix_errors(self.named("A")):
            graphs = build(
                node_counts,
                np.bincount(owner_of_arc, minlength=len(y)),
                np.ascontiguousarray(ends[:, 0]),
                np.ascontiguousarray(ends[:, 1]),
                nodes=self.labels("node_labels", len(owners), by_owner),
                edges=self.labels("edge_labels", len(arcs), order),
                node_features=None if features is None else features[by_owner],
                warn=False,
            )
        return Dataset(self.name, graphs, y)

    def _owners(self, n_graphs: int) -> Int64:
        """Return the graph of each node, counted from 0."""
        owners: Int64 = self.table("graph_indicator", 1)[:, 0]
        wrong = np.flatnonzero((owners < 1) | (owners > n_graphs))
        if len(wrong):
            raise TwinWLError(
                f"{self.named('graph_indicator')}, line {wrong[0] + 1}: no graph {owners[wrong[0]]}; "
                f"the lines of {self.name}_graph_labels.txt number them 1..{n_graphs}: correct either file"
            )
        return owners - 1

    def _arcs(self, owners: Int64) -> Int64:
        """Return sources and targets of the arcs, counted from 0 over the whole collection."""
        arcs: Int64 = self.table("A", 2).reshape(-1, 2) - 1
        exist = (arcs.min(axis=1) >= 0) & (arcs.max(axis=1) < len(owners))
        graphs = np.append(owners, -1)[np.where(exist[:, None], arcs, -1)]
        for line in np.flatnonzero(~exist | (graphs[:, 0] != graphs[:, 1])):
            raise TwinWLError(
                f"{self.named('A')}, line {line + 1}: arc {tuple((arcs[line] + 1).tolist())} does not join "
                f"two nodes of one graph; the lines of {self.name}_graph_indicator.txt number the nodes "
                f"1..{len(owners)}: correct either file"
            )
        return arcs


# ---------------------------------------------------------------------- EXP in its authors' text form


def read_exp_text(path: str | Path) -> tuple[GraphBatch, Int64]:
    r"""Read graphs and classes from ``GRAPHSAT.txt``.

    Raises
    ------
    GraphInputError
        If the file is not valid; the message names the line.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "GRAPHSAT.txt").write_text("1\n2 1\n0 1 1\n1 1 0\n")
    ...     read_exp_text(Path(folder, "GRAPHSAT.txt"))
    (GraphBatch(1 graph, 2 nodes, 1 edge, 2 node labels), array([1]))
    """
    lines = enumerate(filter(str.strip, read_text(Path(path)).splitlines()), start=1)

    def row(expected: str, is_valid: Callable[[list[int]], bool]) -> list[int]:
        """Return the numbers of the next line."""
        line, text = next(lines, ("after the last", ""))
        try:
            numbers: list[int] = np.array(text.split(), np.int64).tolist()
        except (ValueError, OverflowError):
            numbers = []
        if not numbers or not is_valid(numbers):
            raise GraphInputError(
                f"{path}, line {line}: got {shown(text.strip())}, expected {expected}; get the file again"
            )
        return numbers

    (n_graphs,) = row("the number of graphs", lambda numbers: len(numbers) == 1 and numbers[0] >= 0)
    heads, nodes, neighbours = [], [], []
    for graph in range(n_graphs):
        expected = f"the number of nodes of graph {graph} and its class"
        heads.append(row(expected, lambda numbers: len(numbers) == 2 and numbers[0] >= 0))  # noqa: PLR2004
        for _ in range(heads[-1][0]):
            expected = "the label of a node, its degree, and as many neighbours"
            label, degree, *around = row(expected, lambda numbers: numbers[1:2] == [len(numbers) - 2])
            nodes.append((label, degree))
            neighbours += around
    if next(lines, None) is not None:
        raise GraphInputError(f"{path}: more lines follow after {n_graphs:,} graphs; get the file again")
    node_counts, y = np.array(heads, np.int64).reshape(-1, 2).T.copy()
    labels, degrees = np.array(nodes, np.int64).reshape(-1, 2).T
    first = np.repeat(pointer(node_counts)[:-1], node_counts)
    owner = np.repeat(np.arange(n_graphs), node_counts)
    with prefix_errors(path):
        graphs = build(
            node_counts,
            np.bincount(owner, degrees, n_graphs).astype(np.int64),
            np.repeat(np.arange(len(nodes)) - first, degrees),
            np.array(neighbours, np.int64),
            nodes=encode_labels(labels.tolist()),
            one_way_remedy="a neighbour must name its neighbour back; get the file again",
        )
    return graphs, y


def looks_like_exp(path: Path) -> bool:
    """Return whether a text file has this format.

    >>> looks_like_exp(Path("some/GRAPHSAT.txt"))
    True
    """
    if path.name.startswith("GRAPHSAT"):
        return True
    try:
        read_exp_text(path)
    except GraphInputError:
        return False
    return True
