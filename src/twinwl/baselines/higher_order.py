"""Neural baselines that see more than 1-WL: inside rooted subgraphs, and on sets and pairs of nodes.

Nested GIN, k-hop GNN and ID-GNN look into the rooted subgraph of every node; a *pair* there is a node inside
the subgraph of a root. 1-2-3-GNN has sets of nodes, and PPGN multiplies matrices over ordered pairs.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor, nn
from torch.nn.functional import elu, linear, one_hot

from twinwl.arguments import DEPTH, FLAG, MEMORY, check_fits, integer, one_of, owners, pointer, ranges
from twinwl.arrays import Bool, Float32, Float64, Floats, Int32, Int64, Ints, UInt64
from twinwl.baselines import gnn
from twinwl.baselines.gnn import GNNClassifier, LevelExamples, RowNetwork
from twinwl.compilation import kernel
from twinwl.graphs.batch import GraphBatch
from twinwl.isomorphism.inner_colours import pass_pairs
from twinwl.models.base import with_parameters
from twinwl.neural.quotient import check_memory
from twinwl.neural.readouts import PairBlock
from twinwl.neural.rows import BatchLevels, aggregate, as_tensor, by_kernels, distinct_rows, gather, pool
from twinwl.refinement.colours import balanced_ranges, run_ranges
from twinwl.refinement.identities import RootedSubgraphs, rooted_subgraphs


def _rooted_examples(
    batch: GraphBatch, columns: Float32, hops: int, max_memory: int | None
) -> tuple[LevelExamples, RootedSubgraphs, Int64]:
    """Return examples with the nodes' level alone, the rooted subgraphs, and the range of a graph's pairs."""
    check_memory(batch, (hops,), max_memory)
    cut = rooted_subgraphs(batch, hops)
    pair_ptr = cut.subgraph_ptr[batch.graph_ptr]
    cost = np.diff(pair_ptr) + np.diff(cut.indptr[pair_ptr])
    return gnn.node_examples(batch, columns, cost=cost), cut, pair_ptr


# ---------------------------------------------------------------------- Nested GIN


class NestedGINNetwork(RowNetwork):
    """A GIN on the union of rooted subgraphs, sums over subgraphs and graphs, a classifier.

    Level 0 has nodes, level 1 pairs, the last level roots.
    """

    def __init__(self, model: NestedGINClassifier, n_columns: int, n_classes: int) -> None:
        super().__init__()
        self.n_distances = model.height + 1 if model.distance_features else 0
        self.layers = gnn.GINLayers(n_columns + self.n_distances, model.hidden, model.layers)
        self.of_root = gnn.Perceptron(model.layers * model.hidden, model.hidden)
        self.head = gnn.readout_head(model, model.hidden, n_classes)

    def pooled(self, x: Tensor, levels: BatchLevels) -> Tensor:
        """Return the sums over the roots."""
        x = x[as_tensor(levels.level(1).own, x.device)]
        if self.n_distances:
            marks = one_hot(as_tensor(levels.marks(1), x.device), self.n_distances)
            x = torch.cat([x, marks.to(x.dtype)], dim=1)
        states = self.layers(x, levels, first=1)
        last = len(states) + 2
        roots = levels.level(last)
        sums = [
            aggregate(rows, roots.ptr, levels.senders(last, level)) for level, rows in enumerate(states, 2)
        ]
        return pool(self.of_root(torch.cat(sums, dim=1), roots), *levels.pooled(last))


@with_parameters
class NestedGINClassifier(GNNClassifier):
    r"""Classify graphs with a Nested GIN (Zhang and Li, 2021).

    Inside the rooted subgraph :math:`G_w^h` of every node w a base GNN, here a GIN, gives each node v a state
    :math:`h_{v,w}`; they are pooled to the state of the root, :math:`h_w = R_0(\{h_{v,w}\})`, and those to
    that of the graph. The distance from the root, one-hot, is part of each node's input. Both poolings
    are sums here, of the states of all layers.

    Parameters
    ----------
    height : int, default=3
        Radius of the rooted subgraphs.
    distance_features : bool, default=True
        Add each node's distance from the root to its input.
    max_memory : int or None
        Limit for the subgraphs, in bytes; None allows half of the machine's memory.
    layers : int, default=4
        Layers of the GIN.
    hidden : int, default=32
    dropout, random_state, …
        As for `twinwl.baselines.gnn.GNNClassifier`.

    Examples
    --------
    >>> hexagon = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]
    >>> triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    >>> graphs = GraphBatch.from_edges([hexagon, triangles] * 10)
    >>> model = NestedGINClassifier(2, layers=2, hidden=8, max_epochs=5, random_state=0)
    >>> model = model.fit(graphs, ["one", "two"] * 10)
    >>> model.classes_.tolist(), model.predict_proba(graphs[:2]).shape
    (['one', 'two'], (2, 2))
    """

    _constraints = {
        "height": (DEPTH,),
        "distance_features": (FLAG,),
        "max_memory": MEMORY,
    }
    _network = NestedGINNetwork

    height: int = 3
    distance_features: bool = True
    max_memory: int | None = None
    _: KW_ONLY
    layers: int = 4
    hidden: int = 32

    def _level_examples(self, batch: GraphBatch, columns: Float32) -> LevelExamples:
        examples, cut, pair_ptr = _rooted_examples(batch, columns, self.height, self.max_memory)
        marks = cut.distance if self.distance_features else None
        pairs = examples.levels.add(pair_ptr, marks, own=(0, cut.node))
        last = gnn.add_rounds(examples.levels, pair_ptr, cut.indptr, cut.indices, self.layers, pairs)
        members = (last, cut.subgraph_ptr, np.arange(len(cut.node), dtype=np.int32))
        examples.levels.add(batch.graph_ptr, messages=members)
        return examples


# ---------------------------------------------------------------------- k-hop GNN


class KHopNetwork(RowNetwork):
    """Passes through the rings of every root, the sum over roots, a classifier."""

    def __init__(self, model: KHopGNNClassifier, n_columns: int, n_classes: int) -> None:
        super().__init__()
        self.passes = gnn.stack(partial(_RingPass, model.hops), n_columns, *[model.hidden] * model.layers)
        self.head = gnn.readout_head(model, model.hidden, n_classes)

    def pooled(self, x: Tensor, levels: BatchLevels) -> Tensor:
        """Return the sums over the roots."""
        last = 0
        for ring_pass in self.passes:
            x, last = ring_pass(x, levels, last)
        return pool(x, *levels.pooled(last))


class _RingPass(nn.Module):
    """One pass from the outermost ring to the roots."""

    def __init__(self, hops: int, n_columns: int, hidden: int) -> None:
        super().__init__()
        self.hops = hops
        self.enter = nn.ModuleList(gnn.Perceptron(n_columns, hidden) for _ in range(hops + 1))
        self.within_own, self.within_other, self.across = (
            nn.ModuleList(gnn.Perceptron(hidden, hidden) for _ in range(hops)) for _ in range(3)
        )

    def forward(self, x: Tensor, levels: BatchLevels, last: int) -> tuple[Tensor, int]:
        """Return the rows of the level after the pass, from those of level ``last``, and its number."""
        states = x
        for d in range(self.hops, -1, -1):
            outer, outermost = states, last
            last += 1
            members = levels.level(last)
            states = self.enter[d](x[as_tensor(members.own, x.device)], members)
            if d < self.hops:
                messages = self.across[d](outer, levels.level(outermost))
                last += 1
                states = gnn.with_neighbours(messages, levels.level(last), states)
            if d > 0:
                members = levels.level(last)
                messages = self.within_other[d - 1](states, members)
                states = self.within_own[d - 1](states, members)
                last += 1
                states = gnn.with_neighbours(messages, levels.level(last), states)
        return states, last


@with_parameters
class KHopGNNClassifier(GNNClassifier):
    r"""Classify graphs with a k-hop GNN (Nikolentzos, Dasoulas and Vazirgiannis, 2020).

    For each root the nodes at distance d form the ring :math:`R_d`. From the outermost ring inwards, the
    nodes of a ring first get messages from their neighbours in it,
    :math:`x_u \leftarrow \mathrm{MLP}(x_u) + \sum_{w \in N(u) \cap R_d} \mathrm{MLP}(x_w)` (update within),
    then those of the next ring get messages from them in the same way (update across), each step with its own
    perceptrons. The last step gives the new state of the root. The readout is the sum over nodes.

    Parameters
    ----------
    hops : int, default=3
        The k: radius of the neighbourhood in one layer.
    max_memory : int or None
        Limit for the neighbourhoods, in bytes; None allows half of the machine's memory.
    layers : int, default=1
        Number of such passes; the authors use one in their experiments on graphs.
    hidden, dropout, random_state, …
        As for `twinwl.baselines.gnn.GNNClassifier`.
    """

    _constraints = {"hops": (DEPTH,), "max_memory": MEMORY}
    _network = KHopNetwork

    hops: int = 3
    max_memory: int | None = None
    _: KW_ONLY
    layers: int = 1

    def _level_examples(self, batch: GraphBatch, columns: Float32) -> LevelExamples:
        """Return graphs as rows: the levels of each pass are its steps, in the order of `_RingPass`."""
        examples, cut, pair_ptr = _rooted_examples(batch, columns, self.hops, self.max_memory)
        arcs = np.ones(len(cut.indices), np.bool_), cut.indices, cut.indptr
        adjacency = sparse.csr_matrix(arcs, shape=(len(cut.node), len(cut.node)))
        # The nodes at each distance from all roots; at distance 0 they are the nodes of the graphs, in order.
        rings = [np.flatnonzero(cut.distance == d) for d in range(self.hops + 1)]
        levels, last = examples.levels, 0

        def add(d: int, own: tuple[int, Int32 | None], messages: Any = None) -> int:  # noqa: ANN401
            return levels.add(np.searchsorted(rings[d], pair_ptr), own=own, messages=messages)

        def neighbours(d: int, others: int) -> tuple[Int64, Int32]:
            """Return the members of a ring that are adjacent to each of ring d, in CSR form."""
            block = adjacency[rings[d]][:, rings[others]]
            return block.indptr.astype(np.int64), block.indices

        for _ in range(self.layers):
            roots = last
            for d in range(self.hops, -1, -1):
                outermost, last = last, add(d, (roots, cut.node[rings[d]]))
                if d < self.hops:
                    last = add(d, (last, None), (outermost, *neighbours(d, d + 1)))
                if d > 0:
                    last = add(d, (last, None), (last, *neighbours(d, d)))
        return examples


# ---------------------------------------------------------------------- ID-GNN


class IDGNNNetwork(RowNetwork):
    """Two kinds of messages inside every ego network, the sum over their centres, a classifier.

    Level 0 has nodes, level 1 pairs, marked where the node is the root.
    """

    def __init__(self, model: IDGNNClassifier, n_columns: int, n_classes: int) -> None:
        super().__init__()
        hidden, layers = model.hidden, range(model.layers)
        self.enter = nn.Linear(n_columns, hidden)
        self.from_centre = nn.ModuleList(nn.Linear(hidden, hidden) for _ in layers)
        self.from_others = nn.ModuleList(nn.Linear(hidden, hidden) for _ in layers)
        self.updates = nn.ModuleList(gnn.redraw(gnn.Perceptron(hidden, hidden)) for _ in layers)
        self.head = gnn.readout_head(model, len(layers) * hidden, n_classes)

    def pooled(self, x: Tensor, levels: BatchLevels) -> Tensor:
        """Return the sums over the centres of all layers."""
        states, is_centre = gather(self.enter(x), levels.level(1).own), levels.marks(1) > 0
        sums = []
        layers = zip(self.from_centre, self.from_others, self.updates)
        for number, (of_centre, of_others, update) in enumerate(layers, start=2):
            layer, centre = levels.level(number), as_tensor(is_centre, x.device)[:, None]
            messages = torch.where(centre, of_centre(states), of_others(states))
            states = update(gnn.with_neighbours(messages, layer, states), layer)
            is_centre = is_centre[layer.own]
            ptr, rows, counts = levels.pooled(number)
            sums.append(pool(states, ptr, rows, counts * is_centre[rows]))
        return torch.cat(sums, dim=1)


@with_parameters
class IDGNNClassifier(GNNClassifier):
    r"""Classify graphs with an identity-aware GNN (You et al., 2021), here on a GIN.

    The full form runs message passing inside the ego network of every node v, as many hops wide as there are
    layers, where messages from v itself have weights of their own (algorithm 1 there): :math:`h_u' =
    \mathrm{MLP}(h_u + \sum_{s \in N(u)} \mathrm{MSG}_{1[s = v]}(h_s))`. The state of v is its final state in
    its own ego network. The fast form gives each node the numbers of closed walks that start from it, the
    diagonals of :math:`A^2, \dots, A^K`, as further features, and runs a plain GIN. The readout is the sum
    over nodes of all layers.

    Parameters
    ----------
    form : {"full", "fast"}, default="full"
    longest_walk : int, default=6
        The K of the fast form.
    max_memory : int or None
        Limit for the ego networks, in bytes; None allows half of the machine's memory.
    layers, hidden, dropout, random_state, …
        As for `twinwl.baselines.gnn.GNNClassifier`.
    """

    _constraints = {
        "form": (one_of("full", "fast"),),
        "longest_walk": (integer(2, 1_000),),  # there is no closed walk of one step
        "max_memory": MEMORY,
    }

    form: str = "full"
    longest_walk: int = 6
    max_memory: int | None = None

    @property
    def _network(self) -> Any:  # noqa: ANN401
        return gnn.GINNetwork if self.form == "fast" else IDGNNNetwork

    def _describe(self, batch: GraphBatch) -> GraphBatch:
        batch = super()._describe(batch)
        if self.form == "full":
            return batch
        features = [] if batch.node_features is None else [batch.node_features]
        features.append(closed_walks(batch, self.longest_walk))
        return batch.changed(node_features=np.hstack(features))

    def _level_examples(self, batch: GraphBatch, columns: Float32) -> LevelExamples:
        if self.form == "fast":
            return gnn.node_examples(batch, columns, self.layers)
        examples, cut, pair_ptr = _rooted_examples(batch, columns, self.layers, self.max_memory)
        centres = (cut.distance == 0).astype(np.int32)
        pairs = examples.levels.add(pair_ptr, centres, own=(0, cut.node))
        gnn.add_rounds(examples.levels, pair_ptr, cut.indptr, cut.indices, self.layers, pairs)
        return examples


def closed_walks(batch: GraphBatch, longest: int) -> Float64:
    """Return the number of closed walks of 2, …, ``longest`` steps from each node: diagonals of powers of A.

    There are no walks of one step, because there are no self-loops.

    Returns
    -------
    array of float64, shape (n_nodes, longest - 1)

    Examples
    --------
    >>> closed_walks(GraphBatch.from_edges([[(0, 1), (1, 2), (2, 0)]]), 4).tolist()
    [[2.0, 2.0, 6.0], [2.0, 2.0, 6.0], [2.0, 2.0, 6.0]]
    """
    n = batch.n_nodes
    walks = [sparse.csr_matrix((np.ones(len(batch.indices)), batch.indices, batch.indptr), shape=(n, n))]
    while len(walks) < (longest + 1) // 2:
        walks.append(walks[-1] @ walks[0])
    # A closed walk is one of half its length, and one back: powers twice as high would be twice as dense.
    closed = [walks[k // 2 - 1].multiply(walks[(k + 1) // 2 - 1]).sum(axis=1) for k in range(2, longest + 1)]
    return np.asarray(np.hstack(closed))


# ---------------------------------------------------------------------- 1-2-3-GNN

# While the local neighbours of sets are found: node, set, members and place of each.
_BYTES_OF_NEIGHBOUR, _BYTES_OF_FLOAT = 64, 4


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


def node_sets(batch: GraphBatch, *, connected: bool = True) -> tuple[NodeSets, NodeSets]:
    """Return all pairs of nodes, and all triples or only those that are connected.

    >>> pairs, triples = node_sets(GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3)]]))
    >>> pairs.subsets[:3].tolist(), pairs.n_edges[:3].tolist()
    ([[0, 1], [0, 2], [0, 3]], [1, 0, 0])
    >>> triples.n_edges.tolist(), triples.indptr.tolist()
    ([2, 2], [0, 0, 0])
    """
    nodes = np.arange(batch.n_nodes)[:, None]
    last = np.repeat(batch.graph_ptr[1:], batch.nodes_per_graph)
    pairs = _extend(nodes, nodes[:, 0] + 1, last - nodes[:, 0] - 1, nodes[:, 0])
    if connected:
        # Two arcs from a node, the middle one; a triangle is found from each of its nodes.
        arc, (source, target) = np.arange(len(batch.indices)), batch.arcs()
        wedges = _extend(
            np.stack([source, target], axis=1), arc + 1, batch.indptr[source + 1] - arc - 1, target
        )
        triples = np.unique(np.sort(wedges, axis=1), axis=0)
    else:
        v = pairs[:, 1]
        triples = _extend(pairs, v + 1, last[v] - v - 1, nodes[:, 0])
    return _link(batch, pairs, nodes), _link(batch, triples, pairs)


def _extend(sets: Int64, starts: Int64, lengths: Int64, nodes: Ints) -> Int64:
    """Return each set with each of some nodes added, from ``nodes[start]`` on."""
    return np.column_stack([np.repeat(sets, lengths, axis=0), nodes[ranges(starts, lengths)]])


def _link(batch: GraphBatch, sets: Int64, below: Int64) -> NodeSets:
    """Find edges, subsets and local neighbours of sets, which are sorted, as are their nodes."""
    starts = np.repeat(batch.graph_ptr[:-1], batch.nodes_per_graph)
    base = int(batch.nodes_per_graph.max(initial=1))

    def keys(chosen: Int64) -> Int64:
        # Nodes but the first are counted from the first of their graph, so that keys stay small.
        key = chosen[:, 0]
        for column in chosen.T[1:]:
            key = key * base + column - starts[column]
        return key

    def find(wanted: Int64, among: Int64) -> tuple[Int64, Bool]:
        place = np.searchsorted(among, wanted)
        return place, np.append(among, -1)[place] == wanted

    n, k = sets.shape
    arcs, own, columns = keys(np.stack(batch.arcs(), axis=1)), keys(sets), range(k)
    n_edges = sum(find(keys(sets[:, pair]), arcs)[1] for pair in combinations(columns, 2))
    inside = [find(keys(sets[:, part]), keys(below))[0] for part in combinations(columns, k - 1)]
    degrees, moves = np.diff(batch.indptr), []
    for column in columns:
        move_to = sets[:, column]
        owner = np.repeat(np.arange(n), degrees[move_to])
        others = sets[owner]
        others[:, column] = batch.indices[ranges(batch.indptr[move_to], degrees[move_to])]
        # A node that moves to another of its set leaves a key that no set has.
        place, there = find(keys(np.sort(others, axis=1)), own)
        moves.append((owner[there], place[there]))
    owner, place = (np.concatenate(parts) for parts in zip(*moves))
    return NodeSets(
        np.searchsorted(sets[:, 0], batch.graph_ptr),
        np.stack(inside, axis=1),
        np.asarray(n_edges, np.int64),
        pointer(np.bincount(owner, minlength=n)),
        place[np.argsort(owner, kind="stable")],
    )


def check_sets(
    batch: GraphBatch, hidden: int, layers: int, *, connected: bool, max_memory: int | None
) -> None:
    """Refuse graphs whose pairs and triples might not fit into memory, by a bound on their number."""
    n, degrees = batch.nodes_per_graph.astype(np.int64), np.diff(batch.indptr)
    wedges = np.diff(pointer(degrees * (degrees - 1) // 2)[batch.graph_ptr])
    pairs, triples = n * (n - 1) // 2, wedges if connected else n * (n - 1) * (n - 2) // 6
    total, largest = int((pairs + triples).sum()), int((pairs + triples).max())
    # Each of a set's k nodes moves along its edges; forward and backward, each layer keeps two states a set.
    degree = 2 * batch.n_edges / max(1, batch.n_nodes)
    neighbours = int((2 * pairs + 3 * triples).sum() * degree) + total
    check_fits(
        neighbours * _BYTES_OF_NEIGHBOUR + largest * hidden * 4 * layers * _BYTES_OF_FLOAT,
        max_memory,
        f"1-2-3-GNN on {len(batch)} graphs with up to {total:,} pairs and triples of nodes (graph "
        f"{n.argmax()} has {n.max():,} nodes)",
        "leave out the largest graphs, use connected=True, or raise max_memory",
    )


class OneTwoThreeNetwork(RowNetwork):
    """A k-GNN on nodes, on pairs, on triples, each starting from the one before; sums; a classifier."""

    def __init__(self, model: GNNClassifier, n_columns: int, n_classes: int) -> None:
        super().__init__()
        self.on_nodes = _SetLayers(n_columns, model.hidden, model.layers)
        self.on_pairs = _FedSetLayers(2, model.hidden, model.layers)
        self.on_triples = _FedSetLayers(3, model.hidden, model.layers)
        self.head = gnn.readout_head(model, 3 * model.hidden, n_classes)

    def pooled(self, x: Tensor, levels: BatchLevels) -> Tensor:
        """Return the sums over nodes, pairs and triples."""
        last, sums = 0, []
        for on_sets in (self.on_nodes, self.on_pairs, self.on_triples):
            x, last = on_sets(x, levels, last)
            sums.append(pool(x, *levels.pooled(last)))
        return torch.cat(sums, dim=1)


class _SetLayers(nn.Module):
    """Layers on the sets of one size."""

    def __init__(self, n_columns: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.convolutions = gnn.stack(gnn.Convolution, n_columns, *[hidden] * layers)

    def forward(self, x: Tensor, levels: BatchLevels, last: int) -> tuple[Tensor, int]:
        """Return the rows after the layers, from those of level ``last``, and the number of their level."""
        for number, convolution in enumerate(self.convolutions, start=last + 1):
            messages, own = convolution.messages(x)  # type: ignore[operator]
            x = elu(gnn.with_neighbours(messages, levels.level(number), own))
        return x, last + len(self.convolutions)


class _FedSetLayers(nn.Module):
    """Layers on k-sets that start from the states of the (k-1)-sets in them."""

    def __init__(self, k: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.n_types = k * (k - 1) // 2 + 1
        self.first = nn.Linear(self.n_types + hidden, hidden)
        self.layers = _SetLayers(hidden, hidden, layers)

    def forward(self, below: Tensor, levels: BatchLevels, last: int) -> tuple[Tensor, int]:
        """Return the rows after the layers, and the number of their level."""
        of_type, of_state = self.first.weight[:, : self.n_types], self.first.weight[:, self.n_types :]
        level, types = levels.level(last + 1), of_type.T + self.first.bias
        inside = aggregate(linear(below, of_state), level.ptr, level.senders, types, levels.marks(last + 1))
        states: tuple[Tensor, int] = self.layers(elu(inside), levels, last + 1)
        return states


@with_parameters
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
    >>> hexagon = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]
    >>> triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    >>> graphs = GraphBatch.from_edges([hexagon, triangles] * 10)
    >>> model = OneTwoThreeGNNClassifier(layers=2, hidden=8, max_epochs=5, random_state=0)
    >>> model = model.fit(graphs, ["one", "two"] * 10)
    >>> model.classes_.tolist(), model.predict_proba(graphs[:2]).shape
    (['one', 'two'], (2, 2))
    """

    _constraints = {"connected": (FLAG,), "max_memory": MEMORY}
    _network = OneTwoThreeNetwork

    connected: bool = True
    max_memory: int | None = None

    def _level_examples(self, batch: GraphBatch, columns: Float32) -> LevelExamples:
        """Return inputs and layers of the nodes, then those of pairs, then those of triples."""
        check_sets(batch, self.hidden, self.layers, connected=self.connected, max_memory=self.max_memory)
        sets = node_sets(batch, connected=self.connected)
        costs = [np.diff(each.set_ptr) + np.diff(each.indptr[each.set_ptr]) for each in sets]
        examples = gnn.node_examples(batch, columns, self.layers, np.sum(costs, axis=0))
        levels, last = examples.levels, self.layers
        for each in sets:
            n, k = each.subsets.shape
            inside = (last, np.arange(n + 1) * k, each.subsets.ravel())
            first = levels.add(each.set_ptr, each.n_edges.astype(np.int32), messages=inside)
            last = gnn.add_rounds(levels, each.set_ptr, each.indptr, each.indices, self.layers, first)
        return examples


