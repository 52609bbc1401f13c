"""The progress bar shows itself only where someone waits, and long enough to wonder."""

from __future__ import annotations

import io
import re

import pytest

from twinwl import terminal as progress
from twinwl.terminal import ProgressBar


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def open_terminal(monkeypatch):
    def opened():  # called in the test, after pytest has put its own stream in place
        stream = Terminal()
        monkeypatch.setattr("sys.stderr", stream)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "80")
        return stream

    return opened


@pytest.fixture
def no_delay(monkeypatch):
    monkeypatch.setattr(progress, "DELAY", 0.0)


@pytest.mark.usefixtures("no_delay")
def test_whoever_waits_at_a_open_terminal_sees_what_is_going_on(open_terminal):
    terminal = open_terminal()
    with ProgressBar("hashing") as bar:
        bar._timer.join(timeout=10)
        bar.advance(1234)
        bar._progress.refresh()
    assert "hashing" in terminal.getvalue()
    assert "1,234" in terminal.getvalue()


def test_work_that_is_not_counted_shows_no_count(open_terminal):
    terminal = open_terminal()
    with ProgressBar("choosing", show=True) as bar:
        bar._progress.refresh()
    shown = re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", terminal.getvalue())
    assert re.match(r"choosing +0:00:00", shown)


@pytest.mark.parametrize("title", ["reading smiles:" + "C" * 200, "package.module:Class#0a1b on a long name"])
def test_a_long_title_leaves_room_for_the_figures(open_terminal, title):
    terminal = open_terminal()
    with ProgressBar(title, total=200, done=15, show=True) as bar:
        bar.advance(5)
    shown = terminal.getvalue()
    assert title[:10] in shown
    assert "20/200" in shown
    assert "0:00:00" in shown
    assert "left:" in shown


def test_names_are_not_read_as_markup(open_terminal):
    terminal = open_terminal()
    with ProgressBar("reading [bold]x[/bold].csv", total=2, show=True) as bar:
        bar.advance()
    assert "[bold]x[/bold]" in terminal.getvalue()


@pytest.mark.parametrize("title", ["NTwinClassifier", "OneTwoThreeGNNClassifier"])
def test_a_narrow_open_terminal_sees_whole_notes_or_none(open_terminal, title):
    terminal = open_terminal()
    with ProgressBar(title, total=100, show=True) as bar:
        bar.advance()
        bar.note("validation 81.2 %", "best 81.2 %", "loss 0.500", "watched 75.0 %")
    shown = terminal.getvalue()
    assert title in shown
    assert "1/100" in shown
    assert "validation 81.2 %" in shown
    assert "watched" not in shown


def test_a_transfer_counts_bytes(open_terminal):
    terminal = open_terminal()
    with ProgressBar("MUTAG.zip", total=4_000_000, unit="bytes", show=True) as bar:
        bar.advance(2_000_000)
    assert "2.0/4.0 MB" in terminal.getvalue()


@pytest.mark.usefixtures("no_delay")
def test_nothing_is_written_where_nobody_waits(capsys):
    with ProgressBar("hashing", total=3) as bar:
        bar.advance()
    assert capsys.readouterr().err == ""


def test_short_work_shows_nothing_and_a_bar_can_be_silenced(open_terminal, monkeypatch):
    terminal = open_terminal()
    with ProgressBar("hashing") as bar:
        bar.advance()
    monkeypatch.setattr(progress, "DELAY", 0.0)
    with ProgressBar("hashing", show=False) as bar:
        bar.advance()
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("closed", [True, False])
def test_work_goes_on_without_standard_error(monkeypatch, closed):
    stream = io.StringIO()
    stream.close()
    monkeypatch.setattr("sys.stderr", stream if closed else None)
    with ProgressBar("hashing", total=2) as bar:
        assert list(bar.over("ab")) == ["a", "b"]
