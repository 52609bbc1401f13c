"""The estimator that ``twinwl train`` fits, from its method and options, and the summary it prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twinwl.cli.model_files import answers_from, answers_of, predicts_classes
from twinwl.datasets.dataset import Dataset
from twinwl.errors import TwinWLError, nearest
from twinwl.estimators.multitask import Answered
from twinwl.evaluation.methods import Config, resolve
from twinwl.evaluation.metrics import Answers, check_metrics, figures, measure, names_for, scorer_for
from twinwl.evaluation.task_metrics import mean_scores
from twinwl.report.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from twinwl.arrays import Float64, Values
    from twinwl.evaluation.tasks import Task

_PLURAL = {"classification": "classes", "regression": "targets"}

_OF_STWIN = ("n_iter", "features", "readout", "initial")
METHODS = {
    "stwin": (*_OF_STWIN, "hidden", "device", "refit"),
    "stwin-svc": (*_OF_STWIN, "kernel_approximation"),
    "ntwin": ("layers", "hops", "hidden", "root_mark", "network", "device", "refit"),
}


def check_options(method: str, options: Mapping[str, object]) -> Config:
    """Return the options that are given, as parameters of the method's estimators.

    Parameters
    ----------
    method
        One of `METHODS`.
    options
        Parameters of the estimator by name; None means the estimator's default.

    Raises
    ------
    TwinWLError
        If the method is unknown, or does not have the option.

    >>> check_options("ntwin", {"hops": "2", "hidden": None})
    {'hops': 2}
    """
    if method not in METHODS:
        raise TwinWLError(f"--method is {method!r}; {nearest(method, METHODS)}")
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in METHODS[method]:
            owners = [other for other, known in METHODS.items() if name in known]
            flag = "--" + name.replace("_", "-")
            raise TwinWLError(
                f"{flag} cannot be used with --method {method}, only with {' and '.join(owners)}"
            )
    if "hops" in given:
        given["hops"] = _hops(str(given["hops"]))
    if "network" in given:
        given["readout"] = given.pop("network")  # as the estimators call it
    return given


def new_model(
    method: str,
    task: Task,
    parameters: Config,
    *,
    edge_labels: bool,
    balanced: bool,
    scoring: str | None,
    seed: int,
) -> Any:  # noqa: ANN401  (estimators share no base that has fit)
    """Return an unfitted classifier or regressor.

    Parameters
    ----------
    method
        One of `METHODS`.
    task
        Classification or regression.
    parameters
        As returned by `check_options`.
    edge_labels, balanced, seed
        Parameters that every method has; only classes can be balanced.
    scoring
        The metric that inner choices go by, as it is called on the command line; None: the default.

    >>> from twinwl.evaluation.tasks import Task
    >>> numbers = Task("regression", "")
    >>> options = {"edge_labels": False, "balanced": False, "scoring": "mae", "seed": 1}
    >>> new_model("stwin-svc", numbers, {"n_iter": 2}, **options)
    STwinSVR(edge_labels=False, n_iter=2, random_state=1,
             scoring='neg_mean_absolute_error')
    """
    if balanced and task.name == "regression":
        raise TwinWLError("--balanced is for classes, and the targets are numbers; leave it out")
    config = {**parameters, "edge_labels": edge_labels}
    if balanced:
        config["class_weight"] = "balanced"
    model: Any = resolve(method).for_task(task).build(config, seed)
    if scoring is None:
        return model
    check_metrics([scoring], task.name, "--scoring")
    scorer = scorer_for(model, scoring)
    if scorer is None:
        known = [name for name in names_for(task.name) if scorer_for(model, name)]
        raise TwinWLError(f"--scoring: {method} cannot choose by {scoring}; choose from {', '.join(known)}")
    return model.set_params(scoring=scorer)


def summary_of(data: Dataset, task: str) -> str:
    """Describe the training data.

    >>> from twinwl.datasets.dataset import Dataset
    >>> data = Dataset.from_graphs([[(0, 1)], [(0, 1), (1, 2)]], [1, 2], name="tiny")
    >>> summary_of(data, "classification")
    'tiny: 2 graphs, 5 nodes, 3 edges; classes: 1 (1), 2 (1)'
    >>> summary_of(data, "regression")
    'tiny: 2 graphs, 5 nodes, 3 edges; targets: from 1 to 2, mean 1.5'
    """
    size = ", ".join(
        [
            counted(len(data.graphs), "graph"),
            counted(data.graphs.n_nodes, "node"),
            counted(data.graphs.n_edges, "arc" if data.graphs.directed else "edge"),
        ]
    )
    if data.tasks:
        lines = [f"  {name}: {_listing(column[~np.isnan(column)], task)}" for name, column in _columns(data)]
        return "\n".join([f"{data.name}: {size}; {len(data.tasks)} targets:", *lines])
    return f"{data.name}: {size}; {data.target or _PLURAL[task]}: {_listing(data.targets, task)}"


def _listing(y: Values, task: str) -> str:
    if task == "regression":
        numbers = y.astype(np.float64)
        return f"from {numbers.min():.4g} to {numbers.max():.4g}, mean {numbers.mean():.4g}"
    values, counts = np.unique(y, return_counts=True)
    names = [f"{name:g}" if isinstance(name, float) else f"{name}" for name in values.tolist()]
    return ", ".join(f"{name} ({count:,})" for name, count in zip(names, counts.tolist(), strict=True))


def _columns(data: Dataset) -> Iterator[tuple[str, Float64]]:
    return zip(data.tasks, data.targets.T.astype(np.float64), strict=True)


def fit(model: Any, data: Dataset, method: str) -> str:  # noqa: ANN401
    """Fit the model, and return a sentence about how good it is on graphs it did not learn from.

    Of several targets, a line about each comes first.
    """
    y = dict(_columns(data)) if data.tasks else data.y  # names in errors and in the model
    model.fit(data.graphs, y, groups=data.groups)
    if not data.tasks:
        scores, names, note = _held_out(model, data)
        return f"On held-out graphs ({_chosen(model)}): {figures(scores, names)}{note}"
    lines, of_tasks = [], []
    for task, column in _columns(data):
        one, part = _of_task(model, data, task, column)
        scores, names, note = _held_out(one, part)
        how = f" ({counted(one.n_iter_, 'round')}, C = {one.C_:g})" if method == "stwin-svc" else ""
        lines.append(f"  {task}{how}: {figures(scores, names)}{note}")
        of_tasks.append(scores)
    how = "cross-validated; rounds and C chosen for each target" if method == "stwin-svc" else _chosen(model)
    head = f"On held-out graphs ({how}), mean of {len(of_tasks)} targets"
    return "\n".join([*lines, f"{head}: {figures(mean_scores(of_tasks), names)}"])


def _chosen(model: Any) -> str:  # noqa: ANN401
    """Say how the hold-out chose."""
    history = getattr(model, "history_", None)
    if history is not None:
        again = ", before the refit on all graphs" if model.refit else ""
        return f"a tenth; best of {history.n_epochs} epochs: {history.best_epoch + 1}{again}"
    return (
        f"cross-validated; best of {len(model.inner_scores_)} settings: "
        f"{counted(model.n_iter_, 'round')}, C = {model.C_:g}"
    )


def _of_task(model: Any, data: Dataset, task: str, column: Float64) -> tuple[Any, Dataset]:  # noqa: ANN401
    """Return the model of one target, and the graphs for which it is known."""
    known = np.flatnonzero(~np.isnan(column))
    one, y = model.for_task(task), column[known]
    if getattr(one, "held_out_", None) is not None:
        one.held_out_ = np.flatnonzero(np.isin(known, model.held_out_))
        one.held_out_outputs_ = one.held_out_outputs_[np.isin(model.held_out_, known)]
    whole = bool((y == np.floor(y)).all())
    return one, Dataset(data.name, data.graphs[known], y.astype(np.int64) if whole else y)


def _held_out(model: Any, data: Dataset) -> tuple[dict[str, float], list[str], str]:  # noqa: ANN401
    """Return all metrics on the training graphs that were held out to choose the epoch, or rounds and C.

    Beside the scores: their names in order, and for a regressor the error of the simplest prediction.
    """
    names = names_for("classification" if predicts_classes(model) else "regression")
    held = getattr(model, "held_out_", None)
    if held is not None and not len(held):
        return {}, names, ""
    if predicts_classes(model):
        decisions = getattr(model, "held_out_decisions_", None)
        if decisions is None:
            y = data.targets[model.held_out_]
            predicted, probability = answers_of(model, Answered(model.held_out_outputs_))
        else:
            y = data.targets
            predicted, probability = answers_from(model, decisions)
        return measure(Answers(y, predicted, probability, model.classes_), names), names, ""
    numbers = data.targets.astype(np.float64)
    found: Any = getattr(model, "held_out_predictions_", None)
    mean = float(numbers.mean())
    if held is not None:
        mean = float(np.delete(numbers, held).mean())
        numbers, found = numbers[held], model.predict(Answered(model.held_out_outputs_))
    baseline = float(np.sqrt(np.mean((numbers - mean) ** 2)))
    note = f"; always predicting the mean of the training targets ({mean:.4g}) has RMSE {baseline:.3f}"
    return measure(Answers(numbers, found), names), names, note


def _hops(text: str) -> int | str:
    if text == "growing":
        return text
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise TwinWLError(f"--hops: got {text!r}, expected 'growing' or an integer of at least 1")
