"""Overlap between data sets against networkx's isomorphism test and all pairs of the kernel."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from twinwl import Dataset, GraphBatch, TwinKernel, load_dataset
from twinwl.errors import TwinWLError
from twinwl.evaluation.audit import AuditedSet, audit, audit_sets

PATH, TRIANGLE, STAR = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)], [(0, 1), (0, 2), (0, 3)]


def random_set(seed, n, name):
    random = np.random.default_rng(seed)
    graphs = [
        nx.gnp_random_graph(int(random.integers(1, 8)), 0.4, seed=int(random.integers(99))) for _ in range(n)
    ]
    return graphs, Dataset.from_graphs(GraphBatch.from_networkx(graphs), random.integers(0, 2, n), name=name)


@pytest.mark.parametrize("seed", range(3))
def test_the_same_and_nearly_the_same_are_those_of_the_oracles(seed):
    train_graphs, train = random_set(seed, 40, "train")
    test_graphs, test = random_set(50 + seed, 50, "test")
    found = audit(train, test, near=0.6)
    same = {
        row: next((place for place, one in enumerate(train_graphs) if nx.is_isomorphic(one, two)), None)
        for row, two in enumerate(test_graphs)
    }
    similarity = TwinKernel(2, "joint", "minmax").fit(train.graphs).transform(test.graphs)
    matches = {match.row: match for match in found.matches}
    for row in range(len(test)):
        if same[row] is not None:
            assert (matches[row].same, matches[row].other_row) == ("graph", same[row])
        elif similarity[row].max() >= 0.6:
            assert matches[row].same is None
            assert (matches[row].similarity, matches[row].other_row) == (
                similarity[row].max(),
                similarity[row].argmax(),
            )
        else:
            assert row not in matches
    (overlap,) = found.overlaps
    copies = [row for row in same if same[row] is not None]
    assert overlap.same == {"graph": len(copies)}
    assert found.rows_in_common("test", "graph").tolist() == copies
    assert found.rows_in_common("test").tolist() == sorted(matches)
    assert overlap.near == len(matches) - len(copies)


def test_contradictions_within_a_set_and_between_sets_of_one_target():
    def data(name, graphs, y, target):
        return AuditedSet(Dataset(name, GraphBatch.from_edges(graphs)), {target: y})

    train = data("train", [PATH, PATH, TRIANGLE, STAR, STAR], [0, 1, 1, None, 1], "active")
    same_target = data("test", [TRIANGLE, STAR], [0, 1], "active")
    other_target = data("test", [TRIANGLE, STAR], [0, 0], "toxic")
    found = audit_sets([train, same_target], 0.9, None).contradictions
    assert [[(member.set, member.row) for member in one.members] for one in found] == [
        [("train", 0), ("train", 1)],
        [("train", 2), ("test", 0)],
    ]
    assert len(audit_sets([train, other_target], 0.9, None).contradictions) == 1
    assert len(audit_sets([train], 0.9, None).contradictions) == 1


def test_the_best_match_of_several_sets_counts():
    sets = [Dataset.from_graphs(graphs, name="same name") for graphs in ([STAR], [PATH], [PATH, TRIANGLE])]
    found = audit(*sets, near=0.1)
    assert list(found.sizes) == ["same name", "same name (2)", "same name (3)"]
    best = {(match.set, match.row): match for match in found.matches}
    assert best["same name (3)", 0].other_set == "same name (2)"
    assert best["same name (3)", 0].same == "graph"
    assert len(found.overlaps) == 3


def test_labels_and_features_make_graphs_different():
    one, two = (GraphBatch.from_edges([PATH], [[name, "b", "c"]]) for name in "az")
    assert audit(Dataset.from_graphs(one), Dataset.from_graphs(two), near=1.0).matches == []
    features = [GraphBatch.from_edges([PATH], node_features=[[[x], [0.0], [0.0]]]) for x in (1.0, 2.0)]
    found = audit(*map(Dataset.from_graphs, features), near=1.0)
    assert [match.same for match in found.matches] == [None]  # of the same shape, but no copy


def test_molecules_are_compared_at_every_level():
    pytest.importorskip("rdkit", reason="needs RDKit")
    train = ["CC(=O)O", "C[C@H](O)F", "CCO", "[13CH4]", "N"]
    test = ["CC(=O)[O-]", "C[C@@H](O)F", "OCC", "C", "O"]
    sets = [load_dataset(smiles, kind="smiles") for smiles in (train, test)]
    found = audit(*sets, near=1.0)
    assert found.levels == ("skeleton", "constitution", "isotope", "stereo")
    assert found.level == "constitution"
    assert found.overlaps[0].same == {"skeleton": 4, "constitution": 3, "isotope": 2, "stereo": 1}
    assert [match.same for match in found.matches] == ["skeleton", "isotope", "stereo", "constitution"]
    assert found.rows_in_common("list (2)", "isotope").tolist() == [1, 2]
    read_finer = [
        Dataset.from_graphs(GraphBatch.from_smiles(list(one.smiles), atoms="stereo"), smiles=one.smiles)
        for one in sets
    ]
    assert audit(*read_finer, near=1.0).overlaps[0].same == found.overlaps[0].same


def test_sets_of_different_kinds_are_refused_by_name():
    plain = Dataset.from_graphs([PATH], name="plain")
    labelled = Dataset.from_graphs(GraphBatch.from_edges([PATH], [["a", "b", "c"]]), name="labelled")
    with pytest.raises(
        TwinWLError, match=r"0: plain, 1: labelled\) cannot be compared: batch 1 .* node labels"
    ):
        audit(plain, labelled)


@pytest.mark.parametrize(
    ("sources", "options", "message"),
    [
        (("TWINS",), {"near": 0}, "near"),
        (("TWINS",), {"near": "x"}, "near"),
        (("TWINS",), {"level": "stereo"}, "level: got 'stereo'"),
        ((3,), {}, "data set"),
        (("TWINS", 3), {}, "data set"),
        (("TWINS", None), {}, "data set"),
    ],
)
def test_wrong_arguments_are_refused(sources, options, message):
    with pytest.raises(TwinWLError, match=message):
        audit(*sources, **options)


def test_a_set_without_graphs():
    empty = Dataset.from_graphs(GraphBatch.from_edges([]), name="empty")
    some = Dataset.from_graphs([PATH], name="some")
    assert audit(empty, some).matches == audit(some, empty).matches == []


def test_records_and_frame():
    pandas = pytest.importorskip("pandas", reason="makes the frame")
    found = audit(*(Dataset.from_graphs([PATH], [0], name=name) for name in "ab"))
    assert found.to_records()[0]["other_name"] == "a#0"
    assert isinstance(found.to_frame(), pandas.DataFrame)
