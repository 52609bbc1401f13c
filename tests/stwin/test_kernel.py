import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

from tests import naive
from tests.stwin.grakel_oracle import grakel_graphs, grakel_kernel
from tests.stwin.test_features import batches
from twinwl import GraphBatch, TwinKernel, TwinWLError, TwinWLWarning
from twinwl.datasets.generators import worked_example
from twinwl.datasets.graph_files import read_tu
from twinwl.models.features import KINDS
from twinwl.models.similarity import BASES

PATH, TRIANGLE = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]


def naive_similarity(x, y, base, *, normalize):
    def pairs(a, b):
        if base == "linear":
            return sum(a[key] * b.get(key, 0) for key in a)
        return sum(min(a[key], b.get(key, 0)) for key in a)

    if base == "minmax":
        top = sum(max(x.get(key, 0), y.get(key, 0)) for key in x.keys() | y.keys())
        return pairs(x, y) / top if top else 0.0
    if not normalize:
        return pairs(x, y)
    product = pairs(x, x) * pairs(y, y)
    return pairs(x, y) / product**0.5 if product else 0.0


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("normalize", [False, True])
@settings(max_examples=15)
@given(data=st.data())
@pytest.mark.filterwarnings("ignore::twinwl.TwinWLWarning")  # labels that a draw has only in its second half
def test_kernels_equal_the_oracle_on_training_and_on_new_graphs(base, kind, normalize, data):
    directed = data.draw(st.booleans())
    train, test = data.draw(batches(directed)), data.draw(batches(directed))
    vectors = naive.features(naive.from_batch(train) + naive.from_batch(test), 2, kind)
    kernel = TwinKernel(2, kind, base, normalize)
    known, new = vectors[: len(train)], vectors[len(train) :]
    expected = [[naive_similarity(x, y, base, normalize=normalize) for y in known] for x in known]
    np.testing.assert_allclose(kernel.fit_transform(train), expected, rtol=1e-14)
    expected = [[naive_similarity(x, y, base, normalize=normalize) for y in known] for x in new]
    np.testing.assert_allclose(kernel.transform(test), expected, rtol=1e-14)
    expected = [naive_similarity(x, x, base, normalize=normalize) for x in new]
    np.testing.assert_allclose(kernel.diagonal(test), expected, rtol=1e-14)


@pytest.mark.parametrize("base", ["linear", "intersection"])
@pytest.mark.parametrize("normalize", [False, True])
def test_counts_agree_with_grakel_on_random_graphs(base, normalize):
    random = np.random.default_rng(0)
    edges, labels = [], []
    for _ in range(30):
        n = int(random.integers(2, 12))
        present = np.triu(random.random((n, n)) < 0.4, 1)
        edges.append(np.argwhere(present))
        labels.append(random.integers(0, 3, n).tolist())
    batch = GraphBatch.from_edges(edges, labels)
    judge, kernel = grakel_kernel(base, 3, normalize=normalize), TwinKernel(3, "count", base, normalize)
    graphs = grakel_graphs(batch)
    np.testing.assert_allclose(kernel.fit_transform(batch[:20]), judge.fit_transform(graphs[:20]), rtol=1e-12)
    np.testing.assert_allclose(kernel.transform(batch[20:]), judge.transform(graphs[20:]), rtol=1e-12)


@pytest.mark.parametrize("base", ["linear", "intersection"])
def test_counts_agree_with_grakel_on_mutag(base, tu_zip):
    batch = read_tu(tu_zip("MUTAG")).graphs
    graphs = grakel_graphs(batch)
    judge, kernel = grakel_kernel(base, 4, normalize=True), TwinKernel(4, "count", base)
    np.testing.assert_allclose(
        kernel.fit_transform(batch[:120]), judge.fit_transform(graphs[:120]), rtol=1e-12
    )
    np.testing.assert_allclose(kernel.transform(batch[120:]), judge.transform(graphs[120:]), rtol=1e-12)


@pytest.mark.parametrize("base", BASES)
@settings(max_examples=15)
@given(batch=batches())
def test_kernel_matrices_are_symmetric_bounded_and_without_negative_eigenvalues(base, batch):
    similarities = TwinKernel(2, base=base).fit_transform(batch)
    assert np.array_equal(similarities, similarities.T)
    assert set(np.diag(similarities)) <= {0.0, 1.0}
    assert similarities.max() <= 1
    assert np.linalg.eigvalsh(similarities).min() > -1e-9


@pytest.mark.parametrize("base", BASES)
def test_transform_of_the_training_graphs_is_fit_transform(base):
    batch = worked_example()[[0, 1, 0]]
    kernel = TwinKernel(2, base=base)
    assert np.array_equal(kernel.fit_transform(batch), kernel.transform(batch))


