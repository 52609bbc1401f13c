"""The networks as they are defined, with one row per node, pair or set: those on colours must equal them.

Each function takes a network and its plain input, and uses the network's own weights.
"""

import torch

from twinwl.baselines.network_parts import sum_by


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