# ---------------------------------------------------------------------- PPGN

# Numbers before the first round: no arc, an arc, then the nodes with themselves.
_ARC, _NODES = 1, 2
# A pair's colour in a level, and where colours are found in a mini-batch; keys and their order in one round.
_BYTES_PER_LEVEL, _BYTES_PER_ROUND = 12, 64


def pair_examples(batch: GraphBatch, columns: Float32, rounds: int) -> LevelExamples:
    """Return graphs as ordered pairs of their nodes, in as many levels after the first.

    In a layer a pair (i, j) hears, for each node k, the pairs (i, k) and (k, j) together. So its state after
    h layers depends only on its colour after h rounds of folklore 2-WL, and level h has one row per such
    colour. Pairs of a node with itself have colours of their own, because they are read out separately.
    The input of a pair is whether there is an arc, and the columns of a node with itself, else zeros.

    >>> batch = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1)]])
    >>> part = pair_examples(batch, np.ones((5, 1), np.float32), rounds=1).part(np.array([1]))
    >>> part.x.tolist(), part.levels.level(1).row_of_item.tolist()
    ([[0.0, 1.0], [1.0, 0.0]], [0, 1, 1, 0])
    """
    sizes = batch.nodes_per_graph.astype(np.int64)
    pair_ptr = pointer(sizes**2)
    codes, first = distinct_rows(columns)
    table = np.zeros((_NODES + len(first), 1 + columns.shape[1]), np.float32)
    table[_ARC, 0] = 1
    table[_NODES:, 1:] = columns[first]
    place = np.arange(batch.n_nodes) - np.repeat(batch.graph_ptr[:-1], sizes)
    matrix_row = np.repeat(pair_ptr[:-1], sizes) + place * np.repeat(sizes, sizes)
    source, target = batch.arcs()
    colours = np.zeros(int(pair_ptr[-1]), np.int32)
    colours[matrix_row[source] + place[target]] = _ARC
    colours[matrix_row + place] = _NODES + codes
    examples = LevelExamples(pair_ptr, colours, table, sizes**2)
    for last in range(rounds):
        colours = _refine(pair_ptr, sizes, examples.levels.colours(last))
        examples.levels.add(pair_ptr, own=(last, None), refined=colours)
    return examples


