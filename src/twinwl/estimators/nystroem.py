"""Nyström approximation of a kernel: a least-squares machine that decides by similarities with landmarks."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from twinwl.estimators.measurements import Measurements
from twinwl.estimators.svm import Machine, SupportVectors

if TYPE_CHECKING:
    from twinwl.arrays import Float64, Int64
    from twinwl.estimators.targets import Targets

_RANK = 1e-10  # eigenvalues below this share of the largest are rounding
_ROUNDING = 1e-13  # share of the trace below which a penalty is rounding


@dataclass(frozen=True, eq=False)
class LandmarkMachine(Machine):
    """A linear machine on Nyström features, K(X, L) K(L, L)^(-1/2) for landmarks L.

    It minimises ``|w|² / 2 + C / 2 · Σ (error)²``, the error being that of ±1 for classes (one class against
    another where there are more than two). The squared loss has a closed form, and its decisions estimate
    2p - 1, p being the probability of a class.

    What it learns is a sum of weighted similarities with the landmarks, so they are its support vectors.

    Attributes
    ----------
    landmarks : array of int64
        Places among the training graphs.
    """

    landmarks: Int64
    _prepared: list[Float64] = field(default_factory=list, repr=False)

    @classmethod
    def drawn(cls, n_graphs: int, n_components: int, seed: int) -> LandmarkMachine:
        """Draw landmarks from the training graphs; all of them where there are no more than asked for.

        >>> LandmarkMachine.drawn(3, 5, 0).landmarks
        array([0, 1, 2])
        """
        n_landmarks = min(n_graphs, n_components)
        return cls(np.sort(np.random.default_rng(seed).choice(n_graphs, n_landmarks, replace=False)))

    def learnt(self, similarities: Float64, targets: Targets | Measurements, C: float) -> SupportVectors:
        """Learn from all graphs."""
        return self._machines(similarities, targets, np.arange(len(targets.rows)), [C])[0]

    def _shared(self, similarities: Float64) -> Float64:
        self._prepare(similarities)  # once, before the folds do so in threads
        return similarities

    def _of_fold(
        self,
        similarities: Float64,
        targets: Targets | Measurements,
        fold: tuple[Int64, Int64],
        Cs: list[float],
    ) -> list[Float64]:
        learnt, held = fold
        asked = similarities[targets.rows[held]]
        return [machine.decisions(asked) for machine in self._machines(similarities, targets, learnt, Cs)]

    def _prepare(self, similarities: Float64) -> tuple[Float64, Float64]:
        """Return Nyström's features and the root that makes them; all tasks on one matrix share both."""
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

    def _machines(
        self, similarities: Float64, targets: Targets | Measurements, rows: Int64, Cs: list[float]
    ) -> list[SupportVectors]:
        """Learn from some of the graphs, once for each C."""
        features, root = self._prepare(similarities)
        importance = targets.importance()[rows]
        learnt, wanted = features[targets.rows[rows]], _wanted(targets)[rows]
        centre, level = (np.average(each, axis=0, weights=importance) for each in (learnt, wanted))
        scale = np.sqrt(importance)[:, None]
        learnt -= centre
        learnt *= scale
        products, towards = learnt.T @ learnt, learnt.T @ (scale * (wanted - level))
        own = np.diagonal(products).copy()
        pairs, n_classes = _pairs(targets)
        found = []
        for C in Cs:
            # One Cholesky factor for each C takes a fraction of the time of the eigenvalues for all.
            np.fill_diagonal(products, own + max(1 / C, _ROUNDING * own.sum()))
            slopes = linalg.solve(products, towards, assume_a="pos", check_finite=False)
            intercepts = (level - centre @ slopes) @ pairs
            found.append(SupportVectors(self.landmarks, (root @ slopes @ pairs).T, intercepts, n_classes))
        return found


def _wanted(targets: Targets | Measurements) -> Float64:
    """Return what to fit: numbers, or one column per class that is 1 for its graphs."""
    if isinstance(targets, Measurements):
        return targets.answers[:, None]
    return np.eye(len(targets.classes))[targets.codes]


def _pairs(targets: Targets | Measurements) -> tuple[Float64, int]:
    """Return which columns of `_wanted` make each margin of `SupportVectors`, and its n_classes."""
    if isinstance(targets, Measurements):
        return np.ones((1, 1)), 1
    one = np.eye(len(targets.classes))
    if len(one) == 2:  # noqa: PLR2004
        return (one[1] - one[0])[:, None], 2
    return np.array([one[i] - one[j] for i, j in combinations(range(len(one)), 2)]).T, len(one)
