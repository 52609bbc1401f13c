"""A cluster of three nodes on this machine; whatever dies, the result is that of the local engine."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest
import ray
from ray.cluster_utils import Cluster
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import twinwl as tw
from tests.engines import tasks
from twinwl.engines.engine import engine_of
from twinwl.errors import GraphInputError, TwinWLError

N_SHARDS = 16
BYTES = 80 << 20


@pytest.fixture(scope="module")
def cluster():
    node = {"num_cpus": 1, "object_store_memory": BYTES, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=node)
    del node["include_dashboard"]
    for _ in range(2):
        made.add_node(**node)
    yield made
    made.shutdown()


@pytest.fixture
def engine(cluster):
    with engine_of("ray", address=cluster.address) as connected:
        yield connected


@pytest.fixture
def undisturbed(tmp_path):
    folder = tmp_path / "local"
    folder.mkdir()
    with engine_of("local", workers=1) as local:
        list(local.run(tasks.write_shard, numbers(N_SHARDS), shared=(str(folder),)))
    return contents(folder)


def numbers(n):
    return ((number,) for number in range(n))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_every_task_has_one_result_and_each_node_one_warm_up(engine, tmp_path):
    warm_up = partial(tasks.warm, str(tmp_path))
    for _ in range(2):
        results = dict(engine.run(tasks.square, numbers(20), shared=(1,), warm_up=warm_up))
        assert results == {n: n * n + 1 for n in range(20)}
    assert len(list(tmp_path.iterdir())) == 3
    assert engine.workers == 3


def test_an_error_of_a_task_is_raised_as_it_is(engine):
    with pytest.raises(GraphInputError) as caught:
        list(engine.run(tasks.fail, numbers(3), warm_up=None))
    assert (str(caught.value), caught.value.graph) == ("graph 7: got no edges", 7)


def test_a_task_that_kills_every_worker_is_named(engine):
    with pytest.raises(TwinWLError, match=r"task 2 \(2,\): its worker died 4 times"):
        list(engine.run(tasks.die_always, numbers(3), warm_up=None))


def test_a_killed_worker_a_lost_node_and_a_new_one_change_nothing(cluster, engine, undisturbed, tmp_path):
    folder = tmp_path / "ray"
    folder.mkdir()
    lost = cluster.add_node(num_cpus=1, object_store_memory=BYTES)
    done = []
    shards = engine.run(tasks.write_shard, numbers(N_SHARDS), shared=(str(folder), 0.2), warm_up=None)
    for index, process in shards:
        done.append(index)
        if len(done) == 4:
            os.kill(process, signal.SIGKILL)
        if len(done) == 8:
            cluster.remove_node(lost, allow_graceful=False)
    assert sorted(done) == list(range(N_SHARDS))
    written = {name: data for name, data in contents(folder).items() if name.endswith(".txt")}
    assert written == undisturbed


DRIVER = """
import sys
from pathlib import Path
from tests.engines import tasks
from twinwl.engines.engine import engine_of
folder = Path(sys.argv[1])
missing = [(n,) for n in range(int(sys.argv[3])) if not (folder / f"{n:03}.txt").exists()]
with engine_of("ray", address=sys.argv[2]) as engine:
    for index, _ in engine.run(tasks.write_shard, missing, shared=(str(folder), 0.2), warm_up=None):
        print(index, flush=True)
"""


def test_a_killed_driver_goes_on_where_it_was(cluster, undisturbed, tmp_path):
    folder = tmp_path / "ray"
    folder.mkdir()
    root = Path(__file__).parents[2]
    start = partial(
        subprocess.Popen,
        [sys.executable, "-c", DRIVER, str(folder), cluster.address, str(N_SHARDS)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])},
    )
    first = start()
    for _ in range(4):
        assert first.stdout.readline()
    first.kill()
    first.wait()
    second = start()
    output, errors = second.communicate(timeout=60)
    assert (second.returncode, errors) == (0, "")
    assert 0 < len(output.splitlines()) <= N_SHARDS - 4
    written = {name: data for name, data in contents(folder).items() if name.endswith(".txt")}
    assert written == undisturbed


def test_folds_on_ray_and_on_this_machine_give_the_same_table(cluster, tmp_path):
    pipeline = make_pipeline(tw.STwinVectorizer(2), DecisionTreeClassifier(random_state=0))
    grid = {"decisiontreeclassifier__max_depth": [1, 3]}
    data = tw.load_dataset("TWINS")
    here = tw.evaluate(pipeline, data, grid=grid, n_folds=3, store=tmp_path / "here.jsonl")
    begun, there = (tmp_path / "here.jsonl").read_bytes().splitlines(keepends=True), tmp_path / "there.jsonl"
    there.write_bytes(b"".join(begun[:2]))  # an interrupted run, which goes on elsewhere
    on_ray = partial(tw.evaluate, pipeline, data, grid=grid, n_folds=3, engine="ray", address=cluster.address)
    found = on_ray(store=there)
    assert str(found) == str(here)
    assert found.to_records() == here.to_records()
    assert there.read_bytes().splitlines(keepends=True)[:2] == begun[:2]
    assert len(there.read_bytes().splitlines()) == len(begun) == 6
    again = there.read_bytes()
    assert on_ray(store=there).to_records() == here.to_records()
    assert there.read_bytes() == again


def test_a_connection_that_was_there_is_kept(cluster):
    ray.init(cluster.address, log_to_driver=False, logging_level="ERROR")
    try:
        with engine_of("ray", workers=2) as engine:
            assert dict(engine.run(tasks.square, numbers(3), warm_up=None)) == {0: 0, 1: 1, 2: 4}
        assert ray.is_initialized()
    finally:
        ray.shutdown()


def test_an_address_where_nothing_is():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (
        pytest.raises(TwinWLError, match=f"address: nothing answers at '127.0.0.1:{port}'"),
        engine_of("ray", address=f"127.0.0.1:{port}"),
    ):
        pass


def test_an_address_of_something_else():
    def answer():
        other, _ = server.accept()
        with other:
            other.recv(100)
            other.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=answer, daemon=True).start()
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with (
            pytest.raises(TwinWLError, match="is not a Ray cluster; check the port"),
            engine_of("ray", address=address),
        ):
            pass


@pytest.mark.parametrize("address", ["", "head", ":6379", "head:port"])
def test_an_address_that_is_none(address):
    with pytest.raises(TwinWLError, match="expected host:port"), engine_of("ray", address=address):
        pass
