"""Graphs that are held out, once or by folds, and calibration on them: probabilities, sets, intervals.

A head turns the decision values of one task into classes, probabilities, sets, numbers or intervals.

Conformal prediction gives sets of classes and intervals that contain the truth with a given probability. The
scores of graphs that a model had not seen, with their true targets, are kept. A new graph's score for a
class, were that its class, is ranked among them: a class stays in the set unless its score is among the
worst. If new graphs are exchangeable with those the scores come from, the set holds the true class at least
as often as the confidence says, however wrong the model is. Under a shift it need not. For molecules the
scores are those of held-out scaffolds, so that new scaffolds are not a shift.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from twinwl.arguments import MAX_ITEMS, Constraint, checked, integer, number, pointer
from twinwl.arrays import Bool, Fields, Float32, Float64, Int64, UInt64, Values
from twinwl.errors import TwinWLError, shown
from twinwl.files.model_files import restore
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.labels import Label, encode_labels, normalise_label

if TYPE_CHECKING:
    from twinwl.models.targets import TargetColumn

Scores = TypeVar("Scores", "ConformalSets", "ConformalIntervals")

CONFIDENCE: Constraint = number(0, 1, above=True, below=True)
_HARDLY_REGULARISED = 1e6  # the smoothed targets keep the slope finite already
_CLASSES_DTYPE = re.compile(r"[|]b1|[|][iu]1|<[iu][248]|<f[248]|[|]S\d+|<U\d+|[|]O")
INNER_FOLDS = integer(2, MAX_ITEMS)
Fold: TypeAlias = "tuple[Int64, Int64]"  # the rows to learn from, and the held-out rows
# Calibrate only on molecules with a ring if each class has at least this many.
_FEWEST_WITH_RINGS = 50
_TOLERANCE = 1e-12  # equal scores may differ in the last digit


@dataclass(frozen=True, eq=False)
class Calibration:
    """Platt scaling: a logistic regression on decision values.

    Attributes
    ----------
    slopes : array of float64, shape (1, 1) for two classes, else (n_classes, n_classes)
    offsets : array of float64, shape (1,) for two classes, else (n_classes,)
    """

    slopes: Float64
    offsets: Float64

    @classmethod
    def fit_to(cls, decisions: Float64, codes: Int64, weights: Float64 | None = None) -> Calibration:
        """Fit to decisions of an SVM that did not learn from these graphs.

        Parameters
        ----------
        decisions : array of float64, shape (n,) or (n, n_classes)
        codes : array of int64, shape (n,)
        weights : array of float64, shape (n,), optional
        """
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415  (slow; not for errors of commands)

        regression = LogisticRegression(C=_HARDLY_REGULARISED, max_iter=1000)
        n_classes = int(codes.max()) + 1
        every_class = np.tile(np.arange(n_classes), len(codes))
        rows = np.repeat(decisions.reshape(len(codes), -1), n_classes, axis=0)
        smoothed = _smoothed_targets(codes, n_classes) * (1.0 if weights is None else weights[:, None])
        regression.fit(rows, every_class, smoothed.ravel())
        if decisions.ndim == 1 and regression.coef_[0, 0] < 0:
            # Worse than chance: a probability that falls as the decision rises would contradict it.
            total = smoothed.sum(axis=0)
            return cls(np.zeros((1, 1)), np.log(total[1:] / total[:1]))
        return cls(regression.coef_, regression.intercept_)

    def probabilities(self, decisions: Float64) -> Float64:
        """Return the probability of each class, shape (n, n_classes).

        >>> Calibration(np.array([[2.0]]), np.array([0.0])).probabilities(np.array([0.0])).tolist()
        [[0.5, 0.5]]
        """
        columns = decisions if decisions.ndim > 1 else decisions[:, None]
        return probabilities_of(columns @ self.slopes.T + self.offsets)


def _smoothed_targets(codes: Int64, n_classes: int) -> Float64:
    """Return how much each graph counts as each class: nearly all as its own, a little as the others.

    Platt's targets, (n + 1) / (n + 2) in a class of n: without them, classes that the decisions separate
    would get probabilities of exactly 0 and 1.
    """
    members = np.bincount(codes, minlength=n_classes)
    own = (members + 1) / (members + 2)
    smoothed = np.repeat(((1 - own[codes]) / (n_classes - 1))[:, None], n_classes, axis=1)
    smoothed[np.arange(len(codes)), codes] = own[codes]
    return smoothed


@dataclass(frozen=True, eq=False)
class ConformalSets:
    """Scores of held-out graphs, one minus the probability of the true class: small where it fits.

    Attributes
    ----------
    scores : array of float64, shape (n,)
        By class, and rising within each.
    ptr : array of int64, shape (n_classes + 1,)
        Which of them belong to each class.
    """

    scores: Float64
    ptr: Int64

    @classmethod
    def fit_to(cls, probabilities: Float64, codes: Int64) -> ConformalSets:
        """Keep the scores of graphs that the model had not seen.

        Parameters
        ----------
        probabilities : array of float64, shape (n, n_classes)
        codes : array of int64, shape (n,)
            Their true classes.
        """
        scores = 1 - probabilities[np.arange(len(codes)), codes]
        ptr = pointer(np.bincount(codes, minlength=probabilities.shape[1]))
        return cls(scores[np.lexsort((scores, codes))], ptr)

    def p_values(self, probabilities: Float64, *, per_class: bool = True) -> Float64:
        """Return how usual each class would be, as a rank between 0 and 1; shape (n, n_classes).

        Parameters
        ----------
        probabilities : array of float64, shape (n, n_classes)
        per_class
            Rank among the held-out graphs of that class, so that the promise holds within each class, also
            within a rare one; else among all.

        >>> sets = ConformalSets.fit_to(np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]), np.array([0, 0, 1]))
        >>> sets.p_values(np.array([[0.7, 0.3]])).round(2).tolist()
        [[0.67, 0.5]]
        """
        out = np.empty(probabilities.shape)
        of_all = np.sort(self.scores)
        for code in range(probabilities.shape[1]):
            own = self.scores[self.ptr[code] : self.ptr[code + 1]] if per_class else of_all
            worse = len(own) - np.searchsorted(own, 1 - probabilities[:, code] - _TOLERANCE, side="left")
            out[:, code] = (worse + 1) / (len(own) + 1)
        return out

    def of(self, probabilities: Float64, confidence: float, *, per_class: bool = True) -> Bool:
        """Return which classes are in the set of each graph, shape (n, n_classes)."""
        confidence = checked("confidence", confidence, CONFIDENCE)
        return self.p_values(probabilities, per_class=per_class) > 1 - confidence


@dataclass(frozen=True, eq=False)
class ConformalIntervals:
    """Absolute errors on held-out graphs, rising."""

    errors: Float64

    @classmethod
    def fit_to(cls, predicted: Float64, y: Float64) -> ConformalIntervals:
        """Keep the errors on graphs that the model had not seen."""
        return cls(np.sort(np.abs(predicted - y)))

    def of(self, predicted: Float64, confidence: float) -> Float64:
        """Return the lower and the upper end of each interval, shape (n, 2).

        All intervals are equally wide. They are infinite where there are too few errors for the confidence:
        0.9 needs 9 of them, 0.99 needs 99.

        >>> ConformalIntervals(np.arange(1.0, 10.0)).of(np.array([0.0]), 0.9)
        array([[-9.,  9.]])
        """
        confidence = checked("confidence", confidence, CONFIDENCE)
        rank = int(np.ceil((len(self.errors) + 1) * confidence - _TOLERANCE))
        width = self.errors[rank - 1] if rank <= len(self.errors) else np.inf
        return np.stack([predicted - width, predicted + width], axis=1)


def predicted_codes(decisions: Float64 | Float32) -> Int64:
    """Return the class that wins by decision values, as a place among the classes.

    >>> predicted_codes(np.array([-0.5, 0.2])).tolist()
    [0, 1]
    """
    return decisions.argmax(axis=1) if decisions.ndim > 1 else (decisions > 0).astype(np.int64)


def probabilities_of(logits: Float64) -> Float64:
    """Return the probability of each class, shape (n, n_classes), from decision values that are logits.

    >>> probabilities_of(np.array([0.0])).tolist()
    [[0.5, 0.5]]
    """
    from scipy.special import softmax  # noqa: PLC0415  (slow to load; errors come before)

    scores = logits if logits.ndim > 1 else logits[:, None]
    if scores.shape[1] == 1:  # two classes share one value
        scores = np.hstack([np.zeros_like(scores), scores])
    return softmax(scores, axis=1)


def held_out_scores(conformal: Scores | None) -> Scores:
    """Return the scores of a model; the error says how to train a model that has them."""
    if conformal is None:
        raise TwinWLError(
            "this model kept no scores of held-out graphs; train it again with validation_fraction, or (a "
            "model of twinwl 0.1) with this version"
        )
    return conformal


@dataclass(frozen=True, eq=False)
class ClassHead:
    """From the decision values of one task to classes, probabilities and sets.

    Attributes
    ----------
    classes : array
        The classes, sorted.
    calibration : Calibration or None
        None where decision values are logits.
    conformal : ConformalSets or None
        None where no graphs were held out.
    """

    classes: Values
    calibration: Calibration | None = None
    conformal: ConformalSets | None = None

    def stored(self) -> Fields:
        """Return the head for a model file: classes keep the type of their array, which may be objects."""
        dtype = self.classes.dtype.newbyteorder("<").str
        if not _CLASSES_DTYPE.fullmatch(dtype):
            raise TwinWLError(
                f"the classes are an array of {self.classes.dtype}, which a model file cannot hold; "
                "name classes by strings or numbers"
            )
        labels = [normalise_label(label) for label in self.classes.tolist()]
        return {**vars(self), "classes": labels, "dtype": dtype}

    @classmethod
    def restored(cls, state: Fields) -> ClassHead:
        """Undo `stored`."""
        labels, dtype = restore(tuple[Label, ...], state["classes"]), state["dtype"]
        sound = len(set(labels)) == len(labels) > 1 and _CLASSES_DTYPE.fullmatch(dtype)
        # The length of strings follows from the strings: a file could claim a huge one.
        classes = np.array(labels) if dtype[1] in "SU" else np.empty(len(labels), dtype)
        classes[:] = labels
        if not sound or classes.dtype.kind != dtype[1] or classes.tolist() != list(labels):
            raise TwinWLError(f"the model's classes are not different ones of type {shown(dtype)}")
        calibration = restore(Calibration | None, state.get("calibration"), "calibration")
        return cls(classes, calibration, restore(ConformalSets | None, state["conformal"], "conformal"))

    def predict(self, decisions: Float64) -> Values:
        """Return the class of each graph."""
        return self.classes[predicted_codes(decisions)]

    def probabilities(self, decisions: Float64) -> Float64:
        """Return the probability of each class, shape (n, n_classes)."""
        values = decisions.astype(np.float64, copy=False)
        return (
            probabilities_of(values) if self.calibration is None else self.calibration.probabilities(values)
        )

    def sets(self, decisions: Float64, confidence: float, *, per_class: bool = True) -> Bool:
        """Return which classes cannot be ruled out, shape (n, n_classes)."""
        return held_out_scores(self.conformal).of(
            self.probabilities(decisions), confidence, per_class=per_class
        )

    def calibrated(self, decisions: Float64, codes: Int64) -> ClassHead:
        """Return the head with the scores of graphs that the model had not seen."""
        return replace(self, conformal=ConformalSets.fit_to(self.probabilities(decisions), codes))


@dataclass(frozen=True, eq=False)
class NumberHead:
    """From the decision values of one task, which are standardised, to numbers and intervals.

    Attributes
    ----------
    mean, scale : float
        Mean and standard deviation of the training targets.
    conformal : ConformalIntervals or None
        None where no graphs were held out.
    """

    mean: float = 0.0
    scale: float = 1.0
    conformal: ConformalIntervals | None = None

    def predict(self, decisions: Float64) -> Float64:
        """Return a number for each graph."""
        return decisions.astype(np.float64, copy=False) * self.scale + self.mean

    def intervals(self, decisions: Float64, confidence: float) -> Float64:
        """Return the lower and upper end of an interval for each graph, shape (n, 2)."""
        return held_out_scores(self.conformal).of(self.predict(decisions), confidence)

    def calibrated(self, decisions: Float64, answers: Float64) -> NumberHead:
        """Return the head with the errors on graphs that the model had not seen."""
        errors = ConformalIntervals.fit_to(self.scale * decisions.astype(np.float64), self.scale * answers)
        return replace(self, conformal=errors)


_ELEMENT = re.compile(r"\d*(\*|[A-Z][a-z]?)")  # at the start of the label of an atom, of every level
_LARGEST_SHARE_OF_RARE = 0.5  # of molecules with a rare scaffold, to hold out


def scaffolds_of(batch: GraphBatch) -> Int64:
    """Return the scaffold of each molecule as a number, shape (n_graphs,).

    Molecules without a ring have no scaffold: each has a number of its own, from n_graphs on.

    >>> rings = [[(0, 1), (1, 2), (2, 0), (2, 3)], [(0, 1), (1, 2), (2, 0)], [(0, 1)], [(0, 1)]]
    >>> scaffolds_of(GraphBatch.from_edges(rings)).tolist()
    [0, 0, 4, 5]
    """
    return number_scaffolds(scaffold_keys(batch))


def number_scaffolds(keys: UInt64) -> Int64:
    """Return numbers of scaffolds as `scaffolds_of` does, from their `scaffold_keys`."""
    numbers = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
    (chains,) = np.nonzero(keys[:, 2] == 0)
    numbers[chains] = len(keys) + np.arange(len(chains))
    return numbers


def scaffold_keys(batch: GraphBatch) -> UInt64:
    """Return the key of each molecule's scaffold, two words, and its number of atoms; shape (n_graphs, 3).

    It is what is left without side chains: the ring systems and the linkers between them, their elements and
    bonds.
    """
    from twinwl.isomorphism.canonical import exact_keys  # noqa: PLC0415  (numba; errors come before that)

    sources, targets = batch.arcs()
    left, arcs = -1, np.ones(len(targets), bool)
    while left != arcs.sum():  # until no node has a single neighbour
        left = arcs.sum()
        degrees = np.bincount(sources[arcs], minlength=batch.n_nodes)
        arcs &= (degrees[sources] > 1) & (degrees[targets] > 1)
    inside = degrees > 1
    place = pointer(inside.astype(np.int64))
    names = [_ELEMENT.match(label) if isinstance(label, str) else None for label in batch.node_vocabulary]
    elements, vocabulary = encode_labels([None if name is None else name[1] for name in names])
    core = GraphBatch.unchecked(
        indptr=pointer(degrees[inside]),
        indices=place[targets[arcs]].astype(np.int32),
        graph_ptr=place[batch.graph_ptr],
        node_labels=elements[batch.node_labels[inside]],
        node_vocabulary=vocabulary,
        edge_labels=None if batch.edge_labels is None else batch.edge_labels[arcs],
        edge_vocabulary=batch.edge_vocabulary,
    )
    return np.column_stack([exact_keys(core), core.nodes_per_graph.astype(np.uint64)])


def hold_out(
    codes: Int64,
    fraction: float,
    seed: int,
    groups: Int64 | None = None,
    remedy: str = "give more, pass validation_data, or set validation_fraction=None",
) -> tuple[Int64, Int64]:
    """Split rows into a training part and a held-out part, stratified by class.

    Parameters
    ----------
    codes : shape (n,)
        Class code of each row.
    fraction
        Share of rows to hold out, between 0 and 1.
    seed
        Seed of the choice.
    groups : shape (n,), optional
        Rows of one group stay on one side.
    remedy
        What to do if there are too few rows, for the message.

    Returns
    -------
    kept, held : arrays of int64, rising
        Both have every class, unless a class has a single row (or group), which is then kept for training.

    >>> kept, held = hold_out(np.array([0, 0, 0, 0, 1, 1, 1, 1]), 0.25, seed=0)
    >>> len(kept), len(held)
    (6, 2)
    """
    random = np.random.default_rng(seed)
    held = (
        _held_rows(codes, fraction, random)
        if groups is None
        else _held_groups(codes, fraction, random, groups)
    )
    kept_classes = np.bincount(codes[~held], minlength=int(codes.max()) + 1)
    if not held.any() or not kept_classes.all():
        every = " and learn every class" if codes.any() else ""
        raise TwinWLError(
            f"{len(codes)} graphs are too few to hold {fraction:.0%} of them out{every}; {remedy}"
        )
    return np.flatnonzero(~held), np.flatnonzero(held)


def hold_out_scaffolds(
    codes: Int64, fraction: float, seed: int, scaffolds: Int64
) -> tuple[Int64, Int64] | None:
    """Split molecules as `hold_out` does, by whole scaffolds; None where there are too few scaffolds.

    Common scaffolds stay in training, because without one too little would be learnt; so do molecules without
    a ring, which have no scaffold.

    >>> hold_out_scaffolds(np.zeros(8, np.int64), 0.25, 0, np.array([0, 0, 0, 0, 1, 2, 3, 4]))[1].tolist()
    [5, 7]
    """
    numbers, sizes = np.unique(scaffolds, return_inverse=True, return_counts=True)[1:]
    small = sizes[numbers] <= max(1.0, fraction * len(codes) / 2)
    rare = np.flatnonzero(small & (scaffolds < len(codes)))
    share = fraction * len(codes) / max(1, len(rare))
    if not len(rare) or share > _LARGEST_SHARE_OF_RARE:
        return None
    try:
        held = rare[hold_out(codes[rare], share, seed, numbers[rare])[1]]
    except TwinWLError:
        return None
    return np.setdiff1d(np.arange(len(codes)), held), held


def rarest_classes(codes: Int64) -> Int64:
    """Return a code for each graph by which to stratify: the rarest class, of any task, that it has.

    Parameters
    ----------
    codes : array of int64, shape (n_graphs, n_tasks)
        The class of each graph in each task; below 0 where it is unknown.

    >>> rarest_classes(np.array([[0, 0], [0, 1], [0, 0], [1, -1]]))
    array([2, 1, 2, 0])
    """
    # A number for each (task, class).
    places = np.where(codes >= 0, codes + np.arange(codes.shape[1]) * (codes.max() + 1), -1)
    labels, numbers, counts = np.unique(places, return_inverse=True, return_counts=True)
    rank = np.empty(len(labels), np.int64)
    rank[np.lexsort((labels, counts))] = np.arange(len(labels))
    rank[labels < 0] = len(labels)
    rarest = rank[numbers.reshape(codes.shape)].min(axis=1)
    return np.unique(rarest, return_inverse=True)[1].astype(np.int64)


def _held_rows(codes: Int64, fraction: float, random: np.random.Generator) -> np.ndarray:
    """Hold out the share of each class, rounded, at least one row and never the last."""
    held = np.zeros(len(codes), bool)
    for code in range(int(codes.max()) + 1):
        rows = random.permutation(np.flatnonzero(codes == code))
        n_held = min(max(1, round(fraction * len(rows))), len(rows) - 1)
        held[rows[:n_held]] = True
    return held


def _held_groups(codes: Int64, fraction: float, random: np.random.Generator, groups: Int64) -> np.ndarray:
    """Hold out whole groups: each class in turn until its share is reached, rarest class first."""
    n_classes = int(codes.max()) + 1
    rows_of = np.zeros((int(groups.max()) + 1, n_classes), np.int64)
    np.add.at(rows_of, (groups, codes), 1)
    total = rows_of.sum(axis=0)
    held = np.zeros(len(rows_of), bool)
    count = np.zeros(n_classes, np.int64)
    order = random.permutation(len(rows_of))
    for code in np.argsort(total, kind="stable"):
        wanted = max(1, round(fraction * int(total[code])))
        for group in order[rows_of[order, code] > 0]:
            if count[code] >= wanted:
                break
            remaining = total - count - rows_of[group]
            # The last group of a class is kept: a class that does not occur in training cannot be predicted.
            if held[group] or not remaining.all():
                continue
            held[group] = True
            count += rows_of[group]
    return held[groups]


def inner_folds(targets: TargetColumn, n_folds: int, seed: int) -> list[Fold]:
    """Cut the training graphs into folds, fewer where a class (or its groups) would not reach that many.

    Parameters
    ----------
    targets
        Classes or numbers; and groups, each of which stays on one side of every fold.
    n_folds
        How many folds, at least 2.
    seed
        Decides the folds.

    Raises
    ------
    TwinWLError
        If a class has one graph only, or all its graphs in one group; of numbers, if there is one in all.
    """
    if targets.numbers:
        of_graph = np.arange(len(targets.rows)) if targets.groups is None else targets.groups
        n_units = int(of_graph.max()) + 1
        if n_units < 2:  # noqa: PLR2004
            what = "sample" if targets.groups is None else "group"
            raise TwinWLError(f"there is only 1 {what}; the inner choice needs 2")
        fold_of = (np.random.default_rng(seed).permutation(n_units) % n_folds)[of_graph]
        return [
            (np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold))
            for fold in range(min(n_folds, n_units))
        ]
    classes, codes, groups = targets.classes, targets.codes, targets.groups
    # How many graphs, or groups, have each class.
    units = codes if groups is None else np.unique(np.stack([codes, groups]), axis=1)[0]
    members = np.bincount(units)
    rarest = int(members.argmin())
    if members[rarest] < 2:  # noqa: PLR2004
        what = "graph" if groups is None else "group"
        name = shown(classes.tolist()[rarest])
        raise TwinWLError(
            f"class {name} has only 1 {what}; the inner choice needs 2 of each class: leave that "
            "class out, or add to it"
        )
    n_folds = min(n_folds, int(members[rarest]))
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold  # noqa: PLC0415  (slow to load)

    splitter = StratifiedKFold if groups is None else StratifiedGroupKFold
    split = splitter(n_folds, shuffle=True, random_state=seed).split(codes, codes, groups)
    folds = [(learnt, held) for learnt, held in split if len(held)]
    for learnt, _ in folds:
        if len(np.unique(codes[learnt])) < len(classes):
            raise TwinWLError("the groups leave a fold without one of the classes; give more groups")
    return folds


def scaffold_folds(
    targets: TargetColumn, scaffolds: Int64 | None, n_folds: int, seed: int
) -> tuple[list[Fold], Int64 | None]:
    """Cut the training graphs into folds; those of molecules keep each scaffold on one side.

    New molecules are unlike the known ones, so what is chosen and calibrated on held-out scaffolds fits them.

    Parameters
    ----------
    targets, n_folds, seed
        As for `inner_folds`.
    scaffolds
        From `twinwl.models.calibration.scaffolds_of`, for all graphs; None if the graphs are not molecules.

    Returns
    -------
    folds
        Those of `inner_folds` where the user gave groups, and for too few scaffolds.
    rings : array of int64, or None
        The molecules that have a scaffold, if whole scaffolds are held out.
    """
    if scaffolds is not None and targets.groups is None:
        own = scaffolds[targets.rows]
        rings = own < len(scaffolds)  # molecules without a ring are numbered from n_graphs on
        if np.bincount(targets.codes, rings).min() >= _FEWEST_WITH_RINGS:
            groups = np.unique(own, return_inverse=True)[1]
            with contextlib.suppress(TwinWLError):
                return inner_folds(replace(targets, groups=groups), n_folds, seed), np.flatnonzero(rings)
    return inner_folds(targets, n_folds, seed), None
