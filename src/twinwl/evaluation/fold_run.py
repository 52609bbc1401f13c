"""One unit of work: fit one configuration on one fold, and return all results."""

from __future__ import annotations

import inspect
import platform
import sys
import time
from dataclasses import dataclass, replace
from importlib import metadata
from typing import TYPE_CHECKING, Any, NamedTuple

from twinwl.arrays import Int64, Values
from twinwl.datasets.dataset import Dataset
from twinwl.errors import TwinWLError
from twinwl.evaluation.audit import leaked_test_graphs
from twinwl.evaluation.metrics import METRICS, WITHOUT_COPIES, names_for, scores_of, task_answers_of
from twinwl.graphs.batch import GraphBatch
from twinwl.models.base import GraphEstimator
from twinwl.models.targets import Answered, MultiTask

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from twinwl.evaluation.folds import Fold
    from twinwl.evaluation.methods import Method
    from twinwl.evaluation.store import Row

# Parameters of our estimators: the value that shows progress or warns, and the one that is silent.
_QUIET = {"verbose": (None, False), "edge_labels": (None, False), "ignore_features": (False, True)}
_PACKAGES = ("twinwl", "numpy", "scipy", "numba", "scikit-learn", "torch")


@dataclass(frozen=True, eq=False)
class Unit:
    """One fold of one configuration.

    Attributes
    ----------
    key : Row
        Key of the result in the store.
    method : Method
    fold : Fold
    """

    key: Row
    method: Method
    fold: Fold

    def build(self) -> BaseEstimator:
        """Return a new estimator for this unit that neither shows progress nor warns of unused inputs.

        The evaluation does both, once for all fits.
        """
        estimator = self.method.build(self.key["config"], self.key["seed"])
        given = {"": estimator, **estimator.get_params()}
        quiet = {}
        for name, value in given.items():
            owner, _, parameter = name.rpartition("__")
            usual, silent = _QUIET.get(parameter, (_QUIET, None))
            if value is usual and isinstance(given[owner], GraphEstimator):
                quiet[name] = silent
        return estimator.set_params(**quiet)


class FoldRequest(NamedTuple):
    """What to measure on each fold.

    Attributes
    ----------
    task : str
        ``"classification"`` or ``"regression"``.
    metrics : list of str
        Metrics to compute on the test graphs.
    scoring : str
        Metric that chooses among several configurations, on the hold-out.
    choose : bool
        Whether there are several configurations.
    optional : bool
        Whether to skip metrics that the method does not support because it has no probabilities; otherwise
        they are an error.
    positive : object
        The positive one of two classes, if the user names it.
    named : str or None
        What that class is called, whoever chose it; None if there are more classes, or numbers.
    last : str or None
        The class that was the positive one in results that do not name it; None if there are several tasks.
    """

    task: str
    metrics: list[str]
    scoring: str
    choose: bool
    optional: bool
    positive: object = None
    named: str | None = None
    last: str | None = None


def run_fold(unit: Unit, data: Dataset, copies: Int64, request: FoldRequest) -> Row:
    """Fit and score; return the result.

    A method with epochs is trained on ``fold.train``; the hold-out chooses the epoch, and the test curve is
    recorded but not used. A method without epochs is trained on the whole training part, including the
    hold-out; if there are several configurations (``request.choose``), it is first fitted without the
    hold-out and scored on it. ``copies`` is the result of `twinwl.evaluation.audit.copies_of`.
    """
    began = time.perf_counter()
    estimator = unit.build()
    if isinstance(estimator, GraphEstimator) and not getattr(estimator, "edge_labels", None):
        data = replace(
            data, graphs=data.graphs.without_edge_labels()
        )  # or each fit warns that it ignores them
    fold, graphs, y = unit.fold, data.graphs, data.targets
    test = graphs[fold.test]
    validation_score: float | None = None
    curves: dict[str, list[float]] = {}
    epochs, best_epoch = 0, -1
    if _has_epochs(estimator):
        estimator.fit(
            graphs[fold.train],
            _named(y[fold.train], estimator, data),
            validation_data=(graphs[fold.validation], y[fold.validation]),
            monitor_data=(test, y[fold.test]),
        )
        history = estimator.history_
        curves = {"validation_loss": history.validation_loss}
        if request.task == "classification" and not data.tasks:  # several tasks have no curves of accuracy
            accuracy = {"validation": history.validation_accuracy, "test": history.monitor_accuracy}
            curves = {**accuracy, **curves}
        if request.scoring == "accuracy" and not data.tasks:
            validation_score = history.best_validation_accuracy
        elif request.choose:
            validation_score = _judged(estimator, unit, data, request)
        epochs, best_epoch = history.n_epochs, history.best_epoch
    else:
        if request.choose:
            without = unit.build()
            _fit(without, data, fold.train)
            validation_score = _judged(without, unit, data, request)
        _fit(estimator, data, fold.training_part)
    metrics = [
        name
        for name in request.metrics
        if not (request.optional and METRICS[name].needs_probabilities) or hasattr(estimator, "predict_proba")
    ]
    answers = task_answers_of(estimator, test, y[fold.test], metrics, data.tasks, request.positive)
    scores = scores_of(answers, metrics)
    leaked = leaked_test_graphs(copies, fold)
    if leaked.any() and not leaked.all():
        headline = names_for(request.task)[0]
        kept = scores_of(answers.part(~leaked), [headline])
        scores |= {headline + WITHOUT_COPIES: kept[headline]} if headline in kept else {}
    row: Row = {
        **unit.key,
        "scores": scores,
        "metrics": metrics,
        "validation_score": validation_score,
        "curves": curves,
        "epochs": epochs,
        "best_epoch": best_epoch,
        "n_test": len(fold.test),
        "n_leaked": int(leaked.sum()),
        "seconds": round(time.perf_counter() - began, 3),
        "peak_memory": _peak_memory(),
        "versions": versions(),
        "task": request.task,
        "scoring": request.scoring,
    }
    if request.named is not None:
        row["positive"] = request.named
    inputs = inputs_of(estimator, graphs)
    if inputs is not None:
        row["inputs"] = inputs
    return {**row, "tasks": list(data.tasks)} if data.tasks else row


