"""The network of NTwin-GNN: an encoder, normalisation of its pooled sums, and the classifier of the paper.

`NTwinEncoder` computes one vector per graph, from rows, distinct rooted subgraphs, or PyG data.

`RootedSubgraphEncoder` is the definition of the paper taken literally: every (root, node) pair has a state of
its own, and any network can be the readout. It takes PyG data; the other two are tested against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from twinwl.arguments import FLAG, MAX_ITEMS, WIDTH, checked, integer, one_of, owners, pointer
from twinwl.arrays import Fields, Floats, Int64
from twinwl.compilation import kernel
from twinwl.errors import TwinWLError
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.from_pyg import edge_codes
from twinwl.neural import readouts
from twinwl.neural.quotient import ROOT_MARK, Hops, RootMark, hops_of_layers, n_marks, root_blocks
from twinwl.neural.readouts import GIN, AtDepths, BoundedReadout, SubgraphBatch, read_out
from twinwl.neural.rows import Differentiated, Pool, RowBatch, as_tensor, by_kernels, has_kernels, pool
from twinwl.neural.sparse import SparseLinear, SparseRows
from twinwl.neural.training import Examples, blocks_of, move_to, own_device
from twinwl.refinement.identities import RootedSubgraphs, rooted_sizes, rooted_subgraphs


class PyGData(Protocol):
    """The attributes of a ``torch_geometric.data.Data`` or ``Batch`` that are used."""

    x: Tensor
    edge_index: Tensor
    edge_attr: Tensor | None
    batch: Tensor | None


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

    x: Tensor
    edge_index: Tensor
    edge_attr: Tensor | None
    batch: Tensor
    n_graphs: int


class SubgraphPart(NamedTuple):
    """The distinct rooted subgraphs of one radius in a mini-batch, and how often each graph has them."""

    blocks: tuple[SubgraphBatch, ...]
    pool: Pool


class TwinInput(NamedTuple):
    """A mini-batch for both encoders: the rooted subgraphs, and the whole graphs where they are encoded.

    Rooted subgraphs are rows, or distinct subgraphs with one part for each different radius.
    """

    rooted: RowBatch | tuple[SubgraphPart, ...]
    whole: RowBatch | None = None


class NTwinEncoder(nn.Module):
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
        a module, or a class or function that makes one. The first four and every `BoundedReadout` are
        read at depth k in layer k. Other networks are read once for each different radius.
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
    >>> from twinwl.neural.quotient import RowExamples
    >>> pair = worked_example()
    >>> encoder = NTwinEncoder(n_features=2, layers=2, hidden=8)
    >>> graphs = RowExamples(pair, encoder.hops, "none", pair.node_vocabulary, None)
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
        readout: readouts.NetworkReadout = "gin",
        readout_width: int | None = None,
    ) -> None:
        super().__init__()
        self.n_features = checked("n_features", n_features, integer(1, MAX_ITEMS))
        self.hidden = checked("hidden", hidden, WIDTH)
        self.n_edge_labels = checked("n_edge_labels", n_edge_labels, integer(0, MAX_ITEMS))
        self.directed = checked("directed", directed, FLAG)
        subtree = checked("subtree", subtree, one_of("none", "gin"))
        self.hops = hops_of_layers(hops, layers)
        self.root_mark = root_mark
        self.n_marks = n_marks(root_mark, self.hops)
        readout = checked("readout", readout, *readouts.READOUT)
        arguments = readout_arguments(
            n_features, hidden, self.hops, root_mark, n_edge_labels, directed=directed
        )
        self.rooted = readouts.build_readout(readout, arguments)
        n_codes = arguments["n_codes"]
        self.subtree = GIN(n_features, hidden, layers, n_codes) if subtree == "gin" else None
        if isinstance(self.rooted, GIN):
            self.n_rooted_outputs = layers * hidden
        elif readout_width is None:
            networks = (network for _, network in self._networks_by_radius())
            self.n_rooted_outputs = sum(
                readouts.checked_width(network, arguments["n_features"], n_codes) for network in networks
            )
        else:
            self.n_rooted_outputs = checked("readout_width", readout_width, integer(1, MAX_ITEMS))
        self.n_outputs = self.n_rooted_outputs + (0 if self.subtree is None else layers * hidden)

    def forward(self, graphs: RowBatch | TwinInput | GraphData | PyGData, *, by_root: bool = False) -> Tensor:
        """Return one row per graph, shape (n_graphs, n_outputs).

        Parameters
        ----------
        graphs
            A mini-batch of rows or of distinct rooted subgraphs (`TwinInput` for ``subtree="gin"``), or
            graphs as PyG ``Data``: all give the same numbers, the first two faster. Of PyG data, ``x``,
            ``edge_index``, ``batch`` and, for ``n_edge_labels``, ``edge_attr`` are used: codes or one-hot
            rows, as `GraphBatch.from_pyg` reads them.
        by_root
            Of PyG data, return one row per node instead: what it adds to the row of its graph, as a root.

        Returns
        -------
        tensor
        """
        if isinstance(graphs, RowBatch | TwinInput):
            if checked("by_root", by_root, FLAG):
                raise TwinWLError("rows are sums over roots already; pass graphs", parameter="by_root")
            rooted, whole = graphs if isinstance(graphs, TwinInput) else (graphs, None)
            sums = self._row_sums(rooted) if isinstance(rooted, RowBatch) else self._subgraph_sums(rooted)
            if self.subtree is None:
                return sums
            if whole is None:
                raise TwinWLError("subtree='gin' needs rows of the whole graphs too; pass a TwinInput")
            return torch.cat([*self.subtree.pooled_rows(whole, self.n_features, 1), sums], dim=1)
        data = as_graph_data(graphs, edge_labels=bool(self.n_edge_labels))
        self._check(data)
        if not self.n_edge_labels:
            data = data._replace(edge_attr=None)
        sums = self.uncompressed()(data, by_root=by_root)
        if self.subtree is None:
            return sums
        row_of_node, n_rows = _pooling(data, by_root=by_root)
        edges, codes = messages(data.edge_index, data.edge_attr, directed=self.directed)
        network = AtDepths(self.subtree, tuple(range(1, len(self.hops) + 1)))
        return torch.cat([network(data.x, edges, row_of_node, codes, n_rows), sums], dim=1)

    def uncompressed(self) -> RootedSubgraphEncoder:
        """Return the rooted part as the paper defines it, with the same weights."""
        radii, networks = zip(*self._networks_by_radius())
        return RootedSubgraphEncoder(networks, radii, self.root_mark, directed=self.directed)

    def _networks_by_radius(self) -> list[tuple[int, nn.Module]]:
        """Return each different radius with the network to apply there.

        It is read at the depths of the layers that have this radius.
        """
        if not hasattr(self.rooted, "pooled_by_depth"):
            return [(radius, self.rooted) for radius in dict.fromkeys(self.hops)]
        depths: dict[int, tuple[int, ...]] = {}
        for depth, radius in enumerate(self.hops, start=1):
            depths[radius] = (*depths.get(radius, ()), depth)
        return [(radius, AtDepths(self.rooted, read)) for radius, read in depths.items()]

    def _row_sums(self, graphs: RowBatch) -> Tensor:
        if not isinstance(self.rooted, BoundedReadout):
            raise TwinWLError("this readout is not declared to be bounded by 1-WL, so it cannot run on rows")
        return torch.cat(self.rooted.pooled_rows(graphs, self.n_features, self.n_marks), dim=1)

    def _subgraph_sums(self, parts: tuple[SubgraphPart, ...]) -> Tensor:
        sums = []
        for (_, network), part in zip(self._networks_by_radius(), parts):
            if not part.blocks:  # graphs without nodes
                like = next(self.parameters(), torch.empty(0))
                return like.new_zeros(len(part.pool.ptr) - 1, self.n_rooted_outputs)
            blocks = [read_out(network, block) for block in part.blocks]
            sums.append(pool(torch.cat(blocks), *part.pool))
        return torch.cat(sums, dim=1)

    def _check(self, data: GraphData) -> None:
        shape = tuple(data.x.shape)
        if shape[1:] != (self.n_features,):
            raise TwinWLError(
                f"x has shape {shape}; this encoder expects {self.n_features} features per node"
            )
        if self.n_edge_labels and data.edge_index.shape[1]:
            if data.edge_attr is None:
                raise TwinWLError("this encoder expects edge labels, but the graphs have none; add edge_attr")
            low, high = map(int, data.edge_attr.aminmax())
            if low < -1 or high >= self.n_edge_labels:
                raise TwinWLError(
                    f"edge_attr: got codes from {low} to {high}, expected 0 to {self.n_edge_labels - 1} as "
                    f"n_edge_labels={self.n_edge_labels}, or -1 for a label without an embedding"
                )


def readout_arguments(
    n_features: int, hidden: int, hops: tuple[int, ...], root_mark: str, n_edge_labels: int, *, directed: bool
) -> Fields:
    """Return the arguments that the class or function of a readout may name."""
    marks = n_marks(root_mark, hops)
    return {
        "n_features": n_features + (marks if marks > 1 else 0),
        "hidden": hidden,
        "layers": len(hops),
        "hops": hops,
        "n_codes": max(1, n_edge_labels) * 2 if directed else n_edge_labels,
    }


class RootedSubgraphEncoder(nn.Module):
    """Apply networks of your own to the rooted subgraph of every node, and sum over the nodes.

    Parameters
    ----------
    readouts
        One network for each entry of ``hops``. Its ``forward`` is called with those fields of
        `twinwl.neural.readouts.SubgraphBatch` that its parameters name, and returns one row per subgraph.
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
        readouts: Sequence[nn.Module],
        hops: Sequence[int],
        root_mark: RootMark = "none",
        *,
        directed: bool = False,
    ) -> None:
        super().__init__()
        if len(readouts) != len(hops):
            raise TwinWLError(
                f"got {len(readouts)} readouts and {len(hops)} numbers of hops, expected as many of each"
            )
        self.readouts = nn.ModuleList(readouts)
        self.hops = tuple(hops)
        self.root_mark = checked("root_mark", root_mark, ROOT_MARK)
        self.directed = directed

    def forward(self, data: GraphData | PyGData, *, by_root: bool = False) -> Tensor:
        """Return the readouts' sums over the roots of each graph, concatenated: (n_graphs, total width).

        With ``by_root``, the readouts of each root instead: (n_nodes, total width).
        """
        graphs, widest = as_graph_data(data), max(self.hops)
        batch, order = _sorted_arcs(graphs, directed=self.directed)
        codes = None if graphs.edge_attr is None else graphs.edge_attr[as_tensor(order, graphs.x.device)]
        totals: list[Tensor] = []
        row_of_node, n_rows = _pooling(graphs, by_root=by_root)
        # The sum over roots is computed in blocks of roots, to bound memory.
        nodes, sizes = np.arange(batch.n_nodes), rooted_sizes(batch, widest)[-1].astype(np.int64)
        # Graphs without nodes get one pass too, to learn the widths.
        for low, high in root_blocks(batch, sizes, nodes) or [(0, 0)]:
            for place, (readout, radius) in enumerate(zip(self.readouts, self.hops)):
                cut = rooted_subgraphs(batch, radius, nodes[low:high])
                x = graphs.x[as_tensor(cut.node.astype(np.int64), graphs.x.device)]
                marks = (self.root_mark, n_marks(self.root_mark, self.hops))
                rows = read_out(readout, subgraph_batch(cut, x, codes, marks, directed=self.directed))
                if len(totals) == place:
                    totals.append(rows.new_zeros(n_rows, rows.shape[1]))
                totals[place] = totals[place].index_add(0, row_of_node[low:high], rows)
        return torch.cat(totals, dim=1)


