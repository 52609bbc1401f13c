from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.svm import SVC

from tests.stwin.grakel_oracle import grakel_graphs, grakel_kernel
from twinwl import GraphBatch, TwinWLError, arguments
from twinwl.baselines.kernels import DeepGraphKernelSVC, ShortestPathSVC, WLOptimalAssignmentSVC, WLSubtreeSVC
from twinwl.datasets.generators import twins
from twinwl.models.base import NotFittedTwinError
from twinwl.refinement.colours import refine

KERNELS = [
    ShortestPathSVC,
    WLSubtreeSVC,
    WLOptimalAssignmentSVC,
    pytest.param(
        DeepGraphKernelSVC, marks=pytest.mark.skipif(not find_spec("gensim"), reason="needs gensim")
    ),
]


@pytest.fixture(scope="module")
def molecules():
    graphs, _, _ = twins(12)
    return graphs, (graphs.nodes_per_graph > np.median(graphs.nodes_per_graph)).astype(int)


def test_shortest_path_similarities_are_grakels(molecules):
    kernels = pytest.importorskip("grakel.kernels")
    graphs, _ = molecules
    fresh = GraphBatch.from_edges([[(0, 1), (1, 2)]], node_labels=[["C", "Xe", "C"]])
    ours = ShortestPathSVC()
    oracle = kernels.ShortestPath(normalize=True)
    np.testing.assert_allclose(
        ours._fit_kernel(graphs, 0), oracle.fit_transform(grakel_graphs(graphs)), rtol=1e-12
    )
    for others in (graphs[:5], fresh):
        np.testing.assert_allclose(ours._kernel(others), oracle.transform(grakel_graphs(others)), rtol=1e-12)


@pytest.mark.parametrize(
    ("kind", "base"), [(WLSubtreeSVC, "linear"), (WLOptimalAssignmentSVC, "intersection")]
)
def test_wl_machines_decide_as_a_machine_on_grakels_matrix(kind, base, molecules):
    graphs, y = molecules
    train, test = graphs[:16], graphs[16:]
    ours = kind(n_iter=3, C=1.0).fit(train, y[:16])
    kernel = grakel_kernel(base, 3, normalize=True)
    machine = SVC(kernel="precomputed", C=1.0).fit(kernel.fit_transform(grakel_graphs(train)), y[:16])
    expected = machine.decision_function(kernel.transform(grakel_graphs(test)))
    np.testing.assert_allclose(ours.decision_function(test), expected, atol=1e-3)


def test_deep_similarities_are_phi_m_phi(molecules):
    pytest.importorskip("gensim")
    graphs, _ = molecules
    model = DeepGraphKernelSVC(n_iter=1, vector_size=4, epochs=2)
    similarities = model._fit_kernel(graphs, 0)
    colouring = refine(graphs, 1)
    n_colours = colouring.alphabet.n_colours
    phi = np.zeros((len(graphs), sum(n_colours)))
    graph_of_node = np.repeat(np.arange(len(graphs)), graphs.nodes_per_graph)
    for first, colours in zip([0, n_colours[0]], colouring.colours, strict=True):
        np.add.at(phi, (graph_of_node, first + colours), 1)
    M = model.embedding_ @ model.embedding_.T
    kernel = phi @ M @ phi.T
    length = np.sqrt(np.diagonal(kernel))
    np.testing.assert_allclose(similarities, kernel / np.outer(length, length), rtol=1e-9)
    np.testing.assert_allclose(model._kernel(graphs[3:6]), similarities[3:6], rtol=1e-9)
    # Colours seen together are alike, which plain counts do not know.
    assert np.count_nonzero(M - np.diag(np.diagonal(M))) > 0


@pytest.mark.parametrize("kind", KERNELS)
def test_kernels_learn_choose_and_repeat_themselves(kind, molecules):
    graphs, y = molecules
    names = np.array(["small", "large"])[y]
    first, second = (kind(random_state=3).fit(graphs, names) for _ in range(2))
    assert first.score(graphs, names) > 0.7
    assert first.predict_proba(graphs).tobytes() == second.predict_proba(graphs).tobytes()
    np.testing.assert_allclose(first.predict_proba(graphs).sum(axis=1), 1)
    assert first.C_ in {0.1, 1, 3, 10, 100, 1000}
    assert clone(first).get_params() == first.get_params()


@pytest.mark.parametrize("kind", KERNELS)
def test_three_classes_groups_and_graphs_without_edges_pass(kind):
    lengths = np.array([1, 4, 8] * 6)
    chains = GraphBatch.from_edges([[(i, i + 1) for i in range(n - 1)] for n in lengths], num_nodes=lengths)
    model = kind().fit(chains, lengths, groups=np.arange(18) // 3)
    assert model.predict(chains[:3]).tolist() == [1, 4, 8]
    assert model.predict_proba(GraphBatch.from_edges([[]], num_nodes=[0])).shape == (1, 3)


@pytest.mark.parametrize("kind", KERNELS)
def test_continuous_features_are_refused(kind):
    edge = GraphBatch.from_edges([[(0, 1)]] * 8)
    with_features = GraphBatch(
        edge.indptr, edge.indices, edge.graph_ptr, edge.node_labels, node_features=np.ones((16, 2))
    )
    with pytest.raises(TwinWLError, match=r"2 continuous features, which the .*kernel cannot use"):
        kind().fit(with_features, [0, 1] * 4)
    model = kind().fit(edge, [0, 1] * 4)
    with pytest.raises(TwinWLError, match="continuous features"):
        model.predict(with_features)


@pytest.mark.parametrize("kind", KERNELS)
def test_prediction_before_fit_and_bad_penalties_are_refused(kind, molecules):
    with pytest.raises(NotFittedTwinError, match="not fitted"):
        kind().predict(molecules[0])
    for wrong in (0, [], [1, -2], "abc", None, True):
        with pytest.raises(TwinWLError, match="C: got"):
            kind(C=wrong).fit(*molecules)
    with pytest.raises(TwinWLError, match="inner_folds: got 1"):
        kind(inner_folds=1).fit(*molecules)


def test_labels_are_told_apart_by_kind():
    model = ShortestPathSVC()
    edges = [[(0, 1)]] * 2
    similarities = model._fit_kernel(GraphBatch.from_edges(edges, node_labels=[[1, 1], [True, True]]), 0)
    np.testing.assert_array_equal(similarities, np.eye(2))


def test_kernel_matrices_that_do_not_fit_are_refused_before_any_work(molecules, monkeypatch):
    graphs, y = molecules
    monkeypatch.setattr(arguments, "_half_of_memory", lambda: 10_000)
    with pytest.raises(
        TwinWLError, match=r"24 training graphs, 3 matrices of all pairs, needs about .*nystroem"
    ):
        ShortestPathSVC().fit(graphs, y)
