"""The base classes of all estimators: declared parameters, checks in ``fit``, ``random_state``; targets.

Of estimators with targets, everything inside is a list with one entry per task. Only what is returned to
users has the shapes that scikit-learn expects: without a table of targets, the entry of the only task itself.

SmilesToGraphs: the first step of a pipeline that starts at strings.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeAlias, TypeVar, cast, dataclass_transform

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from twinwl.arguments import (
    FLAG,
    JOBS,
    MAX_ITEMS,
    NAME,
    Constraint,
    checked,
    integer,
    old_names,
    one_of,
    with_new_names,
)
from twinwl.arrays import Bool, Float64, Values
from twinwl.errors import GraphInputError, TwinWLError, setting, shown, warn_caller
from twinwl.files.model_files import restore, savable
from twinwl.graphs.atom_labels import MODEL_ATOMS
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.building import GraphsLike, as_batch, one_graph
from twinwl.graphs.molecules import LEVELS, AtomLevel, read_smiles
from twinwl.models.calibration import ClassHead, NumberHead
from twinwl.models.metrics import HeldOut, TargetReport, TrainingReport
from twinwl.models.targets import TargetTable, array_of_one_kind, read_targets, sample_weights

Constraints: TypeAlias = "Mapping[str, tuple[Constraint | None, ...]]"
RandomState: TypeAlias = "int | np.random.RandomState | np.random.Generator | None"

_Kind = TypeVar("_Kind", bound="type[GraphEstimator]")
_T = TypeVar("_T")
_SEEDS_BELOW = 2**31 - 1
_LISTED = 20  # names of tasks in a message


class NotFittedTwinError(TwinWLError, NotFittedError):
    """An estimator was used before ``fit``; scikit-learn's own error for it as well."""


