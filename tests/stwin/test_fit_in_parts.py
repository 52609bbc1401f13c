import numpy as np
import pytest

pytest.importorskip("torch")

from tests.stwin.test_vectorizer import molecules
from twinwl import STwinClassifier, STwinRegressor, TwinWLError, load, save
from twinwl.neural.stwin import StoredExamples, fit_in_parts

QUICK = {"n_iter": 2, "max_epochs": 4, "batch_size": 8, "verbose": False}


class Parts:
    """Slices of a batch."""

    def __init__(self, batch, sizes):
        self.batch, self.sizes = batch, sizes
        self.largest = 0

    def read(self, part, rows):
        self.largest = max(self.largest, len(rows))
        return self.batch[sum(self.sizes[:part]) + rows]


def same_network(one, other):
    weights = one.module_.state_dict()
    return all((weights[name] == value).all() for name, value in other.module_.state_dict().items())


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (STwinClassifier, {}),
        (STwinClassifier, {"features": "joint", "min_df": 2, "class_weight": "balanced"}),
        (STwinClassifier, {"features": "joint", "readout": "edges", "max_features": 9}),
        (STwinClassifier, {"scaling": "none", "features": "count", "min_df": 0.1}),
        (STwinClassifier, {"validation_fraction": None}),
        (STwinRegressor, {}),
    ],
    ids=str,
)
def test_where_features_fit_into_memory_the_result_is_that_of_fit(kind, settings):
    graphs, y = molecules()
    in_memory = kind(**QUICK, **settings).fit(graphs, y)
    model = kind(**QUICK, **settings)
    fit_in_parts(model, Parts(graphs, [3, 0, 20, 17]), y)
    assert same_network(in_memory, model)
    assert model.history_ == in_memory.history_
    assert model.predict(graphs).tolist() == in_memory.predict(graphs).tolist()


def test_several_tasks_with_unknown_targets():
    graphs, y = molecules()
    table = np.stack([y, 1 - y], axis=1).astype(float)
    table[::3, 1] = np.nan
    in_memory = STwinClassifier(**QUICK).fit(graphs, table)
    model = STwinClassifier(**QUICK)
    fit_in_parts(model, Parts(graphs, [25, 15]), table)
    assert same_network(in_memory, model)


def test_groups_are_held_out_as_a_whole():
    graphs, y = molecules()
    groups = np.arange(40) // 5
    in_memory = STwinClassifier(**QUICK).fit(graphs, y, groups=groups)
    model = STwinClassifier(**QUICK)
    fit_in_parts(model, Parts(graphs, [10, 30]), y, groups)
    assert same_network(in_memory, model)
    assert set(np.bincount(groups[model.held_out_])) <= {0, 5}


def test_with_little_memory_parts_are_shuffled_one_after_the_other(tmp_path):
    graphs, y = molecules()
    parts = Parts(graphs, [10] * 4)
    model = STwinClassifier(**QUICK)
    fit_in_parts(model, parts, y, memory=1, folder=tmp_path)
    assert parts.largest == 10
    assert not list(tmp_path.iterdir())
    save(model, tmp_path / "model.twinwl")
    assert load(tmp_path / "model.twinwl").predict(graphs).tolist() == model.predict(graphs).tolist()
    model.explain(graphs[0])


def test_stored_examples_are_those_that_were_added(tmp_path):
    from scipy.sparse import csr_matrix, random  # noqa: PLC0415

    from twinwl.neural.sparse import SparseExamples  # noqa: PLC0415

    matrix = csr_matrix(random(30, 8, 0.4, random_state=0))
    parts = (SparseExamples(matrix[low:high]) for low, high in ((0, 12), (12, 13), (13, 30)))
    stored = StoredExamples(tmp_path / "parts", 700, parts)
    rows = stored.shuffled(np.random.default_rng(0))
    assert sorted(rows.tolist()) == list(range(30))
    for got, expected in zip(stored.take(rows), SparseExamples(matrix).take(rows), strict=True):
        assert got.tolist() == expected.tolist()
    # Each part is read in one go: as a run of rows.
    assert np.count_nonzero(np.diff(np.searchsorted([12, 13], rows, side="right"))) <= 3


@pytest.mark.parametrize(
    ("settings", "y", "groups", "message"),
    [
        ({"n_iter": None}, None, None, "n_iter: got None"),
        ({"min_df": 41}, None, None, "no column occurs in 41"),
        ({}, np.zeros(40), None, "one class"),
        ({}, None, np.zeros(40), "too few"),
    ],
)
def test_what_cannot_be_learnt_is_refused(settings, y, groups, message):
    graphs, classes = molecules()
    with pytest.raises(TwinWLError, match=message):
        fit_in_parts(
            STwinClassifier(**QUICK | settings), Parts(graphs, [40]), classes if y is None else y, groups
        )
