"""`ceiling`, held against dictionaries of multisets from the oracle."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twinwl as tw
from tests import naive
from tests.strategies import batches
from twinwl.errors import TwinWLError, TwinWLWarning

PATH, TRIANGLE = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]


def literal_groups(batch, n_iter, f):
    """Group graphs by their multisets of (colour, readout) in each round; without f, of colours alone."""
    graphs = naive.from_batch(batch)
    colours = naive.colours(graphs, n_iter)
    groups = defaultdict(list)
    for place, graph in enumerate(graphs):
        seen = tuple(
            frozenset(
                Counter(
                    (colours[h][place][v], f(naive.rooted_subgraph(graph, v, h)) if f else 0)
                    for v in range(graph.n)
                ).items()
            )
            for h in range(n_iter + 1)
        )
        groups[graph.n, seen].append(place)
    return list(groups.values())


def literal_accuracy(groups, y):
    return sum(max(Counter(y[graph] for graph in group).values()) for group in groups) / len(y)


def literal_rmse(groups, y):
    squares = 0.0
    for group in groups:
        mean = sum(y[graph] for graph in group) / len(group)
        squares += sum((y[graph] - mean) ** 2 for graph in group)
    return math.sqrt(squares / len(y))


def size(rooted):
    return rooted.graph.n


def edges(rooted):
    return rooted.graph.n, sum(map(len, rooted.graph.neighbours.values()))


@given(batch=batches(), seed=st.integers(0, 5), n_iter=st.integers(0, 3))
def test_ceilings_are_those_of_the_literal_groups(batch, seed, n_iter):
    if len(batch) < 2:
        return
    rng = np.random.default_rng(seed)
    y = np.array([0, 1, *rng.integers(0, 2, len(batch) - 2)])
    batch = batch.without_edge_labels().without_features()
    found = tw.research.ceiling(batch, y, ["size", "edges"], n_iter)
    numbers = tw.research.ceiling(batch, y, ["size", "edges"], n_iter, task="regression")
    for name, f in (("1-WL", None), ("size", size), ("edges", edges)):
        groups = literal_groups(batch, n_iter, f)
        assert found.row(name).best == pytest.approx(literal_accuracy(groups, y))
        assert numbers.row(name).best == pytest.approx(literal_rmse(groups, y), abs=1e-12)
        assert found.row(name).n_distinct == len(groups)
        assert found.row(name).n_alone == sum(len(group) == 1 for group in groups)
        mixed = [group for group in groups if len({int(y[graph]) for graph in group}) > 1]
        assert found.row(name).n_mixed == sum(map(len, mixed))


def test_twins_need_more_than_1wl():
    data = tw.load_dataset("TWINS", n_pairs=10)
    found = tw.research.ceiling(data.graphs, data.y, n_iter=3)
    assert [row.seen_by for row in found.rows] == ["1-WL", "size", "isomorphism"]
    assert [row.best for row in found.rows] == [0.5, 1.0, 1.0]
    assert found.baseline == 0.5
    assert "can gain 50 points at most" in found.verdict


def test_copies_with_different_classes_limit_every_method():
    found = tw.research.ceiling(
        [PATH, PATH, PATH, TRIANGLE], ["a", "b", "a", "b"], ["rooted-wl", "canonical"]
    )
    assert {row.best for row in found.rows} == {0.75}
    assert {row.n_mixed for row in found.rows} == {3}
    assert "cannot help here" in found.verdict


@pytest.mark.filterwarnings("error")
def test_molecules_read_for_models_have_a_ceiling_without_a_warning():
    pytest.importorskip("rdkit", reason="needs RDKit")
    found = tw.research.ceiling(tw.from_smiles(["CCO", "OCC", "CCC", "CCN"]), [0, 1, 1, 0])
    assert found.rows[-1].best == 0.75


def test_numbers_have_a_lowest_rmse():
    found = tw.research.ceiling([PATH, PATH, TRIANGLE], [1.0, 2.0, 7.5])
    assert (found.task, found.metric) == ("regression", "rmse")
    assert found.row("1-WL").best == pytest.approx(math.sqrt(0.5 / 3))
    assert "1-WL could reach an RMSE of" in found.verdict


def test_edge_labels_count_only_where_asked_for():
    graphs = tw.GraphBatch.from_edges([PATH, PATH], edge_labels=[[1, 1], [1, 2]])
    assert tw.research.ceiling(graphs, [0, 1], edge_labels=False).row("isomorphism").best == 0.5
    with pytest.warns(TwinWLWarning, match="models ignore edge labels unless edge_labels=True"):
        assert tw.research.ceiling(graphs, [0, 1]).row("isomorphism").best == 0.5
    assert tw.research.ceiling(graphs, [0, 1], edge_labels=True).row("1-WL").best == 1.0


def test_result_as_records_json_and_html():
    found = tw.research.ceiling([PATH, TRIANGLE], [0, 1])
    assert json.loads(found.to_json())["rows"] == found.to_records()
    assert repr(found).startswith("Ceiling(accuracy of 2 graphs; 1-WL: 100.00 %")
    assert "<table>" in found._repr_html_()
    with pytest.raises(TwinWLError, match="expected '1-WL', 'size' or 'isomorphism'"):
        found.row("edges")


def test_frame_has_one_row_per_readout():
    pytest.importorskip("pandas")
    assert tw.research.ceiling([PATH, TRIANGLE], [0, 1]).to_frame()["seen_by"].tolist() == [
        "1-WL",
        "size",
        "isomorphism",
    ]


@pytest.mark.parametrize(
    ("graphs", "y", "options", "message"),
    [
        ([PATH, TRIANGLE], [0], {}, "1 entries for 2 graphs"),
        ([PATH, TRIANGLE], [0, 0], {}, "nothing to learn"),
        ([PATH, TRIANGLE], [0, None], {}, "y has values of the types"),
        ([PATH, TRIANGLE], [0, float("nan")], {}, "not a number"),
        ([], [], {}, "no graphs"),
        ([PATH, TRIANGLE], [-1e308, 1e308], {"task": "regression"}, "finite"),
        ([PATH, TRIANGLE], [0, 1], {"readout": "sise"}, "did you mean 'size'"),
        ([PATH, TRIANGLE], ["a", "b"], {"task": "regression"}, "not a number; choose"),
    ],
    ids=["length", "one class", "missing", "nan", "empty", "huge", "typo", "task"],
)
def test_unsuitable_data_is_refused(graphs, y, options, message):
    with pytest.raises(TwinWLError, match=message):
        tw.research.ceiling(graphs, y, **options)
