"""A trained network in a model file: history and weights, checked when they are read."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING

import numpy as np
import torch

from twinwl.errors import TwinWLError
from twinwl.learning.history import History

if TYPE_CHECKING:
    from collections.abc import Callable

    from twinwl.arrays import Values


def history_to_state(history: History) -> dict[str, object]:
    """Return the curves as lists of numbers."""
    return asdict(history)


def history_from_state(state: object) -> History:
    """Undo `history_to_state`.

    >>> history_from_state(history_to_state(History([0.5], best_epoch=0))).train_loss
    [0.5]
    """
    if isinstance(state, dict):
        state = {"validation_score": [], **state}  # which files of version 0.1 do not have
    if not isinstance(state, dict) or set(state) != {field.name for field in fields(History)}:
        raise TwinWLError("the model has no history of its training; the file is damaged")
    for name, value in state.items():
        curve = isinstance(value, list) and all(isinstance(entry, float) for entry in value)
        if type(value) is not int if name == "best_epoch" else not curve:
            raise TwinWLError(f"{name} in the model's history is not a curve; the file is damaged")
    if not -1 <= state["best_epoch"] < max(1, len(state["train_loss"])):
        raise TwinWLError("the best epoch of the model's history is not in it; the file is damaged")
    return History(**state)


def weights_to_state(module: torch.nn.Module) -> dict[str, Values]:
    """Return the weights by name."""
    return {name: value.detach().cpu().numpy() for name, value in module.state_dict().items()}


def network_from_state(build: Callable[[], torch.nn.Module], state: object) -> torch.nn.Module:
    """Return a network with its weights.

    The network is first built without memory and its shapes are compared with those of the arrays, so that a
    file cannot cause a large allocation.

    Parameters
    ----------
    build
        Returns a fresh network.
    state
        From `weights_to_state`.

    >>> network = torch.nn.Linear(2, 3)
    >>> network_from_state(lambda: torch.nn.Linear(2, 3), weights_to_state(network))
    Linear(in_features=2, out_features=3, bias=True)
    """
    with torch.device("meta"):
        module = build()
    own = module.state_dict()
    if not isinstance(state, dict) or set(state) != set(own):
        raise TwinWLError("the weights do not fit the network; the file is damaged")
    for name, wanted in own.items():
        given = state[name]
        fits = isinstance(given, np.ndarray) and given.shape == tuple(wanted.shape)
        if not fits or torch.from_numpy(np.empty(0, given.dtype)).dtype != wanted.dtype:
            raise TwinWLError(f"the weights do not fit the network: {name}")
    weights = {name: torch.from_numpy(value.copy()) for name, value in state.items()}
    module.load_state_dict(weights, assign=True)
    if any(buffer.is_meta for buffer in module.buffers()):  # of a user's network: not part of its state
        module = build()
        module.load_state_dict(weights)
    return module.eval()
