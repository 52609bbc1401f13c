"""The encoder of NTwin-GNN: one vector per graph, from mini-batches of the quotient or from PyG data."""

from __future__ import annotations

from typing import NamedTuple

import torch

from twinwl.arguments import FLAG, MAX_ITEMS, WIDTH, checked, integer, is_a, one_of
from twinwl.errors import TwinWLError
from twinwl.ntwin.gin import GIN, GINReadout
from twinwl.ntwin.settings import Hops, RootMark, hops_of_layers, n_marks
from twinwl.ntwin.slicing import QuotientSlice
from twinwl.ntwin.uncompressed import GraphData, PyGData, RootedSubgraphEncoder, as_graph_data, messages

__all__ = ["NTwinEncoder", "TwinSlices"]


class TwinSlices(NamedTuple):
    """A mini-batch for both encoders: the quotients of the rooted subgraphs and of the whole graphs."""

    rooted: QuotientSlice
    whole: QuotientSlice


class NTwinEncoder(torch.nn.Module):
    """Represent graphs by GINs inside the rooted subgraphs of their nodes, equations (4) to (6).

    In layer k a GIN (epsilon 0, two-layer MLPs) of depth k runs inside each node's rooted subgraph; its
    states are summed over the subgraph, then over the nodes. ``MLP^(j)`` is the j-th layer of one GIN, shared
    by all depths. The encoder has no dropout and no normalisation; the classifier does both.

    Parameters
    ----------
    n_features
        Width of the nodes' features; for labels, their number.
    layers
        Number of layers K.
    hops
        ``"growing"``: k hops in layer k. A number: the same in every layer.
    hidden
        Width of the states.
    root_mark
        ``"none"``, ``"root"`` or ``"distance"``.
    n_edge_labels
        Number of edge labels with embeddings; 0 for none.
    directed
        Whether edges are arcs.
    subtree
        ``"gin"`` adds a second GIN on the whole graphs, the subtree encoder for continuous features;
        ``"none"`` omits that part; the caller adds the histograms of colours.

    Attributes
    ----------
    n_outputs : int
        Width of the representation.

    Examples
    --------
    >>> import numpy as np
    >>> from twinwl.datasets.generators.worked_example import worked_example
    >>> from twinwl.ntwin.quotient import build_quotient
    >>> from twinwl.ntwin.slicing import QuotientSlicer
    >>> encoder = NTwinEncoder(n_features=2, layers=2, hidden=8)
    >>> graphs = QuotientSlicer(build_quotient(worked_example(), layers=2))
    >>> encoder(graphs.take(np.arange(2))).shape
    torch.Size([2, 16])
    """

    def __init__(
        self,
        n_features: int,
        layers: int = 3,
        hops: Hops = "growing",
        hidden: int = 64,
        root_mark: RootMark = "none",
        *,
        n_edge_labels: int = 0,
        directed: bool = False,
        subtree: str = "none",
    ) -> None:
        super().__init__()
        n_features = checked("n_features", n_features, integer(1, MAX_ITEMS))
        hidden = checked("hidden", hidden, WIDTH)
        n_edge_labels = checked("n_edge_labels", n_edge_labels, integer(0, MAX_ITEMS))
        directed = checked("directed", directed, FLAG)
        subtree = checked("subtree", subtree, one_of("none", "gin"))
        radii = hops_of_layers(hops, layers)
        marks = n_marks(root_mark, radii)
        n_codes = max(1, n_edge_labels) * 2 if directed else n_edge_labels
        self.n_features = n_features
        self.hidden = hidden
        self.hops = radii
        self.root_mark = root_mark
        self.directed = directed
        self.n_edge_labels = n_edge_labels
        self.rooted = GIN(n_features + (marks if marks > 1 else 0), hidden, layers, n_codes)
        self.subtree = GIN(n_features, hidden, layers, n_codes) if subtree == "gin" else None
        self.n_outputs = layers * hidden * (1 if self.subtree is None else 2)

    def forward(self, graphs: QuotientSlice | TwinSlices | GraphData | PyGData) -> torch.Tensor:
        """Return one row per graph, shape (n_graphs, n_outputs).

        Parameters
        ----------
        graphs
            A mini-batch of the quotient (`TwinSlices` for ``subtree="gin"``), or graphs as PyG ``Data``:
            both give the same numbers, the quotient faster. Of PyG data, ``x``, ``edge_index``, ``edge_attr``
            (codes or one-hot) and ``batch`` are used.

        Returns
        -------
        tensor
        """
        if is_a(graphs, QuotientSlice):
            if self.subtree is not None:
                raise TwinWLError("subtree='gin' needs the quotient of the whole graphs too; pass TwinSlices")
            return torch.cat(self.rooted.pooled_states(graphs, self.n_features), dim=1)
        if is_a(graphs, TwinSlices):
            sums = self.rooted.pooled_states(graphs.rooted, self.n_features)
            if self.subtree is not None:
                sums = [*self.subtree.pooled_states(graphs.whole, self.n_features), *sums]
            return torch.cat(sums, dim=1)
        data = as_graph_data(graphs)
        self._check(data)
        rooted: torch.Tensor = self.uncompressed()(data)
        if self.subtree is None:
            return rooted
        edges, codes = messages(data.edge_index, data.edge_attr, directed=self.directed)
        whole = GINReadout(self.subtree, tuple(range(1, len(self.hops) + 1)))
        return torch.cat([whole(data.x, edges, data.batch, codes, data.n_graphs), rooted], dim=1)

    def uncompressed(self) -> RootedSubgraphEncoder:
        """Return the rooted part as the paper defines it, with the same weights."""
        if len(set(self.hops)) == 1:  # the same subgraphs for all depths
            readouts, radii = [GINReadout(self.rooted, tuple(range(1, len(self.hops) + 1)))], self.hops[:1]
        else:
            readouts, radii = [GINReadout(self.rooted, (k,)) for k in range(1, len(self.hops) + 1)], self.hops
        return RootedSubgraphEncoder(readouts, radii, self.root_mark, directed=self.directed)

    def _check(self, data: GraphData) -> None:
        shape = tuple(data.x.shape)
        if shape[1:] != (self.n_features,):
            raise TwinWLError(
                f"x has shape {shape}; this encoder expects {self.n_features} features per node"
            )
        if self.n_edge_labels and data.edge_attr is None and data.edge_index.shape[1]:
            raise TwinWLError("this encoder expects edge labels, but the graphs have none; add edge_attr")
