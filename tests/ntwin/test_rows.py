"""Rows of graphs with continuous features, sampled roots, and quotients of single mini-batches."""

from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ntwin.rooted_data import encoder_for, row_examples
from tests.strategies import batches
from twinwl import GraphBatch
from twinwl.neural import quotient
from twinwl.neural.quotient import draw_roots


@settings(max_examples=15)
@given(batch=batches(min_graphs=3, max_graphs=6), data=st.data())
def test_a_quotient_of_a_mini_batch_gives_the_rows_of_the_whole(batch, data):
    rows = np.array(data.draw(st.lists(st.integers(0, len(batch) - 1), min_size=1, max_size=4)))
    encoder, examples = encoder_for(batch, 3, "growing"), row_examples(batch, 3, "growing")
    everything = encoder(examples.take(np.arange(len(batch)))).detach()
    examples.quotient = None  # as if it did not fit into memory
    torch.testing.assert_close(encoder(examples.take(rows)).detach(), everything[rows])


@pytest.mark.parametrize("roots", [1, 2, 3, 0.3, 0.5])
def test_the_mean_over_all_samples_of_roots_is_the_exact_sum(roots, monkeypatch):
    graph = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3), (1, 3), (3, 4)]])
    encoder = encoder_for(graph, 2, "growing")
    examples = row_examples(graph, 2, "growing", roots=roots)
    exact = encoder(row_examples(graph, 2, "growing").take(np.array([0]))).detach()
    drawn = len(draw_roots(np.array([0, 5]), roots)[0])
    outputs = []
    for chosen in combinations(range(5), drawn):
        sample = np.array(chosen), np.array([5 / drawn])
        monkeypatch.setattr(quotient, "draw_roots", lambda *_, sample=sample: sample)
        outputs.append(encoder(examples.take(np.array([0]))).detach())
    torch.testing.assert_close(torch.cat(outputs).mean(dim=0, keepdim=True), exact)


def test_every_sample_of_roots_has_the_same_chance():
    torch.manual_seed(0)
    seen = {}
    for _ in range(3000):
        root, scale = draw_roots(np.array([0, 4, 4, 9]), 2)
        assert len(root) == 4
        assert scale.tolist() == [2.0, 1.0, 2.5]
        seen[tuple(root[:2].tolist())] = seen.get(tuple(root[:2].tolist()), 0) + 1
    assert len(seen) == 6
    assert all(380 < times < 620 for times in seen.values())


def test_more_roots_than_nodes_are_all_of_them():
    root, scale = draw_roots(np.array([0, 2, 5]), 100)
    assert root.tolist() == [0, 1, 2, 3, 4]
    assert scale.tolist() == [1.0, 1.0]
