"""What a notebook shows: everything drawn, nothing trusted."""

import networkx as nx
import numpy as np
import pytest

import twinwl as tw
from tests.reproduction.stored_results import fold_row
from twinwl import GraphBatch, STwinSVC
from twinwl.evaluation.result import Evaluation

HOSTILE = "<script>alert(1)</script>"


def test_a_batch_is_a_line_of_statistics_and_a_grid_of_drawings():
    batch = GraphBatch.from_networkx([nx.path_graph(n) for n in range(2, 14)])
    shown = batch._repr_html_()
    assert "GraphBatch(12 graphs" in shown
    assert "2 to 13 nodes (median 8)" in shown
    assert shown.count("<svg") == 8
    assert shown.count("<circle") == sum(range(2, 10))
    assert "and 4 more graphs" in shown


def test_empty_batches_and_graphs_too_large_to_draw_are_shown_in_words():
    assert "0 graphs" in GraphBatch.from_edges([])._repr_html_()
    large = GraphBatch.from_networkx([nx.path_graph(500), nx.empty_graph(0)])
    assert large._repr_html_().count("not drawn") == 2


def test_labels_from_outside_cannot_become_markup():
    batch = GraphBatch.from_edges([[(0, 1)], [(0, 1)]] * 4, node_labels=[["<b>", HOSTILE], ["a", "b"]] * 4)
    model = STwinSVC(1, 1).fit(batch, [HOSTILE, "other"] * 4)
    for shown in (batch._repr_html_(), model.explain(batch[0])._repr_html_()):
        assert "<script" not in shown
        assert "<b><" not in shown


def test_a_comparison_shows_verdict_and_evidence():
    outcome = tw.compare(nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3)))
    shown = outcome._repr_html_()
    assert "<b>Different: told apart in round 2" in shown
    assert "in the first graph" in shown


def test_an_explanation_is_the_same_picture_every_time():
    batch = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1)]] * 4)
    found = STwinSVC(1, 1).fit(batch, [0, 1] * 4).explain(batch[0])
    shown = found._repr_html_()
    assert shown == found._repr_html_()
    assert shown.startswith("<div><svg")
    assert "columns:" in shown


@pytest.fixture(scope="module")
def evaluation():
    return tw.evaluate(STwinSVC(1, 1), tw.load_dataset("TWINS", n_pairs=12), n_folds=3)


def test_an_evaluation_is_a_table(evaluation):
    shown = evaluation._repr_html_()
    assert f"{100 * evaluation.mean:.2f} ± {100 * evaluation.std:.2f}" in shown
    assert "<td>3</td>" in shown


def test_an_evaluation_becomes_a_frame(evaluation):
    pytest.importorskip("pandas")
    frame = evaluation.to_frame()
    [fair] = frame[(frame.protocol == "fair") & (frame.metric == "accuracy")].to_dict("records")
    assert (fair["dataset"], fair["n_folds"], fair["optimistic"]) == ("TWINS", 3, False)
    np.testing.assert_allclose(fair["mean"], evaluation.mean)
    assert "fair" in frame.to_csv()
    assert r"\toprule" in frame.to_latex()


def test_optimistic_readings_are_marked():
    rows = [fold_row("D", "stwin", fold, {}, 0.8) for fold in range(3)]
    records = Evaluation("D", "stwin", "fair", "accuracy", rows).to_records()
    assert [record["optimistic"] for record in records] == [False, True, True]


def test_scikit_learn_shows_estimators():
    assert "STwinSVC" in STwinSVC()._repr_html_()
