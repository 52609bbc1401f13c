"""Features and models of a corpus are those of the same graphs in memory."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import twinwl as tw
from tests.corpus.graphs import shards_of
from twinwl.corpus.models import read_features, targets_in
from twinwl.corpus.shards import keys_in

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    ends, active = [], []
    for place in range(120):
        n = int(rng.integers(3, 8))
        edges = [(u, u + 1) for u in range(n - 1)] + ([(n - 1, 0)] if place % 2 else [])
        ends.append([int(end) for edge in edges for end in edge])
        active.append(None if place % 10 == 7 else place % 2)
    known = [value is not None for value in active]
    return pa.table(
        {
            "id": [f"g{place}" for place in range(120)],
            "ends": ends,
            "active": active,
            "number": [len(one) + 0.5 if there else None for one, there in zip(ends, known, strict=True)],
            "kind": ["ny"[place % 2] if there else "" for place, there in enumerate(known)],
            "other": [float(place % 3 == 0) for place in range(120)],
            "one": [1] * 120,
        }
    )


@pytest.fixture(scope="module")
def corpus(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    pq.write_table(table, folder / "graphs.parquet")
    return tw.Corpus.build(folder / "graphs.parquet", folder / "corpus", rows_per_shard=50, workers=1)


@pytest.fixture(scope="module")
def graphs(corpus):
    return tw.concatenate(list(corpus))


@pytest.mark.parametrize(
    "settings",
    [{}, {"features": "joint", "min_df": 5}, {"features": "count", "max_features": 6}, {"max_df": 0.5}],
    ids=str,
)
def test_features_are_those_of_a_fit_in_memory(corpus, graphs, tmp_path, settings):
    fitted = corpus.features(tmp_path / "out", tw.STwinVectorizer(2, **settings), workers=1)
    expected = tw.STwinVectorizer(2, **settings).fit_transform(graphs)
    shards = sorted((tmp_path / "out" / "shards").glob("*.parquet"))
    assert len(shards) == 3
    assert (sparse.vstack([read_features(path) for path in shards]) != expected).nnz == 0
    others = ["active", "number", "kind", "other", "one"]
    assert pq.read_table(shards[1]).column_names == ["id", *others, "columns", "values"]
    again = tw.STwinVectorizer.from_vocabulary(tmp_path / "out" / "vocabulary.twinwl")
    assert (again.transform(graphs) != expected).nnz == 0
    assert fitted.get_feature_names_out().tolist() == again.get_feature_names_out().tolist()


def test_features_do_not_depend_on_ranges_workers_or_restarts(corpus, tmp_path, monkeypatch):
    whole, cut, torn = tmp_path / "whole", tmp_path / "cut", tmp_path / "torn"
    vectorizer = tw.STwinVectorizer(2, "joint", min_df=2)
    corpus.features(whole, vectorizer, workers=1)

    class StopError(tw.TwinWLError):
        pass

    def stop(event):
        if event.get("stage") == "features":
            raise StopError

    with pytest.raises(StopError):
        corpus.features(torn, vectorizer, workers=1, on_event=stop)
    corpus.features(torn, vectorizer, workers=1)
    monkeypatch.setattr("twinwl.corpus.comparing.BYTES_PER_ENTRY", 1 << 25)  # some 20 entries fit
    corpus.features(cut, vectorizer, workers=1)
    for folder in (cut, torn):
        assert shards_of(folder) == shards_of(whole)
        assert (folder / "vocabulary.twinwl").read_bytes() == (whole / "vocabulary.twinwl").read_bytes()
    with pytest.raises(tw.TwinWLError, match="min_df"):
        corpus.features(whole, tw.STwinVectorizer(2, "joint", min_df=3), workers=1)


def test_predictions_and_features_do_not_depend_on_workers_or_restarts(corpus, graphs, tmp_path):
    model = tmp_path / "model.twinwl"
    tw.save(tw.STwinSVC(n_iter=1).fit(graphs[:40], [0, 1] * 20), model)
    jobs = {
        "features": lambda name, **running: corpus.features(tmp_path / name, **running),
        "predict": lambda name, **running: corpus.predict(model, tmp_path / name, proba=True, **running),
    }

    def stop(event):
        if event.get("done", 120) < 120:
            raise tw.TwinWLError("stop")

    for name, job in jobs.items():
        job(name, workers=1)
        with pytest.raises(tw.TwinWLError, match="stop"):
            job(f"{name} torn", workers=1, on_event=stop)
        assert not (tmp_path / f"{name} torn" / "manifest.json").exists()
        job(f"{name} torn", workers=2)
        assert len(shards_of(tmp_path / name)) == 3
        assert shards_of(tmp_path / f"{name} torn") == shards_of(tmp_path / name)


@pytest.mark.parametrize("target", ["active", "kind", "number"])
def test_a_model_of_a_corpus_is_that_of_its_graphs_in_memory(corpus, graphs, table, tmp_path, target):
    pytest.importorskip("torch")
    kind = tw.STwinRegressor if target == "number" else tw.STwinClassifier
    quick = {"n_iter": 2, "max_epochs": 3, "verbose": False}
    y = table.column(target).to_pylist()
    known = np.array([value not in {None, ""} for value in y])
    y = np.array([value for value in y if value not in {None, ""}])
    keys = np.concatenate([keys_in(pq.read_table(path)) for path in corpus.shards])[known]
    copies = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
    in_memory = kind(**quick).fit(graphs[known], y, groups=copies)
    with pytest.warns(tw.TwinWLWarning, match="12 of 120 graphs have no value of"):
        model = corpus.train(kind(**quick), target)
    if kind is tw.STwinClassifier:
        assert model.decision_function(graphs).tolist() == in_memory.decision_function(graphs).tolist()
    held = np.isin(np.arange(120), model.held_out_)[known]
    assert held.sum() == len(model.held_out_) > 0
    assert not set(copies[held]) & set(copies[~held])
    tw.save(model, tmp_path / "model.twinwl")
    assert tw.load(tmp_path / "model.twinwl").target_ == target
    model.explain(graphs[0])
    shards = corpus.predict(tmp_path / "model.twinwl", tmp_path / "out", proba=target != "number", workers=1)
    found = pa.concat_tables([pq.read_table(path) for path in shards])
    expected = model.predict(graphs)
    if target == "number":  # products of matrices are rounded in another order in shards
        assert np.allclose(found.column("prediction").to_numpy(), expected, rtol=1e-5)
    else:
        assert found.column("prediction").to_pylist() == expected.tolist()
    assert found.column("id").to_pylist() == table.column("id").to_pylist()
    if target == "kind":
        assert np.allclose(found.column("p_y").to_numpy(), model.predict_proba(graphs)[:, 1], atol=1e-5)


def test_targets_of_text_files_are_numbers_where_all_are(tmp_path):
    pytest.importorskip("rdkit")
    lines = ["smiles,a,b,c", "CCO,1,0.5,x", "CCN,,nan,y", "CC,0,2,", "C,1.0,3,z"]
    (tmp_path / "few.csv").write_text("\n".join(lines) + "\n")
    few = tw.Corpus.build(tmp_path / "few.csv", tmp_path / "few", rows_per_shard=2, workers=1)
    a, b, c, both = (targets_in(few, names) for names in (["a"], ["b"], ["c"], ["a", "b"]))
    assert (a.y.tolist(), a.rows.tolist()) == ([1, 0, 1], [0, 2, 3])
    assert a.y.dtype == np.int64
    assert b.y.tolist() == [0.5, 2.0, 3.0]
    assert (c.y.tolist(), c.rows.tolist()) == (["x", "y", "z"], [0, 1, 3])
    assert both.y.tolist() == [[1, 0.5], [0, 2], [1, 3]]
    with pytest.raises(tw.TwinWLError, match="target 'c': got 'x', expected numbers"):
        targets_in(few, ["a", "c"])


def test_signs_of_missing_values_are_no_classes(tmp_path):
    pytest.importorskip("rdkit")
    cells = ["high", "low", "NA", "null", "#N/A", "-", "n.d.", ""]
    lines = [f"{'C' * (place + 1)},{cell}" for place, cell in enumerate(cells)]
    (tmp_path / "m.csv").write_text("\n".join(["smiles,y", *lines, ""]))
    corpus = tw.Corpus.build(tmp_path / "m.csv", tmp_path / "corpus", workers=1)
    found = targets_in(corpus, ["y"])
    assert (found.y.tolist(), found.rows.tolist()) == (["high", "low"], [0, 1])


def test_several_targets(corpus, graphs, tmp_path):
    pytest.importorskip("torch")
    model = tw.STwinClassifier(n_iter=1, max_epochs=2, verbose=False)
    assert corpus.train(model, ["active", "other"]).tasks_ == ("active", "other")
    tw.save(model, tmp_path / "model.twinwl")
    shards = corpus.predict(tmp_path / "model.twinwl", tmp_path / "out", proba=True, workers=1)
    found = pa.concat_tables([pq.read_table(path) for path in shards])
    assert found.column("prediction_other").to_pylist() == model.predict(graphs)[:, 1].tolist()
    assert {"p_0_active", "p_1_active", "p_0_other", "p_1_other"} <= set(found.column_names)


def test_commands(corpus, tmp_path):
    pytest.importorskip("torch")
    folder, model = str(corpus.folder), str(tmp_path / "model.twinwl")
    out = run("corpus", "features", folder, "-o", str(tmp_path / "X"), "--set", "n_iter=1", "--jobs", "1")
    assert "120 graphs ×" in out
    out = run(
        "corpus",
        "train",
        folder,
        "-o",
        model,
        "--target",
        "kind",
        "--set",
        "max_epochs=2",
        "--set",
        "n_iter=1",
    )
    assert "108 of 120 graphs have a target" in out
    assert "classification" in out
    out = run("corpus", "predict", model, folder, "-o", str(tmp_path / "P"), "--jobs", "1")
    assert "120 predictions" in out


def run(*words):
    from typer.testing import CliRunner  # noqa: PLC0415

    from twinwl.cli.app import app  # noqa: PLC0415

    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_of_molecules_whole_scaffolds_are_held_out_as_in_memory(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("rdkit")
    rings = [f"C1{'C' * size}1" for size in range(2, 22)]
    smiles = [head + ring for head in ("O", "CC", "NC") for ring in rings] + ["CCO"] * 20
    rows = [f"{text},{place % 2}" for place, text in enumerate(smiles)]
    (tmp_path / "m.csv").write_text("\n".join(["smiles,y", *rows, ""]))
    corpus = tw.Corpus.build(tmp_path / "m.csv", tmp_path / "corpus", rows_per_shard=25, workers=1)
    quick = {"n_iter": 1, "max_epochs": 2, "verbose": False}
    model = corpus.train(tw.STwinClassifier(**quick), "y")
    graphs = tw.from_smiles(smiles, atoms="constitution")
    in_memory = tw.STwinClassifier(**quick).fit(graphs, [place % 2 for place in range(80)])
    assert model.held_out_.tolist() == in_memory.held_out_.tolist()
    ring_of = np.arange(60) % 20
    assert set(np.bincount(ring_of[model.held_out_])) == {0, 3}


def test_what_cannot_be_learnt_or_asked_is_refused(corpus, graphs, tmp_path):
    pytest.importorskip("torch")
    model = tw.STwinClassifier(n_iter=1, max_epochs=1, verbose=False)
    for target, message in (
        ("activ", "active"),
        ("one", "one class"),
        (["kind", "one"], "expected numbers"),
        ([], "no column"),
    ):
        with pytest.raises(tw.TwinWLError, match=message):
            corpus.train(model, target)
    with pytest.raises(tw.TwinWLError, match="expected an STwinClassifier"):
        corpus.train(tw.STwinSVC(), "active")
    tw.save(tw.STwinVectorizer(1).fit(graphs), tmp_path / "model.twinwl")
    with pytest.raises(tw.TwinWLError, match="predicts nothing"):
        corpus.predict(tmp_path / "model.twinwl", tmp_path / "out")
    with pytest.raises(tw.TwinWLError, match="no column occurs"):
        corpus.features(tmp_path / "features", tw.STwinVectorizer(1, min_df=1000), workers=1)
    for wrong in ({"min_df": 0.1}, {"n_iter": None}, {"features": "joint", "readout": len}):
        with pytest.raises(tw.TwinWLError, match=next(reversed(wrong))):
            corpus.features(tmp_path / "other", tw.STwinVectorizer(**wrong))


def test_a_model_of_another_atom_level_is_refused(tmp_path):
    pytest.importorskip("rdkit")
    (tmp_path / "few.smi").write_text("CCO a\nCCN b\nCC c\n")
    corpus = tw.Corpus.build(tmp_path / "few.smi", tmp_path / "corpus", workers=1)
    model = tw.STwinSVC(n_iter=1).fit([[(0, 1)], [(0, 1), (1, 2)]] * 6, [0, 1] * 6)
    tw.save(model, tmp_path / "model.twinwl")
    with pytest.raises(tw.TwinWLError, match="trained on molecules with atoms='skeleton'"):
        corpus.predict(tmp_path / "model.twinwl", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("chosen", "n_warnings"), [(None, 1), (False, 0), (True, 0)])
def test_features_of_a_corpus_warn_once_that_edge_labels_are_ignored(chosen, n_warnings, tmp_path):
    pytest.importorskip("rdkit")
    (tmp_path / "two.smi").write_text("CC=C\nCCO\n")
    corpus = tw.Corpus.build([tmp_path / "two.smi"], tmp_path / "corpus", workers=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", tw.TwinWLWarning)
        corpus.features(tmp_path / "features", tw.STwinVectorizer(edge_labels=chosen), workers=1)
    assert sum("ignores edge labels" in str(warning.message) for warning in caught) == n_warnings
