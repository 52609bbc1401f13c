"""GCN-RNI: graph convolutions whose nodes start with random numbers in addition to their labels."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Unpack

import numpy as np
import torch
from torch.nn import functional

from twinwl.arguments import integer, number
from twinwl.baselines.geometric import pyg
from twinwl.baselines.gnn_classifier import GNNClassifier

if TYPE_CHECKING:
    from twinwl.baselines.batching.examples import GraphInput
    from twinwl.baselines.gnn_classifier import CommonOptions
    from twinwl.estimators.base import Constraints

__all__ = ["GCNRNIClassifier", "GCNRNINetwork"]

_SEEDS_BELOW = 2**31 - 1


class GCNRNIClassifier(GNNClassifier):
    r"""Classify graphs by graph convolutions with random node initialisation (Abboud et al., 2021).

    A share of the entries of each node's initial state are standard normal numbers, drawn anew in each
    forward pass; the others are learnt from the labels around it. The network is a random variable, invariant
    in expectation, and can in principle tell all graphs apart. In training every batch gets fresh numbers;
    predictions average the logits of a fixed set of draws, so they are repeatable and do not depend on the
    other graphs in the batch.

    Its authors used deep networks and long training, and so does the method ``"gcn-rni"`` of the tables:
    eight layers, batches of 20, 300 epochs (theirs: 500) without early stopping. On EXP the accuracy stays at
    chance level for the first fifty epochs or more.

    Parameters
    ----------
    ratio : float, default=0.5
        Share of random entries; 1 ignores the labels.
    draws : int, default=4
        Number of draws that a prediction averages.
    layers, hidden, dropout, random_state, …
        As for `twinwl.baselines.gnn_classifier.GNNClassifier`.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> graphs = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]] * 10)
    >>> model = GCNRNIClassifier(ratio=0.125, layers=2, hidden=16, max_epochs=5, random_state=0)
    >>> model = model.fit(graphs, ["path", "triangle"] * 10)
    >>> model.classes_.tolist(), model.predict_proba(graphs[:2]).shape
    (['path', 'triangle'], (2, 2))
    """

    _constraints: ClassVar[Constraints] = {
        "ratio": (number(0, 1, above=True),),
        "draws": (integer(1, 10_000),),
    }

    def __init__(self, ratio: float = 0.5, draws: int = 4, **common: Unpack[CommonOptions]) -> None:
        super().__init__(**common)
        self.ratio = ratio
        self.draws = draws

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        return GCNRNINetwork(
            n_columns, self.hidden, self.layers, self.ratio, self.draws, n_classes, self.dropout
        )


class GCNRNINetwork(torch.nn.Module):
    """Two convolutions of the labels, random numbers appended; convolutions, the maximum, a classifier.

    A convolution has one weight for the node itself and one for the mean of its neighbours.
    """

    seed: torch.Tensor

    def __init__(
        self,
        n_columns: int,
        hidden: int,
        layers: int,
        ratio: float,
        draws: int,
        n_classes: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.n_random = max(1, round(ratio * hidden))
        self.draws = draws
        n_learnt = hidden - self.n_random
        widths = [n_columns, hidden, n_learnt] if n_learnt else []
        self.of_labels = _convolutions(widths)
        self.layers = _convolutions([hidden] * (layers + 1))
        self.head = torch.nn.Sequential(
            torch.nn.Linear(hidden, hidden),
            torch.nn.ELU(),
            torch.nn.Dropout(dropout),
            torch.nn.Linear(hidden, n_classes),
        )
        self.register_buffer("seed", torch.randint(_SEEDS_BELOW, ()))

    def forward(self, graphs: GraphInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes): of one draw in training, else averaged over draws."""
        if self.training:
            return self.logits(graphs, torch.randn(len(graphs.x), self.n_random).to(graphs.x.device))
        # The i-th node of every graph gets the same numbers, so the other graphs of the batch do not matter.
        sizes = torch.bincount(graphs.graph_of_node, minlength=graphs.n_graphs)
        place = (
            torch.arange(len(graphs.x), device=graphs.x.device)
            - (sizes.cumsum(0) - sizes)[graphs.graph_of_node]
        )
        n_places = int(sizes.max()) if len(sizes) else 0
        random = np.random.default_rng(int(self.seed))
        noise = torch.from_numpy(random.standard_normal((n_places, self.draws, self.n_random)))
        draws = [self.logits(graphs, noise[place, draw]) for draw in range(self.draws)]
        return torch.stack(draws).mean(dim=0)

    def logits(self, graphs: GraphInput, noise: torch.Tensor) -> torch.Tensor:
        """Return the logits of one draw; ``noise`` has shape (n_nodes, n_random)."""
        states = noise.to(graphs.x.dtype)
        if len(self.of_labels):
            states = torch.cat([_passed(self.of_labels, graphs.x, graphs), states], dim=1)
        states = _passed(self.layers, states, graphs)
        pooled = pyg.global_max_pool(states, graphs.graph_of_node, graphs.n_graphs)
        logits: torch.Tensor = self.head(pooled)
        return logits


def _convolutions(widths: list[int]) -> torch.nn.ModuleList:
    return torch.nn.ModuleList(pyg.GraphConv(n_in, n_out, aggr="mean") for n_in, n_out in pairwise(widths))


def _passed(layers: torch.nn.ModuleList, states: torch.Tensor, graphs: GraphInput) -> torch.Tensor:
    for layer in layers:
        states = functional.elu(layer(states, graphs.edge_index))
    return states
