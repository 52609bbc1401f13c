"""The base class of neural regressors: numbers as targets, standardised for the network."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from twinwl.arguments import one_of
from twinwl.errors import TwinWLError
from twinwl.estimators.calibration import ConformalIntervals, PredictsIntervals
from twinwl.estimators.measurements import NUMBER_SCORINGS, Measurements, numbers_of
from twinwl.estimators.multitask import per_task, side_by_side
from twinwl.learning.estimator import Decision, NeuralGraphEstimator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from twinwl.arrays import Bool, Float32, Float64, Int64
    from twinwl.estimators.base import Constraints
    from twinwl.graphs.coercion import GraphsLike
    from twinwl.learning.task_outputs import Outputs


class NeuralGraphRegressor(PredictsIntervals, RegressorMixin, NeuralGraphEstimator):
    """Base of the neural regressors: trained on the mean squared error of standardised targets.

    Parameters
    ----------
    scoring : str or None
        What the epoch is chosen by: ``"r2"``, ``"neg_root_mean_squared_error"`` or
        ``"neg_mean_absolute_error"``, of several tasks its mean, each in standard deviations of its targets.
        None: the loss, the squared error.
    max_epochs, batch_size, learning_rate, weight_decay, patience, validation_fraction, random_state, verbose
        As for `twinwl.learning.estimator.NeuralGraphEstimator`.

    Attributes
    ----------
    mean_, scale_ : float
        Mean and standard deviation of the training targets.
    """

    _constraints: ClassVar[Constraints] = {"scoring": (one_of(*NUMBER_SCORINGS), None)}

    _per_task = ("mean_", "scale_", "conformal_")

    mean_: float
    scale_: float

    @per_task(side_by_side)
    def predict(self, X: GraphsLike) -> Float64:
        """Return a number for each graph, shape (n_graphs,), or (n_graphs, n_tasks)."""
        return self._outputs(X)[:, 0].astype(np.float64) * self.scale_ + self.mean_

    def _targets(
        self, y: object, n_graphs: int, sample_weight: object, groups: object, known: Bool | None = None
    ) -> Measurements:
        targets = Measurements.of(y, n_graphs, sample_weight, groups, known)
        self.mean_, self.scale_ = targets.mean, targets.scale
        return targets

    def _answers(self, y: object, n_graphs: int, name: str) -> Float64:  # noqa: ARG002
        return (numbers_of(y, n_graphs) - self.mean_) / self.scale_

    def _keep_scores(self, outputs: Float32 | None, answers: Int64 | Float64 | None) -> None:
        self.conformal_ = None
        if outputs is not None:
            numbers = outputs[:, 0].astype(np.float64)
            self.conformal_ = ConformalIntervals.fitted(
                self.scale_ * numbers, self.scale_ * np.asarray(answers, np.float64)
            )

    def _own_outputs(self, outputs: Outputs, place: int) -> Outputs:
        return outputs[..., [place]]

    @property
    def _n_outputs(self) -> int:
        return 1

    def _decision_about(self, outputs: Float32) -> Decision:
        number = float(outputs[0]) * self.scale_ + self.mean_
        return Decision(number, None, np.array([self.scale_], np.float32), self.mean_)

    def _own_to_state(self) -> dict[str, object]:
        numbers = {"target_mean": self.mean_, "target_scale": self.scale_}
        return {**numbers, **self._conformal_to_state()}

    def _own_from_state(self, state: Mapping[str, object]) -> None:
        for name in ("mean", "scale"):
            value = state.get(f"target_{name}")
            if not isinstance(value, float) or not math.isfinite(value) or (name == "scale" and value <= 0):
                raise TwinWLError(f"the {name} of the model's targets is not a number; the file is damaged")
            setattr(self, f"{name}_", value)
        self._conformal_from_state(state)
