"""Networks against their papers' equations, written out with loops for one small graph."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
import torch

from tests.baselines.rows import row
from tests.networks import in_double
from twinwl import GraphBatch
from twinwl.neural.training import seeded

GRAPH = nx.Graph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3), (5, 6)])
LABELS = [0, 1, 0, 1, 1, 0, 1]
COLUMNS = torch.eye(2, dtype=torch.float64)[LABELS]


@pytest.fixture
def adjacency():
    return torch.from_numpy(nx.to_numpy_array(GRAPH, nodelist=range(7)))


def prepared(name, **parameters):
    """Return a row's untrained network in double precision, and the small graph as its input."""
    batch = GraphBatch.from_edges([list(GRAPH.edges)], node_labels=[LABELS])
    estimator = row(name, **parameters)
    examples = estimator._fit_examples(batch)
    with seeded(2):
        network = estimator._build_module(2).double().eval()
    return network, in_double(examples.part(np.arange(1)))


def ball(root, radius):
    """Return the distances of the nodes within some steps."""
    return nx.single_source_shortest_path_length(GRAPH, root, cutoff=radius)


def agree(network, inputs, pooled):
    with torch.no_grad():
        torch.testing.assert_close(
            network.logits(*inputs), network.head(pooled[None]), rtol=1e-10, atol=1e-10
        )


def test_gcn_multiplies_by_the_normalised_adjacency(adjacency):
    network, inputs = prepared("gcn", layers=2)
    looped = adjacency + torch.eye(7)
    scale = looped.sum(dim=1).rsqrt()
    x = COLUMNS
    for layer in network.layers:
        x = (scale[:, None] * looped * scale @ x @ layer.weight.T + layer.bias).relu()
    agree(network, inputs, x.sum(dim=0))


def test_gin_adds_neighbours_and_reads_all_layers(adjacency):
    network, inputs = prepared("gin", layers=2)
    states = [COLUMNS]
    for perceptron in network.layers.perceptrons:
        states.append(perceptron(states[-1] + adjacency @ states[-1]))
    agree(network, inputs, torch.cat(states, dim=1).sum(dim=0))


def test_dgcnn_takes_means_and_sorts_by_the_last_channel(adjacency):
    network, inputs = prepared("sortpool", layers=2)
    looped = adjacency + torch.eye(7)
    x, states = COLUMNS, []
    for weight in network.weights:
        x = (looped @ weight(x) / looped.sum(dim=1, keepdim=True)).tanh()
        states.append(x)
    states = torch.cat(states, dim=1)
    sequence = torch.zeros(1, network.n_kept, states.shape[1], dtype=torch.float64)
    sequence[0, :7] = states[states[:, -1].argsort(descending=True)]
    assert network.n_kept == 10
    with torch.no_grad():
        expected = network.head(network.filters(sequence).mT)
        torch.testing.assert_close(network.logits(*inputs), expected, rtol=1e-10, atol=1e-10)


def test_diffpool_coarsens_by_soft_clusters(adjacency):
    network, inputs = prepared("diffpool", layers=2)
    nodes = mean_layers(network.embed, adjacency)
    soft = mean_layers(network.assign, adjacency).softmax(dim=-1)
    coarse = soft.mT @ adjacency @ soft
    clusters = soft.mT @ nodes
    around = coarse @ clusters / coarse.sum(dim=1, keepdim=True).clamp(min=1)
    clusters = (network.coarse.own(clusters) + network.coarse.neighbours(around)).relu()
    agree(network, inputs, torch.cat([nodes.sum(dim=0), clusters.sum(dim=0)]))


def mean_layers(layers, adjacency):
    x = COLUMNS
    for convolution in layers:
        x = (
            convolution.own(x) + convolution.neighbours(adjacency @ x / adjacency.sum(dim=1, keepdim=True))
        ).relu()
    return x


def test_nested_gin_runs_a_gin_in_each_induced_subgraph():
    network, inputs = prepared("nested-gin", layers=2, height=2)
    roots = []
    for root in range(7):
        distances = ball(root, 2)
        nodes = sorted(distances)
        inner = torch.from_numpy(nx.to_numpy_array(GRAPH.subgraph(nodes), nodelist=nodes))
        marks = torch.eye(3, dtype=torch.float64)[[distances[node] for node in nodes]]
        x, states = torch.cat([COLUMNS[nodes], marks], dim=1), []
        for perceptron in network.layers.perceptrons:
            x = perceptron(x + inner @ x)
            states.append(x)
        roots.append(torch.cat(states, dim=1).sum(dim=0))
    agree(network, inputs, network.of_root(torch.stack(roots)).sum(dim=0))


