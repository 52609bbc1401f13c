from __future__ import annotations

import errno
import os
import time
import zipfile

import numpy as np
import pytest

from tests.batch_equality import assert_same_graphs
from twinwl import load_dataset
from twinwl.datasets.catalogue import catalogue
from twinwl.datasets.graph_files import read_tu
from twinwl.errors import TwinWLError, TwinWLWarning
from twinwl.files import storage

PAPER_NAMES = {"MUTAG", "PTC_MR", "Mutagenicity", "NCI1", "NCI109", "PROTEINS", "ENZYMES", "DD"}
SOCIAL_NAMES = {"IMDB-BINARY", "IMDB-MULTI", "REDDIT-BINARY", "COLLAB"}
HARD_NAMES = {"EXP", "CEXP", "CSL", "TWINS"}


@pytest.fixture(autouse=True)
def nothing_at_hand(monkeypatch, tmp_path):
    monkeypatch.delenv("TWINWL_DATA", raising=False)
    monkeypatch.chdir(tmp_path)


def unpacked(folder, content):
    path = folder / "packed.zip"
    path.write_bytes(content)
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    path.unlink()


def test_names_of_the_paper_and_of_the_collection_are_known():
    names = [entry.name for entry in catalogue(everything=True)]
    assert set(names) >= PAPER_NAMES | SOCIAL_NAMES | HARD_NAMES
    assert len(names) == len(set(names)) > 100


# ------------------------------------------------------------------ by name


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        ("MUTAC", "MUTAG"),
        ("mutag", "MUTAG"),
        ("IMDB_BINARY", "IMDB-BINARY"),
        ("TWIN", "TWINS"),
        ("proteins", "PROTEINS"),
    ],
)
def test_typo_names_the_nearest(typo, meant):
    with pytest.raises(TwinWLError, match=f"there is no data set or file '{typo}': did you mean '{meant}'"):
        load_dataset(typo)


def test_typo_of_a_set_of_ones_own(tmp_path, tiny_zip):
    (tmp_path / "MYGRAPHS.zip").write_bytes(tiny_zip("MYGRAPHS"))
    assert len(load_dataset("MYGRAPHS", tmp_path)) == 3
    with pytest.raises(TwinWLError, match="did you mean 'MYGRAPHS'"):
        load_dataset("MYGRAPS", tmp_path)


def test_nothing_near_gets_no_suggestion():
    with pytest.raises(TwinWLError, match="no data set or file 'zzzzzz': 'twinwl datasets' lists all names"):
        load_dataset("zzzzzz")


def test_empty_name():
    with pytest.raises(TwinWLError, match="name of the data set is empty"):
        load_dataset("")


@pytest.mark.parametrize("given", [1.5, None, True, b"MUTAG", ["MUTAG"]])
def test_what_cannot_name_a_set(given):
    with pytest.raises(TwinWLError, match="expected a name, a path, a frame"):
        load_dataset(given)


def test_folder_of_the_environment_is_looked_in(tmp_path, tiny_zip, monkeypatch):
    (tmp_path / "BZR.zip").write_bytes(tiny_zip("BZR"))
    monkeypatch.setenv("TWINWL_DATA", str(tmp_path))
    assert len(load_dataset("BZR")) == 3


def test_given_folder_comes_before_that_of_the_environment(tmp_path, tiny_zip, monkeypatch):
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "BZR.zip").write_bytes(tiny_zip("BZR", graph_labels="5\n5\n6\n"))
    (tmp_path / "BZR.zip").write_bytes(tiny_zip("BZR"))
    monkeypatch.setenv("TWINWL_DATA", str(tmp_path))
    assert load_dataset("BZR", tmp_path / "given").y.tolist() == [5, 5, 6]


@pytest.mark.parametrize("by", ["argument", "environment"])
def test_data_folder_that_does_not_exist(tmp_path, monkeypatch, by):
    missing = tmp_path / "missing"
    if by == "environment":
        monkeypatch.setenv("TWINWL_DATA", str(missing))
    with pytest.raises(TwinWLError, match="missing', which is not a folder"):
        load_dataset("BZR", missing if by == "argument" else None)


