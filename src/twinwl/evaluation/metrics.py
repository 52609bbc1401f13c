"""Scores by name: what a fold is judged by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.arguments import checked, is_a, items, one_of
from twinwl.errors import TwinWLError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from twinwl.arrays import Float64
    from twinwl.graphs.batch import GraphBatch

__all__ = ["METRICS", "check_metrics", "scores_of"]


def _of_labels(name: str) -> Callable[..., float]:
    def score(y: NDArray[np.generic], predicted: NDArray[np.generic], *_more: object) -> float:
        from sklearn import metrics  # noqa: PLC0415  (the names of metrics must not pay for it)

        return float(getattr(metrics, name)(y, predicted))

    return score


def _roc_auc(
    y: NDArray[np.generic], _predicted: object, probability: Float64, classes: NDArray[np.generic]
) -> float:
    from sklearn.metrics import roc_auc_score  # noqa: PLC0415

    if len(classes) == 2:  # noqa: PLR2004
        return float(roc_auc_score(y == classes[1], probability[:, 1]))
    return float(roc_auc_score(y, probability, multi_class="ovr", labels=classes))


def _average_precision(
    y: NDArray[np.generic], _predicted: object, probability: Float64, classes: NDArray[np.generic]
) -> float:
    from sklearn.metrics import average_precision_score  # noqa: PLC0415

    if len(classes) == 2:  # noqa: PLR2004
        return float(average_precision_score(y == classes[1], probability[:, 1]))
    return float(average_precision_score(y[:, None] == classes, probability))


METRICS: dict[str, Callable[..., float]] = {
    "accuracy": _of_labels("accuracy_score"),
    "balanced-accuracy": _of_labels("balanced_accuracy_score"),
    "roc-auc": _roc_auc,
    "average-precision": _average_precision,
}
_NEED_PROBABILITY = {"roc-auc", "average-precision"}


def check_metrics(names: Sequence[str]) -> list[str]:
    """Return the metrics, accuracy among them, or refuse an unknown one with the nearest known.

    >>> check_metrics(["roc-auc"])
    ['roc-auc', 'accuracy']
    """
    listed = [names] if is_a(names, str) else items("metrics", names, "a list of names")
    given = [checked("metrics", name, one_of(*METRICS)) for name in listed]
    return list(dict.fromkeys([*given, "accuracy"]))  # the first is the headline


def scores_of(
    estimator: object, graphs: GraphBatch, y: NDArray[np.generic], names: Sequence[str]
) -> tuple[dict[str, float], NDArray[np.bool_]]:
    """Return each score of a fitted estimator, and for each graph whether it was right.

    A ranking score that is not defined, because a fold lacks a class, is left out.
    """
    predicted = np.asarray(estimator.predict(graphs))  # type: ignore[attr-defined]
    probability = None
    if _NEED_PROBABILITY & set(names):
        if not hasattr(estimator, "predict_proba"):
            asked = ", ".join(sorted(_NEED_PROBABILITY & set(names)))
            raise TwinWLError(
                f"{asked}: {type(estimator).__name__} has no predict_proba; ask for other metrics"
            )
        probability = estimator.predict_proba(graphs)
    classes = getattr(estimator, "classes_", np.unique(y))
    scores = {}
    for name in names:
        if name in _NEED_PROBABILITY and len(np.unique(y)) < len(classes):
            continue
        scores[name] = METRICS[name](y, predicted, probability, classes)
    return scores, predicted == y
