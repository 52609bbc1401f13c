"""The encoder of NTwin-GNN: one vector per graph, from mini-batches of the quotient or from PyG data."""

from __future__ import annotations

from typing import NamedTuple

import torch

from twinwl.arguments import FLAG, MAX_ITEMS, WIDTH, checked, integer, one_of
from twinwl.errors import TwinWLError
from twinwl.neural.distinct_subgraphs import DistinctPart, DistinctSlice, messages, read_out
from twinwl.neural.gin import GIN, GINReadout
from twinwl.neural.quotient import Hops, RootMark, hops_of_layers, n_marks
from twinwl.neural.readouts import READOUT, AtDepths, BoundedReadout, NetworkReadout, build_readout, width_of
from twinwl.neural.rows import pool
from twinwl.neural.slicing import QuotientSlice
from twinwl.neural.uncompressed import GraphData, PyGData, RootedSubgraphEncoder, as_graph_data


class TwinSlices(NamedTuple):
    """A mini-batch for both encoders: the quotients of the rooted subgraphs and of the whole graphs."""

    rooted: QuotientSlice
    whole: QuotientSlice


class NTwinEncoder(torch.nn.Module):
    """Represent graphs by networks inside the rooted subgraphs of their nodes, equations (4) to (6).

    By default, in layer k a GIN (epsilon 0, two-layer MLPs) of depth k runs inside each node's rooted
    subgraph; its states are summed over the subgraph, then over the nodes. ``MLP^(j)`` is the j-th layer of
    one GIN, shared by all depths. The encoder has no dropout and no normalisation; the classifier does both.

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
    readout
        The network inside the rooted subgraphs: ``"gin"``, ``"gcn"``, ``"gat"``, ``"ppgn"``, ``"deepsets"``,
        a module, or a class or function that makes one. As ``"gin"``, the first four and every
        `BoundedReadout` are read at depth k in layer k. Other networks are read once for each different
        radius.
    readout_width
        Width of the readout of one radius; by default found out with an example. Only for own networks.

    Attributes
    ----------
    n_outputs : int
        Width of the representation.

    Examples
    --------
    >>> import numpy as np
    >>> from twinwl.datasets.generators import worked_example
    >>> from twinwl.neural.quotient import build_quotient
    >>> from twinwl.neural.slicing import QuotientSlicer
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
        readout: NetworkReadout = "gin",
        readout_width: int | None = None,
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
        self.n_marks = marks
        self.rooted: torch.nn.Module
        readout = checked("readout", readout, *READOUT)
        width = n_features + (marks if marks > 1 else 0)
        if isinstance(readout, str) and readout == "gin":
            self.rooted = GIN(width, hidden, layers, n_codes)
        else:
            arguments = {
                "n_features": width,
                "hidden": hidden,
                "layers": layers,
                "hops": radii,
                "n_codes": n_codes,
            }
            self.rooted = build_readout(readout, arguments)
        self.subtree = GIN(n_features, hidden, layers, n_codes) if subtree == "gin" else None
        if isinstance(self.rooted, GIN):
            self.n_rooted_outputs = layers * hidden
        else:
            views = [view for _, view in self._views()]
            if readout_width is None:
                self.n_rooted_outputs = sum(width_of(view, width, n_codes) for view in views)
            else:
                self.n_rooted_outputs = checked("readout_width", readout_width, integer(1, MAX_ITEMS))
        self.n_outputs = self.n_rooted_outputs + (0 if self.subtree is None else layers * hidden)

    def forward(
        self, graphs: QuotientSlice | TwinSlices | DistinctSlice | GraphData | PyGData
    ) -> torch.Tensor:
        """Return one row per graph, shape (n_graphs, n_outputs).

        Parameters
        ----------
        graphs
            A mini-batch of the quotient (`TwinSlices` for ``subtree="gin"``) or of distinct rooted subgraphs,
            or graphs as PyG ``Data``: all give the same numbers, the first two faster. Of PyG data, ``x``,
            ``edge_index``, ``batch`` and, for ``n_edge_labels``, ``edge_attr`` are used: codes or one-hot
            rows, as `GraphBatch.from_pyg` reads them.

        Returns
        -------
        tensor
        """
        if isinstance(graphs, QuotientSlice):
            if self.subtree is not None:
                raise TwinWLError("subtree='gin' needs the quotient of the whole graphs too; pass TwinSlices")
            return self._quotient_sums(graphs)
        if isinstance(graphs, TwinSlices):
            return self._joined(graphs.whole, self._quotient_sums(graphs.rooted))
        if isinstance(graphs, DistinctSlice):
            return self._joined(graphs.whole, self._distinct_sums(graphs.parts))
        data = as_graph_data(graphs, edge_labels=bool(self.n_edge_labels))
        self._check(data)
        if not self.n_edge_labels:
            data = data._replace(edge_attr=None)
        rooted: torch.Tensor = self.uncompressed()(data)
        return self._joined(data, rooted)

    def uncompressed(self) -> RootedSubgraphEncoder:
        """Return the rooted part as the paper defines it, with the same weights."""
        radii, views = zip(*self._views(), strict=True)
        return RootedSubgraphEncoder(views, radii, self.root_mark, directed=self.directed)

    def _views(self) -> list[tuple[int, torch.nn.Module]]:
        """Return what is read of the rooted subgraphs of each different radius."""
        depths: dict[int, tuple[int, ...]] = {}
        for depth, radius in enumerate(self.hops, start=1):
            depths[radius] = (*depths.get(radius, ()), depth)
        if isinstance(self.rooted, GIN):
            return [(radius, GINReadout(self.rooted, read)) for radius, read in depths.items()]
        if hasattr(self.rooted, "pooled_by_depth"):
            return [(radius, AtDepths(self.rooted, read)) for radius, read in depths.items()]
        return [(radius, self.rooted) for radius in depths]

    def _quotient_sums(self, graphs: QuotientSlice) -> torch.Tensor:
        if isinstance(self.rooted, GIN):
            return torch.cat(self.rooted.pooled_states(graphs, self.n_features), dim=1)
        if not isinstance(self.rooted, BoundedReadout):
            raise TwinWLError(
                "this readout is not declared to be bounded by 1-WL, so it cannot run on the quotient; pass "
                "distinct rooted subgraphs"
            )
        sums = self.rooted.pooled_states(graphs, self.n_features, self.n_marks)
        return self._checked_width(torch.cat(sums, dim=1))

    def _distinct_sums(self, parts: tuple[DistinctPart, ...]) -> torch.Tensor:
        sums = []
        for (_, view), part in zip(self._views(), parts, strict=True):
            if not part.blocks:  # graphs without nodes
                like = next(self.parameters(), torch.empty(0))
                return like.new_zeros(len(part.pool_ptr) - 1, self.n_rooted_outputs)
            blocks = [read_out(view, block) for block in part.blocks]
            if len({rows.shape[1] for rows in blocks}) > 1:
                raise self._other_width()
            sums.append(pool(torch.cat(blocks), part.pool_ptr, part.pooled, part.counts))
        return self._checked_width(torch.cat(sums, dim=1))

    def _checked_width(self, sums: torch.Tensor) -> torch.Tensor:
        if sums.shape[1] != self.n_rooted_outputs:
            raise self._other_width()
        return sums

    def _other_width(self) -> TwinWLError:
        return TwinWLError(
            f"the readout {type(self.rooted).__name__} returned rows of different widths; let their width "
            "depend on its parameters alone"
        )

    def _joined(self, whole: QuotientSlice | GraphData | None, rooted: torch.Tensor) -> torch.Tensor:
        """Return the subtree encoder's sums, if it is a GIN, next to those of the rooted subgraphs."""
        if self.subtree is None or whole is None:
            return rooted
        if isinstance(whole, QuotientSlice):
            return torch.cat([*self.subtree.pooled_states(whole, self.n_features), rooted], dim=1)
        edges, codes = messages(whole.edge_index, whole.edge_attr, directed=self.directed)
        network = GINReadout(self.subtree, tuple(range(1, len(self.hops) + 1)))
        return torch.cat([network(whole.x, edges, whole.batch, codes, whole.n_graphs), rooted], dim=1)

    def _check(self, data: GraphData) -> None:
        shape = tuple(data.x.shape)
        if shape[1:] != (self.n_features,):
            raise TwinWLError(
                f"x has shape {shape}; this encoder expects {self.n_features} features per node"
            )
        if self.n_edge_labels and data.edge_attr is None and data.edge_index.shape[1]:
            raise TwinWLError("this encoder expects edge labels, but the graphs have none; add edge_attr")
        if self.n_edge_labels and data.edge_attr is not None and data.edge_attr.numel():
            low, high = map(int, data.edge_attr.aminmax())
            if low < -1 or high >= self.n_edge_labels:
                raise TwinWLError(
                    f"edge_attr: got codes from {low} to {high}, expected 0 to {self.n_edge_labels - 1} as "
                    f"n_edge_labels={self.n_edge_labels}, or -1 for a label without an embedding"
                )
