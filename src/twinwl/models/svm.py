"""Support vector machines on kernel matrices, and the choice of their C and number of rounds.

In this order: the solver (`optimise`), the choice of C and rounds by cross-validation (`select_svms`), folds,
what an SVM has learnt (`SupportVectors`), and two kinds of SVMs: `KernelSVM` on the full kernel matrix, and
`LandmarkSVM`, which approximates the kernel by similarities with a few landmarks (Nyström).

The solver maximises ``t·b - b·K·b / 2`` subject to ``sum(b) = 0`` and ``lower <= b <= upper``, by sequential
minimal optimisation: in each step one weight rises and another falls by the same amount. For two classes the
targets ``t`` are ±1 and the bounds [0, C] or [-C, 0]. An SVM that predicts numbers has two weights per graph:
one in [0, C] with target ``y - ε`` and one in [-C, 0] with target ``y + ε``. In all arrays of weights, weight
i belongs to graph ``i % n_graphs``. The pair to change is chosen as in LIBSVM (second order; Fan, Chen and
Lin, 2005), to the same tolerance.

A held-out graph gets the bounds 0 and 0. So its weight stays 0, but its error ``t - K·b`` is kept up to date
like all others and contains the decision about it. Decisions about held-out graphs therefore come for free,
and all folds share one kernel matrix without copying parts of it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from scipy import linalg
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.svm import SVC, SVR

from twinwl.arguments import MAX_ITEMS, checked, integer, number, one_or_more, pointer
from twinwl.arrays import Float32, Float64, Int64
from twinwl.compilation import kernel
from twinwl.errors import TwinWLError, shown
from twinwl.models.calibration import predicted_codes
from twinwl.models.metrics import score_column
from twinwl.models.targets import TargetColumn

_TOLERANCE = 1e-3  # of LIBSVM
_MAX_SMO_STEPS = 10_000_000  # of LIBSVM
_FLAT = 1e-12  # the least curvature to divide by: that of two equal graphs is 0

# Maxima and minima are computed for this many lanes separately (lane l has the entries l, l + 256, …), so
# that the compiler can vectorise the loop. The extreme of all lanes is found at the end.
_LANES = 256


class Problem(NamedTuple):
    """An SVM to train.

    Attributes
    ----------
    kernel : array of float32, shape (n_graphs, n_graphs)
    own : array of float64, shape (n_graphs,)
        The diagonal of the kernel matrix.
    targets, lower, upper : arrays of float64, shape (n_weights,)
        ``n_weights`` is n_graphs, or twice as many for numbers.
    """

    kernel: Float32
    own: Float64
    targets: Float64
    lower: Float64
    upper: Float64


@kernel
def optimise(problem: Problem, weights: Float64, errors: Float64) -> tuple[float, float]:
    """Train an SVM, starting from ``weights`` within the bounds; weights and errors are changed in place.

    Parameters
    ----------
    weights, errors : arrays of float64, shape (n_weights,)
        The errors must be the targets at first. In the end they are ``t - K·b``: targets minus decisions
        without the intercept.

    Returns
    -------
    float, float
        The largest error of a weight that may rise, and the smallest of one that may fall.
    """
    n = len(problem.kernel)
    _subtract_decisions(problem.kernel, weights, errors)
    # Added to the errors, these exclude the weights that may not rise from a maximum, and those that may not
    # fall from a minimum, without a branch.
    bar_rise = np.where(weights < problem.upper, 0.0, -np.inf)
    bar_fall = np.where(weights > problem.lower, 0.0, np.inf)
    lanes = np.empty(_LANES), np.empty(_LANES)
    row = problem.kernel[0]
    # A step of 0 changes nothing; it only finds the first weight to rise.
    rising, highest, lowest = _step(row, row, 0.0, errors, bar_rise, bar_fall, lanes)
    for _ in range(_MAX_SMO_STEPS):
        if not highest - lowest > _TOLERANCE:
            break
        row = problem.kernel[rising % n]
        falling = _partner(row, problem.own, rising, errors, bar_fall, lanes[0])
        curvature = problem.own[rising % n] + problem.own[falling % n] - 2 * row[falling % n]
        step = (errors[rising] - errors[falling]) / max(curvature, _FLAT)  # the best one without bounds
        rise, fall = problem.upper[rising] - weights[rising], weights[falling] - problem.lower[falling]
        step = min(step, rise, fall)
        # A weight that reaches its bound gets exactly that value.
        weights[rising] = problem.upper[rising] if step == rise else weights[rising] + step
        weights[falling] = problem.lower[falling] if step == fall else weights[falling] - step
        for place in (rising, falling):
            bar_rise[place] = 0.0 if weights[place] < problem.upper[place] else -np.inf
            bar_fall[place] = 0.0 if weights[place] > problem.lower[place] else np.inf
        other = problem.kernel[falling % n]
        rising, highest, lowest = _step(row, other, step, errors, bar_rise, bar_fall, lanes)
    return highest, lowest


@kernel
def _subtract_decisions(similarities: Float32, weights: Float64, errors: Float64) -> None:
    """Subtract ``K·b`` from the errors; most weights are 0, and cost nothing."""
    n = len(similarities)
    for place in range(len(weights)):
        if weights[place] != 0:
            row = similarities[place % n]
            for begin in range(0, len(errors), n):
                part = errors[begin : begin + n]
                for column in range(n):
                    part[column] -= weights[place] * row[column]


@kernel
def _step(
    row: Float32,
    other: Float32,
    step: float,
    errors: Float64,
    bar_rise: Float64,
    bar_fall: Float64,
    lanes: tuple[Float64, Float64],
) -> tuple[int, float, float]:
    """Update all errors after a step, and choose the next weight to rise.

    Parameters
    ----------
    row, other : arrays of float32, shape (n_graphs,)
        Similarities with the graphs whose weights rose and fell, by ``step`` each.

    Returns
    -------
    int, float, float
        The weight that may rise and has the largest error, this error, and the smallest error of a weight
        that may fall.
    """
    most, least = lanes
    most[:] = -np.inf
    least[:] = np.inf
    n = len(row)
    for begin in range(0, len(errors), n):
        for low in range(0, n, _LANES):
            high = min(low + _LANES, n)
            here, there = row[low:high], other[low:high]
            entries = slice(begin + low, begin + high)
            part, rise, fall = errors[entries], bar_rise[entries], bar_fall[entries]
            for lane in range(high - low):
                error = part[lane] - step * (here[lane] - there[lane])
                part[lane] = error
                most[lane] = max(most[lane], error + rise[lane])
                least[lane] = min(least[lane], error + fall[lane])
    # Which weight it was is looked up afterwards, in the best lane only.
    best = most.argmax()
    highest = most[best]
    for begin in range(0, len(errors), n):
        for place in range(begin + best, begin + n, _LANES):
            if errors[place] + bar_rise[place] == highest:
                return place, highest, least.min()
    return 0, highest, least.min()  # no weight may rise


@kernel
def _partner(
    row: Float32, own: Float64, rising: int, errors: Float64, bar_fall: Float64, gains: Float64
) -> int:
    """Return the weight to fall for which the objective gains most if ``rising`` rises as much.

    The gain of the best step without bounds is ``gap² / curvature`` (up to a factor), where ``gap`` is the
    difference of the errors.
    """
    gains[:] = 0.0
    n = len(row)
    highest, own_rising = errors[rising], own[rising % n]
    for begin in range(0, len(errors), n):
        for low in range(0, n, _LANES):
            high = min(low + _LANES, n)
            here, owns = row[low:high], own[low:high]
            entries = slice(begin + low, begin + high)
            part, fall = errors[entries], bar_fall[entries]
            for lane in range(high - low):
                gap = max(highest - (part[lane] + fall[lane]), 0.0)
                curvature = max(own_rising + owns[lane] - 2 * here[lane], _FLAT)
                gains[lane] = max(gains[lane], gap * gap / curvature)
    best = gains.argmax()
    gain, found = -1.0, 0
    for begin in range(0, len(errors), n):
        for place in range(begin + best, begin + n, _LANES):
            gap = max(highest - (errors[place] + bar_fall[place]), 0.0)
            curvature = max(own_rising + own[place - begin] - 2 * row[place - begin], _FLAT)
            if gap * gap / curvature > gain:
                gain, found = gap * gap / curvature, place
    return found


PENALTIES = one_or_more(number(1e-6, 1e6))  # with far larger ones the optimisation does not finish
INNER_FOLDS = integer(2, MAX_ITEMS)
Fold: TypeAlias = "tuple[Int64, Int64]"  # the rows to learn from, and the held-out rows
Tick: TypeAlias = Callable[[int], None]  # is told how many more SVMs have been trained

_FEWEST_RINGS = 50  # molecules with a ring that each class needs, so that only these are calibrated on


@dataclass(frozen=True, eq=False)
class SelectedSVM:
    """The best of several SVMs, trained on all graphs.

    Attributes
    ----------
    n_iter : int
        The number of rounds whose kernel matrix was best.
    C : float
        The penalty that was best with it.
    score : float
        Accuracy (for numbers, R²), or another score, on held-out graphs of the inner folds; optimistic,
        because it was the best.
    scores : dict from (n_iter, C) to float
        The scores of all that were tried.
    vectors : SupportVectors
    held_out : array of float64, or None
        Decision values of all graphs, each by an SVM that did not learn from it; not saved.
    unlike_rows, unlike : array of int64 and of float64, or None
        The graphs to calibrate on, and their values in ``held_out``. Where whole scaffolds of molecules were
        held out, these are the ones with a ring; molecules without one have no scaffold that could be left
        out, and their errors would make the intervals of other molecules too narrow. Not saved.
    """

    n_iter: int
    C: float
    score: float
    scores: dict[tuple[int, float], float]
    vectors: SupportVectors
    held_out: Any = None
    unlike_rows: Any = None
    unlike: Any = None

    @property
    def setting(self) -> str:
        """What was chosen, as text."""
        return f"{self.n_iter} round{'s' * (self.n_iter != 1)}, C = {self.C:g}"


def select_svms(
    kernels: Iterable[tuple[int, Float64]],
    choices: Sequence[Choice],
    C: object,
    n_jobs: int | None = None,
    tick: Tick | None = None,
) -> list[SelectedSVM]:
    """Try every C on every kernel matrix by cross-validation, and train the best on all graphs, per task.

    All tasks share the kernel matrices; no more than one matrix is kept. In a tie, the first kernel is
    chosen, then the smallest C, unless the choice says otherwise (`Choice.break_ties`).

    Parameters
    ----------
    kernels
        Numbers of rounds, rising, each with its square kernel matrix of the training graphs.
    choices
        One per task.
    C : float or sequence of float
        The penalties.
    n_jobs
        Threads.
    tick
        Is called after each inner fold; `n_inner_svms` says how many SVMs it will be told of.
    """
    Cs = checked("C", C, PENALTIES)
    found: list[SelectedSVM | None] = [None] * len(choices)
    for n_iter, similarities in kernels:
        for place, choice in enumerate(choices):
            found[place] = choice.better(found[place], n_iter, similarities, Cs, n_jobs, tick)
    return [chosen for chosen in found if chosen is not None]


def n_inner_svms(n_kernels: int, choices: Sequence[Choice], C: object) -> int:
    """Return how many SVMs the inner folds need: for every kernel matrix, task, fold and C."""
    return n_kernels * sum(len(choice.folds) for choice in choices) * len(checked("C", C, PENALTIES))


class Choice(NamedTuple):
    """A task for which an SVM is chosen.

    Attributes
    ----------
    targets
        What to learn; ``rows`` are its graphs among the rows of the kernel matrices.
    svm
        From `kernel_svm`, or a `LandmarkSVM`.
    folds
        From `inner_folds`.
    scoring
        How good decisions about held-out graphs are.
    break_ties
        Whether to choose the SVM with the higher ROC-AUC among equally good ones, if the first of them
        predicts the same class for every held-out graph: then the score only says how common that class is.
        Several SVMs often do so if one class is much larger than the others.
    calibrated
        Which graphs to calibrate on; None for all.
    """

    targets: TargetColumn
    svm: SVM
    folds: list[Fold]
    scoring: str = "accuracy"
    break_ties: bool = False
    calibrated: Int64 | None = None

    def better(
        self,
        before: SelectedSVM | None,
        n_iter: int,
        similarities: Float64,
        Cs: list[float],
        n_jobs: int | None,
        tick: Tick | None,
    ) -> SelectedSVM | None:
        """Try every C on one more kernel matrix; return the best SVM so far, which may be ``before``."""
        scores = {} if before is None else before.scores
        highest, leading = (-np.inf, None) if before is None else (before.score, before.held_out)
        best = None
        of_penalties = self.svm.held_out(similarities, self.targets, Cs, self.folds, n_jobs, tick)
        for penalty, decisions in zip(Cs, of_penalties):
            found = scores[n_iter, penalty] = score_column(self.targets, decisions, self.scoring)
            if found > highest or (found == highest and self._wins_tie(leading, decisions)):
                highest, leading, best = found, decisions, penalty
        if best is None or leading is None:
            return before
        # Learn from all graphs now, so that the matrix need not be kept until the last one was tried.
        vectors = self.svm.learnt(similarities, self.targets, best)
        rows = np.arange(len(leading)) if self.calibrated is None else self.calibrated
        return SelectedSVM(n_iter, best, highest, scores, vectors, leading, rows, leading[rows])

    def _wins_tie(self, leading: Float64 | None, decisions: Float64) -> bool:
        if not self.break_ties or leading is None or len(np.unique(predicted_codes(leading))) > 1:
            return False
        return score_column(self.targets, decisions, "roc_auc") > score_column(
            self.targets, leading, "roc_auc"
        )


def kernel_svm(targets: TargetColumn, tol: float = 1e-3, epsilon: float = 0.0) -> KernelSVM:
    """Return an untrained SVM for classes or for numbers.

    Errors of numbers up to ``epsilon`` cost nothing. ``tol`` is the tolerance when it learns from all graphs.
    """
    settings = {"kernel": "precomputed", "cache_size": 500, "max_iter": _MAX_SMO_STEPS, "tol": tol}
    if targets.numbers:
        return KernelSVM(SVR(epsilon=epsilon, **settings))
    by_class = targets.weight_of_class
    weights = None if by_class is None else dict(enumerate(by_class.tolist()))
    return KernelSVM(SVC(class_weight=weights, **settings))


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
        From `twinwl.models.calibration.scaffolds_of`, for all graphs; None where they are no molecules.

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
        if np.bincount(targets.codes, rings).min() >= _FEWEST_RINGS:
            groups = np.unique(own, return_inverse=True)[1]
            with contextlib.suppress(TwinWLError):
                return inner_folds(replace(targets, groups=groups), n_folds, seed), np.flatnonzero(rings)
    return inner_folds(targets, n_folds, seed), None


@dataclass(frozen=True, eq=False)
class SupportVectors:
    """The support vectors and their weights.

    Attributes
    ----------
    rows : array of int64, shape (n_support,)
        The support vectors among the training graphs, grouped by class.
    weights : array of float64, shape (n_pairs, n_support)
        Their weights in the decision between each pair of classes, (0, 1), (0, 2), …, (1, 2), …. With two
        classes, positive values are for the second class; with more, for the first of each pair. This is
        scikit-learn's convention.
    intercepts : array of float64, shape (n_pairs,)
    n_classes : int
        1 for SVMs that predict numbers.
    """

    rows: Int64
    weights: Float64
    intercepts: Float64
    n_classes: int

    def __post_init__(self) -> None:
        n_pairs = max(1, self.n_classes * (self.n_classes - 1) // 2)
        if self.weights.shape != (n_pairs, len(self.rows)) or self.intercepts.shape != (n_pairs,):
            raise TwinWLError("the weights do not fit the support vectors")

    @classmethod
    def of(cls, fitted: SVC | SVR) -> SupportVectors:
        """Return the support vectors of a fitted SVM of scikit-learn."""
        n_classes = len(fitted.classes_) if isinstance(fitted, SVC) else 1
        rows = fitted.support_.astype(np.int64)
        if n_classes <= 2:  # noqa: PLR2004
            return cls(rows, np.array(fitted.dual_coef_), np.array(fitted.intercept_), n_classes)
        bounds = pointer(fitted.n_support_)
        weights = np.zeros((n_classes * (n_classes - 1) // 2, len(rows)))
        for pair, (i, j) in enumerate(combinations(range(n_classes), 2)):
            # dual_coef_ has one row per other class: a vector of class i has its weight against class j > i
            # in row j - 1, and a vector of class j its weight against i < j in row i.
            of_i, of_j = slice(bounds[i], bounds[i + 1]), slice(bounds[j], bounds[j + 1])
            weights[pair, of_i] = fitted.dual_coef_[j - 1, of_i]
            weights[pair, of_j] = fitted.dual_coef_[i, of_j]
        return cls(rows, weights, np.array(fitted.intercept_), n_classes)

    def decisions(self, similarities: Float64) -> Float64:
        """Return the decision values, or the numbers, from similarities with the support vectors.

        Parameters
        ----------
        similarities : array of float64, shape (n_graphs, n_support)

        Returns
        -------
        array of float64, shape (n_graphs,) for two classes or numbers, else (n_graphs, n_classes)
            For two classes, the margin of the second. For more, the votes of all pairs, with ties broken by
            the summed margins, as with scikit-learn's ``decision_function_shape="ovr"``.
        """
        return _decisions(similarities @ self.weights.T + self.intercepts, self.n_classes)

    def rescaled(self, scale: float, shift: float) -> SupportVectors:
        """Return the SVM whose numbers are those of this one times ``scale`` plus ``shift``."""
        return replace(self, weights=scale * self.weights, intercepts=scale * self.intercepts + shift)

    def between(self, wanted: int, other: int) -> tuple[Float64, float]:
        """Return weights and intercept of one pair's decision, turned so that positive is ``wanted``."""
        pairs = list(combinations(range(self.n_classes), 2))
        pair = pairs.index((min(wanted, other), max(wanted, other)))
        # Of two classes the second is positive, of more the first of each pair.
        sign = 1.0 if (wanted < other) != (self.n_classes == 2) else -1.0  # noqa: PLR2004
        return sign * self.weights[pair], sign * float(self.intercepts[pair])


