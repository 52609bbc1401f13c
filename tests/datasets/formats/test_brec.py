"""BREC's files: real ones where they exist, and broken and hostile ones."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.batch_equality import assert_same_graphs
from tests.conftest import data_folder
from twinwl.datasets.generators import BREC_PARTS, brec_pairs, find_brec, holds_brec, load_suite
from twinwl.errors import TwinWLError
from twinwl.graphs.batch import GraphBatch

TRIANGLE, PATH = "Bw", "Bo"


def made_up_arrays():
    """As in the real files: some of bytes, some of text, flat or with one row per pair."""
    return {
        part.file: np.array([TRIANGLE, PATH] * part.n_pairs if place % 2 else [[b"Bw", b"Bo"]] * part.n_pairs)
        for place, part in enumerate(BREC_PARTS.values())
    }


def npy(array, *, allow_pickle=False):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=allow_pickle)
    return stream.getvalue()


def write_folder(folder, arrays=None, **replaced):
    folder.mkdir(parents=True)
    for name, array in (arrays or made_up_arrays()).items():
        (folder / name).write_bytes(npy(array))
    for name, content in replaced.items():
        (folder / f"{name}.npy").write_bytes(content)
    return folder


def test_folder_and_zip_hold_the_same_pairs(tmp_path):
    folder = write_folder(tmp_path / "repository" / "customize" / "Data" / "raw")
    archive = tmp_path / "BREC.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for file in folder.iterdir():
            packed.write(file, f"BREC/raw/{file.name}")
    batches = [brec_pairs(path) for path in (tmp_path / "repository", archive)]
    assert [len(batch) for batch in batches] == [800] * 2
    assert_same_graphs(*batches)
    assert all(map(holds_brec, (tmp_path / "repository", archive)))
    assert find_brec(tmp_path) == archive


def test_suite_has_the_categories_of_the_authors(tmp_path):
    write_folder(tmp_path / "BREC")
    suite = load_suite("brec", tmp_path)
    assert suite.sizes == {name: part.n_pairs for name, part in BREC_PARTS.items()}
    assert suite.titles[60] == "regular 0"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (npy(np.array([{"a": 1}], object), allow_pickle=True), "is not an array"),
        (npy(np.array([TRIANGLE, PATH] * 50))[:-7], "is not an array"),
        (npy(np.array([TRIANGLE] * 3)), "got 3 values of <U2, expected 100 graph6 strings"),
        (npy(np.arange(100)), "expected 100 graph6 strings"),
        (npy(np.array([TRIANGLE, "?*"] * 50)), "graph 121"),
        (b"", "is not an array"),
        (b"\x80\x04K\x01.", "is not an array"),
    ],
    ids=["pickle", "cut off", "too few", "numbers", "no graph6", "empty", "a bare pickle"],
)
def test_broken_or_hostile_array_is_refused(tmp_path, content, message):
    folder = write_folder(tmp_path / "BREC", regular=content)
    with pytest.raises(TwinWLError, match=message):
        brec_pairs(folder)


def test_pickle_is_never_loaded(tmp_path):
    target = tmp_path / "owned"

    class Hostile:
        def __reduce__(self):
            return (Path.touch, (target,))

    folder = write_folder(tmp_path / "BREC", str=npy(np.array([Hostile()], object), allow_pickle=True))
    with pytest.raises(TwinWLError, match="is not an array"):
        brec_pairs(folder)
    assert not target.exists()


def test_missing_file_is_named(tmp_path):
    folder = write_folder(tmp_path / "BREC")
    (folder / "dr.npy").unlink()
    with pytest.raises(TwinWLError, match=r"there is no dr\.npy in it"):
        brec_pairs(folder)


def test_missing_data_set_says_what_it_looks_like(tmp_path):
    with pytest.raises(TwinWLError, match=r"BREC is not in .*expected BREC\.zip or a folder BREC"):
        find_brec(tmp_path)


def test_real_arrays_are_the_pairs_of_the_text():
    folder = data_folder()
    if folder is None or not (folder / "BREC.zip").is_file():
        pytest.skip("BREC.zip was not found; set TWINWL_DATA to the folder that holds it")
    with zipfile.ZipFile(folder / "BREC.zip") as packed:
        text = packed.read("BREC/brec_pairs.g6")
    assert_same_graphs(brec_pairs(folder / "BREC.zip"), GraphBatch.from_graph6(text.split()))
