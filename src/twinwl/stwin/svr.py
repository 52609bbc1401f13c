"""STwinSVR: STwin features, a kernel and support vector regression in one estimator."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from sklearn.base import RegressorMixin

from twinwl.arguments import number, one_of
from twinwl.estimators.base import keeps_parameters
from twinwl.estimators.calibration import ConformalIntervals, PredictsIntervals
from twinwl.estimators.measurements import NUMBER_SCORINGS, Measurements
from twinwl.estimators.multitask import per_task, side_by_side
from twinwl.estimators.svm import Choice, ChosenMachine, Machine, make_svr
from twinwl.files.model_files import savable
from twinwl.stwin.explanation import Sides
from twinwl.stwin.svc import TwinMachine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scipy import sparse

    from twinwl.arrays import Bool, Float64, Int64
    from twinwl.estimators.base import Constraints, RandomState
    from twinwl.graphs.coercion import GraphsLike
    from twinwl.isomorphism.readouts import ReadoutChoice
    from twinwl.stwin.features import FeatureSpace


@savable
class STwinSVR(PredictsIntervals, RegressorMixin, TwinMachine):
    """Predict a number for each graph with support vector regression on a twin kernel.

    The number of rounds and C are chosen by cross-validation inside the training graphs. Targets are
    standardised for the machine, so that no parameter depends on their unit.

    Parameters
    ----------
    n_iter : int or sequence of int, default=(1, 2, 3, 4)
        Numbers of rounds to choose from.
    C : float or sequence of float, default=(0.3, 1, 3, 10, 30)
        Penalties to choose from, each from 1e-6 to 1e6.
    features : {"count", "size", "joint"}, default="size"
        As for `STwinVectorizer`.
    base : {"linear", "minmax", "intersection"}, default="minmax"
        As for `TwinKernel`.
    normalize : bool, default=True
        As for `TwinKernel`.
    edge_labels : bool or None, default=None
        As for `STwinVectorizer`.
    initial : {"label", "degree", "ring"}, default="label"
        As for `STwinVectorizer`.
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
    scoring : {"r2", "neg_root_mean_squared_error", "neg_mean_absolute_error"}, default="r2"
        What the inner choice goes by, as in scikit-learn.
    kernel_approximation : None or "nystroem", default=None
        ``"nystroem"`` compares each graph with ``n_components`` landmarks alone, training graphs drawn at
        random, and learns a linear machine with a squared loss on the Nyström features that they give. Its
        memory and time grow with the number of graphs, not with its square.
    n_components : int, default=1000
        Number of landmarks, which become the support vectors; all graphs where there are fewer.
    readout : str, function or list of these, default="size"
        As for `STwinVectorizer`.
    tol : float, default=1e-3
        How closely the machine that learns from all graphs is optimised, as in scikit-learn; not used with
        ``kernel_approximation``, whose machine has a closed form.
    verbose : bool, int or None, default=None
        Show a progress bar of the rounds tried; None shows it if standard error is a terminal.

    Attributes
    ----------
    n_iter_, C_ : int and float
        The chosen values.
    inner_score_ : float
        Its R², or what ``scoring`` names, on held-out graphs of the inner folds; optimistic, because it is
        the best of all.
    inner_scores_ : dict from (n_iter, C) to float
        The same for all.
    support_vectors_ : SupportVectors
    held_out_predictions_ : array of float64
        Prediction for each training graph of positive weight, by a machine that did not learn from it; not
        saved.

    Examples
    --------
    >>> from twinwl import STwinSVR
    >>> paths = [[(node, node + 1) for node in range(length)] for length in range(2, 12)]
    >>> model = STwinSVR(n_iter=1, base="linear", normalize=False).fit(paths, range(2, 12))
    >>> model.predict(paths[:2]).round(1)
    array([2., 3.])
    """

    held_out_predictions_: Float64

    _constraints: ClassVar[Constraints] = {
        "epsilon": (number(0, 1e6),),
        "scoring": (one_of(*NUMBER_SCORINGS),),
    }
    _for_large_sets = "STwinRegressor"

    @keeps_parameters
    def __init__(
        self,
        n_iter: int | Sequence[int] = (1, 2, 3, 4),
        C: float | Sequence[float] = (0.3, 1, 3, 10, 30),
        features: str = "size",
        base: str = "minmax",
        normalize: bool = True,
        edge_labels: bool | None = None,
        initial: str = "label",
        epsilon: float = 0.01,
        inner_folds: int = 5,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
        ignore_features: bool = False,
        *,
        scoring: str = "r2",
        kernel_approximation: str | None = None,
        n_components: int = 1000,
        readout: ReadoutChoice = "size",
        tol: float = 1e-3,
        verbose: bool | int | None = None,
    ) -> None: ...

    def _targets(
        self, y: object, n_graphs: int, sample_weight: object, groups: object, known: Bool | None
    ) -> Measurements:
        return Measurements.of(y, n_graphs, sample_weight, groups, known)

    def _choice(
        self, targets: Measurements, machine: Machine | None, folds: list[tuple[Int64, Int64]]
    ) -> Choice:
        machine = make_svr(self.epsilon, self.tol) if machine is None else machine
        return Choice(targets, machine, folds, partial(targets.score, scoring=self.scoring))

    def _keep(
        self, targets: Measurements, chosen: ChosenMachine, space: FeatureSpace, matrix: sparse.csr_matrix
    ) -> None:
        super()._keep(targets, chosen, space, matrix)
        self.support_vectors_ = chosen.vectors.rescaled(targets.scale, targets.mean)
        self.held_out_predictions_ = targets.scale * chosen.held_out_decisions + targets.mean
        truth = targets.answers[chosen.unlike_rows]
        self.conformal_ = ConformalIntervals.fitted(
            targets.scale * chosen.unlike_decisions, targets.scale * truth
        )

    @per_task(side_by_side)
    def predict(self, X: GraphsLike) -> Float64:
        """Return a number for each graph, shape (n_graphs,), or (n_graphs, n_tasks)."""
        return self._decisions(X)

    def _sides(self, decisions: Float64) -> Sides:
        vectors = self.support_vectors_
        return Sides(float(decisions[0]), None, vectors.weights[0], float(vectors.intercepts[0]))

    def _own_to_state(self) -> dict[str, object]:
        return self._conformal_to_state()

    def _own_from_state(self, state: Mapping[str, object]) -> int:
        self._conformal_from_state(state)
        return 1