class SVM:
    """Base of the SVMs, which learn from similarities with a given C.

    A subclass implements three methods: ``learnt(similarities, targets, C)`` learns from all graphs;
    ``_shared(similarities)`` returns what all folds share; ``_of_fold(shared, targets, fold, Cs)`` learns
    from one side of a fold with each C, in ascending order, and returns decisions about the other side.
    """

    learnt: Callable[..., SupportVectors]
    _shared: Callable[[Float64], Any]
    _of_fold: Callable[..., list[Float64]]

    def held_out(
        self,
        similarities: Float64,
        targets: TargetColumn,
        Cs: list[float],
        folds: list[Fold],
        n_jobs: int | None,
        tick: Tick | None = None,
    ) -> list[Float64]:
        """Return decisions about all graphs for each C, each by an SVM that did not learn from it."""
        shared = self._shared(similarities)

        def of_fold(fold: Fold) -> list[Float64]:
            found = self._of_fold(shared, targets, fold, Cs)
            if tick is not None:
                tick(len(Cs))
            return found

        parts = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(of_fold)(fold) for fold in folds)
        out = [np.empty((len(targets.rows), *first.shape[1:])) for first in parts[0]]
        for part, (_, held) in zip(parts, folds):
            for whole, decisions in zip(out, part):
                whole[held] = decisions
        return out


