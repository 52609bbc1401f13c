"""Classes to predict, the weights and groups of their graphs; from decisions to classes and scores.

Reading of ``y``: one target per graph, or a table of tasks in which entries may be missing.

Models of several tasks: one method asked once per task, and the model of one task.

Numbers to predict, checked and standardised.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from twinwl.arguments import (
    FLAG,
    MAX_ITEMS,
    NAME,
    checked,
    foreign_array,
    instance,
    integer,
    items,
    number,
    one_of,
)
from twinwl.arrays import Bool, Float64, Int64, Values
from twinwl.errors import TwinWLError, shown
from twinwl.models.metrics import positive_class, score_classes, score_numbers

if TYPE_CHECKING:
    from twinwl.graphs.atom_labels import AtomLevel
    from twinwl.graphs.batch import GraphBatch
    from twinwl.graphs.coercion import GraphsLike

_Made = TypeVar("_Made")
_EXACT = 2**53  # beyond, floats skip whole numbers


@dataclass(frozen=True, eq=False)
class Tasks:
    """A table of targets.

    Attributes
    ----------
    names : tuple of str
        Name of each task: the column of a DataFrame or the key of a dictionary, else ``y0``, ``y1``, ….
    columns : tuple of array, each of shape (n_graphs,)
        The targets of each task. Whole numbers are integers, even where NaN had made them floats.
    known : array of bool, shape (n_graphs, n_tasks)
        Which of them are known; the others are NaN, None or the like in what the user gave.
    """

    names: tuple[str, ...]
    columns: tuple[Values, ...]
    known: Bool

    @classmethod
    def of(cls, y: object, n_graphs: int, *, empty: bool = False) -> Tasks | None:
        """Read a table of targets; None if there is one target per graph, which is for `column_of` to check.

        ``empty`` allows columns without any target.

        Raises
        ------
        TwinWLError
            If the table has no column, another number of rows than there are graphs, two columns of one name,
            an infinite number, values of several kinds in one column, or a column without any target.

        >>> tasks = Tasks.of(np.array([[0, 1.5], [1, np.nan]]), 2)
        >>> tasks.names, tasks.columns[0], tasks.known[:, 1]
        (('y0', 'y1'), array([0, 1]), array([ True, False]))
        >>> Tasks.of([0, 1], 2) is None
        True
        """
        table = _columns(y)
        if table is None:
            return None
        names, columns = table
        if not columns:
            raise TwinWLError("targets: got a table without columns, expected one per task")
        if len(columns[0]) != n_graphs:
            raise TwinWLError(
                f"there are {n_graphs} graphs but {len(columns[0])} rows of targets; give one per graph"
            )
        found, known = zip(*map(_completed, columns, names, [empty] * len(names)), strict=True)
        return cls(tuple(names), found, np.stack(known, axis=1))

    def each(self, make: Callable[..., _Made], *arguments: Iterable[Any]) -> list[_Made]:
        """Call a function once per task, with that task's arguments; errors name the task."""
        made = []
        for name, *given in zip(self.names, *arguments, strict=True):
            try:
                made.append(make(*given))
            except TwinWLError as error:
                raise TwinWLError(f"task {name!r}: {error}") from error
        return made


def column_of(values: object, n_graphs: int, name: str) -> Values:
    """Return one value per graph as an array of one axis."""
    if values is None:
        raise TwinWLError("this requires y to be passed, but the target y is None; give one class per graph")
    if getattr(values, "columns", None) is not None:  # a frame; of one column, for others are tasks
        values = foreign_array(name, values)
    array = values if isinstance(values, np.ndarray) else as_array(_listed(values, name), name)
    if array.ndim == 2 and array.shape[1] == 1:  # noqa: PLR2004  (a data frame's column)
        from sklearn.exceptions import DataConversionWarning  # noqa: PLC0415  (slow; seldom needed)

        message = "A column-vector y was passed when a 1d array was expected; pass y.ravel()"
        warnings.warn(message, DataConversionWarning, stacklevel=4)
        array = array[:, 0]
    check_length(array, n_graphs, name)
    return array


