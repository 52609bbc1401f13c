"""Several label columns of the same graphs: features side by side, kernels averaged."""

import pickle

import igraph
import networkx as nx
import numpy as np
import pytest

import twinwl
from twinwl import (
    GraphBatch,
    STwinSVC,
    STwinSVR,
    STwinVectorizer,
    TwinKernel,
    TwinWLError,
    concatenate,
    graph_hashes,
    load,
    save,
)
from twinwl.graphs.atom_labels import ATOM_LABELLINGS


def graphs_with_views(n_graphs=24, seed=0):
    """Return paths and cycles with three label columns, and a number for each."""
    random = np.random.default_rng(seed)
    sizes = random.integers(3, 9, n_graphs)
    edges = [
        [(i, i + 1) for i in range(size - 1)] + [(0, size - 1)] * (graph % 2)
        for graph, size in enumerate(sizes)
    ]

    def column(n_labels):
        return [[int(label) for label in random.integers(0, n_labels, size)] for size in sizes]

    batch = GraphBatch.from_edges(edges, column(2))
    return batch.with_views({"b": column(3), "c": column(2)}), sizes + 0.5 * (np.arange(n_graphs) % 2)


BATCH, Y = graphs_with_views()
NAMES = ("labels", "b", "c")


def test_columns_of_views_stand_side_by_side():
    vectorizer = STwinVectorizer(2)
    matrix = vectorizer.fit_transform(BATCH).toarray()
    alone = [STwinVectorizer(2).fit(BATCH.view(name)) for name in NAMES]
    assert (
        matrix == np.hstack([one.transform(BATCH.view(name)).toarray() for one, name in zip(alone, NAMES)])
    ).all()
    assert (vectorizer.transform(BATCH).toarray() == matrix).all()
    names = [f"{name}:{column}" for one, name in zip(alone, NAMES) for column in one.get_feature_names_out()]
    assert vectorizer.get_feature_names_out().tolist() == names
    assert str(vectorizer.explain_column(matrix.shape[1] - 1)) == str(
        alone[2].explain_column(alone[2].n_features_out_ - 1)
    )


def test_a_choice_of_columns_is_made_among_those_of_all_views(tmp_path):
    vectorizer = STwinVectorizer(1, min_df=3, max_features=7)
    matrix = vectorizer.fit_transform(BATCH).toarray()
    assert matrix.shape == (len(BATCH), 7)
    save(vectorizer, tmp_path / "v.twinwl")
    assert (load(tmp_path / "v.twinwl").transform(BATCH).toarray() == matrix).all()


def test_unseen_rates_are_the_mean_over_views():
    vectorizer = STwinVectorizer(2).fit(BATCH[:6])
    alone = [STwinVectorizer(2).fit(BATCH[:6].view(name)).unseen_rates(BATCH.view(name)) for name in NAMES]
    assert vectorizer.unseen_rates(BATCH) == pytest.approx(np.mean(alone, axis=0))


@pytest.mark.parametrize("base", ["linear", "minmax", "intersection"])
def test_the_kernel_is_the_mean_over_views(base):
    train, test = BATCH[:16], BATCH[16:]
    kernel = TwinKernel(2, base=base).fit(train)
    parts = [TwinKernel(2, base=base).fit(train.view(name)).transform(test.view(name)) for name in NAMES]
    assert kernel.transform(test) == pytest.approx(np.mean(parts, axis=0))
    assert kernel.fit_transform(train) == pytest.approx(kernel.transform(train))
    assert kernel.diagonal(test) == pytest.approx(np.ones(8))


def test_the_kernel_can_be_the_mean_over_rounds():
    train, test = BATCH[:16].view("b"), BATCH[16:].view("b")
    parts = [TwinKernel(n_iter, base="minmax").fit(train).transform(test) for n_iter in range(4)]
    kernel = TwinKernel(3, base="minmax", average_rounds=True).fit(train)
    assert kernel.transform(test) == pytest.approx(np.mean(parts, axis=0))


