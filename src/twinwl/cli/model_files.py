"""Models that a command is given: loaded, and asked for predictions and for what they have never seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twinwl.errors import TwinWLError

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from twinwl.arrays import Float64
    from twinwl.graphs.batch import GraphBatch
    from twinwl.refinement.alphabet import Alphabet

__all__ = ["alphabet_of", "answers_of", "load_classifier", "unseen_share"]


def load_classifier(path: Path) -> Any:  # noqa: ANN401  (classifiers share no base that has predict)
    """Load a model that predicts classes.

    Raises
    ------
    TwinWLError
        If it is no model file, or what is in it does not classify.
    """
    from twinwl.files.model_files import load  # noqa: PLC0415

    model = load(path)
    if not hasattr(model, "predict"):
        raise TwinWLError(
            f"{path}: holds a {type(model).__name__}, which predicts no classes; give what twinwl train wrote"
        )
    return model


def answers_of(model: Any, graphs: GraphBatch) -> tuple[NDArray[np.generic], Float64]:  # noqa: ANN401
    """Return what ``predict`` and ``predict_proba`` would, from decision values that are computed once."""
    from twinwl.estimators.calibration import probabilities_of  # noqa: PLC0415
    from twinwl.estimators.support_vectors import predicted_codes  # noqa: PLC0415

    decisions = model.decision_function(graphs)
    calibration = getattr(model, "calibration_", None)  # support vector machines have one, networks need none
    probabilities = (
        probabilities_of(decisions.astype(float))
        if calibration is None
        else calibration.probabilities(decisions)
    )
    return model.classes_[predicted_codes(decisions)], probabilities


def unseen_share(model: object, graphs: GraphBatch) -> float | None:
    """Return how many node colours, over all rounds of the model, occur in no training graph.

    None where the model has no alphabet: networks on continuous features see numbers, not colours.
    """
    from twinwl.refinement.colours import refine  # noqa: PLC0415

    alphabet = alphabet_of(model)
    if alphabet is None or not graphs.n_nodes:
        return None
    colours = refine(graphs.without_features(), None, alphabet=alphabet).colours
    return float((colours < 0).mean())


def alphabet_of(model: object) -> Alphabet | None:
    """Find a model's alphabet where each kind of model keeps it; None where it has none.

    >>> from twinwl import GraphBatch, STwinVectorizer
    >>> vectorizer = STwinVectorizer(n_iter=1).fit(GraphBatch.from_edges([[(0, 1)]]))
    >>> alphabet_of(vectorizer).n_colours
    [1, 1]
    """
    for path in ("space_", "vectorizer_.space_", "inputs_.histograms"):
        place: object = model
        for name in path.split("."):
            place = getattr(place, name, None)
        if place is not None:
            return getattr(place, "alphabet", None)
    return None
