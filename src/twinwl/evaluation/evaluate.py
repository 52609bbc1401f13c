"""Evaluation of a method on a data set: folds, configurations, processes and the store."""

from __future__ import annotations

import contextlib
import itertools
import math
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.utils.validation import has_fit_parameter

from twinwl.arguments import FLAG, JOBS, MAX_ITEMS, PATH, checked, integer, number, old_names, one_of
from twinwl.arrays import Bool, Int64
from twinwl.datasets.dataset import Dataset
from twinwl.datasets.formats import ReadOptions
from twinwl.datasets.source import read_source, with_extra_features
from twinwl.engines import ENGINES, Engine, engine_of
from twinwl.errors import TwinWLError, held_warnings, setting, shown, warn_caller
from twinwl.evaluation.audit import copies_of
from twinwl.evaluation.methods import MACHINES, USUAL_METHOD, Config, Grid, Method, resolve, told_apart
from twinwl.evaluation.result import (
    ROPE,
    Evaluation,
    MethodComparison,
    ResultStore,
    Row,
    check_protocol,
    key_of,
    row_key,
    versions,
)
from twinwl.evaluation.splits import Fold, Split, groups_of, is_column, read_column, split_of
from twinwl.graphs.batch import GraphBatch
from twinwl.models.base import GraphEstimator, TaskEstimator
from twinwl.models.metrics import (
    METRICS,
    WITHOUT_COPIES,
    answers_of,
    check_metrics,
    check_positive,
    mean_scores,
    names_for,
    scorer_for,
)
from twinwl.models.targets import TASKS, Task, suits, task_of
from twinwl.terminal import ProgressBar

# Parameters of our estimators: the value that shows progress or warns, and the one that is silent.
_QUIET = {"verbose": (None, False), "ignore_features": (False, True)}