def test_pairs_weigh_half_of_a_view_in_the_kernel():
    batch = BATCH.view("b")
    counts = STwinVectorizer(0, pairs=3)
    matrix = counts.fit_transform(batch).toarray()
    pairs = matrix[:, [name.startswith("d") for name in counts.get_feature_names_out()]]
    least = np.minimum(pairs[:, None], pairs).sum(axis=2)
    of_pairs = least / np.maximum(pairs[:, None], pairs).sum(axis=2)
    of_view = TwinKernel(2, base="minmax").fit_transform(batch)
    found = TwinKernel(2, base="minmax", pairs=3).fit_transform(batch)
    assert found == pytest.approx((2 * of_view + of_pairs) / 3)


@pytest.mark.parametrize("settings", [{}, {"average_rounds": True}, {"pairs": 4}, {"n_iter": 2}])
def test_a_machine_learns_from_the_mean_kernel(settings, tmp_path):
    model = STwinSVR(**{"n_iter": (1, 2), **settings}, C=1.0).fit(BATCH, Y)
    kernel = TwinKernel(
        model.n_iter_, "size", "minmax", **{k: v for k, v in settings.items() if k != "n_iter"}
    )
    if model.average_rounds:  # of the rounds that are given, not from 0 on
        parts = [TwinKernel(n, "size", "minmax").fit_transform(BATCH) for n in (1, 2)]
        similarities = np.mean(parts, axis=0)
    else:
        similarities = kernel.fit_transform(BATCH)
    vectors = model.support_vectors_
    assert model.predict(BATCH) == pytest.approx(vectors.decisions(similarities[:, vectors.rows]))
    save(model, tmp_path / "m.twinwl")
    assert (load(tmp_path / "m.twinwl").predict(BATCH) == model.predict(BATCH)).all()


def test_only_the_penalty_is_chosen_where_rounds_are_averaged():
    model = STwinSVC(n_iter=(0, 1, 2), C=(1, 10), average_rounds=True).fit(BATCH, Y > 5)
    assert list(model.inner_scores_) == [(2, 1.0), (2, 10.0)]


@pytest.mark.parametrize("settings", [{}, {"average_rounds": True, "pairs": 3}])
def test_shares_of_views_and_of_nodes_sum_to_the_decision(settings):
    model = STwinSVR(n_iter=(1, 2), C=1.0, **settings).fit(BATCH, Y)
    found = model.explain(BATCH[3])
    assert found.decision == pytest.approx(model.predict(BATCH[3])[0])
    assert found.intercept + sum(found.view_shares.values()) == pytest.approx(found.decision)
    assert found.intercept + found.node_shares.sum() == pytest.approx(found.decision)
    assert list(found.view_shares)[:3] == list(NAMES)
    assert "views:" in str(found)


def test_several_tasks_share_the_views():
    y = np.column_stack([Y, -(Y**2)])
    model = STwinSVR(n_iter=(0, 1, 2), C=1.0).fit(BATCH, y)
    for task in range(2):
        alone = STwinSVR(n_iter=(0, 1, 2), C=1.0).fit(BATCH, y[:, task])
        assert model.predict(BATCH)[:, task] == pytest.approx(alone.predict(BATCH))
        assert model.for_task(task).explain(BATCH[0]).view_shares == pytest.approx(
            alone.explain(BATCH[0]).view_shares
        )


def test_views_in_another_order_are_found_by_name():
    model = STwinSVR(n_iter=1, C=1.0).fit(BATCH, Y)
    assert (model.predict(BATCH.select_views(["c", "labels", "b"])) == model.predict(BATCH)).all()


def test_a_model_of_one_level_takes_it_from_several():
    levels = pytest.importorskip("rdkit") and ("skeleton", "constitution")
    batch = GraphBatch.from_smiles(["CCO", "CCN", "C[NH3+]", "CC", "CCC", "CO"], atoms=levels)
    model = STwinSVR(n_iter=1, C=1.0, edge_labels=False).fit(batch.view("constitution"), range(6))
    assert (model.predict(batch) == model.predict(batch.view("constitution"))).all()


