"""Networks on distinct colours against the same networks with one row per node, pair or set."""

import copy

import networkx as nx
import numpy as np
import pytest
import torch

from tests.baselines import plain
from tests.baselines.rows import row
from tests.networks import in_double
from twinwl import GraphBatch
from twinwl.neural.training import LabelledSet, seeded, train

CLOSE = {"rtol": 1e-9, "atol": 1e-10}


def rooted(estimator, batch, columns):
    radius = next(
        getattr(estimator, name) for name in ("height", "hops", "layers") if hasattr(estimator, name)
    )
    return plain.RootedExamples(batch, columns, radius)


def whole(estimator, batch, columns):  # noqa: ARG001
    return plain.GraphExamples(batch, columns)


def sets(estimator, batch, columns):  # noqa: ARG001
    return plain.SetExamples(batch, columns)


def pairs(estimator, batch, columns):  # noqa: ARG001
    return plain.PairExamples(batch, columns)


NETWORKS = {
    "gcn": ("gcn", {"layers": 3}, plain.gcn, whole),
    "diffpool": ("diffpool", {"layers": 2}, plain.diffpool, whole),
    "sortpool": ("sortpool", {"layers": 2}, plain.sort_pool, whole),
    "123-gnn": ("123-gnn", {"layers": 2}, plain.one_two_three, sets),
    "ppgn": ("ppgn", {"layers": 3}, plain.ppgn, pairs),
    "ppgn of one block": ("ppgn", {"layers": 1}, plain.ppgn, pairs),
    "gin": ("gin", {"layers": 3}, plain.gin, whole),
    "sagpool": ("sagpool", {"layers": 2}, plain.sagpool, whole),
    "sagpool by means": ("sagpool", {"layers": 1, "readout": "mean", "ratio": 0.3}, plain.sagpool, whole),
    "id-gnn": ("id-gnn", {"layers": 2}, plain.id_gnn, rooted),
    "id-gnn-fast": ("id-gnn-fast", {"layers": 2}, plain.gin, whole),
    "nested-gin": ("nested-gin", {"layers": 3, "height": 2}, plain.nested_gin, rooted),
    "nested-gin without distances": (
        "nested-gin",
        {"layers": 2, "height": 3, "distance_features": False},
        plain.nested_gin,
        rooted,
    ),
    "3-hop-gnn": ("3-hop-gnn", {"hops": 3}, plain.k_hop, rooted),
    "2-hop-gnn of two layers": ("3-hop-gnn", {"hops": 2, "layers": 2}, plain.k_hop, rooted),
}


def graphs(*, features=False):
    """Return labelled trees and cycles, and graphs of one node, without edges, without nodes."""
    rng = np.random.default_rng(0)
    made = [nx.random_labeled_tree(int(rng.integers(2, 12)), seed=number) for number in range(20)]
    made += [nx.cycle_graph(6), nx.ladder_graph(4), nx.star_graph(4), nx.empty_graph(3), nx.empty_graph(1)]
    made += [nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3)), nx.empty_graph(0)]
    labels = [rng.choice(["C", "C", "N"], len(graph)).tolist() for graph in made]
    values = [rng.choice([0.5, -1.0, 2.0], (len(graph), 1)) for graph in made]
    return GraphBatch.from_edges(
        [list(graph.edges) for graph in made],
        num_nodes=[len(graph) for graph in made],
        node_labels=labels,
        node_features=values if features else None,
    )


class Plain(torch.nn.Module):
    """The network of a row, run as it is defined."""

    def __init__(self, network, forward):
        super().__init__()
        self.network = network
        self.run = forward

    def forward(self, parts):
        (part,) = parts
        return self.run(self.network, part)


class Double:
    """Examples in double precision, in one part."""

    def __init__(self, examples):
        self.examples = examples

    def __len__(self):
        return len(self.examples)

    def take(self, rows):
        return (in_double(self.examples.part(np.asarray(rows))),)


def both_ways(name, batch):
    """Return a row's network and examples, on colours and as defined, with the same weights."""
    kind, parameters, forward, plain_examples = NETWORKS[name]
    estimator = row(kind, **parameters)
    lifted = estimator._fit_examples(batch)
    columns = estimator.inputs_.columns(estimator._describe(batch))
    with seeded(3):
        module = estimator._build_module(2).double()
    plainly = Plain(copy.deepcopy(module), forward)
    return (module, Double(lifted)), (plainly, Double(plain_examples(estimator, batch, columns)))


SLOW = {"ppgn", "2-hop-gnn of two layers"}
OF_EACH_KIND = {"gin", "123-gnn", "ppgn of one block", "nested-gin"}  # graphs, sets, pairs, rooted subgraphs


@pytest.mark.parametrize("features", [False, pytest.param(True, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in NETWORKS]
)
def test_outputs_gradients_and_running_statistics_are_those_of_all_items(name, features):
    batch = graphs(features=features)
    (module, lifted), (plainly, items) = both_ways(name, batch)
    rows = np.array([3, 20, 21, 5, 26, 23, 24, 3, 25, 22, 9])
    for _ in range(2):  # the second step has other running statistics before it
        outputs = []
        for network, examples in ((module, lifted), (plainly, items)):
            network.train()
            with seeded(1):  # dropout
                outputs.append(network(examples.take(rows)))
            (outputs[-1] * torch.linspace(-1, 1, 2)).square().sum().backward()
        torch.testing.assert_close(*outputs, **CLOSE)
    for (weight, mine), theirs in zip(module.named_parameters(), plainly.network.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad, **CLOSE, msg=lambda text: f"{weight}: {text}")  # noqa: B023
    theirs = dict(plainly.network.named_buffers())
    for buffer, value in module.named_buffers():
        if "running" in buffer:
            torch.testing.assert_close(value, theirs[buffer], **CLOSE)
    module.eval()
    plainly.eval()
    with torch.no_grad():
        everything = np.arange(len(batch))
        torch.testing.assert_close(module(lifted.take(everything)), plainly(items.take(everything)), **CLOSE)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.exhaustive] * (name not in OF_EACH_KIND)) for name in NETWORKS],
)
def test_a_training_takes_the_same_course(name):
    batch = graphs()
    y = (batch.nodes_per_graph % 2).astype(np.int64)
    histories = [
        train(
            network,
            examples,
            y,
            validation=LabelledSet(examples, y),
            max_epochs=4,
            batch_size=9,
            learning_rate=0.01,
            random_state=5,
        )
        for network, examples in both_ways(name, batch)
    ]
    for curve in ("train_loss", "validation_loss"):
        first, second = (getattr(history, curve) for history in histories)
        np.testing.assert_allclose(first, second, rtol=1e-6)


def test_rows_are_fewer_than_items():
    batch = graphs()
    (_, lifted), _ = both_ways("nested-gin", batch)
    _, levels = lifted.examples.part(np.arange(len(batch)))
    rows = [len(levels.level(number).counts) for number in range(5)]
    items = [int(levels.item_ptr(number)[-1]) for number in range(5)]
    assert rows[0] == 2
    assert rows == sorted(rows)
    assert items[1] > 3 * rows[1]
