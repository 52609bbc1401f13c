from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import threading
from pathlib import Path

import pytest

from twinwl.datasets import download as module
from twinwl.datasets.download import DownloadError, download

CONTENT = bytes(range(256)) * 2000


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(module, "_PAUSE", 0)


@pytest.fixture
def target(tmp_path):
    return tmp_path / "downloads" / "MUTAG.zip"


@pytest.fixture
def site(site):
    site.content = CONTENT
    return site


def names(target):
    return sorted(path.name for path in target.parent.iterdir() if path.suffix != ".lock")


def test_good_file_arrives_and_nothing_else_stays(site, target):
    assert download(site.url, target) == target
    assert target.read_bytes() == CONTENT
    assert names(target) == ["MUTAG.zip"]


def test_file_that_is_there_is_not_asked_for(site, target):
    download(site.url, target)
    download(site.url, target)
    assert site.ranges == [None]


def test_right_checksum_is_accepted(site, target):
    download(site.url, target, sha256=hashlib.sha256(CONTENT).hexdigest())
    assert target.exists()


def test_wrong_checksum_leaves_no_file(site, target):
    with pytest.raises(DownloadError, match="checksum is wrong"):
        download(site.url, target, sha256="0" * 64)
    assert names(target) == []


def test_cut_connection_is_resumed_within_one_call(site, target):
    site.cuts = [98_304, 49_152]
    download(site.url, target)
    assert target.read_bytes() == CONTENT
    assert site.ranges == [None, "bytes=98304-", "bytes=147456-"]


def test_next_call_goes_on_where_the_last_one_gave_up(site, target):
    site.cuts = [98_304, 0, 0, 0]
    with pytest.raises(DownloadError, match="98,304 bytes are kept, and the next call goes on"):
        download(site.url, target)
    assert not target.exists()
    site.ranges.clear()
    download(site.url, target)
    assert target.read_bytes() == CONTENT
    assert site.ranges == ["bytes=98304-"]


def test_file_that_changed_meanwhile_is_fetched_from_the_start(site, target):
    site.cuts = [98_304, 0, 0, 0]
    with pytest.raises(DownloadError):
        download(site.url, target)
    site.content, site.etag = CONTENT[::-1], '"second"'
    download(site.url, target)
    assert target.read_bytes() == CONTENT[::-1]


@pytest.mark.parametrize("etag", ["", 'W/"weak"'])
def test_without_a_sure_version_it_starts_over(site, target, etag):
    site.etag, site.cuts = etag, [98_304]
    download(site.url, target)
    assert target.read_bytes() == CONTENT
    assert site.ranges == [None, None]


def test_server_without_ranges_is_no_trouble(site, target):
    site.understands_ranges, site.cuts = False, [98_304]
    download(site.url, target)
    assert target.read_bytes() == CONTENT


def test_part_longer_than_the_file_is_thrown_away(site, target):
    target.parent.mkdir(parents=True)
    Path(f"{target}.part").write_bytes(b"x" * (len(CONTENT) + 5))
    Path(f"{target}.part.version").write_text('"first"')
    download(site.url, target)
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize(("status", "n_requests"), [(404, 1), (403, 1), (503, 4)])
def test_refusal_says_how_to_do_it_by_hand(site, target, status, n_requests):
    site.status = status
    with pytest.raises(DownloadError) as caught:
        download(site.url, target)
    message = str(caught.value)
    assert f"the server answers {status}" in message
    assert site.url in message
    assert f"as {str(target)!r}" in message
    assert "TWINWL_DATA" in message
    assert len(site.ranges) == n_requests


def test_server_error_that_passes_is_survived(site, target, monkeypatch):
    site.status = 503
    monkeypatch.setattr(module.time, "sleep", lambda _seconds: setattr(site, "status", 200))
    download(site.url, target)
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("declared", ["abc", "-5", "1e3", "٣", "9" * 5000])
def test_length_that_is_no_length_is_passed_over(site, target, declared):
    site.declared = declared.encode().decode("latin-1")
    with contextlib.suppress(DownloadError):
        assert download(site.url, target).read_bytes() == CONTENT


def test_nobody_listening(target):
    with pytest.raises(DownloadError, match="the connection failed"):
        download("http://127.0.0.1:9/MUTAG.zip", target)


def test_plain_http_elsewhere_is_refused_unsent(target):
    with pytest.raises(DownloadError, match="not encrypted; only https"):
        download("http://example.org/MUTAG.zip", target)


def test_redirection_to_plain_http_is_refused(site, target):
    site.redirect = "http://example.org/MUTAG.zip"
    with pytest.raises(DownloadError, match=r"http://example.org/MUTAG.zip is not encrypted"):
        download(site.url, target)


def test_redirection_in_circles_ends(site, target):
    site.redirect = site.url
    with pytest.raises(DownloadError, match="the connection failed: Exceeded 5 redirects"):
        download(site.url, target)
    assert len(site.ranges) == 6


def test_check_decides_before_the_file_counts(site, target):
    seen = []

    def refuse(path):
        seen.append(path.read_bytes())
        raise DownloadError("not what it should be")

    with pytest.raises(DownloadError, match="not what it should be"):
        download(site.url, target, check=refuse)
    assert seen == [CONTENT]
    assert names(target) == []


def test_far_too_long_is_stopped(site, target, monkeypatch):
    monkeypatch.setattr(module, "_MAX_BYTES", 1000)
    with pytest.raises(DownloadError, match="longer than 1,000 bytes"):
        download(site.url, target)
    assert not target.exists()


def test_full_disk_keeps_what_came(site, target, monkeypatch):
    def full(self, _response, _have):
        self.part.write_bytes(b"x" * 10)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(module._Transfer, "_receive", full)
    with pytest.raises(DownloadError, match="No space left on device"):
        download(site.url, target)
    assert Path(f"{target}.part").read_bytes() == b"x" * 10


def test_folder_that_cannot_be_made(site, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DownloadError, match="could not download"):
        download(site.url, tmp_path / "file" / "MUTAG.zip")


def test_two_at_once_fetch_it_once(site, target):
    threads = [threading.Thread(target=download, args=(site.url, target)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert target.read_bytes() == CONTENT
    assert site.ranges == [None]


def test_bar_is_shown_on_standard_error(site, target, capsys):
    download(site.url, target, progress=True)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "MUTAG.zip" in captured.err


def test_nothing_is_printed_without_a_terminal(site, target, capfd):
    download(site.url, target)
    assert capfd.readouterr() == ("", "")
