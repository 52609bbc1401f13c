"""Baselines that look into the rooted subgraph of every node: Nested GIN, k-hop GNN and ID-GNN.

A *pair* is a node inside the subgraph of a root.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch.nn.functional import one_hot

from twinwl.arguments import DEPTH, FLAG, MEMORY, integer, one_of
from twinwl.arrays import Float64, Int64, pointer, ranges
from twinwl.baselines.gnn import (
    GNNClassifier,
    LevelExamples,
    Perceptron,
    RowNetwork,
    add_rounds,
    drawn_again,
    node_examples,
    readout_head,
    with_neighbours,
)
from twinwl.baselines.node_networks import GINLayers, GINNetwork, gin_examples
from twinwl.graphs.batch import GraphBatch
from twinwl.models.base import Constraints
from twinwl.neural.devices import as_tensor
from twinwl.neural.quotient import check_memory
from twinwl.neural.rows import BatchLevels, aggregate, gather, pool
from twinwl.refinement.rooted_subgraphs import RootedSubgraphs, rooted_subgraphs


def _rooted_examples(
    batch: GraphBatch, columns: NDArray[np.float32], hops: int, max_memory: int | None
) -> tuple[LevelExamples, RootedSubgraphs, Int64]:
    """Return examples with the nodes' level alone, the rooted subgraphs, and the range of a graph's pairs."""
    check_memory(batch, (hops,), max_memory)
    cut = rooted_subgraphs(batch, hops)
    pair_ptr = cut.subgraph_ptr[batch.graph_ptr]
    cost = np.diff(pair_ptr) + np.diff(cut.indptr[pair_ptr])
    return node_examples(batch, columns, cost), cut, pair_ptr


# ---------------------------------------------------------------------- Nested GIN


class NestedGINNetwork(RowNetwork):
    """A GIN on the union of rooted subgraphs, sums over subgraphs and graphs, a classifier.

    Level 0 has nodes, level 1 pairs, the last level roots.
    """

    def __init__(self, model: NestedGINClassifier, n_columns: int, n_classes: int) -> None:
        super().__init__()
        self.n_distances = model.height + 1 if model.distance_features else 0
        self.layers = GINLayers(n_columns + self.n_distances, model.hidden, model.layers)
        self.of_root = Perceptron(model.layers * model.hidden, model.hidden)
        self.head = readout_head(model, model.hidden, n_classes)

    def pooled(self, x: torch.Tensor, levels: BatchLevels) -> torch.Tensor:
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


class NestedGINClassifier(
    GNNClassifier, height=3, distance_features=True, max_memory=None, layers=4, hidden=32
):
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

    _constraints: ClassVar[Constraints] = {
        "height": (DEPTH,),
        "distance_features": (FLAG,),
        "max_memory": MEMORY,
    }
    _network = NestedGINNetwork

    height: int
    distance_features: bool
    max_memory: int | None

    def _level_examples(self, batch: GraphBatch, columns: NDArray[np.float32]) -> LevelExamples:
        examples, cut, pair_ptr = _rooted_examples(batch, columns, self.height, self.max_memory)
        marks = cut.distance if self.distance_features else None
        pairs = examples.levels.add(pair_ptr, marks, own=(0, cut.node))
        last = add_rounds(examples.levels, pair_ptr, cut.indptr, cut.indices, self.layers, pairs)
        members = (last, cut.subgraph_ptr, np.arange(len(cut.node), dtype=np.int32))
        examples.levels.add(batch.graph_ptr, messages=members)
        return examples


# ---------------------------------------------------------------------- k-hop GNN


class KHopNetwork(RowNetwork):
    """Passes through the rings of every root, the sum over roots, a classifier."""

    def __init__(self, model: KHopGNNClassifier, n_columns: int, n_classes: int) -> None:
        super().__init__()
        widths = [n_columns] + [model.hidden] * (model.layers - 1)
        self.passes = torch.nn.ModuleList(_RingPass(width, model.hidden, model.hops) for width in widths)
        self.head = readout_head(model, model.hidden, n_classes)

    def pooled(self, x: torch.Tensor, levels: BatchLevels) -> torch.Tensor:
        """Return the sums over the roots."""
        last = 0
        for ring_pass in self.passes:
            x, last = ring_pass(x, levels, last)
        return pool(x, *levels.pooled(last))


class _RingPass(torch.nn.Module):
    """One pass from the outermost ring to the roots."""

    def __init__(self, n_columns: int, hidden: int, hops: int) -> None:
        super().__init__()
        self.hops = hops
        self.enter = torch.nn.ModuleList(Perceptron(n_columns, hidden) for _ in range(hops + 1))
        self.within_own, self.within_other, self.across = (
            torch.nn.ModuleList(Perceptron(hidden, hidden) for _ in range(hops)) for _ in range(3)
        )

    def forward(self, x: torch.Tensor, levels: BatchLevels, last: int) -> tuple[torch.Tensor, int]:
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
                states = with_neighbours(messages, levels.level(last), states)
            if d > 0:
                members = levels.level(last)
                messages = self.within_other[d - 1](states, members)
                states = self.within_own[d - 1](states, members)
                last += 1
                states = with_neighbours(messages, levels.level(last), states)
        return states, last


class KHopGNNClassifier(GNNClassifier, hops=3, max_memory=None, layers=1):
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

    _constraints: ClassVar[Constraints] = {"hops": (DEPTH,), "max_memory": MEMORY}
    _network = KHopNetwork

    hops: int
    max_memory: int | None

    def _level_examples(self, batch: GraphBatch, columns: NDArray[np.float32]) -> LevelExamples:
        """Return graphs as rows: the levels of each pass are its steps, in the order of `_RingPass`."""
        examples, cut, pair_ptr = _rooted_examples(batch, columns, self.hops, self.max_memory)
        rings = [_Ring(cut, pair_ptr, distance) for distance in range(self.hops + 1)]
        levels, last = examples.levels, 0
        for _ in range(self.layers):
            roots = last
            for d in range(self.hops, -1, -1):
                ring, outermost = rings[d], last
                last = levels.add(ring.graph_ptr, own=(roots, ring.node))
                if d < self.hops:
                    messages = (outermost, *ring.neighbours(rings[d + 1]))
                    last = levels.add(ring.graph_ptr, own=(last, None), messages=messages)
                if d > 0:
                    messages = (last, *ring.neighbours(ring))
                    last = levels.add(ring.graph_ptr, own=(last, None), messages=messages)
        return examples


class _Ring:
    """The nodes at one distance from all roots; those at distance 0 are the nodes of the graphs, in order."""

    def __init__(self, cut: RootedSubgraphs, pair_ptr: Int64, distance: int) -> None:
        self.cut = cut
        self.members = np.flatnonzero(cut.distance == distance)
        self.graph_ptr = np.searchsorted(self.members, pair_ptr)
        self.node = cut.node[self.members]

    def neighbours(self, other: _Ring) -> tuple[Int64, Int64]:
        """Return the members of another ring that are adjacent to each, in CSR form."""
        place = np.full(len(self.cut.node), -1, np.int64)
        place[other.members] = np.arange(len(other.members))
        starts = self.cut.indptr[self.members]
        degree = self.cut.indptr[self.members + 1] - starts
        found = place[self.cut.indices[ranges(starts, degree)]]
        member = np.repeat(np.arange(len(degree)), degree)[found >= 0]
        return pointer(np.bincount(member, minlength=len(degree))), found[found >= 0]


# ---------------------------------------------------------------------- ID-GNN


class IDGNNNetwork(RowNetwork):
    """Two kinds of messages inside every ego network, the sum over their centres, a classifier.

    Level 0 has nodes, level 1 pairs, marked where the node is the root.
    """

    def __init__(self, model: IDGNNClassifier, n_columns: int, n_classes: int) -> None:
        super().__init__()
        hidden, layers = model.hidden, range(model.layers)
        self.enter = torch.nn.Linear(n_columns, hidden)
        self.from_centre = torch.nn.ModuleList(torch.nn.Linear(hidden, hidden) for _ in layers)
        self.from_others = torch.nn.ModuleList(torch.nn.Linear(hidden, hidden) for _ in layers)
        self.updates = torch.nn.ModuleList(drawn_again(Perceptron(hidden, hidden)) for _ in layers)
        self.head = readout_head(model, len(layers) * hidden, n_classes)

    def pooled(self, x: torch.Tensor, levels: BatchLevels) -> torch.Tensor:
        """Return the sums over the centres of all layers."""
        states, is_centre = gather(self.enter(x), levels.level(1).own), levels.marks(1) > 0
        sums = []
        layers = zip(self.from_centre, self.from_others, self.updates, strict=True)
        for number, (of_centre, of_others, update) in enumerate(layers, start=2):
            layer, centre = levels.level(number), as_tensor(is_centre, x.device)[:, None]
            messages = torch.where(centre, of_centre(states), of_others(states))
            states = update(with_neighbours(messages, layer, states), layer)
            is_centre = is_centre[layer.own]
            ptr, rows, counts = levels.pooled(number)
            sums.append(pool(states, ptr, rows, counts * is_centre[rows]))
        return torch.cat(sums, dim=1)


class IDGNNClassifier(GNNClassifier, form="full", longest_walk=6, max_memory=None):
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

    _constraints: ClassVar[Constraints] = {
        "form": (one_of("full", "fast"),),
        "longest_walk": (integer(2, 1_000),),  # there is no closed walk of one step
        "max_memory": MEMORY,
    }

    form: str
    longest_walk: int
    max_memory: int | None

    @property
    def _network(self) -> Any:  # noqa: ANN401
        return GINNetwork if self.form == "fast" else IDGNNNetwork

    def _extra_features(self, batch: GraphBatch) -> Float64 | None:
        return closed_walks(batch, self.longest_walk) if self.form == "fast" else None

    def _level_examples(self, batch: GraphBatch, columns: NDArray[np.float32]) -> LevelExamples:
        if self.form == "fast":
            return gin_examples(batch, columns, self.layers)
        examples, cut, pair_ptr = _rooted_examples(batch, columns, self.layers, self.max_memory)
        centres = (cut.distance == 0).astype(np.int32)
        pairs = examples.levels.add(pair_ptr, centres, own=(0, cut.node))
        add_rounds(examples.levels, pair_ptr, cut.indptr, cut.indices, self.layers, pairs)
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
