"""The networks as they are defined, with one row per node, pair or set: those on colours must equal them.

Each function takes a network and its plain input, and uses the network's own weights.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch.nn.functional import elu
from torch_geometric.nn import dense_diff_pool
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from twinwl.baselines.batching import GraphExamples, GraphInput, GraphSlicer
from twinwl.baselines.geometric import _with_auxiliary_loss
from twinwl.baselines.gnn import sum_by
from twinwl.baselines.node_sets import node_pairs, node_triples


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


class SetExamples:
    """Graphs with all pairs and connected triples of nodes."""

    def __init__(self, batch, columns):
        self.nodes = GraphExamples(batch, columns)
        self.sets = (node_pairs(batch), node_triples(batch))
        self.slicers = [GraphSlicer(each.set_ptr, each.indptr, each.indices) for each in self.sets]

    def __len__(self):
        return len(self.nodes)

    def part(self, rows):
        below = self.nodes.slicer.take(rows)
        levels = []
        for each, slicer in zip(self.sets, self.slicers, strict=True):
            piece = slicer.take(rows)
            shift = below.shift[piece.graph_of_node]
            arrays = (each.subsets[piece.nodes] + shift[:, None], each.n_edges[piece.nodes], piece.edge_index)
            levels.append(SetLevel(*map(torch.from_numpy, (*arrays, piece.graph_of_node))))
            below = piece
        return SetInput(self.nodes.part(np.asarray(rows)), *levels)


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
        x = elu(convolution.own(x) + convolution.heard(sum_by(x[source], target, len(x))))
    return x


class PairInput(NamedTuple):
    """Each graph as a tensor over ordered pairs of nodes, shape (1 + n_columns, 1, n, n)."""

    pairs: tuple[torch.Tensor, ...]


class PairExamples:
    """Graphs as the adjacency, and the nodes' columns on the diagonal."""

    def __init__(self, batch, columns):
        self.nodes = GraphExamples(batch, columns)

    def __len__(self):
        return len(self.nodes)

    def part(self, rows):
        graphs = dense_graphs(self.nodes.part(np.asarray(rows)))
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
    clusters = network.coarse(clusters, coarse).relu()
    logits = network.head(torch.cat([nodes.sum(dim=1), clusters.sum(dim=1)], dim=1))
    return _with_auxiliary_loss(logits, link_loss + entropy_loss) if network.training else logits


def mean_layers(layers, x, adjacency):
    degrees = adjacency.sum(dim=2, keepdim=True).clamp(min=1)
    for convolution in layers.convolutions:
        x = (convolution.own(x) + convolution.heard(adjacency @ x / degrees)).relu()
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
    return network.read(network.filters(sequence).mT)