class GraphEstimator(BaseEstimator):
    """Base class of all estimators.

    A subclass declares in ``_constraints`` the valid values of its own parameters, in ``_renamed`` the names
    that parameters had in the previous version (these keep working, with a FutureWarning), in ``_removed``
    what to do instead of those that are gone, in ``_fitted_attribute`` the attribute that ``fit`` sets last,
    and in ``_kept`` what model files keep: fitted attributes, named without their underscore, with their
    types. A method ``_keep`` sets these. ``_shared`` names the fitted attributes that the model of one task
    has in common with that of all tasks. As in scikit-learn, ``__init__`` and ``set_params`` accept
    everything; ``fit`` checks.
    """

    _constraints: ClassVar[Constraints] = {}
    _renamed: ClassVar[Mapping[str, str]] = {}
    _removed: ClassVar[Mapping[str, str]] = {}
    _fitted_attribute: ClassVar[str]
    _kept: ClassVar[Mapping[str, Any]] = {}
    _keep: Callable[..., None]
    _shared: ClassVar[tuple[str, ...]] = ("x_", "atoms_", "view_names_")

    x_: str = "auto"
    """How ``x`` of PyTorch Geometric is read in other graphs, as in `GraphBatch.from_pyg`."""
    atoms_: str | None = None
    """How the molecules of ``fit`` were read (`GraphBatch.atoms`); levels of several views with commas."""
    view_names_: tuple[str, ...] = ()
    """The views of the graphs of ``fit``; empty where they had one."""
    _uses_views: ClassVar[bool] = False
    _uses_extra: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for table in ("_constraints", "_renamed", "_kept"):
            parts = [vars(base).get(table, {}) for base in reversed(cls.__mro__)]
            setattr(cls, table, {name: entry for part in parts for name, entry in part.items()})
        cls._shared = tuple({name for base in cls.__mro__ for name in vars(base).get("_shared", ())})

    def set_params(self, **params: object) -> Self:
        """Set parameters by name, as scikit-learn does."""
        super().set_params(**with_new_names(params, self._renamed, self._removed, warn=True))
        return self

    @classmethod
    def _with_params(cls, params: Mapping[str, object]) -> Self:
        """Return an estimator with the parameters of a model file, which may have their previous names."""
        remaining = {name: value for name, value in params.items() if name not in cls._removed}
        self = cls(**with_new_names(remaining, cls._renamed, {}, warn=False))
        self._check_parameters()
        return self

    def _to_state(self) -> dict[str, object]:
        """Return what ``fit`` has learnt, for a model file."""
        return {name: getattr(self, f"{name}_") for name in self._kept}

    @classmethod
    def _from_state(cls, params: dict[str, Any], state: dict[str, Any]) -> Self:
        """Rebuild an estimator from what a model file holds; refuse parts that do not fit together."""
        self = cls._with_params(params)
        kinds = {name: kind for name, kind in cls._kept.items() if name in state}
        self._keep(**{name: restore(kind, state[name], name) for name, kind in kinds.items()})
        return self

    def _share_with(self, model: Self) -> Self:
        """Give an unfitted model the fitted attributes in ``_shared``, as far as there are any."""
        for name in self._shared:
            if hasattr(self, name):
                setattr(model, name, getattr(self, name))
        return model

    def _check_parameters(self) -> None:
        """Refuse the first parameter that violates its constraints."""
        for name, value in self.get_params(deep=False).items():
            checked(name, value, *self._constraints[name])

    def _check_fitted(self) -> None:
        """Raise an error if the estimator is not fitted."""
        if not hasattr(self, self._fitted_attribute):
            raise NotFittedTwinError(f"this {type(self).__name__} is not fitted yet; call fit first")

    def _graphs_to_fit(self, X: GraphsLike) -> GraphBatch:
        """Check the parameters and return the graphs, without edge labels where these are not used.

        Warn about continuous features if ``ignore_features`` is False; only estimators that use labels alone
        have this parameter. Warn about edge labels that differ unless ``edge_labels`` decides about them.
        """
        self._check_parameters()
        warm = getattr(self, "warm_start", False)
        batch = self._new_graphs(X, "fit") if warm else graphs_of(X, "fit")
        if batch.views and not self._uses_views:
            raise self._one_view_only(batch)
        if batch.extra is not None and not self._uses_extra:
            raise GraphInputError(
                f"these graphs carry extra features, which {type(self).__name__} cannot use; use STwinSVC or "
                "STwinSVR, or leave them out with batch.with_extra(None)"
            )
        self.view_names_ = batch.view_names
        levels = [batch.atoms or "", *(view.atoms or "" for view in batch.views)]
        self.atoms_ = (",".join(levels) if all(levels) else None) or (self.atoms_ if warm else None)
        self.x_ = reading_of_x(batch)
        features = batch.node_features if batch.has_node_features else None
        if features is not None and not getattr(self, "ignore_features", True):
            warn_caller(
                f"{type(self).__name__} does not use continuous node features, and these graphs have "
                f"{features.shape[1]} at each of {len(features):,} nodes; turn them into labels with "
                "GraphBatch.discretise(), use NTwinClassifier, which accepts them, or silence this with the "
                "parameter ignore_features"
            )
        used = getattr(self, "edge_labels", None)
        if used or batch.edge_labels is None:
            return batch
        if used is None:
            warn_of_edge_labels(self, len(np.unique(batch.edge_labels)))
        return batch.without_edge_labels()

    def _new_graphs(self, X: GraphsLike, what: str) -> GraphBatch:
        """Return other graphs than those of ``fit``, with labels that mean the same."""
        return self._same_labels(graphs_of(X, what, self.x_))

    def _graph_to_explain(self, X: GraphsLike) -> GraphBatch:
        return self._same_labels(one_graph(X, "the graph to explain", self.x_))

    def _one_view_only(self, batch: GraphBatch) -> GraphInputError:
        name = type(self).__name__
        what = "was fitted on" if hasattr(self, self._fitted_attribute) else "uses"
        views = f"{len(batch.view_names)} views, {', '.join(batch.view_names)}"
        return GraphInputError(
            f"these graphs have {views}, and this {name} {what} one; choose it with "
            f"batch.view({batch.view_names[-1]!r})"
        )

    def _same_labels(self, batch: GraphBatch) -> GraphBatch:
        """Return the views that the estimator was fitted on, by their names.

        Refuse molecules that were read in another way; graphs of which that is not known are accepted.
        """
        missing = [name for name in self.view_names_ if name not in batch.view_names]
        if missing:
            raise GraphInputError(
                f"these graphs have no view {missing[0]!r}, and this {type(self).__name__} was fitted on the "
                f"views {', '.join(self.view_names_)}; read these with the same ones"
            )
        if self.view_names_:
            return batch.select_views(self.view_names_)
        if batch.views and self.atoms_ not in batch.view_names:
            raise self._one_view_only(batch)
        batch = batch.view(self.atoms_) if batch.views and self.atoms_ else batch
        if None not in {batch.atoms, self.atoms_} and batch.atoms != self.atoms_:
            raise GraphInputError(
                f"these molecules were read with atoms={batch.atoms!r}, and this {type(self).__name__} was "
                f"fitted on molecules with atoms={self.atoms_!r}, whose labels mean something else; read "
                f"these with from_smiles(..., atoms={self.atoms_!r})"
            )
        return batch

    def __sklearn_tags__(self) -> object:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.requires_fit = True
        return tags


