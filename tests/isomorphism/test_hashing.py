import json
import os
import re
import subprocess
import sys
import warnings
from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import twinwl as tw
from tests import naive
from tests.isomorphism import golden_graphs
from tests.isomorphism.golden_graphs import FILES, GRAPHS, LARGE_GRAPHS, hashes_of
from tests.isomorphism.known_graphs import bicyclopentyl, decalin, two_triangles
from tests.isomorphism.relabelling import relabelled
from tests.strategies import batches
from twinwl import GraphBatch, TwinWLError
from twinwl.datasets.graph_files import read_tu
from twinwl.graphs.labels import label_token
from twinwl.isomorphism import canonical, hashing
from twinwl.isomorphism import hashing as stable_hash
from twinwl.isomorphism.readouts import READOUTS, ReadoutError
from twinwl.refinement import content_keys

GOLDEN = {file: json.loads((Path(__file__).parent / file).read_text()) for file in FILES}
SAME_GRAPH = {"label None", "one node"}  # a graph without labels is one whose labels are all None

any_batches = st.tuples(st.booleans(), st.booleans(), st.booleans()).flatmap(
    lambda kind: batches(directed=kind[0], edge_label=kind[1], node_label=kind[2])
)
rounds = st.sampled_from([None, 0, 1, 3, "stable"])


STABLE = "golden_stable_hashes.json"  # with every readout


@pytest.mark.parametrize(
    "file", [pytest.param(file, marks=[pytest.mark.slow] * (file == STABLE)) for file in FILES]
)
def test_hashes_are_those_promised(file):
    assert hashes_of(file) == GOLDEN[file]


def test_all_promised_graphs_have_hashes_of_their_own():
    hashes = {name: tw.graph_hash(graph) for name, graph in GRAPHS.items()}
    alike = [pair for pair in combinations(hashes, 2) if hashes[pair[0]] == hashes[pair[1]]]
    assert [set(pair) for pair in alike] == [SAME_GRAPH]


@pytest.mark.parametrize(("file", "version"), [*zip(FILES, ("twl1", "twl2"), strict=True)])
def test_a_hash_is_a_version_and_32_digits(file, version):
    assert all(re.fullmatch(version + r":[0-9a-f]{32}", entry["hash"]) for entry in GOLDEN[file])


@pytest.mark.slow
def test_another_process_gives_the_same_hashes():
    code = (
        "from tests.isomorphism.golden_graphs import *; "
        "print([hash_of(asked) for asked in (*ASKED[:40], *STABLE_ASKED[:40])])"
    )
    root = Path(__file__).parents[2]
    command = [sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning", "-c", code]
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    out = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
    expected = [entry["hash"] for golden in GOLDEN.values() for entry in golden[:40]]
    assert out.stdout.strip() == str(expected)


@pytest.mark.slow
def test_the_reference_implementation_agrees_with_its_test_vectors():
    folder = Path(naive.reference.__file__).parent
    vectors = json.loads((folder / "hash_vectors.json").read_text(encoding="utf-8"))
    assert len(vectors) >= 39
    for vector in vectors:
        assert naive.reference.hash_of(vector) == vector["hash"], vector["name"]
    assert vectors == golden_graphs.vectors()


@given(batch=any_batches)
def test_hashes_equal_the_oracle(batch):
    assert tw.graph_hashes(batch) == [naive.graph_hash(graph) for graph in naive.from_batch(batch)]


@given(batch=any_batches)
def test_hashes_of_large_graphs_equal_the_oracle(batch):
    with pytest.MonkeyPatch.context() as patch:
        for module in (stable_hash, naive.reference):
            patch.setattr(module, "EVERY_RADIUS_UP_TO", 5)
            patch.setattr(module, "RADIUS_BEYOND", 2)
        assert tw.graph_hashes(batch) == [naive.graph_hash(graph) for graph in naive.from_batch(batch)]


@pytest.mark.parametrize("name", LARGE_GRAPHS)
def test_hashes_of_graphs_that_are_large_equal_the_oracle(name):
    assert tw.graph_hash(LARGE_GRAPHS[name]) == naive.graph_hash(naive.from_batch(LARGE_GRAPHS[name])[0])


@given(batch=any_batches)
def test_rooted_subgraphs_that_grow_for_long_are_followed_to_the_end(batch):
    at_once = tw.graph_hashes(batch), tw.graph_hashes(batch, readout="edges")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stable_hash, "_FIRST_ROUNDS", 1)
        patch.setattr(stable_hash, "RADIUS_BEYOND", 0)
        assert (tw.graph_hashes(batch), tw.graph_hashes(batch, readout="edges")) == at_once


