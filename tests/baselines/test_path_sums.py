import networkx as nx
import numpy as np
import pytest

from twinwl import from_networkx

torch = pytest.importorskip("torch", reason="needs PyTorch")
from twinwl.baselines.higher_order import indexed_path_sums, pair_examples, path_sums, paths_of  # noqa: E402

# Sizes around the four nodes that the loop takes at once, and graphs that occur twice.
GRAPHS = [nx.empty_graph(0), nx.empty_graph(1), *(nx.gnp_random_graph(n, 0.4, seed=n) for n in (3, 4, 5, 9))]


def some_paths(number):
    batch = from_networkx(GRAPHS)
    examples = pair_examples(batch, np.ones((batch.n_nodes, 1), np.float32), rounds=2)
    levels = examples.part(np.array([4, 0, 2, 5, 4, 1, 3])).levels
    return paths_of(levels, number), len(levels.level(number - 1).counts)


def entries(n_rows, width=3):
    rng = torch.Generator().manual_seed(0)
    return [
        torch.randn(n_rows, width, generator=rng, dtype=torch.float64, requires_grad=True) for _ in range(2)
    ]


@pytest.mark.parametrize("number", [1, 2])
def test_sums_are_entries_of_the_product_of_matrices(number):
    paths, n_rows = some_paths(number)
    left, right = entries(n_rows)
    wanted = []
    for first, last, n in zip(paths.left, paths.right, paths.n_nodes, strict=True):
        through = range(n)
        a = left[[int(paths.row_of_pair[first + node]) for node in through]]
        b = right[[int(paths.row_of_pair[last + n * node]) for node in through]]
        wanted.append((a * b).sum(dim=0))
    found = path_sums(left, right, paths)
    torch.testing.assert_close(found, torch.stack(wanted))
    torch.testing.assert_close(indexed_path_sums(left, right, paths), found)


@pytest.mark.parametrize("number", [1, 2])
def test_gradients_are_those_of_torch(number):
    paths, n_rows = some_paths(number)
    inputs = entries(n_rows)
    wanted, found = (
        torch.autograd.grad(sums(*inputs, paths).sin().sum(), inputs)
        for sums in (indexed_path_sums, path_sums)
    )
    torch.testing.assert_close(found, wanted)


def test_no_graph_has_no_sums():
    batch = from_networkx([nx.empty_graph(0)])
    levels = pair_examples(batch, np.ones((0, 1), np.float32), rounds=1).part(np.array([0])).levels
    for sums in (path_sums, indexed_path_sums):
        assert sums(*entries(0), paths_of(levels, 1)).shape == (0, 3)
