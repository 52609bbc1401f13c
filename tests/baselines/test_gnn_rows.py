"""What holds for every neural row as an estimator."""

import numpy as np
import pytest
from sklearn.base import clone

from tests.baselines.rows import ALL, row
from tests.networks import CERTAIN, LEAST_LOSS_OF_1WL, lowest_loss
from twinwl import GraphBatch, TwinWLError
from twinwl.datasets.generators import twins

TINY = {"layers": 2, "hidden": 8, "max_epochs": 2, "batch_size": 8}


@pytest.fixture(scope="module")
def labelled():
    """Return short chains of two elements; classes by the element that is more common."""
    rng = np.random.default_rng(0)
    labels = [
        rng.choice(["C", "N"], size=size, p=p)
        for size, p in zip([4, 5] * 8, [(0.9, 0.1), (0.1, 0.9)] * 8, strict=True)
    ]
    chains = [[(i, i + 1) for i in range(len(of_chain) - 1)] for of_chain in labels]
    return GraphBatch.from_edges(chains, node_labels=[part.tolist() for part in labels]), ["c", "n"] * 8


@pytest.mark.parametrize("name", ALL)
def test_the_same_seed_gives_the_same_bytes(name, labelled):
    graphs, y = labelled
    first, second = (row(name, **TINY).fit(graphs, y) for _ in range(2))
    assert first.predict_proba(graphs).tobytes() == second.predict_proba(graphs).tobytes()
    np.testing.assert_allclose(first.predict_proba(graphs).sum(axis=1), 1)
    assert set(first.predict(graphs)) <= {"c", "n"}
    assert len(first.history_.validation_accuracy) == 2


@pytest.mark.parametrize("name", ALL)
def test_parameters_survive_a_clone_and_show_in_the_signature(name):
    estimator = row(name, learning_rate=0.5, patience=3)
    copy = clone(estimator)
    assert copy.get_params() == estimator.get_params()
    assert {"layers", "hidden", "dropout", "random_state", "class_weight"} <= copy.get_params().keys()
    assert "max_epochs" not in repr(copy)  # a default


@pytest.mark.parametrize("name", ALL)
def test_graphs_without_nodes_or_edges_and_unseen_labels_pass(name, labelled):
    graphs, y = labelled
    odd = GraphBatch.from_edges(
        [[], [], [(0, 1)]], num_nodes=[0, 1, 2], node_labels=[[], ["C"], ["Xe", "Xe"]]
    )
    model = row(name, **TINY).fit([*graphs, *odd], [*y, "c", "n", "c"])
    unseen = GraphBatch.from_edges([[], [(0, 1)]], num_nodes=[0, 2], node_labels=[[], ["He", "Ne"]])
    assert np.isfinite(model.predict_proba(unseen)).all()


@pytest.mark.parametrize("name", ["3-hop-gnn", "nested-gin", "id-gnn-fast"])
def test_stronger_rows_learn_what_1wl_cannot(name):
    graphs, y, _ = twins(60)
    model = row(name, hidden=16, batch_size=16, max_epochs=12, **CERTAIN)
    assert lowest_loss(model, graphs[:80], y[:80], graphs[80:], y[80:]) < LEAST_LOSS_OF_1WL / 2


@pytest.mark.parametrize("name", ALL)
def test_every_row_learns(name, labelled):
    graphs, y = labelled
    model = row(name, hidden=16, batch_size=8, max_epochs=30, **CERTAIN)
    assert lowest_loss(model, graphs, y, graphs, y) < np.log(2) / 2


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("gin", {"layers": 0}, "layers: got 0"),
        ("gcn", {"hidden": 2.5}, "hidden: got 2.5"),
        ("gcn", {"dropout": 1.0}, "dropout: got 1.0"),
        ("diffpool", {"cluster_ratio": 0}, "cluster_ratio: got 0"),
        ("sortpool", {"share_larger": 1}, "share_larger: got 1"),
        ("sagpool", {"ratio": 0}, "ratio: got 0"),
        ("sagpool", {"readout": "men"}, "did you mean 'mean'"),
        ("3-hop-gnn", {"hops": 0}, "hops: got 0"),
        ("nested-gin", {"height": "3"}, "height: got '3'"),
        ("gcn-rni", {"ratio": 2}, "ratio: got 2"),
        ("gcn-rni", {"draws": 0}, "draws: got 0"),
        ("id-gnn", {"form": "fats"}, "did you mean 'fast'"),
        ("id-gnn", {"longest_walk": 1}, "longest_walk: got 1"),
    ],
)
def test_wrong_parameters_are_named(name, wrong, message, labelled):
    with pytest.raises(TwinWLError, match=message):
        row(name, **wrong).fit(*labelled)


@pytest.mark.parametrize("name", ["123-gnn", "ppgn", "diffpool", "nested-gin", "3-hop-gnn", "id-gnn"])
def test_graphs_too_large_are_refused_with_their_size(name, labelled):
    graphs, y = labelled
    n = 3000
    star = GraphBatch.from_edges([[(0, leaf) for leaf in range(1, n)]], node_labels=[["C"] * n])
    with pytest.raises(TwinWLError, match=r"3,000 nodes|[89],\d\d\d,\d\d\d \(root, node\) pairs") as error:
        row(name, max_memory=1 << 28).fit([*graphs, *star], [*y, "c"])
    assert "more than the 256.0 MiB allowed" in str(error.value)


def test_the_refusal_names_the_graph():
    small, large = [(0, 1)], [(node, node + 1) for node in range(99)]
    graphs = GraphBatch.from_edges([small, small, large, small])
    for name in ("ppgn", "123-gnn"):
        with pytest.raises(TwinWLError, match="graph 2"):
            row(name, max_memory=1 << 10, validation_fraction=None).fit(graphs, [0, 1, 0, 1])
