"""Parts of a trained network in a model file, and what is refused of them."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
import torch

from twinwl.errors import TwinWLError
from twinwl.files.model_files import restore
from twinwl.neural.estimator import network_from_state, weights_to_state
from twinwl.neural.training import History


def test_history_survives():
    history = History([0.5, 0.4], [0.6, 0.5], [0.7, 0.8], [], best_epoch=1)
    assert restore(History, asdict(history), "history") == history


def test_histories_from_before_scores_were_recorded_are_read():
    history = History([0.5], best_epoch=0)
    state = asdict(history)
    del state["validation_score"]
    assert restore(History, state, "history") == history


@pytest.mark.parametrize(
    "change",
    [{"best_epoch": 0.5}, {"train_loss": [None]}, {"train_loss": "abc"}],
)
def test_histories_that_are_none(change):
    with pytest.raises(TwinWLError, match="history"):
        restore(History, {**asdict(History()), **change}, "history")


def build():
    return torch.nn.Linear(2, 3)


def test_weights_survive():
    one = build()
    other = network_from_state(build, weights_to_state(one))
    assert torch.equal(one.weight, other.weight)
    one.weight.data += 1  # the copy does not hang on the original
    assert not torch.equal(one.weight, other.weight)


@pytest.mark.parametrize(
    "change",
    [{"weight": np.zeros((3, 3), np.float32)}, {"bias": np.zeros(3)}, {"more": np.zeros(1)}, {"bias": 1}],
)
def test_weights_of_another_network(change):
    with pytest.raises(TwinWLError, match="do not fit the network"):
        network_from_state(build, {**weights_to_state(build()), **change})


def test_network_that_no_memory_could_hold_is_refused_without_it():
    with pytest.raises(TwinWLError, match="do not fit the network"):
        network_from_state(lambda: torch.nn.Linear(2**30, 2**30), weights_to_state(build()))
