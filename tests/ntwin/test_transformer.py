import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import twinwl as tw
from tests.ntwin.own_readouts import RootSum, root_sum
from twinwl import GraphBatch, NTwinClassifier, NTwinRegressor, TwinWLError
from twinwl.nn import NTwinTransformer

PATH, TRIANGLE = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]
GRAPHS = GraphBatch.from_edges([PATH, TRIANGLE] * 6)
Y = ["path", "triangle"] * 6
SMALL = {"layers": 2, "hidden": 4, "max_epochs": 2, "verbose": False}


@pytest.mark.parametrize("readout", ["gin", "gcn", "ppgn", "deepsets", RootSum])
def test_it_is_a_step_of_a_pipeline(readout):
    pipeline = make_pipeline(NTwinTransformer(readout=readout, **SMALL), LogisticRegression(C=100))
    vectors = NTwinTransformer(readout=readout, **SMALL).fit(GRAPHS, Y).transform(GRAPHS)
    alone = LogisticRegression(C=100).fit(vectors, Y)
    assert np.ptp(vectors, axis=0).max() > 0  # the two kinds of graphs differ
    found = pipeline.fit(GRAPHS, Y).decision_function(GRAPHS)
    np.testing.assert_allclose(found, alone.decision_function(vectors), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("y", "task", "kind"), [(Y, "auto", "NTwinClassifier"), (np.arange(12) / 7, "auto", "NTwinRegressor")]
)
def test_with_targets_the_representation_is_that_of_the_trained_network(y, task, kind):
    transformer = NTwinTransformer(task=task, **SMALL).fit(GRAPHS, y)
    assert type(transformer.model_).__name__ == kind
    if kind == "NTwinClassifier":
        model = NTwinClassifier(**SMALL).fit(GRAPHS, y)
        assert torch.equal(
            model.module_.encoder.rooted.layers[0].first.weight,
            transformer.model_.module_.encoder.rooted.layers[0].first.weight,
        )


def test_without_targets_weights_are_the_first_and_columns_are_normalised():
    rows = NTwinTransformer(**SMALL).fit_transform(GRAPHS)
    assert rows.shape == (12, 8)
    np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-5)
    again = NTwinTransformer(task="none", **SMALL).fit(GRAPHS, Y).transform(GRAPHS)
    assert rows.tobytes() == again.tobytes()