def _refine(pair_ptr: Int64, sizes: Int64, colours: Int32) -> Int32:
    """Return the colours of pairs after one more round of folklore 2-WL, by keys of 128 bits."""
    keys = np.empty((2, len(colours)), np.uint64)
    run_ranges(
        lambda low, high: _write_keys(low, high, pair_ptr, sizes, colours, keys),
        balanced_ranges(pointer(sizes**3)),
    )
    order = np.lexsort(keys)
    changes = (keys[:, order[1:]] != keys[:, order[:-1]]).any(axis=0)
    numbers = np.zeros(len(colours), np.int32)
    numbers[order[1:]] = np.cumsum(changes)
    return numbers


@kernel
def _write_keys(low: int, high: int, pair_ptr: Int64, sizes: Int64, colours: Int32, keys: UInt64) -> None:
    for graph in range(low, high):
        n, first, last = sizes[graph], pair_ptr[graph], pair_ptr[graph + 1]
        a = colours[first:last].astype(np.uint64).reshape(n, n)
        b = np.zeros_like(a)
        new_a, new_b = pass_pairs(a, b)
        keys[0, first:last] = new_a.ravel()
        keys[1, first:last] = new_b.ravel()


class Paths(NamedTuple):
    """For each row of a level, the paths i → k → j of the pair (i, j) that it comes from, over the nodes k.

    Attributes
    ----------
    row_of_pair : array of uint32, shape (n_pairs,)
        Rows of the mini-batch's pairs in the level before; a graph's pairs are a matrix, row by row.
    left, right : arrays of int64, shape (n_rows,)
        The pairs (i, 0) and (0, j).
    n_nodes : array of int64, shape (n_rows,)
        Number of nodes of the graph. It is the distance from (k, j) to (k + 1, j); (i, k + 1) follows (i, k).
    """

    row_of_pair: NDArray[np.uint32]
    left: Int64
    right: Int64
    n_nodes: Int64


