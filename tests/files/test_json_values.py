"""Values go to JSON and come back of the same kind."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinwl.errors import TwinWLError
from twinwl.files.model_files import ModelFileError, from_json, to_json

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
