"""Networks follow the device: nothing stays behind, and other devices' operations give the same numbers."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from scipy.sparse import random_array  # noqa: E402

import twinwl as tw  # noqa: E402
from twinwl.baselines import gnn, higher_order  # noqa: E402
from twinwl.neural import encoder, rows, sparse  # noqa: E402
from twinwl.neural.quotient import build_quotient  # noqa: E402
from twinwl.neural.sparse import (  # noqa: E402
    SparseAwareAdam,
    SparseExamples,
    SparseLinear,
)
from twinwl.neural.training import device_of, move_to  # noqa: E402

META = torch.device("meta")
GRAPHS = tw.from_edges(
    [[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]] * 6,
    [["C", "N", "O"]] * 12,
    edge_labels=[["a", "b"], ["a", "b", "a"]] * 6,
)
Y = [0, 1] * 6


def networks():
    """Return an estimator of each kind."""
    options = {"hidden": 4, "max_epochs": 1}
    found = [
        tw.STwinClassifier(1, **options),
        tw.STwinRegressor(1, **options),
        tw.NTwinClassifier(2, **options),
        tw.NTwinClassifier(2, subtree="gin", edge_labels=True, root_mark="root", **options),
        tw.NTwinRegressor(2, **options),
        *(tw.NTwinClassifier(2, readout=readout, **options) for readout in ("gcn", "gat", "deepsets")),
        tw.NTwinClassifier(2, readout="gat", edge_labels=True, root_mark="distance", roots=2, **options),
    ]
    on_nodes = ("GIN", "GCN", "DiffPool")
    beyond = ("NestedGIN", "KHopGNN", "IDGNN", "OneTwoThreeGNN", "PPGN")
    kinds = [(gnn, name) for name in on_nodes] + [(higher_order, name) for name in beyond]
    return [*found, *(getattr(module, f"{name}Classifier")(**options) for module, name in kinds)]


def assert_nothing_stays_behind(model, graphs):
    # The meta device refuses to combine its tensors with those of the processor.
    model.fit(graphs, Y)
    module = model.module_.to(META).train()
    outputs = module(move_to(model._examples(graphs).take(np.arange(12)), META))
    assert outputs.device == META
    with SparseAwareAdam(module, 0.1) as optimiser:
        outputs.sum().backward()
        assert all(weight.grad.device == META for weight in module.parameters() if weight.grad is not None)
        assert any(weight.grad is not None for weight in module.parameters())
        optimiser.step()


@pytest.mark.parametrize("model", networks(), ids=lambda model: type(model).__name__)
def test_no_tensor_stays_behind(model):
    assert_nothing_stays_behind(model, GRAPHS)


@pytest.mark.parametrize("readout", ["gin", "gcn", "gat", "deepsets"])
def test_no_tensor_of_continuous_features_stays_behind(readout):
    graphs = GRAPHS.changed(node_features=np.random.default_rng(0).normal(size=(GRAPHS.n_nodes, 2)))
    assert_nothing_stays_behind(tw.NTwinClassifier(2, hidden=4, max_epochs=1, readout=readout), graphs)


def with_torch_alone(monkeypatch):
    """Treat the processor as another device, which has no compiled loops."""
    for module in (encoder, rows, sparse):
        monkeypatch.setattr(module, "has_kernels", lambda _: False)


def test_the_wide_layer_gives_the_same_with_torch_alone(monkeypatch):
    some = SparseExamples(random_array((6, 9), density=0.4, rng=0, format="csr")).take(np.arange(6))
    layer = SparseLinear(9, 3)
    weights = torch.randn(6, 3)
    expected = layer(some)
    with_torch_alone(monkeypatch)
    got = layer(some)
    torch.testing.assert_close(got, expected)
    (wanted,) = torch.autograd.grad((expected * weights).sum(), layer.weight)
    (found,) = torch.autograd.grad((got * weights).sum(), layer.weight)
    torch.testing.assert_close(found, wanted.to_dense())


def test_message_passing_gives_the_same_with_torch_alone(monkeypatch):
    bottom, (layer, _) = build_quotient(GRAPHS, layers=2).take(np.arange(5))
    below = torch.randn(len(bottom), 3, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(3, dtype=torch.float64, requires_grad=True)
    results = [rows.aggregate_and_pool(below, bias, layer)]
    with_torch_alone(monkeypatch)
    results.append(rows.aggregate_and_pool(below, bias, layer))
    torch.testing.assert_close(results[1], results[0])
    wanted, found = (
        torch.autograd.grad(states.square().sum() + total.sin().sum(), [below, bias])
        for states, total in results
    )
    torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("model", [tw.STwinClassifier, tw.NTwinClassifier])
def test_training_with_torch_alone_gives_the_same_network(model, monkeypatch):
    settings = {"max_epochs": 3, "hidden": 4, "dropout": 0.0, "validation_fraction": None, "device": "cpu"}
    usual = model(**settings).fit(GRAPHS, Y).predict_proba(GRAPHS)
    with_torch_alone(monkeypatch)
    np.testing.assert_allclose(model(**settings).fit(GRAPHS, Y).predict_proba(GRAPHS), usual, atol=1e-4)


def test_the_best_device_is_taken_and_a_missing_one_is_refused(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert device_of("auto").type == "mps"
    with pytest.raises(
        tw.TwinWLError, match="got 'cuda', which torch does not find here; there is mps and cpu"
    ):
        device_of("cuda")
    assert device_of("cuda", or_else="cpu").type == "cpu"


def test_a_missing_device_is_refused_before_training_and_not_at_prediction(monkeypatch, tmp_path):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(tw.TwinWLError, match="device='auto' takes the best"):
        tw.STwinClassifier(1, device="cuda").fit(GRAPHS, Y)
    model = tw.STwinClassifier(1, max_epochs=1).fit(GRAPHS, Y)
    model.device = "cuda"  # as if it had been trained where there is one
    tw.save(model, tmp_path / "model.twinwl")
    loaded = tw.load(tmp_path / "model.twinwl")
    assert loaded.device == "cuda"
    np.testing.assert_array_equal(loaded.predict_proba(GRAPHS), model.predict_proba(GRAPHS))
