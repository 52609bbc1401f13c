"""The progress bar shows itself only where someone can see it."""

from __future__ import annotations

import io
import sys

import pytest

from twinwl.learning.history import History
from twinwl.learning.progress import progress_bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_nothing_is_shown_without_a_terminal(capsys):
    with progress_bar("training", 10) as progress:
        assert progress is None
    assert capsys.readouterr().err == ""


def test_terminal_sees_live_accuracy(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("training", 10) as progress:
        progress(History([0.5], [0.4], [0.8125], [0.75], best_epoch=0))
    shown = terminal.getvalue()
    assert "1/10" in shown
    assert "validation 81.2 %" in shown
    assert "watched 75.0 %" in shown


@pytest.mark.parametrize("title", ["NTwinClassifier", "OneTwoThreeGNNClassifier"])
def test_a_narrow_terminal_sees_whole_figures_or_none(monkeypatch, title):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar(title, 100) as progress:
        progress(History([0.5], [0.4], [0.8125], [0.75], best_epoch=0))
    shown = terminal.getvalue()
    assert title in shown
    assert "1/100" in shown
    assert "validation 81.2 %, best 81.2 %" in shown
    assert "…" not in shown


def test_it_can_be_silenced_on_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress_bar("training", 10, show=False) as progress:
        assert progress is None