def refuse_missing(targets: Values) -> None:
    """Refuse None, NaN, infinity and the like, naming the first."""
    if targets.dtype.kind == "O":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # objects may have their own ideas about equality
            missing = np.array([is_absent(value) for value in targets.tolist()], bool)
    elif targets.dtype.kind in "fc":
        missing = ~np.isfinite(targets)
    elif targets.dtype.kind in "mM":
        missing = np.isnat(targets)
    else:
        return
    if missing.any():
        first = int(np.flatnonzero(missing)[0])
        raise TwinWLError(
            f"target {first} is {shown(targets.tolist()[first])} ({np.count_nonzero(missing)} of "
            f"{len(targets)} are missing); leave those graphs out"
        )


def is_absent(value: object) -> bool:
    """Tell None, NaN and the like; what cannot even be compared with itself counts as missing too."""
    try:
        return value is None or not bool(value == value)  # noqa: PLR0124
    except Exception:  # noqa: BLE001
        return True


def as_array(values: list[object], name: str) -> Values:
    """Turn a list into an array without letting NumPy mix kinds: [1, "a"] stays an int and a string."""
    kinds = {type(value) for value in values}
    if kinds & {list, dict, set, np.ndarray}:
        raise TwinWLError(f"{name}: got entries that are collections, expected one value per graph")
    if len(kinds) == 1 or kinds <= {int, float, bool}:
        array = foreign_array(name, values)
        if array.ndim == 1 and array.dtype.kind != "O":
            return array
    out = np.empty(len(values), object)
    for place, value in enumerate(values):
        out[place] = value
    return out


def _columns(y: object) -> tuple[list[str], list[Values]] | None:
    """Cut a table into named columns; None if it is not a table, or has one column."""
    if isinstance(y, dict):
        names = [str(name) for name in y]
        lists = [items(f"targets of task {name!r}", y[name], "one target per graph") for name in y]
        if len({len(values) for values in lists}) > 1:
            raise TwinWLError(
                "targets: got columns of different lengths, expected one entry per graph in each"
            )
        return names, [as_array(values, "targets") for values in lists]
    keys = getattr(y, "columns", None)
    if keys is not None and getattr(y, "to_numpy", None) is not None:  # a frame of pandas or polars
        names = [str(key) for key in items("targets", keys, "a frame with named columns")]
        if len(names) == 1:
            return None
        _refuse_repeated(names)
        # One by one, because a column of strings would make objects of all.
        lists = [items("targets", y[key].to_list(), "a column") for key in keys]  # type: ignore[index]
        return names, [as_array(values, "targets") for values in lists]
    table = _table(y)
    if table is None or table.ndim != 2 or table.shape[1] == 1:  # noqa: PLR2004
        return None
    return [f"y{place}" for place in range(table.shape[1])], list(table.T)


def _table(y: object) -> NDArray[Any] | None:
    """Return an array, or rows of equal length, as an array; None for all else."""
    if isinstance(y, np.ndarray):
        return y
    if not isinstance(y, list):
        if getattr(y, "__array__", None) is None:
            return None
        with contextlib.suppress(TwinWLError):  # told where targets are read as one per graph
            return foreign_array("targets", y)
        return None
    # An array without axes is one value, not a row.
    if not y or not all(
        isinstance(row, list | tuple) or (isinstance(row, np.ndarray) and row.ndim) for row in y
    ):
        return None
    lengths = {len(row) for row in y}
    if len(lengths) > 1:
        raise TwinWLError(
            f"targets: got rows of {min(lengths)} to {max(lengths)} entries, expected one per task in each"
        )
    table = np.empty((len(y), lengths.pop()), object)
    for place, row in enumerate(y):
        for task, entry in enumerate(row):
            table[place, task] = entry
    return table


