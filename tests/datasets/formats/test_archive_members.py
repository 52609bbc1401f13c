import zipfile

import pytest

from twinwl.datasets import formats
from twinwl.datasets.formats import ArchiveMembers
from twinwl.errors import TwinWLError


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "data.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("DS/a.txt", "1\n" * 1000)
        file.writestr("DS/b.txt", "2")
    return path


def test_members_are_read_and_nothing_is_unpacked(archive):
    with ArchiveMembers(archive) as members:
        assert members.names == ["DS/a.txt", "DS/b.txt"]
        assert members.read("DS/a.txt") == b"1\n" * 1000
    assert [path.name for path in archive.parent.iterdir()] == ["data.zip"]


@pytest.mark.parametrize("name", ["../a.txt", "/etc/a.txt", "DS/../../a.txt", "..\\a.txt"])
def test_names_that_lead_out_of_the_folder_are_refused(archive, name):
    with zipfile.ZipFile(archive, "a") as file:
        file.writestr(name, "2")
    with pytest.raises(TwinWLError, match="is outside its folder"):
        ArchiveMembers(archive)


def test_folder_and_its_subfolders_are_read(tmp_path):
    (tmp_path / "DS").mkdir()
    (tmp_path / "DS" / "a.txt").write_text("1")
    (tmp_path / "b.txt").write_text("2")
    with ArchiveMembers(tmp_path) as members:
        assert members.names == ["DS/a.txt", "b.txt"]
        assert members.read("DS/a.txt") == b"1"


def test_missing_path_is_refused(tmp_path):
    with pytest.raises(TwinWLError, match=r"cannot read .*nothing\.zip': no such file"):
        ArchiveMembers(tmp_path / "nothing.zip")


def test_truncated_zip_is_refused(archive):
    whole = archive.read_bytes()
    for length in (0, 10, len(whole) // 2, len(whole) - 5):
        archive.write_bytes(whole[:length])
        with pytest.raises(TwinWLError, match="not a readable zip"):
            ArchiveMembers(archive)


def test_damaged_member_is_refused(archive):
    data = bytearray(archive.read_bytes())
    start = data.index(b"DS/a.txt") + len(b"DS/a.txt")
    data[start : start + 8] = b"\xff" * 8
    archive.write_bytes(bytes(data))
    with ArchiveMembers(archive) as members, pytest.raises(TwinWLError, match=r"cannot read DS/a\.txt"):
        members.read("DS/a.txt")


def test_bomb_is_refused_before_it_goes_off(archive, monkeypatch):
    monkeypatch.setattr(formats, "RATIO_FROM", 100)
    monkeypatch.setattr(formats, "MAX_RATIO", 5)
    with pytest.raises(TwinWLError, match=r"unpacks from \d+ to 2,001 bytes, which looks like an attack"):
        ArchiveMembers(archive)


def test_entries_that_overlap_do_not_hide_a_bomb(archive, monkeypatch):
    """Many entries may point at one stretch of the file, so their sizes must not be added up."""
    with zipfile.ZipFile(archive) as file:
        shared = file.getinfo("DS/a.txt")
    with zipfile.ZipFile(archive, "a") as file:
        for number in range(50):
            copy = zipfile.ZipInfo(f"DS/{number}.txt")
            for field in ("header_offset", "CRC", "compress_size", "file_size", "compress_type"):
                setattr(copy, field, getattr(shared, field))
            file.filelist.append(copy)
        file._didModify = True
    monkeypatch.setattr(formats, "RATIO_FROM", 100)
    monkeypatch.setattr(formats, "MAX_RATIO", 10)
    with pytest.raises(TwinWLError, match="looks like an attack"):
        ArchiveMembers(archive)


@pytest.mark.parametrize("packed", [True, False])
def test_file_too_large_to_parse_is_refused(archive, monkeypatch, packed):
    if not packed:
        with zipfile.ZipFile(archive) as file:
            file.extractall(archive.parent)
    monkeypatch.setattr(formats, "MAX_BYTES", 1000)
    with (
        ArchiveMembers(archive if packed else archive.parent) as members,
        pytest.raises(TwinWLError, match=r"a\.txt: larger than 0 MiB, too large"),
    ):
        members.read("DS/a.txt")
