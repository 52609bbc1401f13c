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

__all__ = ["alphabet_of", "answers_from", "answers_of", "load_classifier", "unseen_shares"]


def load_classifier(path: Path) -> Any:  # noqa: ANN401  (classifiers share no base that has predict)
    """Load a model that predicts classes.

    Raises
    ------
    TwinWLError
        If it is no model file, or what is in it does not classify.
    """
    from twinwl.files.model_files import load  # noqa: PLC0415

    model = load(path)
    if not hasattr(model, "predict_proba"):
        raise TwinWLError(
            f"{path}: holds a {type(model).__name__}, which predicts no classes; give what twinwl train wrote"
        )
    return model


def answers_of(
    model: Any,  # noqa: ANN401
    graphs: GraphBatch,
    threshold: float | None = None,
) -> tuple[NDArray[np.generic], Float64]:
    """Return what ``predict`` and ``predict_proba`` would, from decision values that are computed once.

    Parameters
    ----------
    model
    graphs
    threshold
        Of two classes, take the second from this probability on; None takes what the model takes.
    """
    if threshold is not None and len(model.classes_) != 2:  # noqa: PLR2004
        listing = ", ".join(map(str, model.classes_.tolist()))
        raise TwinWLError(f"--threshold needs a model of two classes; this one has {listing}; leave it out")
    return answers_from(model, model.decision_function(graphs), threshold)


def answers_from(
    model: Any,  # noqa: ANN401
    decisions: Float64,
    threshold: float | None = None,
) -> tuple[NDArray[np.generic], Float64]:
    """Return the classes and probabilities that decision values of a model stand for."""
    from twinwl.estimators.targets import predicted_codes, probabilities_of  # noqa: PLC0415

    calibration = getattr(model, "calibration_", None)  # support vector machines have one, networks need none
    probabilities = (
        probabilities_of(decisions.astype(float))
        if calibration is None
        else calibration.probabilities(decisions)
    )
    codes = (
        predicted_codes(decisions) if threshold is None else (probabilities[:, 1] >= threshold).astype(int)
    )
    return model.classes_[codes], probabilities


def unseen_shares(model: object, graphs: GraphBatch) -> Float64 | None:
    """Return the share of each graph's nodes whose colour no training graph has, shape (n_rounds, n_graphs).

    None where the model has no alphabet: networks on continuous features see numbers, not colours. A graph
    without nodes has no colour that is unseen.
    """
    import numpy as np  # noqa: PLC0415

    from twinwl.refinement.colours import refine  # noqa: PLC0415

    alphabet = alphabet_of(model)
    if alphabet is None:
        return None
    unseen = refine(graphs.without_features(), None, alphabet=alphabet).colours < 0
    before = np.concatenate([np.zeros((len(unseen), 1)), np.cumsum(unseen, axis=1)], axis=1)
    shares: Float64 = np.diff(before[:, graphs.graph_ptr], axis=1) / np.maximum(1, graphs.nodes_per_graph)
    return shares


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
