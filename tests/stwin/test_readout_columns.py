import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from tests import naive
from tests.isomorphism import naive_readouts
from tests.isomorphism.relabelling import relabelled
from tests.stwin.test_features import batches, columns_of_oracle, columns_of_round
from tests.stwin.test_states import through_json
from tests.stwin.test_vectorizer import same_bytes
from twinwl import GraphBatch, STwinSVC, STwinSVR, STwinVectorizer, TwinKernel, TwinWLError, load, save
from twinwl.isomorphism.readouts import READOUTS, ReadoutError
from twinwl.isomorphism.rooted import RootedSubgraph
from twinwl.models.features import stwin_features

KNOWN = [name for name in READOUTS if name not in {"marked-wl-1", "marked-wl-3"}]  # marked-wl-2 is like these
SLOW_ORACLES = {"marked-wl-2", "rooted-fwl2"}
OTHERS = [name for name in KNOWN if name != "size"]
PATH, TRIANGLE = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]


def triangles(rooted):
    """Number of triangles around the root: a readout of a user's."""
    near = {node for node, distance in zip(rooted.nodes, rooted.distances, strict=True) if distance == 1}
    return sum(u in near and v in near for u, v in rooted.edges)


def labelled(n=12):
    edges = [PATH, TRIANGLE, [(0, 1), (1, 2), (2, 3), (3, 0)], [(0, 1), (0, 2), (0, 3)]] * (n // 4)
    labels = [["C", "N", "O", "C"][: 1 + max(map(max, graph))] for graph in edges]
    edge_labels = [[1 + place % 2 for place in range(len(graph))] for graph in edges]
    return GraphBatch.from_edges(edges, labels, edge_labels=edge_labels)


# ---------------------------------------------------------------------- the oracle


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW_ORACLES)) for name in KNOWN]
)
@settings(max_examples=20, deadline=None)
@given(batch=batches(), edge_labels=st.booleans(), initial=st.sampled_from(["label", "degree", "ring"]))
def test_features_equal_the_oracle(name, batch, edge_labels, initial):
    encoding = stwin_features(batch, 2, "joint", readout=name, edge_labels=edge_labels, initial=initial)
    expected = naive.readout_features(
        naive.from_batch(batch), 2, naive_readouts.BY_NAME[name], edge_labels=edge_labels, initial=initial
    )
    for h in range(3):
        assert columns_of_round(encoding, h) == columns_of_oracle(expected, h)


@pytest.mark.parametrize("name", ["edges", "degrees", "wl", "rooted-wl", "canonical"])
def test_features_equal_the_oracle_on_all_small_graphs(name):
    atlas = [graph for graph in nx.graph_atlas_g() if 0 < len(graph) <= 5]
    batch = GraphBatch.from_networkx(atlas)
    encoding = stwin_features(batch, 2, "joint", readout=name)
    expected = naive.readout_features(naive.from_batch(batch), 2, naive_readouts.BY_NAME[name])
    for h in range(3):
        assert columns_of_round(encoding, h) == columns_of_oracle(expected, h)


@settings(max_examples=20, deadline=None)
@given(batch=batches())
def test_lists_and_functions_equal_the_oracle(batch):
    def both(rooted):
        return rooted.graph.n, naive_readouts.degrees(rooted)

    expected = naive.readout_features(naive.from_batch(batch), 2, both)
    encoding = stwin_features(batch, 2, "joint", readout=[len, "degrees"])
    for h in range(3):
        assert columns_of_round(encoding, h) == columns_of_oracle(expected, h)


@pytest.mark.parametrize("choice", ["size", ["size"], ["size", "size"]])
@settings(max_examples=20, deadline=None)
@given(batch=batches())
def test_the_size_gives_the_columns_that_joint_always_had(choice, batch):
    plain, chosen = STwinVectorizer(2, "joint"), STwinVectorizer(2, "joint", readout=choice)
    assert same_bytes(plain.fit_transform(batch), chosen.fit_transform(batch))
    assert plain.get_feature_names_out().tolist() == chosen.get_feature_names_out().tolist()
    assert set(plain.space_.stored()) == set(chosen.space_.stored())


@settings(max_examples=20, deadline=None)
@given(batch=batches())
def test_a_function_that_returns_the_size_gives_the_columns_of_the_size(batch):
    by_size, by_function = (stwin_features(batch, 2, "joint", readout=choice) for choice in ("size", len))
    for h in range(3):
        assert columns_of_round(by_size, h) == columns_of_round(by_function, h)


# ---------------------------------------------------------------------- other graphs, other numbers


