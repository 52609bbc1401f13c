"""Graphs as examples of an NTwin-GNN: rows of shared states, or literal rooted subgraphs.

The subtree encoder for labels: histograms of 1-WL colours, equation (4) summed over the nodes.

The quotient of the graphs themselves, for a GIN as subtree encoder: plain 1-WL colours.

The fitted inputs of an NTwin-GNN: labels, scales, histograms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_matrix

from twinwl.arrays import Float64, Int32, Int64
from twinwl.errors import TwinWLError, warn_caller
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.labels import Label, recode
from twinwl.models.state import alphabet_from_state, alphabet_to_state, columns_from_state, labels_from_state
from twinwl.neural.choice import colours_per_pair
from twinwl.neural.encoder import TwinSlices
from twinwl.neural.network import NTwinInput
from twinwl.neural.node_states import NodeSlicer
from twinwl.neural.quotient import PoolBuilder, Quotient, RootMark, build_quotient
from twinwl.neural.slicing import QuotientSlicer
from twinwl.neural.sparse import SparseExamples
from twinwl.neural.uncompressed import GraphData
from twinwl.refinement.alphabet import Alphabet
from twinwl.refinement.colours import refine
from twinwl.refinement.histograms import colour_histograms


class QuotientExamples:
    """Graphs, sliced batch by batch from their quotients, or with states shared within each graph.

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
        rooted: QuotientSlicer | NodeSlicer,
        whole: QuotientSlicer | NodeSlicer | None = None,
        histograms: SparseExamples | None = None,
    ) -> None:
        self.rooted = rooted
        self.whole = whole
        self.histograms = histograms

    def __len__(self) -> int:
        return len(self.rooted)

    @property
    def rows_at_once(self) -> int:
        """Number of graphs whose states fit into memory together."""
        return self.rooted.rows_at_once

    def take(self, rows: Int64) -> NTwinInput:
        """Return the network's input for these graphs."""
        graphs = self.rooted.take(rows)
        histograms = None if self.histograms is None else self.histograms.take(rows)
        if self.whole is None:
            return NTwinInput(graphs, histograms)
        return NTwinInput(TwinSlices(graphs, self.whole.take(rows)), histograms)


class LiteralExamples:
    """Graphs with continuous features, as tensors; rooted subgraphs are cut batch by batch.

    Parameters
    ----------
    batch
        The graphs.
    labels, edge_labels
        The labels of the network, in its order.
    centre, scale
        Each feature has its centre subtracted and is divided by its scale.
    histograms
        Rows of the subtree encoder, where histograms are.
    """

    def __init__(
        self,
        batch: GraphBatch,
        labels: tuple[Label, ...],
        edge_labels: tuple[Label, ...] | None,
        centre: Float64,
        scale: Float64,
        histograms: SparseExamples | None = None,
    ) -> None:
        self.batch = batch
        self.labels = labels
        self.edge_labels = edge_labels
        self.centre = centre
        self.scale = scale
        self.histograms = histograms

    def __len__(self) -> int:
        return len(self.batch)

    def take(self, rows: Int64) -> NTwinInput:
        """Return the network's input for these graphs."""
        batch = self.batch[np.asarray(rows, np.int64)]
        sources, targets = batch.arcs()
        codes = None
        if self.edge_labels is not None and batch.edge_labels is not None:
            codes = torch.from_numpy(
                recode(batch.edge_labels, batch.edge_vocabulary, self.edge_labels).astype(np.int64)
            )
        data = GraphData(
            torch.from_numpy(self._inputs(batch)),
            torch.from_numpy(np.stack([sources, targets.astype(np.int64)])),
            codes,
            torch.from_numpy(np.repeat(np.arange(len(batch)), batch.nodes_per_graph)),
            len(batch),
        )
        return NTwinInput(data, None if self.histograms is None else self.histograms.take(rows))

    def _inputs(self, batch: GraphBatch) -> np.ndarray:
        """Return one-hot labels and scaled features, concatenated, shape (n_nodes, n_features)."""
        n_labels = len(self.labels)
        inputs = np.zeros((batch.n_nodes, n_labels + len(self.centre)), np.float32)
        if n_labels:
            places = recode(batch.node_labels, batch.node_vocabulary, self.labels)
            known = np.flatnonzero(places >= 0)
            inputs[known, places[known]] = 1
        if batch.node_features is not None:
            inputs[:, n_labels:] = (batch.node_features - self.centre) / self.scale
        return inputs


# Measured: square roots keep frequent colours from drowning rare ones, and rows of equal length keep large
# graphs from drowning small ones; with length 5 the wide layer learns about as fast as the narrow one.
_ROW_LENGTH = 5.0


