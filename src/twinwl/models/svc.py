"""STwinSVC and STwinSVR: STwin features, a kernel and a support vector machine in one estimator.

In this order: the choice of C and rounds by cross-validation (`select_svms`), folds, what an SVM has learnt
(`SupportVectors`), two kinds of SVMs, and the estimators. `KernelSVM` has the full kernel matrix, which
`LandmarkSVM` approximates by similarities with a few landmarks (Nyström).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import combinations
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.svm import SVC, SVR

from twinwl import arguments
from twinwl.arguments import (
    FLAG,
    ROUNDS,
    checked,
    integer,
    number,
    old_names,
    one_of,
    one_or_more,
    pointer,
)
from twinwl.arrays import Float32, Float64, Int64
from twinwl.errors import TwinWLError, warn_caller
from twinwl.files.model_files import savable
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.building import GraphsLike
from twinwl.isomorphism.readouts import ReadoutChoice
from twinwl.models import base as estimators
from twinwl.models.base import RandomState, one_seed, with_parameters
from twinwl.models.calibration import (
    INNER_FOLDS,
    Calibration,
    ClassHead,
    Fold,
    NumberHead,
    predicted_codes,
    scaffold_folds,
    scaffolds_of,
)
from twinwl.models.explanation import Decision, Explanation, best_two, explanation_of
from twinwl.models.features import ExtraScaling, ViewEstimator, ViewSpaces
from twinwl.models.metrics import NUMBER_SCORINGS, SCORINGS, HeldOut, score_column
from twinwl.models.similarity import BASES, MeanSimilarity
from twinwl.models.smo import MAX_STEPS, Problem, optimise
from twinwl.models.targets import TargetColumn, name_task
from twinwl.terminal import ProgressBar

PENALTIES = one_or_more(number(1e-6, 1e6))  # with far larger ones the optimisation does not finish
Tick: TypeAlias = Callable[[int], None]  # called with the number of SVMs trained since the last call


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
        because the best was chosen by it.
    scores : dict from (n_iter, C) to float
        The scores of all that were tried.
    vectors : SupportVectors
    held_out : array of float64, or None
        Decision values of all graphs, each by an SVM that did not learn from it; not saved.
    """

    n_iter: int
    C: float
    score: float
    scores: dict[tuple[int, float], float]
    vectors: SupportVectors
    held_out: Any = None

    @property
    def setting(self) -> str:
        """What was chosen, as text."""
        return f"{self.n_iter} round{'s' * (self.n_iter != 1)}, C = {self.C:g}"


def select_svms(
    kernels: Iterable[tuple[int, Float64]],
    choices: Sequence[TaskSelection],
    C: object,
    n_jobs: int | None = None,
    tick: Tick | None = None,
) -> list[SelectedSVM]:
    """Try every C on every kernel matrix by cross-validation, and train the best on all graphs, per task.

    All tasks share the kernel matrices; no more than one matrix is kept. In a tie, the first kernel is
    chosen, then the smallest C, unless the choice says otherwise (`TaskSelection.break_ties`).

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
        Called after each inner fold with the number of SVMs trained; in all these are `n_inner_svms`.
    """
    Cs = checked("C", C, PENALTIES)
    selected: list[SelectedSVM | None] = [None] * len(choices)
    for n_iter, similarities in kernels:
        for place, choice in enumerate(choices):
            selected[place] = choice.best_so_far(selected[place], n_iter, similarities, Cs, n_jobs, tick)
    return [chosen for chosen in selected if chosen is not None]


def n_inner_svms(n_kernels: int, choices: Sequence[TaskSelection], C: object) -> int:
    """Return how many SVMs the inner folds need: for every kernel matrix, task, fold and C."""
    return n_kernels * sum(len(choice.folds) for choice in choices) * len(checked("C", C, PENALTIES))