@pytest.mark.parametrize("name", OTHERS)
@settings(max_examples=10, deadline=None)
@given(batch=batches(), seed=st.integers(0, 99))
def test_rows_do_not_depend_on_the_order_of_nodes(name, batch, seed):
    vectorizer = STwinVectorizer(3, "joint", edge_labels=True, readout=name)
    rows = vectorizer.fit_transform(batch)
    assert same_bytes(rows, vectorizer.transform(relabelled(batch, np.random.default_rng(seed))))


@pytest.mark.parametrize("name", [*OTHERS, "function"])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_a_frozen_space_counts_what_it_knows_and_an_extended_one_everything(name, data):
    directed = data.draw(st.booleans())
    train, test = data.draw(batches(directed)), data.draw(batches(directed))
    readout, f = (len, naive_readouts.size) if name == "function" else (name, naive_readouts.BY_NAME[name])
    vectors = naive.readout_features(naive.from_batch(train) + naive.from_batch(test), 2, f)
    known = {key for vector in vectors[: len(train)] for key in vector}
    expected = [{key: vector[key] for key in vector.keys() & known} for vector in vectors[len(train) :]]
    first = stwin_features(train, 2, "joint", readout=readout)
    frozen = stwin_features(test, space=first.space)
    assert [sorted(row.data) for row in frozen.matrix] == [sorted(row.values()) for row in expected]
    assert frozen.space is first.space
    extended = stwin_features(test, space=first.space, extend=True)
    assert extended.unseen_per_round.tolist() == [0, 0, 0]
    again = stwin_features(train, space=extended.space).matrix
    products = [
        [sum(a[k] * b.get(k, 0) for k in a) for b in vectors[len(train) :]] for a in vectors[: len(train)]
    ]
    assert (again @ extended.matrix.T).toarray().tolist() == products


def test_values_that_training_never_saw_are_left_out_and_counted():
    hexagon = [(node, (node + 1) % 6) for node in range(6)]
    two_triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    vectorizer = STwinVectorizer(1, "joint", readout="edges").fit([hexagon])
    assert vectorizer.transform([two_triangles]).toarray().tolist() == [[6, 0]]
    assert vectorizer.unseen_rates([two_triangles]).tolist() == [0, 1]


def test_readouts_do_not_see_labels_that_colours_do_not_see():
    one, other = (
        GraphBatch.from_edges([TRIANGLE], [labels], edge_labels=[bonds])
        for labels, bonds in ((["C", "C", "C"], [1, 1, 1]), (["N", "N", "N"], [2, 2, 2]))
    )
    vectorizer = STwinVectorizer(1, "joint", initial="degree", readout="canonical").fit(one)
    assert vectorizer.transform(other).toarray().tolist() == [[3, 3]]


# ---------------------------------------------------------------------- names and explanations


def test_names_say_the_readout_and_the_content_of_its_value():
    batch = labelled()
    vectorizer = STwinVectorizer(1, "joint", readout="edges").fit(batch)
    assert vectorizer.column_codes()[0] == "h0:c0:edges=3216f0116cee6fa9"
    assert vectorizer.get_feature_names_out()[0].endswith(" edges=3216f0116cee6fa9")
    names = STwinVectorizer(2, "joint", readout=["wl", triangles]).fit(batch).column_codes()
    assert names[0].startswith("h0:c0:wl+triangles=")
    assert len(set(names)) == len(names)


def test_values_have_the_same_names_wherever_they_are_met():
    first, second = (
        STwinVectorizer(2, "joint", readout="rooted-wl").fit(GraphBatch.from_edges(edges)).column_codes()
        for edges in ([PATH, TRIANGLE], [[(0, 1), (1, 2), (2, 3)], TRIANGLE, PATH])
    )
    assert {name.split(":")[2] for name in first} < {name.split(":")[2] for name in second}


@pytest.mark.parametrize("name", OTHERS)
def test_a_column_is_explained_by_a_rooted_subgraph_that_it_counts(name):
    batch = labelled()
    vectorizer = STwinVectorizer(2, "joint", edge_labels=True, readout=name).fit(batch)
    for column in range(vectorizer.n_features_out_):
        tree = vectorizer.explain_column(column)
        alone = GraphBatch.from_networkx([tree.example.to_networkx()], node_label="label", edge_label="label")
        encoding = stwin_features(alone, space=vectorizer.space_)
        # Its colour and its value are those of the column, seen from its root, unless it was cut off there.
        first = sum(vectorizer.space_.columns_per_round[: tree.depth])
        assert encoding.column_of_node[tree.depth, tree.example.root] == column - first


