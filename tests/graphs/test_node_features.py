import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twinwl as tw
from tests.batch_equality import assert_same_graphs
from tests.strategies import batches
from twinwl import GraphBatch, TwinWLError, TwinWLWarning
from twinwl.graphs.labels import label_token

PATH = [(0, 1), (1, 2)]
ROWS = [[[0.0], [1.0], [0.0]], [[1.0], [0.0], [0.0]], [[0.0], [1.0], [-0.0]]]
FEATURED = GraphBatch.from_edges([PATH] * 3, node_features=ROWS)


def with_features(batch, features):
    return GraphBatch(
        **{name: getattr(batch, name) for name in GraphBatch.__slots__ if name != "node_features"},
        node_features=features,
    )


# ------------------------------------------------------------------ discretise


@given(batches(), st.data())
def test_exact_labels_agree_where_label_and_features_do(batch, data):
    values = st.sampled_from([0.0, -0.0, 0.5, 1.0, 1e300])
    features = np.array(
        [data.draw(st.tuples(values, values)) for _ in range(batch.n_nodes)], dtype=float
    ).reshape(-1, 2)
    found = with_features(batch, features).discretise()
    assert found.node_features is None
    expected = [
        (label_token(label), *(row + 0.0).tolist())
        for label, row in zip(batch.labels_of_nodes(), features, strict=True)
    ]
    got = [
        (label_token(label[0]), *label[1:]) if batch.n_nodes else label for label in found.labels_of_nodes()
    ]
    assert got == expected
    assert len(set(zip(got, found.node_labels.tolist(), strict=True))) == len(set(got))


def test_labels_depend_on_the_node_alone():
    assert tw.graph_hashes(FEATURED.discretise())[1:] == tw.graph_hashes(FEATURED[1:].discretise())


def test_bins_count_from_the_edge_on():
    batch = GraphBatch.from_edges([PATH], node_features=[[[0.4, 9.0], [0.5, -9.0], [2.0, 0.0]]])
    assert batch.discretise([0.5, 2]).labels_of_nodes() == [(None, 0, 2), (None, 1, 0), (None, 2, 0)]
    per_feature = batch.discretise([[1], []])
    assert per_feature.labels_of_nodes() == [(None, 0, 0), (None, 0, 0), (None, 1, 0)]
    assert_same_graphs(batch.discretise(np.array([[1.0], [1.0]])), batch.discretise([1]))


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        ([2, 1], r"bins of feature 0: got \[2.0, 1.0\], expected rising numbers"),
        ([[1], [2]], "2 lists for 1 features"),
        ([float("nan")], "expected rising numbers"),
        ("size", "bins: got 'size'"),
        (3, "bins: got 3"),
        ([["x"]], "bins: got"),
        ([[[1]]], "expected rising numbers"),
    ],
)
def test_bad_bins_are_refused(bins, message):
    with pytest.raises(TwinWLError, match=message):
        FEATURED.discretise(bins)


@pytest.mark.parametrize("bins", [None, [0.5]])
def test_feature_that_is_no_number_is_refused(bins):
    batch = GraphBatch.from_edges([PATH, PATH], node_features=[ROWS[0], ROWS[1]])
    broken = batch.node_features.copy()
    broken[4] = np.nan
    with pytest.raises(TwinWLError, match=r"not a number|not finite"):
        with_features(batch, broken).discretise(bins)


def test_without_features_is_the_batch_itself_where_there_are_none():
    plain = GraphBatch.from_edges([PATH])
    assert plain.without_features() is plain
    assert plain.discretise() is plain
    assert plain.without_edge_labels() is plain
    assert_same_graphs(FEATURED[0].without_features(), plain)


# ------------------------------------------------------------------ what would lose them


@pytest.mark.parametrize(
    "call",
    [
        lambda **options: tw.compare(FEATURED[0], FEATURED[1], **options),
        lambda **options: tw.graph_hash(FEATURED[0], **options),
        lambda **options: tw.graph_hashes(FEATURED, **options),
        lambda **options: tw.deduplicate(FEATURED, **options),
        lambda **options: tw.deduplicate(iter(FEATURED), exact=False, **options),
    ],
    ids=["compare", "graph_hash", "graph_hashes", "deduplicate", "deduplicate a stream"],
)
def test_features_are_refused_unless_ignored(call):
    message = r"graph.*shape \(3, 1\).*GraphBatch.discretise\(\).*ignore_features=True"
    with pytest.raises(TwinWLError, match=message):
        call()
    with pytest.raises(TwinWLError, match="ignore_features: got 'yes', expected True or False"):
        call(ignore_features="yes")
    call(ignore_features=True)


def test_refusal_counts_graphs_from_the_start_of_a_stream():
    stream = iter([GraphBatch.from_edges([[(0, 1)]] * 2048), FEATURED[0]])
    with pytest.raises(TwinWLError, match="graph 2048: its nodes have continuous features"):
        tw.deduplicate(stream)


def test_second_graph_is_named():
    with pytest.raises(TwinWLError, match="the second graph: its nodes have continuous"):
        tw.compare(FEATURED[0].without_features(), FEATURED[1])


def test_graphs_that_differ_in_features_are_never_called_isomorphic():
    found = tw.compare(FEATURED[0], FEATURED[1], "canonical", ignore_features=True)
    assert not found.distinguished
    assert found.features_ignored
    assert not found.proves_isomorphism
    assert str(found).endswith("the graphs are isomorphic when node features are ignored.")
    exact = FEATURED.discretise()
    assert tw.compare(exact[0], exact[1], "canonical").distinguished
    assert tw.compare(exact[0], exact[2], "canonical").proves_isomorphism


def test_groups_with_and_without_features():
    ignored = tw.deduplicate(FEATURED, ignore_features=True)
    assert ignored.labels.tolist() == [0, 0, 0]
    assert ignored.features_ignored
    assert "node features ignored" in repr(ignored)
    exact = tw.deduplicate(FEATURED.discretise())
    assert exact.labels.tolist() == [0, 1, 0]
    assert not exact.features_ignored


def test_matrix_without_columns_is_no_feature():
    batch = GraphBatch.from_edges([PATH], node_features=[np.empty((3, 0))])
    assert tw.graph_hash(batch) == tw.graph_hash([PATH])


# ------------------------------------------------------------------ estimators


ESTIMATORS = {
    "STwinVectorizer": {"n_iter": 1},
    "TwinKernel": {"n_iter": 1},
    "STwinSVC": {"n_iter": 1, "C": 1.0, "inner_folds": 2},
    "STwinClassifier": {"n_iter": 1, "max_epochs": 1, "validation_fraction": None, "random_state": 0},
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_warn_once_per_fit_with_the_count(name):
    if name == "STwinClassifier":
        pytest.importorskip("torch", reason="PyTorch is not installed")

    def make(**options):
        return getattr(tw, name)(**ESTIMATORS[name], **options)

    graphs, y = FEATURED[[0, 1, 2, 0]], [0, 1, 0, 1]
    message = r"does not use continuous node features.* 1 at each of 12 nodes.*parameter ignore_features"
    with pytest.warns(TwinWLWarning, match=message) as caught:
        make().fit(graphs, y)
    assert len(caught) == 1
    assert name in str(caught[0].message)
    make(ignore_features=True).fit(graphs, y)  # any warning of ours is an error in the tests
