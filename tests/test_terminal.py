"""Nothing that comes out of a file is obeyed by a terminal."""

from __future__ import annotations

import ast
import io
import sys
from pathlib import Path

import pytest
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

import twinwl
from twinwl.terminal import ProgressBar, new_console, one_line, printable, say

SOURCE = Path(twinwl.__file__).parent
# A title, a jump to the top of the screen, a bell, the one-byte CSI, a backspace, text turned around.
HOSTILE = "a\x1b]0;title\x07b\x1b[2J\x9b31mc\x08\r\x7f\u202ed\u2066"
WRITTEN_OUT = r"a\x1b]0;title\x07b\x1b[2J\x9b31mc\x08\r\x7f\u202ed\u2066"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def on_terminals(monkeypatch):
    """Return what a call prints on standard output and on standard error if both are terminals."""
    return lambda call: _on_terminals(call, monkeypatch)


def _on_terminals(call, monkeypatch):
    out, err = Terminal(), Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("NO_COLOR", raising=False)
    call()
    monkeypatch.undo()
    return out.getvalue(), err.getvalue()


def test_control_characters_are_written_out():
    assert printable(HOSTILE) == WRITTEN_OUT
    assert printable("two\nlines\tand – ä 漢 👩‍👩‍👧") == "two\nlines\tand – ä 漢 👩‍👩‍👧"
    assert one_line("two\nlines\t") == r"two\nlines\t"


def test_say_writes_them_out_on_both_streams(on_terminals):
    assert on_terminals(lambda: say(HOSTILE)) == (f"{WRITTEN_OUT}\n", "")
    red = f"\x1b[31m{WRITTEN_OUT}\x1b[0m\n"
    assert on_terminals(lambda: say(HOSTILE, error=True, colour="red")) == ("", red)


@pytest.mark.parametrize("error", [False, True])
def test_consoles_write_them_out_and_keep_their_own_colours(error, on_terminals):
    table = Table()
    table.add_column(HOSTILE)
    table.add_row(HOSTILE)

    def show():
        console = new_console(error=error)
        for thing in (HOSTILE, Text(HOSTILE, "bold"), table, Panel(HOSTILE, title=Text(HOSTILE))):
            console.print(thing)

    shown = on_terminals(show)[error]
    assert "\x1b[1m" in shown, "bold is the program's own"
    for character in "\x07\x08\x9b\x7f\r\u202e\u2066":
        assert character not in shown
    assert "\x1b]" not in shown
    assert "\x1b[2J" not in shown


def test_brackets_in_a_name_are_no_markup(on_terminals):
    shown = on_terminals(lambda: new_console().print("[/nothing] [red]C[/red]"))
    assert shown == ("[/nothing] [red]C[/red]\n", "")


def test_progress_bars_write_them_out(on_terminals):
    def show():
        with ProgressBar(HOSTILE + "[/x]", total=1, show=True) as bar:
            bar.note(HOSTILE)

    shown = on_terminals(show)[1]
    assert r"\x1b]0;title" in shown
    for character in "\x07\x9b\u202e":
        assert character not in shown
    assert "\x1b]" not in shown


def test_nothing_prints_but_through_here():
    """Anything else would be a second place to forget the rule in."""
    for path in sorted(SOURCE.rglob("*.py")):
        if path.name == "terminal.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                assert ast.unparse(node.func) not in {
                    "print", "typer.echo", "typer.secho", "click.echo", "Console", "rich.print",
                    "sys.stdout.write", "sys.stderr.write",
                }, f"{path}:{node.lineno}"  # fmt: skip
