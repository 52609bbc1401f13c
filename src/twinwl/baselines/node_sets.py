"""Sets of two and three nodes with their local neighbourhoods: the graphs that k-GNNs run on.

1-2-3-GNN: message passing between nodes, then pairs, then triples of nodes.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Unpack

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import elu, linear

from twinwl.arguments import FLAG, MEMORY
from twinwl.arrays import Int32, Int64
from twinwl.baselines.batching import LevelExamples, LevelInput, PartedExamples, add_rounds
from twinwl.baselines.gnn import CommonOptions, Convolution, GNNClassifier, ReadoutHead
from twinwl.compilation import kernel
from twinwl.graphs.batch import GraphBatch
from twinwl.memory import check_fits
from twinwl.models.base import Constraints
from twinwl.neural.rows import BatchLevels, aggregate, pool

_BYTES_OF_INTEGER, _BYTES_OF_FLOAT = 8, 4


class NodeSets(NamedTuple):
    """All k-sets of the graphs of a batch, and which of them are local neighbours.

    Two sets are neighbours if they share all but one node, and *local* neighbours if the two nodes that they
    do not share are adjacent.

    Attributes
    ----------
    set_ptr : array of int64, shape (n_graphs + 1,)
        Range of each graph's sets.
    subsets : array of int64, shape (n_sets, k)
        The (k - 1)-sets inside each set: nodes of the batch for pairs, pairs for triples.
    n_edges : array of int64, shape (n_sets,)
        Number of edges between nodes of the set: its isomorphism type, without labels.
    indptr : array of int64, shape (n_sets + 1,)
    indices : array of int64, shape (n_arcs,)
        Local neighbours of each set.
    """

    set_ptr: Int64
    subsets: Int64
    n_edges: Int64
    indptr: Int64
    indices: Int64


def node_pairs(batch: GraphBatch) -> NodeSets:
    """Return all pairs of nodes.

    >>> from twinwl import GraphBatch
    >>> pairs = node_pairs(GraphBatch.from_edges([[(0, 1), (1, 2)]]))
    >>> pairs.subsets.tolist(), pairs.n_edges.tolist()
    ([[0, 1], [0, 2], [1, 2]], [1, 0, 1])
    """
    set_ptr = np.concatenate([[0], np.cumsum(_pairs(batch.nodes_per_graph))])
    return NodeSets(set_ptr, *_make_pairs(batch.indptr, batch.indices, batch.graph_ptr, set_ptr))


def node_triples(batch: GraphBatch, *, connected: bool = True) -> NodeSets:
    """Return all triples of nodes, or only those that are connected.

    >>> from twinwl import GraphBatch
    >>> path = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3)]])
    >>> triples = node_triples(path)
    >>> triples.n_edges.tolist(), triples.indptr.tolist(), triples.indices.tolist()
    ([2, 2], [0, 0, 0], [])
    """
    counts = _count_connected(batch.indptr, batch.indices, batch.graph_ptr)
    if not connected:
        counts = _triples(batch.nodes_per_graph)
    set_ptr = np.concatenate([[0], np.cumsum(counts)])
    pair_ptr = np.concatenate([[0], np.cumsum(_pairs(batch.nodes_per_graph))])
    return NodeSets(
        set_ptr,
        *_make_triples(batch.indptr, batch.indices, batch.graph_ptr, set_ptr, pair_ptr, connected),
    )


def count_node_sets(batch: GraphBatch, *, connected: bool = True) -> Int64:
    """Return the number of pairs and triples of each graph, shape (n_graphs, 2), without making them.

    >>> from twinwl import GraphBatch
    >>> count_node_sets(GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3)]])).tolist()
    [[6, 2]]
    """
    sizes = batch.nodes_per_graph
    triples = _count_connected(batch.indptr, batch.indices, batch.graph_ptr) if connected else _triples(sizes)
    return np.stack([_pairs(sizes), triples], axis=1)


def check_sets(
    batch: GraphBatch, hidden: int, layers: int, *, connected: bool, max_memory: int | None
) -> None:
    """Refuse graphs whose pairs and triples would not fit into memory.

    Parameters
    ----------
    batch
        The graphs.
    hidden, layers
        Width of a state, and number of layers of each level.
    connected
        Whether only connected triples count.
    max_memory
        Bytes allowed; None allows half of the machine's memory.
    """
    if not len(batch):
        return
    counts = count_node_sets(batch, connected=connected)
    of_graph = counts.sum(axis=1)
    largest = int(of_graph.argmax())
    degree = 2 * batch.n_edges / max(1, batch.n_nodes)
    # Each of a set's k nodes moves along its edges; forward and backward, each layer keeps two states per
    # set.
    indices = int(((2 * counts[:, 0] + 3 * counts[:, 1]) * degree).sum() + 6 * of_graph.sum())
    states = int(of_graph[largest]) * hidden * 4 * layers
    check_fits(
        indices * _BYTES_OF_INTEGER + states * _BYTES_OF_FLOAT,
        max_memory,
        f"1-2-3-GNN on {len(batch)} graphs with {int(of_graph.sum()):,} pairs and triples of nodes (graph "
        f"{largest} alone, of {int(batch.nodes_per_graph[largest]):,} nodes, has {int(of_graph[largest]):,})",
        "leave out the largest graphs, use connected=True, or raise max_memory",
    )


def _pairs(n: Int64) -> Int64:
    return n * (n - 1) // 2


def _triples(n: Int64) -> Int64:
    return n * (n - 1) * (n - 2) // 6


@kernel
def _rank(u: int, v: int, n: int) -> int:
    """Return the place of the pair u, v among the pairs of 0..n-1 in lexicographic order."""
    if u > v:
        u, v = v, u
    return u * (2 * n - u - 1) // 2 + v - u - 1


@kernel
def _adjacent(indptr: Int64, indices: Int32, u: int, v: int) -> bool:
    low, high = indptr[u], indptr[u + 1]
    place = low + np.searchsorted(indices[low:high], v)
    return place < high and indices[place] == v


@kernel
def _make_pairs(
    indptr: Int64, indices: Int32, graph_ptr: Int64, set_ptr: Int64
) -> tuple[Int64, Int64, Int64, Int64]:
    n_sets = set_ptr[-1]
    subsets = np.empty((n_sets, 2), np.int64)
    n_edges = np.zeros(n_sets, np.int64)
    set_indptr = np.zeros(n_sets + 1, np.int64)
    for graph in range(len(graph_ptr) - 1):
        place = set_ptr[graph]
        for u in range(graph_ptr[graph], graph_ptr[graph + 1]):
            for v in range(u + 1, graph_ptr[graph + 1]):
                subsets[place, 0], subsets[place, 1] = u, v
                n_edges[place] = _adjacent(indptr, indices, u, v)
                # Each node moves to any of its neighbours but the other node.
                moves = indptr[u + 1] - indptr[u] + indptr[v + 1] - indptr[v] - 2 * n_edges[place]
                set_indptr[place + 1] = set_indptr[place] + moves
                place += 1
    set_indices = np.empty(set_indptr[-1], np.int64)
    written = 0
    for graph in range(len(graph_ptr) - 1):
        start, n = graph_ptr[graph], graph_ptr[graph + 1] - graph_ptr[graph]
        for place in range(set_ptr[graph], set_ptr[graph + 1]):
            for moved in range(2):
                node, stays = subsets[place, moved], subsets[place, 1 - moved]
                for arc in range(indptr[node], indptr[node + 1]):
                    if indices[arc] != stays:
                        rank = _rank(indices[arc] - start, stays - start, n)
                        set_indices[written] = set_ptr[graph] + rank
                        written += 1
    return subsets, n_edges, set_indptr, set_indices


@kernel
def _count_connected(indptr: Int64, indices: Int32, graph_ptr: Int64) -> Int64:
    """Count paths of three nodes by their middle node, and triangles by their smallest."""
    counts = np.zeros(len(graph_ptr) - 1, np.int64)
    for graph in range(len(graph_ptr) - 1):
        for middle in range(graph_ptr[graph], graph_ptr[graph + 1]):
            for arc in range(indptr[middle], indptr[middle + 1]):
                for other in range(arc + 1, indptr[middle + 1]):
                    closed = _adjacent(indptr, indices, indices[arc], indices[other])
                    counts[graph] += not closed or middle < indices[arc]
    return counts


@kernel
def _triple_key(a: int, b: int, c: int, n: int) -> int:
    """Return a number for the triple of 0..n-1, independent of the order of its nodes."""
    low, high = min(a, b, c), max(a, b, c)
    return (low * n + a + b + c - low - high) * n + high


@kernel
def _keys_of_graph(indptr: Int64, indices: Int32, start: int, n: int, count: int, connected: bool) -> Int64:
    """Return the sorted numbers of a graph's triples."""
    keys = np.empty(count, np.int64)
    found = 0
    if not connected:
        for a in range(n):
            for b in range(a + 1, n):
                for c in range(b + 1, n):
                    keys[found] = _triple_key(a, b, c, n)
                    found += 1
        return keys
    for middle in range(start, start + n):
        for arc in range(indptr[middle], indptr[middle + 1]):
            for other in range(arc + 1, indptr[middle + 1]):
                closed = _adjacent(indptr, indices, indices[arc], indices[other])
                if not closed or middle < indices[arc]:
                    keys[found] = _triple_key(middle - start, indices[arc] - start, indices[other] - start, n)
                    found += 1
    keys.sort()
    return keys


