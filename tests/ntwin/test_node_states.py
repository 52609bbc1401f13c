from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ntwin.rooted_data import assert_same_function, encoder_for, graph_data, quotient_input
from tests.strategies import batches
from twinwl import GraphBatch, NTwinEncoder
from twinwl.datasets.tu import read_tu
from twinwl.neural import node_states
from twinwl.neural.encoder import TwinSlices
from twinwl.neural.node_states import NodeSlicer, sampled_roots
from twinwl.neural.quotient import hops_of_layers

HOPS = ["growing", 0, 1, 2, 3]
MARKS = ["none", "root", "distance"]


def node_slicer(batch, layers, hops, mark="none", *, edge_labels=False, features=None, roots=None):
    edges = batch.edge_vocabulary if edge_labels else None
    radii = hops_of_layers(hops, layers)
    return NodeSlicer(batch, radii, mark, batch.node_vocabulary, edges, features, roots)


def compare(encoder, slicer, literal, relative=1e-10):
    assert_same_function(encoder, slicer.take(np.arange(len(slicer))), literal, relative=relative)


@settings(max_examples=40)
@given(batch=batches(), hops=st.sampled_from(HOPS), mark=st.sampled_from(MARKS), layers=st.integers(1, 4))
def test_shared_states_are_the_literal_network(batch, hops, mark, layers):
    encoder = encoder_for(batch, layers, hops, mark)
    compare(encoder, node_slicer(batch, layers, hops, mark), graph_data(batch))


