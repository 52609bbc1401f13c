"""The choice of a support vector machine's penalty C, by cross-validation inside the training part."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.svm import SVC

from twinwl.arguments import MAX_ITEMS, integer, number, one_or_more
from twinwl.errors import TwinWLError, shown
from twinwl.estimators.support_vectors import predicted_codes

if TYPE_CHECKING:
    from twinwl.arrays import Float64, Int64
    from twinwl.estimators.targets import Targets

__all__ = ["INNER_FOLDS", "PENALTIES", "ScoredPenalty", "inner_folds", "make_svc", "score_penalties"]

PENALTIES = one_or_more(number(1e-6, 1e6))  # with far larger ones the machine does not come to an end
INNER_FOLDS = integer(2, MAX_ITEMS)

_CACHE_MEGABYTES = 500
_MAX_STEPS = 10_000_000  # LIBSVM's own limit, which scikit-learn lifts


class ScoredPenalty(NamedTuple):
    """A value of C, its score, and its decisions on held-out graphs."""

    C: float
    score: float
    decisions: Float64


def score_penalties(
    similarities: Float64,
    targets: Targets,
    folds: list[tuple[Int64, Int64]],
    Cs: list[float],
    n_jobs: int | None = None,
) -> list[ScoredPenalty]:
    """Try every C (rising): decide about each graph with a machine that has not seen it."""
    parts = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_held_out_decisions)(similarities, targets, fold, Cs) for fold in folds
    )
    scored = []
    for place, C in enumerate(Cs):
        decisions = _gathered([part[place] for part in parts], folds, len(targets.codes))
        scored.append(ScoredPenalty(C, _share_right(targets, decisions), decisions))
    return scored


def inner_folds(targets: Targets, n_folds: int, seed: int) -> list[tuple[Int64, Int64]]:
    """Cut the training graphs into folds, fewer where a class (or its groups) would not reach that many.

    Parameters
    ----------
    targets
        The classes; and the groups, of which each stays on one side of every fold.
    n_folds
        How many folds, at least 2.
    seed
        Decides the folds.

    Raises
    ------
    TwinWLError
        If a class has one graph only, or all its graphs in one group.
    """
    classes, codes, groups = targets.classes, targets.codes, targets.groups
    members = np.bincount(codes) if groups is None else _groups_per_class(codes, groups)
    rarest = int(members.argmin())
    if members[rarest] < 2:  # noqa: PLR2004
        what = "graph" if groups is None else "group"
        name = shown(classes.tolist()[rarest])
        raise TwinWLError(f"class {name} has only 1 {what}; the inner choice needs 2 of each class")
    n_folds = min(n_folds, int(members[rarest]))
    splitter = StratifiedKFold if groups is None else StratifiedGroupKFold
    split = splitter(n_folds, shuffle=True, random_state=seed).split(codes, codes, groups)
    folds = [(learnt, held) for learnt, held in split if len(held)]
    for learnt, _ in folds:
        if len(np.unique(codes[learnt])) < len(classes):
            raise TwinWLError("the groups leave a fold without one of the classes; give more groups")
    return folds


def make_svc(C: float, targets: Targets) -> SVC:
    """Return an untrained support vector machine for precomputed similarities."""
    by_class = targets.weight_of_class
    return SVC(
        C=C,
        kernel="precomputed",
        class_weight=None if by_class is None else dict(enumerate(by_class.tolist())),
        cache_size=_CACHE_MEGABYTES,
        max_iter=_MAX_STEPS,
    )


def _held_out_decisions(
    similarities: Float64, targets: Targets, fold: tuple[Int64, Int64], Cs: list[float]
) -> list[Float64]:
    """Learn with each C (rising) on one side of a fold and decide about the other."""
    learnt, held = fold
    train, test = similarities[np.ix_(learnt, learnt)], similarities[np.ix_(held, learnt)]
    decisions: list[Float64] = []
    for C in Cs:
        weights = None if targets.weights is None else targets.weights[learnt]
        fitted = make_svc(C, targets).fit(train, targets.codes[learnt], weights)
        decisions.append(fitted.decision_function(test))
        if not _bounded(fitted, C, targets, learnt):
            # No weight reaches its bound, so a larger one changes nothing: this is the hard margin.
            break
    return decisions + [decisions[-1]] * (len(Cs) - len(decisions))


def _bounded(fitted: SVC, C: float, targets: Targets, learnt: Int64) -> bool:
    rows = learnt[fitted.support_]
    bound = C * targets.importance()[rows]
    return bool((np.abs(fitted.dual_coef_).max(axis=0) >= bound * (1 - 1e-9)).any())


def _share_right(targets: Targets, decisions: Float64) -> float:
    """Return the share of importance that the decisions get right."""
    importance = targets.importance()
    return float(importance[predicted_codes(decisions) == targets.codes].sum() / importance.sum())


def _gathered(parts: list[Float64], folds: list[tuple[Int64, Int64]], n_graphs: int) -> Float64:
    out = np.empty((n_graphs, *parts[0].shape[1:]))
    for part, (_, held) in zip(parts, folds, strict=True):
        out[held] = part
    return out


def _groups_per_class(codes: Int64, groups: Int64) -> Int64:
    pairs = np.unique(np.stack([codes, groups]), axis=1)
    return np.bincount(pairs[0])
