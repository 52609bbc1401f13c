import numpy as np
import pytest

from twinwl import GraphBatch, STwinSVC, TwinWLError
from twinwl.models.metrics import positive_class, score_column
from twinwl.models.targets import TargetTable

PATHS = [[(node, node + 1) for node in range(size)] for size in range(2, 8)]
CYCLES = [[*edges, (len(edges), 0)] for edges in PATHS]


def test_graphs_of_weight_0_are_left_out_with_their_classes_and_groups():
    targets = TargetTable.read(
        ["a", "b", "c", "b"], 4, [1, 2, 0, 3], {"a": 2.0}, ["x", "y", "z", "x"]
    ).column(0)
    assert targets.rows.tolist() == [0, 1, 3]
    assert targets.classes.tolist() == ["a", "b"]
    assert targets.codes.tolist() == [0, 1, 1]
    assert targets.groups.tolist() == [0, 1, 0]
    assert targets.importance().tolist() == [2, 2, 3]


def test_a_machine_learns_nothing_from_weight_0():
    graphs, y = GraphBatch.from_edges(PATHS + CYCLES), np.repeat([0, 1], 6)
    weights = np.tile([1.0, 0.0, 2.0], 4)
    weighted = STwinSVC(1, 1, inner_folds=2).fit(graphs, y, sample_weight=weights)
    counted = np.flatnonzero(weights)
    fewer = STwinSVC(1, 1, inner_folds=2).fit(graphs[counted], y[counted], sample_weight=weights[counted])
    np.testing.assert_array_equal(weighted.predict_proba(graphs), fewer.predict_proba(graphs))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample_weight": [0, 0, 0]}, "every training graph has a weight of zero"),
        ({"sample_weight": [1, 0, 1]}, "all 2 graphs are of one class, 0"),
        ({"sample_weight": [1, 1, 1e308]}, r"sample_weight\[2\]: got 1e\+308"),
        ({"sample_weight": [1, 1, float("nan")]}, r"sample_weight\[2\]: got nan"),
        ({"sample_weight": [1, -1, 1]}, r"sample_weight\[1\]: got -1.0"),
        ({"class_weight": {0: float("inf")}}, r"class_weight\[0\]: got inf"),
        ({"class_weight": {7: 1}}, "got a weight for 7, which is not in y"),
        ({"y": [0, object(), 1]}, "no common order"),
        ({"y": [np.datetime64("NaT")] * 3}, "3 of 3 are missing"),
    ],
)
def test_what_cannot_be_learnt_from_is_refused(options, message):
    given = {"y": [0, 1, 0], "sample_weight": None, "class_weight": None, "groups": None, **options}
    with pytest.raises(TwinWLError, match=message):
        TargetTable.read(n_graphs=3, **given)


@pytest.mark.parametrize(
    ("classes", "positive"),
    [
        ([0, 1], 1),
        ([-1, 1], 1),
        ([1, 2], 2),
        (["active", "inactive"], "active"),
        (["Active", "inactive"], "Active"),
        (["+", "-"], "+"),
        (["No", "yes"], "yes"),
        (["YES", "no"], "YES"),
        ([False, True], True),
        (["cold", "warm"], "warm"),
        (["active", "moderate"], "moderate"),
    ],
)
def test_the_obvious_one_of_two_classes_is_positive(classes, positive):
    assert classes[positive_class(np.array(classes))] == positive


def test_the_user_names_the_positive_class_as_text():
    assert positive_class(np.array([0, 1]), "0") == 0


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (["a", "b"], "positive: got 'x' for the classes 'a', 'b', expected one of them"),
        (["a", "b", "x"], "which is for two classes; leave it out"),
    ],
)
def test_only_one_of_two_classes_can_be_positive(classes, message):
    with pytest.raises(TwinWLError, match=message):
        positive_class(np.array(classes), "x")


def test_choices_by_average_precision_are_about_the_positive_class():
    decisions = np.array([-3.0, -1.0, -2.0, 1.0])
    named = TargetTable.read(["active", "inactive", "inactive", "inactive"], 4, None, None, None).column(0)
    coded = TargetTable.read([1, 0, 0, 0], 4, None, None, None).column(0)
    assert score_column(named, decisions, "average_precision") == score_column(
        coded, -decisions, "average_precision"
    )