@pytest.mark.parametrize("y", [None, Y])
def test_a_device_that_is_not_there_is_refused_also_where_nothing_is_learnt(y, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(TwinWLError, match="device: got 'cuda', which torch does not find"):
        NTwinTransformer(device="cuda", **SMALL).fit(GRAPHS, y)


def test_unknown_targets_need_the_name_of_their_task():
    table = np.array([[0, 1], [1, np.nan], [1, 0], [0, 1]] * 3)
    with pytest.raises(TwinWLError, match=r"y: .*NaN.* Name the task if y is meant so"):
        NTwinTransformer(**SMALL).fit(GRAPHS, table)
    rows = NTwinTransformer(task="classification", **SMALL).fit(GRAPHS, table).transform(GRAPHS)
    assert rows.shape == (12, 8)


def test_a_task_needs_targets():
    with pytest.raises(TwinWLError, match="task='regression' needs y"):
        NTwinTransformer(task="regression").fit(GRAPHS)


@pytest.mark.parametrize("readout", ["gin", "gat", "ppgn"])
def test_a_saved_transformer_gives_the_same_bytes(readout, tmp_path):
    transformer = NTwinTransformer(readout=readout, **SMALL).fit(GRAPHS, Y)
    tw.save(transformer, tmp_path / "it.twinwl")
    loaded = tw.load(tmp_path / "it.twinwl")
    assert loaded.transform(GRAPHS).tobytes() == transformer.transform(GRAPHS).tobytes()
    assert loaded.get_feature_names_out().tolist() == [
        f"ntwin{column}" for column in range(loaded.n_features_out_)
    ]


TRAINING = [
    {"refit": True},
    {"average_epochs": 2},
    {"callbacks": lambda history: history.n_epochs == 1},
]


@pytest.mark.parametrize("params", TRAINING, ids="-".join)
def test_it_is_trained_like_the_classifier(params):
    params = {**SMALL, "max_epochs": 3, **params}
    trained = NTwinTransformer(**params).fit(GRAPHS, Y).model_
    expected = NTwinClassifier(**params).fit(GRAPHS, Y)
    assert trained.history_ == expected.history_
    assert trained.predict_proba(GRAPHS).tobytes() == expected.predict_proba(GRAPHS).tobytes()


@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.parametrize(("kind", "y"), [(NTwinClassifier, Y), (NTwinRegressor, np.arange(12) / 7)])
def test_a_warm_start_goes_on_from_the_weights_before_also_of_a_file(kind, y, loaded, tmp_path):
    transformer = NTwinTransformer(warm_start=True, **SMALL).fit(GRAPHS, y)
    model = kind(warm_start=True, **SMALL).fit(GRAPHS, y)
    if loaded:
        tw.save(transformer, tmp_path / "it.twinwl")
        transformer = tw.load(tmp_path / "it.twinwl")
    once = transformer.transform(GRAPHS)
    transformer.set_params(max_epochs=1, refit=True).fit(GRAPHS, y)
    model.set_params(max_epochs=1, refit=True).fit(GRAPHS, y)
    assert transformer.model_.predict(GRAPHS).tobytes() == model.predict(GRAPHS).tobytes()
    assert transformer.transform(GRAPHS).tobytes() != once.tobytes()


def test_a_warm_start_with_another_task_is_refused_and_changes_nothing():
    transformer = NTwinTransformer(warm_start=True, **SMALL).fit(GRAPHS, Y)
    rows = transformer.transform(GRAPHS)
    with pytest.raises(TwinWLError, match="the task was 'classification' and is 'none'"):
        transformer.fit(GRAPHS)
    with pytest.raises(TwinWLError, match="other classes"):
        transformer.fit(GRAPHS, list(range(6)) * 2)
    assert transformer.transform(GRAPHS).tobytes() == rows.tobytes()


def test_curves_are_plotted_where_something_was_learnt(tmp_path):
    transformer = NTwinTransformer(**SMALL).fit(GRAPHS, Y)
    tw.save(transformer, tmp_path / "it.twinwl")
    for one in (transformer, tw.load(tmp_path / "it.twinwl")):
        assert len(one.plot_history().axes) == 2
    with pytest.raises(TwinWLError, match="has learnt nothing"):
        NTwinTransformer(**SMALL).fit(GRAPHS).plot_history()


def test_a_file_with_the_network_alone_is_loaded():
    transformer = NTwinTransformer(readout="gcn", **SMALL).fit(GRAPHS, Y)
    state = transformer._to_state()
    old = {name: state[name] for name in ("inputs", "hops", "weights")}
    old |= {"n_outputs": 2, "width": transformer.n_features_out_}
    loaded = NTwinTransformer._from_state(transformer.get_params(), old)
    assert loaded.transform(GRAPHS).tobytes() == transformer.transform(GRAPHS).tobytes()


NAME = f"{RootSum.__module__}:RootSum"


@pytest.mark.parametrize(
    ("readout", "allow"),
    [
        (RootSum, [RootSum]),
        (RootSum, [dict, "os:system", NAME]),
        (root_sum, [root_sum]),
        (RootSum(1, 3), [RootSum(1, 3)]),
    ],
    ids=["class", "name", "function", "object"],
)
def test_an_own_readout_is_loaded_where_it_is_allowed(readout, allow, tmp_path):
    path = tmp_path / "own.twinwl"
    model = NTwinClassifier(readout=readout, **SMALL).fit(GRAPHS, Y)
    tw.save(model, path)
    assert tw.load(path, allow=allow).predict_proba(GRAPHS).tobytes() == model.predict_proba(GRAPHS).tobytes()
    for others in ((), [NTwinClassifier], ["os:system"]):
        with pytest.raises(TwinWLError, match=r"is not of twinwl; if you trust it, load with allow=\["):
            tw.load(path, allow=others)


def test_the_wrong_kind_or_shape_is_refused(tmp_path):
    path = tmp_path / "own.twinwl"
    tw.save(NTwinClassifier(readout=RootSum(1, 3), **SMALL).fit(GRAPHS, Y), path)
    with pytest.raises(TwinWLError, match=r"load with allow=\[RootSum\(…\)\]"):
        tw.load(path, allow=[RootSum])
    with pytest.raises(TwinWLError, match="do not fit the network"):
        tw.load(path, allow=[RootSum(1, 2)])
    with pytest.raises(TwinWLError, match="allow: got 3, expected a list"):
        tw.load(path, allow=3)


def test_what_cannot_be_imported_is_not_saved(tmp_path):
    class Local(RootSum):
        pass

    for readout in (Local, lambda n_features: RootSum(n_features, 2), Local(1, 3)):
        model = NTwinClassifier(readout=readout, **SMALL).fit(GRAPHS, Y)
        with pytest.raises(
            TwinWLError, match=r"cannot be imported by that name.* at the top level of a module"
        ):
            tw.save(model, tmp_path / "own.twinwl")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "options",
    [{}, {"subtree": "gin"}, {"readout": "ppgn"}, {"edge_labels": True, "hops": 1, "root_mark": "distance"}],
    ids=["gin", "subtree", "ppgn", "edges"],
)
def test_vectors_of_the_nodes_of_a_graph_sum_to_its_own(options):
    rng = np.random.default_rng(0)
    edges = [[(0, 1), (1, 2), (2, 3)], [(0, 1), (1, 2), (2, 0)], [(0, 1)]]
    labels = [rng.choice(["a", "b"], n).tolist() for n in (4, 3, 2)]
    bonds = [rng.choice(["-", "="], len(some)).tolist() for some in edges]
    graphs = GraphBatch.from_edges(edges, node_labels=labels, edge_labels=bonds)
    graphs = graphs if options.get("edge_labels") else graphs.without_edge_labels()
    small = {"layers": 2, "hidden": 4, "task": "none", "normalize": False}
    transformer = NTwinTransformer(**small, **options).fit(graphs)
    vectors = transformer.node_vectors(graphs)
    assert vectors.shape == (graphs.n_nodes, transformer.n_features_out_)
    sums = np.add.reduceat(vectors, graphs.graph_ptr[:-1])
    np.testing.assert_allclose(sums, transformer.transform(graphs), rtol=1e-12)
    assert np.linalg.matrix_rank(vectors) > 1
