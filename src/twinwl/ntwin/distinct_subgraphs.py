"""Distinct rooted subgraphs: a readout of any power is computed once for each of them, then counted.

Rooted subgraphs are grouped by content: root, labels, features and edges. Equal ones are isomorphic, so every
readout that does not depend on the order of nodes has the same value for them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import torch

from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.labels import recode
from twinwl.isomorphism.grouping import Groups
from twinwl.isomorphism.rooted import Neighbourhoods
from twinwl.ntwin.network import NTwinInput
from twinwl.ntwin.pools import PoolBuilder
from twinwl.ntwin.settings import n_marks
from twinwl.ntwin.subgraph_tensors import subgraph_tensors
from twinwl.refinement.identities import rooted_sizes
from twinwl.refinement.rooted_subgraphs import rooted_subgraphs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from twinwl.arrays import Float64, Int32, Int64
    from twinwl.graphs.labels import Label
    from twinwl.learning.sparse import SparseExamples
    from twinwl.ntwin.settings import RootMark
    from twinwl.ntwin.slicing import QuotientSlice
    from twinwl.ntwin.subgraph_tensors import SubgraphBatch
    from twinwl.ntwin.uncompressed import GraphData

__all__ = ["DistinctExamples", "DistinctPart", "DistinctSlice", "DistinctSubgraphs"]

# Nodes and arcs that a readout gets at once: some tens of megabytes of states.
_BLOCK_ENTRIES = 1 << 17
# Graphs to evaluate together, if their blocks have no more than so many nodes and arcs: 100 megabytes.
_ROWS_AT_ONCE, _TAKEN_ENTRIES = 1024, 1 << 22


class DistinctPart(NamedTuple):
    """The distinct rooted subgraphs of one radius in a mini-batch, and how often each graph has them.

    ``pool_ptr``, ``pooled`` and ``counts`` are a matrix in CSR form, one row per graph.
    """

    blocks: tuple[SubgraphBatch, ...]
    pool_ptr: Int64
    pooled: Int32
    counts: Int32


class DistinctSlice(NamedTuple):
    """A mini-batch of distinct rooted subgraphs, one part per radius; and the whole graphs, if needed."""

    parts: tuple[DistinctPart, ...]
    whole: QuotientSlice | GraphData | None = None


class DistinctSubgraphs:
    """The rooted subgraphs of a batch, grouped by content.

    Parameters
    ----------
    batch
        The graphs, with the edge labels and features that count.
    radius
        Radius of the subgraphs.
    edges
        Whether edges count; if not, subgraphs are equal if the labels and features of their nodes are, and
        their distances from the root.
    pairs
        Whether the readout has a state for each pair of nodes.

    Attributes
    ----------
    representative : array of int64, shape (n_distinct,)
        A root of each.
    entries : array of int64, shape (n_distinct,)
        Number of states of each: nodes and arcs, or pairs of nodes.
    pool : Pool
        How often each graph has each of them.

    Examples
    --------
    >>> path = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3)]])
    >>> distinct = DistinctSubgraphs(path, 1)
    >>> distinct.representative.tolist(), distinct.pool.counts.tolist()
    ([0, 1], [2, 2])
    """

    def __init__(self, batch: GraphBatch, radius: int, *, edges: bool = True, pairs: bool = False) -> None:
        self.radius = radius
        plain = _with_contents_as_labels(batch)
        sizes = rooted_sizes(plain, radius)[radius]
        group, arcs = (_grouped if edges else _grouped_by_nodes)(plain, radius, sizes)
        _, self.representative = np.unique(group, return_index=True)
        size = sizes[self.representative].astype(np.int64)
        self.entries = size * size if pairs else size + arcs[self.representative]
        builder = PoolBuilder(batch.graph_ptr)
        if batch.n_nodes:
            builder.add(0, np.arange(batch.n_nodes + 1, dtype=np.int64), group)
        self.pool = builder.finished()

    @property
    def n_graphs(self) -> int:
        """Number of graphs."""
        return len(self.pool.indptr) - 1

    def entries_of_graphs(self) -> Int64:
        """Return the number of states of the distinct subgraphs of each graph."""
        before = np.concatenate([[0], np.cumsum(self.entries[self.pool.colours])])
        entries: Int64 = before[self.pool.indptr[1:]] - before[self.pool.indptr[:-1]]
        return entries

    def take(self, rows: Int64) -> tuple[list[Int64], tuple[Int64, Int32, Int32]]:
        """Return roots of the distinct subgraphs of some graphs, in blocks, and their pooling matrix."""
        indptr, groups, counts = self.pool
        lengths = indptr[rows + 1] - indptr[rows]
        pool_ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        entry = np.arange(pool_ptr[-1]) + np.repeat(indptr[rows] - pool_ptr[:-1], lengths)
        needed, pooled = np.unique(groups[entry], return_inverse=True)
        block = np.cumsum(self.entries[needed]) // _BLOCK_ENTRIES
        cuts = [0, *(np.flatnonzero(np.diff(block)) + 1).tolist(), len(needed)]
        roots = [self.representative[needed[low:high]] for low, high in pairwise(cuts) if low < high]
        return roots, (pool_ptr, pooled.astype(np.int32), counts[entry])


class DistinctExamples:
    """Graphs as examples of an NTwin-GNN with any readout.

    Parameters
    ----------
    batch
        The graphs, with the edge labels and features that the network uses.
    labels, edge_labels
        The labels of the network, in its order.
    scaling
        Centre and scale of each feature.
    hops, root_mark
        Radius of each layer, and the mark of the nodes.
    edges, pairs
        Whether the readout sees edges, and whether it has a state for each pair of nodes.
    whole
        Examples of the whole graphs, if the subtree encoder is a GIN.
    histograms
        Rows of the subtree encoder, where histograms are.
    """

    def __init__(
        self,
        batch: GraphBatch,
        labels: tuple[Label, ...],
        edge_labels: tuple[Label, ...] | None,
        scaling: tuple[Float64, Float64],
        hops: tuple[int, ...],
        root_mark: RootMark,
        *,
        edges: bool = True,
        pairs: bool = False,
        whole: _Whole | None = None,
        histograms: SparseExamples | None = None,
    ) -> None:
        self.batch = batch if edge_labels is not None else batch.without_edge_labels()
        self.marks = (root_mark, n_marks(root_mark, hops))
        self.whole = whole
        self.histograms = histograms
        self.distinct = [
            DistinctSubgraphs(self.batch, radius, edges=edges, pairs=pairs) for radius in dict.fromkeys(hops)
        ]
        largest = sum(distinct.entries_of_graphs().max(initial=1) for distinct in self.distinct)
        self.rows_at_once = int(min(_ROWS_AT_ONCE, max(1, _TAKEN_ENTRIES // largest)))
        self._n_labels = len(labels)
        self._place = recode(batch.node_labels, batch.node_vocabulary, labels) if labels else None
        self._centre, self._scale = scaling
        self._code: Int64 | None = None
        if edge_labels is not None and batch.edge_labels is not None:
            self._code = recode(batch.edge_labels, batch.edge_vocabulary, edge_labels).astype(np.int64)

    def __len__(self) -> int:
        return len(self.batch)

    def take(self, rows: Int64) -> NTwinInput:
        """Return the network's input for these graphs."""
        rows = np.asarray(rows, np.int64)
        parts = []
        for distinct in self.distinct:
            roots, pooling = distinct.take(rows)
            parts.append(DistinctPart(tuple(self._blocks(roots, distinct.radius)), *pooling))
        whole = None if self.whole is None else self.whole.take(rows)
        histograms = None if self.histograms is None else self.histograms.take(rows)
        return NTwinInput(DistinctSlice(tuple(parts), whole), histograms)

    def _blocks(self, roots: list[Int64], radius: int) -> Iterator[SubgraphBatch]:
        for some in roots:
            cut = rooted_subgraphs(self.batch, radius, some)
            codes = None if self._code is None else torch.from_numpy(self._code[cut.arc])
            x = torch.from_numpy(self._inputs(cut.node))
            yield subgraph_tensors(cut, x, codes, self.marks, directed=self.batch.directed)

    def _inputs(self, nodes: Int32) -> np.ndarray:
        """Return one-hot labels and scaled features of some nodes."""
        inputs = np.zeros((len(nodes), self._n_labels + len(self._centre)), np.float32)
        if self._place is not None:
            place = self._place[nodes]
            known = np.flatnonzero(place >= 0)
            inputs[known, place[known]] = 1
        if self.batch.node_features is not None:
            inputs[:, self._n_labels :] = (self.batch.node_features[nodes] - self._centre) / self._scale
        return inputs


