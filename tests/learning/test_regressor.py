"""Networks that predict numbers: both kinds, for what their frame promises."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from tests.networks import CERTAIN

torch = pytest.importorskip("torch", reason="needs PyTorch")

import twinwl as tw  # noqa: E402
from twinwl.neural.training import LabelledSet, _evaluate, train  # noqa: E402

STWIN = (tw.STwinRegressor, {"n_iter": 2, "hidden": 16})
NTWIN = (tw.NTwinRegressor, {"layers": 2, "hidden": 16})
BOTH = pytest.mark.parametrize(("kind", "small"), [STWIN, NTWIN])


def measured(n=40, scale=1.0, shift=0.0):
    """Trees and cycles, and for each how many atoms of carbon it has."""
    random = np.random.default_rng(0)
    edges, labels = [], []
    for place in range(n):
        size = int(random.integers(3, 9))
        path = [(node, node + 1) for node in range(size - 1)]
        edges.append(path if place % 2 else [*path, (size - 1, 0)])
        labels.append(random.choice(["C", "N"], size).tolist())
    carbons = np.array([each.count("C") for each in labels])
    return tw.from_edges(edges, labels), shift + scale * carbons


@BOTH
def test_it_learns_what_can_be_learnt(kind, small):
    graphs, y = measured()
    model = kind(**small, **CERTAIN, max_epochs=60).fit(graphs, y)
    assert model.score(graphs, y) > 0.9
    assert model.predict(graphs).dtype == np.float64


@BOTH
def test_the_unit_of_measurement_changes_nothing(kind, small):
    graphs, y = measured()
    plain, other = (
        kind(**small, max_epochs=5, verbose=False).fit(graphs, targets) for targets in (y, 1e6 * y - 7e6)
    )
    np.testing.assert_allclose(1e6 * plain.predict(graphs) - 7e6, other.predict(graphs), rtol=1e-3)


@BOTH
def test_shares_and_intercept_sum_to_the_number(kind, small):
    graphs, y = measured(scale=100.0, shift=5.0)
    model = kind(**small, max_epochs=5, verbose=False).fit(graphs, y)
    for place in (0, 1):
        found = model.explain(graphs[place])
        number = model.predict(graphs[place])[0]
        assert (found.prediction, found.decision) == pytest.approx((number, number), rel=1e-4)
        assert found.node_shares.sum() + found.intercept == pytest.approx(number, rel=1e-4)
        assert found.against is None
        assert np.abs(found.node_shares).max() > 0


@BOTH
def test_the_epoch_of_the_lowest_loss_is_kept(kind, small):
    graphs, y = measured()
    model = kind(**small, max_epochs=12, patience=12, learning_rate=0.05, verbose=False)
    model.fit(graphs[:30], y[:30], validation_data=(graphs[30:], y[30:]), monitor_data=(graphs, y))
    history = model.history_
    assert history.best_epoch == int(np.argmin(history.validation_loss))
    assert history.validation_accuracy == history.monitor_accuracy == []
    said = np.average((model.predict(graphs[30:]) - y[30:]) ** 2) / y[:30].var()
    assert said == pytest.approx(min(history.validation_loss), rel=1e-4)
    assert history.current_numbers()[0].startswith("validation loss ")


@BOTH
def test_same_seed_same_bytes_and_clones(kind, small):
    graphs, y = measured()
    model = kind(**small, max_epochs=3, verbose=False, random_state=3)
    first, again = clone(model).fit(graphs, y), clone(model).fit(graphs, y)
    assert first.predict(graphs).tobytes() == again.predict(graphs).tobytes()
    assert len(first.held_out_) == 4


@BOTH
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["much"] * 40, "target 0: got 'much', expected a number"),
        ([*range(39), np.nan], "target 39 is nan"),
        ([[[1.0], [2.0]]] * 40, "one value per graph"),
    ],
)
def test_targets_that_are_no_numbers(kind, small, y, message):
    with pytest.raises(tw.TwinWLError, match=message):
        kind(**small).fit(measured()[0], y)


def test_validation_targets_must_be_numbers_too():
    graphs, y = measured()
    with pytest.raises(tw.TwinWLError, match="target 1: got 'x', expected a number"):
        tw.STwinRegressor(1, verbose=False).fit(graphs, y, validation_data=(graphs[:2], [1, "x"]))


def test_one_graph_is_too_few_to_hold_out():
    graphs, y = measured()
    with pytest.raises(tw.TwinWLError, match="1 graphs are too few to hold 10% of them out; give more"):
        tw.STwinRegressor(1, verbose=False).fit(graphs[:1], y[:1])


class Points:
    def __init__(self, x):
        self.x = torch.as_tensor(x, dtype=torch.float32)

    def __len__(self):
        return len(self.x)

    def take(self, rows):
        return self.x[torch.as_tensor(rows)]


def test_the_loss_is_the_weighted_mean_squared_error():
    random = np.random.default_rng(0)
    x, y, weights = random.normal(size=(20, 3)), random.normal(size=20), random.random(20)
    line = torch.nn.Linear(3, 1)
    with torch.no_grad():
        said = line(torch.as_tensor(x, dtype=torch.float32)).numpy()[:, 0]
    expected = sum(w * (a - b) ** 2 for w, a, b in zip(weights, said, y, strict=True)) / sum(weights)
    assert _evaluate(line, LabelledSet(Points(x), y, weights)) == (
        None,
        None,
        pytest.approx(expected, rel=1e-6),
    )
    history = train(line, Points(x), y, sample_weight=weights, batch_size=20, max_epochs=1)
    assert history.train_loss[0] == pytest.approx(expected, rel=1e-5)


def test_a_line_is_that_of_least_squares():
    random = np.random.default_rng(1)
    x = random.normal(size=(50, 2))
    y = x @ [1.0, -2.0] + 3 + 0.1 * random.normal(size=50)
    line = torch.nn.Linear(2, 1)
    train(line, Points(x), y, batch_size=50, max_epochs=1500, learning_rate=0.05)
    expected = np.linalg.lstsq(np.column_stack([x, np.ones(50)]), y, rcond=None)[0]
    found = [*line.weight.detach().numpy()[0], *line.bias.detach().numpy()]
    np.testing.assert_allclose(found, expected, atol=1e-3)


@pytest.mark.slow
def test_scaffolds_of_molecules_are_held_out_as_a_whole():
    rings = np.repeat(np.arange(3, 23), 3)
    edges = [[(i, (i + 1) % ring) for i in range(ring)] + [(0, ring)] for ring in rings.tolist()]
    graphs = replace(tw.GraphBatch.from_edges(edges), atoms="skeleton")
    model = tw.STwinRegressor(n_iter=1, hidden=4, max_epochs=1, validation_fraction=0.2).fit(graphs, rings)
    held = np.isin(np.arange(len(rings)), model.held_out_)
    assert held.any()
    assert not {*rings[held]} & {*rings[~held]}
