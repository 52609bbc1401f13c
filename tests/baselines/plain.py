"""The networks as they are defined, with one row per node, pair or set: those on colours must equal them.

Each function takes a network and its plain input, and uses the network's own weights.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch.nn.functional import elu
from torch_geometric.nn import dense_diff_pool, global_add_pool, global_max_pool, global_mean_pool
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.nn.pool.select.topk import topk

from twinwl.arguments import ranges
from twinwl.baselines.gnn import with_auxiliary_loss
from twinwl.baselines.higher_order import node_sets
from twinwl.refinement.identities import rooted_subgraphs


def sum_by(rows, place, n_places):
    """Add up the rows that go to each place."""
    return rows.new_zeros(n_places, rows.shape[1]).index_add(0, place, rows)


class GraphInput(NamedTuple):
    """Some graphs: inputs of nodes, arcs, the graph of each node."""

    x: torch.Tensor
    edge_index: torch.Tensor
    graph_of_node: torch.Tensor
    n_graphs: int


class GraphExamples:
    """Graphs with one row per node."""

    def __init__(self, batch, columns):
        self.batch, self.columns = batch, torch.from_numpy(columns)

    def __len__(self):
        return len(self.batch)

    def part(self, rows):
        chosen, starts = self.batch[rows], self.batch.graph_ptr[rows]
        nodes = ranges(starts, chosen.nodes_per_graph)
        graph = np.repeat(np.arange(len(rows)), chosen.nodes_per_graph)
        arcs = torch.from_numpy(np.stack(chosen.arcs()).astype(np.int64))
        return GraphInput(self.columns[nodes], arcs, torch.from_numpy(graph), len(rows))


class RootedInput(NamedTuple):
    """Some graphs, each node with its rooted subgraph; a pair is a node inside the subgraph of a root."""

    x: torch.Tensor
    node_of_pair: torch.Tensor
    root_of_pair: torch.Tensor
    distance: torch.Tensor
    edge_index: torch.Tensor
    graph_of_node: torch.Tensor
    n_graphs: int


class RootedExamples(GraphExamples):
    """Graphs with one row per pair."""

    def __init__(self, batch, columns, hops):
        super().__init__(batch, columns)
        self.hops = hops

    def part(self, rows):
        nodes, cut = super().part(rows), rooted_subgraphs(self.batch[rows], self.hops)
        root = np.repeat(np.arange(len(cut.root)), np.diff(cut.subgraph_ptr))
        arcs = np.stack([np.repeat(np.arange(len(root)), np.diff(cut.indptr)), cut.indices])
        arrays = (cut.node, root, cut.distance, arcs)
        tensors = [torch.from_numpy(array.astype(np.int64)) for array in arrays]
        return RootedInput(nodes.x, *tensors, nodes.graph_of_node, len(rows))


def gin(network, graphs):
    """Sums over neighbours, then a perceptron; the sums over nodes of all layers."""
    states = gin_layers(network.layers, graphs.x, graphs.edge_index)
    return network.head(sum_by(torch.cat([graphs.x, *states], dim=1), graphs.graph_of_node, graphs.n_graphs))


def gin_layers(layers, x, edge_index):
    source, target = edge_index
    states = []
    for perceptron in layers.perceptrons:
        x = perceptron(x + sum_by(x[source], target, len(x)))
        states.append(x)
    return states


def nested_gin(network, graphs):
    """A GIN inside every rooted subgraph."""
    x = graphs.x[graphs.node_of_pair]
    if network.n_distances:
        marks = torch.nn.functional.one_hot(graphs.distance, network.n_distances)
        x = torch.cat([x, marks.to(x.dtype)], dim=1)
    states = torch.cat(gin_layers(network.layers, x, graphs.edge_index), dim=1)
    roots = network.of_root(sum_by(states, graphs.root_of_pair, len(graphs.x)))
    return network.head(sum_by(roots, graphs.graph_of_node, graphs.n_graphs))


def id_gnn(network, graphs):
    """A GIN inside every rooted subgraph, with other messages from the root; the states of the roots."""
    source, target = graphs.edge_index
    is_root = graphs.distance == 0
    x, roots = network.enter(graphs.x)[graphs.node_of_pair], []
    for of_root, of_others, update in zip(
        network.from_centre, network.from_others, network.updates, strict=True
    ):
        messages = torch.where(is_root[:, None], of_root(x), of_others(x))
        x = update(x + sum_by(messages[source], target, len(x)))
        roots.append(x[is_root])
    return network.head(sum_by(torch.cat(roots, dim=1), graphs.graph_of_node, graphs.n_graphs))


def sagpool(network, graphs):
    """The scores and the choice of nodes of PyTorch Geometric."""
    n, dtype = len(graphs.x), graphs.x.dtype
    (source, target), weights = gcn_norm(graphs.edge_index, None, n, dtype=dtype)

    def convolved(layer, x):
        return sum_by(weights[:, None] * (x @ layer.weight.T)[source], target, n) + layer.bias

    x, states = graphs.x, []
    for layer in network.layers:
        x = convolved(layer, x).relu()
        states.append(x)
    states = torch.cat(states, dim=1)
    score = (convolved(network.score, states) * network.sign).tanh()
    # Rounded, so that nodes which the network cannot tell apart are ties, of which any may be kept.
    chosen = topk(score[:, 0].detach().round(decimals=9), network.ratio, graphs.graph_of_node)
    kept, graph = (states * score)[chosen], graphs.graph_of_node[chosen]
    total = global_add_pool if network.readout == "sum" else global_mean_pool
    both = [pooling(kept, graph, graphs.n_graphs) for pooling in (total, global_max_pool)]
    return network.head(torch.cat(both, dim=1))


def k_hop(network, graphs):
    """Rings from the outside in, for every root."""
    x = graphs.x
    for step in network.passes:
        x = ring_pass(step, x, graphs)
    return network.head(sum_by(x, graphs.graph_of_node, graphs.n_graphs))


def ring_pass(step, x, graphs):
    distance = graphs.distance
    source, target = graphs.edge_index
    place = torch.empty_like(distance)
    outer = None
    for d in range(step.hops, -1, -1):
        members = torch.nonzero(distance == d)[:, 0]
        # Places are counted within a ring; those of the outer ring do not change.
        place[members] = torch.arange(len(members))
        states = step.enter[d](x[graphs.node_of_pair[members]])
        if outer is not None:
            inwards = (distance[target] == d) & (distance[source] == d + 1)
            heard = step.across[d](outer)[place[source[inwards]]]
            states = states + sum_by(heard, place[target[inwards]], len(members))
        if d > 0:
            level = (distance[target] == d) & (distance[source] == d)
            heard = step.within_other[d - 1](states)[place[source[level]]]
            states = step.within_own[d - 1](states) + sum_by(heard, place[target[level]], len(members))
        outer = states
    return outer


def gcn(network, graphs):
    """The adjacency with self-loops, normalised as PyTorch Geometric does it."""
    x, n = graphs.x, len(graphs.x)
    (source, target), weights = gcn_norm(graphs.edge_index, None, n, dtype=x.dtype)
    for layer in network.layers:
        x = (sum_by(weights[:, None] * (x @ layer.weight.T)[source], target, n) + layer.bias).relu()
    return network.head(sum_by(x, graphs.graph_of_node, graphs.n_graphs))


class SetLevel(NamedTuple):
    """The k-sets of some graphs: the (k-1)-sets in each, their edges, local neighbours, graphs."""

    subsets: torch.Tensor
    n_edges: torch.Tensor
    edge_index: torch.Tensor
    graph_of_set: torch.Tensor


class SetInput(NamedTuple):
    """Some graphs with their pairs and triples."""

    graphs: GraphInput
    pairs: SetLevel
    triples: SetLevel


class SetExamples(GraphExamples):
    """Graphs with all pairs and connected triples of nodes."""

    def part(self, rows):
        levels = []
        for each in node_sets(self.batch[rows]):
            source = np.repeat(np.arange(len(each.n_edges)), np.diff(each.indptr))
            graph = np.repeat(np.arange(len(rows)), np.diff(each.set_ptr))
            arrays = (each.subsets, each.n_edges, np.stack([source, each.indices]), graph)
            levels.append(SetLevel(*map(torch.from_numpy, arrays)))
        return SetInput(super().part(rows), *levels)


def one_two_three(network, sets):
    """Nodes, then pairs, then triples."""
    graphs = sets.graphs
    x = set_layers(network.on_nodes, graphs.x, graphs.edge_index)
    pooled = [sum_by(x, graphs.graph_of_node, graphs.n_graphs)]
    for part, level in ((network.on_pairs, sets.pairs), (network.on_triples, sets.triples)):
        kind = torch.nn.functional.one_hot(level.n_edges, part.n_types).to(x.dtype)
        first = elu(part.first(torch.cat([kind, x[level.subsets].sum(dim=1)], dim=1)))
        x = set_layers(part.layers, first, level.edge_index)
        pooled.append(sum_by(x, level.graph_of_set, graphs.n_graphs))
    return network.head(torch.cat(pooled, dim=1))


def set_layers(layers, x, edge_index):
    source, target = edge_index
    for convolution in layers.convolutions:
        x = elu(convolution.own(x) + convolution.neighbours(sum_by(x[source], target, len(x))))
    return x


class PairInput(NamedTuple):
    """Each graph as a tensor over ordered pairs of nodes, shape (1 + n_columns, 1, n, n)."""

    pairs: tuple[torch.Tensor, ...]


class PairExamples(GraphExamples):
    """Graphs as the adjacency, and the nodes' columns on the diagonal."""

    def part(self, rows):
        graphs = dense_graphs(super().part(rows))
        pairs = []
        for x, adjacency, is_node in zip(*graphs, strict=True):
            n = int(is_node.sum())
            diagonal = torch.diag_embed(x[:n].T)
            pairs.append(torch.cat([adjacency[None, :n, :n], diagonal])[:, None])
        return PairInput(tuple(pairs))


