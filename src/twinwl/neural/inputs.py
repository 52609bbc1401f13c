"""Graphs as examples of an NTwin-GNN: the fitted labels, scales and histograms, and rows or subgraphs.

Networks that are bounded by 1-WL get rows (`twinwl.neural.quotient.RowExamples`). Those of any power get
distinct rooted subgraphs: subgraphs are grouped by content (root, labels, features and edges). Equal ones are
isomorphic, so a readout that does not depend on the order of nodes is computed once for each and counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor

from twinwl.arguments import graph_of_node, owners, pointer
from twinwl.arrays import Fields, Float32, Float64, Int32, Int64
from twinwl.errors import TwinWLError, warn_caller
from twinwl.files.model_files import restore
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.labels import Label, recode
from twinwl.isomorphism.rooted import Groups, RootedSource
from twinwl.models import features
from twinwl.models.features import Encoding, FeatureSpace, stwin_features
from twinwl.neural.encoder import GraphData, NTwinInput, SubgraphPart, TwinInput, subgraph_batch
from twinwl.neural.quotient import RootMark, RowExamples, n_marks
from twinwl.neural.readouts import SubgraphBatch
from twinwl.neural.rows import Pool, count_rows, distinct_rows
from twinwl.neural.sparse import SparseExamples
from twinwl.refinement.identities import rooted_sizes, rooted_subgraphs

SUBTREES = ("auto", "wl", "gin")

# Measured: square roots keep frequent colours from drowning rare ones, and rows of equal length keep large
# graphs from drowning small ones; with length 5 the layer on histograms learns about as fast as the one on
# pooled sums.
_ROW_LENGTH = 5.0
# Nodes and arcs that a readout gets at once: some tens of megabytes of states.
_BLOCK_ENTRIES = 1 << 17
# Graphs to evaluate together, if their blocks have at most this many nodes and arcs: 100 megabytes.
_ROWS_AT_ONCE, _TAKEN_ENTRIES = 1024, 1 << 22


class NTwinExamples:
    """Graphs as examples of an NTwin-GNN.

    Parameters
    ----------
    rooted
        The rooted subgraphs.
    whole
        The whole graphs, if the subtree encoder is a GIN.
    histograms
        Rows of colour histograms, if these are the subtree encoder.
    """

    def __init__(
        self,
        rooted: RowExamples | SubgraphExamples,
        whole: RowExamples | None = None,
        histograms: SparseExamples | None = None,
    ) -> None:
        self.rooted, self.whole, self.histograms = rooted, whole, histograms
        self.rows_at_once = rooted.rows_at_once  # graphs whose states fit into memory together

    def __len__(self) -> int:
        return len(self.rooted)

    def take(self, rows: Int64) -> NTwinInput:
        """Return the network's input for these graphs."""
        whole = None if self.whole is None else self.whole.take(rows)
        histograms = None if self.histograms is None else self.histograms.take(rows)
        return NTwinInput(TwinInput(self.rooted.take(rows), whole), histograms)


