"""The encoder without the quotient: any network can be the readout of the rooted subgraphs, as in the paper.

It is slower and needs more memory than the quotient, and is its oracle: every (root, node) pair has a state
of its own. It is also used for continuous features, with which no two nodes have the same colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import torch

from twinwl.arguments import checked
from twinwl.arrays import pointer
from twinwl.errors import TwinWLError
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.from_pyg import edge_codes
from twinwl.neural.devices import as_tensor
from twinwl.neural.distinct_subgraphs import read_out, subgraph_tensors
from twinwl.neural.quotient import ROOT_MARK, RootMark, n_marks, root_blocks
from twinwl.refinement.rooted_subgraphs import RootedSubgraphs, rooted_subgraphs

# Every node and arc of a block has a state in every layer: some tens of megabytes.
_BLOCK_ENTRIES = 1 << 17


class PyGData(Protocol):
    """The attributes of a ``torch_geometric.data.Data`` or ``Batch`` that are used."""

    x: torch.Tensor
    edge_index: torch.Tensor
    edge_attr: torch.Tensor | None
    batch: torch.Tensor | None


class GraphData(NamedTuple):
    """Graphs as tensors, named as in PyG; `as_graph_data` builds it from a ``Data`` or ``Batch``.

    Attributes
    ----------
    x : tensor, shape (n_nodes, n_features)
    edge_index : tensor of int64, shape (2, n_arcs)
        Both arcs of an undirected edge.
    edge_attr : tensor of int64, shape (n_arcs,), or None
        Code of each arc's label.
    batch : tensor of int64, shape (n_nodes,)
        Graph of each node, ascending.
    n_graphs : int
    """

    x: torch.Tensor
    edge_index: torch.Tensor
    edge_attr: torch.Tensor | None
    batch: torch.Tensor
    n_graphs: int


class RootedSubgraphEncoder(torch.nn.Module):
    """Apply networks of your own to the rooted subgraph of every node, and sum over the nodes.

    Parameters
    ----------
    readouts
        One network for each entry of ``hops``. Its ``forward`` gets what its parameters name of the fields of
        `twinwl.neural.distinct_subgraphs.SubgraphBatch`, and returns one row per subgraph.
    hops
        Radius of the rooted subgraphs of each readout.
    root_mark
        ``"root"`` appends a one-hot mark of the root to ``x``, ``"distance"`` one of the distance from it.
    directed
        Edges are arcs: subgraphs are cut along them, and messages pass both ways, with the codes
        ``2 * code`` from the head and ``2 * code + 1`` from the tail.

    Examples
    --------
    >>> class Size(torch.nn.Module):
    ...     def forward(self, x, edge_index, batch):
    ...         return torch.bincount(batch)[:, None].float()
    >>> path = GraphData(
    ...     torch.ones(3, 1), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), None, torch.zeros(3, dtype=int), 1
    ... )
    >>> RootedSubgraphEncoder([Size(), Size()], hops=[1, 2])(path)
    tensor([[7., 9.]])
    """

    def __init__(
        self,
        readouts: Sequence[torch.nn.Module],
        hops: Sequence[int],
        root_mark: RootMark = "none",
        *,
        directed: bool = False,
    ) -> None:
        super().__init__()
        root_mark = checked("root_mark", root_mark, ROOT_MARK)
        if len(readouts) != len(hops):
            raise TwinWLError(
                f"got {len(readouts)} readouts and {len(hops)} numbers of hops, expected as many of each"
            )
        self.readouts = torch.nn.ModuleList(readouts)
        self.hops = tuple(hops)
        self.root_mark = root_mark
        self.directed = directed

    def forward(self, data: GraphData | PyGData) -> torch.Tensor:
        """Return the readouts' sums over the roots of each graph, concatenated: (n_graphs, total width)."""
        graphs = as_graph_data(data)
        arcs = _sorted_arcs(graphs, directed=self.directed)
        widest = max(self.hops, default=0)
        totals: list[torch.Tensor] = []
        # The sum over roots is computed in blocks of roots, to bound memory.
        for low, high in root_blocks(arcs.batch, widest, _BLOCK_ENTRIES) or [(0, 0)]:
            roots = np.arange(low, high)
            cuts = {radius: rooted_subgraphs(arcs.batch, radius, roots) for radius in set(self.hops)}
            of_roots = [
                self._read(graphs, arcs, readout, cuts[radius])
                for readout, radius in zip(self.readouts, self.hops, strict=True)
            ]
            if not totals:
                totals = [rows.new_zeros(graphs.n_graphs, rows.shape[1]) for rows in of_roots]
            totals = [
                total.index_add(0, graphs.batch[low:high], rows)
                for total, rows in zip(totals, of_roots, strict=True)
            ]
        return torch.cat(totals, dim=1)

    def _read(
        self, graphs: GraphData, arcs: _Arcs, readout: torch.nn.Module, cut: RootedSubgraphs
    ) -> torch.Tensor:
        """Return the readout of each rooted subgraph, one row per root."""
        device = graphs.x.device
        x = graphs.x[as_tensor(cut.node.astype(np.int64), device)]
        codes = None
        if graphs.edge_attr is not None:
            codes = graphs.edge_attr[arcs.order[as_tensor(cut.arc, device)]]
        marks = (self.root_mark, n_marks(self.root_mark, self.hops))
        return read_out(readout, subgraph_tensors(cut, x, codes, marks, directed=self.directed))


def as_graph_data(data: GraphData | PyGData, *, edge_labels: bool = True) -> GraphData:
    """Return what the encoders need of a PyG ``Data`` or ``Batch``; ``edge_attr`` only if it is used."""
    if isinstance(data, GraphData):
        return data
    x, edge_index = getattr(data, "x", None), getattr(data, "edge_index", None)
    if x is None or edge_index is None:
        raise TwinWLError(
            f"a {type(data).__name__} without x or edge_index; give each node a row of features in x"
        )
    edge_attr, batch = None, getattr(data, "batch", None)
    if edge_labels and getattr(data, "edge_attr", None) is not None:
        edge_attr = as_tensor(edge_codes(data), x.device)
    n_graphs = int(getattr(data, "num_graphs", 1)) if batch is not None else 1
    if batch is None:
        batch = torch.zeros(len(x), dtype=torch.int64, device=x.device)
    return GraphData(x, edge_index, edge_attr, batch, n_graphs)


class _Arcs(NamedTuple):
    batch: GraphBatch
    order: torch.Tensor
    """Place in ``edge_index`` of each arc of the batch."""


def _sorted_arcs(graphs: GraphData, *, directed: bool) -> _Arcs:
    source, target = graphs.edge_index.cpu().numpy()
    n_nodes = len(graphs.x)
    order = np.lexsort((target, source))
    batch = GraphBatch.unchecked(
        indptr=pointer(np.bincount(source, minlength=n_nodes)),
        indices=target[order].astype(np.int32),
        graph_ptr=pointer(np.bincount(graphs.batch.cpu().numpy(), minlength=graphs.n_graphs)),
        node_labels=np.zeros(n_nodes, np.int32),
        node_vocabulary=(None,),
        edge_labels=None,
        edge_vocabulary=(),
        node_features=None,
        directed=directed,
    )
    return _Arcs(batch, as_tensor(order, graphs.x.device))