def ppgn(network, graphs):
    """Dense products of matrices, graph by graph; sums on and off the diagonal after every block."""
    pooled = []
    for pairs in graphs.pairs:
        sums = []
        for block in network.blocks:
            pairs = block(pairs)  # noqa: PLW2901
            diagonal = pairs.diagonal(dim1=2, dim2=3).sum(dim=(1, 2))
            sums += [diagonal, pairs.sum(dim=(1, 2, 3)) - diagonal]
        pooled.append(torch.cat(sums))
    return network.head(torch.stack(pooled))


class DenseGraphs(NamedTuple):
    """Some graphs, padded with dummy nodes: inputs, adjacency, and which nodes are none."""

    x: torch.Tensor
    adjacency: torch.Tensor
    is_node: torch.Tensor


def dense_graphs(graphs):
    sizes = torch.bincount(graphs.graph_of_node, minlength=graphs.n_graphs)
    n = max(1, int(sizes.max()))
    place = torch.arange(len(graphs.x)) - (sizes.cumsum(0) - sizes)[graphs.graph_of_node]
    x = graphs.x.new_zeros(graphs.n_graphs, n, graphs.x.shape[1])
    x[graphs.graph_of_node, place] = graphs.x
    source, target = graphs.edge_index
    adjacency = graphs.x.new_zeros(graphs.n_graphs, n, n)
    adjacency[graphs.graph_of_node[source], place[source], place[target]] = 1
    return DenseGraphs(x, adjacency, torch.arange(n) < sizes[:, None])


