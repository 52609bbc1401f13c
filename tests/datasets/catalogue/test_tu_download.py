from __future__ import annotations

import io
import zipfile

import pytest

from twinwl import load_dataset
from twinwl.datasets import catalogue
from twinwl.datasets.catalogue import DownloadError
from twinwl.errors import TwinWLError


@pytest.fixture
def collection(site, monkeypatch):
    """The TU collection, on this machine, and no local data."""
    monkeypatch.delenv("TWINWL_DATA", raising=False)
    monkeypatch.setattr("pooch.core.time.sleep", lambda _: None)
    monkeypatch.setattr(catalogue, "_URL", site.url.replace("MUTAG", "{name}"))
    return site


def packed(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def test_set_is_downloaded_once_and_kept_in_the_cache(collection, own_cache, tiny_zip):
    collection.content = tiny_zip("BZR")
    first, again = load_dataset("BZR"), load_dataset("BZR")
    assert len(first) == 3
    assert first.digest == again.digest
    assert collection.ranges == [None]
    assert (own_cache / "downloads" / "BZR.zip").read_bytes() == collection.content


def test_data_folder_comes_before_the_cache_and_is_not_written_to(collection, tmp_path, tiny_zip):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "BZR.zip").write_bytes(tiny_zip("BZR"))
    folder.chmod(0o555)
    assert len(load_dataset("BZR", folder)) == 3
    assert [path.name for path in folder.iterdir()] == ["BZR.zip"]
    assert collection.ranges == []


def test_other_set_of_the_same_name_is_refused_by_its_card(collection, tiny_zip):
    collection.content = tiny_zip("MUTAG")
    with pytest.raises(
        DownloadError, match=r"graphs: 188 on the card, 3 in the file; nodes: 3,371 on the card, 6"
    ):
        load_dataset("MUTAG")


def test_wrong_download_does_not_stay(collection, own_cache, tiny_zip, tu_zip):
    collection.content = tiny_zip("MUTAG")
    with pytest.raises(DownloadError, match="graphs: 188 on the card, 3"):
        load_dataset("MUTAG")
    assert not (own_cache / "downloads" / "MUTAG.zip").exists()
    collection.content, collection.etag = tu_zip("MUTAG").read_bytes(), '"second"'
    assert len(load_dataset("MUTAG")) == 188
    assert (own_cache / "downloads" / "MUTAG.zip").read_bytes() == collection.content
    assert len(load_dataset("MUTAG")) == 188
    assert len(collection.ranges) == 2


def test_cut_connection_is_tried_again(collection, tiny_zip):
    collection.content = tiny_zip("BZR")
    collection.cuts = [50]
    assert len(load_dataset("BZR")) == 3
    assert len(collection.ranges) == 2


def test_nobody_listening(monkeypatch):
    monkeypatch.setattr(catalogue, "_URL", "http://127.0.0.1:9/{name}.zip")
    monkeypatch.delenv("TWINWL_DATA", raising=False)
    with pytest.raises(DownloadError, match="could not download"):
        load_dataset("BZR")


def test_nothing_is_printed_without_a_terminal(collection, tiny_zip, capfd):
    collection.content = tiny_zip("BZR")
    load_dataset("BZR")
    assert capfd.readouterr() == ("", "")


def test_bar_is_shown_on_standard_error(collection, tiny_zip, capsys):
    collection.content = tiny_zip("BZR")
    load_dataset("BZR", verbose=True)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "BZR.zip" in captured.err


def test_missing_set_says_how_to_do_it_by_hand(collection, own_cache):
    collection.status = 404
    with pytest.raises(DownloadError, match="404") as caught:
        load_dataset("BZR")
    assert str(own_cache / "downloads" / "BZR.zip") in str(caught.value)


def test_file_put_there_by_hand_is_taken(collection, own_cache, tiny_zip):
    (own_cache / "downloads").mkdir(parents=True)
    (own_cache / "downloads" / "BZR.zip").write_bytes(tiny_zip("BZR"))
    assert len(load_dataset("BZR")) == 3
    assert collection.ranges == []


def test_download_that_changed_on_disk_is_named(collection, own_cache, tiny_zip):
    collection.content = tiny_zip("BZR")
    load_dataset("BZR")
    kept = own_cache / "downloads" / "BZR.zip"
    kept.write_bytes(kept.read_bytes()[:-20])
    with pytest.raises(TwinWLError, match=r"BZR\.zip is not a readable zip .*; get it again"):
        load_dataset("BZR")


def test_error_page_in_place_of_a_zip_is_not_kept(collection, own_cache):
    collection.content = b"<html>moved</html>"
    with pytest.raises(DownloadError, match="not a readable zip"):
        load_dataset("BZR")
    assert not (own_cache / "downloads" / "BZR.zip").exists()


def test_truncated_zip_is_not_kept(collection, own_cache, tiny_zip):
    collection.content = tiny_zip("BZR")[:-30]
    with pytest.raises(DownloadError, match="not a readable zip"):
        load_dataset("BZR")
    assert list((own_cache / "downloads").glob("BZR.zip*")) == []


@pytest.mark.parametrize("name", ["../BZR_A.txt", "/etc/BZR_A.txt", "BZR/../../x.txt", "..\\x.txt"])
def test_names_that_lead_out_of_the_folder_are_refused(collection, tmp_path, tiny_zip, name):
    collection.content = tiny_zip("BZR")
    extended = io.BytesIO(collection.content)
    with zipfile.ZipFile(extended, "a") as archive:
        archive.writestr(name, "1, 2\n")
    collection.content = extended.getvalue()
    before = set(tmp_path.rglob("*.txt"))
    with pytest.raises(DownloadError, match="is outside its folder"):
        load_dataset("BZR")
    assert set(tmp_path.rglob("*.txt")) == before


def test_zip_bomb_is_not_unpacked(collection, tiny_zip, monkeypatch):
    collection.content = tiny_zip("BZR", A="1, 2\n" * 4_000_000)
    assert len(collection.content) < 100_000
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *_args, **_kwargs: pytest.fail("it was unpacked"))
    with pytest.raises(DownloadError, match=r"unpacks from .* to 20,000,\d+ bytes.* an attack"):
        load_dataset("BZR")


def test_damaged_member_is_noticed(collection):
    content = bytearray(
        packed({f"BZR/BZR_{part}.txt": "1\n" * 500 for part in ("A", "graph_indicator", "graph_labels")})
    )
    content[47] ^= 0xFF
    collection.content = bytes(content)
    with pytest.raises(DownloadError, match=r"cannot read BZR/BZR_|not a readable zip"):
        load_dataset("BZR")


@pytest.mark.parametrize("missing", ["A", "graph_indicator", "graph_labels"])
def test_missing_file_is_named(collection, tiny_zip, missing):
    collection.content = tiny_zip("BZR", **{missing: None})
    with pytest.raises(DownloadError, match=f"no file DS_A.txt|BZR_{missing}.txt is missing"):
        load_dataset("BZR")


def test_extra_files_are_left_alone(collection, tiny_zip):
    collection.content = tiny_zip("BZR", readme="hello", node_attributes=None, something_else="x y z")
    assert len(load_dataset("BZR")) == 3