def _pooling(data: GraphData, *, by_root: bool) -> tuple[Tensor, int]:
    """Return the row that each node is added to, and the number of rows."""
    if checked("by_root", by_root, FLAG):
        return torch.arange(len(data.x), device=data.x.device), len(data.x)
    return data.batch, data.n_graphs


def subgraph_batch(
    cut: RootedSubgraphs, x: Tensor, arc_codes: Tensor | None, marks: tuple[str, int], *, directed: bool
) -> SubgraphBatch:
    """Return rooted subgraphs as tensors, on the device of ``x``.

    Parameters
    ----------
    cut
        The subgraphs.
    x : tensor, shape (n_nodes, n_features)
        Features of each node of the subgraphs, without the mark.
    arc_codes : tensor of int64, or None
        Code of the label of each arc of the graphs that they are cut out of.
    marks
        The ``root_mark`` and the number of different marks.
    directed
        Whether edges are arcs.
    """

    def tensor(array: np.ndarray) -> Tensor:
        return as_tensor(array.astype(np.int64), x.device)

    distance, (root_mark, n_different) = tensor(cut.distance), marks
    if n_different > 1:
        mark = distance.clamp(max=1) if root_mark == "root" else distance
        x = torch.cat([x, nn.functional.one_hot(mark, n_different).to(x.dtype)], dim=1)
    source = owners(np.diff(cut.indptr))
    codes = None if arc_codes is None else arc_codes[tensor(cut.arc)]
    edge_index, codes = messages(tensor(np.stack([source, cut.indices])), codes, directed=directed)
    subgraph = tensor(owners(np.diff(cut.subgraph_ptr)))
    return SubgraphBatch(x, edge_index, subgraph, codes, tensor(cut.root), distance, len(cut.root))


