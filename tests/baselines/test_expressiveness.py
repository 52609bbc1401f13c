"""What each row can and cannot tell apart, with random weights."""

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.baselines.rows import BOUNDED, STRONGER, random_network, row
from tests.isomorphism.relabelling import relabelled
from tests.networks import DIFFERENT, SAME, apart
from tests.strategies import batches
from twinwl import GraphBatch, TwinKernel
from twinwl.datasets.generators import _BICYCLOPENTYL, _DECALIN, twins, worked_example

PAIRS = {
    "worked example": worked_example,
    "decalin and bicyclopentyl": lambda: GraphBatch.from_edges([_DECALIN, _BICYCLOPENTYL]),
    "twins": lambda: twins(1)[0],
}


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("name", BOUNDED)
def test_rows_bounded_by_1wl_give_both_graphs_the_same_output(name, pair):
    assert apart(row(name), PAIRS[pair]()) < SAME


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("name", STRONGER)
def test_stronger_rows_tell_the_graphs_apart(name, pair):
    assert apart(row(name), PAIRS[pair]()) > DIFFERENT


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("base", ["linear", "intersection"])
def test_wl_kernels_take_the_graphs_for_the_same(base, pair):
    kernel = TwinKernel(5, features="count", base=base).fit_transform(PAIRS[pair]())
    np.testing.assert_allclose(kernel, 1)


@pytest.mark.parametrize("name", [*BOUNDED, *STRONGER])
@given(batch=batches(edge_label=False, max_nodes=7), order=st.randoms(use_true_random=False))
@settings(max_examples=8)
def test_the_order_of_nodes_does_not_matter(name, batch, order):
    assume(batch.n_nodes)
    rng = np.random.default_rng(order.getrandbits(32))
    logits = random_network(name, batch)
    torch.testing.assert_close(logits(batch), logits(relabelled(batch, rng)), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", [*BOUNDED, *STRONGER])
def test_the_company_of_a_graph_does_not_matter(name):
    batch, _, _ = twins(3)
    logits = random_network(name, batch)
    torch.testing.assert_close(logits(batch)[4:5], logits(batch[4]), rtol=1e-9, atol=1e-9)


def test_one_hop_with_edges_inside_the_ring_sees_triangles():
    hexagon, triangles = nested_cycles()
    one_hop = row("3-hop-gnn", hops=1)
    assert apart(one_hop, GraphBatch.from_edges([hexagon, triangles])) > DIFFERENT
    # Pentagon and heptagon against two hexagons: no ring of one hop has an edge.
    large = GraphBatch.from_edges([cycle(5) + cycle(7, 5), cycle(6) + cycle(6, 6)])
    assert apart(one_hop, large) < SAME


def test_nested_gin_sees_as_far_as_its_height():
    batch = GraphBatch.from_edges([cycle(7) + cycle(9, 7), cycle(8) + cycle(8, 8)])
    assert apart(row("nested-gin", height=2), batch) < SAME
    assert apart(row("nested-gin", height=4), batch) > DIFFERENT


def test_the_full_form_of_id_gnn_sees_cycles_as_long_as_it_has_layers():
    batch = GraphBatch.from_edges([cycle(4) + cycle(6, 4), cycle(5) + cycle(5, 5)])
    assert apart(row("id-gnn", layers=3), batch) < SAME
    assert apart(row("id-gnn", layers=4), batch) > DIFFERENT


def test_ppgn_takes_for_the_same_what_3wl_does():
    rook = [(a, b) for a in range(16) for b in range(a) if a % 4 == b % 4 or a // 4 == b // 4]
    steps = {(0, 1), (0, 3), (1, 0), (3, 0), (1, 1), (3, 3)}
    shrikhande = [
        (a, b) for a in range(16) for b in range(a) if ((a // 4 - b // 4) % 4, (a % 4 - b % 4) % 4) in steps
    ]
    assert apart(row("ppgn"), GraphBatch.from_edges([rook, shrikhande])) < 1e-9


def cycle(length, first=0):
    return [(first + i, first + (i + 1) % length) for i in range(length)]


def nested_cycles():
    return cycle(6), cycle(3) + cycle(3, 3)