@dataclass(frozen=True, eq=False)
class KernelSVM(SVM):
    """A support vector machine on a square kernel matrix.

    Attributes
    ----------
    solver : SVC or SVR
        Untrained, of scikit-learn.
    """

    solver: SVC | SVR

    def learnt(self, similarities: Float64, targets: TargetColumn, C: float) -> SupportVectors:
        """Learn from all graphs."""
        rows = targets.rows
        own = similarities if len(rows) == len(similarities) else similarities[np.ix_(rows, rows)]
        fitted = clone(self.solver).set_params(C=C).fit(own, targets.answers, targets.weights)
        vectors = SupportVectors.of(fitted)
        return replace(vectors, rows=rows[vectors.rows])

    def _shared(self, similarities: Float64) -> Float32:
        """Return the matrix in single precision, in which LIBSVM keeps it too."""
        return similarities.astype(np.float32)

    def _of_fold(
        self,
        similarities: Float32,
        targets: TargetColumn,
        fold: Fold,
        Cs: list[float],
    ) -> list[Float64]:
        pairs = [(fold[0], 0)] if targets.numbers else _pairs(targets, fold[0])
        margins = np.empty((len(Cs), len(fold[1]), len(pairs)))
        for place, (learnt, positive) in enumerate(pairs):
            margins[:, :, place] = self._margins(similarities, targets, (learnt, fold[1]), positive, Cs)
        return [_decisions(of_penalty, len(targets.classes)) for of_penalty in margins]

    def _margins(
        self,
        similarities: Float32,
        targets: TargetColumn,
        fold: Fold,
        positive: int,
        Cs: list[float],
    ) -> Float64:
        """Learn to tell one class from another, or numbers; return the margins of held-out graphs.

        Returns
        -------
        array of float64, shape (n_penalties, n_held_out)
        """
        columns = np.union1d(*fold)
        rows, held_out = targets.rows[columns], np.searchsorted(columns, fold[1])
        part = similarities if len(rows) == len(similarities) else similarities[np.ix_(rows, rows)]
        bounds = targets.importance()[columns]
        bounds[held_out] = 0.0  # held out: the weight stays 0
        if targets.numbers:
            answers, epsilon = targets.answers[columns], self.solver.epsilon
            wanted = np.concatenate([answers - epsilon, answers + epsilon])
            signed = np.concatenate([bounds, -bounds])
        else:
            wanted = np.where(targets.codes[columns] == positive, 1.0, -1.0)
            signed = bounds * wanted
        lower, upper = np.minimum(signed, 0), np.maximum(signed, 0)
        own, weights = part.diagonal().astype(np.float64), np.zeros(len(wanted))
        found = np.empty((len(Cs), len(held_out)))
        for place, C in enumerate(Cs):
            # The weights found with a smaller C are within the bounds of a larger one, and a good start.
            errors, intercept = solve(Problem(part, own, wanted, C * lower, C * upper), weights)
            found[place] = wanted[held_out] - errors[held_out] + intercept  # (K·b)[held_out] + intercept
        return found