@pytest.mark.parametrize("layout", ["BZR", "BZR/raw"])
def test_unpacked_set_is_found_by_name(tmp_path, tiny_zip, layout):
    unpacked(tmp_path, tiny_zip("BZR", folder=layout))
    assert len(load_dataset("BZR", tmp_path)) == 3


def test_exp_that_is_not_at_hand_says_what_to_do():
    with pytest.raises(TwinWLError, match=r"EXP was not found.*EXP\.zip.*EXP/GRAPHSAT\.txt.*TWINWL_DATA"):
        load_dataset("EXP")


# ------------------------------------------------------------------ by path


def test_path_is_not_held_to_a_card_and_gives_the_same_as_the_reader(tmp_path, tiny_zip):
    path = tmp_path / "MUTAG.zip"
    path.write_bytes(tiny_zip("MUTAG"))
    data = load_dataset(path)
    assert (data.name, len(data), data.card.n_isolated) == ("MUTAG", 3, 1)
    assert_same_graphs(data.graphs, read_tu(path).graphs)
    assert load_dataset("./MUTAG.zip").digest == data.digest


def test_zip_and_folder_have_the_same_digest(tmp_path, tiny_zip):
    content = tiny_zip("BZR")
    (tmp_path / "BZR.zip").write_bytes(content)
    unpacked(tmp_path, content)
    assert load_dataset(tmp_path / "BZR").digest == load_dataset(tmp_path / "BZR.zip").digest


def test_known_name_wins_over_a_folder_of_that_name(tmp_path):
    (tmp_path / "CSL").mkdir()
    assert load_dataset("CSL", n_copies=1).card.n_classes == 10


def test_folder_with_an_unknown_name_is_a_path(tmp_path, tiny_zip):
    unpacked(tmp_path, tiny_zip("OWN"))
    assert load_dataset("OWN").name == "OWN"


def test_path_that_does_not_exist():
    with pytest.raises(TwinWLError, match=r"cannot read 'some/where\.zip': [Nn]o such file"):
        load_dataset("some/where.zip")


def test_truncated_zip(tmp_path, tiny_zip):
    path = tmp_path / "BZR.zip"
    path.write_bytes(tiny_zip("BZR")[:-40])
    for given in (path, "BZR"):
        with pytest.raises(TwinWLError, match="not a readable zip"):
            load_dataset(given, tmp_path)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"graph_indicator": "1\n1\n2\n2\n"}, "arc (4, 5) does not join"),
        ({"graph_indicator": "1\n1\n2\n2\n2\n"}, "node_labels.txt has 6 lines, expected 5"),
        ({"A": "1, 2\n2, 1\n2, 3\n"}, "line 3: arc (2, 3) does not join two nodes"),
        ({"graph_labels": "1\n\n1\n"}, "graph_labels.txt, line 2: got ''"),
        ({"graph_labels": "1\n-1\n"}, "no graph 3"),
        ({"graph_labels": None}, "graph_labels.txt is missing"),
    ],
)
def test_unsound_set_is_explained_and_not_cached(tmp_path, own_cache, tiny_zip, changes, problem):
    (tmp_path / "BZR.zip").write_bytes(tiny_zip("BZR", **changes))
    with pytest.raises(TwinWLError) as caught:
        load_dataset("BZR", tmp_path)
    assert problem in str(caught.value)
    assert list(own_cache.rglob("*.npz")) == []


# ------------------------------------------------------------------ the cache


def test_read_only_data_folder_stays_as_it_is(tmp_path, tiny_zip):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "BZR.zip").write_bytes(tiny_zip("BZR"))
    (tmp_path / "data").chmod(0o555)
    load_dataset("BZR", tmp_path / "data")
    assert os.listdir(tmp_path / "data") == ["BZR.zip"]  # noqa: PTH208  (hidden files count)


def test_full_disk_loses_nothing_but_speed(tmp_path, tiny_zip, monkeypatch):
    def full(*_args, **_kwargs):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "BZR.zip").write_bytes(tiny_zip("BZR"))
    monkeypatch.setattr(np, "savez", full)
    with pytest.warns(TwinWLWarning, match="No space left on device"):
        assert len(load_dataset("BZR", tmp_path)) == 3


