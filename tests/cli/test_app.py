from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import twinwl
from twinwl.cli.app import app
from twinwl.errors import GraphInputError

runner = CliRunner()


@pytest.fixture
def failing_app(monkeypatch):
    """The command line with one more subcommand, which meets a bad graph."""
    monkeypatch.setattr(app, "registered_commands", list(app.registered_commands))

    @app.command("fail")
    def fail() -> None:
        raise GraphInputError("edge (0, 7) names node 7,\nwhich does not exist", graph=3)

    return app


def test_version_is_the_packages():
    result = runner.invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.stdout == f"twinwl {twinwl.__version__}\n"


def test_help_names_the_subcommands():
    result = runner.invoke(app, ["--help"])
    assert result.exit_code == 0
    assert "demo" in result.stdout


def test_help_imports_nothing_heavy():
    script = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from twinwl.cli.app import app\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0\n"
        "heavy = {'numpy', 'numba', 'scipy', 'sklearn', 'torch', 'networkx', 'igraph'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_error_is_one_line_on_stderr(failing_app):
    result = runner.invoke(failing_app, ["fail"])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == "twinwl: graph 3: edge (0, 7) names node 7, which does not exist\n"


def test_what_the_operating_system_says_is_one_short_line(monkeypatch):
    monkeypatch.setattr(app, "registered_commands", list(app.registered_commands))

    @app.command("fail")
    def fail() -> None:
        raise OSError(36, "File name too long", "x" * 5000)

    result = runner.invoke(app, ["fail"])
    assert result.exit_code == 2
    assert result.stderr.startswith("twinwl: 'xxx")
    assert "File name too long" in result.stderr
    assert len(result.stderr) < 200


def test_debug_shows_the_traceback(failing_app):
    result = runner.invoke(failing_app, ["--debug", "fail"])
    assert isinstance(result.exception, GraphInputError)


def test_error_that_is_not_ours_is_not_hidden(failing_app):
    @failing_app.command("crash")
    def crash() -> None:
        raise ZeroDivisionError

    assert isinstance(runner.invoke(failing_app, ["crash"]).exception, ZeroDivisionError)


def test_wrong_option_exits_with_two():
    assert runner.invoke(app, ["--no-such-option"]).exit_code == 2


def test_every_subcommand_has_a_help_text():
    for command in app.registered_commands:
        assert command.callback.__doc__


def _commands():
    """Return the commands that help texts, the README and the docs show."""
    root = Path(twinwl.__file__).parents[2]
    names = "|".join(command.callback.__name__ for command in app.registered_commands)
    shown = re.compile(rf"^ *(?:\$ )?(twinwl (?:{names}) .*)$", re.MULTILINE)
    files = [*(root / "src/twinwl/cli").glob("*.py"), root / "README.md", *(root / "docs").rglob("*.md")]
    return dict.fromkeys(
        command for file in files for command in shown.findall(file.read_text(encoding="utf-8"))
    )


@pytest.mark.parametrize("command", _commands())
def test_commands_that_are_shown_can_be_pasted_into_a_shell(command):
    lexer = shlex.shlex(command, posix=True, punctuation_chars="();&")
    lexer.whitespace_split = True
    assert not [token for token in lexer if set(token) <= set("();&")]


def test_commands_are_shown_in_four_groups():
    lines = runner.invoke(app, ["--help"]).stdout.splitlines()
    titles = [line for line in lines if line and not line.startswith(" ")]
    assert titles[-4:] == ["Models", "Graphs", "Large collections", "Research"]
    assert all(len(line) <= 80 for line in lines)


def test_methods_are_listed_with_their_parameters():
    listed = runner.invoke(app, ["methods"], env={"COLUMNS": "120"}).stdout
    assert all(
        name in listed
        for name in ("stwin-svc", "STwinSVC", "ntwin", "NTwinClassifier", "classes and numbers")
    )
    about = runner.invoke(app, ["methods", "stwin-svc"]).stdout
    assert "kernel_approximation" in about
    assert "did you mean" in runner.invoke(app, ["methods", "stwin-svx"]).stderr
