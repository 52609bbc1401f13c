"""What the user says about each graph, checked: classes, weights, groups."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.errors import TwinWLError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.arrays import Float64, Int64

__all__ = ["Targets", "check_groups", "check_weights", "codes_of", "encode_targets", "weights_of_classes"]


class Targets(NamedTuple):
    """What a classifier learns: classes, and how much each graph weighs."""

    classes: NDArray[np.generic]
    codes: Int64
    weights: Float64
    weight_of_class: dict[int, float]

    @classmethod
    def of(cls, y: object, n_graphs: int, sample_weight: object, class_weight: object) -> Targets:
        """Check what a user gave, and put it into numbers.

        Parameters
        ----------
        y
            The class of each graph.
        n_graphs
            How many graphs there are.
        sample_weight
            How much each graph weighs, or None.
        class_weight
            None, "balanced" or a mapping from class to weight.
        """
        classes, codes = encode_targets(y, n_graphs)
        weights = check_weights(sample_weight, n_graphs)
        by_class = weights_of_classes(class_weight, classes, codes, weights)
        return cls(
            classes,
            codes,
            np.ones(n_graphs) if weights is None else weights,
            {} if by_class is None else dict(enumerate(by_class.tolist())),
        )

    def importance(self) -> Float64:
        """Return how much each graph counts: its own weight times that of its class."""
        by_class = np.array([self.weight_of_class.get(code, 1.0) for code in range(len(self.classes))])
        return self.weights * by_class[self.codes]


def encode_targets(y: object, n_graphs: int) -> tuple[NDArray[np.generic], Int64]:
    """Return the sorted classes and each graph's place among them.

    >>> encode_targets(["yes", "no", "yes"], 3)
    (array(['no', 'yes'], dtype='<U3'), array([1, 0, 1]))

    Raises
    ------
    TwinWLError
        If a target is missing, a measurement instead of a class, or all are of one class.
    """
    targets = _column(y, n_graphs, "targets")
    _refuse_missing(targets)
    if targets.dtype.kind == "f" and (wrong := np.flatnonzero(targets != np.floor(targets))).size:
        raise TwinWLError(
            f"target {wrong[0]} is {targets[wrong[0]]}: these look like measurements; "
            "a classifier needs classes, so cut them into ranges first"
        )
    classes, codes = _distinct(targets)
    if len(classes) < 2:  # noqa: PLR2004
        raise TwinWLError(
            f"all {n_graphs} graphs are of one class, {classes.tolist()[0]!r}; give graphs of at least two"
        )
    return classes, codes


def codes_of(y: object, classes: NDArray[np.generic], n_graphs: int) -> Int64:
    """Return the place of each target among known classes; one that training never saw becomes -1.

    >>> codes_of(["no", "maybe"], np.array(["no", "yes"]), 2)
    array([ 0, -1])
    """
    targets = _column(y, n_graphs, "targets")
    _refuse_missing(targets)
    place = {value: code for code, value in enumerate(classes.tolist())}
    return np.array([place.get(value, -1) for value in targets.tolist()], np.int64)


def check_weights(sample_weight: object, n_graphs: int) -> Float64 | None:
    """Return the weights as floats, or refuse them.

    >>> check_weights([1, 2], 2)
    array([1., 2.])
    """
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError) as error:
        raise TwinWLError(f"sample_weight must hold one number a graph: {error}") from error
    _check_length(weights, n_graphs, "sample_weight")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise TwinWLError(
            f"sample_weight[{wrong[0]}] is {weights[wrong[0]]}; weights must be finite and >= 0"
        )
    return weights


def check_groups(groups: object, n_graphs: int) -> Int64 | None:
    """Return a code for each graph's group, or refuse them.

    >>> check_groups(["a", "b", "a"], 3)
    array([0, 1, 0])
    """
    if groups is None:
        return None
    return _distinct(_column(groups, n_graphs, "groups"))[1]


def weights_of_classes(
    class_weight: object, classes: NDArray[np.generic], codes: Int64, weights: Float64 | None = None
) -> Float64 | None:
    """Return the weight of each class: None, ``"balanced"`` or a mapping from class to weight.

    ``"balanced"`` gives each class the same total weight.

    >>> weights_of_classes("balanced", np.array(["a", "b"]), np.array([0, 1, 1]))
    array([1.5 , 0.75])
    """
    if class_weight is None:
        return None
    if isinstance(class_weight, str) and class_weight == "balanced":
        total = np.bincount(codes, weights, len(classes)).astype(np.float64)
        return total.sum() / (len(classes) * np.where(total > 0, total, np.inf))
    if not isinstance(class_weight, dict):
        raise TwinWLError(
            f"class_weight is {class_weight!r}; give None, 'balanced' or a mapping from class to weight"
        )
    given = dict(class_weight)
    out = np.array([_class_weight(given.pop(value, 1.0), value) for value in classes.tolist()])
    if given:
        raise TwinWLError(
            f"class_weight names {next(iter(given))!r}, which no graph is; classes: {classes.tolist()}"
        )
    return out


def _class_weight(weight: object, value: object) -> float:
    if isinstance(weight, numbers.Real) and np.isfinite(float(weight)) and float(weight) >= 0:
        return float(weight)
    raise TwinWLError(f"class_weight[{value!r}] is {weight!r}; weights must be finite numbers >= 0")


def _column(values: object, n_graphs: int, name: str) -> NDArray[np.generic]:
    if values is None:
        raise TwinWLError(f"there are no {name}; give one a graph")
    if isinstance(values, np.ndarray):
        array = values
    else:
        try:
            given = values.tolist() if hasattr(values, "tolist") else list(values)  # type: ignore[call-overload]
        except TypeError as error:
            raise TwinWLError(f"{name} must be a sequence, one entry a graph, not {values!r}") from error
        array = _as_array(given)
    if array.ndim == 2 and array.shape[1] == 1:  # noqa: PLR2004  (a data frame's column)
        array = array[:, 0]
    _check_length(array, n_graphs, name)
    return array


def _as_array(values: list[object]) -> NDArray[np.generic]:
    """Turn a list into an array without letting NumPy mix kinds: [1, "a"] stays an int and a string."""
    kinds = {type(value) for value in values}
    if kinds & {list, dict, set, np.ndarray}:
        raise TwinWLError("one dimension is needed, one entry a graph, and some entries are collections")
    if len(kinds) == 1 or kinds <= {int, float, bool}:
        array = np.asarray(values)
        if array.ndim == 1 and array.dtype.kind != "O":
            return array
    out = np.empty(len(values), object)
    out[:] = values
    return out


def _check_length(array: NDArray[np.generic], n_graphs: int, name: str) -> None:
    if array.ndim != 1:
        raise TwinWLError(
            f"{name} must have one dimension, one entry a graph; theirs is of shape {array.shape}"
        )
    if len(array) != n_graphs:
        raise TwinWLError(f"there are {n_graphs} graphs but {len(array)} {name}; give one a graph")


def _refuse_missing(targets: NDArray[np.generic]) -> None:
    if targets.dtype.kind == "O":
        missing = np.array([value is None or value != value for value in targets.tolist()], bool)  # noqa: PLR0124
    elif targets.dtype.kind in "fc":
        missing = ~np.isfinite(targets)
    else:
        return
    if missing.any():
        first = int(np.flatnonzero(missing)[0])
        raise TwinWLError(
            f"target {first} is {targets[first]} ({np.count_nonzero(missing)} of {len(targets)} miss); "
            "leave those graphs out"
        )


def _distinct(values: NDArray[np.generic]) -> tuple[NDArray[np.generic], Int64]:
    try:
        distinct, codes = np.unique(values, return_inverse=True)
    except TypeError as error:
        kinds = sorted({type(value).__name__ for value in values.tolist()})
        raise TwinWLError(
            f"values of the kinds {', '.join(kinds)} have no common order; use one kind"
        ) from error
    return distinct, codes.astype(np.int64)
