import numpy as np
import pytest

from twinwl import GraphBatch

pytest.importorskip("torch", reason="needs PyTorch")
from twinwl.baselines.ppgn import PairExamples


def test_pairs_of_graphs_of_one_size_stand_together_without_padding():
    batch = GraphBatch.from_edges(
        [[(0, 1), (1, 2)], [(0, 1)], [], [(0, 2)]], num_nodes=[3, 2, 0, 3], directed=False
    )
    part = PairExamples(batch, np.arange(1, 9, dtype=np.float32)[:, None]).part(np.arange(4))
    assert part.place.tolist() == [2, 1, 0, 3]
    nothing, two, three = part.pairs
    assert nothing.shape == (2, 1, 0, 0)
    assert two.tolist() == [[[[0, 1], [1, 0]]], [[[4, 0], [0, 5]]]]
    assert three[0].tolist() == [[[0, 1, 0], [1, 0, 1], [0, 1, 0]], [[0, 0, 1], [0, 0, 0], [1, 0, 0]]]
    assert three[1].tolist() == [[[1, 0, 0], [0, 2, 0], [0, 0, 3]], [[6, 0, 0], [0, 7, 0], [0, 0, 8]]]
