"""The TU text format: a zip or a folder of ``DS_*.txt`` files, one row per node, arc or graph.

``DS_A.txt`` has the arcs (nodes numbered from 1 over the whole collection), ``DS_graph_indicator.txt``
the graph of each node, ``DS_graph_labels.txt`` the class of each graph; node labels, edge labels and
attributes are optional. The number of nodes comes from the indicator, since nodes may be isolated.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.datasets.formats.archive_members import ArchiveMembers
from twinwl.datasets.formats.number_tables import float_table, integer_table
from twinwl.errors import GraphInputError, TwinWLError
from twinwl.graphs.assembly import assemble
from twinwl.graphs.batch import UNLABELLED, GraphBatch
from twinwl.graphs.labels import Coded, encode_labels
from twinwl.graphs.selection import pointer

if TYPE_CHECKING:
    import os

    from twinwl.arrays import Float64, Int64


class TUCollection(NamedTuple):
    """A data set in TU format.

    Attributes
    ----------
    name : str
        Prefix of its files.
    graphs : GraphBatch
        Undirected; multi-column labels are tuples of integers, node attributes are ``node_features``.
    y : array of int64, shape (n_graphs,)
        The class of each graph, as in the file.
    graph_attributes : array of float64, shape (n_graphs, n_attributes), or None
    n_merged : int
        Number of repeated arcs that were merged (some sets list every arc twice).
    n_loops : int
        Number of self-loops that were dropped.
    """

    name: str
    graphs: GraphBatch
    y: Int64
    graph_attributes: Float64 | None
    n_merged: int
    n_loops: int


def read_tu(path: str | os.PathLike[str]) -> TUCollection:
    r"""Read a TU data set from its zip, or from the unpacked folder.

    Nothing is unpacked to disk. Edge attributes, and files that are not part of the format, are ignored.

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
        arcs = [
            name
            for name in members.names
            if name.endswith("_A.txt")
            and not name.startswith("__MACOSX")
            and PurePosixPath(name).name != "_A.txt"
        ]
        if len(arcs) != 1:
            held = ", ".join(arcs) or ", ".join(members.names[:5]) or "nothing"
            problem = "several data sets" if arcs else "no file DS_A.txt"
            raise TwinWLError(
                f"{members.path}: {problem} (its files: {held}); expected the zip or folder of a TU data set"
            )
        self.members = members
        self.stem = arcs[0].removesuffix("A.txt")
        self.name = PurePosixPath(arcs[0]).name.removesuffix("_A.txt")

    def has(self, part: str) -> bool:
        return self.path_of(part) in self.members.names

    def path_of(self, part: str) -> str:
        return f"{self.stem}{part}.txt"

    def named(self, part: str) -> str:
        """Name a file for an error message."""
        return f"{self.members.path}: {PurePosixPath(self.path_of(part)).name}"

    def integers(self, part: str, *, n_rows: int | None = None, n_columns: int | None = None) -> Int64:
        if not self.has(part):
            raise TwinWLError(
                f"{self.named(part)} is missing, which the format requires; get the data set again"
            )
        table = integer_table(self.content(part, n_rows), self.named(part))
        if n_columns is not None and len(table) and table.shape[1] != n_columns:
            raise TwinWLError(
                f"{self.named(part)}, line 1: got {table.shape[1]} numbers, expected {n_columns}"
            )
        return table

    def floats(self, part: str, n_rows: int) -> Float64 | None:
        if not self.has(part):
            return None
        return float_table(self.content(part, n_rows), self.named(part))

    def content(self, part: str, n_rows: int | None) -> bytes:
        """Read a file; if its number of lines is known, check it first."""
        data = self.members.read(self.path_of(part))
        if n_rows is not None:
            data = data.rstrip()
            n_lines = data.count(b"\n") + 1 if data else 0
            if n_lines != n_rows:
                raise TwinWLError(
                    f"{self.named(part)} has {n_lines} lines, expected {n_rows}; it is truncated, or from "
                    "another data set: get it again"
                )
        return data

    def labels(self, part: str, n_rows: int) -> Coded | None:
        if not self.has(part):
            return None
        table = self.integers(part, n_rows=n_rows)
        if table.shape[1] == 1 or not len(table):
            return encode_labels(table[:, 0])
        distinct, inverse = np.unique(table, axis=0, return_inverse=True)
        ranks, vocabulary = encode_labels([tuple(row) for row in distinct.tolist()])
        return Coded(ranks[inverse.ravel()], vocabulary)

    def collection(self) -> TUCollection:
        """Read and check all files, and return the collection."""
        y = self.integers("graph_labels", n_columns=1)[:, 0]
        owners = self._owners(len(y))
        n_nodes = len(owners)
        sources, targets = self._arcs(owners)
        nodes = self.labels("node_labels", n_nodes)
        features = self.floats("node_attributes", n_nodes)
        edges = self.labels("edge_labels", len(sources))
        if (np.diff(owners) < 0).any():  # the nodes of a graph need not stand together in the file
            order = np.argsort(owners, kind="stable")
            place = np.empty(n_nodes, np.int64)
            place[order] = np.arange(n_nodes)
            sources, targets = place[sources], place[targets]
            nodes = nodes and Coded(nodes.codes[order], nodes.vocabulary)
            features = None if features is None else features[order]
        graph_ptr = pointer(np.bincount(owners, minlength=len(y)))
        try:
            adjacency = assemble(graph_ptr, sources, targets, edges and edges.codes, warn=False)
        except GraphInputError as error:
            raise GraphInputError(f"{self.named('A')}: {error}", error.graph) from error
        graphs = GraphBatch.unchecked(
            indptr=adjacency.indptr,
            indices=adjacency.indices,
            graph_ptr=graph_ptr,
            node_labels=np.zeros(n_nodes, np.int32) if nodes is None else nodes.codes,
            node_vocabulary=nodes.vocabulary if nodes and n_nodes else UNLABELLED,
            edge_labels=adjacency.edge_labels,
            edge_vocabulary=edges.vocabulary if edges else (),
            node_features=features,
            directed=False,
        )
        return TUCollection(
            self.name,
            graphs,
            y,
            self.floats("graph_attributes", len(y)),
            adjacency.n_parallel,
            adjacency.n_loops,
        )

    def _owners(self, n_graphs: int) -> Int64:
        """Return the graph of each node, counted from 0."""
        owners = self.integers("graph_indicator", n_columns=1)[:, 0]
        wrong = np.flatnonzero((owners < 1) | (owners > n_graphs))
        if len(wrong):
            raise TwinWLError(
                f"{self.named('graph_indicator')}, line {wrong[0] + 1}: no graph {owners[wrong[0]]}; "
                f"the lines of {self.name}_graph_labels.txt number them 1..{n_graphs}: correct either file"
            )
        return owners - 1

    def _arcs(self, owners: Int64) -> tuple[Int64, Int64]:
        """Return sources and targets of the arcs, counted from 0 over the whole collection."""
        arcs = self.integers("A", n_columns=2)
        if not len(arcs):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        n_nodes = len(owners)
        wrong = np.flatnonzero(((arcs < 1) | (arcs > n_nodes)).any(axis=1))
        if len(wrong):
            raise TwinWLError(
                f"{self.named('A')}, line {wrong[0] + 1}: arc {tuple(arcs[wrong[0]].tolist())} names no "
                f"node; the lines of {self.name}_graph_indicator.txt number them 1..{n_nodes}: "
                "correct either file"
            )
        sources, targets = np.ascontiguousarray(arcs[:, 0]) - 1, np.ascontiguousarray(arcs[:, 1]) - 1
        across = np.flatnonzero(owners[sources] != owners[targets])
        if len(across):
            line = int(across[0])
            raise TwinWLError(
                f"{self.named('A')}, line {line + 1}: arc {tuple(arcs[line].tolist())} joins graphs "
                f"{owners[sources[line]] + 1} and {owners[targets[line]] + 1}; an arc must stay inside one"
            )
        return sources, targets