@dataclass(frozen=True, eq=False)
class SubtreeHistograms:
    """How often each colour of layers 1, …, K occurs in a graph, as sparse rows for a network: equation (4).

    Counts are square-rooted and each row is scaled to length 5. Colours that occur in
    fewer than ``min_df`` training graphs are ignored: a colour of a single graph does not generalise.

    Attributes
    ----------
    space : FeatureSpace
        The colours of all layers, one column per colour.
    columns : array of int64
        The columns that are used.

    Examples
    --------
    >>> from twinwl.datasets.generators import worked_example
    >>> histograms = SubtreeHistograms.fit_to(worked_example(), layers=2, edge_labels=False, min_df=1)
    >>> histograms.n_columns, histograms.rows(worked_example()).shape
    (4, (2, 4))
    """

    space: FeatureSpace
    columns: Int64

    @classmethod
    def fit_to(
        cls, batch: GraphBatch, layers: int, *, edge_labels: bool, min_df: int = 2
    ) -> SubtreeHistograms:
        """Take the colours from a batch of graphs."""
        encoding = stwin_features(batch, layers, "count", edge_labels=edge_labels)
        frequent = np.bincount(encoding.matrix.indices, minlength=encoding.space.n_columns) >= min_df
        # The paper's representation starts at layer 1.
        frequent[: encoding.space.columns_per_round[0]] = False
        return cls(encoding.space, np.flatnonzero(frequent))

    @property
    def n_columns(self) -> int:
        """Width of the rows."""
        return len(self.columns)

    def encoding(self, batch: GraphBatch) -> Encoding:
        """Return the counts of all colours."""
        return stwin_features(batch.without_features(), space=self.space)

    def rows(self, batch: GraphBatch) -> csr_matrix:
        """Return the scaled histograms, shape (n_graphs, n_columns)."""
        counts = self.encoding(batch).matrix[:, self.columns]
        lengths = np.sqrt(np.asarray(counts.sum(axis=1)).ravel())  # the length of a row of square roots
        scale = np.divide(_ROW_LENGTH, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        data = np.sqrt(counts.data) * np.repeat(scale, np.diff(counts.indptr))
        return csr_matrix((data, counts.indices, counts.indptr), shape=counts.shape)


@dataclass(frozen=True, eq=False)
class NodeInputs:
    """One-hot labels and standardised features of nodes, fitted on the training graphs.

    Attributes
    ----------
    labels : tuple of labels
        The node labels of the training graphs, one column per label; a node with another label has zeros.
    centre, scale : arrays of float64, shape (n_continuous,)
        Mean and standard deviation of each continuous feature.

    >>> inputs = NodeInputs.fit_to(GraphBatch.from_edges([[(0, 1)]], node_labels=[["C", "O"]]))
    >>> inputs.columns(GraphBatch.from_edges([[(0, 1)]], node_labels=[["O", "N"]]))
    array([[0., 1.],
           [0., 0.]], dtype=float32)
    """

    labels: tuple[Label, ...]
    centre: Float64
    scale: Float64

    @classmethod
    def fit_to(cls, batch: GraphBatch, **others: Any) -> Self:  # noqa: ANN401
        """Fit labels and scales; ``others`` are the attributes of a subclass."""
        if not batch.n_nodes:
            raise TwinWLError(
                f"none of the {len(batch)} graphs to learn from has a node; add graphs with nodes"
            )
        features = np.empty((1, 0)) if batch.node_features is None else batch.node_features
        spread = features.std(axis=0)
        return cls(
            labels=tuple(batch.node_vocabulary[code] for code in np.unique(batch.node_labels).tolist()),
            centre=features.mean(axis=0),
            scale=np.where(spread > 0, spread, 1.0),  # a constant column: do not divide by 0
            **others,
        )

    @property
    def n_features(self) -> int:
        """Width of a node's input."""
        return len(self.labels) + len(self.centre)

    def scaled(self, batch: GraphBatch, nodes: Int32 | slice = slice(None)) -> Float32:
        """Return the continuous features of nodes, standardised."""
        if not batch.n_nodes:
            return np.empty((0, len(self.centre)), np.float32)
        features = np.empty((batch.n_nodes, 0)) if batch.node_features is None else batch.node_features
        if features.shape[1] != len(self.centre):
            raise TwinWLError(
                f"the nodes have {features.shape[1]} continuous features, but the network was trained with "
                f"{len(self.centre)}; give it the same columns"
            )
        return ((features[nodes] - self.centre) / self.scale).astype(np.float32)

    def columns(self, batch: GraphBatch, nodes: Int32 | slice = slice(None)) -> Float32:
        """Return one-hot labels and scaled features of nodes, shape (n_nodes, n_features)."""
        places = recode(batch.node_labels[nodes], batch.node_vocabulary, self.labels)
        # The last row is zero, and the place of an unseen label is -1.
        one_hot = np.eye(len(self.labels) + 1, len(self.labels), dtype=np.float32)[places]
        return np.hstack([one_hot, self.scaled(batch, nodes)])


@dataclass(frozen=True, eq=False)
class FittedInputs(NodeInputs):
    """Conversion of graphs to inputs of an NTwin-GNN, fitted on the training graphs.

    Attributes
    ----------
    n_graphs : int
        Number of graphs it was fitted on.
    edge_labels : tuple of labels, or None
        The edge labels, if they are used.
    directed : bool
    subtree : str
        ``"wl"`` or ``"gin"``.
    histograms : SubtreeHistograms or None
        The subtree encoder, if ``subtree`` is ``"wl"``.
    """

    n_graphs: int
    edge_labels: tuple[Label, ...] | None
    directed: bool
    subtree: str
    histograms: SubtreeHistograms | None = None

    @classmethod
    def fit(
        cls, batch: GraphBatch, layers: int, *, subtree: str, edge_labels: bool, min_df: int
    ) -> FittedInputs:
        """Fit on the training graphs."""
        if subtree == "auto":
            subtree = "gin" if batch.has_node_features else "wl"
        inputs = cls.fit_to(
            batch,
            n_graphs=len(batch),
            edge_labels=batch.edge_vocabulary if edge_labels and batch.edge_labels is not None else None,
            directed=batch.directed,
            subtree=subtree,
        )
        if subtree == "gin":
            return inputs
        plain = batch.without_features()
        histograms = SubtreeHistograms.fit_to(plain, layers, edge_labels=edge_labels, min_df=min_df)
        return replace(inputs, histograms=histograms)

    def rows(
        self,
        batch: GraphBatch,
        hops: tuple[int | None, ...],
        root_mark: RootMark,
        roots: float | None = None,
        max_memory: int | None = None,
    ) -> RowExamples:
        """Return graphs as rows, with the labels of the network."""
        settings = (hops, root_mark, self.labels, self.edge_labels, self.scaled(batch), roots, max_memory)
        return RowExamples(batch, *settings)

    def arc_codes(self, batch: GraphBatch) -> Tensor | None:
        """Return the network's code of the label of each arc; None if edge labels are not used."""
        if self.edge_labels is None or batch.edge_labels is None:
            return None
        codes = recode(batch.edge_labels, batch.edge_vocabulary, self.edge_labels)
        return torch.from_numpy(codes.astype(np.int64))

    def graph_data(self, batch: GraphBatch) -> GraphData:
        """Return graphs as tensors, for a network that reads every rooted subgraph."""
        sources, targets = batch.arcs()
        return GraphData(
            torch.from_numpy(self.columns(batch)),
            torch.from_numpy(np.stack([sources, targets.astype(np.int64)])),
            self.arc_codes(batch),
            torch.from_numpy(owners(batch.nodes_per_graph)),
            len(batch),
        )

    def check(self, batch: GraphBatch) -> None:
        """Refuse graphs that differ in kind from the training graphs."""
        kinds = ("undirected", "directed")
        if batch.directed != self.directed:
            raise TwinWLError(
                f"the network was trained on {kinds[self.directed]} graphs, these are {kinds[batch.directed]}"
            )
        if self.edge_labels is not None and batch.edge_labels is None and len(batch.indices):
            raise TwinWLError("the network was trained with edge labels, which these graphs lack; add them")

    def check_labels(self, batch: GraphBatch, unknown: str) -> None:
        """Warn about labels that occur in no training graph, or refuse them if ``unknown`` is ``"error"``."""
        unseen = np.flatnonzero(recode(batch.node_labels, batch.node_vocabulary, self.labels) < 0)
        problems = []
        if len(unseen):
            graph = graph_of_node(batch.graph_ptr, unseen[0])
            label = batch.node_vocabulary[batch.node_labels[unseen[0]]]
            where = f"(first: {label!r} in graph {graph})"
            problems.append(f"{len(unseen)} of {batch.n_nodes} nodes have a node label {where}")
        codes = self.arc_codes(batch)
        if codes is not None and bool((codes < 0).any()):
            problems.append(f"{int((codes < 0).sum())} of {len(codes)} arcs have an edge label")
        for what in problems:
            message = f"{what} that occurs in no training graph"
            if unknown == "error":
                raise TwinWLError(f"{message}; leave those graphs out, or use unknown='zero'")
            warn_caller(f"{message}; their input is zero, so check that the labels mean the same")

    def to_state(self) -> Fields:
        """Return plain values and arrays for a model file."""
        # A tuple would be written as a label.
        edge_labels = None if self.edge_labels is None else list(self.edge_labels)
        state = {**vars(self), "labels": list(self.labels), "edge_labels": edge_labels}
        del state["histograms"]
        if self.histograms is not None:
            state["alphabet"] = features.alphabet_to_state(self.histograms.space.alphabet)
            state["columns"] = self.histograms.columns
        return state

    @classmethod
    def from_state(cls, state: Fields) -> FittedInputs:
        """Undo `to_state`; everything is checked before it is used."""
        inputs: FittedInputs = restore(cls, state)
        if inputs.subtree != "wl":
            return inputs
        space = FeatureSpace("count", features.alphabet_from_state(state["alphabet"]))
        columns = restore(Int64, state["columns"], "columns")
        features.check_columns(columns, space.n_columns)
        return replace(inputs, histograms=SubtreeHistograms(space, columns))


# ---------------------------------------------------------------------- distinct rooted subgraphs


class SubgraphExamples:
    """Graphs as distinct rooted subgraphs, for an NTwin-GNN with any readout.

    Parameters
    ----------
    batch
        The graphs.
    inputs
        Labels and scales.
    hops, root_mark
        Radius of each layer, and the mark of the nodes.
    pairs
        Whether the readout has a state for each pair of nodes.
    """

    def __init__(
        self,
        batch: GraphBatch,
        inputs: FittedInputs,
        hops: tuple[int, ...],
        root_mark: RootMark,
        *,
        pairs: bool = False,
    ) -> None:
        self.batch = batch if inputs.edge_labels is not None else batch.without_edge_labels()
        self.inputs = inputs
        self.marks = (root_mark, n_marks(root_mark, hops))
        self.codes = inputs.arc_codes(batch)
        radii = dict.fromkeys(hops)
        self.distinct = [DistinctSubgraphs(self.batch, radius, pairs=pairs) for radius in radii]
        largest = sum(part.entries_of_graphs().max(initial=1) for part in self.distinct)
        self.rows_at_once = int(min(_ROWS_AT_ONCE, max(1, _TAKEN_ENTRIES // largest)))

    def __len__(self) -> int:
        return len(self.batch)

    def take(self, rows: Int64) -> tuple[SubgraphPart, ...]:
        """Return the subgraphs of these graphs."""
        parts = []
        for distinct in self.distinct:
            roots, pool = distinct.take(np.asarray(rows, np.int64))
            parts.append(SubgraphPart(tuple(self._cut(distinct.radius, block) for block in roots), pool))
        return tuple(parts)

    def _cut(self, radius: int, roots: Int64) -> SubgraphBatch:
        cut = rooted_subgraphs(self.batch, radius, roots)
        x = torch.from_numpy(self.inputs.columns(self.batch, cut.node))
        return subgraph_batch(cut, x, self.codes, self.marks, directed=self.batch.directed)


class DistinctSubgraphs:
    """The rooted subgraphs of a batch, grouped by content.

    Parameters
    ----------
    batch
        The graphs, with the edge labels and features that count.
    radius
        Radius of the subgraphs.
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

    def __init__(self, batch: GraphBatch, radius: int, *, pairs: bool = False) -> None:
        self.radius = radius
        plain = batch.without_features()
        if batch.node_features is not None:
            bits = (batch.node_features + 0.0).view(np.uint64)  # the sum turns -0.0 into 0.0
            contents = np.hstack([bits, batch.node_labels[:, None].astype(np.uint64)])
            codes, first = distinct_rows(contents)
            plain = plain.changed(node_labels=codes, node_vocabulary=tuple(range(len(first))))
        sizes = rooted_sizes(plain, radius)[radius]
        groups = Groups()
        numbers, arcs = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for block in RootedSource(plain).blocks(np.arange(batch.n_nodes), radius, sizes):
            numbers.append(groups.of_block(block))
            arcs.append(np.diff(block.cut.indptr[block.cut.subgraph_ptr]))
        group = np.concatenate(numbers)
        _, self.representative = np.unique(group, return_index=True)
        size = sizes[self.representative].astype(np.int64)
        self.entries = size * size if pairs else size + np.concatenate(arcs)[self.representative]
        self.pool = count_rows(batch.graph_ptr, group.astype(np.int32))

    def entries_of_graphs(self) -> Int64:
        """Return the number of states of the distinct subgraphs of each graph."""
        before = pointer(self.entries[self.pool.rows])
        return before[self.pool.ptr[1:]] - before[self.pool.ptr[:-1]]

    def take(self, rows: Int64) -> tuple[list[Int64], Pool]:
        """Return roots of the distinct subgraphs of some graphs, in blocks, and their pooling matrix."""
        pool = self.pool.take(rows)
        needed, places = np.unique(pool.rows, return_inverse=True)
        block = np.cumsum(self.entries[needed]) // _BLOCK_ENTRIES
        cuts = [0, *(np.flatnonzero(np.diff(block)) + 1).tolist(), len(needed)]
        roots = [self.representative[needed[low:high]] for low, high in pairwise(cuts) if low < high]
        return roots, pool._replace(rows=places.astype(np.int32))
