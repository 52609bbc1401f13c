"""Graphs as examples of an NTwin-GNN: rows of shared states, or literal rooted subgraphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from twinwl.graphs.labels import recode
from twinwl.ntwin.encoder import TwinSlices
from twinwl.ntwin.network import NTwinInput
from twinwl.ntwin.uncompressed import GraphData

if TYPE_CHECKING:
    from twinwl.arrays import Float64, Int64
    from twinwl.graphs.batch import GraphBatch
    from twinwl.graphs.labels import Label
    from twinwl.learning.sparse import SparseExamples
    from twinwl.ntwin.node_states import NodeSlicer
    from twinwl.ntwin.slicing import QuotientSlicer

__all__ = ["LiteralExamples", "QuotientExamples"]


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
