from __future__ import annotations

import os

import pytest

from twinwl.cli.output_files import check_output, written
from twinwl.errors import TwinWLError


def test_what_cannot_be_written_is_refused_early(tmp_path):
    with pytest.raises(TwinWLError, match="its folder does not exist"):
        check_output(tmp_path / "nowhere" / "x.npz")
    with pytest.raises(TwinWLError, match="that is a folder"):
        check_output(tmp_path)
    with pytest.raises(TwinWLError, match=r"must end in \.png or \.svg"):
        check_output(tmp_path / "x.jpg", (".png", ".svg"))
    check_output(None)
    check_output(tmp_path / "x.PNG", (".png",))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_closed_folder_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(TwinWLError, match="not open for writing"):
        check_output(tmp_path / "x.npz")


def test_nothing_is_left_of_a_failed_write(tmp_path):
    def write_half():
        with written(tmp_path / "x") as stream:
            stream.write(b"half")
            raise OSError(28, "No space left on device")

    with pytest.raises(TwinWLError, match=r"cannot write .*No space left"):
        write_half()
    assert list(tmp_path.iterdir()) == []
