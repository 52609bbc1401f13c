"""STwinSVC: STwin features, a kernel and a support vector machine in one estimator.

STwinSVR: STwin features, a kernel and support vector regression in one estimator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from twinwl.arguments import (
    CLASS_WEIGHT,
    FLAG,
    JOBS,
    MAX_ITEMS,
    RANDOM_STATE,
    ROUNDS,
    checked,
    integer,
    number,
    one_of,
    one_or_more,
)
from twinwl.arrays import Bool, Float64, Int64, Values
from twinwl.files.model_files import savable
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.coercion import GraphsLike
from twinwl.isomorphism.readouts import ReadoutChoice
from twinwl.memory import check_fits
from twinwl.models.base import Constraints, GraphEstimator, RandomState, keeps_parameters, old_names, one_seed
from twinwl.models.calibration import (
    Calibration,
    ConformalIntervals,
    ConformalSets,
    PredictsIntervals,
    PredictsSets,
)
from twinwl.models.contributions import Sides, explain_machine
from twinwl.models.explanation import Explanation
from twinwl.models.features import FEATURE_PARAMETERS, Encoding, FeatureSpace, encode_in_full, stwin_features
from twinwl.models.hold_out import scaffolds_of
from twinwl.models.metrics import NUMBER_SCORINGS, SCORINGS, predicted_codes
from twinwl.models.similarity import BASES, Similarity, own_sums, similarities_by_rounds
from twinwl.models.state import (
    classes_from_state,
    classes_to_state,
    floats_from_state,
    machine_from_state,
    machine_to_state,
    tasks_from_state,
    tasks_to_state,
)
from twinwl.models.svm import (
    INNER_FOLDS,
    PENALTIES,
    Choice,
    ChosenMachine,
    LandmarkMachine,
    Machine,
    SupportVectors,
    choose_machines,
    inner_folds,
    make_svc,
    make_svr,
    scaffold_folds,
)
from twinwl.models.targets import (
    Answered,
    Measurements,
    MultiTask,
    Targets,
    Tasks,
    one_each,
    per_task,
    side_by_side,
)
from twinwl.terminal import ProgressBar

if TYPE_CHECKING:
    from scipy import sparse

# At once: sums, their similarities, a part of a task or fold; and Nyström features, and their part.
_MATRICES, _MATRICES_OF_LANDMARKS = 3, 5


class TwinMachine(MultiTask, GraphEstimator):
    """Base of the support vector machines on a twin kernel: the choice of rounds and C, and prediction.

    A subclass has the parameters below, reads targets in ``_targets``, chooses as ``_choice`` says, keeps
    what it needs of a chosen machine in ``_keep``, says in ``_sides`` what its decision about a graph means,
    and names in ``_for_large_sets`` the estimator to use where the kernel matrices do not fit into memory.

    Several tasks share the features and the kernel matrices. Each has a machine of its own, which is the one
    that its known targets alone would give.

    Attributes
    ----------
    n_iter_, C_ : int and float
        The chosen values.
    inner_score_ : float
        Score on the held-out graphs of the inner folds; optimistic, because it is the best of all.
    inner_scores_ : dict from (n_iter, C) to float
        The scores of all.
    space_ : FeatureSpace
    matrix_ : csr_matrix, shape (n_support, n_columns)
        Features of the support vectors.
    similarity_ : Similarity
        The kernel with the prepared support vectors.
    support_vectors_ : SupportVectors
    """

    _constraints: ClassVar[Constraints] = {
        **FEATURE_PARAMETERS,
        "n_iter": (one_or_more(ROUNDS),),
        "C": (PENALTIES,),
        "base": (one_of(*BASES),),
        "normalize": (FLAG,),
        "inner_folds": (INNER_FOLDS,),
        "n_jobs": (JOBS, None),
        "random_state": RANDOM_STATE,
        "kernel_approximation": (one_of("nystroem"), None),
        "n_components": (integer(1, MAX_ITEMS),),
        "tol": (number(1e-12, 1),),
        "verbose": (FLAG, integer(0), None),
    }
    _fitted_attribute = "similarity_"
    _for_large_sets: ClassVar[str]
    _learns_tasks = True

    n_iter: int | Sequence[int]
    C: float | Sequence[float]
    features: str
    base: str
    normalize: bool
    edge_labels: bool | None
    initial: str
    inner_folds: int
    n_jobs: int | None
    random_state: RandomState
    kernel_approximation: str | None
    n_components: int
    readout: ReadoutChoice
    tol: float
    verbose: bool | int | None

    n_iter_: int
    C_: float
    inner_score_: float
    inner_scores_: dict[tuple[int, float], float]
    space_: FeatureSpace
    matrix_: sparse.csr_matrix
    similarity_: Similarity
    support_vectors_: SupportVectors
    _models: list[Self]
    _rows: Int64

    def fit(self, X: GraphsLike, y: object, groups: object = None, sample_weight: object = None) -> Self:
        """Choose rounds and C, then learn from all graphs.

        Parameters
        ----------
        X
            The graphs.
        y
            Their classes, of any type that can be sorted; for a regressor, numbers. For several tasks at once
            a table with one column per task (see `MultiTask`), NaN where a target is unknown.
        groups
            Graphs of one group stay on one side of every inner fold. If None, sets and intervals of
            molecules are calibrated on folds that part scaffolds.
        sample_weight
            Weight of each graph.
        """
        batch = self._graphs_to_fit(X)

        def targets(column: object, known: Bool | None = None) -> Targets | Measurements:
            return self._targets(column, len(batch), sample_weight, groups, known)

        tasks = Tasks.of(y, len(batch)) if self._learns_tasks else None
        if tasks is None:
            self.tasks_ = None
            only = targets(y)
            encoding, (chosen,) = self._choose(batch, [only], None)
            self._keep(only, chosen, encoding.space, encoding.matrix[chosen.vectors.rows])
        else:
            self._keep_tasks(tasks, batch, tasks.each(targets, tasks.columns, tasks.known.T))
        return self

    def _targets(
        self, y: object, n_graphs: int, sample_weight: object, groups: object, known: Bool | None
    ) -> Targets | Measurements:
        """Check the targets of a task."""
        raise NotImplementedError

    def _choice(self, targets: Any, machine: Machine | None, folds: list[tuple[Int64, Int64]]) -> Choice:  # noqa: ANN401
        """Return the machine to choose C for, unless one is given, and what to choose by."""
        raise NotImplementedError

    def _choose(
        self, batch: GraphBatch, targets: Sequence[Targets | Measurements], tasks: Tasks | None
    ) -> tuple[Encoding, list[ChosenMachine]]:
        """Encode the graphs once, and choose rounds and C for each task."""
        rows = np.unique(np.concatenate([one.rows for one in targets]))
        self._check_memory(len(rows))
        n_iters = checked("n_iter", self.n_iter, one_or_more(ROUNDS))
        seed = one_seed(self.random_state)

        def folds_of(one: Targets | Measurements) -> list[tuple[Int64, Int64]]:
            return inner_folds(one, self.inner_folds, seed)

        folds = [folds_of(targets[0])] if tasks is None else tasks.each(folds_of, targets)
        scaffolds = None if batch.atoms is None else scaffolds_of(batch)
        machine, landmarks = None, None
        if self.kernel_approximation is not None:
            machine = LandmarkMachine.drawn(len(rows), self.n_components, seed)
            landmarks = machine.landmarks
        choices = [
            self._choice(replace(one, rows=np.searchsorted(rows, one.rows)), machine, parts)._replace(
                scaffold_folds=scaffold_folds(one, scaffolds, self.inner_folds, seed)
            )
            for one, parts in zip(targets, folds, strict=True)
        ]
        show = None if self.verbose is None else bool(self.verbose)
        with ProgressBar("choosing rounds and C", len(n_iters), show=show) as bar:
            encoding = stwin_features(
                batch if len(rows) == len(batch) else batch[rows],
                max(n_iters),
                self.features,
                edge_labels=bool(self.edge_labels),
                initial=self.initial,
                readout=self.readout,
            )
            kernels = similarities_by_rounds(
                encoding, n_iters, self.base, normalize=self.normalize, landmarks=landmarks
            )
            return encoding, choose_machines(bar.over(kernels), choices, self.C, self.n_jobs)

    def _keep(
        self,
        targets: Any,  # noqa: ANN401, ARG002  (Targets or Measurements, as the subclass has them)
        chosen: ChosenMachine,
        space: FeatureSpace,
        matrix: sparse.csr_matrix,
    ) -> None:
        """Keep a chosen machine; ``matrix`` are the features of its support vectors."""
        self.n_iter_, self.C_, self.inner_score_, self.inner_scores_ = chosen[:4]
        self.support_vectors_ = chosen.vectors
        self._keep_features(space.first_rounds(self.n_iter_), matrix)

    def _keep_features(self, space: FeatureSpace, matrix: sparse.csr_matrix) -> None:
        self.space_ = space
        self.matrix_ = matrix[:, : space.n_columns]
        self.similarity_ = Similarity(self.matrix_, self.base, normalize=self.normalize)

    def _keep_tasks(self, tasks: Tasks, batch: GraphBatch, targets: Sequence[Targets | Measurements]) -> None:
        """Learn all tasks; each has a model of its own, on features that they share."""
        encoding, found = self._choose(batch, targets, tasks)
        rows = np.unique(np.concatenate([one.vectors.rows for one in found]))
        space = encoding.space.first_rounds(max(one.n_iter for one in found))
        matrix = encoding.matrix[rows][:, : space.n_columns]
        models = []
        for one, chosen in zip(targets, found, strict=True):
            model = type(self)(**self.get_params(deep=False))
            own = matrix[np.searchsorted(rows, chosen.vectors.rows)]
            model._keep(one, chosen, space, own)  # noqa: SLF001  (of the same class)
            models.append(model)
        self._keep_models(tasks.names, models, space, rows, matrix)

    def _keep_models(
        self,
        names: tuple[str, ...],
        models: list[Self],
        space: FeatureSpace,
        rows: Int64,
        matrix: sparse.csr_matrix,
    ) -> None:
        """Keep the model of each task; what they have of their own is shown as lists."""
        for name in vars(models[0]).keys() - self.get_params(deep=False).keys():
            setattr(self, name, [getattr(model, name) for model in models])
        self.tasks_, self._models, self._rows = names, models, rows
        self.space_, self.matrix_ = space, matrix

    def _of_task(self, place: int) -> Self:
        return self._models[place]

    def _ask(self, X: GraphsLike) -> Iterator[tuple[Self, GraphsLike]]:
        self._check_fitted()
        batch, encoded = self._new_graphs(X, "predict"), {}
        for model in self._models:
            if model.n_iter_ not in encoded:
                encoded[model.n_iter_] = encode_in_full(batch, model.space_)
            yield model, cast("GraphsLike", Answered(encoded[model.n_iter_]))

    def _check_memory(self, n_graphs: int) -> None:
        """Refuse kernel matrices that would not fit into memory."""
        if self.kernel_approximation is None:
            needed, what = _MATRICES * n_graphs**2, f"{_MATRICES} matrices of all pairs,"
            remedy = f"use kernel_approximation='nystroem', {self._for_large_sets} or fewer graphs"
        else:
            n_landmarks = min(n_graphs, self.n_components)
            needed = _MATRICES_OF_LANDMARKS * n_landmarks * n_graphs
            what, remedy = f"with {n_landmarks:,} landmarks,", "use a smaller n_components"
        check_fits(8 * needed, None, f"the kernel of {n_graphs:,} training graphs, {what}", remedy)

    def _decisions(self, X: GraphsLike) -> Float64:
        self._check_fitted()
        known, full = (
            X.values
            if isinstance(X, Answered)
            else encode_in_full(self._new_graphs(X, "predict"), self.space_)
        )
        blocks = self.similarity_.blocks(known.matrix, own_sums(full, self.base))
        return np.concatenate([self.support_vectors_.decisions(similarities) for _, similarities in blocks])

    def _sides(self, decisions: Float64) -> Sides:
        """Return what the decision about one graph is, and the weights that make it."""
        raise NotImplementedError

    @property
    def n_support_(self) -> int:
        """Number of training graphs that the machine keeps."""
        self._check_fitted()
        return len(self.support_vectors_.rows)

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
        return explain_machine(self._one_task(task), X, n_columns)

    # ------------------------------------------------------------------ model files

    def _own_to_state(self) -> dict[str, object]:
        """Return what a subclass keeps beside the machine."""
        raise NotImplementedError

    def _own_from_state(self, state: Mapping[str, object]) -> int:
        """Read it back; return the number of classes, 1 where the machine predicts numbers."""
        raise NotImplementedError

    def _to_state(self) -> dict[str, object]:
        self._check_fitted()
        if self.tasks_ is None:
            return {**machine_to_state(self), **self._own_to_state()}
        return tasks_to_state(self, self._rows, self._models)

    @classmethod
    def _from_state(cls, params: Mapping[str, object], state: Mapping[str, object]) -> Self:
        self = cls._with_params(params)
        if "tasks" in state:
            self._keep_models(*tasks_from_state(state, lambda: cls._with_params(params)))
        else:
            machine_from_state(self, state, self._own_from_state(state))
        return self


@savable
class STwinSVC(PredictsSets, ClassifierMixin, TwinMachine):
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
        As for `STwinVectorizer`.
    base : {"linear", "minmax", "intersection"}, default="minmax"
        As for `TwinKernel`.
    normalize : bool, default=True
        As for `TwinKernel`.
    edge_labels : bool or None, default=None
        As for `STwinVectorizer`.
    initial : {"label", "degree", "ring"}, default="label"
        As for `STwinVectorizer`.
    inner_folds : int, default=5
        Folds of the inner choice; fewer where a class has fewer graphs (or groups).
    class_weight : None, "balanced" or mapping from class to weight, default=None
        Also weighs the graphs in the scores that the inner choice goes by.
    n_jobs : int or None, default=None
        Threads of the inner choice.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the inner folds and the landmarks, the only random steps; None gives different ones each time.
    ignore_features : bool, default=False
        Do not warn about continuous node features, which are not used.
    scoring : str, default="accuracy"
        What the inner choice goes by, as in scikit-learn: ``"accuracy"``, ``"balanced_accuracy"``,
        ``"matthews_corrcoef"``, ``"roc_auc"`` or ``"average_precision"``; the last two go by decision values,
        one class against the rest where there are more than two. If the best choice gives the same class to
        all held-out graphs, which happens where one class is rare, an equally good one with a higher ROC-AUC
        is taken instead.
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
    classes_ : array, shape (n_classes,)
    n_iter_ : int
        Number of rounds chosen.
    C_ : float
        Penalty chosen.
    inner_score_ : float
        Their accuracy, or what ``scoring`` names, on held-out graphs of the inner folds; optimistic, for it
        was the best one.
    inner_scores_ : dict
        The same for each (n_iter, C) that was tried.
    held_out_decisions_ : array of float64
        Decision values of all training graphs of positive weight, each by a machine of the chosen rounds and
        C that did not learn from it; not saved.
    n_support_ : int
        Number of training graphs that the machine keeps.

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

    _constraints: ClassVar[Constraints] = {"class_weight": CLASS_WEIGHT, "scoring": (one_of(*SCORINGS),)}
    _fitted_attribute = "calibration_"
    _for_large_sets = "STwinClassifier"

    classes_: Values
    calibration_: Calibration
    held_out_decisions_: Float64

    @keeps_parameters
    def __init__(
        self,
        n_iter: int | Sequence[int] = (0, 1, 2, 3, 4, 5),
        C: float | Sequence[float] = (1, 3, 10),
        features: str = "joint",
        base: str = "minmax",
        normalize: bool = True,
        edge_labels: bool | None = None,
        initial: str = "label",
        inner_folds: int = 5,
        class_weight: str | Mapping[object, float] | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
        ignore_features: bool = False,
        *,
        scoring: str = "accuracy",
        kernel_approximation: str | None = None,
        n_components: int = 1000,
        readout: ReadoutChoice = "size",
        tol: float = 1e-3,
        verbose: bool | int | None = None,
    ) -> None: ...

    def _targets(
        self, y: object, n_graphs: int, sample_weight: object, groups: object, known: Bool | None
    ) -> Targets:
        return Targets.of(y, n_graphs, sample_weight, self.class_weight, groups, known)

    def _choice(self, targets: Targets, machine: Machine | None, folds: list[tuple[Int64, Int64]]) -> Choice:
        machine = make_svc(targets, self.tol) if machine is None else machine
        score = partial(targets.score, scoring=self.scoring)
        return Choice(targets, machine, folds, score, partial(targets.score, scoring="roc_auc"))

    def _keep(
        self, targets: Targets, chosen: ChosenMachine, space: FeatureSpace, matrix: sparse.csr_matrix
    ) -> None:
        super()._keep(targets, chosen, space, matrix)
        self.classes_ = targets.classes
        self.held_out_decisions_ = chosen.held_out_decisions
        self.calibration_ = Calibration.fitted(self.held_out_decisions_, targets.codes, targets.weights)
        unlike = self.calibration_.probabilities(chosen.unlike_decisions)
        self.conformal_ = ConformalSets.fitted(unlike, targets.codes[chosen.unlike_rows])

    @per_task(side_by_side)
    def decision_function(self, X: GraphsLike) -> Float64:
        """Return decision values: shape (n_graphs,) for two classes, else (n_graphs, n_classes)."""
        return self._decisions(X)

    @per_task(side_by_side)
    def predict(self, X: GraphsLike) -> Values:
        """Return the class of each graph, shape (n_graphs,), or (n_graphs, n_tasks)."""
        codes = predicted_codes(self.decision_function(X))
        return self.classes_[codes]

    @per_task(one_each)
    def predict_proba(self, X: GraphsLike) -> Float64 | list[Float64]:
        """Return the probability of each class, shape (n_graphs, n_classes); of several tasks a list.

        They come from a logistic regression on the decision values of the inner folds' held-out graphs, as
        Platt proposed; close to the border their winner can differ from ``predict``.
        """
        decisions = self.decision_function(X)
        return self.calibration_.probabilities(decisions)

    def _sides(self, decisions: Float64) -> Sides:
        wanted = int(predicted_codes(decisions)[0])
        other = 1 - wanted if decisions.ndim == 1 else int(np.argsort(-decisions[0], kind="stable")[1])
        weights, intercept = self.support_vectors_.between(wanted, other)
        return Sides(self.classes_[wanted], self.classes_[other], weights, intercept)

    def _own_to_state(self) -> dict[str, object]:
        return {
            **classes_to_state(self.classes_),
            "slopes": self.calibration_.slopes,
            "offsets": self.calibration_.offsets,
            **self._conformal_to_state(),
        }

    def _own_from_state(self, state: Mapping[str, object]) -> int:
        self.classes_ = classes_from_state(state)
        n_scores = 1 if len(self.classes_) == 2 else len(self.classes_)  # noqa: PLR2004
        self.calibration_ = Calibration(
            floats_from_state(state, "slopes", (n_scores, n_scores)),
            floats_from_state(state, "offsets", (n_scores,)),
        )
        self._conformal_from_state(state, len(self.classes_))
        return len(self.classes_)


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
