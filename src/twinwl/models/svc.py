"""STwinSVC and STwinSVR: STwin features, a kernel and a support vector machine in one estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from twinwl import arguments
from twinwl.arguments import FLAG, ROUNDS, checked, integer, number, old_names, one_of, one_or_more
from twinwl.arrays import Float64, Int64
from twinwl.errors import TwinWLError, warn_caller
from twinwl.files.model_files import savable
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.building import GraphsLike
from twinwl.isomorphism.readouts import ReadoutChoice
from twinwl.models import base as estimators
from twinwl.models.base import RandomState, one_seed, with_parameters
from twinwl.models.calibration import Calibration, ClassHead, NumberHead, predicted_codes, scaffolds_of
from twinwl.models.explanation import Decision, Explanation, explanation_of
from twinwl.models.metrics import NUMBER_SCORINGS, SCORINGS
from twinwl.models.report import HeldOut
from twinwl.models.similarity import BASES, MeanSimilarity, mean_similarities
from twinwl.models.svm import (
    INNER_FOLDS,
    PENALTIES,
    Choice,
    LandmarkSVM,
    SelectedSVM,
    kernel_svm,
    n_inner_svms,
    scaffold_folds,
    select_svms,
)
from twinwl.models.targets import TargetColumn, name_task
from twinwl.models.views import ExtraScaling, ViewEstimator, ViewSpaces
from twinwl.terminal import ProgressBar

# The model of one task is of the same class.
# ruff: noqa: SLF001

# At once: sums, their similarities, a part of a task or fold; and Nyström features, and their part.
_MATRICES, _MATRICES_OF_LANDMARKS = 3, 5
# Training graphs up to which "auto" compares all pairs, which takes 2.4 GB. Its processor time grows with
# the square: 3.7 seconds for 4,000 molecules of HIV, 11 for 7,000 (1,000 landmarks: 7 and 9), per target.
# It is worth that: on held-out graphs of NCI1, Tox21 (NR-AhR), HIV and Lipophilicity the exact kernel is
# ahead by 0.03 to 0.05 (ROC-AUC, R²) with the largest training sets tried, 2,000 to 7,000, and level with
# 1,000. A fixed number, whatever memory there is, so that the same data give the same model everywhere.
LARGEST_EXACT = 10_000


def _of_svms(name: str, doc: str) -> Any:  # noqa: ANN401
    """Return a fitted attribute of which each task has its own."""

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

    n_iter_ = _of_svms("n_iter", "The number of rounds chosen.")
    C_ = _of_svms("C", "The penalty chosen.")
    inner_score_ = _of_svms(
        "score", "Score on held-out graphs of the inner folds; optimistic: the best of all."
    )
    inner_scores_ = _of_svms("scores", "The scores of all (n_iter, C).")
    support_vectors_ = _of_svms("vectors", "The training graphs that are kept, and their weights.")

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
        approximated = self._approximated(batch[targets.rows[:1]], len(targets.rows))
        counted = targets.counted(batch)
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
                Choice(
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
            kernels = mean_similarities(
                encoded,
                n_iters,
                self.base,
                normalize=self.normalize,
                landmarks=None if approximation is None else approximation.landmarks,
                average_rounds=self.average_rounds,
                extra=extra,
            )
            found = select_svms(kernels, choices, self.C, self.n_jobs, bar.advance)
        parted = " by scaffold" if any(choice.calibrated is not None for choice in choices) else ""
        how = f"cross-validated{parted}; best of {len(found[0].scores)} settings"
        if approximation is not None:
            how = f"kernel approximated with {len(approximation.landmarks):,} landmarks; {how}"
        heads, svms, held = zip(*map(_finished, columns, found))
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
        if matrix.shape[0] != len(rows):
            raise TwinWLError("the model's support vectors do not fit its features; the file is damaged")
        if (extra is None) != (scaling is None) or (
            extra is not None and extra.shape != (len(rows), len(scaling.names if scaling else ()))
        ):
            raise TwinWLError("the model's extra features do not fit together; the file is damaged")
        spaces.widen(matrix)
        self.scaling_, self.extra_ = scaling, extra
        self.svms_, self.rows_, averaged = svms, rows, checked("n_iter", self.n_iter, one_or_more(ROUNDS))
        self.spaces_ = spaces.first_rounds(max(svm.n_iter for svm in svms))
        self.matrix_, self._similarities, order = (
            spaces.columns_of(self.spaces_, matrix),
            [],
            np.argsort(rows),
        )
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
        batch, encoded, found = self._new_graphs(X, "predict"), {}, []
        for svm, similarity in zip(self.svms_, self._similarities):
            if svm.n_iter not in encoded:  # tasks with the same rounds share it
                encoded[svm.n_iter] = similarity.compared(batch, self._scaled(batch))
            blocks = similarity.blocks(encoded[svm.n_iter])
            found.append(np.concatenate([svm.vectors.decisions(block) for _, block in blocks]))
        return found

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
        compared = similarity.compared(graph, self._scaled(graph))
        decision = _decision(model.heads_[0], model.svms_[0], similarity.of(compared))
        contributions = similarity.contributions(compared, decision.weights)
        method = "value times weight" if self.base == "linear" else "shares add up to the decision value"
        known = compared.known
        found = explanation_of(graph, known, contributions, decision, f"exact: {method}", n_columns)
        if len(known.parts) == 1 and self.scaling_ is None:
            return found
        of_views = np.split(contributions, known.spaces.first_columns[1:-1])
        shares = {title: float(part.sum()) for title, part in zip(known.spaces.titles, of_views)}
        of_extra = similarity.extra_share(compared, decision.weights)
        if self.scaling_ is not None:
            shares["extra features"] = of_extra
        return replace(found, decision=found.decision + of_extra, view_shares=shares)

    def _to_state(self) -> dict[str, object]:
        svms = [replace(svm, held_out=None, unlike_rows=None, unlike=None) for svm in self.svms_]
        state = super()._to_state() | {"svms": svms}
        return {name: part for name, part in state.items() if part is not None or name == "tasks"}


def _finished(column: TargetColumn, svm: SelectedSVM) -> tuple[ClassHead | NumberHead, SelectedSVM, HeldOut]:
    """Return the head that an SVM's held-out decisions give; SVMs of numbers answer in the targets' unit."""
    held = HeldOut(column.head, svm.held_out, column.answers, svm.setting)
    if not column.numbers:
        calibration = Calibration.fit_to(svm.held_out, column.codes, column.weights)
        head = replace(column.head, calibration=calibration)
        held = held._replace(head=head)
        return head.calibrated(svm.unlike, column.codes[svm.unlike_rows]), svm, held
    mean, scale = column.head.mean, column.head.scale
    head = column.head.calibrated(svm.unlike, column.answers[svm.unlike_rows])
    vectors = svm.vectors.rescaled(scale, mean)
    svm = replace(svm, vectors=vectors, held_out=scale * svm.held_out + mean)
    return replace(head, mean=0.0, scale=1.0), svm, held


def _decision(head: ClassHead | NumberHead, svm: SelectedSVM, similarities: Float64) -> Decision:
    """Return the decision about one graph and the weights of the similarities that make it."""
    decisions = svm.vectors.decisions(similarities)
    if isinstance(head, NumberHead):
        return Decision(float(decisions[0]), None, svm.vectors.weights[0], float(svm.vectors.intercepts[0]))
    wanted = int(predicted_codes(decisions)[0])
    other = 1 - wanted if decisions.ndim == 1 else int(np.argsort(-decisions[0], kind="stable")[1])
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
        Their accuracy, or what ``scoring`` names, on held-out graphs of the inner folds; optimistic, for it
        was the best one.
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

    held_out_decisions_ = _of_svms(
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
        Its R², or what ``scoring`` names, on held-out graphs of the inner folds; optimistic, because it is
        the best of all.
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

    held_out_predictions_ = _of_svms(
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
