"""Search: the graphs of a data set, or of a corpus, that are most like each query."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from twinwl.arguments import FLAG, checked, integer
from twinwl.arrays import Float64, Int64
from twinwl.corpus.corpus import Corpus
from twinwl.corpus.jobs import MANIFEST
from twinwl.datasets.dataset import Dataset
from twinwl.datasets.formats import ReadOptions
from twinwl.datasets.source import read_source
from twinwl.errors import TwinWLError
from twinwl.models.metrics import Rendered
from twinwl.models.search import N_ITER, Queries
from twinwl.terminal import one_line

_QUERIES_SHOWN = 10


class Neighbour(NamedTuple):
    """A graph that was found.

    Attributes
    ----------
    query : str
        Name of the query.
    rank : int
        From 1, the most similar one.
    similarity : float
        From 0, nothing in common, to 1, the same environments within the rounds of the search.
    name : str
        Name of the graph: its id, if it has one.
    row : int
        Its row in the data set, from 0.
    smiles : str or None
        Of a molecule.
    """

    query: str
    rank: int
    similarity: float
    name: str
    row: int
    smiles: str | None

    @property
    def sentence(self) -> str:
        """The graph as the nearest one of training, for people to read."""
        if not self.similarity:
            return "no training graph is similar"
        return f"nearest training graph: {self.name} (similarity {self.similarity:.2f})"


@dataclass(frozen=True, eq=False)
class Neighbours(Rendered):
    """The result of `neighbours`.

    Attributes
    ----------
    matches : list of Neighbour
        The neighbours of the first query, then those of the second, …
    n_graphs : int
        How many graphs were searched.
    indices : array of int64, shape (n_queries, k)
        Index among the searched graphs; of equally similar ones those that come first.
    similarities : array of float64, shape (n_queries, k)
        The largest first.
    queries, graphs : Dataset
        The queries, and those graphs that were found.
    """

    _records = "matches"
    _own_page = "neighbours_page"
    _title = "The most similar graphs"
    matches: list[Neighbour]
    n_graphs: int
    indices: Int64 = field(repr=False)
    similarities: Float64 = field(repr=False)
    queries: Dataset = field(repr=False)
    graphs: Dataset = field(repr=False)

    def of(self, query: int) -> list[Neighbour]:
        """Return the neighbours of one query."""
        k = self.indices.shape[1]
        place = checked("query", query, integer(0, len(self.queries) - 1))
        return self.matches[place * k : (place + 1) * k]

    def __repr__(self) -> str:
        n_queries, k = self.indices.shape
        return f"Neighbours({n_queries:,} queries, the nearest {k:,} of {self.n_graphs:,} graphs)"

    def __str__(self) -> str:
        lines = []
        for query in range(min(len(self.queries), _QUERIES_SHOWN)):
            lines.append(one_line(self.queries.names[query]))
            for one in self.of(query):
                smiles = f"  {one.smiles}" if one.smiles not in {None, one.name} else ""
                lines.append(
                    f"{one.rank:>5}  {one.similarity:.3f}  {one_line(one.name)}  (row {one.row}){smiles}"
                )
        if len(self.queries) > _QUERIES_SHOWN:
            lines.append(f"… and {len(self.queries) - _QUERIES_SHOWN:,} more queries")
        if not self.similarities.any():
            lines.append("No graph has anything in common with a query; do their labels mean the same?")
        return "\n".join(lines)

    def _bars(self) -> dict[str, float]:
        return {f"{one.query}, {one.rank}: {one.name}": one.similarity for one in self.matches}


def neighbours(
    queries: object, graphs: object, k: int = 10, *, n_iter: int = N_ITER, edge_labels: bool = True
) -> Neighbours:
    """Find the ``k`` graphs that are most like each query, exactly.

    The similarity is that of ``TwinKernel(n_iter, "joint", "minmax")``: the share of node environments,
    counted with their rooted sizes, that two graphs have in common. Graphs are compared a block at a time,
    those of a corpus a shard at a time. To ask the same graphs again and again, or for another kernel, fit a
    `TwinKernel` and use its ``kneighbors``.

    Parameters
    ----------
    queries
        A `Dataset`, or anything that `twinwl.as_batch` or, by its name, `twinwl.load_dataset` accepts.
    graphs
        The graphs to search, in the same forms, or a `Corpus` or its folder.
    k
        How many; all graphs if there are fewer. A query that is among the graphs finds itself too.
    n_iter
        Rounds of twin passing: how far an environment reaches.
    edge_labels
        Whether edge labels (of molecules, the types of bonds) count where both sides have them.

    Returns
    -------
    Neighbours

    See Also
    --------
    TwinKernel : Other kernels, and repeated queries.
    audit : What data sets share.

    Examples
    --------
    >>> import twinwl as tw
    >>> rings = [[(i, (i + 1) % n) for i in range(n)] for n in (3, 5, 9, 10)]
    >>> found = tw.neighbours(rings[3:], rings[:3], k=2)
    >>> found.indices, found.similarities.round(2)
    (array([[2, 1]]), array([[0.9, 0.5]]))
    """
    edge_labels = checked("edge_labels", edge_labels, FLAG)
    reading = ReadOptions(usual_atoms="constitution")
    return search(queries, graphs, k, reading, n_iter=n_iter, edge_labels=edge_labels)


def _opened(source: Any, reading: ReadOptions) -> Dataset | Corpus:  # noqa: ANN401
    """Read a source, open a corpus, or take graphs as they are."""
    if isinstance(source, str | Path):
        manifest = os.path.join(source, MANIFEST)  # noqa: PTH118  (of any text: isfile refuses none)
        return Corpus(source) if os.path.isfile(manifest) else read_source(source, reading, "none")  # noqa: PTH113
    return source if isinstance(source, Dataset | Corpus) else Dataset.from_graphs(source)


def search(
    query: object,
    source: object,
    k: int,
    reading: ReadOptions,
    *,
    n_iter: int = N_ITER,
    edge_labels: bool = True,
) -> Neighbours:
    """Do the same, with options for reading files; molecules are read at the level of those already read."""
    queries = None if isinstance(query, str | Path) else _opened(query, reading)
    graphs = _opened(source, reading if queries is None else _at_level_of(queries, reading))
    if queries is None:
        queries = _opened(query, replace(_at_level_of(graphs, reading), shared=True))
    if isinstance(queries, Corpus):
        raise TwinWLError("queries: got a corpus, expected graphs that fit into memory")
    batches = [graphs.graphs] if isinstance(graphs, Dataset) else graphs
    first = next(iter(batches))
    name = graphs.name if isinstance(graphs, Dataset) else str(graphs.folder)
    k = min(checked("k", k, integer(1)), len(graphs))
    if not len(queries):
        raise TwinWLError("queries: got no graphs, expected at least one")
    asked = queries.graphs
    if None not in {asked.atoms, first.atoms} and asked.atoms != first.atoms:
        raise TwinWLError(
            f"the queries were read with atoms={asked.atoms!r} and {name} with atoms={first.atoms!r}, so "
            "their labels mean different things; read both at one level"
        )
    if not edge_labels or first.edge_labels is None:
        asked = asked.without_edge_labels()
    similarities, indices = Queries(asked, n_iter).most_similar(batches, k, n_graphs=len(graphs))
    places, which = np.unique(indices, return_inverse=True)
    result = graphs[places] if isinstance(graphs, Dataset) else graphs.take(places)
    which = which.reshape(indices.shape)
    matches = [
        Neighbour(
            queries.names[query],
            rank + 1,
            float(similarities[query, rank]),
            result.names[place],
            int(result.rows[place]),
            None if result.smiles is None else result.smiles[place],
        )
        for (query, rank), place in np.ndenumerate(which)
    ]
    return Neighbours(matches, len(graphs), indices, similarities, queries, result)


def _at_level_of(graphs: Dataset | Corpus, reading: ReadOptions) -> ReadOptions:
    level = graphs.atoms if isinstance(graphs, Corpus) else graphs.graphs.atoms
    return replace(reading, usual_atoms=level or reading.usual_atoms)