def messages(edges: Tensor, codes: Tensor | None, *, directed: bool) -> tuple[Tensor, Tensor | None]:
    """Return sender and receiver of each message; in directed graphs, both ends of an arc send one."""
    if not directed:
        return edges, codes
    labels = edges.new_zeros(edges.shape[1]) if codes is None else codes
    from_tail = torch.where(labels < 0, -1, 2 * labels + 1)
    from_head = torch.where(labels < 0, -1, 2 * labels)
    return torch.cat([edges, edges.flip(0)], dim=1), torch.cat([from_tail, from_head])


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


def _sorted_arcs(graphs: GraphData, *, directed: bool) -> tuple[GraphBatch, Int64]:
    """Return the graphs without labels, and the place in ``edge_index`` of each of their arcs."""
    source, target = graphs.edge_index.cpu().numpy()
    n_nodes = len(graphs.x)
    order = np.lexsort((target, source))
    batch = GraphBatch.unchecked(
        indptr=pointer(np.bincount(source, minlength=n_nodes)),
        indices=target[order].astype(np.int32),
        graph_ptr=pointer(np.bincount(graphs.batch.cpu().numpy(), minlength=graphs.n_graphs)),
        node_labels=np.zeros(n_nodes, np.int32),
        directed=directed,
    )
    return batch, order


