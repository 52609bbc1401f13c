"""Labels and classes in model files keep their kind, and what cannot be one is refused."""

import datetime as dt
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinwl.errors import TwinWLError
from twinwl.files.model_files import from_json, restore, to_json, upgraded
from twinwl.graphs.labels import Label
from twinwl.models.calibration import ClassHead

LABELS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda parts: st.lists(parts, max_size=3).map(tuple),
    max_leaves=5,
)


def through_json(value):
    return from_json(json.loads(json.dumps(to_json(value, {}, "state"))), {})


@given(label=LABELS)
def test_labels_survive_with_their_kind(label):
    [back] = restore(tuple[Label, ...], through_json([label]))
    assert repr(back) == repr(label).replace("-0.0", "0.0") or back == label
    assert type(back) is type(label)


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
    back = restore(ClassHead, through_json(ClassHead(classes))).classes
    assert back.dtype == classes.dtype
    assert back.tolist() == classes.tolist()


def test_classes_of_0_1_networks_are_read():
    assert upgraded(1, {"history": 0, "weights": 0, "classes": np.array([0, 1])})["heads"][0]["classes"] == [
        0,
        1,
    ]
    assert upgraded(1, {"history": 0, "weights": 0, "classes": ["no", "yes"]})["heads"][0]["dtype"] == "|O"


def test_classes_that_cannot_be_written():
    with pytest.raises(TwinWLError, match="date"):
        through_json(ClassHead(np.array([dt.date(2020, 1, 1), dt.date(2021, 1, 1)], object)))


@pytest.mark.parametrize("state", [None, ["a"], ["a", "a"], [["a"], ["b"]], np.array([[1, 2]])])
def test_classes_that_are_none(state):
    with pytest.raises(
        (TwinWLError, TypeError, ValueError)
    ):  # the door of model files makes one error of all
        restore(ClassHead, {"classes": state, "dtype": "|O", "conformal": None})