def _refuse_repeated(names: list[str]) -> None:
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise TwinWLError(
            f"targets: {names.count(repeated[0])} columns are called {repeated[0]!r}; rename all but one"
        )


def _completed(values: NDArray[Any], name: str, empty: bool) -> tuple[Values, Bool]:
    """Return a task's targets, zeros where they are unknown, and which are known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # objects may have their own ideas about equality
        known = ~np.array([is_absent(value) for value in values.tolist()], np.bool_)
    if not known.any():
        if empty:
            return np.zeros(len(values), np.int64), known
        raise TwinWLError(f"task {name!r}: all {len(values):,} targets are missing; leave that task out")
    found = values[known]
    if found.dtype.kind == "O":
        kinds = [int if kind in {int, float} else kind for kind in map(type, found.tolist())]
        odd = [place for place, kind in enumerate(kinds) if kind is not kinds[0]]
        if odd:
            row = int(np.flatnonzero(known)[odd[0]])
            raise TwinWLError(
                f"task {name!r}: target {row} is {shown(found[odd[0]])}, of another kind than "
                f"{shown(found[0])} before it; use numbers or strings alone in a column"
            )
        found = as_array(found.tolist(), "targets")
    if found.dtype.kind == "f":
        if np.isinf(found).any():
            row = int(np.flatnonzero(known)[np.isinf(found)][0])
            raise TwinWLError(f"task {name!r}: target {row} is infinite; correct it, or set it to NaN")
        if (found == np.floor(found)).all() and np.abs(found).max() <= _EXACT:
            found = found.astype(np.int64)
    column = np.zeros(len(values), found.dtype)
    column[known] = found
    return column, known


def _listed(values: object, name: str) -> list[object]:
    """Return a list; series, tensors and what only knows how to become an array are asked themselves."""
    if getattr(values, "__array__", None) is not None and getattr(values, "tolist", None) is None:
        values = foreign_array(name, values)
    with contextlib.suppress(Exception):
        values = values.tolist()  # type: ignore[attr-defined]
    return items(name, values, "a list, one entry per graph")


def check_length(array: Values, n_graphs: int, name: str) -> None:
    """Refuse an array that is not one entry per graph."""
    if array.ndim != 1:
        raise TwinWLError(f"{name}: got shape {array.shape}, expected one dimension, one entry per graph")
    if len(array) != n_graphs:
        raise TwinWLError(f"there are {n_graphs} graphs but {len(array)} {name}; give one per graph")


_LIGHTEST, _HEAVIEST = 1e-12, 1e12  # so that sums and products of weights are finite
_WEIGHT = (number(_LIGHTEST, _HEAVIEST), number(0, 0))


@dataclass(frozen=True, eq=False)
class Given:
    """The user's weights and groups of the graphs, checked and as numbers.

    Attributes
    ----------
    rows : array of int64
        The graphs that count, sorted; those of weight 0 are ignored.
    weights : array of float64, or None
        Weight of each graph, if given.
    groups : array of int64, or None
        Number of each graph's group, if given.
    """

    rows: Int64
    weights: Float64 | None
    groups: Int64 | None

    def counted(self, batch: GraphBatch) -> GraphBatch:
        """Return the graphs that count."""
        return batch if len(self.rows) == len(batch) else batch[self.rows]

    @property
    def weighed(self) -> bool:
        """Whether some graphs may count more than others."""
        return self.weights is not None

    def importance(self) -> Float64:
        """Return how much each graph weighs in all."""
        return np.ones(len(self.rows)) if self.weights is None else self.weights


@dataclass(frozen=True, eq=False)
class Targets(Given):
    """The classes to predict.

    Attributes
    ----------
    classes : array
        The classes of the graphs that count, sorted.
    codes : array of int64
        Index of each graph's class among them.
    weight_of_class : array of float64, or None
        Weight of each class, if given.
    """

    classes: Values
    codes: Int64
    weight_of_class: Float64 | None

    @classmethod
    def of(
        cls,
        y: object,
        n_graphs: int,
        sample_weight: object,
        class_weight: object,
        groups: object,
        known: Bool | None = None,
    ) -> Targets:
        """Check the user's input and convert it to numbers.

        Parameters
        ----------
        y
            The class of each graph.
        n_graphs
            How many graphs there are.
        sample_weight
            How much each graph weighs, or None.
        class_weight
            None, "balanced" or a dictionary from class to weight.
        groups
            Something for each graph that is equal within a group, or None.
        known : array of bool, shape (n_graphs,), optional
            Whether each graph's target is known; others do not count. None: all are.

        Raises
        ------
        TwinWLError
            If a target is missing, a measurement instead of a class, or all are of one class; if a weight is
            not finite or below 0.

        >>> targets = Targets.of(["yes", "no", "yes"], 3, None, "balanced", None)
        >>> targets.classes, targets.codes, targets.weight_of_class
        (array(['no', 'yes'], dtype='<U3'), array([1, 0, 1]), array([1.5 , 0.75]))
        """
        column, given = given_for(y, n_graphs, sample_weight, groups, known)
        classes, codes = _classes(column, given.rows)
        by_class = _class_weights(class_weight, classes, codes, given.weights)
        return cls(given.rows, given.weights, given.groups, classes, codes, by_class)

    @property
    def answers(self) -> Int64:
        """What a machine learns."""
        return self.codes

    @property
    def weighed(self) -> bool:
        """Whether some graphs may count more than others, by themselves or by their class."""
        return super().weighed or self.weight_of_class is not None

    def importance(self) -> Float64:
        """Return how much each graph weighs, its class included."""
        own = super().importance()
        return own if self.weight_of_class is None else own * self.weight_of_class[self.codes]

    def score(self, decisions: Float64, scoring: str = "accuracy") -> float:
        """Return how good decisions are, graphs weighed by their importance.

        Parameters
        ----------
        decisions : array, shape (n_graphs,) for two classes, else (n_graphs, n_classes)
        scoring
            One of `SCORINGS`.

        >>> targets = Targets.of([0, 0, 0, 1], 4, None, None, None)
        >>> [targets.score(np.array([-3.0, -2, -2, -1]), name) for name in ("accuracy", "roc_auc")]
        [0.75, 1.0]
        """
        positive = positive_class(self.classes)
        return score_classes(self.codes, decisions, scoring, self.importance(), positive)


def given_for(
    y: object, n_graphs: int, sample_weight: object, groups: object, known: Bool | None = None
) -> tuple[Values, Given]:
    """Return the targets that count, and all else that was said about their graphs."""
    column = column_of(y, n_graphs, "targets")
    weights = sample_weights(sample_weight, n_graphs)
    rows = np.arange(n_graphs) if weights is None else np.flatnonzero(weights)
    rows = rows if known is None else rows[known[rows]]
    if not len(rows):
        raise TwinWLError("every training graph has a weight of zero; give some a positive weight")
    numbers = None if groups is None else _distinct(column_of(groups, n_graphs, "groups")[rows])[1]
    return column[rows], Given(rows, None if weights is None else weights[rows], numbers)


def codes_of(y: object, classes: Values, n_graphs: int) -> Int64:
    """Return the place of each target among known classes; one that training never saw becomes -1.

    >>> codes_of(["no", "maybe"], np.array(["no", "yes"]), 2)
    array([ 0, -1])
    """
    targets = column_of(y, n_graphs, "targets")
    refuse_missing(targets)
    place = {value: code for code, value in enumerate(classes.tolist())}

    def code_of(value: object) -> int:
        try:
            return place.get(value, -1)
        except Exception:  # noqa: BLE001  (what cannot be looked up is not a class)
            return -1

    return np.array([code_of(value) for value in targets.tolist()], np.int64)


def probabilities_of(logits: Float64) -> Float64:
    """Return the probability of each class, shape (n, n_classes), from decision values that are logits.

    >>> probabilities_of(np.array([0.0])).tolist()
    [[0.5, 0.5]]
    """
    scores = logits[:, None] if logits.ndim == 1 else logits
    if scores.shape[1] == 1:  # two classes share one value
        scores = np.hstack([np.zeros_like(scores), scores])
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _classes(targets: Values, rows: Int64) -> tuple[Values, Int64]:
    """Return the sorted classes and each graph's place among them; ``rows`` are for messages."""
    refuse_missing(targets)
    if targets.dtype.kind == "f" and (wrong := np.flatnonzero(targets != np.floor(targets))).size:
        raise TwinWLError(
            f"target {rows[wrong[0]]} is {targets[wrong[0]]}: these look like continuous measurements; "
            "a classifier needs classes; take a regressor, such as STwinSVR, or cut them into ranges"
        )
    classes, codes = _distinct(targets)
    if len(classes) < 2:  # noqa: PLR2004
        raise TwinWLError(
            f"all {len(targets)} graphs are of one class, {shown(classes.tolist()[0])}; give graphs of at "
            "least two"
        )
    return classes, codes