@given(batch=any_batches)
def test_sizes_of_few_nodes_are_searched_for(batch):
    at_once = tw.graph_hashes(batch)
    for nodes_per_search in (1, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stable_hash, "_NODES_PER_SEARCH", nodes_per_search)
            assert tw.graph_hashes(batch) == at_once


def test_no_hash_is_weaker_than_three_rounds_or_than_1_wl_run_to_the_end():
    graphs = nx.graph_atlas_g()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        colours = [nx.weisfeiler_lehman_graph_hash(graph, iterations=8) for graph in graphs]
    strong = tw.graph_hashes(graphs)
    for weaker in (colours, tw.graph_hashes(graphs, 3), tw.graph_hashes(graphs, "stable")):
        assert len(set(zip(strong, weaker, strict=True))) == len(set(strong))
    assert len(set(strong)) > len(set(tw.graph_hashes(graphs, 3))) > len(set(colours))


def test_hashes_of_molecules_are_as_many_as_molecules(tu_zip):
    graphs = read_tu(tu_zip("NCI1")).graphs
    assert len(set(tw.graph_hashes(graphs))) == len(tw.deduplicate(graphs))


def test_a_long_path_takes_no_longer_than_its_length():
    n = 100_000  # 50,000 rounds of 1-WL
    path = GraphBatch.from_edges([[(node, node + 1) for node in range(n)]])
    turned = GraphBatch.from_edges([[(n - node, n - node - 1) for node in range(n)]])
    fork = GraphBatch.from_edges([[*((node, node + 1) for node in range(n - 1)), (n // 2, n)]])
    assert tw.graph_hash(path) == tw.graph_hash(turned) != tw.graph_hash(fork)


@given(batch=any_batches, n_iter=rounds, seed=st.integers(0, 2**32 - 1))
def test_relabelled_copies_have_equal_hashes(batch, n_iter, seed):
    copy = relabelled(batch, np.random.default_rng(seed))
    assert tw.graph_hashes(batch, n_iter) == tw.graph_hashes(copy, n_iter)


@settings(max_examples=30)
@pytest.mark.parametrize("readout", [*READOUTS, ["size", "wl"]], ids=str)
@given(batch=any_batches, n_iter=rounds, data=st.data())
def test_a_hash_does_not_depend_on_the_rest_of_the_batch(readout, batch, n_iter, data):
    together = tw.graph_hashes(batch, n_iter, readout)
    order = data.draw(st.permutations(range(len(batch))))
    assert tw.graph_hashes(batch[np.array(order)], n_iter, readout) == [together[graph] for graph in order]
    rng = np.random.default_rng(0)
    assert [tw.graph_hash(relabelled(graph, rng), n_iter, readout) for graph in batch] == together


@given(batch=any_batches, n_iter=rounds)
def test_blocks_leave_no_trace(batch, n_iter):
    at_once = tw.graph_hashes(batch, n_iter)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashing, "_BLOCK_ENTRIES", 1)
        assert tw.graph_hashes(batch, n_iter) == at_once


@pytest.mark.parametrize(
    "keys_of", [tw.graph_hashes, lambda batch: tw.deduplicate(batch).labels.tolist()], ids=["hash", "dedup"]
)
def test_each_label_is_hashed_once_however_many_blocks_there_are(keys_of, monkeypatch):
    labels = [[3 * graph, 3 * graph + 1, 3 * graph + 2] for graph in range(100)]
    batch = GraphBatch.from_edges([[(0, 1), (1, 2)]] * 100, labels, edge_labels=[pair[:2] for pair in labels])
    at_once = keys_of(batch)
    hashed = []
    monkeypatch.setattr(content_keys, "label_token", lambda label: hashed.append(label) or label_token(label))
    monkeypatch.setattr(hashing, "_BLOCK_ENTRIES", 1)
    monkeypatch.setattr(canonical, "_NODES_PER_BLOCK", 1)
    assert keys_of(batch) == at_once
    assert len(hashed) == 300 + 200  # nodes and edges


@given(
    batch=st.booleans().flatmap(
        lambda directed: batches(directed=directed, node_label=False, min_graphs=2, max_nodes=5)
    )
)
def test_hashes_differ_exactly_where_the_test_distinguishes(batch):
    hashes, strong = tw.graph_hashes(batch, "stable"), tw.graph_hashes(batch)
    for one, other in combinations(range(len(batch)), 2):
        distinguished = tw.compare(batch[one], batch[other]).distinguished
        assert (hashes[one] != hashes[other]) == distinguished
        assert strong[one] != strong[other] or not distinguished


@pytest.mark.parametrize(
    ("g", "h"),
    [
        (nx.cycle_graph(6), nx.complete_bipartite_graph(3, 3)),
        (nx.cycle_graph(6), two_triangles()),
        (decalin(), bicyclopentyl()),
        (nx.path_graph(50), nx.disjoint_union(nx.path_graph(47), nx.cycle_graph(3))),
    ],
    ids=["stable at once", "rings", "molecules", "late"],
)
@pytest.mark.parametrize("n_iter", [None, "stable"])
def test_stable_does_not_stop_too_early(g, h, n_iter):
    assert tw.graph_hash(g, n_iter) != tw.graph_hash(h, n_iter)


def test_rounds_run_until_the_farthest_nodes_have_met():
    """Two long cycles differ in no colour at all, and in rooted size only where the shorter one closes."""
    cycles = [nx.cycle_graph(40), nx.disjoint_union(nx.cycle_graph(20), nx.cycle_graph(20))]
    assert len(set(tw.graph_hashes(cycles, 9))) == 1
    assert len(set(tw.graph_hashes(cycles, "stable"))) == len(set(tw.graph_hashes(cycles))) == 2


def test_labels_cannot_run_together():
    one, other = (
        GraphBatch.from_edges([[(0, 1), (0, 2)]], node_labels=[["a", *ends]])
        for ends in (["b", "cb"], ["bc", "b"])
    )
    assert tw.graph_hash(one) != tw.graph_hash(other)


def test_edge_labels_take_part_unless_told_not_to():
    single, double, plain = (
        GraphBatch.from_edges([[(0, 1)]], edge_labels=labels) for labels in ([["single"]], [["double"]], None)
    )
    assert tw.graph_hash(single) != tw.graph_hash(double)
    assert (
        tw.graph_hash(single, edge_labels=False)
        == tw.graph_hash(double, edge_labels=False)
        == tw.graph_hash(plain)
    )


def test_node_features_do_not_take_part():
    plain = GraphBatch.from_edges([[(0, 1)]])
    with_features = GraphBatch.from_edges([[(0, 1)]], node_features=[np.zeros((2, 3))])
    assert tw.graph_hash(plain) == tw.graph_hash(with_features, ignore_features=True)


def test_an_empty_batch_has_no_hashes():
    assert tw.graph_hashes([]) == tw.graph_hashes([], "stable", "canonical") == tw.graph_hashes([], 3) == []


def test_readouts_and_rounds_are_part_of_the_hash():
    path = nx.path_graph(4)
    asked = [
        *((rounds, name) for name in READOUTS for rounds in (None, 3)),
        (2, "size"),
        ("stable", "edges"),
        (3, ["size", "edges"]),
        (None, ["size", "edges"]),
    ]
    assert (
        len({tw.graph_hash(path, *options) for options in asked}) == len(asked) - 1
    )  # 3 rounds are stable here


def test_a_list_of_one_readout_is_that_readout():
    assert tw.graph_hash(nx.path_graph(4), 2, ["wl"]) == tw.graph_hash(nx.path_graph(4), 2, "wl")


def test_a_function_whose_value_has_no_lasting_form_is_refused_with_its_root():
    with pytest.raises(ReadoutError, match=r"graph 1, root 1: .*frozenset"):
        tw.graph_hashes([nx.path_graph(2), nx.path_graph(3)], 1, _a_set_for_three)


def test_a_failing_function_names_the_graph_by_its_place_in_the_whole_batch(monkeypatch):
    monkeypatch.setattr(hashing, "_BLOCK_ENTRIES", 1)
    monkeypatch.setattr(stable_hash, "_FIRST_ROUNDS", 4)
    graphs = [nx.path_graph(n) for n in (5, 4, 7, 3, 2)]  # "stable" takes the shorter ones first

    def fails_on_seven(rooted):
        return 1 // (7 - len(rooted))

    for n_iter in (None, "stable"):
        with pytest.raises(ReadoutError, match="ZeroDivisionError") as caught:
            tw.graph_hashes(graphs, n_iter, fails_on_seven)
        assert caught.value.graph == 2


def _a_set_for_three(rooted):
    return frozenset() if len(rooted) == 3 else 1


@pytest.mark.parametrize("n_iter", [-1, 2.0, True, "stabel"])
def test_a_number_of_rounds_that_is_none_is_refused(n_iter):
    with pytest.raises(TwinWLError, match="n_iter: got"):
        tw.graph_hash(nx.path_graph(2), n_iter)


def test_an_unknown_readout_is_refused():
    with pytest.raises(TwinWLError, match="did you mean 'degrees'"):
        tw.graph_hash(nx.path_graph(2), readout="degree")
