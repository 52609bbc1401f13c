"""Functions that workers call; they lie in a module, as those of the package do."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from twinwl.errors import GraphInputError, TwinWLError
from twinwl.files.storage import open_to_write


def square(number, offset=0):
    return number * number + offset


def die_once(number, folder):
    """Kill this process when the task is run for the first time."""
    mark = Path(folder, f"{number}.tried")
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def die_always(number):
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def fail(number):
    if number == 1:
        raise GraphInputError("got no edges", graph=7)
    return number


def stumble(number):
    return 1 / number


def unpicklable():
    return (each for each in "abc")


def threads():
    return os.getpid(), os.environ.get("TWINWL_NUM_THREADS")


def write_shard(number, folder, seconds=0.0):
    """Write a shard as a job does, and say which process did."""
    with open_to_write(Path(folder, f"{number:03}.txt")) as stream:
        stream.write(f"shard {number}\n".encode())
        time.sleep(seconds)
        stream.write(f"{number * number}\n".encode())
    return os.getpid()


def refuse(number):
    raise TwinWLError(f"row {number}: got nothing")


def sleep(folder):
    """Note the number of this process, and do nothing for a minute."""
    Path(folder, str(os.getpid())).touch()
    time.sleep(60)
