"""A long name must not squeeze out how far the evaluation is."""

from __future__ import annotations

import io
import sys

from twinwl.evaluation.progress import evaluation_progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_long_title_leaves_room_for_the_figures(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    with evaluation_progress(
        "package.module:Class#0a1b2c3d on a data set with a long name", 200
    ) as show_done:
        show_done(20)
    shown = terminal.getvalue()
    assert "package.module:Class#" in shown
    assert "20/200" in shown
    assert "0:00:00" in shown
    assert "left:" in shown


def test_nothing_is_shown_without_a_terminal(capsys):
    with evaluation_progress("stwin on TWINS", 3) as show_done:
        show_done(3)
    assert capsys.readouterr().err == ""