def sample_weights(sample_weight: object, n_graphs: int) -> Float64 | None:
    """Return the weight of each graph, checked; None if none are given."""
    if sample_weight is None:
        return None
    weights = foreign_array("sample_weight", sample_weight, np.float64)
    check_length(weights, n_graphs, "sample_weight")
    for place in np.flatnonzero(~((weights >= _LIGHTEST) & (weights <= _HEAVIEST))).tolist():
        checked(f"sample_weight[{place}]", float(weights[place]), *_WEIGHT)
    return weights


def _class_weights(
    class_weight: object, classes: Values, codes: Int64, weights: Float64 | None
) -> Float64 | None:
    """Return the weight of each class; ``"balanced"`` gives each class the same total weight."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        checked("class_weight", class_weight, one_of("balanced"))
        total = np.bincount(codes, weights, len(classes)).astype(np.float64)
        return total.sum() / (len(classes) * total)
    given = dict(checked("class_weight", class_weight, instance(dict)))
    named = [(value, given.pop(value, 1.0)) for value in classes.tolist()]
    if given:
        raise TwinWLError(
            f"class_weight: got a weight for {shown(next(iter(given)))}, which is not in y; classes: "
            f"{shown(classes.tolist())}"
        )
    return np.array([checked(f"class_weight[{shown(value)}]", found, *_WEIGHT) for value, found in named])


def _distinct(values: Values) -> tuple[Values, Int64]:
    try:
        distinct, codes = np.unique(values, return_inverse=True)
    except Exception as error:  # objects may raise anything when they are compared
        kinds = sorted({type(value).__name__ for value in values.tolist()})
        raise TwinWLError(
            f"values of the kinds {', '.join(kinds)} have no common order; use one kind"
        ) from error
    return distinct, codes.astype(np.int64)


_Values = TypeVar("_Values")
_Method = TypeVar("_Method", bound="Callable[..., Any]")
_LISTED = 20


@dataclass(frozen=True, eq=False)
class Answered(Generic[_Values]):
    """Results of a model of several tasks for some graphs, passed to the model of one task."""

    values: _Values


def per_task(join: Callable[[list[Any], tuple[str, ...]], Any]) -> Callable[[_Method], _Method]:
    """Let a method of one task's model serve models of several: asked once per task, answers joined.

    Parameters
    ----------
    join
        From the answers and the names of the tasks to what is returned.
    """

    def decorate(method: _Method) -> _Method:
        @functools.wraps(method)
        def asked(self: MultiTask, X: GraphsLike, *args: object, **kwargs: object) -> object:
            if self.tasks_ is None:
                return method(self, X, *args, **kwargs)
            answers = [method(model, known, *args, **kwargs) for model, known in self._ask(X)]
            return join(answers, self.tasks_)

        return cast("_Method", asked)

    return decorate


def side_by_side(answers: list[Values], names: Sequence[str]) -> Values:
    """Return one column per task; objects, where some are numbers and some are not.

    >>> side_by_side([np.array([1, 0]), np.array(["a", "b"])], ["y0", "y1"]).tolist()
    [[1, 'a'], [0, 'b']]
    """
    wide = [name for name, answer in zip(names, answers, strict=True) if answer.ndim > 1]
    if wide:
        raise TwinWLError(
            f"task {wide[0]!r} has more than two classes, so it has more than one value per graph; call "
            f"for_task({wide[0]!r}) instead"
        )
    same = len({answer.dtype.kind in "biuf" for answer in answers}) == 1
    return np.stack(answers if same else [answer.astype(object) for answer in answers], axis=1)


def one_each(answers: list[_Made], names: Sequence[str]) -> list[_Made]:  # noqa: ARG001
    """Return one answer per task."""
    return answers


class MultiTask:
    """Learning of several tasks at once, from a table of targets with missing entries.

    ``fit`` takes ``y`` of shape (n_graphs, n_tasks), an array or a DataFrame (or a dictionary of columns),
    with NaN (or None) where a target is unknown. As for scikit-learn's estimators with several outputs,
    ``predict`` (and ``decision_function``) then return one column per task, ``predict_proba`` a list with one
    array per task, and fitted attributes of which each task has its own, such as ``classes_``, are lists.

    Attributes
    ----------
    tasks_ : tuple of str, or None
        The names of the tasks; None for a model of one target per graph.
    """

    _learns_tasks: ClassVar[bool] = False

    tasks_: tuple[str, ...] | None = None
    target_: str
    atoms_: AtomLevel | None
    x_: str

    def for_task(self, task: str | int) -> Self:
        """Return the model of one task, as if it had been trained on that task alone.

        Parameters
        ----------
        task
            Its name, or its place among ``tasks_``.
        """
        self._check_fitted()  # type: ignore[attr-defined]
        only = getattr(self, "target_", None)
        names = self.tasks_ or (() if only is None else (only,))
        place = checked("task", task, integer(0, MAX_ITEMS), NAME)
        if isinstance(place, str) and place in names:
            place = names.index(place)
        if isinstance(place, str) or place >= max(1, len(names)):
            if self.tasks_ is None:
                called = "" if only is None else f", {only!r}"
                has = f"was trained on one target{called}; leave task out"
            else:
                has = f"has {len(names)} tasks: {_listing(names)}"
            raise TwinWLError(f"task: got {shown(task)}, but this model {has}")
        if self.tasks_ is None:
            return self
        model = copy.copy(self._of_task(place))
        model.target_ = self.tasks_[place]
        model.atoms_, model.x_ = self.atoms_, self.x_
        return model

    def _one_task(self, task: str | int | None) -> Self:
        """Return the model to explain: of one task, which must be named where there are several."""
        self._check_fitted()  # type: ignore[attr-defined]
        if task is not None:
            return self.for_task(task)
        if self.tasks_ is not None:
            raise TwinWLError(
                f"this model has {len(self.tasks_)} tasks; name one with task=…: {_listing(self.tasks_)}"
            )
        return self

    def _of_task(self, place: int) -> Self:
        """Return the model of one task."""
        raise NotImplementedError

    def _ask(self, X: GraphsLike) -> Iterator[tuple[Self, GraphsLike]]:
        """Yield the model of each task, and what to ask it about: an `Answered` in place of the graphs."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> object:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.multi_output = self._learns_tasks
        return tags


