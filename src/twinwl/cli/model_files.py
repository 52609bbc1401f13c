"""Loading of models for a command, their predictions, and the share of unseen colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twinwl.errors import TwinWLError

if TYPE_CHECKING:
    from pathlib import Path

    from twinwl.arrays import Float64, Values
    from twinwl.estimators.multitask import Answered
    from twinwl.graphs.batch import GraphBatch
    from twinwl.refinement.alphabet import Alphabet


def load_predictor(path: Path) -> Any:  # noqa: ANN401  (models share no base that has predict)
    """Load a model that predicts classes or numbers.

    Raises
    ------
    TwinWLError
        If it is not a model file, or the model does not predict.
    """
    from twinwl.files.model_files import load  # noqa: PLC0415

    model = load(path)
    if not hasattr(model, "predict"):
        raise TwinWLError(
            f"{path}: contains a {type(model).__name__}, expected a classifier or regressor written by "
            "twinwl train"
        )
    return model


def model_of_task(model: Any, path: Path, task: str | None) -> Any:  # noqa: ANN401
    """Return the model of one target, which must be named if there are several."""
    tasks = model.tasks_
    if tasks is None:
        only = getattr(model, "target_", None)
        if task not in {None, only}:
            called = "" if only is None else f", {only!r}"
            raise TwinWLError(
                f"--for-task: got {task!r}, but {path} was trained on one target{called}; leave it out"
            )
        return model
    if task is None:
        raise TwinWLError(
            f"{path}: predicts {len(tasks)} targets; name one with --for-task: {', '.join(tasks)}"
        )
    if task not in tasks:
        raise TwinWLError(f"--for-task: got {task!r}, but {path} predicts {', '.join(tasks)}")
    return model.for_task(task)


def predicts_classes(model: object) -> bool:
    """Return whether a model is a classifier; else it is a regressor, which predicts numbers."""
    return hasattr(model, "predict_proba")


def answers_of(
    model: Any,  # noqa: ANN401
    graphs: GraphBatch | Answered[Any],
    threshold: float | None = None,
    positive: str | None = None,
) -> tuple[Values, Float64]:
    """Return the results of ``predict`` and ``predict_proba``, computing the decision values only once.

    Parameters
    ----------
    model
    graphs
    threshold
        Predict the positive one of two classes if its probability is at least this; None predicts as the
        model does.
    positive
        That class, as `twinwl.estimators.targets.positive_class` takes it.
    """
    if threshold is not None and len(model.classes_) != 2:  # noqa: PLR2004
        listing = ", ".join(map(str, model.classes_.tolist()))
        raise TwinWLError(f"--threshold needs a model with two classes; this one has {listing}")
    return answers_from(model, model.decision_function(graphs), threshold, positive)


def answers_from(
    model: Any,  # noqa: ANN401
    decisions: Float64,
    threshold: float | None = None,
    positive: str | None = None,
) -> tuple[Values, Float64]:
    """Return the classes and probabilities that decision values of a model stand for."""
    import numpy as np  # noqa: PLC0415

    from twinwl.estimators.targets import positive_class, predicted_codes, probabilities_of  # noqa: PLC0415

    calibration = getattr(model, "calibration_", None)  # only support vector machines have one
    probabilities = (
        probabilities_of(decisions.astype(float))
        if calibration is None
        else calibration.probabilities(decisions)
    )
    codes = predicted_codes(decisions)
    if threshold is not None:
        place = positive_class(model.classes_, positive)
        codes = np.where(probabilities[:, place] >= threshold, place, 1 - place)
    return model.classes_[codes], probabilities


def unseen_shares(model: object, graphs: GraphBatch) -> Float64 | None:
    """Return the share of each graph's nodes with unseen colours, shape (n_rounds, n_graphs).

    A colour is unseen if it occurs in no training graph. The result is None if the model has no alphabet, as
    networks on continuous features have none. For a graph without nodes the share is 0.
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
    """Return the alphabet of a model, or None if it has none.

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


def use_device(model: Any, device: str) -> None:  # noqa: ANN401
    """Let a network predict on a device; refuse one that is not there, and models that are no networks."""
    if not hasattr(model, "device"):
        raise TwinWLError(f"--device is for networks; the model is of {type(model).__name__}")
    from twinwl.learning.devices import device_of  # noqa: PLC0415  (loads torch)

    model.device = device_of(device).type
