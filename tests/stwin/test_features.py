from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from twinwl import GraphBatch, TwinWLError
from twinwl.datasets.generators import worked_example
from twinwl.datasets.graph_files import read_tu
from twinwl.models.features import KINDS, stwin_features


def names_of(space):
    return space.names(np.arange(space.n_columns))


@st.composite
def batches(draw, directed=None):
    edge_lists, labels, edge_labels = [], [], []
    one_way = draw(st.booleans()) if directed is None else directed
    for _ in range(draw(st.integers(1, 4))):
        n = draw(st.integers(0, 7))
        pairs = [(u, v) for u in range(n) for v in range(n) if (u != v if one_way else u < v)]
        edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
        edge_lists.append(edges)
        labels.append(draw(st.lists(st.sampled_from("CNO"), min_size=n, max_size=n)))
        edge_labels.append(draw(st.lists(st.integers(0, 1), min_size=len(edges), max_size=len(edges))))
    return GraphBatch.from_edges(edge_lists, labels, edge_labels=edge_labels, directed=one_way)


def columns_of_round(encoding, h):
    """Sorted column vectors: the same for every numbering of colours."""
    widths = encoding.space.columns_per_round
    first = sum(widths[:h])
    return sorted(map(tuple, encoding.matrix.toarray()[:, first : first + widths[h]].T.tolist()))


def columns_of_oracle(vectors, h):
    keys = {key for vector in vectors for key in vector if key[0] == h}
    return sorted(tuple(float(vector.get(key, 0)) for vector in vectors) for key in keys)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("edge_labels", [False, True])
@pytest.mark.parametrize("initial", ["label", "degree", "ring"])
@settings(max_examples=20, deadline=None)
@given(batch=batches())
def test_features_equal_the_oracle(kind, edge_labels, initial, batch):
    encoding = stwin_features(batch, 3, kind, edge_labels=edge_labels, initial=initial)
    expected = naive.features(naive.from_batch(batch), 3, kind, edge_labels=edge_labels, initial=initial)
    for h in range(4):
        assert columns_of_round(encoding, h) == columns_of_oracle(expected, h)


def test_worked_example_gives_the_vectors_of_the_paper():
    encoding = stwin_features(worked_example(), 2, "size", initial="degree")
    assert encoding.matrix.toarray().tolist() == [[4, 2, 12, 8, 20, 12], [4, 2, 12, 8, 16, 12]]
    counts = stwin_features(worked_example(), 2, "count", initial="degree").matrix.toarray()
    assert counts[0].tolist() == counts[1].tolist()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_frozen_space_counts_what_it_knows_and_nothing_else(kind, data):
    directed = data.draw(st.booleans())
    train, test = data.draw(batches(directed)), data.draw(batches(directed))
    space = stwin_features(train, 2, kind).space
    encoding = stwin_features(test, space=space)
    joined = naive.from_batch(train) + naive.from_batch(test)
    vectors = naive.features(joined, 2, kind)
    known = {key for vector in vectors[: len(train)] for key in vector}
    expected = [{key: vector[key] for key in vector.keys() & known} for vector in vectors[len(train) :]]
    assert [sorted(row.data) for row in encoding.matrix] == [sorted(row.values()) for row in expected]
    sizes_match = encoding.matrix.shape == (len(test), len(known))
    assert sizes_match
    assert encoding.space is space


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_extended_space_counts_everything_and_leaves_the_old_one_alone(kind, data):
    directed = data.draw(st.booleans())
    train, test = data.draw(batches(directed)), data.draw(batches(directed))
    first = stwin_features(train, 2, kind)
    widths = first.space.columns_per_round
    encoding = stwin_features(test, space=first.space, extend=True)
    assert first.space.columns_per_round == widths
    assert encoding.unseen_per_round.tolist() == [0, 0, 0]
    again = stwin_features(train, space=encoding.space)
    both = naive.features(naive.from_batch(train) + naive.from_batch(test), 2, kind)
    products = (again.matrix @ encoding.matrix.T).toarray()
    expected = [
        [sum(a[key] * b.get(key, 0) for key in a) for b in both[len(train) :]] for a in both[: len(train)]
    ]
    assert products.tolist() == expected


def test_joint_columns_are_ordered_by_colour_then_size():
    names = names_of(stwin_features(worked_example(), 2, "joint", initial="degree").space)
    pairs = [tuple(int(part[1:]) for part in name.split(":")) for name in names]
    assert pairs == sorted(pairs)
    assert len(set(names)) == len(names)


def test_rounds_until_stable():
    path = GraphBatch.from_edges([[(i, i + 1) for i in range(6)]])
    assert stwin_features(path, None).space.alphabet.n_iter == 3


def test_locate_tells_round_colour_and_size():
    space = stwin_features(worked_example(), 1, "joint").space
    located = list(space.locate(np.arange(space.n_columns)))
    assert [f"h{h}:c{c}:s{s}" for h, c, s in located] == names_of(space)


def test_unknown_kind_names_the_known_ones():
    with pytest.raises(TwinWLError, match="did you mean 'size'"):
        stwin_features(worked_example(), 1, "sizes")


def test_threads_do_not_change_a_byte(monkeypatch):
    batch = GraphBatch.from_edges(
        [[(i, (i * 7 + g) % 60) for i in range(60) if i != (i * 7 + g) % 60] for g in range(400)],
        num_nodes=[60] * 400,
    )
    monkeypatch.setenv("TWINWL_NUM_THREADS", "1")
    one = stwin_features(batch, 3, "joint").matrix
    monkeypatch.setenv("TWINWL_NUM_THREADS", "2")
    two = stwin_features(batch, 3, "joint").matrix
    assert np.array_equal(one.indices, two.indices)
    assert np.array_equal(one.data, two.data)


@pytest.mark.parametrize(
    "name",
    [
        "MUTAG",
        "PTC_MR",
        "NCI1",
        "NCI109",
        "Mutagenicity",
    ],
)
def test_features_equal_the_oracle_on_real_data(name, tu_zip):
    batch = read_tu(tu_zip(name)).graphs
    batch = batch if len(batch) < 1000 else batch[2::8]
    joint = naive.features(naive.from_batch(batch), 3, "joint")
    for kind in KINDS:
        encoding = stwin_features(batch, 3, kind)
        # Both number colours by first occurrence, except that ours follow the vocabulary in round 0.
        colour_at_first = list(dict.fromkeys(encoding.column_of_node[0].tolist()))
        located = list(encoding.space.locate(np.arange(encoding.space.n_columns)))
        for row, vector in zip(encoding.matrix, joint, strict=True):
            expected = Counter()
            for (h, colour, size), count in vector.items():
                key = h, colour if h else colour_at_first[colour], size if kind == "joint" else None
                expected[key] += count * (size if kind == "size" else 1)
            entries = zip(row.indices.tolist(), row.data.tolist(), strict=True)
            assert {located[column]: value for column, value in entries} == expected
