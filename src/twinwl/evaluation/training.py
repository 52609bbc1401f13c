"""Training by the name of a method: the estimator, a summary of the data, and metrics on held-out graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from twinwl.datasets.dataset import Dataset
from twinwl.errors import TwinWLError
from twinwl.evaluation.methods import Config, resolve
from twinwl.evaluation.metrics import Task, check_metrics, figures, mean_scores, scorer_for
from twinwl.evaluation.predictions import predicts_classes
from twinwl.models.metrics import Answers, measure, names_for, positive_name

if TYPE_CHECKING:
    from twinwl.arrays import Float64, Values


def new_model(method: str, task: Task, config: Config, *, scoring: str | None = None, seed: int = 0) -> Any:  # noqa: ANN401
    """Return an unfitted classifier or regressor.

    Parameters
    ----------
    method
        A name that `twinwl.evaluate` knows.
    task
        Classification or regression.
    config
        Parameters of the estimator.
    scoring
        The metric that inner choices go by, by its name in `twinwl.evaluate`; None: the default.

    >>> from twinwl.evaluation.metrics import Task
    >>> new_model("stwin-svc", Task("regression", ""), {"n_iter": 2}, scoring="mae", seed=1)
    STwinSVR(n_iter=2, random_state=1, scoring='neg_mean_absolute_error')
    """
    if task.name == "regression" and "class_weight" in config:
        raise TwinWLError("--balanced is for classes, and the targets are numbers; leave it out")
    model: Any = resolve(method).for_task(task).build(dict(config), seed)
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
    graphs = data.graphs
    edges = "arcs" if graphs.directed else "edges"
    head = f"{data.name}: {len(graphs):,} graphs, {graphs.n_nodes:,} nodes, {graphs.n_edges:,} {edges}"
    if not data.tasks:
        noun = data.target or {"classification": "classes", "regression": "targets"}[task]
        return f"{head}; {noun}: {_listing(data.targets, task)}"
    lines = [f"{head}; {len(data.tasks)} targets:"]
    for name, column in _columns(data):
        known = ~np.isnan(column)
        missing = f"; {(~known).sum():,} missing" * (not known.all())
        lines.append(f"  {name}: {_listing(column[known], task)}{missing}")
    return "\n".join(lines)


def _listing(y: Values, task: str) -> str:
    if task == "regression":
        numbers = y.astype(np.float64)
        return f"from {numbers.min():.4g} to {numbers.max():.4g}, mean {numbers.mean():.4g}"
    values, counts = np.unique(y, return_counts=True)
    names = [f"{name:g}" if isinstance(name, float) else f"{name}" for name in values.tolist()]
    return ", ".join(f"{name} ({count:,})" for name, count in zip(names, counts.tolist(), strict=True))


def _columns(data: Dataset) -> Iterator[tuple[str, Float64]]:
    return zip(data.tasks, data.targets.T.astype(np.float64), strict=True)


@dataclass(frozen=True)
class HeldOut:
    """Metrics of one target on the training graphs that were held out to choose the epoch, or rounds and C.

    Attributes
    ----------
    scores : dict
        All metrics that are defined, by name.
    task : {"classification", "regression"}
    chosen : str
        What was chosen, as text.
    positive : str or None
        The positive one of two classes.
    baseline : (float, float) or None
        Of a regressor: the mean of the training targets, and the RMSE of always predicting it.
    """

    scores: dict[str, float]
    task: str
    chosen: str
    positive: str | None
    baseline: tuple[float, float] | None = None

    def __str__(self) -> str:
        text = figures(self.scores, names_for(self.task), self.positive)
        if self.baseline is None:
            return text
        mean, error = self.baseline
        return f"{text}; always predicting the mean of the training targets ({mean:.4g}) has RMSE {error:.3f}"


@dataclass(frozen=True)
class TrainingReport:
    """Metrics on held-out graphs of each target; that of a model of one target has the name ""."""

    targets: dict[str, HeldOut]
    chosen: str

    def __str__(self) -> str:
        found = list(self.targets.values())
        head = f"On held-out graphs ({self.chosen})"
        if "" in self.targets:
            return f"{head}: {found[0]}"
        lines = [f"  {name}{one.chosen and f' ({one.chosen})'}: {one}" for name, one in self.targets.items()]
        positives = {one.positive for one in found}
        mean = HeldOut(
            mean_scores([one.scores for one in found]),
            found[0].task,
            "",
            positives.pop() if len(positives) == 1 else None,
        )
        return "\n".join([*lines, f"{head}, mean of {len(found)} targets: {mean}"])


def fit(model: Any, data: Dataset, positive: str | None = None) -> TrainingReport:  # noqa: ANN401
    """Fit a model, and return how good it is on graphs it did not learn from.

    ``positive`` is the positive one of two classes.
    """
    y = dict(_columns(data)) if data.tasks else data.y  # names in errors and in the model
    model.fit(data.graphs, y, groups=data.groups)
    if not data.tasks:
        settings = (
            "" if _is_network(model) else f"cross-validated; best of {len(model.inner_scores_)} settings: "
        )
        return TrainingReport({"": _held_out(model, data.targets, positive)}, settings + _chosen(model))
    targets = {}
    for task, column in _columns(data):
        known = np.flatnonzero(~np.isnan(column))
        one, numbers = model.for_task(task), column[known]
        if _is_network(model) and model.held_out_ is not None:
            one.held_out_ = np.flatnonzero(np.isin(known, model.held_out_))
            one.held_out_outputs_ = one.held_out_outputs_[np.isin(model.held_out_, known)]
        whole = bool((numbers == np.floor(numbers)).all())
        targets[task] = _held_out(one, numbers.astype(np.int64) if whole else numbers, positive)
    if _is_network(model):
        return TrainingReport(targets, _chosen(model))
    return TrainingReport(targets, "cross-validated; rounds and C chosen for each target")


def _is_network(model: object) -> bool:
    return hasattr(model, "history_")


def _chosen(model: Any) -> str:  # noqa: ANN401
    """Say what the hold-out chose: the epoch of a network, rounds and C of a support vector machine."""
    if not _is_network(model):
        return f"{model.n_iter_} round{'s' * (model.n_iter_ != 1)}, C = {model.C_:g}"
    again = ", before the refit on all graphs" if model.refit else ""
    return f"a tenth; best of {model.history_.n_epochs} epochs: {model.history_.best_epoch + 1}{again}"


def _held_out(model: Any, y: Values, positive: str | None) -> HeldOut:  # noqa: ANN401
    """Return all metrics on the graphs that a model of one target held out."""
    held = getattr(model, "held_out_", None)  # of a network; support vector machines hold out each in turn
    how = "" if _is_network(model) else _chosen(model)
    if predicts_classes(model):
        name = positive_name(model.classes_, positive)
        if held is not None and not len(held):
            return HeldOut({}, "classification", how, name)
        if held is None:
            decisions = model.held_out_decisions_
        else:
            y, decisions = y[held], model.held_out_decisions_
        head = model.heads_[0]
        answers = Answers(y, head.predict(decisions), head.probabilities(decisions), head.classes, positive)
        return HeldOut(measure(answers, names_for("classification")), "classification", how, name)
    numbers = y.astype(np.float64)
    if held is None:
        mean, found = float(numbers.mean()), model.held_out_predictions_
    elif not len(held):
        return HeldOut({}, "regression", how, None)
    else:
        mean = float(np.delete(numbers, held).mean())
        found = model.heads_[0].predict(model.held_out_decisions_)
        numbers = numbers[held]
    baseline = mean, float(np.sqrt(np.mean((numbers - mean) ** 2)))
    scores = measure(Answers(numbers, found), names_for("regression"))
    return HeldOut(scores, "regression", how, None, baseline)
