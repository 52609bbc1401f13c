"""Graphs as examples of an NTwin-GNN: the fitted labels, scales and histograms, and rows or subgraphs.

Networks that are bounded by 1-WL get rows (`twinwl.neural.quotient.RowExamples`). Those of any power get
distinct rooted subgraphs: subgraphs are grouped by content (root, labels, features and edges). Equal ones are
isomorphic, so a readout that does not depend on the order of nodes is computed once for each and counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, cast

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor

from twinwl.arguments import Float32, Float64, Int32, Int64, pointer, ranges
from twinwl.errors import TwinWLError, warn_caller
from twinwl.files.model_files import restore
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.labels import Label, recode
from twinwl.isomorphism.rooted import Groups, Neighbourhoods
from twinwl.models.features import alphabet_from_state, alphabet_to_state, columns_from_state
from twinwl.neural.encoder import GraphData, NTwinInput, SubgraphPart, TwinInput, subgraph_batch
from twinwl.neural.quotient import RootMark, RowExamples, n_marks
from twinwl.neural.readouts import SubgraphBatch
from twinwl.neural.rows import Pool, count_rows, distinct_rows
from twinwl.neural.sparse import SparseExamples
from twinwl.refinement.colours import Alphabet, refine
from twinwl.refinement.histograms import colour_histograms
from twinwl.refinement.identities import rooted_sizes, rooted_subgraphs

SUBTREES = ("auto", "wl", "gin")

# Measured: square roots keep frequent colours from drowning rare ones, and rows of equal length keep large
# graphs from drowning small ones; with length 5 the wide layer learns about as fast as the narrow one.
_ROW_LENGTH = 5.0
# Nodes and arcs that a readout gets at once: some tens of megabytes of states.
_BLOCK_ENTRIES = 1 << 17
# Graphs to evaluate together, if their blocks have no more than so many nodes and arcs: 100 megabytes.
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
        Rows of the subtree encoder, where histograms are.
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


class SubtreeHistograms:
    """How often each colour of layers 1, …, K occurs in a graph, as sparse rows for a network: equation (4).

    Counts are square-rooted and each row is scaled to length 5. Colours that occur in
    fewer than ``min_df`` training graphs are ignored: a colour of a single graph does not generalise.

    Parameters
    ----------
    alphabet
        The alphabet of colours.
    columns : array of int64
        The colours that are used, numbered over all layers from layer 0 on.

    Examples
    --------
    >>> from twinwl.datasets.generators import worked_example
    >>> histograms, rows = SubtreeHistograms.fitted(worked_example(), layers=2, edge_labels=False, min_df=1)
    >>> histograms.n_columns, rows.shape
    (4, (2, 4))
    """

    def __init__(self, alphabet: Alphabet, columns: Int64) -> None:
        self.alphabet = alphabet
        self.columns = columns

    @classmethod
    def fitted(
        cls, batch: GraphBatch, layers: int, *, edge_labels: bool, min_df: int = 2
    ) -> tuple[SubtreeHistograms, csr_matrix]:
        """Take the alphabet and the columns from a batch of graphs; also return the rows of these graphs."""
        colours, alphabet = refine(batch, layers, edge_labels=edge_labels)
        counts = _counts(batch, colours, alphabet)
        kept = np.bincount(counts.indices, minlength=counts.shape[1]) >= min_df
        kept[: len(alphabet.labels)] = False  # the paper's representation starts at layer 1
        histograms = cls(alphabet, np.flatnonzero(kept).astype(np.int64))
        return histograms, histograms._scaled(counts)

    @property
    def n_columns(self) -> int:
        """Width of the rows."""
        return len(self.columns)

    def rows(self, batch: GraphBatch) -> csr_matrix:
        """Return the scaled histograms, shape (n_graphs, n_columns)."""
        colours, _ = refine(batch, None, alphabet=self.alphabet)
        return self._scaled(_counts(batch, colours, self.alphabet))

    def _scaled(self, counts: csr_matrix) -> csr_matrix:
        counts = counts[:, self.columns]
        rows = csr_matrix((np.sqrt(counts.data), counts.indices, counts.indptr), shape=counts.shape)
        lengths = np.sqrt(np.asarray(counts.sum(axis=1)).ravel())  # of the square roots
        scale = np.divide(_ROW_LENGTH, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        rows.data *= np.repeat(scale, np.diff(rows.indptr))
        return rows


def _counts(batch: GraphBatch, colours: np.ndarray, alphabet: Alphabet) -> csr_matrix:
    sizes = alphabet.n_colours
    data, indices, indptr = colour_histograms(batch, colours, sizes, weigh_by_size=False)
    return csr_matrix((data, indices, indptr), shape=(len(batch), sum(sizes)))


@dataclass(frozen=True, eq=False)
class FittedInputs:
    """Conversion of graphs to inputs of a network, fitted on the training graphs.

    Attributes
    ----------
    n_graphs : int
        Number of graphs it was fitted on.
    labels : tuple of labels
        The node labels of the training graphs; any other is a row of zeros.
    edge_labels : tuple of labels, or None
        The edge labels, if they are used.
    directed : bool
    subtree : str
        ``"wl"`` or ``"gin"``.
    centre, scale : arrays of float64, shape (n_continuous,)
        Mean and standard deviation of each continuous feature.
    histograms : SubtreeHistograms or None
        The subtree encoder, if ``subtree`` is ``"wl"``.
    """

    n_graphs: int
    labels: tuple[Label, ...]
    edge_labels: tuple[Label, ...] | None
    directed: bool
    subtree: str
    centre: Float64
    scale: Float64
    histograms: SubtreeHistograms | None = None

    @classmethod
    def fitted(
        cls, batch: GraphBatch, layers: int, *, subtree: str, edge_labels: bool, min_df: int
    ) -> tuple[FittedInputs, csr_matrix | None]:
        """Fit on the training graphs; also return their histograms, if there are any."""
        if not batch.n_nodes:
            raise TwinWLError(
                f"none of the {len(batch)} graphs to learn from has a node; add graphs with nodes"
            )
        features = np.empty((1, 0)) if batch.node_features is None else batch.node_features
        if subtree == "auto":
            subtree = "gin" if features.shape[1] else "wl"
        used = np.flatnonzero(np.bincount(batch.node_labels, minlength=len(batch.node_vocabulary)))
        scale = features.std(axis=0)
        histograms, rows = None, None
        if subtree == "wl":
            plain = batch.without_features()
            histograms, rows = SubtreeHistograms.fitted(plain, layers, edge_labels=edge_labels, min_df=min_df)
        inputs = cls(
            n_graphs=len(batch),
            labels=tuple(batch.node_vocabulary[code] for code in used.tolist()),
            edge_labels=batch.edge_vocabulary if edge_labels and batch.edge_labels is not None else None,
            directed=batch.directed,
            subtree=subtree,
            centre=features.mean(axis=0),
            scale=np.where(scale > 0, scale, 1.0),  # a constant column: do not divide by 0
            histograms=histograms,
        )
        return inputs, rows

    @property
    def n_features(self) -> int:
        """Width of a node's input."""
        return len(self.labels) + len(self.centre)

    @property
    def n_histogram_columns(self) -> int:
        """Width of the histograms; 0 without them."""
        return 0 if self.histograms is None else self.histograms.n_columns

    def examples(
        self,
        rooted: RowExamples | SubgraphExamples,
        batch: GraphBatch,
        layers: int,
        max_memory: int | None = None,
        histograms: csr_matrix | None = None,
    ) -> NTwinExamples:
        """Add what the subtree encoder needs to rooted subgraphs.

        ``histograms`` are those that `fitted` returned, if these are the training graphs.
        """
        if histograms is None and self.histograms is not None:
            histograms = self.histograms.rows(batch.without_features())
        whole = None
        if self.subtree == "gin":
            whole = self.rows(batch, (None,) * layers, "none", max_memory=max_memory)
        return NTwinExamples(rooted, whole, None if histograms is None else SparseExamples(histograms))

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

    def scaled(self, batch: GraphBatch, nodes: Int32 | slice = slice(None)) -> Float32:
        """Return the continuous features of nodes, standardised."""
        if batch.node_features is None:
            return np.empty((len(batch.node_labels[nodes]), 0), np.float32)
        return ((batch.node_features[nodes] - self.centre) / self.scale).astype(np.float32)

    def columns(self, batch: GraphBatch, nodes: Int32) -> Tensor:
        """Return one-hot labels and scaled features of some nodes, shape (n_nodes, n_features)."""
        places = recode(batch.node_labels[nodes], batch.node_vocabulary, self.labels)
        # The last row is zero, and the place of an unseen label is -1.
        one_hot = np.eye(len(self.labels) + 1, len(self.labels), dtype=np.float32)[places]
        return torch.from_numpy(np.hstack([one_hot, self.scaled(batch, nodes)]))

    def arc_codes(self, batch: GraphBatch) -> Tensor | None:
        """Return the network's code of the label of each arc; None if edge labels are not used."""
        if self.edge_labels is None or batch.edge_labels is None:
            return None
        codes = recode(batch.edge_labels, batch.edge_vocabulary, self.edge_labels)
        return torch.from_numpy(codes.astype(np.int64))

    def graph_data(self, batch: GraphBatch) -> GraphData:
        """Return graphs as tensors, of which a network reads every rooted subgraph."""
        sources, targets = batch.arcs()
        return GraphData(
            self.columns(batch, np.arange(batch.n_nodes, dtype=np.int32)),
            torch.from_numpy(np.stack([sources, targets.astype(np.int64)])),
            self.arc_codes(batch),
            torch.from_numpy(np.repeat(np.arange(len(batch)), batch.nodes_per_graph)),
            len(batch),
        )

    def check(self, batch: GraphBatch) -> None:
        """Refuse graphs that differ in kind from the training graphs."""
        kinds = ("undirected", "directed")
        if batch.directed != self.directed:
            raise TwinWLError(
                f"the network was trained on {kinds[self.directed]} graphs, these are {kinds[batch.directed]}"
            )
        width = 0 if batch.node_features is None else batch.node_features.shape[1]
        if width != len(self.centre) and batch.n_nodes:
            raise TwinWLError(
                f"the nodes have {width} continuous features, but the network was trained with "
                f"{len(self.centre)}; give it the same columns"
            )
        if self.edge_labels is not None and batch.edge_labels is None and len(batch.indices):
            raise TwinWLError("the network was trained with edge labels, which these graphs lack; add them")

    def check_labels(self, batch: GraphBatch, unknown: str) -> None:
        """Warn about labels that occur in no training graph, or refuse them if ``unknown`` is ``"error"``."""
        fresh = np.flatnonzero(recode(batch.node_labels, batch.node_vocabulary, self.labels) < 0)
        found = []
        if len(fresh):
            graph = int(np.searchsorted(batch.graph_ptr, fresh[0], side="right")) - 1
            label = batch.node_vocabulary[batch.node_labels[fresh[0]]]
            where = f"(first: {label!r} in graph {graph})"
            found.append(f"{len(fresh)} of {batch.n_nodes} nodes have a node label {where}")
        codes = self.arc_codes(batch)
        if codes is not None and bool((codes < 0).any()):
            found.append(f"{int((codes < 0).sum())} of {len(codes)} arcs have an edge label")
        for what in found:
            message = f"{what} that occurs in no training graph"
            if unknown == "error":
                raise TwinWLError(f"{message}; leave those graphs out, or use unknown='zero'")
            warn_caller(f"{message}; their input is zero, so check that the labels mean the same")

    def to_state(self) -> dict[str, object]:
        """Return plain values and arrays for a model file."""
        # A tuple would be written as a label.
        lists = {
            name: None if labels is None else list(labels)
            for name, labels in (("labels", self.labels), ("edge_labels", self.edge_labels))
        }
        state: dict[str, object] = {**vars(self), **lists}
        del state["histograms"]
        if self.histograms is not None:
            state["alphabet"] = alphabet_to_state(self.histograms.alphabet)
            state["columns"] = self.histograms.columns
        return state

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> FittedInputs:
        """Undo `to_state`; everything is checked before it is used."""
        inputs: FittedInputs = restore(cls, state)
        if inputs.subtree != "wl":
            return inputs
        alphabet = alphabet_from_state(state["alphabet"])
        columns = cast("Int64", columns_from_state(state, sum(alphabet.n_colours)))
        return replace(inputs, histograms=SubtreeHistograms(alphabet, columns))


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
            parts.append(SubgraphPart(tuple(self._cut(distinct.radius, some) for some in roots), pool))
        return tuple(parts)

    def _cut(self, radius: int, roots: Int64) -> SubgraphBatch:
        cut = rooted_subgraphs(self.batch, radius, roots)
        x = self.inputs.columns(self.batch, cut.node)
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
            bits = (batch.node_features + 0.0).view(np.uint64)  # -0.0 is 0.0
            contents = np.hstack([bits, batch.node_labels[:, None].astype(np.uint64)])
            codes, found = distinct_rows(contents)
            plain = plain.changed(node_labels=codes, node_vocabulary=tuple(range(len(found))))
        sizes = rooted_sizes(plain, radius)[radius]
        groups = Groups()
        numbers, arcs = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for block in Neighbourhoods(plain).blocks(np.arange(batch.n_nodes), radius, sizes):
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
        ptr, groups, counts = self.pool
        lengths = ptr[rows + 1] - ptr[rows]
        entry = ranges(ptr[rows], lengths)
        needed, places = np.unique(groups[entry], return_inverse=True)
        block = np.cumsum(self.entries[needed]) // _BLOCK_ENTRIES
        cuts = [0, *(np.flatnonzero(np.diff(block)) + 1).tolist(), len(needed)]
        roots = [self.representative[needed[low:high]] for low, high in pairwise(cuts) if low < high]
        return roots, Pool(pointer(lengths), places.astype(np.int32), counts[entry])