def warn_of_edge_labels(estimator: BaseEstimator, n_labels: int) -> None:
    """Say that an estimator ignores edge labels, if there are different ones."""
    if n_labels > 1:
        remedy = "STwinSVC(edge_labels=True) uses them; GraphBatch.without_edge_labels() leaves them out"
        if "edge_labels" in estimator.get_params(deep=False):
            remedy = f"pass {setting(edge_labels=True)} to use them, or {setting(edge_labels=False)} to "
            remedy += "leave them out"
        warn_caller(
            f"{type(estimator).__name__} ignores edge labels, and these graphs have {n_labels:,} different "
            f"ones; {remedy}"
        )


def reading_of_x(batch: GraphBatch) -> str:
    """Return the ``x`` with which `GraphBatch.from_pyg` reads other graphs as these were read."""
    if batch.has_node_features:
        return "features"
    if not batch.has_node_labels:
        return "auto"
    return "rows" if all(isinstance(label, tuple) for label in batch.node_vocabulary) else "labels"


def graphs_of(X: GraphsLike, what: str, x: str = "auto") -> GraphBatch:
    """Return the input as a batch, with ``x`` as in `as_batch`; refuse it if it has no graph."""
    batch = X if isinstance(X, GraphBatch) else as_batch(X, x=x)
    if len(batch) == 0:
        raise TwinWLError(f"there is no graph to {what}; pass at least one")
    return batch


def warn_unseen_labels(strange: Bool) -> None:
    """Warn once about graphs whose labels all occur in no training graph, with their number.

    Parameters
    ----------
    strange : array of bool, shape (n_graphs,)
    """
    if strange.any():
        warn_caller(
            f"{np.count_nonzero(strange)} of {len(strange)} graphs have only labels that no training graph "
            "has, so nothing is known about them; check that the labels mean the same"
        )


def one_seed(random_state: RandomState) -> int:
    """Return an integer seed; draw one if a generator is given.

    ``random_state`` means the same in every estimator. An integer (the default is 0) gives the same result
    every time. A NumPy RandomState or Generator is drawn from, so that a second call differs from the first.
    None draws from NumPy's global generator, as in scikit-learn: a different result every time, unless
    ``numpy.random.seed`` was called.

    >>> one_seed(7)
    7
    """
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return seeds(random_state, 1)[0]


def seeds(random_state: RandomState, count: int) -> list[int]:
    """Return several seeds that do not depend on each other.

    >>> seeds(0, 2), seeds(np.random.default_rng(0), 1)
    ([209652396, 398764591], [1826701614])
    """
    if isinstance(random_state, np.random.Generator):
        return [int(seed) for seed in random_state.integers(_SEEDS_BELOW, size=count)]
    return [int(seed) for seed in check_random_state(random_state).randint(_SEEDS_BELOW, size=count)]


@dataclass_transform()
def with_parameters(kind: _Kind) -> _Kind:
    """Make the ``__init__`` of an estimator from its parameters: annotated attributes with a default.

    As fields of a dataclass, parameters are inherited one by one, so no signature is repeated. Those after
    ``_: KW_ONLY`` are keywords. Fitted attributes are annotated in methods: here they would be parameters.

    >>> @with_parameters
    ... class Rounds(GraphEstimator):
    ...     n_iter: int = 3
    >>> Rounds(5)
    Rounds(n_iter=5)
    """
    dataclass(eq=False, repr=False)(kind)
    kind.__init__ = old_names(kind._removed, **kind._renamed)(kind.__init__)  # type: ignore[method-assign]  # noqa: SLF001
    return kind


