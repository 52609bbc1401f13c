"""The base class of all estimators: declared parameters, checks in ``fit``, ``random_state``.

SmilesToGraphs: the first step of a pipeline that starts at strings.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeAlias, TypeVar, cast

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from twinwl.arguments import JOBS, Constraint, checked
from twinwl.arrays import Bool
from twinwl.errors import GraphInputError, TwinWLError, setting, warn_caller
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.coercion import GraphsLike, as_batch, one_graph
from twinwl.graphs.molecules import ATOMS, AtomLevel

Constraints: TypeAlias = "Mapping[str, tuple[Constraint | None, ...]]"
RandomState: TypeAlias = "int | np.random.RandomState | np.random.Generator | None"

_Function = TypeVar("_Function", bound="Callable[..., Any]")
_SEEDS_BELOW = 2**31 - 1


class NotFittedTwinError(TwinWLError, NotFittedError):
    """An estimator was used before ``fit``; scikit-learn's own error for it as well."""


class GraphEstimator(BaseEstimator):
    """Base class of all estimators.

    A subclass declares in ``_constraints`` the valid values of its own parameters, in ``_renamed`` the names
    that parameters had in the previous version (these keep working, with a FutureWarning), in ``_removed``
    what to do instead of those that are gone, and in ``_fitted_attribute`` the attribute that ``fit`` sets
    last. As in scikit-learn, ``__init__`` and ``set_params`` accept everything; ``fit`` checks.
    """

    _constraints: ClassVar[Constraints] = {}
    _renamed: ClassVar[Mapping[str, str]] = {}
    _removed: ClassVar[Mapping[str, str]] = {}
    _fitted_attribute: ClassVar[str]

    x_: str = "auto"
    """How ``x`` of PyTorch Geometric is read in other graphs, as in `GraphBatch.from_pyg`."""
    atoms_: AtomLevel | None = None
    """How the molecules of ``fit`` were read (`GraphBatch.atoms`)."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        bases = cls.__mro__[::-1]
        cls._constraints = {
            name: c for base in bases for name, c in vars(base).get("_constraints", {}).items()
        }
        cls._renamed = {old: new for base in bases for old, new in vars(base).get("_renamed", {}).items()}
        if "__init__" in vars(cls) and (cls._renamed or cls._removed):
            cls.__init__ = old_names(cls._removed, **cls._renamed)(cls.__init__)  # type: ignore[method-assign]

    def set_params(self, **params: object) -> Self:
        """Set parameters by name, as scikit-learn does."""
        super().set_params(**_with_new_names(params, self._renamed, self._removed, warn=True))
        return self

    @classmethod
    def _with_params(cls, params: Mapping[str, object]) -> Self:
        """Return an estimator with the parameters of a model file, which may have their previous names."""
        kept = {name: value for name, value in params.items() if name not in cls._removed}
        self = cls(**_with_new_names(kept, cls._renamed, {}, warn=False))
        self._check_parameters()
        return self

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
        self.atoms_ = batch.atoms or (self.atoms_ if warm else None)
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
        return self._same_atoms(graphs_of(X, what, self.x_))

    def _graph_to_explain(self, X: GraphsLike) -> GraphBatch:
        return self._same_atoms(one_graph(X, "the graph to explain", self.x_))

    def _same_atoms(self, batch: GraphBatch) -> GraphBatch:
        """Refuse molecules that were read in another way; graphs of which that is not known are accepted."""
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


def old_names(
    removed: Mapping[str, str] = MappingProxyType({}), /, **renamed: str
) -> Callable[[_Function], _Function]:
    """Let a function accept the previous names of arguments, with a FutureWarning; refuse removed ones.

    The signature stays that of the new names, which is where scikit-learn reads an estimator's parameters.

    >>> @old_names(graph="X")
    ... def explain(X):
    ...     return X
    >>> explain(X=1)
    1
    """

    def decorate(function: _Function) -> _Function:
        @functools.wraps(function)
        def renaming(*args: object, **kwargs: object) -> object:
            return function(*args, **_with_new_names(kwargs, renamed, removed, warn=True))

        return cast("_Function", renaming)

    return decorate


def keeps_parameters(init: _Function) -> _Function:
    """Let an ``__init__`` without a body set one attribute per parameter, as scikit-learn expects.

    >>> class Rounds:
    ...     @keeps_parameters
    ...     def __init__(self, n_iter=3): ...
    >>> Rounds(5).n_iter
    5
    """
    signature = inspect.signature(init)

    @functools.wraps(init)
    def keeping(self: object, *args: object, **kwargs: object) -> None:
        init(self, *args, **kwargs)
        given = signature.bind(self, *args, **kwargs)
        given.apply_defaults()
        _, *parameters = given.arguments.items()
        for name, value in parameters:
            setattr(self, name, value)

    return cast("_Function", keeping)


def _with_new_names(
    params: Mapping[str, Any], renamed: Mapping[str, str], removed: Mapping[str, str], *, warn: bool
) -> dict[str, Any]:
    for old in params.keys() & removed.keys():
        raise TwinWLError(f"the parameter is gone; {removed[old]}", parameter=old)
    for old in params.keys() & renamed.keys() if warn else ():
        message = f"the argument {old!r} is now called {renamed[old]!r}; the old name goes in version 0.3"
        warnings.warn(message, FutureWarning, stacklevel=3)
    return {renamed.get(name, name): value for name, value in params.items()}


class SmilesToGraphs(TransformerMixin, GraphEstimator):
    """Turn SMILES strings into a `GraphBatch`; needs no fitting.

    Every string must be readable, because a pipeline cannot drop rows; the error names the row.

    Parameters
    ----------
    atoms : {"skeleton", "constitution", "isotope", "stereo", "ecfp"}, default="skeleton"
        What the labels contain; see `GraphBatch.from_smiles`.
    n_jobs : int or None, default=None
        Number of processes; None is one.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from twinwl import STwinSVC, SmilesToGraphs
    >>> model = make_pipeline(SmilesToGraphs(atoms="constitution"), STwinSVC(n_iter=1, C=1.0))
    >>> model.fit(["CCO", "CCCO", "CCN", "CCCN"], ["alcohol", "alcohol", "amine", "amine"]).predict(["CCCCN"])
    array(['amine'], dtype='<U7')
    """

    _constraints: ClassVar[Constraints] = {"atoms": (ATOMS,), "n_jobs": (JOBS, None)}

    def __init__(self, atoms: AtomLevel = "skeleton", n_jobs: int | None = None) -> None:
        self.atoms = atoms
        self.n_jobs = n_jobs

    def fit(self, X: object, y: object = None) -> Self:  # noqa: ARG002  (nothing is learnt)
        """Check the parameters; nothing is learnt from the strings."""
        self._check_parameters()
        return self

    def transform(self, X: Iterable[str]) -> GraphBatch:
        """Read the strings.

        Parameters
        ----------
        X
            One SMILES per molecule: a list, an array or a column of a frame.

        Returns
        -------
        GraphBatch
            One graph per string, in the same order.
        """
        return GraphBatch.from_smiles(X, atoms=self.atoms, n_jobs=self.n_jobs)

    def __sklearn_tags__(self) -> object:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False  # type: ignore[attr-defined]
        tags.input_tags.string = True  # type: ignore[attr-defined]
        return tags
