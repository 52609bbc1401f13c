from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from twinwl.files.storage import atomic_write


def test_content_is_there_after_the_block(tmp_path):
    with atomic_write(tmp_path / "a.bin") as stream:
        stream.write(b"new")
        assert not (tmp_path / "a.bin").exists()
    assert (tmp_path / "a.bin").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a.bin"]  # noqa: PTH208  (hidden files count)


@pytest.mark.parametrize("failure", [OSError, KeyboardInterrupt])
def test_failure_leaves_the_old_content_and_nothing_else(tmp_path, failure):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def interrupted():
        with atomic_write(path) as stream:
            stream.write(b"half of the new")
            raise failure

    with pytest.raises(failure):
        interrupted()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.bin"]  # noqa: PTH208


def test_an_interrupt_while_the_file_is_created_leaves_nothing(tmp_path, monkeypatch):
    for module, name in ((tempfile, "mkstemp"), (Path, "open")):
        original = getattr(module, name)

        def interrupted(*values, original=original, **options):
            original(*values, **options)
            raise KeyboardInterrupt

        monkeypatch.setattr(module, name, interrupted)
    with pytest.raises(KeyboardInterrupt), atomic_write(tmp_path / "a.bin"):
        pass
    assert os.listdir(tmp_path) == []  # noqa: PTH208  (hidden files count)


def test_rights_are_those_of_an_ordinary_file(tmp_path):
    (tmp_path / "ordinary").write_bytes(b"")
    with atomic_write(tmp_path / "atomic"):
        pass
    assert (tmp_path / "atomic").stat().st_mode == (tmp_path / "ordinary").stat().st_mode


def test_rights_of_the_replaced_file_are_kept(tmp_path):
    path = tmp_path / "private"
    path.write_bytes(b"")
    path.chmod(0o600)
    with atomic_write(path) as stream:
        stream.write(b"x")
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name")
def test_what_is_not_a_file_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with atomic_write(pipe) as stream:
        stream.write(b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert pipe.is_fifo()


def test_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"before")
    link.symlink_to(target)
    with atomic_write(link) as stream:
        stream.write(b"after")
    assert link.is_symlink()
    assert target.read_bytes() == b"after"


def test_name_of_the_greatest_length(tmp_path):
    path = tmp_path / ("x" * 255)
    with atomic_write(path) as stream:
        stream.write(b"whole")
    assert path.read_bytes() == b"whole"
