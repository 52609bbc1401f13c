"""Large batches in parts: prediction takes a thousand graphs at once, too many for some networks.

A check, before training, that dense matrices of the graphs fit into memory.

Mini-batches of graphs sliced straight from CSR arrays.

Graphs as the input of a graph neural network: node columns, arcs, and the graph of each node.

Graphs as levels of colours: a network computes one row for all items that it cannot tell apart.

Input of a network for each node: its label as one-hot columns, its continuous features standardised.

Graphs as the disjoint union of their rooted subgraphs, for networks that run inside each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from twinwl.arrays import Float64, Int64, Ints, ranges
from twinwl.errors import TwinWLError
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.labels import Label, recode
from twinwl.memory import check_fits
from twinwl.neural.quotient import check_memory
from twinwl.neural.rows import BatchLevels, ColourLevels, distinct_rows
from twinwl.refinement.rooted_subgraphs import rooted_subgraphs

Part_co = TypeVar("Part_co", covariant=True)


class PartedExamples(Generic[Part_co]):
    """Examples whose batches come in one part, or in several if one would be too large.

    Parameters
    ----------
    cost_of_graph : array, shape (n_graphs,)
        Cost of each graph.
    budget
        Largest cost of a part; a graph that costs more is a part of its own.
    padded
        Whether every graph of a part costs as much as the costliest.
    """

    def __init__(self, cost_of_graph: Ints | Float64, budget: float, *, padded: bool = False) -> None:
        self.cost_of_graph = cost_of_graph
        self.budget = budget
        self.padded = padded

    def __len__(self) -> int:
        return len(self.cost_of_graph)

    def part(self, rows: Int64) -> Part_co:
        """Return the network's input for these graphs, regardless of their cost."""
        raise NotImplementedError

    def take(self, rows: Int64) -> tuple[Part_co, ...]:
        """Return these graphs in parts, in order."""
        rows = np.asarray(rows, np.int64)
        bounds = _bounds(self.cost_of_graph[rows], self.budget, padded=self.padded)
        return tuple(self.part(rows[low:high]) for low, high in pairwise(bounds))


class PartwiseNetwork(torch.nn.Module):
    """Run a network on each part and join the logits."""

    def __init__(self, network: torch.nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, parts: tuple[object, ...]) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        return torch.cat([self.network(part) for part in parts])


def _bounds(costs: Ints | Float64, budget: float, *, padded: bool) -> list[int]:
    """Cut a row of costs into consecutive parts.

    >>> _bounds(np.array([3, 3, 9, 1]), 6, padded=False)
    [0, 2, 3, 4]
    >>> _bounds(np.array([1, 1, 3, 1]), 6, padded=True)
    [0, 2, 4]
    """
    bounds = [0]
    total = dearest = 0.0
    for place, cost in enumerate(costs.tolist()):
        dearest = max(dearest, cost)
        total = dearest * (place + 1 - bounds[-1]) if padded else total + cost
        if total > budget and place > bounds[-1]:
            bounds.append(place)
            total = dearest = cost
    return [*bounds, len(costs)]


_BYTES_OF_FLOAT = 4


def check_dense(
    batch: GraphBatch, batch_size: int, n_matrices: int, name: str, max_memory: int | None
) -> None:
    """Refuse graphs that are too large for dense matrices.

    Parameters
    ----------
    batch
        The graphs.
    batch_size
        Number of graphs in a training batch.
    n_matrices
        Number of n × n matrices that a graph needs at most in one training step.
    name
        Name of the method, for the message.
    max_memory
        Bytes allowed; None allows half of the machine's memory.
    """
    if not len(batch):
        return
    sizes = batch.nodes_per_graph
    largest = int(sizes.argmax())
    count = min(batch_size, len(batch))
    needed = int(sizes[largest]) ** 2 * count * n_matrices * _BYTES_OF_FLOAT
    others = "" if count == 1 else f" in a batch of {count}"
    check_fits(
        needed,
        max_memory,
        f"graph {largest} has {int(sizes[largest]):,} nodes: {name} keeps up to {n_matrices} dense matrices "
        f"of its size{others}, which",
        "leave out the largest graphs, lower batch_size or hidden, or raise max_memory",
    )


