from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.engines import tasks
from twinwl.engines import engine_of
from twinwl.errors import GraphInputError, TwinWLError


@pytest.fixture(scope="module")
def two():
    with engine_of("local", workers=2) as engine:
        yield engine


def numbers(n):
    return ((number,) for number in range(n))


def test_every_task_has_one_result(two):
    assert dict(two.run(tasks.square, numbers(20), shared=(1,))) == {n: n * n + 1 for n in range(20)}


def test_one_worker_is_this_process():
    with engine_of("local", workers=1) as engine:
        assert dict(engine.run(os.getpid, [()])) == {0: os.getpid()}


def test_several_workers_are_other_processes_with_their_share_of_threads(two):
    ours = os.environ.get("TWINWL_NUM_THREADS")
    results = [result for _, result in two.run(tasks.threads, [()] * 8)]
    assert os.getpid() not in {process for process, _ in results}
    assert all(int(number) >= 1 for _, number in results)
    assert os.environ.get("TWINWL_NUM_THREADS") == ours


def test_tasks_are_taken_only_when_a_worker_is_free(two):
    taken = []
    results = two.run(tasks.square, (taken.append(n) or (n,) for n in range(50)))
    next(results)
    assert len(taken) <= 3
    results.close()


def test_what_a_killed_worker_did_is_done_again(two, tmp_path):
    assert dict(two.run(tasks.die_once, numbers(4), shared=(str(tmp_path),))) == {n: n for n in range(4)}


def test_a_task_that_kills_every_worker_is_named(two):
    with pytest.raises(TwinWLError, match=r"task 2 \(2,\): its worker died 4 times \(signal 9\)"):
        list(two.run(tasks.die_always, numbers(6)))
    assert dict(two.run(tasks.square, numbers(3))) == {0: 0, 1: 1, 2: 4}


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_a_task_is_raised_as_it_is(workers):
    with engine_of("local", workers) as engine, pytest.raises(GraphInputError) as caught:
        list(engine.run(tasks.fail, numbers(3)))
    assert (str(caught.value), caught.value.graph) == ("graph 7: got no edges", 7)


def test_a_bug_keeps_its_type_and_the_lines_that_led_to_it(two):
    with pytest.raises(ZeroDivisionError) as caught:
        list(two.run(tasks.stumble, [(0,)]))
    assert "return 1 / number" in "".join(caught.value.__notes__)


def test_a_result_that_cannot_be_pickled_is_an_error(two):
    with pytest.raises(TypeError, match="pickle"):
        list(two.run(tasks.unpicklable, [()]))


def test_workers_end_with_the_block():
    with engine_of("local", workers=2) as engine:
        processes = {process for _, (process, _) in engine.run(tasks.threads, [()] * 4)}
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_a_worker_ends_where_the_first_process_is_interrupted(tmp_path):
    def interrupt_when_it_runs():
        yield (str(tmp_path),)
        while not any(tmp_path.iterdir()):
            time.sleep(0.05)
        raise KeyboardInterrupt

    with engine_of("local", workers=2) as engine, pytest.raises(KeyboardInterrupt):
        list(engine.run(tasks.sleep, interrupt_when_it_runs()))
    (worker,) = (int(path.name) for path in tmp_path.iterdir())
    assert not is_running(worker)


SCRIPT = """
import signal, sys
from tests.engines import tasks
from twinwl.engines import engine_of
signal.signal(signal.SIGINT, signal.default_int_handler)  # which shells switch off for what runs behind them
with engine_of("local", workers=2) as engine:  # a script without a guard
    numbers = ((number,) for number in range(2, 40))
    for index, process in engine.run(tasks.write_shard, numbers, shared=(sys.argv[1], 0.5)):
        print(process, flush=True)
"""


def start_script(folder):
    root = Path(__file__).parents[2]
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])},
        start_new_session=True,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_after_an_interrupt_or_a_kill_no_worker_runs_and_every_file_is_whole(number, tmp_path):
    script = start_script(tmp_path)
    workers = {int(script.stdout.readline()) for _ in range(2)}
    if number == signal.SIGINT:
        os.killpg(script.pid, number)  # as Ctrl-C does
    else:
        script.kill()
    script.wait()
    end = time.monotonic() + 20
    while any(is_running(worker) for worker in workers) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(is_running(worker) for worker in workers)
    for path in tmp_path.glob("*.txt"):
        assert path.read_text() == f"shard {int(path.stem)}\n{int(path.stem) ** 2}\n"
    errors = script.stderr.read()
    assert errors.count("Traceback") == (number == signal.SIGINT), errors


def is_running(process):
    try:
        os.kill(process, 0)
        status = Path(f"/proc/{process}/stat")
        return not Path("/proc/self").exists() or status.read_text().split()[2] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cloud",), "engine: got 'cloud', expected 'local' or 'ray'"),
        (("local", 0), "workers: got 0"),
        (("local", 2, "10.0.0.5:6379"), "address: got '10.0.0.5:6379', but the engine is 'local'"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(TwinWLError, match=message):
        engine_of(*arguments)