class PartlyRead:
    """Rows of which some are graphs: what `SmilesToGraphs` gives to a model that predicts around gaps.

    Parameters
    ----------
    graphs
        Those that could be read; any graph if there is none.
    is_read : array of bool, shape (n_rows,)
    """

    def __init__(self, graphs: GraphBatch, is_read: Bool) -> None:
        self.graphs, self.is_read = graphs, is_read

    def __iter__(self) -> Iterator[GraphBatch]:
        raise GraphInputError(
            "this row cannot be read, and only predictions of twinwl's models can be missing; leave such "
            "rows out, or name them with on_error='fail'",
            int(np.argmin(self.is_read)),
        )

    def fill(self, answers: Any) -> Any:  # noqa: ANN401
        """Return answers about ``graphs`` row by row: NaN, None for a class, and every class in a set."""
        kind, dtype = answers.dtype.kind, answers.dtype
        gap, dtype = {"f": (np.nan, dtype), "b": (True, np.bool_)}.get(kind, (None, object))
        rows = np.full((len(self.is_read), *answers.shape[1:]), gap, dtype)
        rows[self.is_read] = answers[: self.is_read.sum()]
        return rows


@savable
@with_parameters
class SmilesToGraphs(TransformerMixin, GraphEstimator):
    """Turn SMILES strings into a `GraphBatch`; needs no fitting.

    In ``fit`` every string must be readable, because a pipeline cannot drop rows; the error names the row.

    Parameters
    ----------
    atoms : str or sequence of str, default="ecfp"
        What the labels contain; see `GraphBatch.from_smiles`. Several levels become views.
    n_jobs : int or None, default=None
        Number of processes; None is one.
    on_error : {"fail", "nan"}, default="fail"
        With ``"nan"``, a string that cannot be read gets a missing prediction instead of an error, from the
        models of twinwl: NaN for a number or a probability, None for a class, every class in a set.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from twinwl import STwinSVC, SmilesToGraphs
    >>> model = make_pipeline(SmilesToGraphs(atoms="constitution"), STwinSVC(n_iter=1, C=1.0))
    >>> model.fit(["CCO", "CCCO", "CCN", "CCCN"], ["alcohol", "alcohol", "amine", "amine"]).predict(["CCCCN"])
    array(['amine'], dtype='<U7')
    """

    _constraints = {"atoms": (LEVELS,), "n_jobs": (JOBS, None), "on_error": (one_of("fail", "nan"),)}
    _fitted_attribute = "atoms"  # there is nothing to fit

    atoms: AtomLevel | Sequence[AtomLevel] = MODEL_ATOMS
    n_jobs: int | None = None
    on_error: str = "fail"

    def _keep(self) -> None:
        pass

    def fit(self, X: object, y: object = None) -> Self:  # noqa: ARG002  (nothing is learnt)
        """Check the parameters; nothing is learnt from the strings."""
        self._check_parameters()
        return self

    def fit_transform(self, X: Iterable[str], y: object = None) -> GraphBatch:  # noqa: ARG002
        """Read the strings to train on, which must all be readable."""
        self._check_parameters()
        try:
            return GraphBatch.from_smiles(_one_column(X), atoms=self.atoms, n_jobs=self.n_jobs)
        except GraphInputError as error:
            error.remedy = "correct it, or drop its row"
            raise

    def transform(self, X: Iterable[str]) -> GraphBatch | PartlyRead:
        """Read the strings.

        Parameters
        ----------
        X
            One SMILES per molecule: a list, an array, a column of a frame, or a frame of one column.

        Returns
        -------
        GraphBatch
            One graph per string, in the same order. If some cannot be read and ``on_error="nan"``, what the
            models of twinwl predict from with gaps.
        """
        if self.on_error == "fail":
            return self.fit_transform(X)
        self._check_parameters()
        strings = list(_one_column(X))
        graphs, failures = read_smiles(strings, "skip", atoms=self.atoms, n_jobs=self.n_jobs)
        if not failures:
            return graphs
        position, text, reason = failures[0]
        warn_caller(
            f"{len(failures)} of {len(strings)} SMILES cannot be read, so their predictions are missing; the "
            f"first, at index {position}, is {shown(text)}: {reason}"
        )
        is_read = np.ones(len(strings), np.bool_)
        is_read[[failure.position for failure in failures]] = False
        return PartlyRead(graphs if len(graphs) else GraphBatch.from_smiles(["C"], atoms=self.atoms), is_read)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return one name: graphs are one column, of which later steps make more."""
        return np.array(["graph"], dtype=object)

    def __sklearn_tags__(self) -> object:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False  # type: ignore[attr-defined]
        tags.input_tags.string = True  # type: ignore[attr-defined]
        return tags


def _one_column(X: Any) -> Iterable[str]:  # noqa: ANN401
    """Return the only column of a frame or of an array of two axes; anything else unchanged."""
    if len(getattr(X, "shape", ())) != 2:  # noqa: PLR2004
        return cast("Iterable[str]", X)
    if X.shape[1] != 1:
        raise TwinWLError(
            f"X: got {X.shape[1]} columns, expected one of SMILES; choose it, as in X[['smiles']]"
        )
    return cast("Iterable[str]", np.asarray(X)[:, 0].tolist())


class TaskEstimator(GraphEstimator):
    """Base of classifiers and regressors, of one target per graph or of several tasks at once.

    ``fit`` takes ``y`` of shape (n_graphs, n_tasks), an array or a DataFrame (or a dictionary of columns),
    with NaN (or None) where a target is unknown. As for scikit-learn's estimators with several outputs,
    ``predict`` (and ``decision_function``) then return one column per task, ``predict_proba`` a list with one
    array per task, and fitted attributes of which each task has its own, such as ``classes_``, are lists.

    A subclass implements ``_decisions`` and ``_select``, and sets ``tasks_`` and ``heads_`` in ``fit``.

    Attributes
    ----------
    tasks_ : tuple of str, or None
        The names of the tasks; None for a model of one target per graph.
    heads_ : list of ClassHead or of NumberHead
        One per task: what its decision values mean.
    """

    _learns_tasks: ClassVar[bool] = True
    _learns_numbers: ClassVar[bool]

    _kept = {"tasks": tuple[str, ...] | None}

    tasks_: tuple[str, ...] | None = None
    heads_: list[Any]
    target_: str
    class_weight: object = None
    random_state: RandomState
    _held_out: tuple[str, list[HeldOut]] | None = None
    """How graphs were held out and what was chosen by them, and the decisions about them, of each task."""

    def _read_targets(self, y: object, n_graphs: int, sample_weight: object, groups: object) -> TargetTable:
        return TargetTable.read(
            y,
            n_graphs,
            sample_weight,
            self.class_weight,
            groups,
            numbers=self._learns_numbers,
            tables=self._learns_tasks,
        )

    def _decisions(self, X: GraphsLike) -> list[Float64]:
        """Return the decision values of each task: shape (n_graphs,), or (n_graphs, n_classes)."""
        raise NotImplementedError

    def _select(self, place: int) -> Self:
        """Return the model of one task among several: what tasks share, and ``heads_``."""
        model = self._share_with(type(self)(**self.get_params(deep=False)))
        model.tasks_, model.heads_, model.target_ = None, [self.heads_[place]], (self.tasks_ or ())[place]
        if self._held_out is not None:
            how, held = self._held_out
            model._held_out = how, [held[place]]  # noqa: SLF001  (of the same class)
        return model

    def _per_task(self, values: list[_T]) -> _T | list[_T]:
        """Return one value per task; without a table of targets the only one."""
        return values[0] if self.tasks_ is None else values

    def _columns(self, values: list[Values]) -> Any:  # noqa: ANN401
        """Return one column per task; objects, where some are numbers and some are not."""
        if self.tasks_ is None:
            return values[0]
        for name, column in zip(self.tasks_, values):
            if column.ndim > 1:
                raise TwinWLError(
                    f"task {name!r} has more than two classes, so it has more than one value per graph; call "
                    f"for_task({name!r}) instead"
                )
        same = len({column.dtype.kind in "biuf" for column in values}) == 1
        return np.stack(values if same else [column.astype(object) for column in values], axis=1)

    def _answers(self, X: GraphsLike, what: str | None, *args: object, **kwargs: object) -> list[Any]:
        """Return the decision values of each task or, with a name, what its head's method makes of them."""
        self._check_fitted()
        decisions: list[Any] = self._decisions(X.graphs if isinstance(X, PartlyRead) else X)
        if what is not None:
            pairs = zip(self.heads_, decisions)
            decisions = [getattr(head, what)(own, *args, **kwargs) for head, own in pairs]
        return [X.fill(answers) for answers in decisions] if isinstance(X, PartlyRead) else decisions

    def predict(self, X: GraphsLike) -> Any:  # noqa: ANN401
        """Predict the class of each graph, or a number.

        Parameters
        ----------
        X : GraphBatch or sequence of graphs
            The graphs, in any form that `as_batch` accepts.

        Returns
        -------
        array of shape (n_graphs,), or (n_graphs, n_tasks) if the model has several tasks
            Classes as in ``y``, or numbers.
        """
        return self._columns(self._answers(X, "predict"))

    def score(self, X: GraphsLike, y: object, sample_weight: object = None) -> float:
        """Return the accuracy, or R² of numbers; of several tasks its mean, each on graphs with a target.

        Parameters
        ----------
        X
            The graphs.
        y
            Their targets.
        sample_weight
            Weight of each graph.
        """
        measure = metrics.r2_score if self._learns_numbers else metrics.accuracy_score
        answers = self.predict(X)
        predicted = [answers] if self.tasks_ is None else list(answers.T)
        targets = self._same_tasks(y, len(answers), "targets")
        weights = sample_weights(sample_weight, len(answers))
        scores = []
        for column, known, predictions in zip(targets.columns, targets.known.T, predicted):
            own = array_of_one_kind(predictions[known].tolist(), "predictions")
            of_known = None if weights is None else weights[known]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of numbers that are too large
                try:
                    scores.append(measure(column[known], own, sample_weight=of_known))
                except (TypeError, ValueError, OverflowError) as error:
                    raise TwinWLError(f"targets and predictions cannot be compared: {error}") from error
        return float(np.mean(scores))

    def _same_tasks(self, y: object, n_graphs: int, name: str, *, empty: bool = False) -> Any:  # noqa: ANN401
        """Read targets of other graphs, of the tasks of ``fit``."""
        table = read_targets(y, n_graphs, tables=self.tasks_ is not None, empty=empty)
        if len(table.columns) != len(self.heads_) or (table.names is None) != (self.tasks_ is None):
            raise TwinWLError(f"{name}: expected targets with {len(self.heads_)} columns, one per task")
        if table.names is None and not table.known.all():
            first = int(np.flatnonzero(~table.known[:, 0])[0])
            raise TwinWLError(f"{name}: target {first} is missing; leave that graph out")
        return table

    def for_task(self, task: str | int) -> Self:
        """Return the model of one task, as if it had been trained on that task alone.

        Parameters
        ----------
        task
            Its name, or its place among ``tasks_``.
        """
        self._check_fitted()
        names = self.tasks_ or (getattr(self, "target_", None),)
        place = checked("task", task, integer(0, MAX_ITEMS), NAME)
        if place in names:
            place = names.index(place)
        if isinstance(place, str) or place >= len(names):
            known = f"the tasks {_listing(names)}" if any(names) else "one task; leave task out"
            raise TwinWLError(f"task: got {shown(task)}, but this model has {known}")
        return self if self.tasks_ is None else self._select(place)

    def _one_task(self, task: str | int | None) -> Self:
        """Return the model to explain: of one task, which must be named where there are several."""
        self._check_fitted()
        if task is not None:
            return self.for_task(task)
        if self.tasks_ is not None:
            raise TwinWLError(
                f"this model has {len(self.tasks_)} tasks; name one with task=…: {_listing(self.tasks_)}"
            )
        return self

    @property
    def report_(self) -> TrainingReport:
        """Metrics on the training graphs that were held out, by task, with plots; not saved.

        They also chose the epoch, or rounds and C, so they are a little optimistic.
        """
        self._check_fitted()
        if self._held_out is None:
            raise TwinWLError(
                "this model has no report: it held out no graphs, or is from a file, which does not keep them"
            )
        how, held = self._held_out
        reports = map(TargetReport.of, held)
        return TrainingReport(dict(zip(self.tasks_ or ("",), reports)), how)

    @property
    def conformal_(self) -> Any:  # noqa: ANN401
        """What sets and intervals are made of: scores of held-out graphs, of each task; None without any."""
        return self._per_task([head.conformal for head in self.heads_])

    def __sklearn_tags__(self) -> object:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._learns_tasks  # type: ignore[attr-defined]
        return tags