def test_id_gnn_sends_other_messages_from_the_centre():
    network, inputs = prepared("id-gnn", layers=2)
    total = 0
    for centre in range(7):
        nodes = sorted(ball(centre, 2))
        states = dict(zip(nodes, network.enter(COLUMNS[nodes]), strict=True))
        read = []
        for of_centre, of_others, update in zip(
            network.from_centre, network.from_others, network.updates, strict=True
        ):
            heard = {
                node: sum(
                    (
                        (of_centre if other == centre else of_others)(states[other])
                        for other in GRAPH[node]
                        if other in states
                    ),
                    torch.zeros(8, dtype=torch.float64),
                )
                for node in nodes
            }
            states = {node: update((states[node] + heard[node])[None])[0] for node in nodes}
            read.append(states[centre])
        total = total + torch.cat(read)
    agree(network, inputs, total)


def test_k_hop_gnn_walks_the_rings_inwards():
    network, inputs = prepared("3-hop-gnn", hops=3, layers=2)
    x = COLUMNS
    for step in network.passes:
        x = torch.stack([root_state(step, root, x) for root in range(7)])
    agree(network, inputs, x.sum(dim=0))


def root_state(step, root, x):
    distances = ball(root, 3)
    outer = {}
    for d in range(3, -1, -1):
        ring = [node for node, distance in distances.items() if distance == d]
        states = {node: step.enter[d](x[node][None])[0] for node in ring}
        if d < 3:
            for node in ring:
                for other in set(GRAPH[node]) & outer.keys():
                    states[node] = states[node] + step.across[d](outer[other][None])[0]
        if d > 0:
            own, others = step.within_own[d - 1], step.within_other[d - 1]
            states = {
                node: sum(
                    (others(states[other][None])[0] for other in GRAPH[node] if other in states),
                    own(states[node][None])[0],
                )
                for node in ring
            }
        outer = states
    return outer[root]


def test_ppgn_multiplies_feature_by_feature(adjacency):
    network, inputs = prepared("ppgn", layers=2)
    pairs = torch.zeros(1, 3, 7, 7, dtype=torch.float64)
    pairs[0, 0] = adjacency
    pairs[0, 1:, range(7), range(7)] = COLUMNS.T
    pooled = []
    for block in network.blocks:
        left, right = (part(pairs[0][:, None])[:, 0] for part in (block.left, block.right))
        product = torch.stack([a @ b for a, b in zip(left, right, strict=True)])
        joined = torch.cat([pairs[0], product])
        linear = torch.einsum("oc,cij->oij", block.join.weight, joined) + block.join.bias[:, None, None]
        pairs = linear.relu()[None]
        diagonal = torch.stack([feature.trace() for feature in pairs[0]])
        pooled += [diagonal, pairs[0].sum(dim=(1, 2)) - diagonal]
    agree(network, inputs, torch.cat(pooled))


def test_123_gnn_feeds_pairs_from_nodes_and_triples_from_pairs():
    network, inputs = prepared("123-gnn", layers=1)
    elu = torch.nn.functional.elu
    nodes = layer(network.on_nodes, {(node,): COLUMNS[node] for node in range(7)})
    pooled = [sum(nodes.values())]
    below = nodes
    for k, part in ((2, network.on_pairs), (3, network.on_triples)):
        sets = [
            chosen
            for chosen in combinations(range(7), k)
            if k == 2 or nx.is_connected(GRAPH.subgraph(chosen))
        ]
        first = {}
        for chosen in sets:
            kind = torch.eye(part.n_types, dtype=torch.float64)[GRAPH.subgraph(chosen).number_of_edges()]
            inside = sum(below[tuple(node for node in chosen if node != left)] for left in chosen)
            first[chosen] = elu(part.first(torch.cat([kind, inside])))
        below = layer(part.layers, first)
        pooled.append(sum(below.values()))
    agree(network, inputs, torch.cat(pooled))


def layer(part, states):
    """Return the states after the one layer of a level, by the definition of local neighbours."""
    (convolution,) = part.convolutions
    out = {}
    for chosen, state in states.items():
        local = [
            other
            for other in states
            if len(gone := set(chosen) - set(other)) == 1
            and GRAPH.has_edge(*gone, *(set(other) - set(chosen)))
        ]
        heard = sum((states[other] for other in local), torch.zeros_like(state))
        out[chosen] = torch.nn.functional.elu(convolution.own(state) + convolution.neighbours(heard))
    return out