def paths_of(levels: BatchLevels, number: int) -> Paths:
    """Return the paths of a level's rows.

    >>> batch = GraphBatch.from_edges([[(0, 1)]])
    >>> levels = pair_examples(batch, np.ones((2, 1), np.float32), rounds=1).part(np.array([0])).levels
    >>> [array.tolist() for array in paths_of(levels, 1)]
    [[0, 1, 1, 0], [0, 0], [0, 1], [2, 2]]
    """
    starts = levels.item_ptr(number)
    _, pair = np.unique(levels.level(number).row_of_item, return_index=True)
    graph = np.searchsorted(starts, pair, side="right") - 1
    first = starts[graph]
    n = np.rint(np.sqrt(starts[graph + 1] - first)).astype(np.int64)
    column = (pair - first) % n
    return Paths(levels.level(number - 1).row_of_item.astype(np.uint32), pair - column, first + column, n)


def diagonal_rows(levels: BatchLevels, number: int) -> Bool:
    """Return which rows of a level are pairs of a node with itself, shape (n_rows,)."""
    return levels.levels.colours(0)[levels.level(number).item_of_row] >= _NODES


def path_sums(left: Tensor, right: Tensor, paths: Paths) -> Tensor:
    """Return the sum over k of ``left`` at (i, k) times ``right`` at (k, j), for the pair (i, j) of each row.

    A product of matrices computes an entry for each pair. Here each distinct entry is computed once, in a
    compiled loop that is several times as fast as torch's dense products.

    Parameters
    ----------
    left, right : tensors, shape (n_rows of the level before, width)
    paths
        Says which rows these are.

    Examples
    --------
    The entries (0, 0) and (0, 1) of a matrix of two different entries, squared:

    >>> paths = Paths(np.array([0, 1, 1, 0], np.uint32), np.array([0, 0]), np.array([0, 1]), np.array([2, 2]))
    >>> entries = torch.tensor([[3.0], [5.0]])
    >>> path_sums(entries, entries, paths).tolist()
    [[34.0], [30.0]]
    """
    if left.device.type != "cpu":
        return indexed_path_sums(left, right, paths)
    return by_kernels(
        lambda *rows: ([_path_sums(*rows, paths)], lambda grad: _path_gradients(grad, *rows, paths)),
        left,
        right,
    )[0]


