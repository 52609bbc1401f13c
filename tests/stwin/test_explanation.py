import importlib.util
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twinwl as tw
from tests.strategies import batches as undirected
from tests.stwin.test_features import batches
from tests.stwin.test_svc import noisy
from twinwl import GraphBatch, STwinSVC, TwinWLError
from twinwl.models import features
from twinwl.models.explanation import Decision, explanation_of, label_text
from twinwl.models.features import KINDS, stwin_features
from twinwl.models.similarity import BASES
from twinwl.refinement.colours import refine


def names_of(space):
    return space.names(np.arange(space.n_columns))


def line_of(graph, node, steps, came_from=None):
    """Write a rooted tree literally: walk away from a node, never straight back."""
    label = label_text(graph.nodes[node]["label"])
    others = [other for other in graph[node] if other != came_from]
    if not steps or not others:
        return label
    further = [line_of(graph, other, steps - 1, node) for other in others]
    counts = sorted(Counter(further).items())
    parts = sorted(f"{count}×{part}" if count > 1 else part for part, count in counts)
    return f"{label}({','.join(parts)})"


@given(batch=undirected())
def test_names_of_columns_are_trees_without_steps_back(batch):
    batch = batch.without_edge_labels()
    vectorizer = tw.STwinVectorizer(2).fit(batch)
    encoding = stwin_features(batch, space=vectorizer.space_)
    names, first = vectorizer.get_feature_names_out(), np.cumsum([0, *encoding.space.columns_per_round])
    graph = nx.Graph()
    graph.add_nodes_from((node, {"label": label}) for node, label in enumerate(batch.labels_of_nodes()))
    graph.add_edges_from(zip(*(part.tolist() for part in batch.arcs())))
    for h, columns in enumerate(encoding.column_of_node):
        for node, column in enumerate(columns):
            line = line_of(graph, node, h)
            assert names[first[h] + column].startswith(f"{h}: {line}") or len(line) > 64


def test_a_name_does_not_depend_on_the_other_graphs():
    graphs = noisy(12)[0]
    first, second = (
        set(tw.STwinVectorizer(2).fit(some).get_feature_names_out()) for some in (graphs[:6], graphs)
    )
    assert first < second


def test_names_that_print_alike_get_their_codes_too():
    graphs = GraphBatch.from_edges([[(0, 1)]], node_labels=[[1, "1"]])
    names = tw.STwinVectorizer(0).fit(graphs).get_feature_names_out()
    assert names.tolist() == ["0: 1 h0:c0", "0: 1 h0:c1"]


def test_a_long_name_is_cut_and_stays_unique():
    edges = [[(0, i) for i in range(1, n)] for n in (40, 41)]
    stars = GraphBatch.from_edges(edges, node_labels=[[f"leaf {i}" for i in range(n)] for n in (40, 41)])
    names = tw.STwinVectorizer(1).fit(stars).get_feature_names_out()
    assert len(set(names)) == len(names)
    assert max(map(len, names)) < 90


def test_bonds_and_arcs_are_part_of_a_name():
    graphs = tw.from_edges([[(0, 1), (1, 2)]], node_labels=[list("CCO")], edge_labels=[["single", "double"]])
    names = tw.STwinVectorizer(1, edge_labels=True).fit(graphs).get_feature_names_out().tolist()
    assert names[2:] == ["1: C(C)", "1: C(=O,C)", "1: O(=C)"]
    arcs = tw.from_edges([[(0, 1), (1, 2)]], node_labels=[list("abc")], directed=True)
    assert "2: b(← a,→ c)" in tw.STwinVectorizer(2).fit(arcs).get_feature_names_out()


@pytest.mark.parametrize("kind", KINDS)
@given(batch=batches(), seed=st.integers(0, 1000))
def test_node_shares_lose_nothing(kind, batch, seed):
    encoding = stwin_features(batch, 2, kind)
    weights = np.random.default_rng(seed).normal(size=encoding.space.n_columns)
    for graph, row in zip(batch, encoding.matrix, strict=True):
        contributions = row.toarray()[0] * weights
        alone = stwin_features(graph, space=encoding.space)
        assert alone.node_shares(graph, contributions).sum() == pytest.approx(contributions.sum())