@overload
def evaluate(method: list[Any] | tuple[Any, ...], *data: Any, **options: Any) -> MethodComparison: ...  # noqa: ANN401
@overload
def evaluate(method: object = None, *data: Any, **options: Any) -> Evaluation: ...  # noqa: ANN401
@old_names({"splits": "it is now called split"}, progress="verbose")
def evaluate(
    method: object = None,
    dataset: Dataset | str | Path | tuple[object, ...] | None = None,
    protocol: str = "fair",
    *,
    grid: str | Grid | None = None,
    n_folds: int = 10,
    repeats: int = 1,
    seed: int = 0,
    split: object = None,
    groups: str | Sequence[object] | None = None,
    task: str = "auto",
    metrics: Sequence[str] | None = None,
    scoring: str | None = None,
    positive: object = None,
    extra_features: object = None,
    edge_labels: bool | None = None,
    ignore_node_attributes: bool = False,
    n_jobs: int | None = None,
    store: str | Path | None = None,
    verbose: bool | None = None,
    time_budget: float | None = None,
    engine: str = "local",
    address: str | None = None,
    rope: float = ROPE,
) -> Evaluation | MethodComparison:
    """Evaluate a method, or several over the same folds, by cross-validation.

    Parameters
    ----------
    method
        A name (``"stwin-svc"``, ``"stwin"``, ``"ntwin"``, …), an import path ``"module:Class"``, any
        scikit-learn estimator that takes graphs, or a list of these. It may be left out:
        ``evaluate(dataset)`` evaluates ``"stwin-svc"``.
    dataset
        A Dataset, anything `twinwl.load_dataset` accepts, or a tuple ``(graphs, y)`` or ``(graphs, y,
        groups)`` of arguments of `Dataset.from_graphs`.
    protocol
        Protocol of the main figure: ``"fair"``, ``"best-epoch"`` or ``"best-fold-epoch"``. All three are
        computed from the same run.
    grid
        ``"compact"``, ``"paper"``, or a dictionary from parameter to values; None uses the defaults. The
        configuration is chosen on the inner hold-out of each fold.
    n_folds, repeats, seed
        Stratified folds, which keep the groups of the data set together, with seeds ``seed, seed + 1, …``.
    split
        How to split into training and test graphs. ``"stratified"`` (None): seeded folds. ``"scaffold"``: one
        split of molecules by their Bemis-Murcko scaffolds, the most common ones for training, a tenth for
        validation and a tenth for testing, as in MoleculeNet and OGB; ``"scaffold-shuffled"`` orders
        scaffolds by the seed. A file or folder of rows and parts (`twinwl.evaluation.splits`), or
        published splits: ``"gnn-comparison"``, their zip or one JSON file. A column of the table, or one
        value per graph: train, validation (optional) and test; or the number of the fold that tests on the
        graph (-1: none); or years, of which the latest tenth is the test part. A splitter of scikit-learn,
        which is given the groups; or a list of pairs ``(train, test)`` of graph indices. All methods use
        the same folds.
    groups
        A column of the table, or one value per graph: graphs with the same value are kept together in every
        split. None uses those of the data set.
    task
        ``"classification"``, ``"regression"``, or ``"auto"``: by the method or, if it supports both, by the
        targets (`twinwl.models.targets`). The result reports which was chosen.
    metrics
        Names from the table `twinwl.models.metrics.METRICS`, such as ``"accuracy"``, ``"roc-auc"`` or
        ``"rmse"``. The first is the main metric. None computes all metrics that the method supports,
        accuracy or RMSE first. With more than two classes, ranking
        metrics are averaged over the classes, each against the rest. An undefined score, such as a ROC-AUC if
        all test graphs of a fold have the same class, is NaN and not included in the mean, which says so.
    scoring
        The metric that chooses among configurations on the hold-out; None uses accuracy, or RMSE. It is
        passed to methods with a parameter ``scoring``, for their own choices: rounds and C of STwinSVC and
        STwinSVR, the epoch of a network.
    positive
        The one of two classes that average-precision (PR-AUC) is about. None: the second of ``0/1``,
        ``inactive/active``, ``no/yes``, ``-/+`` and ``False/True``, otherwise the last in sorted order. The
        result names it.
    extra_features
        Numbers about whole graphs to learn from beside them: names of columns of the table, ``"rdkit"`` for
        RDKit's 2D descriptors, or an array, DataFrame or dictionary of columns with one row per graph. They
        are scaled inside each training part. Methods that cannot use them are refused.
    edge_labels
        Whether methods use edge labels; methods that cannot are refused. None leaves it to the method, which
        ignores them unless it was built to use them, with a warning if edges have different labels; False
        ignores them without a warning.
    ignore_node_attributes
        Whether to leave continuous node attributes out for every method. Otherwise those that can use them
        do, and the result says which inputs were used.
    n_jobs
        Number of folds that run at the same time; None is one on this machine, and all that a Ray cluster
        has processors for.
    store
        File of results. Finished folds in it are not run again; None keeps results only in the return value.
        One process writes to a store at a time; another one is told that it is in use.
    verbose
        Whether to show a progress bar; None shows it if standard error is a terminal.
    time_budget
        Seconds after which no further fold is started; the result may then lack folds, and the same call with
        the same store continues from there. None runs to the end.
    engine, address
        Where folds run: ``"local"``, in processes on this machine, or ``"ray"``, on a Ray cluster (extra
        ``cluster``) at that address, as in `twinwl.engines.engine_of`. The results are the same.
    rope
        Of several methods: the largest difference of two that are practically equal (region of practical
        equivalence). 0.01 is one point of accuracy; of errors in units of the target, 1 %.

    Returns
    -------
    Evaluation or MethodComparison
        The second for a list of methods: a table of all, and every two of them compared.

    See Also
    --------
    audit : What training and test graphs share.

    Examples
    --------
    >>> import twinwl as tw
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> pipeline = make_pipeline(tw.STwinVectorizer(3), DecisionTreeClassifier(random_state=0))
    >>> result = tw.evaluate(pipeline, "TWINS", n_folds=3)
    >>> result.protocol, len(result.fold_scores)
    ('fair', 3)
    >>> both = tw.evaluate(["wl-svc", pipeline], "TWINS", n_folds=3)
    >>> print(both.pairs[0].names)
    ('wl-svc', 'STwinVectorizer + DecisionTreeClassifier')
    """
    if dataset is None or method is None:  # evaluate(data), evaluate(dataset=data)
        method, dataset = USUAL_METHOD, method if dataset is None else dataset
    check_protocol(protocol)
    edge_labels = checked("edge_labels", edge_labels, FLAG, None)
    n_folds = checked("n_folds", n_folds, integer(2, MAX_ITEMS))
    repeats = checked("repeats", repeats, integer(1, 10_000))
    seed = checked("seed", seed, integer(0, 2**32 - repeats))  # that of the last repeat is a seed too
    n_jobs = checked("n_jobs", n_jobs, JOBS, None)
    on_ray = checked("engine", engine, one_of(*ENGINES)) == "ray"
    workers = effective_n_jobs(n_jobs or 1) if n_jobs or not on_ray else None
    runner = engine_of(engine, workers, address)
    store = checked("store", store, PATH, None)
    verbose = checked("verbose", verbose, FLAG, None)
    time_budget = checked("time_budget", time_budget, number(0), None)
    end = math.inf if time_budget is None else time.monotonic() + time_budget
    rope = checked("rope", rope, number(0))
    methods = [resolve(each) for each in (method if isinstance(method, list | tuple) else [method])]
    if not methods:
        raise TwinWLError("method: got an empty list; name at least one method")
    by_column = read_column(dataset, ReadOptions(), split, "split") if is_column(split) else split
    data = with_extra_features(_load(dataset, groups), extra_features, dataset)
    if checked("ignore_node_attributes", ignore_node_attributes, FLAG):
        data = replace(data, graphs=data.graphs.without_features())
    result = _task(methods[0], data, task)
    methods = [each.for_task(result, data.tasks) for each in methods]
    if edge_labels is not None:
        methods = [each.with_edge_labels(use=edge_labels) for each in methods]
    usual = names_for(result.name)
    measured = usual if metrics is None else check_metrics(metrics, result.name)
    if scoring is not None:
        scoring = check_metrics([scoring], result.name, "scoring")[0]
    request = FoldRequest(
        result.name,
        measured,
        scoring or usual[0],
        choose=False,  # the number of configurations differs by method
        optional=metrics is None,
        positive=check_positive(data, result, positive, scoring),
        last=None if data.tasks else str(np.unique(data.targets)[-1]),
    )
    plan = split_of(data, by_column, n_folds, result.name)
    shares = [len(fold.test) / len(fold.training_part) for fold in plan.folds(seed)]
    planned = []  # everything is checked before the first method runs
    for chosen in told_apart(methods):
        configs = _configs(chosen, grid, scoring)
        planned.append((chosen, configs, _with_inputs(chosen, configs, data, edge_labels)))
    evaluations = []
    for chosen, configs, seen in planned:
        work = _work(chosen, configs, seen, plan, range(seed, seed + repeats), result.name)
        units = {row_key(unit.key): unit for unit in work}
        wanted = request._replace(choose=len(configs) > 1)
        rows, warned = _results(units, seen, wanted, store, runner, end, verbose)
        if warned:
            warn_caller(f"{chosen.title} on {data.name}: {len(warned)} fits warned; the first: {warned[0]}")
        about = (measured[0], rows, result, plan.text, request.positive, float(np.mean(shares)))
        evaluations.append(Evaluation(data.name, chosen.title, protocol, *about))
    several = isinstance(method, list | tuple)
    return MethodComparison(tuple(evaluations), rope) if several else evaluations[0]