def diffpool(network, graphs):
    """Dense matrices, and the pooling of PyTorch Geometric."""
    x, adjacency, is_node = dense_graphs(graphs)
    nodes = mean_layers(network.embed, x, adjacency) * is_node[:, :, None]
    assignment = mean_layers(network.assign, x, adjacency)
    clusters, coarse, link_loss, entropy_loss = dense_diff_pool(nodes, adjacency, assignment, is_node)
    clusters = mean_layers([network.coarse], clusters, coarse)
    pooled = torch.cat([nodes.sum(dim=1), clusters.sum(dim=1)], dim=1)
    return network.head(with_auxiliary_loss(pooled, link_loss + entropy_loss) if network.training else pooled)


def mean_layers(layers, x, adjacency):
    degrees = adjacency.sum(dim=2, keepdim=True).clamp(min=1)
    for convolution in layers:
        x = (convolution.own(x) + convolution.neighbours(adjacency @ x / degrees)).relu()
    return x


def sort_pool(network, graphs):
    """Means over neighbours; nodes sorted by the last channel, then by the layers before."""
    source, target = graphs.edge_index
    n = len(graphs.x)
    size = torch.ones(n, 1, dtype=graphs.x.dtype).index_add(
        0, target, torch.ones(len(target), 1).to(graphs.x)
    )
    x, states = graphs.x, []
    for weight in network.weights:
        said = weight(x)
        x = ((said + sum_by(said[source], target, n)) / size).tanh()
        states.append(x)
    # The last key counts most: the graph, then the sorting layer, then each layer before it.
    keys = [-state[:, -1].detach().numpy().round(5) for state in states]
    order = torch.from_numpy(np.lexsort([*keys, graphs.graph_of_node.numpy()]))
    sizes = torch.bincount(graphs.graph_of_node, minlength=graphs.n_graphs)
    rank = torch.arange(n) - (sizes.cumsum(0) - sizes)[graphs.graph_of_node]
    kept = rank < network.n_kept
    rows = torch.cat(states, dim=1)[order[kept]]
    sequence = rows.new_zeros(graphs.n_graphs, network.n_kept, rows.shape[1])
    sequence = sequence.index_put((graphs.graph_of_node[kept], rank[kept]), rows)
    return network.head(network.filters(sequence).mT)