def test_the_explanation_of_a_column_spells_out_its_subgraph():
    vectorizer = STwinVectorizer(1, "joint", edge_labels=True, readout="canonical")
    batch = GraphBatch.from_edges([TRIANGLE], [["C", "N", "O"]], edge_labels=[["-", "=", "-"]])
    tree = vectorizer.fit(batch).explain_column(3)
    drawn = str(tree).splitlines()
    assert drawn[:3] == ["C", "├─ [-] N", "└─ [-] O"]
    assert drawn[3].startswith("and canonical=")
    assert drawn[4:] == ["  0: C (root) – 1 [-], 2 [-]", "  1: N – 0 [-], 2 [=]", "  2: O – 0 [-], 1 [=]"]
    assert isinstance(tree.example, RootedSubgraph)


def test_the_explanation_of_a_column_is_drawn_in_notebooks_with_its_root():
    tree = STwinVectorizer(1, "joint", readout="wl").fit([TRIANGLE]).explain_column(1)
    page = tree._repr_html_()
    assert page.count("<circle") == 4
    assert page.count("<title>root</title>") == 1
    assert "<svg" not in STwinVectorizer(1, "joint").fit([TRIANGLE]).explain_column(1)._repr_html_()


def test_large_rooted_subgraphs_are_not_kept():
    star = [(0, leaf) for leaf in range(1, 80)]
    vectorizer = STwinVectorizer(1, "joint", readout="edges").fit([star, PATH])
    examples = [vectorizer.explain_column(column).example for column in range(vectorizer.n_features_out_)]
    assert sorted(0 if example is None else len(example) for example in examples) == [0, 1, 2, 3]
    (large,) = [column for column, example in enumerate(examples) if example is None]
    assert str(vectorizer.explain_column(large)).endswith("in rooted subgraphs of more than 64 nodes")


@pytest.mark.parametrize("readout", ["rooted-wl", triangles])
def test_shares_of_nodes_and_columns_are_explained(readout):
    batch = labelled(24)
    model = STwinSVC((1, 2), (1, 10), features="joint", readout=readout).fit(batch, [0, 1, 0, 1] * 6)
    explanation = model.explain(batch[1], 5)
    assert explanation.node_shares.sum() + explanation.intercept == pytest.approx(explanation.decision)
    assert all(len(column.nodes) == column.value for column in explanation.columns)
    assert all(column.tree.example is not None for column in explanation.columns)
    assert "as in this rooted subgraph" in str(explanation)


# ---------------------------------------------------------------------- model files


@pytest.mark.parametrize("readout", [*OTHERS, ["edges", "wl"]], ids=str)
def test_a_vectorizer_survives(readout, tmp_path):
    batch = labelled()
    vectorizer = STwinVectorizer(2, "joint", edge_labels=True, readout=readout).fit(batch)
    save(vectorizer, tmp_path / "v.twinwl")
    back = load(tmp_path / "v.twinwl")
    assert same_bytes(back.transform(batch), vectorizer.transform(batch))
    assert back.get_feature_names_out().tolist() == vectorizer.get_feature_names_out().tolist()
    assert [str(back.explain_column(c)) for c in range(5)] == [
        str(vectorizer.explain_column(c)) for c in range(5)
    ]
    save(back, tmp_path / "again.twinwl")
    assert (tmp_path / "again.twinwl").read_bytes() == (tmp_path / "v.twinwl").read_bytes()


def test_kernels_and_machines_survive(tmp_path):
    batch, y = labelled(24), np.array([0, 1, 2, 1] * 6)
    for model, use in (
        (TwinKernel(2, "joint", "minmax", readout="wl").fit(batch), "transform"),
        (STwinSVC((1, 3), (1, 10), "joint", readout="canonical").fit(batch, y), "decision_function"),
        (STwinSVR((1, 2), (1, 10), "joint", readout="edges").fit(batch, y), "predict"),
    ):
        save(model, tmp_path / "m.twinwl")
        back = load(tmp_path / "m.twinwl")
        assert getattr(back, use)(batch).tobytes() == getattr(model, use)(batch).tobytes()
        assert clone(back).get_params() == model.get_params()
        if isinstance(model, STwinSVC):
            assert str(back.explain(batch[1])) == str(model.explain(batch[1]))


def test_networks_survive(tmp_path):
    pytest.importorskip("torch")
    from twinwl import STwinClassifier, STwinRegressor  # noqa: PLC0415

    batch, y = labelled(24), np.array([0, 1, 2, 1] * 6)
    for kind in (STwinClassifier, STwinRegressor):
        model = kind(2, "joint", readout="rooted-wl", max_epochs=2).fit(batch, y)
        save(model, tmp_path / "m.twinwl")
        assert load(tmp_path / "m.twinwl").predict(batch).tobytes() == model.predict(batch).tobytes()
        assert all(column.tree.example is not None for column in model.explain(batch[1], 3).columns)


