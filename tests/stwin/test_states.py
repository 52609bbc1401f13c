import json

import numpy as np
import pytest

from tests.stwin.test_svc import noisy
from twinwl import GraphBatch, STwinSVC, STwinVectorizer, TwinKernel, TwinWLError
from twinwl.files.model_files import from_json, save, to_json
from twinwl.models.features import KINDS


def graphs():
    edges = [[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]] * 5
    return GraphBatch.from_edges(edges, [["C", 1, (b"x", 1.5)]] * 10, edge_labels=[[1, 2], [1, 2, 1]] * 5)


def through_json(state):
    """What a file does: JSON values through text, arrays as they are."""
    arrays = {}
    text = json.dumps(to_json(state, arrays, "state"))
    assert all(array.dtype.kind in "iuf" for array in arrays.values())
    return from_json(json.loads(text), arrays)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options", [{}, {"min_df": 6}, {"initial": "degree", "edge_labels": True}, {"initial": "ring"}]
)
def test_vectorizer_survives(kind, options):
    vectorizer = STwinVectorizer(2, kind, **options).fit(graphs())
    back = STwinVectorizer._from_state(vectorizer.get_params(), through_json(vectorizer._to_state()))
    assert (back.transform(graphs()) != vectorizer.transform(graphs())).nnz == 0
    assert back.get_feature_names_out().tolist() == vectorizer.get_feature_names_out().tolist()


def test_kernel_survives():
    kernel = TwinKernel(2, "joint", "minmax").fit(graphs())
    back = TwinKernel._from_state(kernel.get_params(), through_json(kernel._to_state()))
    assert back.transform(graphs()).tobytes() == kernel.transform(graphs()).tobytes()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_machine_survives_and_predicts_the_same_bytes(n_classes):
    batch, y = noisy(45, n_classes=n_classes)
    model = STwinSVC((1, 2), (1, 10)).fit(batch, y)
    back = STwinSVC._from_state(model.get_params(), through_json(model._to_state()))
    assert back.decision_function(batch).tobytes() == model.decision_function(batch).tobytes()
    assert back.predict_proba(batch).tobytes() == model.predict_proba(batch).tobytes()
    assert (back.n_iter_, back.C_, back.inner_scores_) == (model.n_iter_, model.C_, model.inner_scores_)


def damaged(path, change):
    def damage(state):
        *parents, key = path.split("/")
        for parent in parents:
            state = state[int(parent) if parent.isdigit() else parent]
        state[key] = change(state[key]) if change else None
        if change is None:
            del state[key]

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        damaged("space/kind", None),
        damaged("space/kind", lambda _: "evil"),
        damaged("space/initial", lambda _: 5),
        damaged("space/labels", lambda _: "abc"),
        damaged("space/labels", lambda labels: labels[:1]),
        damaged("space/n_iter", lambda n: n + 1),
        damaged("space/n_iter", lambda _: -1),
        damaged("space/directed", lambda _: "no"),
        damaged("space/sig_ptr_1", lambda array: array[:-1]),
        damaged("space/sig_ptr_1", lambda array: array * 1000),
        damaged("space/sig_ptr_2", lambda array: array.astype(float)),
        damaged("space/sig_items_1", lambda array: array + 1000),
        damaged("space/sig_items_1", lambda array: array - 1000),
        damaged("space/sig_items_2", lambda array: array[:3]),
        damaged("space/twins_1", lambda array: array[:-1]),
        damaged("space/twins_1", lambda array: array + 1000),
        damaged("matrix/indices", lambda array: array + 10**6),
        damaged("matrix/indices", lambda array: array - 5),
        damaged("matrix/indptr", lambda array: array[::-1]),
        damaged("matrix/indptr", lambda array: array[:0]),
        damaged("matrix/data", lambda array: array[:-1]),
        damaged("matrix/data", None),
        damaged("rows", lambda array: array[:-1]),
        damaged("svms/0/vectors/weights", lambda array: array[:, :-1]),
        damaged("svms/0/vectors/intercepts", lambda _: 0.0),
        damaged("heads/0/calibration/slopes", lambda array: array.astype(np.int64)),
        damaged("heads/0/classes", lambda classes: classes[:1]),
        damaged("heads/0/dtype", lambda _: "no such"),
        damaged("heads/0/dtype", lambda _: "<M8[ns]"),
        damaged("heads/0/dtype", lambda _: "<U500000000"),
        damaged("heads/0/dtype", lambda _: ">i8"),
        damaged("svms/0/scores", lambda _: 3),
        damaged("svms/0/C", None),
    ],
)
def test_damaged_states_are_refused(damage):
    state = through_json(STwinSVC(2, 1, "joint").fit(graphs(), [0, 1] * 5)._to_state())
    damage(state)
    with pytest.raises(
        (TwinWLError, TypeError, ValueError, KeyError, AttributeError)
    ):  # one error at the door of model files
        STwinSVC._from_state({"features": "joint"}, state)


def test_damaged_columns_are_refused():
    vectorizer = STwinVectorizer(1, min_df=6).fit(graphs())
    for columns in (np.array([0, 99]), np.array([1, 0]), np.array([-1, 0]), np.array([0.0])):
        with pytest.raises(TwinWLError):
            STwinVectorizer._from_state({}, {**through_json(vectorizer._to_state()), "columns": columns})


def test_unfitted_estimators_are_not_saved(tmp_path):
    for estimator in (STwinVectorizer(), TwinKernel(), STwinSVC()):
        with pytest.raises(TwinWLError, match="call fit first"):
            save(estimator, tmp_path / "model.twinwl")
