"""Labels and classes in model files keep their kind, and what cannot be one is refused."""

import datetime as dt
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinwl.errors import TwinWLError
from twinwl.files.model_files import from_json, to_json
from twinwl.models.state import classes_from_state, classes_to_state, labels_from_state

LABELS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda parts: st.lists(parts, max_size=3).map(tuple),
    max_leaves=5,
)


def through_json(value):
    return from_json(json.loads(json.dumps(to_json(value, {}, "state"))), {})


@given(label=LABELS)
def test_labels_survive_with_their_kind(label):
    [back] = labels_from_state(through_json([label]))
    assert repr(back) == repr(label).replace("-0.0", "0.0") or back == label
    assert type(back) is type(label)


@pytest.mark.parametrize(
    ("old", "label"),
    [
        (["none"], None),
        (["bool", True], True),
        (["int", "7"], 7),
        (["float", "0x1.8000000000000p+0"], 1.5),
        (["str", "C"], "C"),
        (["bytes", "00ff"], b"\x00\xff"),
        (["tuple", [["int", "1"], ["str", "a"]]], (1, "a")),
    ],
)
def test_labels_of_0_1_are_read(old, label):
    assert labels_from_state([old]) == (label,)


@pytest.mark.parametrize(
    "value", [[], ["int", 5], ["int", "x"], ["float", "nan"], ["code", "1"], [["none"]], {}, float("nan")]
)
def test_what_is_no_label_is_refused(value):
    with pytest.raises(TwinWLError, match="is not a label"):
        labels_from_state([value])


@pytest.mark.parametrize(
    "classes",
    [
        np.array(["a", "bc"]),
        np.array([1, 5]),
        np.array([0.5, 2.0]),
        np.array([False, True]),
        np.array([b"x", b"y"]),
        np.array(["a", "b"], object),
        np.array([3, 4], np.uint8),
    ],
    ids=lambda classes: str(classes.dtype),
)
def test_classes_survive_with_their_type(classes):
    back = classes_from_state(through_json(classes_to_state(classes)))
    assert back.dtype == classes.dtype
    assert back.tolist() == classes.tolist()


def test_classes_of_0_1_networks_are_read():
    assert classes_from_state({"classes": np.array([0, 1])}).tolist() == [0, 1]
    assert classes_from_state({"classes": ["no", "yes"]}).dtype == object


def test_classes_that_cannot_be_written():
    with pytest.raises(TwinWLError, match="date"):
        classes_to_state(np.array([dt.date(2020, 1, 1), dt.date(2021, 1, 1)], object))


@pytest.mark.parametrize("state", [None, "ab", ["a"], ["a", "a"], [["a"], ["b"]], np.array([[1, 2]])])
def test_classes_that_are_none(state):
    with pytest.raises(TwinWLError, match="damaged"):
        classes_from_state({"classes": state})
