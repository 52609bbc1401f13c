from __future__ import annotations

import os
import sys

import pytest

from twinwl.cli.options import MODELS, PICTURES, STORES, check_ending, check_output
from twinwl.errors import MissingExtraError, TwinWLError
from twinwl.files.storage import TABLE_ENDINGS, open_to_write


def test_what_cannot_be_written_is_refused_early(tmp_path):
    with pytest.raises(TwinWLError, match="its folder does not exist"):
        check_output(tmp_path / "nowhere" / "x.npz", (".npz",))
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(TwinWLError, match="that is a folder"):
        check_output(tmp_path / "folder.npz", (".npz",))
    with pytest.raises(TwinWLError, match=r"must end in \.png, \.svg or \.pdf"):
        check_output(tmp_path / "x.jpg", PICTURES)
    check_output(None, PICTURES)
    check_output(tmp_path / "x.PNG", PICTURES)


def test_a_name_that_claims_another_format_is_refused(tmp_path):
    for name in ("model", "model.twinwl", "model.v2"):
        check_output(tmp_path / name, MODELS, or_unknown=True)
    for name in ("model.csv", "model.parquet", "model.zip", "model.PKL"):
        with pytest.raises(TwinWLError, match=r"must end in \.twinwl"):
            check_output(tmp_path / name, MODELS, or_unknown=True)
    check_ending(tmp_path / "nowhere" / "results.jsonl", STORES, or_unknown=True)
    with pytest.raises(TwinWLError, match=r"must end in \.jsonl or \.json"):
        check_ending(tmp_path / "results.parquet", STORES, or_unknown=True)


def test_a_missing_extra_is_named_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "pyarrow.parquet", raising=False)
    with pytest.raises(MissingExtraError, match=r"pip install 'twinwl\[parquet\]'"):
        check_output(tmp_path / "x.parquet", TABLE_ENDINGS)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_closed_folder_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(TwinWLError, match="not writable"):
        check_output(tmp_path / "x.npz", (".npz",))


def test_nothing_is_left_of_a_failed_write(tmp_path):
    def write_half():
        with open_to_write(tmp_path / "x") as stream:
            stream.write(b"half")
            raise OSError(28, "No space left on device")

    with pytest.raises(TwinWLError, match=r"cannot write .*No space left"):
        write_half()
    assert list(tmp_path.iterdir()) == []
