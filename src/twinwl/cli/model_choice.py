"""The estimator that ``twinwl train`` fits, from its method and options, and the summary it prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from twinwl.errors import TwinWLError, import_name, nearest
from twinwl.progress import ProgressBar
from twinwl.report.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from twinwl.datasets.dataset import Dataset

__all__ = ["METHODS", "check_method", "fit", "new_model", "summary_of"]


class _Method(NamedTuple):
    classifier: tuple[str, str]
    regressor: tuple[str, str]
    options: tuple[str, ...]


_OF_STWIN = ("n_iter", "features", "initial")
METHODS = {
    "stwin": _Method(
        ("twinwl.stwin.classifier", "STwinClassifier"),
        ("twinwl.stwin.regressor", "STwinRegressor"),
        (*_OF_STWIN, "hidden"),
    ),
    "stwin-svc": _Method(("twinwl.stwin.svc", "STwinSVC"), ("twinwl.stwin.svr", "STwinSVR"), _OF_STWIN),
    "ntwin": _Method(
        ("twinwl.ntwin.classifier", "NTwinClassifier"),
        ("twinwl.ntwin.regressor", "NTwinRegressor"),
        ("layers", "hops", "hidden", "root_mark"),
    ),
}


def check_method(method: str, options: Mapping[str, object]) -> None:
    """Refuse an unknown method, or one that does not have an option, before anything heavy is loaded."""
    if method not in METHODS:
        raise TwinWLError(f"--method is {method!r}; {nearest(method, METHODS)}")
    for name, value in options.items():
        if value is not None and name not in METHODS[method].options:
            owners = [other for other, about in METHODS.items() if name in about.options]
            flag = "--" + name.replace("_", "-")
            raise TwinWLError(
                f"{flag} cannot be used with --method {method}, only with {' and '.join(owners)}"
            )
    if options.get("hops") is not None:
        _hops(str(options["hops"]))


def new_model(
    method: str,
    options: Mapping[str, object],
    *,
    edge_labels: bool,
    balanced: bool,
    seed: int,
    task: str = "classification",
) -> Any:  # noqa: ANN401  (estimators share no base that has fit)
    """Return an unfitted estimator.

    Parameters
    ----------
    method
        One of `METHODS`.
    options
        Parameters of the estimator by name; None means the estimator's default.
    edge_labels, balanced, seed
        Parameters that every method has; only classes can be balanced.
    task
        ``"classification"`` or ``"regression"``.

    Raises
    ------
    TwinWLError
        If the method is unknown, or does not have the option.

    >>> new_model("stwin-svc", {"n_iter": 2}, edge_labels=False, balanced=False, seed=1)
    STwinSVC(n_iter=2, random_state=1)
    """
    check_method(method, options)
    given = {name: value for name, value in options.items() if value is not None}
    if balanced and task == "regression":
        raise TwinWLError("--balanced is for classes, and the targets are numbers; leave it out")
    home, kind = METHODS[method].classifier if task == "classification" else METHODS[method].regressor
    if "hops" in given:
        given["hops"] = _hops(str(given["hops"]))
    if edge_labels:
        given["edge_labels"] = True
    if balanced:
        given["class_weight"] = "balanced"
    return import_name(home, kind)(**given, random_state=seed)


def summary_of(data: Dataset) -> str:
    """Describe the training data.

    >>> from twinwl.datasets.dataset import Dataset
    >>> summary_of(Dataset.from_graphs([[(0, 1)], [(0, 1), (1, 2)]], ["no", "yes"], name="tiny"))
    'tiny: 2 graphs, 5 nodes, 3 edges; classes: no 1, yes 1'
    """
    size = ", ".join(
        [
            counted(len(data.graphs), "graph"),
            counted(data.graphs.n_nodes, "node"),
            counted(data.graphs.n_edges, "arc" if data.graphs.directed else "edge"),
        ]
    )
    listing = ", ".join(f"{name} {count:,}" for name, count in data.card.classes or ()) or "measured"
    return f"{data.name}: {size}; {data.target or 'classes'}: {listing}"


def fit(model: Any, data: Dataset, method: str) -> str:  # noqa: ANN401
    """Fit the model, and return a sentence about how good it is on graphs it did not learn from."""
    if method == "stwin-svc":
        with ProgressBar("choosing rounds and C"):
            model.fit(data.graphs, data.y, groups=data.groups)
        chosen = (
            f"cross-validated; best of {len(model.inner_scores_)} settings: "
            f"{model.n_iter_} rounds, C = {model.C_:g}"
        )
    else:
        model.fit(data.graphs, data.y, groups=data.groups)  # it has its own progress bar
        history = model.history_
        chosen = f"a tenth; best of {history.n_epochs} epochs: {history.best_epoch + 1}"
    return f"On held-out graphs ({chosen}): {_held_out_figures(model, data)}"


def _held_out_figures(model: Any, data: Dataset) -> str:  # noqa: ANN401
    """Return all metrics on the training graphs that were held out to choose the epoch, or rounds and C."""
    from twinwl.cli.model_files import answers_from, answers_of  # noqa: PLC0415
    from twinwl.evaluation.metrics import Answers, figures, measure, names_for  # noqa: PLC0415

    held = getattr(model, "held_out_", None)  # of networks; support vector machines hold every graph out once
    if hasattr(model, "classes_"):
        names = names_for("classification")
        y = data.targets if held is None else data.targets[held]
        found = (
            answers_from(model, model.held_out_decisions_)
            if held is None
            else answers_of(model, data.graphs[held])
        )
        answers = Answers(y, *found, model.classes_)
    elif held is None:
        return figures({"r2": model.inner_score_}, ["r2"])
    else:
        names = names_for("regression")
        answers = Answers(data.targets[held], model.predict(data.graphs[held]))
    return figures(measure(answers, names), names)


def _hops(text: str) -> int | str:
    if text == "growing":
        return text
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise TwinWLError(f"--hops: got {text!r}, expected 'growing' or an integer from 1 on")
