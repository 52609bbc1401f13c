import zipfile

import pytest

from twinwl.datasets.formats import archive_members
from twinwl.datasets.formats.archive_members import ArchiveMembers
from twinwl.errors import TwinWLError


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "data.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("DS/a.txt", "1\n" * 1000)
        file.writestr("../outside.txt", "2")
    return path


def test_members_are_read_and_nothing_is_unpacked(archive):
    with ArchiveMembers(archive) as members:
        assert members.names == ["../outside.txt", "DS/a.txt"]
        assert members.read("DS/a.txt") == b"1\n" * 1000
        assert members.read("../outside.txt") == b"2"
    assert [path.name for path in archive.parent.iterdir()] == ["data.zip"]


def test_folder_and_its_subfolders_are_read(tmp_path):
    (tmp_path / "DS").mkdir()
    (tmp_path / "DS" / "a.txt").write_text("1")
    (tmp_path / "b.txt").write_text("2")
    with ArchiveMembers(tmp_path) as members:
        assert members.names == ["DS/a.txt", "b.txt"]
        assert members.read("DS/a.txt") == b"1"


def test_missing_path_is_refused(tmp_path):
    with pytest.raises(TwinWLError, match=r"nothing\.zip does not exist"):
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


@pytest.mark.parametrize(("limit", "value"), [("_MAX_BYTES", 1000), ("_MAX_RATIO", 10)])
def test_bomb_is_refused_before_it_goes_off(archive, monkeypatch, limit, value):
    monkeypatch.setattr(archive_members, limit, value)
    monkeypatch.setattr(archive_members, "_RATIO_FROM", 100)
    with ArchiveMembers(archive) as members, pytest.raises(TwinWLError, match=r"to 2,000 bytes.*attack"):
        members.read("DS/a.txt")