def solve(problem: Problem, weights: Float64) -> tuple[Float64, float]:
    """Train an SVM, starting from ``weights`` within the bounds, which are changed in place.

    Returns
    -------
    errors : array of float64, shape (weights per graph * n_graphs,)
        ``t - K·b``: targets minus decisions without the intercept.
    intercept : float

    >>> two = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
    >>> problem = Problem(two, np.ones(2), np.array([1.0, -1.0]), np.array([0.0, -9.0]), np.array([9.0, 0.0]))
    >>> weights = np.zeros(2)
    >>> errors, intercept = solve(problem, weights)
    >>> weights.tolist(), (problem.targets - errors + intercept).tolist()
    ([1.0, -1.0], [1.0, -1.0])
    """
    errors = problem.targets.copy()
    most, least = optimise(problem, weights, errors)
    # A weight strictly between its bounds has a margin of exactly its target: the intercept is its error.
    free = (weights > problem.lower) & (weights < problem.upper)
    return errors, float(errors[free].mean()) if free.any() else (most + least) / 2


def _pairs(targets: TargetColumn, learnt: Int64) -> list[tuple[Int64, int]]:
    """Return the graphs of each pair of classes, and which of the two is positive (see `SupportVectors`)."""
    codes, n_classes = targets.codes[learnt], len(targets.classes)
    return [
        (learnt[(codes == first) | (codes == second)], second if n_classes == 2 else first)  # noqa: PLR2004
        for first, second in combinations(range(n_classes), 2)
    ]