class SubtreeHistograms:
    """How often each colour of layers 1, …, K occurs in a graph, as sparse rows for a network.

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
        graphs_of_column = np.bincount(counts.indices, minlength=counts.shape[1])
        kept = graphs_of_column >= min_df
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


def whole_quotient(batch: GraphBatch, layers: int, *, edge_labels: bool = False) -> tuple[Quotient, Int32]:
    """Return the quotient of a batch without rooted subgraphs, and the colours of its nodes by layer.

    Parameters
    ----------
    batch
        The graphs.
    layers
        Number of layers.
    edge_labels
        Distinguish messages by edge label, if the batch has any.

    Examples
    --------
    >>> from twinwl.datasets.generators import worked_example
    >>> quotient, colours = whole_quotient(worked_example(), layers=2)
    >>> quotient.n_colours, colours.shape
    ([2, 2, 2], (3, 12))
    """
    colours, alphabet = refine(batch, layers, edge_labels=edge_labels)
    alone = np.arange(batch.n_nodes + 1, dtype=np.int64)
    pools = []
    for layer in range(1, layers + 1):
        builder = PoolBuilder(batch.graph_ptr)
        if batch.n_nodes:
            builder.add(0, alone, colours[layer])
        pools.append(builder.finished())
    quotient = Quotient(
        labels=alphabet.labels,
        edge_labels=alphabet.edge_labels,
        root_mark="none",
        hops=(0,) * layers,  # there are no rooted subgraphs
        directed=batch.directed,
        rounds=alphabet.rounds,
        pools=tuple(pools),
        n_pairs=(batch.n_nodes,) * layers,
    )
    return quotient, colours


SUBTREES = ("auto", "wl", "gin")


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
    histograms: SubtreeHistograms | None

    @classmethod
    def fitted(
        cls, batch: GraphBatch, layers: int, *, subtree: str, edge_labels: bool, min_df: int
    ) -> tuple[FittedInputs, csr_matrix | None]:
        """Fit on the training graphs; also return their histograms, if there are any."""
        if not batch.n_nodes:
            raise TwinWLError(
                f"none of the {len(batch)} graphs to learn from has a node; add graphs with nodes"
            )
        features = np.empty((0, 0)) if batch.node_features is None else batch.node_features
        if subtree == "auto":
            subtree = "gin" if features.shape[1] else "wl"
        used = np.flatnonzero(np.bincount(batch.node_labels, minlength=len(batch.node_vocabulary)))
        scale = features.std(axis=0) if len(features) else np.ones(features.shape[1])
        histograms, rows = None, None
        if subtree == "wl":
            histograms, rows = SubtreeHistograms.fitted(
                batch.without_features(), layers, edge_labels=edge_labels, min_df=min_df
            )
        inputs = cls(
            n_graphs=len(batch),
            labels=tuple(batch.node_vocabulary[code] for code in used.tolist()),
            edge_labels=batch.edge_vocabulary if edge_labels and batch.edge_labels is not None else None,
            directed=batch.directed,
            subtree=subtree,
            centre=features.mean(axis=0) if len(features) else np.zeros(features.shape[1]),
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
        batch: GraphBatch,
        hops: tuple[int, ...],
        root_mark: RootMark,
        max_memory: int | None,
        histograms: csr_matrix | None = None,
        roots: float | None = None,
        layers_of_whole: int | None = None,
    ) -> QuotientExamples:
        """Turn graphs into examples: on the colour quotient if it pays, else on states shared within a graph.

        ``histograms`` are those that `fitted` returned, if these are the training graphs; ``roots`` is the
        number or share of roots to sample. A GIN on the whole graphs has ``layers_of_whole`` layers, by
        default as many as there are hops.
        """
        self.check(batch)
        plain = batch.without_features()
        rows = self._histogram_rows(plain, histograms)
        use_edges = self.edge_labels is not None
        share = None
        if not len(self.centre) and roots is None:
            share = colours_per_pair(plain, hops, root_mark, max_memory, edge_labels=use_edges)
        if share is not None:
            return self._on_quotient(plain, hops, root_mark, max_memory, rows, share, layers_of_whole)
        features = None
        if len(self.centre):
            given = np.empty((0, len(self.centre))) if batch.node_features is None else batch.node_features
            features = ((given - self.centre) / self.scale).astype(np.float32)
        whole = None
        if self.subtree == "gin":
            no_hops = (None,) * (layers_of_whole or len(hops))
            whole = NodeSlicer(plain, no_hops, "none", self.labels, self.edge_labels, features)
        kept = None if max_memory is None else max_memory // 2
        rooted = NodeSlicer(
            plain, hops, root_mark, self.labels, self.edge_labels, features, roots=roots, max_kept=kept
        )
        return QuotientExamples(rooted, whole, rows)

    def quotient_examples(
        self,
        batch: GraphBatch,
        hops: tuple[int, ...],
        root_mark: RootMark,
        max_memory: int | None,
        histograms: csr_matrix | None = None,
    ) -> QuotientExamples:
        """Turn graphs without continuous features into examples on the quotient, whether it pays or not."""
        self.check(batch)
        plain = batch.without_features()
        rows = self._histogram_rows(plain, histograms)
        return self._on_quotient(plain, hops, root_mark, max_memory, rows, 1.0)

    def _histogram_rows(self, plain: GraphBatch, histograms: csr_matrix | None) -> SparseExamples | None:
        if histograms is None and self.histograms is not None:
            histograms = self.histograms.rows(plain)
        return None if histograms is None else SparseExamples(histograms)

    def _on_quotient(
        self,
        plain: GraphBatch,
        hops: tuple[int, ...],
        root_mark: RootMark,
        max_memory: int | None,
        rows: SparseExamples | None,
        share: float,
        layers_of_whole: int | None = None,
    ) -> QuotientExamples:
        use_edges = self.edge_labels is not None
        quotient = build_quotient(
            plain,
            len(hops),
            hops,
            root_mark=root_mark,
            edge_labels=use_edges,
            max_memory=max_memory,
            colours_per_pair=share,
        )
        whole = None
        if self.subtree == "gin":
            of_graphs, _ = whole_quotient(plain, layers_of_whole or len(hops), edge_labels=use_edges)
            whole = QuotientSlicer(of_graphs, self.labels, self.edge_labels)
        return QuotientExamples(QuotientSlicer(quotient, self.labels, self.edge_labels), whole, rows)

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
        fresh = recode(batch.node_labels, batch.node_vocabulary, self.labels) < 0
        n_nodes = int(np.count_nonzero(fresh))
        if n_nodes:
            node = int(np.flatnonzero(fresh)[0])
            graph = int(np.searchsorted(batch.graph_ptr, node, side="right")) - 1
            label = batch.node_vocabulary[batch.node_labels[node]]
            _tell(
                f"{n_nodes} of {batch.n_nodes} nodes",
                f"node label (first: {label!r} in graph {graph})",
                unknown,
            )
        if self.edge_labels is not None and batch.edge_labels is not None:
            n_arcs = int(
                np.count_nonzero(recode(batch.edge_labels, batch.edge_vocabulary, self.edge_labels) < 0)
            )
            if n_arcs:
                _tell(f"{n_arcs} of {len(batch.indices)} arcs", "edge label", unknown)

    def to_state(self) -> dict[str, object]:
        """Return plain values and arrays for a model file."""
        state: dict[str, object] = {
            "n_graphs": self.n_graphs,
            "labels": list(self.labels),
            "edge_labels": None if self.edge_labels is None else list(self.edge_labels),
            "directed": self.directed,
            "subtree": self.subtree,
            "centre": self.centre,
            "scale": self.scale,
        }
        if self.histograms is not None:
            state["alphabet"] = alphabet_to_state(self.histograms.alphabet)
            state["columns"] = self.histograms.columns
        return state

    @classmethod
    def from_state(cls, state: Mapping[str, object]) -> FittedInputs:
        """Undo `to_state`; everything is checked before it is used.

        Raises
        ------
        TwinWLError
            If anything in the state is missing or does not fit.
        """
        try:
            subtree, directed, n_graphs = state["subtree"], state["directed"], state["n_graphs"]
            labels, edge_labels = state["labels"], state["edge_labels"]
            centre, scale = state["centre"], state["scale"]
            histograms = None
            if subtree == "wl":
                alphabet = alphabet_from_state(state["alphabet"])  # type: ignore[arg-type]
                columns = columns_from_state({"columns": state["columns"]}, sum(alphabet.n_colours))
                histograms = None if columns is None else SubtreeHistograms(alphabet, columns)
        except (KeyError, TypeError, AttributeError) as error:
            raise TwinWLError(f"the model's inputs lack {error}; the file is damaged") from error
        if subtree not in {"wl", "gin"} or not isinstance(directed, bool) or type(n_graphs) is not int:
            raise TwinWLError("the model does not name its subtree encoder; the file is damaged")
        return cls(
            n_graphs=n_graphs,
            labels=labels_from_state(labels),
            edge_labels=None if edge_labels is None else labels_from_state(edge_labels),
            directed=directed,
            subtree=str(subtree),
            centre=_row(centre),
            scale=_row(scale),
            histograms=histograms,
        )


def _tell(where: str, what: str, unknown: str) -> None:
    message = f"{where} have a {what} that occurs in no training graph"
    if unknown == "error":
        raise TwinWLError(f"{message}; leave those graphs out, or use unknown='zero'")
    warn_caller(f"{message}; their input is zero, so check that the labels mean the same")


def _row(value: object) -> Float64:
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind != "f":
        raise TwinWLError("the model's feature scales are not rows of numbers; the file is damaged")
    return value.astype(np.float64)