def _task(method: Method, data: Dataset, requested: str) -> Task:
    """Choose the task: as requested, or else by the method, or else by the targets."""
    result = task_of(data.targets, requested, data.target, data.tasks)
    only = method.tasks[0]
    if requested == "auto" and result.name not in method.tasks and suits(data.targets, only):
        return Task(only, f"that is what {method.title} does")
    return result


def _with_inputs(method: Method, configs: list[Config], data: Dataset, edge_labels: bool | None) -> Dataset:
    """Return the data as the method shall see them; warn of inputs that no configuration uses.

    The warnings do not name the method: the command line shows equal ones once, and each result lists its
    inputs.
    """
    graphs, estimators = data.graphs, [method.build(config, 0) for config in configs]
    used = [inputs_of(estimator, graphs) for estimator in estimators]
    if edge_labels is False and None in used:  # of another package: whether it uses them cannot be set
        return replace(data, graphs=graphs.without_edge_labels())
    refused = [name for name, value in estimators[0].get_params().items() if value is False]
    if graphs.has_node_features and any(name.rpartition("__")[2] == "ignore_features" for name in refused):
        warn_caller(
            f"{data.name}: not every method uses continuous node attributes; each result lists its inputs, "
            f"and {setting(ignore_node_attributes=True)} leaves attributes out for all methods"
        )
    unused = all(inputs is not None and "edge_labels" not in inputs for inputs in used)
    if edge_labels is None and unused and graphs.has_different_edge_labels:
        warn_caller(
            f"{data.name}: models ignore edge labels unless {setting(edge_labels=True)} is given; "
            f"{setting(edge_labels=False)} silences this"
        )
    return data


