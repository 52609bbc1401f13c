from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold, cross_val_score

import twinwl as tw
from tests.networks import CERTAIN, DIFFERENT, LEAST_LOSS_OF_1WL, SAME, apart, mean_loss
from tests.ntwin.rooted_data import graph_data, row_examples
from twinwl import GraphBatch, NTwinClassifier, TwinWLError, TwinWLWarning, load, save
from twinwl.datasets.generators import worked_example
from twinwl.datasets.graph_files import read_tu
from twinwl.graphs.batch import concatenate
from twinwl.neural.encoder import NTwinEncoder, NTwinInput, NTwinNetwork
from twinwl.neural.inputs import NTwinExamples
from twinwl.neural.training import train

PATH, TRIANGLE, STAR = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)], [(0, 1), (0, 2), (0, 3)]


def small_model(**arguments):
    defaults = {"layers": 2, "hidden": 16, "random_state": 0, "max_epochs": 30, "verbose": False}
    return NTwinClassifier(**defaults | arguments)


def labelled(n=24):
    edges = [PATH, TRIANGLE, STAR] * (n // 3)
    atoms = [["C", "C", "O"], ["C", "C", "C"], ["N", "C", "C", "C"]] * (n // 3)
    bonds = [["s", "d"], ["s", "s", "s"], ["d", "s", "s"]] * (n // 3)
    return GraphBatch.from_edges(edges, node_labels=atoms, edge_labels=bonds), [
        "path",
        "triangle",
        "star",
    ] * (n // 3)


def with_features(batch, width=2, shift=0.0):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(batch.n_nodes, width)) + np.broadcast_to(shift, batch.n_nodes)[:, None]
    return GraphBatch(
        batch.indptr,
        batch.indices,
        batch.graph_ptr,
        batch.node_labels,
        batch.node_vocabulary,
        node_features=values,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"hops": 1, "root_mark": "distance"},
        {"edge_labels": True, "root_mark": "root"},
        {"subtree": "gin"},
        {"subtree": "gin", "edge_labels": True},
        {"normalize": False, "min_df": 1},
        {"layers": 6},
        {"input_dropout": 0.3},
    ],
)
def test_three_kinds_of_graphs_are_learnt(arguments):
    graphs, y = labelled()
    model = small_model(**arguments, **CERTAIN).fit(graphs, y)
    assert mean_loss(model, graphs, y) < 0.1 < np.log(3)
    assert model.classes_.tolist() == ["path", "star", "triangle"]
    np.testing.assert_allclose(model.predict_proba(graphs).sum(axis=1), 1)
    likeliest = model.predict_proba(graphs).argmax(axis=1)
    assert model.predict(graphs).tolist() == model.classes_[likeliest].tolist()
    assert len(model.history_.train_loss) == 30


def test_what_1_wl_cannot_tell_apart_is_learnt():
    graphs, y = concatenate([worked_example()] * 20), [0, 1] * 20
    model = small_model(**CERTAIN).fit(graphs, y)
    assert mean_loss(model, graphs, y) < 0.1 < LEAST_LOSS_OF_1WL


def test_continuous_features_are_learnt_by_the_literal_network():
    alike = with_features(GraphBatch.from_edges([PATH] * 24), shift=np.repeat([0.0, 3.0] * 12, 3))
    y = [0, 1] * 12
    model = small_model(**CERTAIN).fit(alike, y)
    assert model.inputs_.subtree == "gin"
    assert mean_loss(model, alike, y) < 0.1 < np.log(2)


def test_directed_graphs_are_told_apart_by_direction():
    edges = [[(0, 1), (0, 2)], [(1, 0), (2, 0)]]
    arcs, undirected = (GraphBatch.from_edges(edges, directed=directed) for directed in (True, False))
    assert apart(small_model(), arcs) > DIFFERENT
    assert apart(small_model(), undirected) < SAME


def test_the_same_seed_gives_the_same_bytes():
    graphs, y = labelled()
    first, second = (small_model().fit(graphs, y).decision_function(graphs) for _ in range(2))
    assert first.tobytes() == second.tobytes()
    other = small_model(random_state=1).fit(graphs, y).decision_function(graphs)
    assert not np.array_equal(first, other)


def test_prediction_does_not_depend_on_the_company():
    graphs, y = labelled()
    model = small_model().fit(graphs, y)
    model.module_.double()
    alone = np.concatenate([model.predict_proba(graph) for graph in graphs[:6]])
    np.testing.assert_allclose(alone, model.predict_proba(graphs[:6]), rtol=1e-6)


def test_it_is_a_scikit_learn_estimator():
    graphs, y = labelled()
    model = clone(small_model(max_epochs=3))
    folds = list(StratifiedKFold(2).split(graphs, y))
    by_hand = []
    for learnt, held in folds:
        fitted = small_model(max_epochs=3).fit(graphs[learnt], np.take(y, learnt))
        by_hand.append(fitted.score(graphs[held], np.take(y, held)))
    assert cross_val_score(model, graphs, y, cv=folds).tolist() == by_hand


@pytest.mark.parametrize("hops", ["growing", 2])
def test_quotient_and_literal_training_have_the_same_curves(tu_zip, hops):
    mutag = read_tu(tu_zip("MUTAG"))
    batch, y = mutag.graphs[:90], np.unique(mutag.y[:90], return_inverse=True)[1]
    curves = []
    for literal in (False, True):
        torch.manual_seed(0)
        network = NTwinNetwork(NTwinEncoder(len(batch.node_vocabulary), 3, hops, 16), 2).double()
        examples = _Literal(batch) if literal else NTwinExamples(row_examples(batch, 3, hops))
        curves.append(train(network, examples, y, max_epochs=4, random_state=0).train_loss)
    np.testing.assert_allclose(curves[0], curves[1], rtol=1e-6)


class _Literal:
    def __init__(self, batch):
        self.batch = batch

    def __len__(self):
        return len(self.batch)

    def take(self, rows):
        return NTwinInput(graph_data(self.batch[rows]))


# ---------------------------------------------------------------------- explanation and files


@pytest.mark.parametrize(
    "arguments", [{}, {"subtree": "gin", "edge_labels": True}, {"root_mark": "distance", "hops": 2}]
)
def test_explanation_is_about_the_prediction_and_nodes_alike_share_alike(arguments):
    graphs, y = labelled()
    model = small_model(**arguments).fit(graphs, y)
    model.module_.double()
    explanation = model.explain(graphs[2])
    logits = np.sort(model.decision_function(graphs[2])[0])
    assert explanation.decision == pytest.approx(logits[-1] - logits[-2], abs=1e-6)
    assert explanation.prediction == model.predict(graphs[2])[0]
    assert explanation.node_shares.shape == (4,)
    # The three leaves of the star: two carry the same labels and bonds, so they must share alike.
    assert explanation.node_shares[2] == pytest.approx(explanation.node_shares[3], abs=1e-6)
    assert explanation.decision == pytest.approx(explanation.intercept + explanation.node_shares.sum())
    assert f"{explanation.prediction} rather than" in str(explanation)


def test_explanation_of_a_linear_network_is_exact():
    graphs, y = labelled()
    model = small_model(normalize=False, min_df=1).fit(graphs, y)
    network = model.module_.double()
    with torch.no_grad():  # all hidden units on: from the two encoders' output on, the network is linear
        network.first.bias += 1e4
    explanation = model.explain(graphs[0])
    with torch.no_grad():
        empty = network.second(network.first.bias + network.wide.bias)
    order = np.argsort(model.decision_function(graphs[0])[0])
    assert explanation.intercept == pytest.approx(float(empty[order[-1]] - empty[order[-2]]), abs=1e-4)


def test_explanation_lists_the_colours_that_matter():
    graphs, y = labelled()
    explanation = small_model().fit(graphs, y).explain(graphs[0], n_columns=3)
    assert len(explanation.columns) == 3
    shares = [abs(column.share) for column in explanation.columns]
    assert shares == sorted(shares, reverse=True)


def test_explanation_of_continuous_features():
    graphs, y = labelled()
    graphs = with_features(graphs)
    explanation = small_model().fit(graphs, y).explain(graphs[0])
    assert explanation.node_shares.shape == (3,)
    assert explanation.columns == ()


def test_explaining_several_graphs_is_refused():
    graphs, y = labelled()
    with pytest.raises(TwinWLError, match="2 graphs; pick one"):
        small_model().fit(graphs, y).explain(graphs[:2])


@pytest.mark.parametrize(
    "arguments", [{}, {"subtree": "gin", "edge_labels": True}, {"root_mark": "distance"}]
)
def test_a_loaded_model_predicts_the_same_bytes(tmp_path, arguments):
    graphs, y = labelled()
    model = small_model(**arguments).fit(graphs, y)
    tw.save(model, tmp_path / "model.twinwl")
    loaded = tw.load(tmp_path / "model.twinwl")
    assert loaded.decision_function(graphs).tobytes() == model.decision_function(graphs).tobytes()
    assert loaded.explain(graphs[0]).decision == model.explain(graphs[0]).decision


def test_a_loaded_model_of_continuous_features_predicts_the_same_bytes(tmp_path):
    graphs, y = labelled()
    graphs = with_features(graphs)
    model = small_model(max_epochs=3).fit(graphs, y)
    tw.save(model, tmp_path / "model.twinwl")
    loaded = tw.load(tmp_path / "model.twinwl")
    assert loaded.decision_function(graphs).tobytes() == model.decision_function(graphs).tobytes()


# ---------------------------------------------------------------------- bad input


def test_empty_graphs_and_single_nodes_are_classified():
    graphs = GraphBatch.from_edges([[], [], PATH, TRIANGLE] * 6, num_nodes=[0, 1, 3, 3] * 6)
    y = [0, 0, 1, 1] * 6
    model = small_model().fit(graphs, y)
    assert model.predict(graphs).shape == (24,)
    assert model.explain(graphs[0]).node_shares.shape == (0,)


def test_graphs_of_which_none_has_a_node_are_refused():
    with pytest.raises(TwinWLError, match="none of the 4 graphs to learn from has a node"):
        small_model(validation_fraction=None).fit(GraphBatch.from_edges([[]] * 4), [0, 1, 0, 1])


def test_a_batch_of_one_graph_is_learnt_from():
    graphs, y = labelled()
    model = small_model(batch_size=1, max_epochs=3).fit(graphs, y)
    assert np.isfinite(model.history_.train_loss).all()


def test_features_of_the_wrong_width_are_refused():
    graphs, y = labelled()
    model = small_model(max_epochs=2).fit(with_features(graphs), y)
    with pytest.raises(TwinWLError, match=r"3 continuous features, .* with 2"):
        model.predict(with_features(graphs, width=3))
    with pytest.raises(TwinWLError, match=r"0 continuous features, .* with 2"):
        model.predict(graphs)


def test_an_unknown_label_is_a_zero_and_warned_of_once():
    graphs, y = labelled()
    model = small_model().fit(graphs, y)
    strange = GraphBatch.from_edges(
        [PATH, PATH], node_labels=[["C", "C", "O"], ["Xe", "C", "Kr"]], edge_labels=[["s", "d"]] * 2
    )
    with pytest.warns(TwinWLWarning, match=r"2 of 6 nodes .*'Xe' in graph 1") as caught:
        model.predict(strange)
    assert len(caught) == 1
    with pytest.raises(TwinWLError, match="2 of 6 nodes"):
        model.set_params(unknown="error").predict(strange)


def test_an_unknown_edge_label_is_warned_of():
    graphs, y = labelled()
    model = small_model(edge_labels=True).fit(graphs, y)
    strange = GraphBatch.from_edges([PATH], node_labels=[["C", "C", "O"]], edge_labels=[["s", "t"]])
    with pytest.warns(TwinWLWarning, match="2 of 4 arcs"):
        model.predict(strange)
    with pytest.raises(TwinWLError, match="edge labels"):
        model.predict(GraphBatch.from_edges([PATH], node_labels=[["C", "C", "O"]]))


def all_different(edges):
    """Return graphs in which no two nodes have the same label."""
    graphs = GraphBatch.from_edges(edges)
    labels = np.arange(graphs.n_nodes).tolist()
    cut = [labels[low:high] for low, high in pairwise(graphs.graph_ptr.tolist())]
    return GraphBatch.from_edges(edges, node_labels=cut)


def test_hops_shrink_where_memory_would_not_do_and_say_so(tmp_path):
    graphs = all_different([list(nx.gnp_random_graph(40, 0.08, seed=seed).edges) for seed in range(24)])
    with pytest.warns(
        TwinWLWarning, match=r"hops \(1, 2\) may need .* MiB, more than .* so hops are \(1, 1\)"
    ):
        model = small_model(max_memory=4 << 20, validation_fraction=None).fit(graphs, [0, 1] * 12)
    assert model.hops_ == (1, 1)
    save(model, tmp_path / "model.twinwl")
    loaded = load(tmp_path / "model.twinwl")
    assert loaded.hops_ == (1, 1)
    np.testing.assert_array_equal(loaded.predict_proba(graphs), model.predict_proba(graphs))


def test_hubs_that_compress_are_learnt_although_the_worst_case_would_not_fit():
    star = GraphBatch.from_edges([[(0, leaf) for leaf in range(1, 300)], PATH] * 12)
    model = small_model(max_memory=1 << 22).fit(star, [0, 1] * 12)
    assert model.hops_ == (1, 2)
    assert model._examples(star).rooted.quotient is not None


def test_hops_stay_where_states_are_shared_although_there_are_many_pairs():
    stars = all_different([[(0, leaf) for leaf in range(1, 60)], PATH] * 12)
    model = small_model(max_memory=4 << 20, validation_fraction=None, max_epochs=1).fit(stars, [0, 1] * 12)
    assert model.hops_ == (1, 2)  # 45,528 pairs, of which 2,157 differ


def test_without_memory_for_all_colours_each_mini_batch_has_its_own(tu_zip):
    proteins = read_tu(tu_zip("DD")).graphs[:6]
    model = small_model(max_epochs=1, hops=1, validation_fraction=None).fit(proteins, [0, 1] * 3)
    expected = model.predict_proba(proteins)
    model.set_params(max_memory=1 << 17)
    assert model._examples(proteins).rooted.quotient is None
    np.testing.assert_allclose(model.predict_proba(proteins), expected, rtol=1e-4)


@pytest.mark.parametrize("roots", [2, 0.5])
def test_sampled_roots_are_learnt_from_and_predictions_take_all(tmp_path, roots):
    graphs, y = labelled()
    model = small_model(roots=roots).fit(graphs, y)
    again = small_model(roots=roots).fit(graphs, y)
    assert model.history_ == again.history_
    assert model.history_ != small_model().fit(graphs, y).history_
    probabilities = model.predict_proba(graphs)
    np.testing.assert_array_equal(probabilities, again.predict_proba(graphs))
    np.testing.assert_array_equal(probabilities, model.predict_proba(graphs))
    save(model, tmp_path / "model.twinwl")
    loaded = load(tmp_path / "model.twinwl")
    assert loaded.roots == roots
    np.testing.assert_array_equal(loaded.predict_proba(graphs), probabilities)


def test_predictions_from_samples_were_removed():
    with pytest.raises(TwinWLError, match="predict_sampled was removed; use predict"):
        small_model().predict_sampled(None, roots=5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"layers": 0}, "layers: got 0"),
        ({"hops": "none"}, "hops: got 'none'"),
        ({"root_mark": "rote"}, "did you mean 'root'"),
        ({"subtree": "tree"}, "subtree: got 'tree'"),
        ({"hidden": 0}, "hidden: got 0"),
        ({"dropout": 1.0}, "dropout: got 1.0"),
        ({"input_dropout": "some"}, "input_dropout: got 'some'"),
        ({"unknown": "skip"}, "unknown: got 'skip'"),
        ({"roots": 0}, "roots: got 0"),
        ({"roots": 0.0}, "roots: got 0.0"),
        ({"roots": 1.5}, "roots: got 1.5"),
        ({"roots": -3}, "roots: got -3"),
        ({"roots": True}, "roots: got True"),
        ({"roots": float("nan")}, "roots: got nan"),
        ({"roots": "all"}, "roots: got 'all'"),
    ],
)
def test_impossible_parameters_are_refused(arguments, message):
    graphs, y = labelled()
    with pytest.raises(TwinWLError, match=message):
        small_model(**arguments).fit(graphs, y)


def test_use_before_fit_is_refused():
    for use in (NTwinClassifier().predict, NTwinClassifier().explain):
        with pytest.raises(NotFittedError):
            use([PATH])


def test_directed_graphs_are_refused_by_a_network_of_undirected_ones():
    graphs, y = labelled()
    model = small_model(max_epochs=2).fit(graphs, y)
    arcs = GraphBatch.from_edges([PATH], node_labels=[["C", "C", "O"]], directed=True)
    with pytest.raises(TwinWLError, match="undirected graphs, these are directed"):
        model.predict(arcs)
