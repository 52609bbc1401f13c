import numpy as np
import torch

from tests.ntwin.rooted_data import row_examples
from twinwl.datasets.generators import worked_example
from twinwl.graphs.batch import concatenate
from twinwl.neural.encoder import NTwinEncoder, NTwinNetwork, PooledSumNorm
from twinwl.neural.inputs import NTwinExamples
from twinwl.neural.sparse import SparseRows
from twinwl.neural.training import train


def network_and_examples(**arguments):
    graphs = concatenate([worked_example()] * 3)
    torch.manual_seed(0)
    network = NTwinNetwork(NTwinEncoder(2, 2, "growing", 8), 2, hidden=8, **arguments)
    return network, NTwinExamples(row_examples(graphs, 2, "growing"))


def test_settling_gives_prediction_the_spread_of_the_training_graphs():
    network, examples = network_and_examples()
    network.recalibrate(examples)
    network.eval()
    with torch.no_grad():
        scaled = network.norm(network.encoder(examples.take(np.arange(6)).graphs))
    torch.testing.assert_close(scaled.mean(dim=0), torch.zeros(16), atol=1e-3, rtol=0)


def test_the_trainer_settles_what_it_leaves_behind():
    network, examples = network_and_examples()
    train(network, examples, np.array([0, 1] * 3), max_epochs=3, batch_size=2)
    with torch.no_grad():
        sums = network.encoder(examples.take(np.arange(6)).graphs)
    torch.testing.assert_close(network.norm.running_mean, sums.mean(dim=0))


def test_settling_changes_nothing_but_mean_and_spread():
    network, examples = network_and_examples()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    network.recalibrate(examples)
    changed = {name for name, value in network.state_dict().items() if not torch.equal(value, before[name])}
    assert changed == {"norm.running_mean", "norm.running_var"}


def test_a_network_without_normalisation_has_nothing_to_settle():
    network, examples = network_and_examples(normalize=False)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    network.recalibrate(examples)
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())


def test_a_single_graph_in_training_is_scaled_as_at_prediction():
    norm = PooledSumNorm(2)
    row = torch.tensor([[3.0, -1.0]])
    in_training = norm.train()(row)
    torch.testing.assert_close(in_training, norm.eval()(row))


def test_input_dropout_thins_histograms_in_training_only():
    network, _ = network_and_examples(n_histogram_columns=50, input_dropout=0.5)
    rows = SparseRows(np.array([0, 50]), np.arange(50), np.ones(50, np.float32))
    thinned = network.train()._drop_entries(rows)
    assert 5 < np.count_nonzero(thinned.values) < 45
    assert set(thinned.values.tolist()) == {0.0, 2.0}
    assert network.eval()._drop_entries(rows) is rows
