"""One unit of work: fit one configuration on one fold, and write down everything that came out."""

from __future__ import annotations

import inspect
import platform
import sys
import time
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING

import numpy as np

from twinwl.evaluation.leaks import leaked_test_graphs
from twinwl.evaluation.metrics import scores_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sklearn.base import BaseEstimator

    from twinwl.arrays import Int64
    from twinwl.datasets.dataset import Dataset
    from twinwl.evaluation.folds import Fold
    from twinwl.evaluation.methods import Method
    from twinwl.evaluation.store import Row

__all__ = ["Unit", "run_fold", "versions"]

_PACKAGES = ("twinwl", "numpy", "scipy", "numba", "scikit-learn", "torch")


@dataclass(frozen=True, eq=False)
class Unit:
    """One fold of one configuration.

    Attributes
    ----------
    key : Row
        What the result is filed under.
    method : Method
    fold : Fold
    """

    key: Row
    method: Method
    fold: Fold

    def build(self) -> BaseEstimator:
        """Return a fresh estimator for this unit, without a bar of its own: the evaluation shows one."""
        estimator = self.method.build(self.key["config"], self.key["seed"])
        bars = [name for name in estimator.get_params() if name.rpartition("__")[2] == "progress"]
        return estimator.set_params(**dict.fromkeys(bars, False))


def run_fold(unit: Unit, data: Dataset, copies: Int64, metrics: Sequence[str], *, choose: bool) -> Row:
    """Fit and score; return the whole result.

    A method with epochs learns from ``fold.train``; the hold-out picks the epoch, and the test curve is
    recorded beside it but decides nothing. A method without epochs learns from the whole training part,
    hold-out included; only where several configurations compete (``choose``) is it first fitted without
    the hold-out, to be judged on it. ``copies`` is what `twinwl.evaluation.leaks.copies_of` returns.
    """
    began = time.perf_counter()
    fold, graphs, y = unit.fold, data.graphs, data.targets
    estimator = unit.build()
    test = graphs[fold.test]
    validation_score: float | None = None
    curves: dict[str, list[float]] = {}
    epochs, best_epoch = 0, -1
    if _has_epochs(estimator):
        estimator.fit(
            graphs[fold.train],
            y[fold.train],
            validation_data=(graphs[fold.validation], y[fold.validation]),
            monitor_data=(test, y[fold.test]),
        )
        history = estimator.history_
        validation_score = history.best_validation_accuracy
        curves = {
            "validation": history.validation_accuracy,
            "validation_loss": history.validation_loss,
            "test": history.monitor_accuracy,
        }
        epochs, best_epoch = history.n_epochs, history.best_epoch
    else:
        if choose:
            validation_score = _judged(unit, data)
        _fit(estimator, data, fold.training_part)
    scores, right = scores_of(estimator, test, y[fold.test], metrics)
    leaked = leaked_test_graphs(copies, fold)
    if leaked.any() and not leaked.all():
        scores["accuracy-without-duplicates"] = float(right[~leaked].mean())
    return {
        **unit.key,
        "scores": scores,
        "metrics": list(metrics),
        "validation_score": validation_score,
        "curves": curves,
        "epochs": epochs,
        "best_epoch": best_epoch,
        "n_test": len(fold.test),
        "n_leaked": int(leaked.sum()),
        "seconds": round(time.perf_counter() - began, 3),
        "peak_memory": _peak_memory(),
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """Return the versions of everything that may change a result."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def _has_epochs(estimator: BaseEstimator) -> bool:
    return {"validation_data", "monitor_data"} <= inspect.signature(estimator.fit).parameters.keys()


def _judged(unit: Unit, data: Dataset) -> float:
    """Return the accuracy on the hold-out of a fit that has not seen it."""
    estimator = unit.build()
    _fit(estimator, data, unit.fold.train)
    predicted = estimator.predict(data.graphs[unit.fold.validation])
    return float(np.mean(np.asarray(predicted) == data.targets[unit.fold.validation]))


def _fit(estimator: BaseEstimator, data: Dataset, part: Int64) -> None:
    """Fit on a part, handing over its groups where the method can keep them together."""
    accepts = inspect.signature(estimator.fit).parameters
    extra = {"groups": data.groups[part]} if data.groups is not None and "groups" in accepts else {}
    estimator.fit(data.graphs[part], data.targets[part], **extra)


def _peak_memory() -> int:
    """Return the peak resident memory of this process so far, in bytes; 0 where it cannot be told."""
    try:
        import resource  # noqa: PLC0415  (POSIX only)
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
