from __future__ import annotations

import pickle
import warnings
import zipfile

import numpy as np
import pytest

from twinwl import GraphBatch, load_dataset
from twinwl.datasets.catalogue import CARDS
from twinwl.datasets.dataset import Card, CardError, check_card, measure

AT_HAND = ["MUTAG", "PTC_MR", "Mutagenicity", "NCI1", "NCI109", "EXP", "DD", "IMDB-BINARY"]


@pytest.mark.parametrize("name", AT_HAND)
def test_real_set_matches_its_card_in_full(tu_zip, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = load_dataset(name, tu_zip(name).parent)
    assert data.card == CARDS[name]


def test_measured_figures():
    edges = [[(0, 1), (1, 2)], [(0, 1)]]
    labels = [["C", "C", "O"], ["C", "C", "N"]]
    graphs = GraphBatch.from_edges(edges, node_labels=labels, edge_labels=[[1, 2], [1]])
    assert measure("x", graphs, np.array(["b", "a"]), "two graphs") == Card(
        "x", "two graphs", 2, 6, 3, 2, (("a", 1), ("b", 1)), 3, 2, 1
    )


def test_labels_that_do_not_occur_are_not_counted():
    graphs = GraphBatch.from_edges([[(0, 1)], [(0, 1)]], node_labels=[["C", "C"], ["N", "O"]])
    assert measure("x", graphs[:1], np.array([0])).n_node_labels == 1
    assert measure("x", GraphBatch.from_edges([[(0, 1)]]), np.array([0])).n_node_labels == 0


def test_mismatch_shows_both_sides_of_every_figure():
    card = Card("X", n_graphs=1000, classes=((0, 400), (1, 600)), n_edges=7)
    found = Card("X", n_graphs=999, classes=((0, 399), (1, 600)), n_edges=7)
    with pytest.raises(CardError) as caught:
        check_card(card, found, "X.zip")
    message = str(caught.value)
    assert message.startswith("X.zip is not the known data set X")
    assert "graphs: 1,000 on the card, 999 in the file" in message
    assert "graphs by class: 0: 400, 1: 600 on the card, 0: 399, 1: 600 in the file" in message
    assert "edges" not in message


def test_content_with_the_right_figures_is_still_compared_with_its_digest(tu_zip, tmp_path):
    with zipfile.ZipFile(tu_zip("MUTAG")) as genuine, zipfile.ZipFile(tmp_path / "MUTAG.zip", "w") as changed:
        for name in genuine.namelist():
            content = genuine.read(name)
            if name.endswith("graph_labels.txt"):
                content = b"\n".join(content.split()[::-1])
            changed.writestr(name, content)
    with pytest.raises(CardError) as caught:
        load_dataset("MUTAG", tmp_path)
    assert f", expected {CARDS['MUTAG'].digest}. Get it again, or give its path" in str(caught.value)
    assert load_dataset(tmp_path / "MUTAG.zip").digest in str(caught.value)


def test_unknown_figures_are_filled_in():
    assert check_card(Card("X", "about", n_classes=2), Card("X", n_classes=2, n_nodes=5), "X.zip") == Card(
        "X", "about", n_classes=2, n_nodes=5
    )


def test_card_is_plain_enough_for_json_and_for_other_processes():
    card = CARDS["MUTAG"]
    assert card.as_dict()["classes"] == {"-1": 63, "1": 125}
    assert pickle.loads(pickle.dumps(card)) == card  # noqa: S301  (our own bytes)