@settings(max_examples=25)
@given(
    batch=batches(),
    hops=st.sampled_from(HOPS),
    mark=st.sampled_from(MARKS),
    layers=st.integers(1, 3),
    edges=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_continuous_features_are_the_same_function_too(batch, hops, mark, layers, edges, seed):
    # Few different values, so that nodes with equal features occur.
    features = np.random.default_rng(seed).integers(-1, 2, (batch.n_nodes, 2)).astype(np.float32)
    encoder = _with_features(batch, layers, hops, mark, edge_labels=edges)
    slicer = node_slicer(batch, layers, hops, mark, edge_labels=edges, features=features)
    literal = graph_data(batch, edge_labels=batch.edge_vocabulary if edges else None)
    x = torch.cat([literal.x, torch.from_numpy(features).double()], dim=1)
    compare(encoder, slicer, literal._replace(x=x))


@settings(max_examples=25)
@given(
    batch=batches(directed=True),
    hops=st.sampled_from(HOPS),
    mark=st.sampled_from(MARKS),
    layers=st.integers(1, 3),
    edges=st.booleans(),
)
def test_directed_graphs_are_the_same_function_too(batch, hops, mark, layers, edges):
    encoder = encoder_for(batch, layers, hops, mark, edge_labels=edges)
    slicer = node_slicer(batch, layers, hops, mark, edge_labels=edges)
    compare(encoder, slicer, graph_data(batch, edge_labels=batch.edge_vocabulary if edges else None))


@settings(max_examples=15)
@given(batch=batches(), layers=st.integers(1, 3), edges=st.booleans())
def test_the_whole_graphs_are_the_same_function_too(batch, layers, edges):
    encoder = encoder_for(batch, layers, "growing", edge_labels=edges, subtree="gin")
    known = batch.edge_vocabulary if edges else None
    whole = NodeSlicer(batch, (None,) * layers, "none", batch.node_vocabulary, known)
    rooted = node_slicer(batch, layers, "growing", edge_labels=edges)
    everything = np.arange(len(batch))
    literal = graph_data(batch, edge_labels=known)
    fast = TwinSlices(rooted.take(everything), whole.take(everything))
    assert_same_function(encoder, fast, literal, relative=1e-10)


@pytest.mark.parametrize(("hops", "mark"), [("growing", "none"), (3, "root"), (2, "distance")])
def test_exact_on_real_molecules_and_proteins(tu_zip, hops, mark):
    for name, rows in (("MUTAG", slice(40)), ("DD", slice(2))):
        batch = read_tu(tu_zip(name)).graphs[rows]
        encoder = encoder_for(batch, 3, hops, mark, hidden=8)
        assert_same_function(
            encoder,
            node_slicer(batch, 3, hops, mark).take(np.arange(len(batch))),
            quotient_input(batch, 3, hops, mark),
            relative=1e-10,
        )


def test_states_inside_are_those_of_the_whole_graph():
    # On a path of 9 nodes with 3 hops, the states of depth 1 that are not those of the whole graph are of
    # nodes at distance 3 with one neighbour missing: two for each inner node that is reached from afar.
    path = GraphBatch.from_edges([[(node, node + 1) for node in range(8)]])
    layer = node_slicer(path, 1, 3).take(np.array([0])).layers[0]
    assert layer.n_pairs().tolist() == [sum(min(8, v + 3) - max(0, v - 3) + 1 for v in range(9))]
    assert layer.n_rows == 9 + 2 * 5


@settings(max_examples=15)
@given(batch=batches(min_graphs=3, max_graphs=6), data=st.data())
def test_a_mini_batch_gives_the_rows_of_the_whole(batch, data):
    rows = data.draw(st.lists(st.integers(0, len(batch) - 1), min_size=1, max_size=4))
    encoder, slicer = encoder_for(batch, 3, "growing"), node_slicer(batch, 3, "growing")
    everything = encoder(slicer.take(np.arange(len(batch)))).detach()
    torch.testing.assert_close(encoder(slicer.take(np.array(rows))).detach(), everything[rows])


@pytest.mark.parametrize("roots", [1, 2, 3, 0.3, 0.5])
def test_the_mean_over_all_samples_of_roots_is_the_exact_sum(roots, monkeypatch):
    graph = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3), (1, 3), (3, 4)]])
    encoder = encoder_for(graph, 2, "growing")
    slicer = node_slicer(graph, 2, "growing", roots=roots)
    exact = encoder(node_slicer(graph, 2, "growing").take(np.array([0]))).detach()
    drawn = len(sampled_roots(np.array([0, 5]), roots)[0])
    outputs = []
    for chosen in combinations(range(5), drawn):
        sample = np.array(chosen), np.array([0, drawn]), np.array([5 / drawn])
        monkeypatch.setattr(node_states, "sampled_roots", lambda *_, sample=sample: sample)
        outputs.append(encoder(slicer.take(np.array([0]))).detach())
    torch.testing.assert_close(torch.cat(outputs).mean(dim=0, keepdim=True), exact)


def test_every_sample_of_roots_has_the_same_chance():
    torch.manual_seed(0)
    graph_ptr = np.array([0, 4, 4, 9])
    seen = {}
    for _ in range(3000):
        root, root_ptr, scale = sampled_roots(graph_ptr, 2)
        assert root_ptr.tolist() == [0, 2, 2, 4]
        assert scale.tolist() == [2.0, 1.0, 2.5]
        seen[tuple(root[:2].tolist())] = seen.get(tuple(root[:2].tolist()), 0) + 1
    assert len(seen) == 6
    assert all(380 < times < 620 for times in seen.values())


def test_more_roots_than_nodes_are_all_of_them():
    root, root_ptr, scale = sampled_roots(np.array([0, 2, 5]), 100)
    assert root.tolist() == [0, 1, 2, 3, 4]
    assert (root_ptr.tolist(), scale.tolist()) == ([0, 2, 5], [1.0, 1.0])


def _with_features(batch, layers, hops, mark, *, edge_labels):
    torch.manual_seed(0)
    return NTwinEncoder(
        len(batch.node_vocabulary) + 2,
        layers,
        hops,
        6,
        mark,
        n_edge_labels=max(1, len(batch.edge_vocabulary)) if edge_labels else 0,
        directed=batch.directed,
    ).double()