def test_node_shares_equal_a_plain_loop():
    """A linear model on sizes: a node's share is its rooted sizes times the weights of its colours."""
    batch, _ = noisy(8)
    encoding = stwin_features(batch, 2, "size")
    weights = np.random.default_rng(0).normal(size=encoding.space.n_columns)
    graph = batch[3]
    alone = stwin_features(graph, space=encoding.space)
    from tests import naive  # noqa: PLC0415

    sizes = naive.rooted_sizes(naive.from_batch(graph)[0], 2)
    offsets = np.concatenate([[0], np.cumsum(encoding.space.columns_per_round)])
    expected = [
        sum(sizes[h][node] * weights[offsets[h] + alone.column_of_node[h, node]] for h in range(3))
        for node in range(graph.n_nodes)
    ]
    shares = alone.node_shares(graph, alone.matrix.toarray()[0] * weights)
    np.testing.assert_allclose(shares, expected)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_shares_and_intercept_sum_to_the_decision(base, normalize, n_classes):
    batch, y = noisy(45, n_classes=n_classes)
    model = STwinSVC(2, 1, base=base, normalize=normalize).fit(batch[:30], y[:30])
    for graph in batch[30:36]:
        explanation = model.explain(graph)
        assert explanation.node_shares.sum() + explanation.intercept == pytest.approx(explanation.decision)
        assert explanation.prediction == model.predict(graph)[0]
        assert explanation.against != explanation.prediction
        if n_classes == 2:
            assert explanation.decision == pytest.approx(abs(model.decision_function(graph)[0]))
        else:
            assert explanation.decision > -1e-9


def test_the_node_that_makes_the_class_stands_out():
    """Cycles of carbon, with one oxygen or none: the oxygen and its neighbours carry the decision."""
    ring = [(i, (i + 1) % 8) for i in range(8)]
    labels = [["C"] * 8, ["O"] + ["C"] * 7] * 10
    batch = GraphBatch.from_edges([ring] * 20, labels)
    model = STwinSVC(1, 1, base="linear").fit(batch, ["plain", "oxygen"] * 10)
    explanation = model.explain(batch[1])
    assert explanation.prediction == "oxygen"
    assert set(np.flatnonzero(explanation.node_shares > 0)) == {7, 0, 1}
    assert explanation.node_shares[1] == pytest.approx(explanation.node_shares[7])
    assert "node 0 (O)" in str(explanation)


def test_columns_come_by_weight_with_the_trees_they_count():
    batch, y = noisy(30)
    model = STwinSVC(2, 1).fit(batch, y)
    explanation = model.explain(batch[0], n_columns=3)
    assert len(explanation.columns) == 3
    shares = [abs(column.share) for column in explanation.columns]
    assert shares == sorted(shares, reverse=True)
    names = names_of(model.space_)
    for column in explanation.columns:
        assert column.name in names
        assert column.tree.depth == int(column.name[1])
        assert (
            column.value == stwin_features(batch[0], space=model.space_).matrix[0, names.index(column.name)]
        )
        assert f"{column.name} = {column.value:g}" in str(explanation)


def test_an_explanation_holds_what_it_was_given():
    graph = GraphBatch.from_edges([[(0, 1), (1, 2)]])
    explanation = explanation_of(
        graph,
        stwin_features(graph, 1, "size"),
        np.array([0.0, 0.0, 5.0]),
        Decision(np.str_("a"), "b", None, -1.0),
        "by hand",
    )
    assert explanation.node_shares.tolist() == [0, 5, 0]
    assert explanation.decision == 4.0
    assert [column.name for column in explanation.columns] == ["h1:c1"]


def test_explaining_encodes_the_graph_once(monkeypatch):
    batch, y = noisy(20)
    calls = []

    def counting(*args, **kwargs):
        calls.append(1)
        return refine(*args, **kwargs)

    models = [STwinSVC(1, 1).fit(batch, y)]
    if importlib.util.find_spec("torch"):
        models.append(tw.STwinClassifier(1, max_epochs=1).fit(batch, y))
    monkeypatch.setattr(features, "refine", counting)
    for model in models:
        model.explain(batch[0])
    assert len(calls) == len(models)


@pytest.mark.filterwarnings("ignore::twinwl.TwinWLWarning")
def test_unseen_nodes_have_no_share():
    model = STwinSVC(1, 1).fit(*noisy(20))
    strange = GraphBatch.from_edges([[(0, 1)]], node_labels=[["X", "Y"]])
    assert model.explain(strange).node_shares.tolist() == [0, 0]
    assert model.explain(strange).columns == ()


def test_several_graphs_are_refused():
    batch, y = noisy(20)
    model = STwinSVC(1, 1).fit(batch, y)
    with pytest.raises(TwinWLError, match="the graph to explain is a batch of 2 graphs; pick one"):
        model.explain(batch[:2])
    with pytest.raises(TwinWLError, match="n_columns: got -1"):
        model.explain(batch[0], n_columns=-1)
