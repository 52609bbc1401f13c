"""Fitted inputs as plain JSON values and arrays, for model files; whatever is read back is checked first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.errors import TwinWLError
from twinwl.estimators.state import labels_from_state
from twinwl.ntwin.fitted_inputs import FittedInputs
from twinwl.ntwin.subtree import SubtreeHistograms
from twinwl.stwin.state import alphabet_from_state, alphabet_to_state, columns_from_state

if TYPE_CHECKING:
    from collections.abc import Mapping

    from twinwl.arrays import Float64

__all__ = ["inputs_from_state", "inputs_to_state"]


def inputs_to_state(inputs: FittedInputs) -> dict[str, object]:
    """Return what `inputs_from_state` turns into the same inputs."""
    state: dict[str, object] = {
        "n_graphs": inputs.n_graphs,
        "labels": list(inputs.labels),
        "edge_labels": None if inputs.edge_labels is None else list(inputs.edge_labels),
        "directed": inputs.directed,
        "subtree": inputs.subtree,
        "centre": inputs.centre,
        "scale": inputs.scale,
    }
    if inputs.histograms is not None:
        state["alphabet"] = alphabet_to_state(inputs.histograms.alphabet)
        state["columns"] = inputs.histograms.columns
    return state


def inputs_from_state(state: Mapping[str, object]) -> FittedInputs:
    """Rebuild fitted inputs.

    Raises
    ------
    TwinWLError
        If anything in the state is missing or does not fit.
    """
    try:
        subtree, directed, n_graphs = state["subtree"], state["directed"], state["n_graphs"]
        labels, edge_labels = state["labels"], state["edge_labels"]
        centre, scale = state["centre"], state["scale"]
        histograms = None
        if subtree == "wl":
            alphabet = alphabet_from_state(state["alphabet"])  # type: ignore[arg-type]
            columns = columns_from_state({"columns": state["columns"]}, sum(alphabet.n_colours))
            histograms = None if columns is None else SubtreeHistograms(alphabet, columns)
    except (KeyError, TypeError, AttributeError) as error:
        raise TwinWLError(f"the model's inputs lack {error}; the file is damaged") from error
    if subtree not in {"wl", "gin"} or not isinstance(directed, bool) or type(n_graphs) is not int:
        raise TwinWLError("the model does not say what its subtree encoder is; the file is damaged")
    return FittedInputs(
        n_graphs=n_graphs,
        labels=labels_from_state(labels),
        edge_labels=None if edge_labels is None else labels_from_state(edge_labels),
        directed=directed,
        subtree=str(subtree),
        centre=_row(centre),
        scale=_row(scale),
        histograms=histograms,
    )


def _row(value: object) -> Float64:
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind != "f":
        raise TwinWLError("the model's feature scales are not rows of numbers; the file is damaged")
    return value.astype(np.float64)
