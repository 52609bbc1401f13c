"""Classes to predict, the weights and groups of their graphs; from decisions to classes and scores."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from twinwl.arguments import checked, foreign_array, instance, is_a, number, one_of
from twinwl.errors import TwinWLError, shown
from twinwl.estimators.target_columns import check_length, column_of, refuse_missing

if TYPE_CHECKING:
    from twinwl.arrays import Bool, Float32, Float64, Int64, Values
    from twinwl.graphs.batch import GraphBatch

_LIGHTEST, _HEAVIEST = 1e-12, 1e12  # so that sums and products of weights are finite
_WEIGHT = (number(_LIGHTEST, _HEAVIEST), number(0, 0))
SCORINGS = {  # what choices among classifiers can go by: scikit-learn's scorers, and their functions
    "accuracy": "accuracy_score",
    "balanced_accuracy": "balanced_accuracy_score",
    "matthews_corrcoef": "matthews_corrcoef",
    "roc_auc": "roc_auc_score",
    "average_precision": "average_precision_score",
}
_RANKED = {"roc_auc", "average_precision"}
# Of two classes that are called so, in any case, the second is the positive one.
_OBVIOUS = (("0", "1"), ("inactive", "active"), ("no", "yes"), ("-", "+"), ("false", "true"))


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


def predicted_codes(decisions: Float64 | Float32) -> Int64:
    """Return the class that wins by decision values, as a place among the classes.

    >>> predicted_codes(np.array([-0.5, 0.2])).tolist()
    [0, 1]
    """
    if decisions.ndim == 1:
        return (decisions > 0).astype(np.int64)
    return decisions.argmax(axis=1)


def positive_class(classes: Values, positive: object = None) -> int:
    """Return the place of the class that precision, PR-AUC and thresholds are about.

    Parameters
    ----------
    classes
        All classes.
    positive
        The one of two classes that the user names, as it is or as text. None: the second of ``0/1``,
        ``inactive/active``, ``no/yes``, ``-/+`` and ``False/True``, otherwise the last in sorted order.

    >>> positive_class(np.array(["active", "inactive"])), positive_class(np.array(["cold", "warm"]))
    (0, 1)
    """
    listed = classes.tolist()
    names = [str(name) for name in listed]
    if positive is not None:
        named = None
        # A class is a plain value; an integer of thousands of digits cannot even be written as text.
        if issubclass(type(positive), str | float | np.generic) or (
            is_a(positive, int) and abs(positive) < 2**64
        ):
            named = str(positive)
        if len(names) != 2 or named not in names:  # noqa: PLR2004
            listing = ", ".join(map(shown, names))
            remedy = "expected one of them" if len(names) == 2 else "which is for two classes; leave it out"  # noqa: PLR2004
            raise TwinWLError(f"positive: got {shown(positive)} for the classes {listing}, {remedy}")
        return names.index(str(positive))
    plain = [name.lower() for name in names]
    for pair in _OBVIOUS:
        if sorted(plain) == sorted(pair):
            return plain.index(pair[1])
    return max(range(len(listed)), key=listed.__getitem__)


def positive_name(classes: Values | None, positive: object = None) -> str | None:
    """Return what `positive_class` is called; None unless there are two classes.

    >>> positive_name(np.array([0, 1])), positive_name(np.array([0, 1, 2]))
    ('1', None)
    """
    if classes is None or (positive is None and len(classes) != 2):  # noqa: PLR2004
        return None
    return str(classes[positive_class(classes, positive)])


def score_classes(
    codes: Int64, decisions: Float64, scoring: str, weights: Float64 | None = None, positive: int = 1
) -> float:
    """Return how good decisions between classes are.

    Parameters
    ----------
    codes : array, shape (n_graphs,)
        The true classes, as places among all of them.
    decisions : array, shape (n_graphs,) for two classes, else (n_graphs, n_classes)
    scoring
        One of `SCORINGS`; those of ranks go by one class against the rest where there are more than two.
    weights : array, shape (n_graphs,), optional
        How much each graph counts.
    positive
        Which of two classes ``"average_precision"`` is about.

    Returns
    -------
    float
        NaN where ranks are undefined: where a class is not among ``codes``.

    >>> codes, decisions = np.array([0, 0, 0, 1]), np.array([-3.0, -2, -2, -1])
    >>> [score_classes(codes, decisions, name) for name in ("accuracy", "roc_auc")]
    [0.75, 1.0]
    """
    predicted = predicted_codes(decisions)
    if scoring == "accuracy":
        right = predicted == codes
        return float(right.mean() if weights is None else weights[right].sum() / weights.sum())
    from sklearn import metrics  # noqa: PLC0415  (seldom asked for)

    measure = getattr(metrics, SCORINGS[scoring])
    if scoring not in _RANKED:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of classes that are predicted and do not occur
            return float(measure(codes, predicted, sample_weight=weights))
    if decisions.ndim == 1 and positive == 0:
        codes, decisions = 1 - codes, -decisions
    columns = decisions[:, None] if decisions.ndim == 1 else decisions
    first = 1 if decisions.ndim == 1 else 0
    n_classes = columns.shape[1] + first
    if np.bincount(codes, minlength=n_classes).min() == 0:
        return math.nan
    scores = [
        measure(codes == first + place, column, sample_weight=weights)
        for place, column in enumerate(columns.T)
    ]
    return float(np.mean(scores))


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
    if is_a(class_weight, str):
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
