from __future__ import annotations

import logging
import sys
import warnings

import pytest

from twinwl.cli.app import log_as_lines, warnings_as_lines
from twinwl.errors import warn_caller


def test_our_warnings_are_single_lines_on_stderr_said_once(capsys):
    with warnings_as_lines():
        warn_caller("left out\n2 rows")
        warn_caller("merged 3 edges")
        warn_caller("left out\n2 rows")
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "twinwl: left out 2 rows\ntwinwl: merged 3 edges\n"


def test_figures_do_not_make_a_warning_another_but_a_file_does(capsys):
    with warnings_as_lines():
        for text in (
            "merged 3 edges",
            "merged 4 edges",
            "part1.csv: left out 3 rows",
            "part2.csv: left out 4",
        ):
            warn_caller(text)
    assert capsys.readouterr().err.splitlines() == [
        "twinwl: merged 3 edges",
        "twinwl: part1.csv: left out 3 rows",
        "twinwl: part2.csv: left out 4",
    ]


def test_other_warnings_are_not_ours_to_change(capsys):
    with pytest.warns(UserWarning, match="of somebody else"), warnings_as_lines():
        warnings.warn("of somebody else", UserWarning, stacklevel=1)
    assert "twinwl:" not in capsys.readouterr().err


@pytest.mark.parametrize("terminal", [True, False])
def test_the_log_is_shown_at_a_terminal_alone(terminal, capsys, monkeypatch):
    log = logging.getLogger("twinwl")
    monkeypatch.setattr(log, "handlers", [])
    monkeypatch.setattr(log, "level", log.level)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    log_as_lines()
    log.info("compiling once")
    assert ("twinwl: compiling once" in capsys.readouterr().err) is terminal