@pytest.mark.parametrize("rows", [1, 2, 100])
def test_blocks_are_the_rows_of_transform_and_no_larger_than_asked(rows):
    train, test = worked_example(), GraphBatch.from_edges([PATH, TRIANGLE, PATH], [[1, 1, 2]] * 3)
    kernel = TwinKernel(2, base="minmax").fit(train)
    blocks = list(kernel.blocks(test, block_size=rows))
    assert max(len(block) for _, block in blocks) <= rows
    whole = kernel.transform(test)
    assert all(np.array_equal(whole[where], block) for where, block in blocks)
    assert sum(len(block) for _, block in blocks) == 3
    own = np.concatenate([block for _, block in kernel.blocks(block_size=rows)])
    assert np.array_equal(own, kernel.fit_transform(train))


def test_new_colours_count_in_the_similarity_with_oneself():
    kernel = TwinKernel(0, "count").fit(GraphBatch.from_edges([PATH], [["C", "C", "C"]]))
    half_known = GraphBatch.from_edges([[(0, 1)]], [["C", "O"]])
    assert kernel.transform(half_known)[0, 0] == pytest.approx(3 / (3 * 2**0.5))


def test_labels_never_seen_are_similar_to_nothing_and_warned_of_once():
    kernel = TwinKernel(1).fit(GraphBatch.from_edges([PATH], [["C", "C", "C"]]))
    strange = GraphBatch.from_edges([PATH, TRIANGLE, PATH], [["X"] * 3, ["Y"] * 3, ["C"] * 3])
    with pytest.warns(TwinWLWarning, match="2 of 3 graphs") as caught:
        assert kernel.transform(strange).tolist() == [[0], [0], [1]]
    assert len(caught) == 1


def test_large_sums_stay_exact():
    """Beyond 2**24 single precision would round."""
    star = GraphBatch.from_edges([[(0, leaf) for leaf in range(1, 6000)]])
    sums = TwinKernel(2, "size", "intersection", normalize=False).fit_transform(star)
    assert sums[0, 0] == 6000 + (6000 + 2 * 5999) + 6000 * 6000


def test_graph_without_nodes_is_similar_to_nothing():
    batch = GraphBatch.from_edges([PATH, []])
    for base in BASES:
        assert TwinKernel(base=base).fit_transform(batch).tolist() == [[1, 0], [0, 0]]


def test_works_with_a_support_vector_machine_in_a_search():
    sizes = [3 + i % 5 for i in range(40)]
    edges = [
        [(j, j + 1) for j in range(n - 1)] + ([(n - 1, 0)] if i % 2 else []) for i, n in enumerate(sizes)
    ]
    pipeline = Pipeline([("kernel", TwinKernel()), ("svm", SVC(kernel="precomputed"))])
    search = GridSearchCV(pipeline, {"kernel__base": BASES, "kernel__n_iter": [1, 2]}, cv=4)
    assert search.fit(GraphBatch.from_edges(edges), np.arange(40) % 2).best_score_ == 1.0


def test_clone_pickle_and_names():
    kernel = TwinKernel(1, "joint", "minmax").fit(worked_example())
    assert clone(kernel).get_params() == kernel.get_params()
    copy = pickle.loads(pickle.dumps(kernel))  # noqa: S301
    assert np.array_equal(copy.transform(worked_example()), kernel.transform(worked_example()))
    assert kernel.get_feature_names_out().tolist() == ["graph0", "graph1"]


def test_pandas_output_names_the_training_graphs():
    pytest.importorskip("pandas")
    frame = TwinKernel(1).set_output(transform="pandas").fit_transform(worked_example())
    assert frame.columns.tolist() == ["graph0", "graph1"]


def test_bad_input_is_refused():
    with pytest.raises(TwinWLError, match="did you mean 'minmax'"):
        TwinKernel(base="min-max").fit(worked_example())
    with pytest.raises(TwinWLError, match="n_iter: got -2"):
        TwinKernel(n_iter=-2).fit(worked_example())
    with pytest.raises(TwinWLError, match="no graph to fit"):
        TwinKernel().fit([])
    for use in (TwinKernel().transform, TwinKernel().diagonal, lambda X: next(TwinKernel().blocks(X))):
        with pytest.raises(TwinWLError, match="call fit first"):
            use(worked_example())
    with pytest.raises(TwinWLError, match="block_size: got 0"):
        next(TwinKernel().fit(worked_example()).blocks(block_size=0))


def test_the_case_study_of_the_paper(tu_zip):
    """Mutagenicity's graphs 208 and 1103, counted from 1, after two rounds."""
    pair = read_tu(tu_zip("Mutagenicity")).graphs[[207, 1102]]
    assert TwinKernel(2, "count").fit_transform(pair)[0, 1] == pytest.approx(0.9472, abs=5e-5)
    assert TwinKernel(2, "size").fit_transform(pair)[0, 1] == pytest.approx(0.7577, abs=5e-5)


@pytest.mark.parametrize(("kind", "separated"), [("count", 0), ("size", 600), ("joint", 600)])
def test_pairs_that_plain_refinement_confuses(kind, separated, tu_zip):
    features = TwinKernel(3, kind).fit(read_tu(tu_zip("EXP")).graphs).matrix_
    different = abs(features[0::2] - features[1::2]).sum(axis=1) > 0
    assert np.count_nonzero(different) == separated
