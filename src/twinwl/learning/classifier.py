"""The base class of neural classifiers: classes as targets, logits and probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin

from twinwl.arguments import CLASS_WEIGHT, one_of
from twinwl.errors import TwinWLError
from twinwl.estimators.calibration import ConformalSets, PredictsSets
from twinwl.estimators.multitask import one_each, per_task, side_by_side
from twinwl.estimators.state import classes_from_state, classes_to_state
from twinwl.estimators.targets import SCORINGS, Targets, codes_of, predicted_codes, probabilities_of
from twinwl.learning.estimator import Decision, NeuralGraphEstimator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from twinwl.arrays import Bool, Float32, Float64, Int64, Values
    from twinwl.estimators.base import Constraints
    from twinwl.graphs.coercion import GraphsLike
    from twinwl.learning.task_outputs import Outputs


class NeuralGraphClassifier(PredictsSets, ClassifierMixin, NeuralGraphEstimator):
    """Base of the neural classifiers: trained on the cross-entropy.

    Parameters
    ----------
    class_weight : None, "balanced" or dict
        Weight of each class in the loss.
    scoring : str or None
        What the epoch is chosen by: ``"accuracy"``, ``"balanced_accuracy"``, ``"matthews_corrcoef"``,
        ``"roc_auc"`` or ``"average_precision"``, of several tasks its mean, ties by the loss. None: accuracy;
        of several tasks, the loss alone.
    max_epochs, batch_size, learning_rate, weight_decay, patience, validation_fraction, random_state, verbose
        As for `twinwl.learning.estimator.NeuralGraphEstimator`.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    """

    _constraints: ClassVar[Constraints] = {"class_weight": CLASS_WEIGHT, "scoring": (one_of(*SCORINGS), None)}

    _per_task = ("classes_", "conformal_")

    class_weight: object
    classes_: Values

    @per_task(side_by_side)
    def decision_function(self, X: GraphsLike) -> Float32:
        """Return the logits, shape (n_graphs, n_classes); of two classes their difference, (n_graphs,).

        Of several tasks, which have two classes each, one column per task.
        """
        return self._decisions(self._outputs(X))

    def _decisions(self, logits: Float32) -> Float32:
        return logits[:, 1] - logits[:, 0] if len(self.classes_) == 2 else logits  # noqa: PLR2004

    @per_task(one_each)
    def predict_proba(self, X: GraphsLike) -> Float64 | list[Float64]:
        """Return the probability of each class, shape (n_graphs, n_classes), in the order of ``classes_``.

        Of several tasks a list with one array per task.
        """
        decisions = self.decision_function(X)
        return probabilities_of(decisions.astype(np.float64))

    @per_task(side_by_side)
    def predict(self, X: GraphsLike) -> Values:
        """Return the likeliest class of each graph, shape (n_graphs,), or (n_graphs, n_tasks)."""
        codes = predicted_codes(self.decision_function(X))
        return self.classes_[codes]

    def _targets(
        self, y: object, n_graphs: int, sample_weight: object, groups: object, known: Bool | None = None
    ) -> Targets:
        targets = Targets.of(y, n_graphs, sample_weight, self.class_weight, groups, known)
        self.classes_ = targets.classes
        return targets

    def _answers(self, y: object, n_graphs: int, name: str) -> Int64:
        codes = codes_of(y, self.classes_, n_graphs)
        if name == "validation_data" and (codes < 0).any():
            first = int(np.flatnonzero(codes < 0)[0])
            raise TwinWLError(f"validation_data: the class of graph {first} is not in y: {self.classes_}")
        return codes

    def _keep_scores(self, outputs: Float32 | None, answers: Int64 | Float64 | None) -> None:
        self.conformal_ = None
        if outputs is not None:
            probabilities = probabilities_of(self._decisions(outputs).astype(np.float64))
            self.conformal_ = ConformalSets.fitted(probabilities, np.asarray(answers, np.int64))

    def _own_outputs(self, outputs: Outputs, place: int) -> Outputs:
        own = outputs[..., [place, place]]
        own[..., 0] = 0
        return own

    @property
    def _n_outputs(self) -> int:
        return len(self.classes_)

    def _decision_about(self, outputs: Float32) -> Decision:
        """Compare the predicted class with the second most likely one."""
        wanted, other = np.argsort(-outputs, kind="stable")[:2].tolist()
        weights = np.zeros(len(outputs), np.float32)
        weights[wanted], weights[other] = 1.0, -1.0
        return Decision(self.classes_[wanted], self.classes_[other], weights, 0.0)

    def _own_to_state(self) -> dict[str, object]:
        return {**classes_to_state(self.classes_), **self._conformal_to_state()}

    def _own_from_state(self, state: Mapping[str, object]) -> None:
        self.classes_ = classes_from_state(state)
        self._conformal_from_state(state, len(self.classes_))
