"""STwinSVR: the kernel, scikit-learn's machine, and the choice between them, in one estimator."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVR

import twinwl as tw
from tests.stwin.test_svc import noisy, rings_with_tails
from twinwl.models.calibration import inner_folds, scaffolds_of
from twinwl.models.metrics import NUMBER_SCORINGS
from twinwl.models.similarity import BASES
from twinwl.models.targets import TargetTable
from twinwl.report.explain import explain_page


def measured(n=50, scale=1.0, shift=0.0):
    """Graphs, and for each its number of edges with a little noise."""
    graphs, _ = noisy(n)
    noise = np.random.default_rng(1).normal(0, 0.3, n)
    return graphs, shift + scale * (np.array([each.n_edges for each in graphs]) + noise)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("normalize", [True, False])
def test_it_is_the_kernel_and_the_machine_that_it_chose(base, normalize):
    graphs, y = measured()
    options = {"base": base, "normalize": normalize}
    model = tw.STwinSVR((0, 2), (0.1, 1), epsilon=0.05, **options).fit(graphs[:40], y[:40])
    kernel = tw.TwinKernel(model.n_iter_, **options)
    machine = SVR(kernel="precomputed", C=model.C_, epsilon=0.05)
    mean, spread = y[:40].mean(), y[:40].std()
    machine.fit(kernel.fit_transform(graphs[:40]), (y[:40] - mean) / spread)
    expected = mean + spread * machine.predict(kernel.transform(graphs[40:]))
    np.testing.assert_allclose(model.predict(graphs[40:]), expected, rtol=1e-9)
    assert model.n_support_ == len(machine.support_)


@pytest.mark.parametrize("scoring", NUMBER_SCORINGS)
def test_the_inner_choice_goes_by_its_scoring(scoring):
    graphs, y = measured(scale=100)
    model = tw.STwinSVR((0, 2), (0.1, 1), scoring=scoring).fit(graphs, y)
    functions = {"r2": r2_score, "neg_root_mean_squared_error": root_mean_squared_error}
    expected = functions.get(scoring, mean_absolute_error)(y, model.held_out_predictions_)
    assert model.inner_score_ == pytest.approx(expected if scoring == "r2" else -expected)
    assert model.inner_score_ == max(model.inner_scores_.values())


def test_the_inner_choice_is_that_of_cross_validation():
    graphs, y = measured()
    model = tw.STwinSVR((0, 1, 3), (0.1, 1, 100), random_state=3).fit(graphs, y)
    targets = TargetTable.read(y, len(y), None, numbers=True).column(0)
    for (n_iter, C), score in model.inner_scores_.items():
        similarities = tw.TwinKernel(n_iter, base="minmax").fit_transform(graphs)
        said = np.empty(len(y))
        for learnt, held in inner_folds(targets, 5, 3):
            machine = SVR(kernel="precomputed", C=C, epsilon=0.01)
            machine.fit(similarities[np.ix_(learnt, learnt)], targets.answers[learnt])
            said[held] = machine.predict(similarities[np.ix_(held, learnt)])
        assert score == pytest.approx(r2_score(targets.answers, said), abs=1e-3)  # two optimisations
    assert model.inner_score_ == max(model.inner_scores_.values())
    assert len(model.inner_scores_) == 9


def test_it_learns_what_can_be_learnt():
    graphs, y = measured(80)
    assert cross_val_score(tw.STwinSVR(), graphs, y, cv=4).mean() > 0.8  # 0.94


def test_the_unit_of_measurement_changes_nothing():
    graphs, y = measured()
    plain = tw.STwinSVR().fit(graphs, y)
    other = tw.STwinSVR().fit(graphs, 1e6 * y - 7e6)
    assert (plain.n_iter_, plain.C_) == (other.n_iter_, other.C_)
    np.testing.assert_allclose(1e6 * plain.predict(graphs) - 7e6, other.predict(graphs), rtol=1e-3)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("features", ["count", "size", "joint"])
def test_shares_and_intercept_sum_to_the_number(base, features):
    graphs, y = measured(30)
    model = tw.STwinSVR(2, 1, features, base).fit(graphs, y)
    for place in (0, 7):
        found = model.explain(graphs[place])
        number = model.predict(graphs[place])[0]
        assert (found.prediction, found.decision) == pytest.approx((number, number))
        assert found.node_shares.sum() + found.intercept == pytest.approx(number)
        assert found.against is None
        assert str(found).startswith(f"{number:.4g}: decision")


def test_an_explanation_of_a_number_is_drawn_and_written(tmp_path):
    graphs, y = measured(30)
    model, triangle = tw.STwinSVR(1, 1).fit(graphs, y), tw.load_dataset("graph6:Bw")
    found = model.explain(triangle.graphs)
    found.draw(tmp_path / "number.svg")
    picture = (tmp_path / "number.svg").read_text(encoding="utf-8")
    assert f"<!-- Predicted {found.predicted} -->" in picture
    assert "<!-- for a higher number -->" in picture
    page = explain_page(triangle, found)
    assert "Predicted: <span" in page
    assert "for a higher number" in page
    assert "None" not in page


def test_save_load_and_clone(tmp_path):
    graphs, y = measured(30)
    model = tw.STwinSVR((1, 2), epsilon=0.1).fit(graphs, y)
    tw.save(model, tmp_path / "model.twinwl")
    again = tw.load(tmp_path / "model.twinwl")
    assert again.predict(graphs).tobytes() == model.predict(graphs).tobytes()
    assert (again.C_, again.n_iter_, again.inner_scores_) == (model.C_, model.n_iter_, model.inner_scores_)
    assert again.get_params() == model.get_params() == clone(model).get_params()


def test_equal_targets_are_predicted_as_they_are(tmp_path):
    graphs, _ = measured(10)
    model = tw.STwinSVR(1).fit(graphs, [0.1] * 10)
    tw.save(model, tmp_path / "model.twinwl")
    for each in (model, tw.load(tmp_path / "model.twinwl")):
        np.testing.assert_allclose(each.predict(graphs), 0.1)
        assert each.explain(graphs[0]).intercept == pytest.approx(0.1)


def test_groups_stay_on_one_side_of_every_inner_fold():
    groups = np.arange(40) // 4
    folds = inner_folds(TargetTable.read(np.arange(40), 40, groups=groups, numbers=True).column(0), 5, 0)
    assert sorted(np.concatenate([held for _, held in folds])) == list(range(40))
    assert all(not set(groups[learnt]) & set(groups[held]) for learnt, held in folds)
    assert len(inner_folds(TargetTable.read(np.arange(3), 3, None, numbers=True).column(0), 5, 0)) == 3


def test_graphs_of_weight_0_are_not_there():
    graphs, y = measured(30)
    weights = np.repeat([1.0, 0.0], 15)
    weighed = tw.STwinSVR(1).fit(graphs, np.where(weights > 0, y, 1e9), sample_weight=weights)
    alone = tw.STwinSVR(1).fit(graphs[:15], y[:15])
    np.testing.assert_allclose(weighed.predict(graphs), alone.predict(graphs))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["high"] * 6, "target 0: got 'high', expected a number"),
        ([1, 2, 3, "4", 5, 6], "target 3: got '4', expected a number"),
        ([1.0, 2.0, np.nan, 4.0, 5.0, 6.0], "target 2 is nan"),
        ([1.0, 2.0, np.inf, 4.0, 5.0, 6.0], "target 2 is inf"),
        ([1.0, 2.0, 1e200, 4.0, 5.0, 6.0], r"target 2: got 1e\+200"),
        ([1, None, 3, 4, 5, 6], "target 1 is None"),
        ([[[1.0], [2.0]]] * 6, "one value per graph"),
        ([1.0, 2.0], "there are 6 graphs but 2 targets"),
        (None, "the target y is None"),
    ],
)
def test_targets_that_are_no_numbers(y, message):
    with pytest.raises(tw.TwinWLError, match=message):
        tw.STwinSVR().fit(measured(6)[0], y)


def test_one_group_is_too_few():
    graphs, y = measured(6)
    with pytest.raises(tw.TwinWLError, match="only 1 group; the inner choice needs 2"):
        tw.STwinSVR().fit(graphs, y, groups=[1] * 6)


def test_numbers_held_out_are_in_the_unit_of_the_targets():
    graphs, y = measured(30)
    model, scaled = (tw.STwinSVR(2, 1).fit(graphs, values) for values in (y, 100 * np.asarray(y) + 7))
    np.testing.assert_allclose(scaled.held_out_predictions_, 100 * model.held_out_predictions_ + 7)
    errors = np.sort(np.abs(model.held_out_predictions_ - y))
    np.testing.assert_allclose(errors, model.conformal_.errors, atol=1e-9)


def test_measurements_are_not_for_a_classifier():
    graphs, y = measured(6)
    with pytest.raises(tw.TwinWLError, match="take a regressor, such as STwinSVR"):
        tw.STwinSVC().fit(graphs, y)


def test_intervals_of_molecules_are_calibrated_on_new_scaffolds():
    """Targets that depend on the ring alone are easy to predict as long as each ring was learnt from."""
    errors = []
    for atoms in ("skeleton", None):
        graphs, rings = rings_with_tails(atoms)
        y = np.random.default_rng(0).normal(0, 1, 23)[rings]
        model = tw.STwinSVR(n_iter=8, C=30.0, features="joint").fit(graphs, y)
        errors.append(np.median(model.conformal_.errors))
    assert errors[0] > 2 * errors[1]


def test_molecules_are_chosen_on_held_out_scaffolds():
    graphs, y = rings_with_tails("skeleton")
    plain = replace(graphs, atoms=None)
    molecules, others = (tw.STwinSVR(n_iter=2, C=3.0).fit(one, y) for one in (graphs, plain))
    np.testing.assert_array_equal(molecules.predict(graphs), others.predict(graphs))
    assert (molecules.held_out_predictions_ != others.held_out_predictions_).any()
    grouped = tw.STwinSVR(n_iter=2, C=3.0).fit(plain, y, groups=scaffolds_of(graphs))
    np.testing.assert_array_equal(molecules.held_out_predictions_, grouped.held_out_predictions_)
    assert "by scaffold" in str(molecules.report_)
    assert "by group" in str(grouped.report_)
    alone = tw.STwinSVR(n_iter=2, C=3.0).fit(plain, y, groups=np.arange(len(y)))
    assert "cross-validated;" in str(alone.report_)


def test_groups_of_the_user_come_before_scaffolds():
    graphs, y = rings_with_tails("skeleton")
    machine, own = tw.STwinSVR(n_iter=2, C=3.0), np.arange(len(y))
    by_scaffold, as_told, of_graphs = (
        clone(machine).fit(one, y, groups).conformal_.errors
        for one, groups in ((graphs, None), (graphs, own), (replace(graphs, atoms=None), own))
    )
    np.testing.assert_array_equal(as_told, of_graphs)
    assert not np.array_equal(as_told, by_scaffold)
