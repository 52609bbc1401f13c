import enum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinwl.errors import LabelError, TwinWLError
from twinwl.graphs.labels import encode_labels, label_token, normalise_label, recode

plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=4),
    st.binary(max_size=4),
)
labels = st.recursive(plain, lambda parts: st.lists(parts, max_size=3).map(tuple), max_leaves=6)


def _identity(label):
    """Tell labels apart by kind and value, independently of their tokens."""
    if isinstance(label, tuple):
        return ("tuple", *map(_identity, label))
    return type(label).__name__, repr(label + 0.0 if isinstance(label, float) else label)


def test_four_kinds_of_one_are_four_labels():
    codes, vocabulary = encode_labels([1, True, 1.0, "1", b"1", (1,), (True,), None])
    assert len(vocabulary) == 8
    assert sorted(codes.tolist()) == list(range(8))


def test_kinds_stay_apart_inside_tuples():
    codes, _ = encode_labels([(1, "a"), (True, "a"), (1.0, "a"), (1, "a")])
    assert codes[0] == codes[3]
    assert len(set(codes.tolist())) == 3


def test_minus_zero_is_zero():
    codes, vocabulary = encode_labels([0.0, -0.0])
    assert codes.tolist() == [0, 0]
    assert repr(vocabulary) == "(0.0,)"
    assert repr(normalise_label((-0.0,))) == "(0.0,)"


@pytest.mark.parametrize(
    ("scalar", "label"),
    [
        (np.int8(3), 3),
        (np.uint64(2**64 - 1), 2**64 - 1),
        (np.float32(0.5), 0.5),
        (np.longdouble(0.5), 0.5),
        (np.bool_(True), True),  # noqa: FBT003
        (np.str_("C"), "C"),
        (np.bytes_(b"C"), b"C"),
    ],
)
def test_numpy_scalar_counts_as_its_python_kind(scalar, label):
    normal = normalise_label(scalar)
    assert type(normal) is type(label)
    assert normal == label


def test_subclass_counts_as_what_it_holds():
    class Element(str, enum.Enum):  # noqa: UP042  (the older spelling prints differently, which is the point)
        CARBON = "C"

    class Number(enum.IntEnum):
        SIX = 6

    assert normalise_label(Element.CARBON) == "C"
    assert type(normalise_label(Element.CARBON)) is str
    assert type(normalise_label(Number.SIX)) is int


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        np.float32("nan"),
        [1],
        {"a": 1},
        {1},
        pytest.param(object(), id="object"),
        1j,
        np.datetime64("2020-01-01", "ns"),
        np.timedelta64(3),
        (1, [2]),
        (1, float("nan")),
        np.array([1]),
    ],
    ids=str,
)
def test_what_cannot_be_a_label_is_refused_with_its_place(value):
    with pytest.raises(LabelError) as caught:
        encode_labels(["C", "N", value])
    assert caught.value.position == 2
    assert isinstance(caught.value, TwinWLError)


def test_endless_integer_is_refused():
    with pytest.raises(LabelError, match="16610 bits") as caught:
        encode_labels([1, 10**5000])
    assert caught.value.position == 1


def test_nan_is_found_among_floats():
    with pytest.raises(LabelError, match="replace it") as caught:
        encode_labels([1.0, 2.0, float("nan"), 3.0])
    assert caught.value.position == 2


def test_bottomless_tuple_is_refused():
    deep = ()
    for _ in range(10_000):
        deep = (deep,)
    with pytest.raises(LabelError, match="deep"):
        encode_labels([deep])


@given(st.lists(labels, max_size=12))
def test_codes_lead_back_to_the_labels(values):
    codes, vocabulary = encode_labels(values)
    assert codes.dtype == np.int32
    assert [_identity(vocabulary[code]) for code in codes] == [_identity(value) for value in values]
    assert len({_identity(label) for label in vocabulary}) == len(vocabulary)


@given(st.lists(labels, max_size=10), st.randoms(use_true_random=False))
def test_vocabulary_does_not_depend_on_the_order(values, random):
    shuffled = random.sample(values, len(values))
    assert repr(encode_labels(values).vocabulary) == repr(encode_labels(shuffled).vocabulary)


@given(labels, labels)
def test_tokens_are_equal_only_for_equal_labels(one, other):
    one, other = normalise_label(one), normalise_label(other)
    assert (label_token(one) == label_token(other)) == (_identity(one) == _identity(other))


@pytest.mark.parametrize(
    "values",
    [
        np.array([5, -3, 5, 0]),
        np.array([-128, 127], dtype=np.int8),
        np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64),
        np.array([0, 2**64 - 1], dtype=np.uint64),
        np.array([-(2**63), 2**63 - 1]),
        np.array([], dtype=np.int64),
        np.array([True, False]),
        np.array(["C", "Cl", "C"]),
        np.array([0.5, -0.0]),
    ],
    ids=str,
)
def test_array_is_encoded_as_the_list_of_its_values(values):
    fast, slow = encode_labels(values), encode_labels([*values.tolist(), "mixed"])
    assert [fast.vocabulary[code] for code in fast.codes] == values.tolist()
    assert set(map(_identity, fast.vocabulary)) == set(map(_identity, slow.vocabulary)) - {_identity("mixed")}


def test_recode_marks_what_the_new_vocabulary_lacks():
    codes = recode(np.array([0, 1, 2], np.int32), (1, True, "C"), ("C", True))
    assert codes.tolist() == [-1, 1, 0]


def test_tokens_are_golden():
    # These bytes go into every stored hash: a change here is a breaking change.
    assert label_token(None) == b"N"
    assert label_token(True) == b"B1"  # noqa: FBT003
    assert label_token(-12) == b"I\x03\0\0\0\0\0\0\0-12"
    assert label_token(1.0) == b"F\0\0\0\0\0\0\xf0?"
    assert label_token("é") == b"S\x02\0\0\0\0\0\0\0\xc3\xa9"
    assert label_token(b"x") == b"Y\x01\0\0\0\0\0\0\0x"
    assert label_token((None, False)) == b"T\x03\0\0\0\0\0\0\0NB0"