class GraphClassifier(ClassifierMixin, TaskEstimator):
    """What all classifiers do with decision values."""

    _learns_numbers = False
    _kept = {"heads": list[ClassHead]}
    heads_: list[ClassHead]
    score = TaskEstimator.score  # scikit-learn's does not support missing targets

    @property
    def classes_(self) -> Any:  # noqa: ANN401
        """The classes, sorted; of several tasks a list with one array per task."""
        return self._per_task([head.classes for head in self.heads_])

    def decision_function(self, X: GraphsLike) -> Any:  # noqa: ANN401
        """Return the decision values of the graphs.

        Parameters
        ----------
        X : GraphBatch or sequence of graphs
            The graphs, in any form that `as_batch` accepts.

        Returns
        -------
        array of shape (n_graphs,) for two classes, else (n_graphs, n_classes)
            For several tasks, one column per task, if all have two classes.
        """
        return self._columns(self._answers(X, None))

    def predict_proba(self, X: GraphsLike) -> Float64 | list[Float64]:
        """Predict the probability of each class.

        Those of support vector machines come from a logistic regression on the decision values of the inner
        folds' held-out graphs, as Platt proposed; close to the border the most probable class can differ
        from that of ``predict``.

        Parameters
        ----------
        X : GraphBatch or sequence of graphs
            The graphs, in any form that `as_batch` accepts.

        Returns
        -------
        array of shape (n_graphs, n_classes), or a list of one array per task
            Columns in the order of ``classes_``.
        """
        return self._per_task(self._answers(X, "probabilities"))

    def predict_set(
        self, X: GraphsLike, confidence: float = 0.9, per_class: bool = True
    ) -> Bool | list[Bool]:
        """Return which classes cannot be ruled out at a confidence, shape (n_graphs, n_classes).

        For several tasks, a list with one array per task; the guarantee holds for each task.

        If new graphs are like the training graphs (molecules: if their scaffolds are as new as those that
        were held out), a set contains the true class with at least this probability. A set may contain
        several classes, if the model is unsure, or none, if the graph is unlike all classes. Under a shift
        (another laboratory) sets contain the true class less often.

        Parameters
        ----------
        X
            The graphs.
        confidence
            Above 0 and below 1. The closer to 1, the larger the sets.
        per_class
            Whether the guarantee holds within each class, also a rare one, or only on average.
        """
        checked("per_class", per_class, FLAG)
        return self._per_task(self._answers(X, "sets", confidence, per_class=per_class))


class GraphRegressor(RegressorMixin, TaskEstimator):
    """What all regressors do with decision values."""

    _learns_numbers = True
    _kept = {"heads": list[NumberHead]}
    heads_: list[NumberHead]
    score = TaskEstimator.score

    def predict_interval(self, X: GraphsLike, confidence: float = 0.9) -> Float64 | list[Float64]:
        """Return the lower and upper end of an interval for each graph, shape (n_graphs, 2).

        For several tasks, a list with one array per task; the guarantee holds for each task.

        If new graphs are like the training graphs (molecules: if their scaffolds are as new as those that
        were held out), an interval contains the true number with at least this probability. All intervals are
        equally wide, and infinite if too few graphs were held out.

        Parameters
        ----------
        X
            The graphs.
        confidence
            Above 0 and below 1.
        """
        return self._per_task(self._answers(X, "intervals", confidence))


def _listing(names: Sequence[object]) -> str:
    return ", ".join(map(repr, names[:_LISTED])) + ", …" * (len(names) > _LISTED)