def _load(dataset: object, groups: str | Sequence[object] | None) -> Dataset:
    if isinstance(dataset, Dataset):
        data = dataset
    elif isinstance(dataset, tuple) and len(dataset) in {2, 3}:
        graphs, y, own = (*dataset, None)[:3]
        data = Dataset.from_graphs(graphs, y, groups=own)
    elif isinstance(dataset, str | Path):
        data = read_source(dataset, ReadOptions(), "needed")
    else:
        raise TwinWLError(
            f"dataset: got {shown(dataset)}, expected a Dataset, a name, a path or a tuple (graphs, y)"
        )
    if groups is None:
        return data
    named = read_column(dataset, ReadOptions(), groups, "groups") if isinstance(groups, str) else groups
    return replace(data, groups=groups_of(named, data))


def _configs(method: Method, grid: str | Grid | None, scoring: str | None) -> list[Config]:
    """Return the configurations of a grid, each with the scoring if the method has that parameter."""
    configs = method.configs(grid)
    if scoring is None:
        return configs
    estimator = method.build({}, 0)
    scorer = scorer_for(estimator, scoring)
    if scorer is not None:
        return [{"scoring": scorer, **config} for config in configs]
    if len(configs) == 1:
        if "scoring" in estimator.get_params(deep=False):
            raise TwinWLError(f"scoring: {method.title} cannot choose by {scoring}; use another metric")
        raise TwinWLError(
            f"scoring: got {scoring!r}, but {method.title} has one configuration and no parameter scoring, "
            "so nothing is chosen by it; give a grid, or leave scoring out"
        )
    return configs


def _work(
    method: Method, configs: list[Config], data: Dataset, split: Split, seeds: range, task: str
) -> Iterator[Unit]:
    kind = split.kind if task == TASKS[0] else f"{split.kind}, {task}"  # some methods support both
    # Machines choose by held-out scaffolds since their version 3; other graphs have the same results.
    version = method.version + (data.graphs.atoms is not None and method.home in MACHINES)
    for seed in seeds:
        for place, fold in enumerate(split.folds(seed)):
            for config in configs:
                key = key_of(data, method.name, version, config, kind, seed=seed, fold=place)
                yield Unit(key, method, fold)


def _results(
    units: dict[str, Unit],
    data: Dataset,
    request: FoldRequest,
    path: str | Path | None,
    engine: Engine,
    end: float,
    progress: bool | None,
) -> tuple[list[Row], list[str]]:
    """Run the units whose results the store lacks, until the time is up; return all results, and warnings."""
    with contextlib.ExitStack() as stack:
        if path is None:
            path = Path(stack.enter_context(tempfile.TemporaryDirectory()), "results.jsonl")
        store = ResultStore(path)
        known = {row_key(row): row for row in store.rows()}
        warned: list[str] = []
        missing = [
            unit for key, unit in units.items() if key not in known or not _covers(known[key], request)
        ]
        if missing and time.monotonic() < end:
            title, done = f"{missing[0].method.title} on {data.name}", len(units) - len(missing)
            stack.enter_context(store.held())
            bar = stack.enter_context(ProgressBar(title, len(units), done=done, show=progress))
            stack.enter_context(engine)
            copies = copies_of(data.graphs)
            tasks = ((unit,) for unit in itertools.takewhile(lambda _: time.monotonic() < end, missing))
            for _, (row, messages) in engine.run(_run_one, tasks, shared=(data, copies, request)):
                known[row_key(row)] = store.append(row)
                warned += messages[:1]
                bar.advance()
        return [known[key] for key in units if key in known], warned