def test_a_function_cannot_be_saved_and_the_error_says_what_to_do(tmp_path):
    vectorizer = STwinVectorizer(1, "joint", readout=triangles).fit(labelled())
    with pytest.raises(TwinWLError, match=r"'triangles' is a function, .* use a known readout, or fit"):
        save(vectorizer, tmp_path / "v.twinwl")
    assert not list(tmp_path.iterdir())


def test_values_of_another_installation_are_refused():
    vectorizer = STwinVectorizer(1, "joint", readout="canonical").fit(labelled())
    state = through_json(vectorizer._to_state())
    state["space"]["values"]["keys"] = state["space"]["values"]["keys"] + np.uint64(1)
    with pytest.raises(TwinWLError, match="not those of this installation"):
        STwinVectorizer._from_state(vectorizer.get_params(), state)


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("readouts", lambda _: ["sise"]),
        ("readouts", lambda _: []),
        ("values/keys", lambda array: array[:-1]),
        ("values/keys", lambda array: array[:, :1]),
        ("values/keys", lambda array: array.astype(float)),
        ("examples/root", lambda array: array + np.int32(50)),
        ("examples/root", lambda array: array[:-1]),
        ("examples/graphs/graph_ptr", lambda array: array[:-1]),
        ("examples/graphs/indptr", lambda array: array * 1000),
        ("examples/graphs/indices", lambda array: array + np.int32(1000)),
        ("examples/graphs/node_labels", lambda array: array + np.int32(1000)),
        ("examples/graphs/edge_labels", lambda array: array + np.int32(1000)),
        ("examples/graphs/node_vocabulary", lambda _: [[1]]),
        ("examples/graphs/edge_vocabulary", lambda _: 7),
        ("twins_1", lambda array: array + np.array([0, 10**6] * (len(array) // 2), array.dtype)),
    ],
)
def test_damaged_states_are_refused(path, change):
    vectorizer = STwinVectorizer(2, "joint", edge_labels=True, readout="wl").fit(labelled())
    state = through_json(vectorizer._to_state())
    *parents, key = path.split("/")
    part = state["space"]
    for parent in parents:
        part = part[parent]
    part[key] = change(part[key])
    with pytest.raises((TwinWLError, ValueError, TypeError, KeyError, AttributeError)):
        STwinVectorizer._from_state(vectorizer.get_params(), state)


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize("kind", ["count", "size"])
@pytest.mark.parametrize("make", [STwinVectorizer, TwinKernel, STwinSVC, STwinSVR])
def test_readouts_are_for_joint_features_alone(make, kind):
    with pytest.raises(
        TwinWLError, match=rf"readout: got 'wl' with features='{kind}', expected features='joint'"
    ):
        make(features=kind, readout="wl").fit(labelled(), [0, 1, 2, 3] * 3)


@pytest.mark.parametrize("readout", ["canonicl", None, 3, [], ["wl", 4], {"wl": 1}], ids=str)
def test_what_is_no_readout_is_refused(readout):
    with pytest.raises(TwinWLError, match=r"readout: got .*expected .*'canonical'.* or a list of these"):
        STwinVectorizer(1, "joint", readout=readout).fit(labelled())


@pytest.mark.parametrize(
    ("readout", "message"),
    [
        (lambda _: 1 // 0, "graph 0, root 0: .* raised ZeroDivisionError"),
        (lambda _: [1], "graph 0, root 0: .* not hashable"),
        (lambda _: float("nan"), "graph 0, root 0: .* equal itself"),
        (lambda _: object(), "graph 0, root 0: .*cannot be hashed|numbering of their nodes"),
        (lambda rooted: rooted.root, "graph 0, root 1: .* differ only in the numbering of their nodes"),
    ],
    ids=["raises", "unhashable", "nan", "no stable form", "numbers"],
)
def test_bad_functions_are_told_with_graph_and_root(readout, message):
    with pytest.raises(ReadoutError, match=message):
        STwinVectorizer(1, "joint", readout=readout).fit([PATH, TRIANGLE])


def test_a_cubic_readout_says_what_it_needs_before_it_starts(monkeypatch):
    monkeypatch.setattr("twinwl.isomorphism.rooted._BYTES_PER_PAIR", 1 << 40)
    star = [(0, leaf) for leaf in range(1, 50)]
    vectorizer = STwinVectorizer(2, "joint", readout="rooted-fwl2")
    with pytest.raises(TwinWLError, match=r"with 50 nodes needs about .* more than the"):
        vectorizer.fit([star])