@kernel
def _local_neighbours(
    indptr: Int64, indices: Int32, start: int, n: int, keys: Int64, first_set: int, out: Int64
) -> tuple[Int64, int]:
    """Write the local neighbours of a graph's triples to ``out`` as far as there is room, and count all."""
    counts = np.zeros(len(keys), np.int64)
    total = 0
    for place in range(len(keys)):
        key = keys[place]
        nodes = (key // (n * n), key // n % n, key % n)
        for moved in range(3):
            node, stays, remains = nodes[moved], nodes[(moved + 1) % 3], nodes[(moved + 2) % 3]
            for arc in range(indptr[start + node], indptr[start + node + 1]):
                new = indices[arc] - start
                if new in (stays, remains):
                    continue
                wanted = _triple_key(new, stays, remains, n)
                found = np.searchsorted(keys, wanted)
                if found < len(keys) and keys[found] == wanted:
                    if total < len(out):
                        out[total] = first_set + found
                    total += 1
                    counts[place] += 1
    return counts, total


@kernel
def _make_triples(
    indptr: Int64, indices: Int32, graph_ptr: Int64, set_ptr: Int64, pair_ptr: Int64, connected: bool
) -> tuple[Int64, Int64, Int64, Int64]:
    n_sets = set_ptr[-1]
    subsets = np.empty((n_sets, 3), np.int64)
    n_edges = np.zeros(n_sets, np.int64)
    set_indptr = np.zeros(n_sets + 1, np.int64)
    set_indices = np.empty(0, np.int64)
    nothing = np.empty(0, np.int64)
    # The first pass counts, the second writes: neighbours that are not connected are not among the sets.
    for writes in range(2):
        for graph in range(len(graph_ptr) - 1):
            start, n = graph_ptr[graph], graph_ptr[graph + 1] - graph_ptr[graph]
            first, last = set_ptr[graph], set_ptr[graph + 1]
            keys = _keys_of_graph(indptr, indices, start, n, last - first, connected)
            out = set_indices[set_indptr[first] : set_indptr[last]] if writes else nothing
            counts, _ = _local_neighbours(indptr, indices, start, n, keys, first, out)
            if writes:
                continue
            for place in range(last - first):
                set_indptr[first + place + 1] = set_indptr[first + place] + counts[place]
                key = keys[place]
                a, b, c = key // (n * n), key // n % n, key % n
                for column, (u, v) in enumerate(((a, b), (a, c), (b, c))):
                    subsets[first + place, column] = pair_ptr[graph] + _rank(u, v, n)
                    n_edges[first + place] += _adjacent(indptr, indices, start + u, start + v)
        if not writes:
            set_indices = np.empty(set_indptr[-1], np.int64)
    return subsets, n_edges, set_indptr, set_indices


class OneTwoThreeGNNClassifier(GNNClassifier):
    r"""Classify graphs with a hierarchical 1-2-3-GNN (Morris et al., 2019), on local neighbourhoods.

    A layer on k-sets is :math:`f_k'(s) = \sigma(f_k(s) W_1 + \sum_{t \in N_L(s)} f_k(t) W_2)`, where
    :math:`N_L(s)` are the sets that differ from s in one node, the old and the new node being adjacent. The
    first state of a set is :math:`\sigma([f^{iso}(s), \sum_{u \subset s} f_{k-1}(u)] W_3)`: its isomorphism
    type and the last states of the (k-1)-sets in it. The type is the number of edges; labels come from the
    nodes. The readout is the sum over nodes, pairs and triples.

    Parameters
    ----------
    connected : bool, default=True
        Use only connected triples, as in the authors' experiments; all pairs are used.
    max_memory : int or None
        Limit for the sets, in bytes; None allows half of the machine's memory.
    layers, hidden, dropout, random_state, …
        As for `twinwl.baselines.gnn.GNNClassifier`; nodes, pairs and triples have ``layers``
        layers each.

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> hexagon = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]
    >>> triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    >>> graphs = GraphBatch.from_edges([hexagon, triangles] * 10)
    >>> model = OneTwoThreeGNNClassifier(layers=2, hidden=8, max_epochs=5, random_state=0)
    >>> model = model.fit(graphs, ["one", "two"] * 10)
    >>> model.classes_.tolist(), model.predict_proba(graphs[:2]).shape
    (['one', 'two'], (2, 2))
    """

    _constraints: ClassVar[Constraints] = {
        "connected": (FLAG,),
        "max_memory": MEMORY,
    }

    def __init__(
        self, connected: bool = True, max_memory: int | None = None, **common: Unpack[CommonOptions]
    ) -> None:
        super().__init__(**common)
        self.connected = connected
        self.max_memory = max_memory

    def _parted_examples(self, batch: GraphBatch, columns: NDArray[np.float32]) -> PartedExamples[object]:
        check_sets(batch, self.hidden, self.layers, connected=self.connected, max_memory=self.max_memory)
        return set_examples(batch, columns, self.layers, connected=self.connected)

    def _network(self, n_columns: int, n_classes: int) -> torch.nn.Module:
        return OneTwoThreeNetwork(n_columns, self.hidden, self.layers, n_classes, self.dropout)


def set_examples(
    batch: GraphBatch, columns: NDArray[np.float32], layers: int, *, connected: bool
) -> LevelExamples:
    """Return graphs as rows: inputs and layers of the nodes, then those of pairs, then those of triples."""
    sets = [node_pairs(batch), node_triples(batch, connected=connected)]
    costs = [np.diff(each.set_ptr) + np.diff(each.indptr[each.set_ptr]) for each in sets]
    examples = LevelExamples(batch, columns, np.sum(costs, axis=0))
    levels = examples.levels
    last = add_rounds(levels, batch.graph_ptr, batch.indptr, batch.indices, layers)
    for each in sets:
        n, k = each.subsets.shape
        inside = (last, np.arange(n + 1) * k, each.subsets.ravel())
        first = levels.add(each.set_ptr, each.n_edges.astype(np.int32), messages=inside)
        last = add_rounds(levels, each.set_ptr, each.indptr, each.indices, layers, first)
    return examples


class OneTwoThreeNetwork(torch.nn.Module):
    """A k-GNN on nodes, on pairs, on triples, each starting from the one before; sums; a classifier."""

    def __init__(self, n_columns: int, hidden: int, layers: int, n_classes: int, dropout: float) -> None:
        super().__init__()
        self.on_nodes = _SetLayers(n_columns, hidden, layers)
        self.on_pairs = _FedSetLayers(2, hidden, layers)
        self.on_triples = _FedSetLayers(3, hidden, layers)
        self.head = ReadoutHead(3 * hidden, hidden, n_classes, dropout)

    def forward(self, graphs: LevelInput) -> torch.Tensor:
        """Return logits, shape (n_graphs, n_classes)."""
        x, levels = graphs
        x, last = self.on_nodes(x, levels, 0)
        pooled = [pool(x, *levels.pooled(last))]
        for on_sets in (self.on_pairs, self.on_triples):
            x, last = on_sets(x, levels, last)
            pooled.append(pool(x, *levels.pooled(last)))
        logits: torch.Tensor = self.head(torch.cat(pooled, dim=1))
        return logits


class _SetLayers(torch.nn.Module):
    """Layers on the sets of one size."""

    def __init__(self, n_columns: int, hidden: int, layers: int) -> None:
        super().__init__()
        widths = [n_columns] + [hidden] * (layers - 1)
        self.convolutions = torch.nn.ModuleList(Convolution(width, hidden) for width in widths)

    def forward(self, x: torch.Tensor, levels: BatchLevels, last: int) -> tuple[torch.Tensor, int]:
        """Return the rows after the layers, from those of level ``last``, and the number of their level."""
        for convolution in self.convolutions:
            last += 1
            level = levels.level(last)
            said, kept = convolution(x)
            x = elu(aggregate(said, level.ptr, level.senders, kept, level.own))
        return x, last


class _FedSetLayers(torch.nn.Module):
    """Layers on k-sets that start from the states of the (k-1)-sets in them."""

    def __init__(self, k: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.n_types = k * (k - 1) // 2 + 1
        self.first = torch.nn.Linear(self.n_types + hidden, hidden)
        self.layers = _SetLayers(hidden, hidden, layers)

    def forward(self, below: torch.Tensor, levels: BatchLevels, last: int) -> tuple[torch.Tensor, int]:
        """Return the rows after the layers, and the number of their level."""
        of_type, of_state = self.first.weight[:, : self.n_types], self.first.weight[:, self.n_types :]
        level, types = levels.level(last + 1), of_type.T + self.first.bias
        inside = aggregate(linear(below, of_state), level.ptr, level.senders, types, levels.marks(last + 1))
        states: tuple[torch.Tensor, int] = self.layers(elu(inside), levels, last + 1)
        return states