def _covers(row: Row, request: FoldRequest) -> bool:
    """Whether a stored result has everything that is needed; optional metrics may be missing."""
    metrics = row.get("metrics", ())
    wanted = names_for(request.task)[:1] if request.optional else request.metrics
    chosen_alike = not request.choose or row.get("scoring", "accuracy") == request.scoring
    about_positive = any(METRICS[name].of_positive for name in (*metrics, request.scoring))
    same_positive = request.positive in {None, row.get("positive", request.last or request.positive)}
    alike = chosen_alike and (same_positive or not about_positive)
    return "curves" in row and alike and set(wanted) <= set(metrics)


def _run_one(unit: Unit, data: Dataset, copies: Int64, request: FoldRequest) -> tuple[Row, list[str]]:
    """Run one unit; its warnings are part of the result, because other processes cannot warn the caller."""
    with held_warnings() as messages:
        row = run_fold(unit, data, copies, request)
    return row, messages


class Unit(NamedTuple):
    """One fold of one configuration: the key of its result in the store, the method and the fold."""

    key: Row
    method: Method
    fold: Fold

    def build(self) -> BaseEstimator:
        """Return a new estimator for this unit that neither shows progress nor warns of unused attributes.

        The evaluation does both, once for all fits.
        """
        estimator = self.method.build(self.key["config"], self.key["seed"])
        quiet = {}
        for name, value in estimator.get_params().items():
            usual, silent = _QUIET.get(name.rpartition("__")[2], (..., ...))
            if value is usual:
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
    positive : str or None
        The positive one of two classes; None if there are more classes, or numbers.
    last : str or None
        The class that was the positive one in results that do not name it; None if there are several tasks.
    """

    task: str
    metrics: list[str]
    scoring: str
    choose: bool
    optional: bool
    positive: str | None = None
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
    inputs = inputs_of(estimator, data.graphs)
    if inputs is not None and "edge_labels" not in inputs:
        # Each fit would warn that it ignores them.
        data = replace(data, graphs=data.graphs.without_edge_labels())
    fold, graphs, y = unit.fold, data.graphs, data.targets
    train = _train_by_epochs if _has_epochs(estimator) else _train_at_once
    trained = train(estimator, unit, data, request)
    metrics = [
        name
        for name in request.metrics
        if not (request.optional and METRICS[name].needs_probabilities) or hasattr(estimator, "predict_proba")
    ]
    answers = answers_of(estimator, graphs[fold.test], y[fold.test], metrics, data.tasks, request.positive)
    scores = answers.measure(metrics)
    leaked = leaked_test_graphs(copies, fold)
    if leaked.any() and not leaked.all():
        headline = names_for(request.task)[0]
        without = answers.part(~leaked).measure([headline])
        scores |= {headline + WITHOUT_COPIES: without[headline]} if headline in without else {}
    row: Row = {
        **unit.key,
        **trained,
        "scores": scores,
        "metrics": metrics,
        "n_test": len(fold.test),
        "n_leaked": int(leaked.sum()),
        "seconds": round(time.perf_counter() - began, 3),
        "peak_memory": _peak_memory(),
        "versions": versions(),
        "task": request.task,
        "scoring": request.scoring,
    }
    if request.positive is not None:
        row["positive"] = request.positive
    if inputs is not None:
        row["inputs"] = inputs
    return {**row, "tasks": list(data.tasks)} if data.tasks else row


def _train_by_epochs(estimator: BaseEstimator, unit: Unit, data: Dataset, request: FoldRequest) -> Row:
    """Fit; the hold-out chooses the epoch. Return what is recorded of the training."""
    fold, graphs, y = unit.fold, data.graphs, data.targets
    estimator.fit(
        graphs[fold.train],
        _targets(estimator, data, fold.train),
        validation_data=(graphs[fold.validation], y[fold.validation]),
        monitor_data=(graphs[fold.test], y[fold.test]),
    )
    history = estimator.history_
    curves: dict[str, list[float]] = {"validation_loss": history.validation_loss}
    if request.task == "classification" and not data.tasks:  # several tasks have no curves of accuracy
        curves |= {"validation": history.validation_accuracy, "test": history.monitor_accuracy}
    score: float | None = None
    if request.scoring == "accuracy" and not data.tasks:
        score = history.best_validation_accuracy
    elif request.choose:
        score = _hold_out_score(estimator, unit, data, request)
    epochs, best = history.n_epochs, history.best_epoch
    return {"validation_score": score, "curves": curves, "epochs": epochs, "best_epoch": best}


def _train_at_once(estimator: BaseEstimator, unit: Unit, data: Dataset, request: FoldRequest) -> Row:
    """Fit on all that may be learnt from; to choose among configurations, also without the hold-out."""
    score: float | None = None
    if request.choose:
        without = unit.build()
        _fit(without, data, unit.fold.train)
        score = _hold_out_score(without, unit, data, request)
    _fit(estimator, data, unit.fold.training_part)
    return {"validation_score": score, "curves": {}, "epochs": 0, "best_epoch": -1}


def leaked_test_graphs(copies: Int64, fold: Fold) -> Bool:
    """Mark the test graphs that have a copy in the training part, hold-out included, shape (n_test,).

    >>> fold = Fold(np.array([0]), np.array([], int), np.array([1, 2]))
    >>> leaked_test_graphs(np.array([0, 1, 0]), fold).tolist()
    [False, True]
    """
    return np.isin(copies[fold.test], copies[fold.training_part])


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


def _has_epochs(estimator: BaseEstimator) -> bool:
    return all(has_fit_parameter(estimator, name) for name in ("validation_data", "monitor_data"))


def _hold_out_score(estimator: BaseEstimator, unit: Unit, data: Dataset, request: FoldRequest) -> float:
    """Return the score on the hold-out of an estimator that was trained without it."""
    held = unit.fold.validation
    if getattr(estimator, "refit", False) is True and _has_epochs(estimator):
        # By now it has learnt from the hold-out: judge what it predicted before.
        reports = estimator.report_.about(request.positive).targets.values()
        score = mean_scores([report.scores for report in reports]).get(request.scoring)
    else:
        answers = answers_of(
            estimator, data.graphs[held], data.targets[held], [request.scoring], data.tasks, request.positive
        )
        score = answers.measure([request.scoring]).get(request.scoring)
    if score is None:
        raise TwinWLError(
            f"scoring: {request.scoring} is undefined on the {len(held)} graphs held out in fold "
            f"{unit.key['fold']}, which lack a class; choose another scoring or split"
        )
    return score


def _fit(estimator: BaseEstimator, data: Dataset, part: Int64) -> None:
    """Fit on some graphs; their groups are passed to methods that can keep groups together."""
    passed = data.groups is not None and has_fit_parameter(estimator, "groups")
    extra = {"groups": data.groups[part]} if passed else {}  # type: ignore[index]
    estimator.fit(data.graphs[part], _targets(estimator, data, part), **extra)


def _targets(estimator: BaseEstimator, data: Dataset, part: Int64) -> object:
    """Return the targets of some graphs; several by name if the estimator accepts names, for messages."""
    y = data.targets[part]
    return dict(zip(data.tasks, y.T)) if data.tasks and isinstance(estimator, TaskEstimator) else y


def _peak_memory() -> int:
    """Return the peak resident memory of this process so far, in bytes; 0 if it is unknown."""
    try:
        import resource  # noqa: PLC0415  (POSIX only)
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