def test_a_view_that_is_missing_is_named():
    model = STwinSVR(n_iter=1, C=1.0).fit(BATCH, Y)
    with pytest.raises(TwinWLError, match=r"no view 'c'.* fitted on the views labels, b, c"):
        model.predict(BATCH.select_views(["labels", "b"]))
    with pytest.raises(TwinWLError, match="no view 'labels'"):
        model.predict(BATCH.view())
    alone = STwinSVR(n_iter=1, C=1.0).fit(BATCH.view("b"), Y)
    with pytest.raises(
        TwinWLError, match=r"3 views, labels, b, c, .* fitted on one; choose it with batch.view"
    ):
        alone.predict(BATCH)


def test_estimators_of_one_view_refuse_several():
    pytest.importorskip("torch")
    with pytest.raises(TwinWLError, match="STwinClassifier uses one"):
        twinwl.STwinClassifier().fit(BATCH, Y > 5)


def test_joined_and_sliced_batches_keep_their_views():
    joined = concatenate([BATCH[5:7], BATCH[[1]].select_views(["c", "b", "labels"]).select_views(NAMES)])
    for name in NAMES:
        wanted = [BATCH.view(name)[graph].labels_of_nodes() for graph in (5, 6, 1)]
        assert [graph.labels_of_nodes() for graph in joined.view(name)] == wanted


def test_wrong_views_are_refused():
    with pytest.raises(TwinWLError, match="two called 'b'"):
        BATCH.with_views({"b": [[0]]})
    with pytest.raises(TwinWLError, match="has 1 entries for 24 graphs"):
        BATCH.with_views({"d": [[0]]})
    with pytest.raises(TwinWLError, match=r"these graphs have \['labels', 'b', 'c'\]"):
        BATCH.view("d")
    with pytest.raises(TwinWLError, match="expected at least one"):
        BATCH.select_views([])


def test_several_attributes_of_other_libraries_become_views():
    path = nx.path_graph(3)
    nx.set_node_attributes(path, dict(enumerate("aba")), "kind")
    nx.set_node_attributes(path, dict(enumerate([1, 2, 3])), "size")
    for batch in (
        GraphBatch.from_networkx([path], node_label=("kind", "size")),
        GraphBatch.from_igraph([igraph.Graph.from_networkx(path)], node_label=["kind", "size"]),
    ):
        assert batch.view_names == ("kind", "size")
        assert [view.labels_of_nodes() for view in batch.each_view()] == [["a", "b", "a"], [1, 2, 3]]
    with pytest.raises(TwinWLError, match="has no attribute 'colour'"):
        GraphBatch.from_networkx([path], node_label=("kind", "colour"))


@pytest.mark.filterwarnings("ignore:these molecules were read:twinwl.errors.TwinWLWarning")
def test_levels_of_molecules_are_those_read_alone():
    pytest.importorskip("rdkit")
    smiles, levels = ["CC(=O)[O-]", "C/C=C/C", "N->[Pt]", "[CH3]", "[13CH4]"], tuple(ATOM_LABELLINGS)
    batch = GraphBatch.from_smiles(smiles, atoms=levels)
    for level in levels:
        alone = GraphBatch.from_smiles(smiles, atoms=level)
        assert graph_hashes(batch.view(level)) == graph_hashes(alone)
        assert batch.view(level).atoms == level
    assert GraphBatch.from_smiles(smiles, atoms=",".join(levels)).view_names == levels
    assert (
        pickle.loads(pickle.dumps(batch[1:3])).view("stereo").edge_vocabulary  # noqa: S301
        == batch.view("stereo").edge_vocabulary
    )


@pytest.mark.parametrize("atoms", [(), ("ecfp", "ecfp"), "ecfp,", ("ecfp", "atoms")])
def test_wrong_levels_are_refused(atoms):
    with pytest.raises(TwinWLError, match="atoms: got"):
        GraphBatch.from_smiles(["CC"], atoms=atoms)