def indexed_path_sums(left: Tensor, right: Tensor, paths: Paths) -> Tensor:
    """Return the same as `path_sums` with torch's own operations, for any device."""
    into = owners(paths.n_nodes)
    node = np.arange(len(into)) - pointer(paths.n_nodes)[into]
    ends = (paths.left[into] + node, paths.right[into] + node * paths.n_nodes[into])
    first, second = (as_tensor(paths.row_of_pair[end].astype(np.int64), left.device) for end in ends)
    zeros = left.new_zeros(len(paths.n_nodes), left.shape[1])
    return zeros.index_add(0, as_tensor(into, left.device), left[first] * right[second])


@kernel(fastmath={"contract"})
def _path_sums(left_rows: Floats, right_rows: Floats, paths: Paths) -> Floats:
    row_of_pair, left, right, n_nodes = paths
    width = left_rows.shape[1]
    out = np.zeros((len(left), width), left_rows.dtype)
    for row in range(len(left)):
        total = out[row]
        n = n_nodes[row]
        for node in range(n):
            a = left_rows[row_of_pair[left[row] + node]]
            b = right_rows[row_of_pair[right[row] + node * n]]
            for unit in range(width):
                total[unit] += a[unit] * b[unit]
    return out


@kernel(fastmath={"contract"})
def _path_gradients(
    grad: Floats, left_rows: Floats, right_rows: Floats, paths: Paths
) -> tuple[Floats, Floats]:
    row_of_pair, left, right, n_nodes = paths
    of_left, of_right = np.zeros_like(left_rows), np.zeros_like(right_rows)
    for row in range(len(left)):
        total, n = grad[row], n_nodes[row]
        for node in range(n):
            first, second = row_of_pair[left[row] + node], row_of_pair[right[row] + node * n]
            a, b = left_rows[first], right_rows[second]
            of_a, of_b = of_left[first], of_right[second]
            for unit in range(len(total)):
                of_a[unit] += total[unit] * b[unit]
                of_b[unit] += total[unit] * a[unit]
    return of_left, of_right


