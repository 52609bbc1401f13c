from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest

from tests.conftest import data_folder
from twinwl import load_dataset
from twinwl.errors import TwinWLError
from twinwl.evaluation.splits import split_of


@pytest.fixture
def archive():
    folder = data_folder()
    path = None if folder is None else folder / "gnn_comparison_splits.zip"
    if path is None or not path.is_file():
        pytest.skip("gnn_comparison_splits.zip was not found")
    return path


def published_folds(data, path):
    return split_of(data, path, 10, "regression").folds(0)


@pytest.fixture
def small():
    return load_dataset("CSL", n_copies=1)


def entries(n_graphs, n_folds=2):
    parts = np.array_split(np.arange(n_graphs), n_folds)
    out = []
    for test in parts:
        rest = [graph for graph in range(n_graphs) if graph not in test]
        inner = {"train": rest[1:], "validation": rest[:1]}
        out.append({"test": test.tolist(), "model_selection": [inner]})
    return out


def written(tmp_path, content, name="CSL_splits.json"):
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.mark.parametrize("name", ["NCI1", "DD", "IMDB-BINARY"])
def test_published_splits_fit_the_real_set(archive, tu_zip, name):
    data = load_dataset(name, tu_zip(name).parent)
    folds = published_folds(data, archive)
    assert len(folds) == 10
    assert sorted(np.concatenate([fold.test for fold in folds]).tolist()) == list(range(len(data)))
    shares = [np.mean(data.y[fold.test] == data.y[0]) for fold in folds]
    assert np.ptp(shares) < 0.02  # they are stratified only if the order of the graphs is that of the splits


def test_splits_are_found_by_name_in_the_data_folder(archive, tu_zip, monkeypatch):
    monkeypatch.setenv("TWINWL_DATA", str(archive.parent))
    data = load_dataset("NCI1", tu_zip("NCI1").parent)
    by_name, by_path = published_folds(data, "gnn-comparison"), published_folds(data, archive)
    assert all(np.array_equal(a.train, b.train) for a, b in zip(by_name, by_path, strict=True))


def test_splits_without_features_are_preferred_for_social_networks(archive, tu_zip):
    data = load_dataset("IMDB-BINARY", tu_zip("IMDB-BINARY").parent)
    with zipfile.ZipFile(archive) as content:
        (wanted,) = [name for name in content.namelist() if name.endswith("_1/IMDB-BINARY_splits.json")]
        first = json.loads(content.read(wanted))[0]
    assert published_folds(data, archive)[0].test.tolist() == sorted(first["test"])


def test_single_json_file_is_read(tmp_path, small):
    folds = published_folds(small, written(tmp_path, entries(10)))
    assert [fold.test.tolist() for fold in folds] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    assert folds[0].validation.tolist() == [5]


def test_splits_of_another_set_show_both_sides(tmp_path, small):
    with pytest.raises(TwinWLError, match=r"2 of 10 graphs have no value \(rows 8, 9\)"):
        published_folds(small, written(tmp_path, entries(8)))


def test_graph_on_two_sides_is_refused(tmp_path, small):
    content = entries(10)
    content[1]["model_selection"][0]["train"].append(content[1]["test"][0])
    with pytest.raises(TwinWLError, match="row 5 is listed twice, as train and test"):
        published_folds(small, written(tmp_path, content))


def test_splits_that_tear_pairs_apart_are_refused(tmp_path):
    twins = load_dataset("TWINS", n_pairs=5)
    with pytest.raises(TwinWLError, match="graphs of one group are on both sides"):
        published_folds(twins, written(tmp_path, entries(10)))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "not readable as JSON"),
        ('[{"test": [0]}]', "9 of 10 graphs have no value"),
        ('[{"test": [0], "model_selection": []}]', "9 of 10 graphs have no value"),
    ],
)
def test_something_else_than_splits(tmp_path, small, content, said):
    with pytest.raises(TwinWLError, match=said):
        published_folds(small, written(tmp_path, content))


def test_set_without_splits_names_the_nearest(tmp_path):
    path = tmp_path / "splits.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X/CSLX_splits.json", "[]")
    with pytest.raises(TwinWLError, match="no splits for 'CSL'; did you mean 'CSLX'"):
        published_folds(load_dataset("CSL", n_copies=1), path)


def test_missing_files_are_clear(tmp_path, small, monkeypatch):
    with pytest.raises(TwinWLError, match="cannot read"):
        published_folds(small, tmp_path / "none.json")
    monkeypatch.setenv("TWINWL_DATA", str(tmp_path))
    with pytest.raises(TwinWLError, match="was not found; put it into"):
        published_folds(small, "gnn-comparison")
