from __future__ import annotations

import io

import pytest

from twinwl.cli import progress
from twinwl.cli.progress import DelayedProgress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def no_delay(monkeypatch):
    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setenv("TERM", "xterm")


@pytest.mark.usefixtures("no_delay")
def test_whoever_waits_at_a_terminal_sees_what_is_going_on(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    with DelayedProgress("hashing") as shown:
        shown._timer.join(timeout=10)
        shown.advance(1234)
        shown._progress.refresh()
    assert "hashing" in stream.getvalue()
    assert "1,234" in stream.getvalue()


@pytest.mark.usefixtures("no_delay")
def test_a_long_description_leaves_room_for_the_count(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("COLUMNS", "80")
    with DelayedProgress("reading smiles:" + "C" * 200) as shown:
        shown._timer.join(timeout=10)
        shown.advance(1234)
        shown._progress.refresh()
    assert "reading smiles:CCC" in stream.getvalue()
    assert "1,234" in stream.getvalue()


@pytest.mark.usefixtures("no_delay")
def test_nothing_is_written_where_nobody_waits(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    with DelayedProgress("hashing", total=3) as shown:
        shown.advance()
    assert stream.getvalue() == ""


def test_short_work_shows_nothing(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    with DelayedProgress("hashing") as shown:
        shown.advance()
    assert stream.getvalue() == ""
