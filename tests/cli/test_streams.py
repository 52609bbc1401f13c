"""Output that is closed, full or no longer read, and interrupts: one line and the right exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes and signals of POSIX")

FULL = Path("/dev/full")
COMMAND = """
import signal, sys, time
# Whoever runs the tests in the background has them ignore interrupts, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
from twinwl.cli.app import app, main
from twinwl.terminal import new_console, say

@app.command()
def many() -> None:
    for number in range(100_000):
        say(f"line {number}")

@app.command()
def table() -> None:
    new_console().print("x" * 100)

@app.command()
def silent() -> None:
    pass

@app.command()
def wait() -> None:
    say("ready")
    time.sleep(600)

main()
"""


def start(*arguments, unbuffered=False, **streams):
    environment = {**os.environ, "PYTHONUNBUFFERED": "1" if unbuffered else ""}
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        **streams,
    )


@pytest.mark.parametrize("command", ["many", "table"])
def test_a_reader_that_leaves_ends_it_quietly(command):
    read, write = os.pipe()
    os.close(read)
    process = start(command, stdout=write)
    os.close(write)
    assert process.communicate()[1] == ""
    assert process.returncode == 141


def test_as_into_head():
    process = start("many", stdout=subprocess.PIPE)
    assert process.stdout.readline() == "line 0\n"
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() == 141


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("command", "unbuffered"),
    [("many", False), ("many", True), ("table", False), ("--version", True), ("--help", False)],
)
def test_a_full_disk_is_one_line(command, unbuffered):
    with FULL.open("w") as full:
        process = start(command, unbuffered=unbuffered, stdout=full)
    said = process.communicate()[1]
    assert said == "twinwl: cannot write to standard output: No space left on device\n"
    assert process.returncode == 2


def closed(*arguments):
    """Start it as a shell does with ``>&-``."""
    script = '"$0" -c "$1" "$2" >&-'
    return subprocess.run(
        ["/bin/sh", "-c", script, sys.executable, COMMAND, *arguments],
        stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip


def test_closed_output_is_one_line_where_something_is_printed():
    done = closed("table")
    assert done.stderr == "twinwl: cannot write to standard output: Bad file descriptor\n"
    assert done.returncode == 2
    done = closed("silent")
    assert (done.stderr, done.returncode) == ("", 0)


def test_an_error_that_nobody_hears_still_has_its_exit_code():
    with Path(os.devnull).open() as not_for_writing:
        process = subprocess.run(
            [sys.executable, "-c", COMMAND, "hash", "no-such.g6"], stderr=not_for_writing, check=False
        )
    assert process.returncode == 2


def test_an_interrupt_is_said():
    process = start("wait", stdout=subprocess.PIPE)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate()[1] == "twinwl: interrupted\n"
    assert process.returncode == 130