class GraphSlice(NamedTuple):
    """Some graphs, their nodes numbered anew from 0.

    Attributes
    ----------
    nodes : array of int64, shape (n,)
        Original number of each node.
    edge_index : array of int64, shape (2, n_arcs)
        Source and target of each arc, in new numbers.
    graph_of_node : array of int64, shape (n,)
        Place of each node's graph in the slice.
    shift : array of int64, shape (n_graphs,)
        What was added to the node numbers of each graph.
    """

    nodes: Int64
    edge_index: Int64
    graph_of_node: Int64
    shift: Int64


class GraphSlicer:
    """Take graphs out of one large CSR structure, whatever its nodes stand for.

    Parameters
    ----------
    graph_ptr : array, shape (n_graphs + 1,)
        Node range of each graph.
    indptr : array, shape (n_nodes + 1,)
    indices : array, shape (n_arcs,)
        Neighbours, numbered over all graphs.

    Examples
    --------
    >>> slicer = GraphSlicer(np.array([0, 2, 4]), np.array([0, 1, 2, 3, 4]), np.array([1, 0, 3, 2]))
    >>> part = slicer.take(np.array([1]))
    >>> part.nodes.tolist(), part.edge_index.tolist()
    ([2, 3], [[0, 1], [1, 0]])
    """

    def __init__(self, graph_ptr: Int64, indptr: Int64, indices: Ints) -> None:
        self.graph_ptr = graph_ptr
        self.arc_ptr = indptr[graph_ptr]
        sources = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        self.arcs = np.stack([sources, indices.astype(np.int64)])

    def __len__(self) -> int:
        return len(self.graph_ptr) - 1

    def take(self, rows: Int64) -> GraphSlice:
        """Return these graphs, in this order."""
        starts, sizes = self.graph_ptr[rows], self.graph_ptr[rows + 1] - self.graph_ptr[rows]
        n_arcs = self.arc_ptr[rows + 1] - self.arc_ptr[rows]
        shift = np.cumsum(sizes) - sizes - starts
        arcs = self.arcs[:, ranges(self.arc_ptr[rows], n_arcs)] + np.repeat(shift, n_arcs)
        return GraphSlice(ranges(starts, sizes), arcs, np.repeat(np.arange(len(rows)), sizes), shift)


# Nodes plus arcs of a part: a few hundred megabytes with 64 columns.
_BUDGET = 1 << 20


class GraphInput(NamedTuple):
    """Some graphs as tensors.

    Attributes
    ----------
    x : tensor of float, shape (n_nodes, n_columns)
    edge_index : tensor of int64, shape (2, n_arcs)
        Each edge occurs in both directions.
    graph_of_node : tensor of int64, shape (n_nodes,)
        Ascending, as PyTorch Geometric's ``batch``.
    n_graphs : int
        Cannot be derived from ``graph_of_node``, because a graph may have no nodes.
    """

    x: torch.Tensor
    edge_index: torch.Tensor
    graph_of_node: torch.Tensor
    n_graphs: int


class GraphExamples(PartedExamples[GraphInput]):
    """A batch of graphs as training examples, sliced from its CSR arrays.

    Parameters
    ----------
    batch
        The graphs.
    columns : array of float32, shape (n_nodes, n_columns)
        Input of the network for each node.

    Examples
    --------
    >>> import numpy as np
    >>> from twinwl import GraphBatch
    >>> batch = GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2)]])
    >>> examples = GraphExamples(batch, np.ones((5, 1), np.float32))
    >>> examples.part(np.array([1])).edge_index
    tensor([[0, 1, 1, 2],
            [1, 0, 2, 1]])
    """

    def __init__(self, batch: GraphBatch, columns: NDArray[np.float32]) -> None:
        sizes = batch.nodes_per_graph
        arcs = batch.indptr[batch.graph_ptr[1:]] - batch.indptr[batch.graph_ptr[:-1]]
        super().__init__(sizes + arcs, _BUDGET)
        self.slicer = GraphSlicer(batch.graph_ptr, batch.indptr, batch.indices)
        self.columns = torch.from_numpy(columns)

    def part(self, rows: Int64) -> GraphInput:
        """Return these graphs as tensors."""
        piece = self.slicer.take(rows)
        return GraphInput(
            self.columns[torch.from_numpy(piece.nodes)],
            torch.from_numpy(piece.edge_index),
            torch.from_numpy(piece.graph_of_node),
            len(rows),
        )


# Items of a part plus the messages between them.
_LEVEL_BUDGET = 1 << 20


class LevelInput(NamedTuple):
    """Some graphs as rows.

    Attributes
    ----------
    x : tensor of float, shape (n_rows, n_columns)
        Input of each row of level 0, whose items are the nodes.
    levels : BatchLevels
    """

    x: torch.Tensor
    levels: BatchLevels