class Scored(MultiTask):
    """Scores of predictions, for classifiers and regressors of one task or several.

    A subclass names in ``_measure`` the function of `sklearn.metrics` that compares targets with predictions.
    It must come before scikit-learn's mixins, whose ``score`` knows no missing targets.
    """

    _measure: ClassVar[str]

    def score(self, X: GraphsLike, y: object, sample_weight: object = None) -> float:
        """Return the accuracy, or R² of numbers; of several tasks its mean, each on graphs with a target.

        Parameters
        ----------
        X
            The graphs.
        y
            Their targets.
        sample_weight
            Weight of each graph.
        """
        from sklearn import metrics  # noqa: PLC0415

        measure = getattr(metrics, self._measure)
        predicted = self.predict(X)  # type: ignore[attr-defined]
        weights = sample_weights(sample_weight, len(predicted))
        if self.tasks_ is None:
            column = column_of(y, len(predicted), "targets")
            refuse_missing(column)
            return _score(measure, column, predicted, weights)
        tasks = Tasks.of(y, len(predicted))
        if tasks is None or len(tasks.names) != len(self.tasks_):
            raise TwinWLError(f"targets: expected a table of {len(self.tasks_)} columns, one per task")

        def of_task(column: Values, known: Bool, answers: Values) -> float:
            found = as_array(answers[known].tolist(), "predictions")
            return _score(measure, column[known], found, None if weights is None else weights[known])

        return float(np.mean(tasks.each(of_task, tasks.columns, tasks.known.T, predicted.T)))


