"""Several tasks with missing targets: their table, and machines that equal those of one task each."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import twinwl as tw
from tests.stwin.test_svc import noisy
from tests.stwin.test_svr import measured
from twinwl.models import svc
from twinwl.models.calibration import rarest_classes
from twinwl.models.targets import read_targets

NAN = np.nan
SMALL = {"n_iter": (1, 2), "C": (0.5, 5)}


def table(n=60, n_tasks=3, share=0.2):
    """Graphs with classes of several tasks, the first one learnable, some of them missing."""
    graphs, y = noisy(n)
    random = np.random.default_rng(5)
    Y = np.stack([y, *(random.integers(0, 2 + task, n) for task in range(n_tasks - 1))], axis=1).astype(float)
    Y[random.random(Y.shape) < share] = NAN
    return graphs, Y


def numbers(n=50):
    graphs, y = measured(n)
    Y = np.stack([y, np.sqrt(y), -3 * y + 1], axis=1)
    Y[np.random.default_rng(6).random(Y.shape) < 0.2] = NAN
    return graphs, Y


# ---------------------------------------------------------------------- the oracle: one machine per task


@pytest.mark.parametrize(
    "options",
    [{}, {"base": "linear"}, {"features": "joint", "class_weight": "balanced", "scoring": "roc_auc"}],
)
def test_each_task_has_the_machine_of_its_known_targets_alone(options):
    graphs, Y = table()
    groups, weights = np.arange(60) // 2, np.random.default_rng(1).uniform(0.5, 2, 60)
    weights[7] = 0
    model = tw.STwinSVC(**SMALL, **options).fit(graphs, Y, groups, weights)
    for task in range(3):
        known = np.flatnonzero(~np.isnan(Y[:, task]))
        alone = tw.STwinSVC(**SMALL, **options).fit(
            graphs[known], Y[known, task], groups[known], weights[known]
        )
        own = model.for_task(task)
        assert own.inner_scores_ == alone.inner_scores_ == model.inner_scores_[task]
        assert (own.n_iter_, own.C_) == (alone.n_iter_, alone.C_) == (model.n_iter_[task], model.C_[task])
        np.testing.assert_array_equal(own.decision_function(graphs), alone.decision_function(graphs))
        np.testing.assert_array_equal(model.predict_proba(graphs)[task], alone.predict_proba(graphs))
        np.testing.assert_array_equal(model.predict(graphs)[:, task], alone.predict(graphs))
        np.testing.assert_array_equal(model.predict_set(graphs, 0.8)[task], alone.predict_set(graphs, 0.8))
        for ours, theirs in zip(
            model.explain(graphs[[4]], task=task).node_shares,
            alone.explain(graphs[[4]]).node_shares,
            strict=True,
        ):
            assert ours == pytest.approx(theirs, abs=1e-12)


def test_each_number_has_the_machine_of_its_known_targets_alone():
    graphs, Y = numbers()
    model = tw.STwinSVR(**SMALL).fit(graphs, Y)
    for task in range(3):
        known = np.flatnonzero(~np.isnan(Y[:, task]))
        alone = tw.STwinSVR(**SMALL).fit(graphs[known], Y[known, task])
        np.testing.assert_array_equal(model.predict(graphs)[:, task], alone.predict(graphs))
        np.testing.assert_array_equal(model.predict_interval(graphs)[task], alone.predict_interval(graphs))
        np.testing.assert_array_equal(model.held_out_predictions_[task], alone.held_out_predictions_)


def test_with_landmarks_complete_tasks_have_the_machine_of_one_task():
    graphs, Y = table(share=0)
    options = {**SMALL, "kernel_approximation": "nystroem", "n_components": 20}
    model = tw.STwinSVC(**options).fit(graphs, Y)
    for task in range(3):
        alone = tw.STwinSVC(**options).fit(graphs, Y[:, task])
        np.testing.assert_array_equal(
            model.for_task(task).decision_function(graphs), alone.decision_function(graphs)
        )
    assert len({tuple(vectors.rows) for vectors in model.support_vectors_}) == 1


@pytest.mark.parametrize("kind", [tw.STwinSVC, tw.STwinSVR])
def test_landmarks_and_missing_targets(kind):
    graphs, Y = table()
    model = kind(**SMALL, kernel_approximation="nystroem", n_components=20).fit(graphs, Y)
    assert np.isfinite(model.predict(graphs)).all()


def test_features_and_kernel_matrices_are_computed_once(monkeypatch):
    graphs, Y = table()
    calls = []

    def counted(owner, name):
        function = getattr(owner, name)
        monkeypatch.setattr(
            owner, name, lambda *args, **options: calls.append(name) or function(*args, **options)
        )

    counted(svc.ViewSpaces, "learn")
    counted(svc.MeanSimilarity, "by_rounds")
    tw.STwinSVC(**SMALL).fit(graphs, Y)
    assert sorted(calls) == ["by_rounds", "learn"]


# ---------------------------------------------------------------------- what scikit-learn's users expect


def test_shapes_are_those_of_scikit_learn():
    graphs, Y = table(n_tasks=2)
    model = tw.STwinSVC(**SMALL).fit(graphs, Y)
    assert model.tasks_ == ("y0", "y1")
    assert [classes.tolist() for classes in model.classes_] == [[0, 1], [0, 1]]
    assert model.predict(graphs).shape == model.decision_function(graphs).shape == (60, 2)
    assert [shares.shape for shares in model.predict_proba(graphs)] == [(60, 2), (60, 2)]
    known = ~np.isnan(Y)
    right = [(model.predict(graphs)[known[:, t], t] == Y[known[:, t], t]).mean() for t in range(2)]
    assert model.score(graphs, Y) == pytest.approx(np.mean(right))
    assert clone(model).get_params() == model.get_params()
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301
    np.testing.assert_array_equal(copy.decision_function(graphs), model.decision_function(graphs))


def test_a_task_with_more_classes_has_no_single_decision():
    graphs, Y = table()
    model = tw.STwinSVC(n_iter=1, C=1).fit(graphs, Y)
    assert model.predict(graphs).shape == (60, 3)
    with pytest.raises(tw.TwinWLError, match=r"task 'y2' has more than two classes.*for_task\('y2'\)"):
        model.decision_function(graphs)
    assert model.for_task("y2").decision_function(graphs).shape == (60, 3)


def test_one_target_per_graph_is_as_before_also_after_several():
    graphs, Y = table(share=0)
    model = tw.STwinSVC(n_iter=1, C=1).fit(graphs, Y).fit(graphs, Y[:, 0])
    assert model.tasks_ is None
    np.testing.assert_array_equal(
        model.decision_function(graphs),
        tw.STwinSVC(n_iter=1, C=1).fit(graphs, Y[:, 0]).decision_function(graphs),
    )
    with pytest.raises(tw.TwinWLError, match="'y0', but this model has one task; leave task out"):
        model.explain(graphs[[0]], task="y0")


def test_frames_name_the_tasks_and_strings_are_classes():
    pandas = pytest.importorskip("pandas")
    graphs, Y = table(n_tasks=2)
    words = [None if np.isnan(value) else ["no", "yes"][int(value)] for value in Y[:, 0]]
    frame = pandas.DataFrame({"toxic": words, "weight": Y[:, 1]})
    model = tw.STwinSVC(n_iter=1, C=1).fit(graphs, frame)
    assert model.tasks_ == ("toxic", "weight")
    assert set(model.predict(graphs)[:, 0]) <= {"no", "yes"}
    assert set(model.predict(graphs)[:, 1]) <= {0, 1}
    assert model.explain(graphs[[0]], task="toxic").prediction in {"no", "yes"}
    assert model.for_task("toxic").target_ == "toxic"
    assert 0 <= model.score(graphs, frame) <= 1


def test_a_frame_of_one_column_is_one_target_per_graph():
    pandas = pytest.importorskip("pandas")
    graphs, Y = table(share=0)
    with pytest.warns(Warning, match="column-vector"):
        model = tw.STwinSVC(n_iter=1, C=1).fit(graphs, pandas.DataFrame({"toxic": Y[:, 0]}))
    assert model.predict(graphs).shape == (60,)


@pytest.mark.parametrize("kind", [tw.STwinSVC, tw.STwinSVR])
def test_files_hold_all_tasks_and_their_features_once(kind, tmp_path):
    graphs, Y = table()
    model = kind(n_iter=(1, 3), C=(1, 10)).fit(graphs, Y)
    tw.save(model, tmp_path / "model.twinwl")
    again = tw.load(tmp_path / "model.twinwl")
    assert again.tasks_ == model.tasks_
    np.testing.assert_array_equal(again.predict(graphs), model.predict(graphs))
    tw.save(again, tmp_path / "again.twinwl")
    assert (tmp_path / "again.twinwl").read_bytes() == (tmp_path / "model.twinwl").read_bytes()
    tw.save(again.for_task("y1"), tmp_path / "one.twinwl")
    one = tw.load(tmp_path / "one.twinwl")
    assert one.target_ == "y1"
    np.testing.assert_array_equal(one.predict(graphs), model.predict(graphs)[:, 1])


# ---------------------------------------------------------------------- wrong values


@pytest.mark.parametrize(
    ("task", "named"),
    [
        ("y3", "task: got 'y3', but this model has the tasks 'y0', 'y1', 'y2'"),
        (3, "task: got 3, but this model has the tasks 'y0', 'y1', 'y2'"),
        (-1, "task: got -1"),
        (None, "this model has 3 tasks; name one with task=…: 'y0', 'y1', 'y2'"),
    ],
)
def test_a_task_that_the_model_does_not_have_is_named_with_those_it_has(task, named):
    graphs, Y = table()
    model = tw.STwinSVC(n_iter=1, C=1).fit(graphs, Y)
    with pytest.raises(tw.TwinWLError, match=named):
        model.explain(graphs[[0]], task=task)


def entries(**changed):
    """A table of 12 graphs and two tasks of objects, with some entries changed."""
    Y = np.array([[row % 2, row % 3 % 2] for row in range(12)], object)
    for place, value in changed.items():
        row, task = map(int, place.removeprefix("at_").split("_"))
        Y[row, task] = value
    return Y


@pytest.mark.parametrize(
    ("Y", "named"),
    [
        (np.zeros((12, 0)), "table without columns"),
        (np.zeros((11, 2)), "12 graphs but 11 rows of targets"),
        (np.zeros((12, 2, 2)), r"got shape \(12, 2, 2\)"),
        ([[0, 1]] * 11 + [[0]], "entries that are collections"),
        (np.column_stack([np.arange(12) % 2, np.zeros(12)]), "task 'y1': all 12 graphs are of one class, 0"),
        (
            np.column_stack([np.arange(12) % 2, np.full(12, NAN)]),
            "task 'y1': all 12 targets are missing; leave",
        ),
        (
            np.column_stack([np.arange(12) % 2, np.arange(12) / 4]),
            "task 'y1': target 1 is 0.25.*measurements",
        ),
        (entries(at_3_1=np.inf), "task 'y1': target 3 is infinite"),
        (entries(at_5_0="yes"), "task 'y0': values of the kinds int, str have no common order"),
        (entries(**{f"at_{row}_0": row == 4 or None for row in range(1, 12)}), "task 'y0'"),
    ],
)
def test_a_wrong_table_is_refused_by_task_and_row(Y, named):
    graphs, _ = noisy(12)
    with pytest.raises(tw.TwinWLError, match=named):
        tw.STwinSVC(n_iter=1, C=1).fit(graphs, Y)


def test_a_class_of_one_graph_is_refused_by_task():
    graphs, Y = table(n_tasks=2, share=0)
    Y[:, 1] = np.arange(60) == 3
    with pytest.raises(tw.TwinWLError, match="task 'y1': class 1 has only 1 graph"):
        tw.STwinSVC(n_iter=1, C=1).fit(graphs, Y)


def test_text_among_numbers_is_refused_by_a_regressor():
    graphs, _ = noisy(12)
    Y = entries(**{f"at_{row}_1": "high" for row in range(12)})
    with pytest.raises(tw.TwinWLError, match="task 'y1': target 0: got 'high', expected a number"):
        tw.STwinSVR(n_iter=1, C=1).fit(graphs, Y)


def test_repeated_columns_are_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[0, 1]] * 6 + [[1, 0]] * 6, columns=["a", "a"])
    with pytest.raises(tw.TwinWLError, match="2 columns are called 'a'"):
        tw.STwinSVC(n_iter=1, C=1).fit(noisy(12)[0], frame)


@pytest.mark.parametrize("missing", [None, NAN, np.datetime64("NaT")])
def test_whatever_is_missing_counts_as_unknown(missing):
    tasks = read_targets(entries(at_2_1=missing), 12)
    assert tasks.known.sum() == 23
    assert not tasks.known[2, 1]
    assert tasks.columns[1].dtype == np.int64


def test_graphs_are_stratified_by_their_rarest_class():
    codes = np.zeros((20, 2), np.int64)
    codes[:6, 0], codes[3:5, 1], codes[19] = 1, 1, -1
    found = rarest_classes(codes)
    assert len(set(found[3:5])) == 1 == len(set(found[[0, 1, 2, 5]]))
    assert len({found[3], found[0], found[10]}) == 3