class PPGNNetwork(RowNetwork):
    """Blocks of multiplied perceptrons, sums on and off the diagonal, a classifier."""

    def __init__(self, model: GNNClassifier, n_columns: int, n_classes: int) -> None:
        super().__init__()
        self.blocks = gnn.stack(PairBlock, n_columns + 1, *[model.hidden] * model.layers)
        self.head = gnn.readout_head(model, 2 * model.layers * model.hidden, n_classes)

    def pooled(self, x: Tensor, levels: BatchLevels) -> Tensor:
        """Return the sums over the diagonal and off it, after every block."""
        sums = []
        for number, block in enumerate(self.blocks, 1):
            left, right = (_perceptron(side, x) for side in (block.left, block.right))  # type: ignore[arg-type]
            product = path_sums(left, right, paths_of(levels, number))
            of_pairs, of_product = block.join.weight.split([x.shape[1], product.shape[1]], dim=1)  # type: ignore[operator, union-attr]
            from_pairs = gather(linear(x, of_pairs, block.join.bias), levels.level(number).own)  # type: ignore[arg-type, union-attr]
            x = torch.addmm(from_pairs, product, of_product.T).relu_()
            ptr, rows, counts = levels.pooled(number)
            diagonal = diagonal_rows(levels, number)[rows]
            sums += [pool(x, ptr, rows, counts * which) for which in (diagonal, ~diagonal)]
        return torch.cat(sums, dim=1)