class LevelExamples(PartedExamples[LevelInput]):
    """A batch of graphs as training examples; whoever makes it adds levels to ``levels``.

    Parameters
    ----------
    batch
        The graphs.
    columns : array of float32, shape (n_nodes, n_columns)
        Input of the network for each node. RowLayer 0 has a row for each that is distinct.
    cost_of_graph : array, shape (n_graphs,), optional
        Items and messages of each graph; by default nodes and arcs.
    padded
        Whether every graph of a part costs as much as the costliest.

    Examples
    --------
    >>> import numpy as np
    >>> from twinwl import GraphBatch
    >>> batch = GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2)]])
    >>> examples = LevelExamples(batch, np.ones((5, 1), np.float32))
    >>> add_rounds(examples.levels, batch.graph_ptr, batch.indptr, batch.indices, 1)
    1
    >>> part = examples.part(np.array([1]))
    >>> part.x.tolist(), part.levels.level(1).counts.tolist()
    ([[1.0]], [2, 1])
    """

    def __init__(
        self,
        batch: GraphBatch,
        columns: NDArray[np.float32],
        cost_of_graph: Int64 | None = None,
        *,
        padded: bool = False,
    ) -> None:
        arcs = batch.indptr[batch.graph_ptr[1:]] - batch.indptr[batch.graph_ptr[:-1]]
        costs = batch.nodes_per_graph + arcs if cost_of_graph is None else cost_of_graph
        super().__init__(costs, _LEVEL_BUDGET, padded=padded)
        codes, first = distinct_rows(columns)
        self.table = torch.from_numpy(columns[first])
        self.levels = ColourLevels()
        self.levels.add(batch.graph_ptr, codes)

    def part(self, rows: Int64) -> LevelInput:
        """Return these graphs as rows."""
        levels = self.levels.take(rows)
        return LevelInput(self.table[torch.from_numpy(levels.marks(0))], levels)


def add_rounds(
    levels: ColourLevels, graph_ptr: Int64, indptr: Int64, indices: Ints, rounds: int, first: int = 0
) -> int:
    """Add levels of message passing between the items of a level, and return the number of the last."""
    for _ in range(rounds):
        first = levels.add(graph_ptr, own=(first, None), messages=(first, indptr, indices))
    return first


@dataclass(frozen=True, eq=False)
class NodeInputs:
    """One-hot labels and standardised features, fitted on the training graphs.

    Attributes
    ----------
    labels : tuple of labels
        One column each; a node with any other label has zeros there.
    centre, scale : arrays of float64, shape (n_continuous,)
        Mean and standard deviation of each continuous feature.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> inputs = NodeInputs.fitted(GraphBatch.from_edges([[(0, 1)]], node_labels=[["C", "O"]]))
    >>> inputs.rows(GraphBatch.from_edges([[(0, 1)]], node_labels=[["O", "N"]]))
    array([[0., 1.],
           [0., 0.]], dtype=float32)
    """

    labels: tuple[Label, ...]
    centre: Float64
    scale: Float64

    @classmethod
    def fitted(cls, batch: GraphBatch, extra: Float64 | None = None) -> NodeInputs:
        """Fit labels and scales to the training graphs.

        Parameters
        ----------
        batch
            The graphs.
        extra : array of float64, shape (n_nodes, n_extra), optional
            Further continuous features of the nodes.
        """
        _check_undirected(batch)
        used = np.flatnonzero(np.bincount(batch.node_labels, minlength=len(batch.node_vocabulary)))
        values = _continuous(batch, extra)
        scale = values.std(axis=0) if len(values) else np.ones(values.shape[1])
        return cls(
            labels=tuple(batch.node_vocabulary[code] for code in used.tolist()),
            centre=values.mean(axis=0) if len(values) else np.zeros(values.shape[1]),
            scale=np.where(scale > 0, scale, 1.0),  # a constant column: do not divide by 0
        )

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.labels) + len(self.centre)

    def rows(self, batch: GraphBatch, extra: Float64 | None = None) -> NDArray[np.float32]:
        """Return the columns of every node, shape (n_nodes, n_columns)."""
        _check_undirected(batch)
        if not batch.n_nodes:
            return np.empty((0, self.n_columns), np.float32)
        values = _continuous(batch, extra)
        if values.shape[1] != len(self.centre):
            n_extra = 0 if extra is None else extra.shape[1]
            raise TwinWLError(
                f"the nodes have {values.shape[1] - n_extra} continuous features, but the network was "
                f"trained with {len(self.centre) - n_extra}; give it the same columns"
            )
        places = recode(batch.node_labels, batch.node_vocabulary, self.labels)
        # The last row is zero, and the place of an unseen label is -1.
        one_hot = np.eye(len(self.labels) + 1, len(self.labels), dtype=np.float32)[places]
        if not len(self.centre):
            return one_hot
        scaled = (values - self.centre) / self.scale
        return np.hstack([one_hot, scaled.astype(np.float32)])


