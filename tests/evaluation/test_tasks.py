import numpy as np
import pytest

from twinwl import TwinWLError
from twinwl.models.targets import task_of


@pytest.mark.parametrize(
    ("y", "task", "reason"),
    [
        (["yes", "no"], "classification", "names"),
        ([True, False, True], "classification", "names"),
        ([0, 1, 1], "classification", "2 values"),
        ([0.5, 1.5, 0.5], "regression", "2 different values, not all of them whole numbers"),
        ([0.0, 1.0, 2.0], "classification", "whole"),
        (list(range(10)) * 3, "classification", "whole"),
        (np.repeat(np.arange(100), 39), "classification", "whole"),  # COIL-DEL has so many classes
        (np.arange(30), "regression", "30 different values for 30 graphs"),
        ([0.5, 1.5, 2.0], "regression", "not all of them whole"),
    ],
)
def test_targets_tell_the_task(y, task, reason):
    found = task_of(np.asarray(y), target="dose")
    assert found.name == task
    assert reason in found.reason
    assert "'dose'" in str(found)


@pytest.mark.parametrize("task", ["auto", "classification", "regression"])
def test_equal_targets_are_nothing_to_learn(task):
    with pytest.raises(
        TwinWLError, match="the target 'dose' is 1 for all 40 graphs, so there is nothing to learn"
    ):
        task_of(np.ones(40, int), task, "dose")