class TaskSelection(NamedTuple):
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
        The score by which decisions about held-out graphs are judged.
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

    def best_so_far(
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
        decisions_by_penalty = self.svm.held_out(similarities, self.targets, Cs, self.folds, n_jobs, tick)
        for penalty, decisions in zip(Cs, decisions_by_penalty):
            score = scores[n_iter, penalty] = score_column(self.targets, decisions, self.scoring)
            if score > highest or (score == highest and self._wins_tie(leading, decisions)):
                highest, leading, best = score, decisions, penalty
        if best is None or leading is None:
            return before
        # Learn from all graphs now, so that the matrix need not be kept until the last one was tried.
        vectors = self.svm.learn(similarities, self.targets, best)
        return SelectedSVM(n_iter, best, highest, scores, vectors, leading)

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
    settings = {"kernel": "precomputed", "cache_size": 500, "max_iter": MAX_STEPS, "tol": tol}
    if targets.numbers:
        return KernelSVM(SVR(epsilon=epsilon, **settings))
    by_class = targets.weight_of_class
    weights = None if by_class is None else dict(enumerate(by_class.tolist()))
    return KernelSVM(SVC(class_weight=weights, **settings))


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

    A subclass implements three methods: ``learn(similarities, targets, C)`` learns from all graphs;
    ``_shared(similarities)`` returns what all folds share; ``_of_fold(shared, targets, fold, Cs)`` learns
    from one side of a fold with each C, in ascending order, and returns decisions about the other side.
    """

    learn: Callable[..., SupportVectors]
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
            decisions = self._of_fold(shared, targets, fold, Cs)
            if tick is not None:
                tick(len(Cs))
            return decisions

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

    def learn(self, similarities: Float64, targets: TargetColumn, C: float) -> SupportVectors:
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
        for place, (training_rows, positive) in enumerate(pairs):
            margins[:, :, place] = self._margins(
                similarities, targets, (training_rows, fold[1]), positive, Cs
            )
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
        graphs = np.union1d(*fold)
        rows, held_out = targets.rows[graphs], np.searchsorted(graphs, fold[1])
        part = similarities if len(rows) == len(similarities) else similarities[np.ix_(rows, rows)]
        bounds = targets.importance()[graphs]
        bounds[held_out] = 0.0  # held out: the weight stays 0
        if targets.numbers:
            answers, epsilon = targets.answers[graphs], self.solver.epsilon
            # Two weights per graph, see `twinwl.models.smo`.
            wanted = np.concatenate([answers - epsilon, answers + epsilon])
            signed = np.concatenate([bounds, -bounds])
        else:
            wanted = np.where(targets.codes[graphs] == positive, 1.0, -1.0)
            signed = bounds * wanted
        lower, upper = np.minimum(signed, 0), np.maximum(signed, 0)
        own, weights = part.diagonal().astype(np.float64), np.zeros(len(wanted))
        margins = np.empty((len(Cs), len(held_out)))
        for place, C in enumerate(Cs):
            # The weights found with a smaller C are within the bounds of a larger one, and a good start.
            errors, intercept = solve(Problem(part, own, wanted, C * lower, C * upper), weights)
            margins[place] = wanted[held_out] - errors[held_out] + intercept  # (K·b)[held_out] + intercept
        return margins


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


def _pairs(targets: TargetColumn, training_rows: Int64) -> list[tuple[Int64, int]]:
    """Return the graphs of each pair of classes, and which of the two is positive (see `SupportVectors`)."""
    codes, n_classes = targets.codes[training_rows], len(targets.classes)
    return [
        (training_rows[(codes == first) | (codes == second)], second if n_classes == 2 else first)  # noqa: PLR2004
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
    # Cache: the matrix that was prepared last, its features and the root.
    _prepared: list[Float64] = field(default_factory=list, repr=False)

    @classmethod
    def draw(cls, n_graphs: int, n_components: int, seed: int) -> LandmarkSVM:
        """Draw ``n_components`` landmarks from the training graphs, or all graphs if there are fewer.

        >>> LandmarkSVM.draw(3, 5, 0).landmarks
        array([0, 1, 2])
        """
        n_landmarks = min(n_graphs, n_components)
        return cls(np.sort(np.random.default_rng(seed).choice(n_graphs, n_landmarks, replace=False)))

    def learn(self, similarities: Float64, targets: TargetColumn, C: float) -> SupportVectors:
        """Learn from all graphs; ``similarities`` has one column per landmark."""
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
        training_rows, held = fold
        held_out = similarities[targets.rows[held]]
        return [found.decisions(held_out) for found in self._solve(similarities, targets, training_rows, Cs)]

    def _prepare(self, similarities: Float64) -> tuple[Float64, Float64]:
        """Return Nyström's features and the inverse root of K(L, L), which all tasks on a matrix share."""
        if not self._prepared or self._prepared[0] is not similarities:
            root = self._inverse_root(similarities)
            self._prepared[:] = similarities, similarities @ root, root
        return self._prepared[1], self._prepared[2]

    def _inverse_root(self, similarities: Float64) -> Float64:
        """Return R with R Rᵀ = K(L, L)⁻¹, or the pseudo-inverse if landmarks are equal."""
        values, vectors = np.linalg.eigh(similarities[self.landmarks])
        independent = values > max(_RANK * values[-1], 0)
        root: Float64 = vectors[:, independent] / np.sqrt(values[independent])
        return root

    def _solve(
        self, similarities: Float64, targets: TargetColumn, rows: Int64, Cs: list[float]
    ) -> list[SupportVectors]:
        """Learn from some of the graphs, once for each C."""
        features, root = self._prepare(similarities)
        importance = targets.importance()[rows]
        wanted, pairs = _regression_targets(targets)
        training_features, wanted = features[targets.rows[rows]], wanted[rows]
        centre, level = (np.average(each, axis=0, weights=importance) for each in (training_features, wanted))
        scale = np.sqrt(importance)[:, None]
        training_features -= centre
        training_features *= scale
        gram = training_features.T @ training_features
        cross = training_features.T @ (scale * (wanted - level))
        own = np.diagonal(gram).copy()
        n_classes = max(1, len(targets.classes))
        solutions = []
        for C in Cs:
            # One Cholesky factor for each C takes a fraction of the time of the eigenvalues for all.
            np.fill_diagonal(gram, own + max(1 / C, _ROUNDING * own.sum()))
            slopes = linalg.solve(gram, cross, assume_a="pos", check_finite=False)
            intercepts = (level - centre @ slopes) @ pairs
            solutions.append(SupportVectors(self.landmarks, (root @ slopes @ pairs).T, intercepts, n_classes))
        return solutions


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


# ---------------------------------------------------------------------- estimators

# The model of one task is of the same class.
# ruff: noqa: SLF001

# Matrices in memory at the same time: the sums, the similarities made of them, and the part for one task or
# fold. With landmarks also the Nyström features and their part.
_MATRICES, _MATRICES_OF_LANDMARKS = 3, 5
# Training graphs up to which "auto" compares all pairs, which takes 2.4 GB. Its processor time grows with
# the square: 3.7 seconds for 4,000 molecules of HIV, 11 for 7,000 (1,000 landmarks: 7 and 9), per target.
# It is worth that: on held-out graphs of NCI1, Tox21 (NR-AhR), HIV and Lipophilicity the exact kernel is
# ahead by 0.03 to 0.05 (ROC-AUC, R²) with the largest training sets tried, 2,000 to 7,000, and level with
# 1,000. A fixed number, whatever memory there is, so that the same data give the same model everywhere.
LARGEST_EXACT = 10_000


def _attribute_of_svms(name: str, doc: str) -> Any:  # noqa: ANN401
    """Return a property that reads an attribute of each task's SVM."""

    def value(self: TwinSVM) -> object:
        return self._per_task([getattr(svm, name) for svm in self.svms_])

    return property(value, doc=doc)


@with_parameters
class TwinSVM(ViewEstimator, estimators.TaskEstimator):
    """Base of the support vector machines on a twin kernel: the choice of rounds and C, and prediction.

    Several tasks share the features and the kernel matrices. Each has an SVM of its own, which is the one
    that its known targets alone would give.

    Attributes
    ----------
    svms_ : list of SelectedSVM
        One per task.
    spaces_ : ViewSpaces
    matrix_ : csr_matrix, shape (n_support, n_columns)
        Features of the support vectors of all tasks.
    rows_ : array of int64, shape (n_support,)
        Which training graphs these are.
    """

    _constraints = {
        "n_iter": (one_or_more(ROUNDS),),
        "C": (PENALTIES,),
        "base": (one_of(*BASES),),
        "normalize": (FLAG,),
        "average_rounds": (FLAG,),
        "inner_folds": (INNER_FOLDS,),
        "n_jobs": (arguments.JOBS, None),
        "random_state": arguments.RANDOM_STATE,
        "kernel_approximation": (one_of("auto", "nystroem"), None),
        "n_components": (integer(1, arguments.MAX_ITEMS),),
        "tol": (number(1e-12, 1),),
        "verbose": (FLAG, integer(0), None),
    }
    _fitted_attribute = "heads_"
    _kept = {
        "matrix": sparse.csr_matrix,
        "rows": Int64,
        "svms": list[SelectedSVM],
        "scaling": ExtraScaling | None,
        "extra": Float64 | None,
    }
    _uses_extra = True
    _for_large_sets: ClassVar[str]
    epsilon = 0.0

    n_iter: int | Sequence[int] = (0, 1, 2, 3, 4, 5)
    C: float | Sequence[float] = (1, 3, 10)
    features: str = "joint"
    base: str = "minmax"
    normalize: bool = True
    edge_labels: bool | None = None
    initial: str = "label"
    _: KW_ONLY
    scoring: str = "accuracy"
    kernel_approximation: str | None = "auto"
    n_components: int = 1000
    readout: ReadoutChoice = "size"
    tol: float = 1e-3
    verbose: bool | int | None = None
    average_rounds: bool = False
    pairs: int | None = None

    n_iter_ = _attribute_of_svms("n_iter", "The number of rounds chosen.")
    C_ = _attribute_of_svms("C", "The penalty chosen.")
    inner_score_ = _attribute_of_svms(
        "score", "Score on held-out graphs of the inner folds; optimistic: the best of all."
    )
    inner_scores_ = _attribute_of_svms("scores", "The scores of all (n_iter, C).")
    support_vectors_ = _attribute_of_svms("vectors", "The training graphs that are kept, and their weights.")

    @property
    def n_support_(self) -> int | list[int]:
        """Number of training graphs that the SVM keeps."""
        self._check_fitted()
        return self._per_task([len(svm.vectors.rows) for svm in self.svms_])

    def fit(self, X: GraphsLike, y: object, groups: object = None, sample_weight: object = None) -> Self:
        """Choose rounds and C, then learn from all graphs.

        Parameters
        ----------
        X
            The graphs; extra features that a batch carries (`GraphBatch.with_extra`) are learnt from too.
        y
            Their classes, of any type that can be sorted; for a regressor, numbers. For several tasks at once
            a table with one column per task, NaN where a target is unknown.
        groups
            Graphs of one group stay on one side of every inner fold. If None, molecules of one scaffold do
            (unless scaffolds are too few), so that rounds and C, sets and intervals fit new chemistry;
            ``range(len(X))`` holds out molecules at random.
        sample_weight
            Weight of each graph.
        """
        batch = self._graphs_to_fit(X)
        targets = self._read_targets(y, len(batch), sample_weight, groups)
        # One graph is enough to see which views and extra features there are.
        approximated = self._approximated(batch[targets.rows[:1]], len(targets.rows))
        counted = targets.graphs_that_count(batch)
        scaling = None if counted.extra is None else ExtraScaling.fitted(counted.extra)
        extra = None if scaling is None else scaling.apply(counted.extra)
        n_iters = checked("n_iter", self.n_iter, one_or_more(ROUNDS))
        seed = one_seed(self.random_state)
        scaffolds = None if batch.atoms is None else scaffolds_of(batch)
        approximation = None
        if approximated:
            approximation = LandmarkSVM.draw(len(targets.rows), self.n_components, seed)
        columns = [targets.column(place) for place in range(len(targets.heads))]
        choices = []
        for place, column in enumerate(columns):
            with name_task(targets.names, place):
                folds, rings = scaffold_folds(column, scaffolds, self.inner_folds, seed)
            choices.append(
                TaskSelection(
                    replace(column, rows=np.searchsorted(targets.rows, column.rows)),
                    approximation or kernel_svm(column, self.tol, self.epsilon),
                    folds,
                    self.scoring,
                    break_ties=not column.numbers,
                    calibrated=rings,
                )
            )
        show = None if self.verbose is None else bool(self.verbose)
        n_svms = n_inner_svms(1 if self.average_rounds else len(n_iters), choices, self.C)
        with ProgressBar("choosing rounds and C", n_svms, show=show) as bar:
            settings = {**self.settings, "n_iter": max(n_iters)}
            encoded = ViewSpaces.learn(counted, settings, self.pairs)
            landmarks = slice(None) if approximation is None else approximation.landmarks
            similarity = MeanSimilarity(
                encoded.spaces,
                encoded.matrix[landmarks],
                n_iters,
                self.base,
                normalize=self.normalize,
                extra=None if extra is None else extra[landmarks],
            )
            queries = similarity.queries_from_features(encoded, encoded.parts, extra)
            kernels: Iterable[tuple[int, Float64]] = zip(n_iters, similarity.by_rounds(queries), strict=True)
            if self.average_rounds:
                kernels = [(max(n_iters), similarity.of(queries))]
            selected = select_svms(kernels, choices, self.C, self.n_jobs, bar.advance)
        parted = ""
        if any(choice.calibrated is not None for choice in choices):
            parted = " by scaffold"
        elif any(
            len(np.unique(column.groups)) < len(column.rows)
            for column in columns
            if column.groups is not None
        ):
            parted = " by group"
        how = f"cross-validated{parted}; best of {len(selected[0].scores)} settings"
        if approximation is not None:
            how = f"kernel approximated with {len(approximation.landmarks):,} landmarks; {how}"
        heads, svms, held = zip(*map(_finished, choices, selected))
        self._held_out = how, list(held)
        rows = np.unique(np.concatenate([svm.vectors.rows for svm in svms]))
        own = None if extra is None else extra[rows]
        self._keep_views(
            encoded.spaces, encoded.matrix[rows], rows, list(svms), targets.names, list(heads), scaling, own
        )
        return self

    def _keep_views(
        self,
        spaces: ViewSpaces,
        matrix: sparse.csr_matrix,
        rows: Int64,
        svms: list[SelectedSVM],
        tasks: tuple[str, ...] | None,
        heads: list[Any],
        scaling: ExtraScaling | None = None,
        extra: Float64 | None = None,
    ) -> None:
        """Set fitted attributes; ``matrix`` has the features of the training graphs ``rows``."""
        extra_shape = None if scaling is None else (len(rows), len(scaling.names))
        if matrix.shape[0] != len(rows) or (None if extra is None else extra.shape) != extra_shape:
            raise TwinWLError("the model's features do not fit its support vectors; the file is damaged")
        spaces.widen(matrix)
        self.scaling_, self.extra_ = scaling, extra
        self.svms_, self.rows_, averaged = svms, rows, checked("n_iter", self.n_iter, one_or_more(ROUNDS))
        self.spaces_ = spaces.first_rounds(max(svm.n_iter for svm in svms))
        self.matrix_ = spaces.columns_of(self.spaces_, matrix)
        self._similarities = []
        order = np.argsort(rows)
        for svm in svms:
            places = order[np.searchsorted(rows, svm.vectors.rows, sorter=order)]
            own, own_extra = matrix[places], None if extra is None else extra[places]
            first = spaces.first_rounds(svm.n_iter)
            rounds = averaged if self.average_rounds else [svm.n_iter]
            self._similarities.append(
                MeanSimilarity(
                    first,
                    spaces.columns_of(first, own),
                    rounds,
                    self.base,
                    normalize=self.normalize,
                    extra=own_extra,
                )
            )
        self.tasks_, self.heads_ = tasks, heads

    def _select(self, place: int) -> Self:
        model, svm = super()._select(place), self.svms_[place]
        own = np.isin(self.rows_, svm.vectors.rows)
        extra = None if self.extra_ is None else self.extra_[own]
        parts = self.rows_[own], [svm], None, [self.heads_[place]], self.scaling_, extra
        model._keep_views(self.spaces_, self.matrix_[own], *parts)
        return model

    def _approximated(self, graph: GraphBatch, n_graphs: int) -> bool:
        """Return whether to approximate the kernel; refuse matrices that would not fit into memory.

        Each further view keeps two matrices of its own.
        """
        further = 2 * len(graph.views) + 2 * (self.pairs is not None) + self.average_rounds
        further += graph.extra is not None
        usual = "nystroem" if n_graphs > LARGEST_EXACT else None
        approximation = usual if self.kernel_approximation == "auto" else self.kernel_approximation
        if approximation is None:
            n_matrices = _MATRICES + further
            needed, what = n_matrices * n_graphs**2, f"{n_matrices} matrices of all pairs,"
            remedy = f"use kernel_approximation='nystroem', {self._for_large_sets} or fewer graphs"
        else:
            n_landmarks = min(n_graphs, self.n_components)
            needed = (_MATRICES_OF_LANDMARKS + further) * n_landmarks * n_graphs
            what, remedy = f"with {n_landmarks:,} landmarks,", "use a smaller n_components"
        arguments.check_fits(8 * needed, None, f"the kernel of {n_graphs:,} training graphs, {what}", remedy)
        if approximation != self.kernel_approximation and approximation is not None:
            warn_caller(
                f"{n_graphs:,} training graphs: the kernel is approximated with {n_landmarks:,} landmarks; "
                "kernel_approximation='nystroem' does so without this warning, None compares all pairs"
            )
        return approximation is not None

    def _decisions(self, X: GraphsLike) -> list[Float64]:
        self._check_fitted()
        batch, encoded, decisions = self._new_graphs(X, "predict"), {}, []
        for svm, similarity in zip(self.svms_, self._similarities):
            if svm.n_iter not in encoded:  # tasks with the same rounds share it
                encoded[svm.n_iter] = similarity.queries(batch, self._scaled(batch))
            blocks = similarity.blocks(encoded[svm.n_iter])
            decisions.append(np.concatenate([svm.vectors.decisions(block) for _, block in blocks]))
        return decisions

    @property
    def extra_names_(self) -> tuple[str, ...] | None:
        """Names of the extra features that the model needs; None where there are none."""
        return None if self.scaling_ is None else self.scaling_.names

    def _scaled(self, batch: GraphBatch) -> Float64 | None:
        return None if self.scaling_ is None else self.scaling_.apply(batch.extra)

    @old_names(graph="X")
    def explain(self, X: GraphsLike, n_columns: int = 10, task: str | int | None = None) -> Explanation:
        """Return the shares of the nodes and columns of one graph in the prediction.

        The shares are exact: together with the intercept they sum to the decision value (of a regressor, to
        the number). For ``"linear"`` a column's share is its value times its weight. For the other bases it
        is the column's part of the similarity with each support vector, times that vector's weight, the
        divisors held fixed.

        Parameters
        ----------
        X
            One graph, or a batch or list of one graph.
        n_columns
            Number of columns to list, those with the largest shares.
        task
            The task to explain, by its name or place, if there are several.
        """
        model = self._one_task(task)
        graph, similarity = self._graph_to_explain(X), model._similarities[0]
        queries = similarity.queries(graph, self._scaled(graph))
        decision = _decision(model.heads_[0], model.svms_[0], similarity.of(queries))
        contributions = similarity.contributions(queries, decision.weights)
        method = "value times weight" if self.base == "linear" else "shares add up to the decision value"
        known = queries.known
        explanation = explanation_of(graph, known, contributions, decision, f"exact: {method}", n_columns)
        if len(known.parts) == 1 and self.scaling_ is None:
            return explanation
        of_views = np.split(contributions, known.spaces.first_columns[1:-1])
        shares = {title: float(part.sum()) for title, part in zip(known.spaces.titles, of_views)}
        of_extra = similarity.extra_share(queries, decision.weights)
        if self.scaling_ is not None:
            shares["extra features"] = of_extra
        return replace(explanation, decision=explanation.decision + of_extra, view_shares=shares)

    def _to_state(self) -> dict[str, object]:
        svms = [replace(svm, held_out=None) for svm in self.svms_]
        state = super()._to_state() | {"svms": svms}
        return {name: part for name, part in state.items() if part is not None or name == "tasks"}


def _finished(choice: TaskSelection, svm: SelectedSVM) -> tuple[ClassHead | NumberHead, SelectedSVM, HeldOut]:
    """Return the head that an SVM's held-out decisions give; SVMs of numbers answer in the targets' unit."""
    column = choice.targets
    # Where whole scaffolds of molecules were held out, only molecules with a ring count: others have no
    # scaffold that could be left out, and their errors would make the intervals of all too narrow.
    rows = slice(None) if choice.calibrated is None else choice.calibrated
    head, decisions, answers = column.head, svm.held_out, column.answers
    if column.numbers:
        held, (mean, scale) = HeldOut(head, decisions, answers, svm.setting), (head.mean, head.scale)
        vectors, in_unit = svm.vectors.rescaled(scale, mean), scale * decisions + mean
        head = replace(head.calibrated(decisions[rows], answers[rows]), mean=0.0, scale=1.0)
        return head, replace(svm, vectors=vectors, held_out=in_unit), held
    head = replace(head, calibration=Calibration.fit_to(decisions, column.codes, column.weights))
    held = HeldOut(head, decisions, answers, svm.setting)
    return head.calibrated(decisions[rows], answers[rows]), svm, held


def _decision(head: ClassHead | NumberHead, svm: SelectedSVM, similarities: Float64) -> Decision:
    """Return the decision about one graph and the weights of the similarities that make it."""
    decisions = svm.vectors.decisions(similarities)
    if isinstance(head, NumberHead):
        return Decision(float(decisions[0]), None, svm.vectors.weights[0], float(svm.vectors.intercepts[0]))
    wanted, other, _ = best_two(np.atleast_1d(decisions[0]))
    return Decision(head.classes[wanted], head.classes[other], *svm.vectors.between(wanted, other))


@savable
@with_parameters
class STwinSVC(estimators.GraphClassifier, TwinSVM):
    """Classify graphs with a support vector machine on a twin kernel.

    The number of rounds and C are chosen by cross-validation inside the training graphs; the strong default
    where data is scarce.

    Parameters
    ----------
    n_iter : int or sequence of int, default=(0, 1, 2, 3, 4, 5)
        Numbers of rounds to choose from.
    C : float or sequence of float, default=(1, 3, 10)
        Penalties to choose from, each from 1e-6 to 1e6. With other kernels than ``"minmax"`` larger ones may
        be better.
    features : {"count", "size", "joint"}, default="joint"
        See `STwinVectorizer`.
    base : {"linear", "minmax", "intersection"}, default="minmax"
        See `TwinKernel`.
    normalize : bool, default=True
        See `TwinKernel`.
    edge_labels : bool or None, default=None
        See `STwinVectorizer`.
    initial : {"label", "degree", "ring"}, default="label"
        See `STwinVectorizer`.
    inner_folds : int, default=5
        Folds of the inner choice; fewer where a class has fewer graphs (or groups).
    class_weight : None, "balanced" or mapping from class to weight, default=None
        Also weighs the graphs in the scores of the inner choice.
    n_jobs : int or None, default=None
        Threads of the inner choice.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the inner folds and the landmarks, the only random steps; None gives different ones each time.
    ignore_features : bool, default=False
        Do not warn about continuous node features, which are not used.
    scoring : str, default="accuracy"
        The score of the inner choice, by its name in scikit-learn: one of ``twinwl.models.metrics.SCORINGS``.
        ``"roc_auc"`` and ``"average_precision"`` use decision values, one class against the rest where
        there are more than two. If the best choice gives the same class to all held-out graphs, which happens
        where one class is rare, an equally good one with a higher ROC-AUC replaces it.
    kernel_approximation : "auto", "nystroem" or None, default="auto"
        None compares each graph with all others. ``"nystroem"`` compares it with ``n_components`` landmarks
        alone, training graphs drawn at random, and learns a linear model with a squared loss on the Nyström
        features that they give. Its memory and time grow with the number of graphs, not with its square.
        ``"auto"`` does so for more than 10,000 training graphs.
    n_components : int, default=1000
        Number of landmarks, which become the support vectors; all graphs where there are fewer.
    readout : str, function or list of these, default="size"
        See `STwinVectorizer`.
    tol : float, default=1e-3
        How closely the SVM that learns from all graphs is optimised, as in scikit-learn; not used with
        ``kernel_approximation``, whose solution has a closed form.
    verbose : bool, int or None, default=None
        Show a progress bar of the rounds tried; None shows it if standard error is a terminal.
    average_rounds : bool, default=False
        Take the mean of the kernels of all ``n_iter`` instead of choosing one; only C is chosen then.
    pairs : int or None, default=None
        See `TwinKernel`.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
    n_iter_ : int
        Number of rounds chosen.
    C_ : float
        Penalty chosen.
    inner_score_ : float
        Their accuracy, or what ``scoring`` names, on held-out graphs of the inner folds; optimistic, because
        the best was chosen by it.
    inner_scores_ : dict
        The same for each (n_iter, C) that was tried.
    held_out_decisions_ : array of float64
        Decision values of all training graphs of positive weight, each by an SVM of the chosen rounds and
        C that did not learn from it; not saved.
    n_support_ : int
        Number of training graphs that the SVM keeps.

    See Also
    --------
    STwinSVR : The same for numbers.
    STwinClassifier : A network on the same features.
    TwinKernel : The kernel alone.
    explain : The reasons for a prediction.

    Notes
    -----
    Learning holds up to three kernel matrices of all training graphs, so its memory grows with their square:
    about 24 MB for 1,000 graphs, 2.4 GB for 10,000. More than half of the machine's memory is refused before
    any work; use ``kernel_approximation`` or `STwinClassifier` then. Predicting needs the support vectors'
    features only.

    Examples
    --------
    >>> from twinwl import GraphBatch, STwinSVC
    >>> paths = [[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 3)]] * 3
    >>> cycles = [[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (2, 3), (3, 0)]] * 3
    >>> model = STwinSVC().fit(GraphBatch.from_edges(paths + cycles), ["path"] * 6 + ["cycle"] * 6)
    >>> model.predict([[(0, 1), (1, 2), (2, 3), (3, 4)], [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]])
    array(['path', 'cycle'], dtype='<U5')
    """

    _constraints = {"class_weight": arguments.CLASS_WEIGHT, "scoring": (one_of(*SCORINGS),)}
    _for_large_sets = "STwinClassifier"

    held_out_decisions_ = _attribute_of_svms(
        "held_out", "Decision values of all training graphs, by SVMs that did not learn from them."
    )

    inner_folds: int = 5
    class_weight: object = None
    n_jobs: int | None = None
    random_state: RandomState = 0
    ignore_features: bool = False


@savable
@with_parameters
class STwinSVR(estimators.GraphRegressor, TwinSVM):
    """Predict a number for each graph with support vector regression on a twin kernel.

    The number of rounds and C are chosen by cross-validation inside the training graphs. Targets are
    standardised for the SVM, so that no parameter depends on their unit.

    Parameters
    ----------
    n_iter : int or sequence of int, default=(1, 2, 3, 4)
        Numbers of rounds to choose from.
    C : float or sequence of float, default=(0.3, 1, 3, 10, 30)
        Penalties to choose from, each from 1e-6 to 1e6.
    features : {"count", "size", "joint"}, default="size"
        See `STwinVectorizer`.
    base : {"linear", "minmax", "intersection"}, default="minmax"
        See `TwinKernel`.
    normalize : bool, default=True
        See `TwinKernel`.
    edge_labels : bool or None, default=None
        See `STwinVectorizer`.
    initial : {"label", "degree", "ring"}, default="label"
        See `STwinVectorizer`.
    epsilon : float, default=0.01
        Errors up to this many standard deviations of the targets cost nothing.
        Not used with ``kernel_approximation``, whose loss is squared.
    inner_folds : int, default=5
        Folds of the inner choice; fewer where there are fewer graphs (or groups).
    n_jobs : int or None, default=None
        Threads of the inner choice.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the inner folds and the landmarks, the only random steps; None gives different ones each time.
    ignore_features : bool, default=False
        Do not warn about continuous node features, which are not used.
    scoring : str, default="r2"
        The score of the inner choice, by its name in scikit-learn: one of
        ``twinwl.models.metrics.NUMBER_SCORINGS``.
    kernel_approximation : "auto", "nystroem" or None, default="auto"
        None compares each graph with all others. ``"nystroem"`` compares it with ``n_components`` landmarks
        alone, training graphs drawn at random, and learns a linear model with a squared loss on the Nyström
        features that they give. Its memory and time grow with the number of graphs, not with its square.
        ``"auto"`` does so for more than 10,000 training graphs.
    n_components : int, default=1000
        Number of landmarks, which become the support vectors; all graphs where there are fewer.
    readout : str, function or list of these, default="size"
        See `STwinVectorizer`.
    tol : float, default=1e-3
        How closely the SVM that learns from all graphs is optimised, as in scikit-learn; not used with
        ``kernel_approximation``, whose solution has a closed form.
    verbose : bool, int or None, default=None
        Show a progress bar of the rounds tried; None shows it if standard error is a terminal.
    average_rounds : bool, default=False
        Take the mean of the kernels of all ``n_iter`` instead of choosing one; only C is chosen then.
    pairs : int or None, default=None
        See `TwinKernel`.

    Attributes
    ----------
    n_iter_, C_ : int and float
        The chosen values.
    inner_score_ : float
        Its R², or what ``scoring`` names, on held-out graphs of the inner folds; optimistic, because the
        best was chosen by it.
    inner_scores_ : dict from (n_iter, C) to float
        The same for all.
    support_vectors_ : SupportVectors
    held_out_predictions_ : array of float64
        Prediction for each training graph of positive weight, by an SVM that did not learn from it; not
        saved.

    See Also
    --------
    STwinSVC : The same for classes.
    STwinRegressor : A network on the same features.

    Examples
    --------
    >>> from twinwl import STwinSVR
    >>> paths = [[(node, node + 1) for node in range(length)] for length in range(2, 12)]
    >>> model = STwinSVR(n_iter=1, base="linear", normalize=False).fit(paths, range(2, 12))
    >>> model.predict(paths[:2]).round(1)
    array([2., 3.])
    """

    _constraints = {
        "epsilon": (number(0, 1e6),),
        "scoring": (one_of(*NUMBER_SCORINGS),),
    }
    _for_large_sets = "STwinRegressor"

    held_out_predictions_ = _attribute_of_svms(
        "held_out", "Numbers of all training graphs, by SVMs that did not learn from them."
    )

    n_iter: int | Sequence[int] = (1, 2, 3, 4)
    C: float | Sequence[float] = (0.3, 1, 3, 10, 30)
    features: str = "size"
    epsilon: float = 0.01
    inner_folds: int = 5
    n_jobs: int | None = None
    random_state: RandomState = 0
    ignore_features: bool = False
    _: KW_ONLY
    scoring: str = "r2"