class _Whole(Protocol):
    """Whole graphs as input of a GIN."""

    def take(self, rows: Int64) -> QuotientSlice | GraphData: ...


def _with_contents_as_labels(batch: GraphBatch) -> GraphBatch:
    """Return the graphs with a label for each different pair of label and row of features."""
    codes = batch.node_labels
    if batch.node_features is not None and batch.n_nodes:
        rows = np.ascontiguousarray(batch.node_features) + 0.0  # -0.0 is 0.0
        table = np.concatenate([rows.view(np.uint64), codes[:, None].astype(np.uint64)], axis=1)
        _, places = np.unique(table, axis=0, return_inverse=True)
        codes = places.reshape(-1).astype(np.int32)
    return GraphBatch.unchecked(
        indptr=batch.indptr,
        indices=batch.indices,
        graph_ptr=batch.graph_ptr,
        node_labels=codes,
        node_vocabulary=(None,),
        edge_labels=batch.edge_labels,
        edge_vocabulary=batch.edge_vocabulary,
        node_features=None,
        directed=batch.directed,
    )


def _grouped(batch: GraphBatch, radius: int, sizes: Int32) -> tuple[Int32, Int64]:
    """Return the number of each root's subgraph, and its arcs: equal numbers mean isomorphic subgraphs."""
    groups, first = Groups(), 0
    numbers, arcs = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for block in Neighbourhoods(batch).blocks(np.arange(batch.n_nodes), radius, sizes):
        if groups.full:  # no more comparisons with those so far: some work is done twice
            groups, first = Groups(), first + len(groups)
        numbers.append(groups.of_block(block) + first)
        arcs.append(np.diff(block.cut.indptr[block.cut.subgraph_ptr]))
    return np.concatenate(numbers).astype(np.int32), np.concatenate(arcs)


def _grouped_by_nodes(batch: GraphBatch, radius: int, sizes: Int32) -> tuple[Int32, Int64]:
    """Return the number of each root's subgraph by its nodes alone, labels and distances; no arcs count."""
    known: dict[bytes, int] = {}
    numbers: list[int] = []
    for block in Neighbourhoods(batch).blocks(np.arange(batch.n_nodes), radius, sizes):
        cut = block.cut
        content = batch.node_labels[cut.node].astype(np.int64) * (radius + 1) + cut.distance
        subgraph = np.repeat(np.arange(len(cut.root)), np.diff(cut.subgraph_ptr))
        text = content[np.lexsort((content, subgraph))].tobytes()
        ends = (content.itemsize * cut.subgraph_ptr).tolist()
        numbers += [known.setdefault(text[low:high], len(known)) for low, high in pairwise(ends)]
    return np.array(numbers, np.int32), np.zeros(len(numbers), np.int64)