def _score(measure: Callable[..., float], y: Values, predicted: Values, weights: Float64 | None) -> float:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of numbers that are too large
            return float(measure(y, predicted, sample_weight=weights))
    except Exception as error:  # any error of scikit-learn
        raise TwinWLError(f"these targets cannot be compared with the predictions ({error})") from error


def _listing(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:_LISTED])) + ", …" * (len(names) > _LISTED)


_MEASUREMENT = number(-1e100, 1e100)  # so that squares stay finite
_NO_SPREAD = 1e-12


@dataclass(frozen=True, eq=False)
class Measurements(Given):
    """Numbers to predict.

    Attributes
    ----------
    answers : array of float64
        What a machine learns: the targets of the graphs that count, minus ``mean``, over ``scale``. So no
        parameter depends on the unit of measurement.
    mean, scale : float
        Weighted mean and standard deviation of the targets; the scale is 1 where all are equal.
    """

    answers: Float64
    mean: float
    scale: float

    @classmethod
    def of(
        cls, y: object, n_graphs: int, sample_weight: object, groups: object, known: Bool | None = None
    ) -> Measurements:
        """Check what a user gave; as for `Targets.of`.

        >>> measured = Measurements.of([1.0, 2.0, 3.0], 3, None, None)
        >>> measured.mean, measured.answers.round(2)
        (2.0, array([-1.22,  0.  ,  1.22]))
        """
        column, given = given_for(y, n_graphs, sample_weight, groups, known)
        values = _numbers(column, given.rows)
        mean = float(np.average(values, weights=given.weights))
        scale = float(np.sqrt(np.average((values - mean) ** 2, weights=given.weights)))
        # A deviation that is only the rounding of the mean counts as 0.
        scale = scale if scale > _NO_SPREAD * float(np.abs(values).max()) else 1.0
        return cls(given.rows, given.weights, given.groups, (values - mean) / scale, mean, scale)

    def score(self, decisions: Float64, scoring: str = "r2") -> float:
        """Return how good decisions are by one of `NUMBER_SCORINGS`; errors are in the targets' unit.

        >>> Measurements.of([1, 2, 3], 3, None, None).score(np.zeros(3))
        0.0
        """
        unit = 1.0 if scoring == "r2" else self.scale
        return unit * score_numbers(self.answers, decisions, scoring, self.weights)


def numbers_of(y: object, n_graphs: int) -> Float64:
    """Return one number per graph, checked.

    >>> numbers_of([1, 2.5], 2)
    array([1. , 2.5])
    """
    return _numbers(column_of(y, n_graphs, "targets"), np.arange(n_graphs))


def _numbers(targets: Values, rows: Int64) -> Float64:
    """Return targets as floats, naming the row of the first that is not a number."""
    refuse_missing(targets)
    named = zip(rows.tolist(), targets.tolist(), strict=True)
    return np.array([checked(f"target {row}", value, _MEASUREMENT, FLAG) for row, value in named], np.float64)
