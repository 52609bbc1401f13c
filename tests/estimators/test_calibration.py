"""The promise of conformal prediction holds for every multiset of scores, not only on average.

Of n + 1 graphs let each in turn be the new one. However they lie, at most a share ``1 - confidence`` of them
is missed: so the guarantee is tested without luck.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twinwl as tw
from twinwl.errors import TwinWLError
from twinwl.models.calibration import ConformalIntervals, ConformalSets

CONFIDENCES = st.sampled_from([0.5, 0.8, 0.9, 0.95])


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 10)), min_size=1, max_size=40),
    CONFIDENCES,
    st.booleans(),
)
def test_sets_miss_no_more_than_promised(graphs, confidence, per_class):
    codes = np.array([code for code, _ in graphs])
    true = np.array([score / 10 for _, score in graphs])
    probabilities = np.repeat(((1 - true) / 2)[:, None], 3, axis=1)
    probabilities[np.arange(len(codes)), codes] = true
    missed = np.zeros(len(codes), bool)
    for new in range(len(codes)):
        others = np.arange(len(codes)) != new
        sets = ConformalSets.fit_to(probabilities[others], codes[others])
        missed[new] = not sets.of(probabilities[[new]], confidence, per_class=per_class)[0, codes[new]]
    for part in [codes == code for code in range(3)] if per_class else [codes >= 0]:
        assert missed[part].sum() <= (1 - confidence) * part.sum() + 1e-9


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=40), CONFIDENCES)
def test_intervals_miss_no_more_than_promised(errors, confidence):
    y = np.array(errors, float)
    missed = 0
    for new in range(len(y)):
        others = np.delete(y, new)
        low, high = ConformalIntervals.fit_to(np.zeros(len(others)), others).of(np.zeros(1), confidence)[0]
        missed += not low <= y[new] <= high
    assert missed <= (1 - confidence) * len(y) + 1e-9


def test_sets_are_no_larger_than_needed():
    sets = ConformalSets.fit_to(np.array([[0.9, 0.1]] * 99 + [[0.1, 0.9]] * 99), np.repeat([0, 1], 99))
    assert sets.of(np.array([[0.95, 0.05], [0.2, 0.8]]), 0.9).tolist() == [[True, False], [False, False]]


@pytest.mark.parametrize("confidence", [0, 1, -0.1, 1.5, float("nan"), None, "x"])
def test_a_wrong_confidence_is_refused(confidence):
    with pytest.raises(TwinWLError, match="confidence"):
        ConformalSets.fit_to(np.array([[0.5, 0.5]]), np.array([0])).of(np.array([[0.5, 0.5]]), confidence)
    with pytest.raises(TwinWLError, match="confidence"):
        ConformalIntervals(np.array([1.0])).of(np.array([0.0]), confidence)


def small_graphs():
    edges = [[(node, node + 1) for node in range(length)] for length in range(2, 22)]
    rings = [[*path, (0, len(path))] for path in edges]
    return tw.from_edges(edges + rings), ["chain"] * 20 + ["ring"] * 20


@pytest.mark.parametrize("name", ["STwinSVC", "STwinClassifier", "NTwinClassifier"])
def test_classifiers_predict_sets_and_remember_them(name, tmp_path):
    if name != "STwinSVC":
        pytest.importorskip("torch", reason="needs PyTorch")
    graphs, y = small_graphs()
    model = getattr(tw, name)()
    if name != "STwinSVC":
        model.set_params(max_epochs=2, hidden=4, validation_fraction=0.5)
    model.fit(graphs, y)
    sets = model.predict_set(graphs, 0.8)
    assert sets.shape == (40, 2)
    assert (model.predict_set(graphs, 0.95) >= sets).all()  # more confidence, larger sets
    p_values = model.conformal_.p_values(model.predict_proba(graphs))
    assert (sets == (p_values > 1 - 0.8)).all()
    tw.save(model, tmp_path / "m.twinwl")
    assert (tw.load(tmp_path / "m.twinwl").predict_set(graphs, 0.8) == sets).all()


@pytest.mark.parametrize("name", ["STwinSVR", "STwinRegressor", "NTwinRegressor"])
def test_regressors_predict_intervals_and_remember_them(name, tmp_path):
    if name != "STwinSVR":
        pytest.importorskip("torch", reason="needs PyTorch")
    graphs, _ = small_graphs()
    model = getattr(tw, name)()
    if name != "STwinSVR":
        model.set_params(max_epochs=2, hidden=4, validation_fraction=0.5)
    model.fit(graphs, 3.0 * graphs.nodes_per_graph)
    low, high = model.predict_interval(graphs, 0.8).T
    np.testing.assert_allclose((low + high) / 2, model.predict(graphs))
    assert np.ptp(high - low) < 1e-9
    tw.save(model, tmp_path / "m.twinwl")
    np.testing.assert_allclose(tw.load(tmp_path / "m.twinwl").predict_interval(graphs, 0.8)[:, 0], low)


def test_held_out_scores_are_those_of_machines_that_did_not_learn_the_graph():
    graphs, y = small_graphs()
    model = tw.STwinSVC(n_iter=1, C=1).fit(graphs, y)
    held_out = model.heads_[0].calibration.probabilities(model.held_out_decisions_)
    codes = np.array([int(each == "ring") for each in y])
    own = 1 - held_out[np.arange(40), codes]
    assert model.conformal_.scores.tolist() == [*np.sort(own[codes == 0]), *np.sort(own[codes == 1])]


def test_a_model_without_held_out_graphs_says_so():
    pytest.importorskip("torch", reason="needs PyTorch")
    graphs, y = small_graphs()
    model = tw.STwinClassifier(max_epochs=1, hidden=4, validation_fraction=None).fit(graphs, y)
    with pytest.raises(TwinWLError, match="kept no scores of held-out graphs"):
        model.predict_set(graphs)
