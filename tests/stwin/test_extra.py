"""Numbers about whole graphs beside the graphs: they stay with them, and count as much as all views."""

import numpy as np
import pandas as pd
import pytest

from tests.stwin.test_views import BATCH, Y
from twinwl import GraphBatch, STwinSVC, STwinSVR, TwinKernel, TwinWLError, concatenate, evaluate, load, save
from twinwl.datasets.dataset import Dataset, content_digest
from twinwl.datasets.source import with_extra_features
from twinwl.graphs.descriptors import Extra, rdkit_descriptors
from twinwl.models.features import ExtraScaling

EXTRA = {"a": np.arange(24.0), "b": np.where(np.arange(24) % 5, 1.0, np.nan), "c": np.arange(24.0)[::-1] ** 2}
WITH = BATCH.view("b").with_extra(EXTRA)


def fitted(batch=WITH, **settings):
    return STwinSVR(n_iter=(1, 2), C=1.0, **settings).fit(batch, Y)


def test_extra_features_stay_with_their_graphs():
    part = concatenate([WITH[3:5], WITH[[9]], WITH[WITH.graph_ptr[:-1] < 0]])
    assert part.extra.names == ("a", "b", "c")
    assert part.extra[1][:, 0].tolist() == [3, 4, 9]
    assert [graph.extra[1][0, 0] for graph in WITH[:2]] == [0, 1]
    with pytest.raises(TwinWLError, match="some of the batches carry extra features"):
        concatenate([WITH, BATCH.view("b")])


@pytest.mark.parametrize("values", [EXTRA, pd.DataFrame(EXTRA), pd.DataFrame(EXTRA).to_numpy()])
def test_extra_features_are_read_from_columns_and_arrays(values):
    assert np.array_equal(BATCH.with_extra(values).extra[1], WITH.extra[1], equal_nan=True)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"a": [1.0] * 23 + [np.inf]}, "graph 23: extra feature 'a' is infinite"),
        ({"a": ["1"] * 23 + ["high"]}, "graph 23: extra feature 'a' is 'high', expected a number"),
        ({"a": [1.0]}, "has 1 values for 24 graphs"),
        ({"a": [None] * 24}, "no value at all"),
        ({}, "no column"),
        ([1.0] * 24, "shape"),
    ],
)
def test_wrong_extra_features_are_refused(values, message):
    with pytest.raises(TwinWLError, match=message):
        BATCH.with_extra(values)


def test_scaling_fills_gaps_and_leaves_constant_features_out():
    scaling = ExtraScaling.fitted(WITH.extra)
    assert scaling.names == ("a", "c")  # the known values of b are all the same
    scaled = scaling.apply(WITH.extra)
    assert scaled.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert scaled.std(axis=0) == pytest.approx(1)
    far = Extra(("c", "a"), np.array([[np.nan, 1e9]]))
    assert scaling.apply(far)[0, 0] == 5
    assert scaling.apply(far)[0, 1] == pytest.approx(
        (scaling.usual[1] - scaling.centre[1]) / scaling.scale[1]
    )


def test_their_kernel_weighs_as_much_as_that_of_the_graphs(tmp_path):
    model = fitted()
    x = ExtraScaling.fitted(WITH.extra).apply(WITH.extra)
    gaussian = np.exp(-((x[:, None] - x) ** 2).sum(axis=2) / 2)
    graphs = TwinKernel(model.n_iter_, "size", "minmax").fit_transform(BATCH.view("b"))
    vectors = model.support_vectors_
    wanted = vectors.decisions(((graphs + gaussian) / 2)[:, vectors.rows])
    assert model.predict(WITH) == pytest.approx(wanted)
    save(model, tmp_path / "m.twinwl")
    assert (load(tmp_path / "m.twinwl").predict(WITH) == model.predict(WITH)).all()


def test_an_explanation_has_their_share():
    found = fitted(BATCH.with_extra(EXTRA)).explain(BATCH.with_extra(EXTRA)[4])
    assert list(found.view_shares) == ["labels", "b", "c", "extra features"]
    assert found.intercept + sum(found.view_shares.values()) == pytest.approx(found.decision)
    rest = found.decision - found.intercept - found.node_shares.sum()
    assert found.view_shares["extra features"] == pytest.approx(rest)


def test_several_tasks_share_them():
    y = np.column_stack([Y, -Y])
    model = STwinSVR(n_iter=1, C=1.0).fit(WITH, y)
    alone = STwinSVR(n_iter=1, C=1.0).fit(WITH, y[:, 1])
    assert model.predict(WITH)[:, 1] == pytest.approx(alone.predict(WITH))
    assert model.for_task(1).predict(WITH) == pytest.approx(alone.predict(WITH))


def test_graphs_without_them_or_with_others_are_refused():
    model = fitted()
    with pytest.raises(
        TwinWLError, match="learnt from 2 extra features, such as 'a', and these graphs carry"
    ):
        model.predict(BATCH.view("b"))
    with pytest.raises(TwinWLError, match="'c' is missing"):
        model.predict(BATCH.view("b").with_extra({"a": EXTRA["a"]}))
    with pytest.raises(TwinWLError, match="TwinKernel cannot use"):
        TwinKernel().fit(WITH)
    with pytest.raises(TwinWLError, match="all are the same"):
        fitted(BATCH.with_extra({"a": [1.0] * 24}))


def test_evaluate_takes_them_by_name_or_as_an_array(tmp_path):
    table = pd.DataFrame({"smiles": ["CCO", "CCN", "CC", "CCC"] * 5, "y": [0, 1] * 10, "mass": range(20)})
    pytest.importorskip("rdkit")
    path = tmp_path / "table.csv"
    table.to_csv(path)
    by = {"n_folds": 2, "edge_labels": False}
    named = evaluate(STwinSVC(1, 1.0), path, extra_features="mass", **by)
    graphs = GraphBatch.from_smiles(table["smiles"])
    given = evaluate(STwinSVC(1, 1.0), (graphs, table["y"]), extra_features=table[["mass"]], **by)
    assert named.fold_scores == given.fold_scores
    with pytest.raises(TwinWLError, match="extra features: got 'weight'"):
        evaluate(STwinSVC(1, 1.0), path, extra_features="weight", **by)


def test_results_with_and_without_them_are_kept_apart():
    assert content_digest(WITH, None) != content_digest(WITH.with_extra(None), None)
    assert content_digest(BATCH, None) != content_digest(BATCH.view(), None)


def test_descriptors_of_molecules_are_those_of_rdkit():
    descriptors = pytest.importorskip("rdkit.Chem.Descriptors")
    chem = pytest.importorskip("rdkit.Chem")
    found = rdkit_descriptors(["CCO", "c1ccccc1"])
    wanted = [descriptors.MolLogP(chem.MolFromSmiles(text)) for text in ("CCO", "c1ccccc1")]
    assert found["rdkit:MolLogP"].tolist() == wanted
    data = Dataset.from_graphs(GraphBatch.from_smiles(["CCO"]), smiles=("CCO",))
    assert with_extra_features(data, ["rdkit:MolLogP"]).graphs.extra[1].tolist() == [wanted[:1]]
    with pytest.raises(TwinWLError, match="'rdkit' is for molecules"):
        with_extra_features(Dataset.from_graphs(BATCH), "rdkit")
