from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from scipy import sparse

from tests.cli.molecules import CLASSES, SMILES, run, write_csv
from twinwl.graphs.batch import GraphBatch
from twinwl.models.vectorizer import STwinVectorizer

pytest.importorskip("rdkit", reason="needs RDKit")


@pytest.fixture
def data(tmp_path):
    return write_csv(tmp_path / "m.csv")


def test_the_matrix_is_the_vectorizers(data, tmp_path):
    result = run(
        "features",
        data,
        "-o",
        tmp_path / "X.npz",
        "--set",
        "n_iter=2",
        "--set",
        "features=joint",
        "--edge-labels",
    )
    assert result.exit_code == 0, result.output
    vectorizer = STwinVectorizer(2, "joint", edge_labels=True)
    expected = vectorizer.fit_transform(GraphBatch.from_smiles(SMILES, atoms="ecfp"))
    found = sparse.load_npz(tmp_path / "X.npz")
    assert found.format == "csr"
    assert (found != expected).nnz == 0
    with np.load(tmp_path / "X.npz", allow_pickle=False) as arrays:
        assert arrays["feature_names"].tolist() == vectorizer.get_feature_names_out().tolist()
        assert arrays["graph_names"].tolist() == SMILES
        assert arrays["y"].tolist() == CLASSES
    assert f"{len(SMILES)} graphs × {expected.shape[1]} columns" in result.stdout


def test_rare_columns_are_dropped(data, tmp_path):
    assert run("features", data, "-o", tmp_path / "X.npz", "--set", "min_df=5").exit_code == 0
    matrix = sparse.load_npz(tmp_path / "X.npz")
    assert np.diff(matrix.tocsc().indptr).min() >= 5


def test_the_most_frequent_columns_are_kept(data, tmp_path):
    assert run("features", data, "-o", tmp_path / "X.npz", "--set", "max_features=3").exit_code == 0
    every = STwinVectorizer(3, "size").fit_transform(GraphBatch.from_smiles(SMILES, atoms="ecfp"))
    found = np.diff(sparse.load_npz(tmp_path / "X.npz").tocsc().indptr)
    assert sorted(found) == sorted(np.diff(every.tocsc().indptr))[-3:]


def test_graphs_without_classes_have_no_y(tmp_path):
    assert run("features", "graph6:Bw", "-o", tmp_path / "X.npz", "--set", "initial=degree").exit_code == 0
    with np.load(tmp_path / "X.npz", allow_pickle=False) as arrays:
        assert "y" not in arrays


def test_parquet_holds_the_same(data, tmp_path):
    tables = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    result = run("features", data, "-o", tmp_path / "X.npz", "--parquet")
    assert result.exit_code == 0, result.output
    matrix = sparse.load_npz(tmp_path / "X.npz")
    table = tables.read_table(tmp_path / "X.parquet")
    assert table.column_names == ["graph", "y", "columns", "values"]
    assert table["graph"].to_pylist() == SMILES
    assert table["y"].to_pylist() == CLASSES
    assert table["columns"].to_pylist() == [row.indices.tolist() for row in matrix]
    assert table["values"].to_pylist() == [row.data.tolist() for row in matrix]
    assert len(json.loads(table.schema.metadata[b"twinwl.feature_names"])) == matrix.shape[1]


def test_parquet_alone(data, tmp_path):
    pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    assert run("features", data, "-o", tmp_path / "X.parquet").exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["X.parquet", "m.csv"]


def test_missing_pyarrow_is_said_before_any_work(data, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    result = run("features", data, "-o", tmp_path / "X.npz", "--parquet")
    assert result.exit_code == 2
    assert "pip install 'twinwl[parquet]'" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["m.csv"]


def test_a_bad_smiles_leaves_nothing_behind(tmp_path):
    data = write_csv(tmp_path / "m.csv", ["C1CC,0"])
    result = run("features", data, "-o", tmp_path / "X.npz", "--on-error", "fail")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert f"line {len(SMILES) + 2}" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["m.csv"]


def test_skipped_rows_are_counted(tmp_path):
    data = write_csv(tmp_path / "m.csv", ["C1CC,0", "CCC,"])
    result = run("features", data, "-o", tmp_path / "X.npz", "--on-error", "skip")
    assert result.exit_code == 0
    assert f"left out 2 of {len(SMILES) + 2} rows" in result.stderr
    assert sparse.load_npz(tmp_path / "X.npz").shape[0] == len(SMILES)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "{folder}/X.csv"], "its name must end in .npz or .parquet"),
        (["-o", "{folder}/no/X.npz"], "its folder does not exist"),
        (["-o", "{folder}/X.npz", "--set", "features=sise"], "did you mean 'size'"),
        (
            ["-o", "{folder}/X.npz", "--on-error", "ignore"],
            "on_error: got 'ignore', expected 'skip' or 'fail'",
        ),
        (["-o", "{folder}/X.npz", "--target", "alcohl"], "did you mean 'alcohol'"),
    ],
)
def test_wrong_options_are_one_line_and_exit_2(data, tmp_path, options, message):
    result = run("features", data, *(option.format(folder=tmp_path) for option in options))
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["m.csv"]


def test_readouts_are_those_of_the_vectorizer(data, tmp_path):
    result = run(
        "features",
        data,
        "-o",
        tmp_path / "X.npz",
        "--set",
        "n_iter=1",
        "--set",
        "features=joint",
        "--set",
        "readout=edges, wl",
    )
    assert result.exit_code == 0, result.output
    vectorizer = STwinVectorizer(1, "joint", readout=["edges", "wl"])
    expected = vectorizer.fit_transform(GraphBatch.from_smiles(SMILES, atoms="ecfp"))
    assert (sparse.load_npz(tmp_path / "X.npz") != expected).nnz == 0
    with np.load(tmp_path / "X.npz", allow_pickle=False) as arrays:
        assert arrays["feature_names"].tolist() == vectorizer.get_feature_names_out().tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "features=joint", "--set", "readout=edges,canonicl"], "canonicl"),
        (["--set", "readout="], "readout: got ''"),
        (["--set", "features=count", "--set", "readout=wl"], "features='count' counts by none; use 'joint'"),
    ],
)
def test_readouts_that_make_no_sense_are_refused_before_the_data_is_read(options, message, tmp_path):
    result = run("features", "nowhere.csv", "-o", tmp_path / "X.npz", *options)
    assert result.exit_code == 2
    assert message in result.stderr