# ---------------------------------------------------------------------- the whole network


class PooledSumNorm(nn.BatchNorm1d):
    """Batch normalisation over graphs; a single graph, which has no spread, is scaled as at prediction."""

    def forward(self, sums: Tensor) -> Tensor:
        """Normalise each column."""
        if self.training and len(sums) > 1:
            return super().forward(sums)
        return self._scale(sums)

    def normalise_and_rectify(self, rows: Tensor, counts: Int64, added: Tensor) -> Tensor:
        """Return ``relu(self(rows + added))`` for rows that ``counts`` items share each.

        Parameters
        ----------
        rows : tensor, shape (n_rows, width)
        counts : array of int64, shape (n_rows,)
            How often each row occurs.
        added : tensor, shape (width,)
            Bias of the layer before. In training it changes the running mean only: it cancels in the rest,
            and its gradient is zero.

        Examples
        --------
        >>> norm, rows = PooledSumNorm(1), torch.tensor([[1.0], [2.0], [2.0]])
        >>> rectified = norm.normalise_and_rectify(rows[:2], np.array([1, 2]), torch.zeros(1))
        >>> rectified[[0, 1, 1]].allclose(norm(rows).relu())
        True
        """
        if not self.training or counts.sum() <= 1:
            return self._scale(rows + added).relu_()
        if not has_kernels(rows):
            return normalise(self, rows + added, counts).relu_()
        return by_kernels(partial(self._rectify_rows, counts), rows, added, self.weight, self.bias)[0]

    def _rectify_rows(
        self, counts: Int64, x: Floats, added: Floats, weight: Floats, bias: Floats
    ) -> Differentiated:
        assert self.running_mean is not None and self.running_var is not None  # noqa: PT018, S101
        running = self.running_mean.numpy(), self.running_var.numpy()
        out, *statistics = _rectify(x, added, weight, bias, counts, running, self.eps, self.momentum)

        def gradients(grad: Floats) -> tuple[Floats, ...]:
            of_rows, of_weight, of_bias = _rectify_backward(grad, x, out, counts, weight, *statistics)
            return of_rows, np.zeros_like(added), of_weight, of_bias

        return [out], gradients

    def _scale(self, sums: Tensor) -> Tensor:
        return functional.batch_norm(
            sums, self.running_mean, self.running_var, self.weight, self.bias, training=False, eps=self.eps
        )

    def recalibrate(self, sums: Tensor) -> None:
        """Use mean and variance of these rows at prediction, instead of the running averages."""
        if self.running_mean is not None and self.running_var is not None and len(sums) > 1:
            # In double precision, because sums are large and differences between graphs may be small. mps
            # has none.
            exact = sums.float() if sums.device.type == "mps" else sums.double()
            self.running_mean.copy_(exact.mean(dim=0))
            self.running_var.copy_(exact.var(dim=0))