def inputs_of(estimator: BaseEstimator, graphs: GraphBatch) -> list[str] | None:
    """Return what an estimator uses of these graphs besides their structure.

    Returns
    -------
    list of str or None
        Some of ``"node_labels"``, ``"edge_labels"`` and ``"node_attributes"``; None if no part of the
        estimator is from this package, so that nothing is known about it.

    >>> from twinwl import GraphBatch, STwinSVC
    >>> graphs = GraphBatch.from_edges([[(0, 1)]], [["C", "O"]], node_features=[[[0.5], [1.5]]])
    >>> inputs_of(STwinSVC(), graphs)
    ['node_labels']
    """
    values = (estimator, *estimator.get_params().values())
    parts = [part for part in values if isinstance(part, GraphEstimator)]
    used = {
        "node_labels": graphs.has_node_labels
        and any(getattr(part, "initial", "label") != "degree" for part in parts),
        "edge_labels": graphs.edge_labels is not None
        and any(getattr(part, "edge_labels", False) for part in parts),
        # Estimators that use labels alone have this parameter; kernels of labels refuse attributes.
        "node_attributes": graphs.has_node_features
        and not all(hasattr(part, "ignore_features") for part in parts),
    }
    return [name for name, is_used in used.items() if is_used] if parts else None


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
    if getattr(estimator, "hold_outs", 1) != 1:  # it draws them from the whole training part
        return False
    return {"validation_data", "monitor_data"} <= inspect.signature(estimator.fit).parameters.keys()


def _judged(estimator: BaseEstimator, unit: Unit, data: Dataset, request: FoldRequest) -> float:
    """Return the score on the hold-out of an estimator that was trained without it."""
    held = unit.fold.validation
    graphs: Any = data.graphs[held]
    if getattr(estimator, "refit", False) is True and _has_epochs(estimator):
        graphs = Answered(estimator.held_out_outputs_)  # by now it has learnt from the hold-out
    answers = task_answers_of(
        estimator, graphs, data.targets[held], [request.scoring], data.tasks, request.positive
    )
    score = scores_of(answers, [request.scoring]).get(request.scoring)
    if score is None:
        raise TwinWLError(
            f"scoring: {request.scoring} is undefined on the {len(held)} graphs held out in fold "
            f"{unit.key['fold']}, which lack a class; choose another scoring or split"
        )
    return score


def _fit(estimator: BaseEstimator, data: Dataset, part: Int64) -> None:
    """Fit on some graphs; their groups are passed to methods that can keep groups together."""
    accepts = inspect.signature(estimator.fit).parameters
    extra = {"groups": data.groups[part]} if data.groups is not None and "groups" in accepts else {}
    estimator.fit(data.graphs[part], _named(data.targets[part], estimator, data), **extra)


def _named(y: Values, estimator: BaseEstimator, data: Dataset) -> object:
    """Return the columns of several targets by name, if the estimator knows names, for its messages."""
    if not data.tasks or not isinstance(estimator, MultiTask):
        return y
    return dict(zip(data.tasks, y.T, strict=True))


def _peak_memory() -> int:
    """Return the peak resident memory of this process so far, in bytes; 0 if it is unknown."""
    try:
        import resource  # noqa: PLC0415  (POSIX only)
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
