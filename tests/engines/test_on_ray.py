"""A cluster of three nodes on this machine; whatever dies, the result is that of the local engine."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import ray
from ray.cluster_utils import Cluster
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import twinwl as tw
from tests.corpus.graphs import atlas, shards_of
from tests.engines import tasks
from twinwl.engines import engine_of
from twinwl.errors import GraphInputError, TwinWLError

pytestmark = pytest.mark.ray

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


def test_every_task_has_one_result(engine):
    for _ in range(2):
        results = dict(engine.run(tasks.square, numbers(20), shared=(1,)))
        assert results == {n: n * n + 1 for n in range(20)}
    assert engine.workers == 3


@pytest.mark.slow
def test_an_error_of_a_task_is_raised_as_it_is(engine):
    with pytest.raises(GraphInputError) as caught:
        list(engine.run(tasks.fail, numbers(3)))
    assert (str(caught.value), caught.value.graph) == ("graph 7: got no edges", 7)


@pytest.mark.slow
def test_a_task_that_kills_every_worker_is_named(engine):
    with pytest.raises(TwinWLError, match=r"task 2 \(2,\): its worker died 4 times"):
        list(engine.run(tasks.die_always, numbers(3)))


@pytest.mark.slow
def test_a_killed_worker_a_lost_node_and_a_new_one_change_nothing(cluster, engine, undisturbed, tmp_path):
    folder = tmp_path / "ray"
    folder.mkdir()
    lost = cluster.add_node(num_cpus=1, object_store_memory=BYTES)
    done = []
    shards = engine.run(tasks.write_shard, numbers(N_SHARDS), shared=(str(folder), 0.2))
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
import twinwl as tw

tw.Corpus.build(sys.argv[1], sys.argv[2], rows_per_shard=40, engine="ray", address=sys.argv[3],
                on_event=lambda event: print(event["event"], flush=True))
"""


@pytest.mark.slow
@pytest.mark.usefixtures("engine")  # it is connected to a node that stays
def test_a_corpus_is_the_same_bytes_whatever_dies(cluster, tmp_path):
    pytest.importorskip("pyarrow", reason="needs pyarrow")
    source, here, there = tmp_path / "graphs.g6", tmp_path / "here", tmp_path / "there"
    texts = atlas(400)
    source.write_text("\n".join([*texts, "nonsense"]) + "\n")
    lengths = [tw.from_graph6([text]).n_edges % 2 for text in texts[:60]]
    tw.save(tw.STwinSVC(n_iter=1).fit(tw.from_graph6(texts[:60]), lengths), tmp_path / "model.twinwl")
    work(source, here, tmp_path / "model.twinwl", workers=1)

    killed = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(source), str(there / "corpus"), cluster.address],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    for _ in range(3):
        assert killed.stdout.readline() == b"task\n"
    killed.kill()
    killed.wait()
    lost = cluster.add_node(num_cpus=1, object_store_memory=BYTES)
    done = []

    def disturb(event):
        if event["event"] == "task":
            done.append((event["stage"], event["name"]))
        if len(done) == 2:
            for process in workers_of(cluster.head_node):
                os.kill(process, signal.SIGKILL)
        if len(done) == 5:
            cluster.remove_node(lost, allow_graceful=False)

    work(source, there, tmp_path / "model.twinwl", engine="ray", address=cluster.address, on_event=disturb)
    assert len(set(done)) == len(done)
    assert 0 < len([name for stage, name in done if stage == "build"]) <= 21 - 3
    assert shards_of(there) == shards_of(here)
    vocabulary = Path("features", "vocabulary.twinwl")
    assert (there / vocabulary).read_bytes() == (here / vocabulary).read_bytes()
    assert not list(there.rglob("*.tmp"))


def work(source, folder, model, **running):
    """Run all jobs of a corpus."""
    corpus = tw.Corpus.build(source, folder / "corpus", rows_per_shard=40, **running)
    assert len(corpus.shards) == 21
    corpus.dedup(folder / "distinct", **running)
    corpus.features(folder / "features", tw.STwinVectorizer(1, min_df=2), **running)
    corpus.predict(model, folder / "predictions", **running)


def workers_of(node):
    """Return the processes of the workers of a node, those with a task if there are any."""
    raylet = node.all_processes["raylet"][0].process.pid
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == raylet:
                found[int(folder.name)] = (folder / "cmdline").read_bytes()
    busy = [process for process, title in found.items() if title.startswith(b"ray::_call")]
    return busy or [process for process, title in found.items() if title.startswith(b"ray::IDLE")]


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_connection_that_was_there_is_kept(cluster):
    ray.init(cluster.address, log_to_driver=False, logging_level="ERROR")
    try:
        with engine_of("ray", workers=2) as engine:
            assert dict(engine.run(tasks.square, numbers(3))) == {0: 0, 1: 1, 2: 4}
        assert ray.is_initialized()
    finally:
        ray.shutdown()


def test_an_address_where_nothing_is():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (
        pytest.raises(TwinWLError, match=f"address: got '127.0.0.1:{port}', expected host:port"),
        engine_of("ray", address=f"127.0.0.1:{port}"),
    ):
        pass


@pytest.mark.parametrize("address", ["", "head", ":6379", "head:port"])
def test_an_address_that_is_none(address):
    with pytest.raises(TwinWLError, match="expected host:port"), engine_of("ray", address=address):
        pass