def normalise(norm: nn.BatchNorm1d, rows: Tensor, counts: Int64) -> Tensor:
    """Return rows after batch normalisation in training; ``counts`` items share each of them."""
    weights = as_tensor(counts, rows.device).to(rows.dtype)
    n = weights.sum()
    mean = weights @ rows / n
    centred = rows - mean
    variance = weights @ centred.square() / n
    if norm.running_mean is not None and norm.running_var is not None:
        with torch.no_grad():
            n_batches = norm.num_batches_tracked.add_(1)  # type: ignore[union-attr]
            momentum = 1 / int(n_batches) if norm.momentum is None else norm.momentum
            norm.running_mean.lerp_(mean, momentum)
            norm.running_var.lerp_(variance * (n / (n - 1).clamp(min=1)), momentum)
    scale = (variance + norm.eps).rsqrt()
    return torch.addcmul(norm.bias, centred, scale * norm.weight) if norm.affine else centred * scale


@kernel(fastmath={"contract"})
def _rectify(
    x: Floats,
    added: Floats,
    weight: Floats,
    bias: Floats,
    counts: Int64,
    running: tuple[Floats, Floats],
    eps: float,
    momentum: float,
) -> tuple[Floats, Floats, Floats]:
    """Compute the result of `PooledSumNorm.normalise_and_rectify`, and update the running statistics.

    With ``c`` for the counts and ``N`` for their sum, column by column: ``mean = Σ c·x / N``, ``variance =
    Σ c·(x - mean)² / N`` and ``out = relu((x - mean) / sqrt(variance + eps) · weight + bias)``.

    Returns
    -------
    out : array, shape (n_rows, width)
    mean, inverse : arrays, shape (width,)
        For the gradient; ``inverse`` is ``1 / sqrt(variance + eps)``.
    """
    n, width = x.shape
    running_mean, running_var = running
    mean, variance = np.zeros(width), np.zeros(width)
    total = 0.0
    for row in range(n):
        count = float(counts[row])
        total += count
        for unit in range(width):
            mean[unit] += count * x[row, unit]
    mean /= total
    for row in range(n):
        count = float(counts[row])
        for unit in range(width):
            centred = x[row, unit] - mean[unit]
            variance[unit] += count * centred * centred
    for unit in range(width):
        unbiased = variance[unit] / (total - 1)
        running_mean[unit] += momentum * (mean[unit] + added[unit] - running_mean[unit])
        running_var[unit] += momentum * (unbiased - running_var[unit])
    inverse = (1 / np.sqrt(variance / total + eps)).astype(x.dtype)
    centre, zero = mean.astype(x.dtype), x.dtype.type(0)
    scale = inverse * weight
    out = np.empty_like(x)
    for row in range(n):
        for unit in range(width):
            out[row, unit] = max((x[row, unit] - centre[unit]) * scale[unit] + bias[unit], zero)
    return out, centre, inverse