def _decisions(margins: Float64, n_classes: int) -> Float64:
    """Turn the margins of all pairs of classes into decisions (see `SupportVectors.decisions`)."""
    if margins.shape[1] == 1:  # two classes, or numbers
        return margins[:, 0]
    votes = np.zeros((len(margins), n_classes))
    confidence = np.zeros_like(votes)
    for pair, (i, j) in enumerate(combinations(range(n_classes), 2)):
        confidence[:, i] += margins[:, pair]
        confidence[:, j] -= margins[:, pair]
        votes[:, i] += margins[:, pair] >= 0
        votes[:, j] += margins[:, pair] < 0
    # The summed margins are squeezed into (-1/3, 1/3), so they only break ties between votes.
    return votes + confidence / (3 * (np.abs(confidence) + 1))


_RANK = 1e-10  # eigenvalues below this share of the largest are only rounding errors
_ROUNDING = 1e-13  # a penalty below this share of the trace would be lost by rounding


@dataclass(frozen=True, eq=False)
class LandmarkSVM(SVM):
    """A linear model on Nyström features, K(X, L) K(L, L)^(-1/2) for landmarks L.

    It minimises ``|w|² / 2 + C / 2 · Σ (error)²``. For classes, the target is ±1, and with more than two
    classes each pair gets a decision. The squared loss has a closed form, and the decisions estimate 2p - 1,
    where p is the probability of a class.

    The result is a weighted sum of similarities with the landmarks, so these are its support vectors.

    Attributes
    ----------
    landmarks : array of int64
        Numbers of the landmarks among the training graphs.
    """

    landmarks: Int64
    _prepared: list[Float64] = field(default_factory=list, repr=False)

    @classmethod
    def draw(cls, n_graphs: int, n_components: int, seed: int) -> LandmarkSVM:
        """Draw ``n_components`` landmarks from the training graphs, or all graphs if there are fewer.

        >>> LandmarkSVM.draw(3, 5, 0).landmarks
        array([0, 1, 2])
        """
        n_landmarks = min(n_graphs, n_components)
        return cls(np.sort(np.random.default_rng(seed).choice(n_graphs, n_landmarks, replace=False)))

    def learnt(self, similarities: Float64, targets: TargetColumn, C: float) -> SupportVectors:
        """Learn from all graphs."""
        return self._solve(similarities, targets, np.arange(len(targets.rows)), [C])[0]

    def _shared(self, similarities: Float64) -> Float64:
        self._prepare(similarities)  # once, before the folds do so in threads
        return similarities

    def _of_fold(
        self,
        similarities: Float64,
        targets: TargetColumn,
        fold: Fold,
        Cs: list[float],
    ) -> list[Float64]:
        learnt, held = fold
        held_out = similarities[targets.rows[held]]
        return [found.decisions(held_out) for found in self._solve(similarities, targets, learnt, Cs)]

    def _prepare(self, similarities: Float64) -> tuple[Float64, Float64]:
        """Return Nyström's features and the inverse root of K(L, L), which all tasks on a matrix share."""
        if not self._prepared or self._prepared[0] is not similarities:
            root = self._inverse_root(similarities)
            self._prepared[:] = similarities, similarities @ root, root
        return self._prepared[1], self._prepared[2]

    def _inverse_root(self, similarities: Float64) -> Float64:
        """Return R with R Rᵀ = K(L, L)⁻¹, or the pseudo-inverse if landmarks are equal."""
        values, vectors = np.linalg.eigh(similarities[self.landmarks])
        kept = values > max(_RANK * values[-1], 0)
        root: Float64 = vectors[:, kept] / np.sqrt(values[kept])
        return root

    def _solve(
        self, similarities: Float64, targets: TargetColumn, rows: Int64, Cs: list[float]
    ) -> list[SupportVectors]:
        """Learn from some of the graphs, once for each C."""
        features, root = self._prepare(similarities)
        importance = targets.importance()[rows]
        wanted, pairs = _regression_targets(targets)
        learnt, wanted = features[targets.rows[rows]], wanted[rows]
        centre, level = (np.average(each, axis=0, weights=importance) for each in (learnt, wanted))
        scale = np.sqrt(importance)[:, None]
        learnt -= centre
        learnt *= scale
        products, towards = learnt.T @ learnt, learnt.T @ (scale * (wanted - level))
        own = np.diagonal(products).copy()
        n_classes = max(1, len(targets.classes))
        found = []
        for C in Cs:
            # One Cholesky factor for each C takes a fraction of the time of the eigenvalues for all.
            np.fill_diagonal(products, own + max(1 / C, _ROUNDING * own.sum()))
            slopes = linalg.solve(products, towards, assume_a="pos", check_finite=False)
            intercepts = (level - centre @ slopes) @ pairs
            found.append(SupportVectors(self.landmarks, (root @ slopes @ pairs).T, intercepts, n_classes))
        return found


def _regression_targets(targets: TargetColumn) -> tuple[Float64, Float64]:
    """Return the targets of least squares, and how margins follow from what is fitted to them.

    Returns
    -------
    targets : array of float64, shape (n_graphs, n_columns)
        The numbers in one column, or one column per class that is 1 for its graphs and 0 for others.
    pairs : array of float64, shape (n_columns, n_pairs)
        Fitted columns times this matrix are the margins of `SupportVectors`: the difference of two classes.
    """
    if targets.numbers:
        return targets.answers[:, None], np.ones((1, 1))
    one = np.eye(len(targets.classes))
    pairs = [one[i] - one[j] for i, j in combinations(range(len(one)), 2)]
    return one[targets.codes], np.array([-pairs[0]] if len(one) == 2 else pairs).T  # noqa: PLR2004
