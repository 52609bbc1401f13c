from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from twinwl.errors import TwinWLError, TwinWLWarning
from twinwl.files.storage import cache_folder, file_digest, read_arrays, write_arrays

KEY = "ab" * 32
ARRAYS = {"small": np.arange(5, dtype=np.int32), "matrix": np.eye(3)}


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TWINWL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def stored_file(folder):
    return next(folder.rglob("*.npz"))


def test_arrays_come_back_as_they_were():
    assert write_arrays(KEY, ARRAYS)
    found = read_arrays(KEY)
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype


def test_nothing_under_an_unknown_key():
    write_arrays(KEY, ARRAYS)
    assert read_arrays("cd" * 32) is None


@pytest.mark.parametrize("keep", [0, 10, 200, -1])
def test_cut_file_counts_as_absent(own_cache, keep):
    write_arrays(KEY, ARRAYS)
    path = stored_file(own_cache)
    path.write_bytes(path.read_bytes()[:keep])
    assert read_arrays(KEY) is None


def test_flipped_byte_is_noticed(own_cache):
    write_arrays(KEY, {"numbers": np.arange(1000)})
    path = stored_file(own_cache)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    assert read_arrays(KEY) is None


def test_pickled_objects_are_not_read(own_cache):
    write_arrays(KEY, ARRAYS)
    np.savez(stored_file(own_cache), evil=np.array([{}], dtype=object))
    assert read_arrays(KEY) is None


def test_damaged_entry_can_be_written_again(own_cache):
    write_arrays(KEY, ARRAYS)
    stored_file(own_cache).write_bytes(b"rubbish")
    assert write_arrays(KEY, ARRAYS)
    assert read_arrays(KEY) is not None


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES])
def test_folder_that_may_not_be_written_to_is_passed_over_in_silence(monkeypatch, code):
    def refuse(*_args, **_kwargs):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert not write_arrays(KEY, ARRAYS)


def test_full_disk_is_a_warning_and_leaves_nothing_behind(own_cache, monkeypatch):
    def full(stream, **_arrays):
        stream.write(b"PK")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(np, "savez", full)
    with pytest.warns(TwinWLWarning, match="No space left on device.*TWINWL_CACHE"):
        assert not write_arrays(KEY, ARRAYS)
    assert [path for path in own_cache.rglob("*") if path.is_file()] == []


def test_folder_follows_the_environment(monkeypatch, tmp_path):
    assert cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("TWINWL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "twinwl"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder().name in {"twinwl", "Cache"}
    assert cache_folder().is_absolute()


def test_user_without_a_home_is_told_what_to_set(monkeypatch):
    def homeless():
        raise RuntimeError

    monkeypatch.delenv("TWINWL_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(TwinWLError, match="set TWINWL_CACHE"):
        cache_folder()


def test_digest_of_a_folder_sees_names_and_contents(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    for folder, names in [(one, ["a", "b"]), (other, ["b", "a"])]:
        folder.mkdir()
        for name, content in zip(names, [b"1", b"2"], strict=True):
            (folder / name).write_bytes(content)
    assert file_digest(one) != file_digest(other)
    (other / "a").write_bytes(b"1")
    (other / "b").write_bytes(b"2")
    assert file_digest(one) == file_digest(other)


def test_digest_of_a_folder_sees_its_subfolders(tmp_path):
    (tmp_path / "DS" / "raw").mkdir(parents=True)
    (tmp_path / "DS" / "raw" / "DS_A.txt").write_text("1, 2")
    before = file_digest(tmp_path / "DS")
    (tmp_path / "DS" / "raw" / "DS_A.txt").write_text("2, 1")
    assert file_digest(tmp_path / "DS") != before


def test_digest_of_a_missing_file_is_a_clear_error(tmp_path):
    with pytest.raises(TwinWLError, match="cannot read"):
        file_digest(tmp_path / "missing.zip")