def test_read_only_cache_is_passed_over(tmp_path, tiny_zip, monkeypatch):
    (tmp_path / "BZR.zip").write_bytes(tiny_zip("BZR"))
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.warns(TwinWLWarning, match="could not write to the cache"):
        assert len(load_dataset("BZR", tmp_path)) == 3
    monkeypatch.setattr(storage, "atomic_write", _forbidden)
    (tmp_path / "cache").unlink()
    assert len(load_dataset("BZR", tmp_path)) == 3


def _forbidden(_path):
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def test_four_thousand_graphs_parse_in_well_under_a_second(tu_zip):
    path = tu_zip("NCI1")
    load_dataset(tu_zip("MUTAG"))  # compiles
    began = time.process_time()  # whatever else the machine does
    data = load_dataset("NCI1", path.parent)
    parsed_in = time.process_time() - began
    again = load_dataset("NCI1", path.parent)
    assert again.digest == data.digest
    assert parsed_in < 1.0


# ------------------------------------------------------------------ sets made in code


def test_options_in_the_name_and_as_arguments_are_the_same():
    by_name = load_dataset("TWINS:n_pairs=7,random_state=3")
    by_argument = load_dataset("TWINS", n_pairs=7, random_state=3)
    assert (len(by_name), by_name.digest) == (14, by_argument.digest)
    assert by_name.digest != load_dataset("TWINS", n_pairs=7).digest


def test_twins_come_with_their_pairs_and_card():
    data = load_dataset("TWINS", n_pairs=5)
    assert data.groups.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert data.card.classes == ((0, 5), (1, 5))
    assert "1-WL" in data.card.about


@pytest.mark.parametrize("name", ["CSL", "SRG", "SRG-16-6-2-2", "SRG-25-12-5-6", "SRG-28-12-6-4"])
def test_families_have_one_class_a_graph(name):
    data = load_dataset(name, n_copies=2)
    assert np.unique(data.y, return_counts=True)[1].tolist() == [2] * data.card.n_classes


@pytest.mark.parametrize(
    ("given", "options", "problem"),
    [
        ("TWINS:n_pair=3", {}, "TWINS has no option 'n_pair': did you mean 'n_pairs'"),
        ("TWINS:five", {}, "got 'five', expected an option as in 'TWINS:n_pairs=50'"),
        ("TWINS", {"n_pairs": "many"}, "n_pairs: got 'many', expected an integer"),
        ("TWINS", {"n_pairs": 0}, "n_pairs: got 0"),
        ("TWINS", {"n_pairs": 10**18}, "from 1 to 1000000"),
        ("TWINS", {"on_error": "skp"}, "did you mean 'skip'"),
        ("x" * 5000, {}, "File name too long; give a name or a path"),
        ("TWINS", {"target": "y"}, "'TWINS' does not have the option 'target'"),
        ("MUTAG", {"n_pairs": 3}, "'MUTAG' does not have the option 'n_pairs'"),
        ("x.zip", {"n_pairs": 3}, "'x.zip' does not have the option 'n_pairs'"),
        ("x.zip", {"smiles_column": "s"}, "'x.zip' does not have the option 'smiles_column'"),
    ],
)
def test_wrong_options_are_named(given, options, problem):
    with pytest.raises(TwinWLError) as caught:
        load_dataset(given, **options)
    assert problem in str(caught.value)


# ------------------------------------------------------------------ EXP


def test_pairs_of_exp_are_groups_by_name_and_by_path(tu_zip):
    path = tu_zip("EXP")
    for data in (load_dataset("EXP", path.parent), load_dataset(path)):
        assert data.groups.tolist() == [pair for pair in range(600) for _ in range(2)]
        assert data.y[::2].tolist() == [1] * 600


def test_exp_without_its_pairs_is_warned_of(tmp_path, tiny_zip):
    path = tmp_path / "EXP.zip"
    path.write_bytes(tiny_zip("EXP"))
    with pytest.warns(TwinWLWarning, match="does not consist of pairs with opposite classes"):
        assert load_dataset(path).groups is None


def test_molecules_can_be_read_in_several_processes():
    pytest.importorskip("rdkit")
    smiles = ["C" * (1 + place % 30) for place in range(1100)]
    assert_same_graphs(
        load_dataset(smiles, kind="smiles", n_jobs=2).graphs, load_dataset(smiles, kind="smiles").graphs
    )
    with pytest.raises(TwinWLError, match="n_jobs"):
        load_dataset(smiles, kind="smiles", n_jobs=0)
