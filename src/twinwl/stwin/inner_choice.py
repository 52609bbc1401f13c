"""The inner choice of an SVM: how many rounds and which C, judged inside the training part alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.svm import SVC

from twinwl.arguments import MAX_ITEMS, integer, number, one_or_more
from twinwl.errors import TwinWLError
from twinwl.estimators.support_vectors import predicted_codes
from twinwl.estimators.targets import check_groups, check_weights, encode_targets, weights_of_classes
from twinwl.stwin.kernel_products import RightHandSide
from twinwl.stwin.similarity import own_sums, similarities_from_sums, sums_of_pairs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from twinwl.arrays import Float64, Int64
    from twinwl.stwin.features import Encoding

__all__ = [
    "INNER_FOLDS",
    "PENALTIES",
    "Choice",
    "JudgedPenalty",
    "Problem",
    "choose",
    "inner_folds",
    "judge_penalties",
    "machine",
]

PENALTIES = one_or_more(number(1e-6, 1e6))  # with far larger ones the machine does not come to an end
INNER_FOLDS = integer(2, MAX_ITEMS)

_CACHE_MEGABYTES = 500
_MAX_STEPS = 10_000_000  # LIBSVM's own limit, which scikit-learn lifts


class Problem(NamedTuple):
    """What the machines learn: classes, and how much each graph weighs."""

    classes: NDArray[np.generic]
    codes: Int64
    weights: Float64
    weight_of_class: dict[int, float]

    @classmethod
    def of(cls, y: object, n_graphs: int, sample_weight: object, class_weight: object) -> Problem:
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

    def score(self, decisions: Float64) -> float:
        """Return the share of weight that the decisions get right."""
        importance = self.weights * np.array([self.weight_of_class.get(c, 1.0) for c in self.codes.tolist()])
        return float(importance[predicted_codes(decisions) == self.codes].sum() / importance.sum())


class JudgedPenalty(NamedTuple):
    """A value of C, its score, and its decisions on held-out graphs."""

    C: float
    score: float
    decisions: Float64


class Choice(NamedTuple):
    """The winner: its rounds and C, its score, the decisions on held-out graphs, and the kernel matrix."""

    n_iter: int
    C: float
    score: float
    decisions: Float64
    similarities: Float64
    scores: dict[tuple[int, float], float]


def choose(
    encoding: Encoding,
    problem: Problem,
    folds: list[tuple[Int64, Int64]],
    *,
    n_iters: list[int],
    Cs: list[float],
    base: str,
    normalize: bool,
    n_jobs: int | None = None,
) -> Choice:
    """Try every number of rounds with every C; of equals the fewest rounds, then the smallest C.

    The kernel matrices of more rounds go on from those of fewer, so all together cost no more than the last.
    """
    best: Choice | None = None
    scores: dict[tuple[int, float], float] = {}
    for n_iter, similarities in _similarities_by_rounds(encoding, n_iters, base, normalize=normalize):
        for C, score, decisions in judge_penalties(similarities, problem, folds, Cs, n_jobs):
            scores[n_iter, C] = score
            if best is None or score > best.score:
                best = Choice(n_iter, C, score, decisions, similarities, scores)
    if best is None:
        raise TwinWLError("there is nothing to choose from; give at least one n_iter and one C")
    return best


def judge_penalties(
    similarities: Float64,
    problem: Problem,
    folds: list[tuple[Int64, Int64]],
    Cs: list[float],
    n_jobs: int | None = None,
) -> list[JudgedPenalty]:
    """Try every C (rising): decide about each graph with a machine that has not seen it."""
    parts = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_held_out_decisions)(similarities, problem, fold, Cs) for fold in folds
    )
    judged = []
    for place, C in enumerate(Cs):
        decisions = _gathered([part[place] for part in parts], folds, len(problem.codes))
        judged.append(JudgedPenalty(C, problem.score(decisions), decisions))
    return judged


def inner_folds(problem: Problem, groups: object, n_folds: int, seed: int) -> list[tuple[Int64, Int64]]:
    """Cut the training graphs into folds, fewer where a class (or its groups) would not reach that many.

    Parameters
    ----------
    problem
        The classes.
    groups
        Graphs of one group stay on one side of every fold; or None.
    n_folds
        How many folds, at least 2.
    seed
        Decides the folds.

    Raises
    ------
    TwinWLError
        If a class has one graph only, or all its graphs in one group.
    """
    classes, codes = problem.classes, problem.codes
    groups = check_groups(groups, len(codes))
    members = np.bincount(codes) if groups is None else _groups_per_class(codes, groups)
    rarest = int(members.argmin())
    if members[rarest] < 2:  # noqa: PLR2004
        what = "graph" if groups is None else "group"
        raise TwinWLError(
            f"class {classes.tolist()[rarest]!r} has only 1 {what}; the inner choice needs 2 of each class"
        )
    n_folds = min(n_folds, int(members[rarest]))
    splitter = StratifiedKFold if groups is None else StratifiedGroupKFold
    split = splitter(n_folds, shuffle=True, random_state=seed).split(codes, codes, groups)
    folds = [(learnt, held) for learnt, held in split if len(held)]
    for learnt, _ in folds:
        if len(np.unique(codes[learnt])) < len(classes):
            raise TwinWLError("the groups leave a fold without one of the classes; give more groups")
    return folds


def machine(C: float, problem: Problem) -> SVC:
    """Return an untrained support vector machine for precomputed similarities."""
    return SVC(
        C=C,
        kernel="precomputed",
        class_weight=problem.weight_of_class or None,
        cache_size=_CACHE_MEGABYTES,
        max_iter=_MAX_STEPS,
    )


def _similarities_by_rounds(
    encoding: Encoding, n_iters: list[int], base: str, *, normalize: bool
) -> Iterator[tuple[int, Float64]]:
    """Yield the kernel matrix of each number of rounds, rising."""
    bounds = np.concatenate([[0], np.cumsum(encoding.space.columns_per_round)])
    n_graphs = encoding.matrix.shape[0]
    sums, own, done = np.zeros((n_graphs, n_graphs)), np.zeros(n_graphs), 0
    for n_iter in sorted(set(n_iters)):
        part = encoding.matrix[:, bounds[done] : bounds[n_iter + 1]]
        sums_of_pairs(part, RightHandSide(part), base, sums)
        own += own_sums(part, base)
        done = n_iter + 1
        yield n_iter, similarities_from_sums(sums.copy(), own, own, base, normalize=normalize)


def _held_out_decisions(
    similarities: Float64, problem: Problem, fold: tuple[Int64, Int64], Cs: list[float]
) -> list[Float64]:
    """Learn with each C (rising) on one side of a fold and decide about the other."""
    learnt, held = fold
    train, test = similarities[np.ix_(learnt, learnt)], similarities[np.ix_(held, learnt)]
    decisions: list[Float64] = []
    for C in Cs:
        fitted = machine(C, problem).fit(train, problem.codes[learnt], problem.weights[learnt])
        decisions.append(fitted.decision_function(test))
        if not _bounded(fitted, C, problem, learnt):
            # No weight reaches its bound, so a larger one changes nothing: this is the hard margin.
            break
    return decisions + [decisions[-1]] * (len(Cs) - len(decisions))


def _bounded(fitted: SVC, C: float, problem: Problem, learnt: Int64) -> bool:
    rows = learnt[fitted.support_]
    class_weights = np.array(
        [problem.weight_of_class.get(code, 1.0) for code in problem.codes[rows].tolist()]
    )
    bound = C * class_weights * problem.weights[rows]
    return bool((np.abs(fitted.dual_coef_).max(axis=0) >= bound * (1 - 1e-9)).any())


def _gathered(parts: list[Float64], folds: list[tuple[Int64, Int64]], n_graphs: int) -> Float64:
    out = np.empty((n_graphs, *parts[0].shape[1:]))
    for part, (_, held) in zip(parts, folds, strict=True):
        out[held] = part
    return out


def _groups_per_class(codes: Int64, groups: Int64) -> Int64:
    pairs = np.unique(np.stack([codes, groups]), axis=1)
    return np.bincount(pairs[0])
