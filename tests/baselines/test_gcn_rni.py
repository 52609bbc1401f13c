import numpy as np
import torch

from tests.baselines.rows import row
from tests.isomorphism.relabelling import relabelled
from tests.networks import in_double
from twinwl import GraphBatch
from twinwl.datasets.generators import worked_example
from twinwl.graphs.batch import concatenate
from twinwl.neural.training import seeded

DRAWS = 4000


def network(batch):
    estimator = row("gcn-rni")
    examples = estimator._fit_examples(batch)
    with seeded(1):
        module = estimator._build_module(2).double().eval()
    return (
        module,
        lambda graphs: in_double(estimator._examples(graphs).part(np.arange(len(graphs)))),
        examples,
    )


def many_draws(module, inputs, graph, seed):
    """Return the logits of as many draws, shape (DRAWS, n_classes)."""
    copies = inputs(concatenate([graph] * DRAWS))
    with seeded(seed), torch.no_grad():
        noise = torch.randn(DRAWS * graph.n_nodes, module.n_random, dtype=torch.float64)
        return module.head(module.of_draw(*copies, noise))


def test_outputs_are_random_and_their_expectation_is_permutation_invariant():
    graph = worked_example()[0]
    module, inputs, _ = network(graph)
    first = many_draws(module, inputs, graph, seed=0)
    second = many_draws(module, inputs, relabelled(graph, np.random.default_rng(0)), seed=1)
    assert (first[1:] != first[:-1]).any(dim=1).all()
    error = torch.sqrt(first.var(dim=0) / DRAWS + second.var(dim=0) / DRAWS)
    assert ((first.mean(dim=0) - second.mean(dim=0)).abs() < 4 * error).all()
    # The test has teeth: another graph's expectation lies outside that band.
    other = many_draws(module, inputs, GraphBatch.from_edges([[(0, 1)]], node_labels=[[1, 2]]), seed=2)
    assert ((first.mean(dim=0) - other.mean(dim=0)).abs() > 4 * error).any()


def test_in_training_every_run_draws_anew_and_prediction_does_not():
    batch = worked_example()
    module, inputs, _ = network(batch)
    part = inputs(batch)
    with torch.no_grad():
        assert torch.equal(module.logits(*part), module.logits(*part))
        module.train()
        assert not torch.equal(module.logits(*part), module.logits(*part))


def test_a_prediction_does_not_depend_on_the_graphs_beside_it():
    batch = worked_example()
    module, inputs, _ = network(batch)
    longer = GraphBatch.from_edges([[(node, node + 1) for node in range(11)]], node_labels=[[1] * 12])
    with torch.no_grad():
        alone, beside = (
            module.logits(*inputs(batch[0])),
            module.logits(*inputs(GraphBatch.from_edges([[]], num_nodes=[0]))),
        )
        together = module.logits(*inputs(concatenate([longer, batch[0]])))
    assert beside.shape == (1, 2)
    torch.testing.assert_close(together[1], alone[0], rtol=0, atol=1e-12)


def test_the_ratio_says_how_many_entries_are_random():
    batch = worked_example()
    for ratio, expected in ((0.125, 1), (0.5, 4), (1.0, 8)):
        estimator = row("gcn-rni", ratio=ratio)
        estimator._fit_examples(batch)
        assert estimator._network(estimator, 2, 2).n_random == expected