@kernel(fastmath={"contract"})
def _rectify_backward(
    grad: Floats,
    x: Floats,
    out: Floats,
    counts: Int64,
    weight: Floats,
    mean: Floats,
    inverse: Floats,
) -> tuple[Floats, Floats, Floats]:
    """Return the gradients of rows, weight and bias of `_rectify` from that of its result.

    ``grad`` is that of each row, summed over the items that share it. ``passed`` is ``grad`` where the
    rectifier is above 0, else 0. With ``z`` for normalised rows and means over all items:
    ``of_rows = scale · (passed - count · (mean(passed) + z · mean(passed · z)))``. In the code the two means
    are ``centre`` and ``spread``.
    """
    n, width = x.shape
    by_spread, by_mean = np.zeros(width), np.zeros(width)
    total = 0.0
    zero = x.dtype.type(0)
    for row in range(n):
        total += counts[row]
        for unit in range(width):
            passed = grad[row, unit] if out[row, unit] > 0 else zero
            by_mean[unit] += passed
            by_spread[unit] += passed * ((x[row, unit] - mean[unit]) * inverse[unit])
    of_weight, of_bias = by_spread.astype(x.dtype), by_mean.astype(x.dtype)
    spread, centre = (by_spread / total).astype(x.dtype), (by_mean / total).astype(x.dtype)
    scale = weight * inverse
    of_rows = np.empty_like(x)
    for row in range(n):
        count = x.dtype.type(counts[row])
        for unit in range(width):
            passed = grad[row, unit] if out[row, unit] > 0 else zero
            normalised = (x[row, unit] - mean[unit]) * inverse[unit]
            of_rows[row, unit] = scale[unit] * (passed - count * (centre[unit] + normalised * spread[unit]))
    return of_rows, of_weight, of_bias


class NTwinInput(NamedTuple):
    """Some graphs, as input of `NTwinNetwork`.

    ``graphs`` is the input of the encoder; ``histograms`` are the rows of the subtree encoder, or None.
    """

    graphs: TwinInput | GraphData
    histograms: SparseRows | None = None


class NTwinNetwork(nn.Module):
    """Encoder and two-layer classifier.

    Parameters
    ----------
    encoder
        Computes the pooled sums.
    n_classes
        Number of logits.
    n_histogram_columns
        Width of the subtree histograms; 0 if there are none. They enter the classifier's first layer through
        a sparse product.
    hidden
        Width of the classifier's hidden layer.
    dropout, input_dropout
        Share of the classifier's hidden units, and of its inputs, dropped in training.
    normalize
        Normalise the pooled sums over the graphs of a batch; they grow with the square of a graph's size.
    """

    def __init__(
        self,
        encoder: NTwinEncoder,
        n_classes: int,
        *,
        n_histogram_columns: int = 0,
        hidden: int = 64,
        dropout: float = 0.5,
        input_dropout: float = 0.0,
        normalize: bool = True,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.norm = PooledSumNorm(encoder.n_outputs) if normalize else nn.Identity()
        self.first = nn.Linear(encoder.n_outputs, hidden)
        self.wide = SparseLinear(n_histogram_columns, hidden) if n_histogram_columns else None
        self.dropout = nn.Dropout(dropout)
        self.input_dropout = nn.Dropout(input_dropout)
        self.second = nn.Linear(hidden, n_classes)

    def forward(self, graphs: NTwinInput) -> Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        units = self.hidden_units(self.encoder(graphs.graphs), graphs.histograms)
        logits: Tensor = self.second(self.dropout(units.relu()))
        return logits

    def recalibrate(self, examples: Examples) -> None:
        """Measure mean and spread of the pooled sums on the training graphs, with the current weights.

        Running averages lag behind the weights, and sums over hundreds of pairs move fast: by more than a
        standard deviation within a few batches of TWINS, where accuracy then fell from 100 to 72 % for an
        epoch.
        """
        if not isinstance(self.norm, PooledSumNorm):
            return
        device = own_device(self)
        was_training = self.encoder.training
        self.encoder.eval()  # as at prediction: an own readout may have dropout
        with torch.no_grad():
            parts = [
                self.encoder(move_to(examples.take(rows), device).graphs)  # type: ignore[attr-defined]
                for rows in blocks_of(examples)
            ]
        self.encoder.train(was_training)
        self.norm.recalibrate(torch.cat(parts))

    def hidden_units(self, sums: Tensor, histograms: SparseRows | None) -> Tensor:
        """Return the classifier's hidden units before the rectifier, from the two encoders' output."""
        units: Tensor = self.first(self.input_dropout(self.norm(sums)))
        if self.wide is not None and histograms is not None:
            units = units + self.wide(self._drop_entries(histograms))
        return units

    def _drop_entries(self, rows: SparseRows) -> SparseRows:
        """Drop entries of sparse rows, as dropout does with units."""
        share = self.input_dropout.p
        if not self.training or not share:
            return rows
        values = functional.dropout(torch.from_numpy(rows.values), share).numpy()
        return SparseRows(rows.indptr, rows.indices, values)