def _perceptron(layers: nn.Sequential, x: Tensor) -> Tensor:
    """Apply a perceptron of pairs to rows, shape (n_rows, hidden)."""
    for layer in layers:
        x = linear(x, layer.weight, layer.bias) if isinstance(layer, nn.Linear) else layer(x)
    return x


# In one block, where no two pairs are alike: input, two perceptrons of two layers, product, skip, output; and
# their gradients.
_MATRICES_OF_BLOCK = 16


@with_parameters
class PPGNClassifier(GNNClassifier):
    r"""Classify graphs with a provably powerful graph network (Maron et al., 2019), of 3-WL power.

    A graph is a tensor over pairs of nodes: the adjacency, and the node's columns on the diagonal. A block
    applies two perceptrons to the features of each pair, multiplies their results as matrices, feature by
    feature, and joins that with the input by a third perceptron: :math:`X' = m_3([X, m_1(X) \cdot m_2(X)])`.
    The readout is the sums over the diagonal and off it, after every block. Pairs that have the same colour
    by folklore 2-WL have the same features, which are computed once.

    Parameters
    ----------
    max_memory : int or None
        Limit for the tensors, in bytes; None allows half of the machine's memory.
    layers : int, default=3
        Number of blocks.
    hidden : int, default=32
    dropout, random_state, …
        As for `twinwl.baselines.gnn.GNNClassifier`.

    Notes
    -----
    Sums over all pairs of nodes are large, and so are the steps of training: if the loss does not fall, take
    ``learning_rate=3e-4``, as the method ``"ppgn"`` of `twinwl.evaluate` does.
    """

    _constraints = {"max_memory": MEMORY}
    _network = PPGNNetwork

    max_memory: int | None = None
    _: KW_ONLY
    hidden: int = 32

    def _level_examples(self, batch: GraphBatch, columns: Float32) -> LevelExamples:
        n_matrices = _MATRICES_OF_BLOCK * self.layers * self.hidden
        gnn.check_dense(batch, self.batch_size, n_matrices, "PPGN", self.max_memory)
        n_pairs = int((batch.nodes_per_graph.astype(np.int64) ** 2).sum())
        check_fits(
            n_pairs * (_BYTES_PER_LEVEL * (self.layers + 1) + _BYTES_PER_ROUND),
            self.max_memory,
            f"PPGN on {len(batch):,} graphs with {n_pairs:,} pairs of nodes",
            "leave out the largest graphs, use fewer graphs, or raise max_memory",
        )
        return pair_examples(batch, columns, self.layers)