def _continuous(batch: GraphBatch, extra: Float64 | None) -> Float64:
    parts = [part for part in (batch.node_features, extra) if part is not None]
    return np.hstack(parts) if parts else np.empty((batch.n_nodes, 0))


def _check_undirected(batch: GraphBatch) -> None:
    if batch.directed:
        raise TwinWLError(
            "the graphs are directed, but the method is defined for undirected graphs; symmetrise them"
        )


# (root, node) pairs of a part plus the arcs between them.
_ROOTED_BUDGET = 1 << 20


class RootedInput(NamedTuple):
    """Some graphs, each node with its rooted subgraph; a *pair* is a node inside the subgraph of a root.

    Attributes
    ----------
    x : tensor of float, shape (n_nodes, n_columns)
    node_of_pair, root_of_pair : tensors of int64, shape (n_pairs,)
    distance : tensor of int64, shape (n_pairs,)
        Distance of the node from the root.
    edge_index : tensor of int64, shape (2, n_arcs)
        Arcs between pairs with the same root.
    graph_of_node : tensor of int64, shape (n_nodes,)
    n_graphs : int
    """

    x: torch.Tensor
    node_of_pair: torch.Tensor
    root_of_pair: torch.Tensor
    distance: torch.Tensor
    edge_index: torch.Tensor
    graph_of_node: torch.Tensor
    n_graphs: int


class RootedExamples(PartedExamples[RootedInput]):
    """A batch of graphs as training examples, with the rooted subgraph of every node.

    Parameters
    ----------
    batch
        The graphs.
    columns : array of float32, shape (n_nodes, n_columns)
    hops
        Radius of the rooted subgraphs.
    max_memory
        Limit in bytes; None allows half of the machine's memory.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> path = GraphBatch.from_edges([[(0, 1), (1, 2)]])
    >>> part = RootedExamples(path, np.ones((3, 1), np.float32), hops=1).part(np.array([0]))
    >>> part.root_of_pair.tolist(), part.distance.tolist()
    ([0, 0, 1, 1, 1, 2, 2], [0, 1, 1, 0, 1, 1, 0])
    """

    def __init__(
        self, batch: GraphBatch, columns: NDArray[np.float32], hops: int, max_memory: int | None = None
    ) -> None:
        check_memory(batch, (hops,), max_memory)
        cut = rooted_subgraphs(batch, hops)
        pair_ptr = cut.subgraph_ptr[batch.graph_ptr]
        arcs = cut.indptr[pair_ptr[1:]] - cut.indptr[pair_ptr[:-1]]
        super().__init__(np.diff(pair_ptr) + arcs, _ROOTED_BUDGET)
        self.nodes = GraphSlicer(
            batch.graph_ptr, batch.indptr[:1].repeat(batch.n_nodes + 1), batch.indices[:0]
        )
        self.pairs = GraphSlicer(pair_ptr, cut.indptr, cut.indices)
        self.node_of_pair = cut.node.astype(np.int64)
        self.root_of_pair = np.repeat(np.arange(batch.n_nodes), np.diff(cut.subgraph_ptr))
        self.distance = cut.distance.astype(np.int64)
        self.columns = torch.from_numpy(columns)

    def part(self, rows: Int64) -> RootedInput:
        """Return these graphs as tensors."""
        nodes, pairs = self.nodes.take(rows), self.pairs.take(rows)
        shift = nodes.shift[pairs.graph_of_node]
        return RootedInput(
            self.columns[torch.from_numpy(nodes.nodes)],
            torch.from_numpy(self.node_of_pair[pairs.nodes] + shift),
            torch.from_numpy(self.root_of_pair[pairs.nodes] + shift),
            torch.from_numpy(self.distance[pairs.nodes]),
            torch.from_numpy(pairs.edge_index),
            torch.from_numpy(nodes.graph_of_node),
            len(rows),
        )
