"""Values go to JSON and come back of the same kind."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from twinwl.arrays import Float64, Int64
from twinwl.errors import TwinWLError
from twinwl.files.model_files import ModelFileError, from_json, restore, to_json
from twinwl.graphs.labels import Label

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(
            st.text() | st.integers() | st.booleans().map(lambda flag: (flag,)), inner, max_size=4
        )
    ),
    max_leaves=12,
)


def kinds(value):
    if isinstance(value, dict):
        return [dict, [(kinds(key), kinds(part)) for key, part in value.items()]]
    if isinstance(value, list | tuple):
        return [type(value), [kinds(part) for part in value]]
    return type(value)


@given(VALUES)
def test_comes_back_as_it_was(value):
    arrays = {}
    text = json.dumps(to_json(value, arrays, "state"), allow_nan=False)
    back = from_json(json.loads(text), arrays)
    assert back == value
    assert kinds(back) == kinds(value)


def test_arrays_go_by_the_name_of_their_place():
    arrays = {}
    written = to_json({"a": {"b.c": np.arange(3)}, "../x": [np.zeros(1)]}, arrays, "state")
    assert sorted(arrays) == ["state/1/0", "state/a/b.c"]
    back = from_json(written, arrays)
    assert back["a"]["b.c"].tolist() == [0, 1, 2]
    assert arrays == {}


def test_nan_comes_back():
    assert math.isnan(from_json(to_json(float("nan"), {}, "x"), {}))


def test_numpy_scalars_become_plain():
    assert to_json(np.int32(3), {}, "x") == 3
    assert to_json(np.bool_(True), {}, "x") is True  # noqa: FBT003


@pytest.mark.parametrize("value", [object(), {1, 2}, 1j, np.array([None])])
def test_what_cannot_be_written(value):
    with pytest.raises(TwinWLError, match="the thing"):
        to_json(value, {}, "the thing")


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"tuple": 3},
        {"array": "missing"},
        {"array": "there", "dict": []},
        {"float": "1.0"},
        {"bytes": "zz"},
        {"dict": [[1]]},
        {"dict": [[[1], 2]]},
        {"dict": [["key", {"what": 1}]]},
    ],
)
def test_what_stands_for_nothing(value):
    with pytest.raises(ModelFileError, match="manifest"):
        from_json(value, {"there": np.zeros(1)})


@dataclass(eq=False)
class Part:
    rows: Int64
    weight: float = 1.0


@dataclass(eq=False)
class Whole:
    labels: tuple[Label, ...]
    parts: list[Part]
    scores: dict[str, float]
    matrix: sparse.csr_matrix
    bias: Float64 | None
    pair: tuple[int, str] = (1, "a")

    def __post_init__(self):
        if len(self.labels) != len(self.parts):
            raise TwinWLError("as many labels as parts")


def stored():
    parts = [Part(np.arange(2)), Part(np.arange(3), 2.5)]
    whole = Whole(("C", (1, b"x")), parts, {"auc": 0.5}, sparse.csr_matrix(np.eye(2)), None)
    arrays = {}
    text = json.dumps(to_json(whole, arrays, "state"))
    return from_json(json.loads(text), arrays)


def test_dataclasses_are_restored_by_the_types_of_their_fields():
    whole = restore(Whole, stored())
    assert (whole.labels, whole.scores, whole.bias, whole.pair) == (
        ("C", (1, b"x")),
        {"auc": 0.5},
        None,
        (1, "a"),
    )
    assert [part.rows.tolist() for part in whole.parts] == [[0, 1], [0, 1, 2]]
    assert whole.parts[1].weight == 2.5
    assert whole.matrix.toarray().tolist() == np.eye(2).tolist()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("labels", [float("nan"), 1], "not a number"),
        ("labels", ["C"], "as many labels as parts"),
        ("parts", [{"rows": np.zeros(2)}, {"rows": np.zeros(2)}], "state/parts/0/rows is array"),
        ("parts", 3, "state/parts is 3"),
        ("parts", [{}, {}], "state/parts/0 lacks 'rows'"),
        ("scores", {"auc": "high"}, "state/scores/auc is 'high'"),
        ("bias", 2.0, "state/bias"),
        ("pair", (1, "a", 2), "state/pair"),
        ("pair", (True, "a"), "state/pair/0"),
    ],
)
def test_fields_of_another_type_are_refused(name, value, message):
    with pytest.raises(TwinWLError, match=message):
        restore(Whole, {**stored(), name: value})


def test_matrices_that_do_not_fit_together_are_refused():
    state = stored()
    state["matrix"]["indices"] = np.array([0, 7], np.int32)
    with pytest.raises(ModelFileError, match="state/matrix"):
        restore(Whole, state)
