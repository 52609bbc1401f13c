"""Methods that can be evaluated: by name, by import path, or as an estimator object."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from twinwl.arguments import NAME, Constraint, checked, instance, items, one_of
from twinwl.errors import MissingExtraError, TwinWLError, import_name, nearest, shown
from twinwl.models.metrics import check_metrics, names_for, scorer_for
from twinwl.models.targets import TASKS, Task

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

Config: TypeAlias = "dict[str, object]"
Grid: TypeAlias = Mapping[str, Sequence[object]]
"""Values to try of each parameter, in every combination."""
EstimatorClass = TypeVar("EstimatorClass", bound=type)
_GRID_NAMES = ("compact", "paper")
USUAL_METHOD = "stwin-svc"  # strong where data is scarce, needs no torch, and nothing to tune


@dataclass(frozen=True)
class Method:
    """A method for predicting classes or numbers of graphs.

    Attributes
    ----------
    name : str
        Name of the method in the store.
    home : str
        ``"module:Class"`` of the classifier; empty if there is none.
    fixed : dict
        Parameters that define the method.
    grids : dict
        Named grids of hyperparameters; each maps a parameter to its values. ``"paper"`` is the grid of the
        paper, ``"compact"`` a smaller one for two cores.
    version : int
        Raised whenever results may change; results of another version are not reused.
    estimator : object, optional
        An estimator object, in place of ``home``.
    regressor : str
        ``"module:Class"`` of the regressor; empty if there is none.
    title : str
        What results and messages call it; by default its name.
    """

    name: str
    home: str = ""
    fixed: Config = field(default_factory=dict)
    grids: Mapping[str, Grid] = field(default_factory=dict)
    version: int = 1
    estimator: BaseEstimator | None = None
    regressor: str = ""
    title: str = ""

    def __post_init__(self) -> None:
        """Use the name where there is no title."""
        object.__setattr__(self, "title", self.title or self.name)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that the method supports; both if an estimator object does not say.

        >>> METHODS["stwin-svc"].tasks, METHODS["gin"].tasks
        (('classification', 'regression'), ('classification',))
        """
        if self.estimator is None:
            homes = zip(TASKS, (self.home, self.regressor))
            return tuple(task for task, home in homes if home)
        from sklearn.base import is_classifier, is_regressor  # noqa: PLC0415

        kinds = zip(TASKS, (is_classifier, is_regressor))
        return tuple(task for task, is_kind in kinds if is_kind(self.estimator)) or TASKS

    def for_task(self, task: Task, targets: Sequence[str] = ()) -> Method:
        """Return the method with the estimator for a task; the error message lists methods that support it.

        Parameters
        ----------
        task
        targets
            Names of the targets, if there are several.

        >>> METHODS["stwin-svc"].for_task(Task("classification", "")).home
        'twinwl.models.svc:STwinSVC'
        """
        if task.name not in self.tasks:
            others = [other.name for other in METHODS.values() if task.name in other.tasks]
            known = f"use {', '.join(others)}" if others else "give an estimator for that"
            raise TwinWLError(
                f"{self.title} is for {self.tasks[0]}, and this is {task.name} ({task.reason}); {known}"
            )
        served = self.estimator is not None or task.name == TASKS[0]
        result = self if served else replace(self, home=self.regressor)
        if targets:
            result._check_several(targets)  # noqa: SLF001  (of the same class)
        return result

    def _check_several(self, targets: Sequence[str]) -> None:
        """Refuse several targets if the estimator learns one; estimators of other packages are not asked."""
        from sklearn.utils import get_tags  # noqa: PLC0415  (slow; not needed for the names)

        from twinwl.models.base import GraphEstimator  # noqa: PLC0415

        estimator = self.build({}, 0)
        if isinstance(estimator, GraphEstimator) and not get_tags(estimator).target_tags.multi_output:
            others = [other.name for other in METHODS.values() if other.regressor]  # these learn several
            raise TwinWLError(
                f"{self.title} learns one target, and there are {len(targets)}: {shown(list(targets))}; name "
                f"one, or use {', '.join(others)}"
            )

    def configs(self, grid: str | Grid | None = None) -> list[Config]:
        """Return the configurations of a grid, in order; without a grid there is a single empty one."""
        # Names of grids are valid for a method without grids too.
        grid = checked("grid", grid, one_of(*(self.grids or _GRID_NAMES)), instance(dict), None)
        if isinstance(grid, str):
            grid = self.grids.get(grid, {})
        listed: dict[str, list[object]] = {}
        for name, values in (grid or {}).items():
            place = f"grid[{shown(checked('grid', name, NAME))}]"
            listed[name] = [checked(place, value, _WRITABLE) for value in items(place, values, "a list")]
            if not listed[name]:
                raise TwinWLError(f"{place}: got no values, expected at least one")
        return [dict(zip(listed, values)) for values in product(*listed.values())]

    def with_settings(self, settings: Config) -> Method:
        """Return the method with parameters of its estimators; its name has those that change results.

        >>> METHODS["stwin-svc"].with_settings({"readout": ["edges", "wl"], "n_jobs": 2}).name
        'stwin-svc+edges+wl'
        >>> METHODS["ntwin"].with_settings({"refit": True, "layers": 2}).name
        'ntwin+refit+layers=2'

        Raises
        ------
        TwinWLError
            If no estimator of the method has the parameter, or none accepts the value.
        """
        if not settings:
            return self  # estimators are slow to load
        known = self.parameters()
        result, fixed = self, {**self.fixed, **settings}
        for name, value in settings.items():
            if name not in known:
                raise TwinWLError(f"{self.title} has no parameter {name!r}: {nearest(name, known)}")
            checked(name, value, *known[name][1])
            result = result._with(_suffix(name, value))
        if "readout" in settings and "features" in known and fixed.setdefault("features", "joint") != "joint":
            raise TwinWLError(
                f"readout: {self.title} with features={fixed['features']!r} counts by none; use 'joint'"
            )
        return replace(result, fixed=fixed)

    def parameters(self) -> dict[str, tuple[dict[str, object], tuple[Constraint | None, ...]]]:
        """Return for each parameter its defaults by task, and what it accepts (if that is declared)."""
        result: dict[str, Any] = {}
        for task in self.tasks:
            estimator = self.for_task(Task(task, "")).build({}, 0)
            constraints = getattr(estimator, "_constraints", {})
            for name, value in estimator.get_params().items():
                defaults, _ = result.setdefault(name, ({}, constraints.get(name, (_ANYTHING,))))
                defaults[task] = value
        return result

    def with_edge_labels(self, *, use: bool) -> Method:
        """Return the method with or without edge labels; where that changes it, its name says so.

        >>> METHODS["stwin-svc"].with_edge_labels(use=True).name
        'stwin-svc+edge-labels'

        Raises
        ------
        TwinWLError
            If the method cannot use edge labels, and shall.
        """
        params = self.build({}, 0).get_params()
        names = [name for name in params if name.rpartition("__")[2] == "edge_labels"]
        if use and not names:
            known = ", ".join(other.name for other in METHODS.values() if other.regressor)
            raise TwinWLError(f"{self.title} cannot use edge labels, only {known} can; leave edge_labels out")
        changed = any(bool(params[name]) != use for name in names)
        suffix = f"+{'' if use else 'no-'}edge-labels" if changed else ""
        return self._with(suffix, **dict.fromkeys(names, use))

    def _with(self, suffix: str, **fixed: object) -> Method:
        name, title = self.name + suffix, self.title + suffix
        return replace(self, name=name, title=title, fixed={**self.fixed, **fixed})

    def build(self, config: Config, seed: int) -> BaseEstimator:
        """Return a new estimator of this method with a configuration and a seed."""
        from sklearn.base import clone  # noqa: PLC0415  (slow; not needed for the names)

        estimator = imported(self.home)() if self.estimator is None else clone(self.estimator)
        parameters = {**self.fixed, **config}
        known = estimator.get_params()
        unknown = [name for name in parameters if name not in known]
        if unknown:
            raise TwinWLError(f"{self.title} has no parameter {unknown[0]!r}: {nearest(unknown[0], known)}")
        seeds = {name: seed for name in known if name.rpartition("__")[2] == "random_state"}
        return estimator.set_params(**{**seeds, **parameters})

    def model(self, task: Task, seed: int, scoring: str | None = None) -> Any:  # noqa: ANN401
        """Return an unfitted classifier or regressor that makes its own choices by a metric.

        >>> METHODS["stwin-svc"].model(Task("regression", ""), 1, "mae")
        STwinSVR(random_state=1, scoring='neg_mean_absolute_error')
        """
        estimator: Any = self.for_task(task).build({}, seed)
        if scoring is None:
            return estimator
        check_metrics([scoring], task.name, "--scoring")
        scorer = scorer_for(estimator, scoring)
        if scorer is None:
            known = [name for name in names_for(task.name) if scorer_for(estimator, name)]
            raise TwinWLError(
                f"--scoring: {self.name} cannot choose by {scoring}; choose from {', '.join(known)}"
            )
        return estimator.set_params(scoring=scorer)


def _suffix(name: str, value: Any) -> str:  # noqa: ANN401
    """Return what the name of a method says about a parameter; stores have results under these names."""
    if name in {"device", "n_jobs", "verbose"}:
        return ""
    if name == "readout":
        return "+" + "+".join([value] if isinstance(value, str) else value)
    if isinstance(value, bool):
        return f"+{'' if value else 'no-'}{name.replace('_', '-')}"
    return f"+{name}={value if isinstance(value, str) else json.dumps(value)}"


def _plain_value(value: object) -> object:
    """Return a value as it will be stored, with NumPy numbers as plain ones."""
    plain = value.item() if isinstance(value, np.generic) else value
    json.dumps(plain)
    return plain


_WRITABLE = Constraint(
    "values that JSON can represent: numbers, strings, booleans, None, or lists", _plain_value
)

_ANYTHING = Constraint("", lambda value: value)

METHODS: dict[str, Method] = {}


def register(name: str, home: str, **options: Any) -> Method:  # noqa: ANN401
    """Add a method by name: one line in the table below, or in a user's own code.

    Parameters
    ----------
    name
        Name of the method.
    home
        Its classifier, ``"module:Class"``; empty if it is a regressor only.
    **options
        ``fixed``, ``grids``, ``version`` and ``regressor``, as for `Method`.

    >>> _ = register("mine", "sklearn.dummy:DummyClassifier")
    >>> METHODS.pop("mine").home
    'sklearn.dummy:DummyClassifier'
    """
    METHODS[name] = Method(name, home, **options)
    return METHODS[name]


def method(name: str, **options: Any) -> Callable[[EstimatorClass], EstimatorClass]:  # noqa: ANN401
    """Register a class as a method; used as a decorator.

    Parameters
    ----------
    name
        Name of the method, also on the command line if its module is imported.
    **options
        ``fixed``, ``grids`` and ``version``, as for `Method`.

    >>> from sklearn.dummy import DummyClassifier
    >>> @method("guess", grids={"compact": {"strategy": ["prior", "uniform"]}})
    ... class Guess(DummyClassifier):
    ...     pass
    >>> [config["strategy"] for config in METHODS.pop("guess").configs("compact")]
    ['prior', 'uniform']
    """

    def add(estimator_class: EstimatorClass) -> EstimatorClass:
        home = f"{estimator_class.__module__}:{estimator_class.__qualname__}"
        # As an object, not by path: other processes cannot import a class of a notebook or a script.
        register(name, home, estimator=estimator_class(), **options)
        return estimator_class

    return add


_STWIN, _SVC = "twinwl.neural.stwin:STwinClassifier", "twinwl.models.svc:STwinSVC"
MACHINES = _SVC, _SVC.replace("SVC", "SVR")
_KERNELS, _GNN, _HIGHER = (f"twinwl.baselines.{module}:" for module in ("kernels", "gnn", "higher_order"))
_DEPTHS = [2, 3, 4, 5]


def twin_forest_classifier() -> Any:  # noqa: ANN401
    """Return a forest on the columns of all views.

    >>> [name for name, _ in twin_forest_classifier().steps]
    ['stwinvectorizer', 'randomforestclassifier']
    """
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415  (slow; not needed for the names)

    return _on_columns(RandomForestClassifier(500, max_features="sqrt"))


def twin_forest_regressor() -> Any:  # noqa: ANN401
    """Return the same for numbers."""
    from sklearn.ensemble import RandomForestRegressor  # noqa: PLC0415

    return _on_columns(RandomForestRegressor(500, max_features="sqrt"))


def _on_columns(forest: Any) -> Any:  # noqa: ANN401
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415

    from twinwl.models.vectorizer import STwinVectorizer  # noqa: PLC0415

    return make_pipeline(STwinVectorizer(2, "joint", min_df=2), forest)


def _tunable(name: str, home: str, compact: Grid, paper: Grid | None = None, **options: Any) -> None:  # noqa: ANN401
    """Register a method with a compact grid for two cores, and that of section 5 of the paper."""
    register(name, home, grids={"compact": compact, "paper": paper or {}}, **options)


_perceptron = partial(
    _tunable,
    home=_STWIN,
    compact={"n_iter": [2, 3]},
    paper={"n_iter": _DEPTHS},
    regressor="twinwl.neural.stwin:STwinRegressor",
    version=2,
)
_perceptron("stwin")
_perceptron("stwin-joint", fixed={"features": "joint"})
_perceptron("wl", fixed={"features": "count"})
# Kernels choose C, and WL kernels also the number of rounds, inside each training part: they need no grid.
_svm = partial(register, home=_SVC, regressor="twinwl.models.svc:STwinSVR", version=2)
_svm("stwin-svc")
_svm("wl-svc", fixed={"features": "count"})
_svm("stwin-svc-rounds", fixed={"average_rounds": True})
_svm("stwin-svc-pairs", fixed={"average_rounds": True, "pairs": 10})
_HERE = "twinwl.evaluation.methods"
register("twin-forest", f"{_HERE}:twin_forest_classifier", regressor=f"{_HERE}:twin_forest_regressor")
_network = partial(
    _tunable,
    home="twinwl.neural.ntwin:NTwinClassifier",
    regressor="twinwl.neural.ntwin:NTwinRegressor",
)
_network(
    "ntwin",
    compact={"layers": [3], "hops": ["growing", 3]},
    paper={"layers": _DEPTHS, "hops": ["growing", *_DEPTHS]},
)
# A rooted subgraph of radius 0 is its root alone, which leaves the subtree encoder of NTwin: that is 1-WL.
_network("wl-encoder", compact={"layers": [3]}, paper={"layers": _DEPTHS}, fixed={"hops": 0})
register("sp-kernel", f"{_KERNELS}ShortestPathSVC")
register("wl-kernel", f"{_KERNELS}WLSubtreeSVC")
register("wl-oa", f"{_KERNELS}WLOptimalAssignmentSVC")
_tunable("dgk", f"{_KERNELS}DeepGraphKernelSVC", {"n_iter": [2, 3]}, {"n_iter": _DEPTHS})
_OF_GNN = {"layers": _DEPTHS, "hidden": [32, 64, 128]}
_tunable("gcn", f"{_GNN}GCNClassifier", {"layers": [3, 5]}, _OF_GNN)
_tunable("gin", f"{_GNN}GINClassifier", {"layers": [2, 4]}, _OF_GNN)
_tunable("diffpool", f"{_GNN}DiffPoolClassifier", {"cluster_ratio": [0.1, 0.25]})
_tunable("sortpool", f"{_GNN}SortPoolClassifier", {"hidden": [32, 64]})
_tunable("sagpool", f"{_GNN}SAGPoolClassifier", {"ratio": [0.5, 0.8]})
_tunable("123-gnn", f"{_HIGHER}OneTwoThreeGNNClassifier", {"hidden": [32]})
_tunable("3-hop-gnn", f"{_HIGHER}KHopGNNClassifier", {"hidden": [32, 64]}, fixed={"hops": 3})
_of_nested = {"height": _DEPTHS, "layers": [4]}
_tunable("nested-gin", f"{_HIGHER}NestedGINClassifier", {"height": [2, 3]}, _of_nested)
# Its sums over all pairs are large: with a rate of 0.001 it may never learn, or lose what it has learnt.
_of_ppgn = {"learning_rate": 3e-4, "patience": 30}
_tunable("ppgn", f"{_HIGHER}PPGNClassifier", {"layers": [2, 3]}, fixed=_of_ppgn, version=2)
# As its authors trained it, without early stopping: it may guess for a hundred epochs before it learns.
_of_rni = {"layers": 8, "batch_size": 20, "max_epochs": 300, "patience": 300}
_shares = {"ratio": [0.125, 0.5, 0.875, 1.0]}
_tunable("gcn-rni", f"{_GNN}GCNRNIClassifier", {"ratio": [0.5]}, _shares, fixed=_of_rni, version=3)
_tunable("id-gnn", f"{_HIGHER}IDGNNClassifier", {"layers": [2, 3]})
_tunable("id-gnn-fast", f"{_HIGHER}IDGNNClassifier", {"longest_walk": [4, 6]}, fixed={"form": "fast"})


VECTORIZER = Method("features", "twinwl.models.vectorizer:STwinVectorizer")
"""No method, but made alike: the features that commands write."""


def resolve(method: object) -> Method:
    """Turn a name, an import path ``"module:Class"``, an estimator or its class into a Method.

    >>> resolve("stwin").home
    'twinwl.neural.stwin:STwinClassifier'
    """
    if isinstance(method, Method):
        return method
    if isinstance(method, str):
        name: str = checked("method", method, NAME)
        if name in METHODS:
            return METHODS[name]
        if ":" not in name:
            raise TwinWLError(
                f"method is {shown(name)}: {nearest(name, METHODS)}. An import path is written 'module:Class'"
            )
        return _from_estimator(_new(imported(name), name), name)
    if isinstance(method, type):
        home = f"{method.__module__}:{method.__qualname__}"
        return _from_estimator(_new(method, home), home)
    return _from_estimator(method, f"{type(method).__module__}:{type(method).__qualname__}")


def trainable(name: str) -> Method:
    """Return a method whose models can be written to a file.

    >>> trainable("gin")
    Traceback (most recent call last):
    twinwl.errors.TwinWLError: gin cannot be written to a file, only evaluated; use stwin, ...
    """
    result, savable = resolve(name), [other for other in METHODS.values() if other.regressor]
    savable = [other for other in savable if not other.home.startswith(_HERE)]  # no forests
    if not result.regressor or result.home.startswith(_HERE):
        known = ", ".join(other.name for other in savable)
        raise TwinWLError(f"{name} cannot be written to a file, only evaluated; use {known}")
    return result


def _new(kind: Callable[[], BaseEstimator], home: str) -> BaseEstimator:
    try:
        return kind()
    except Exception as error:  # whatever a foreign class raises
        raise TwinWLError(
            f"{home!r} cannot be created without arguments ({error}); pass an estimator object from Python"
        ) from error


def _from_estimator(estimator: Any, home: str) -> Method:  # noqa: ANN401
    """Return a method for an estimator object, stored by its class and a digest of its parameters."""
    if not all(hasattr(estimator, name) for name in ("get_params", "fit", "predict")):
        raise TwinWLError(
            f"method: got {shown(estimator)}, expected a name, or an estimator with fit, predict and "
            "get_params"
        )
    described = json.dumps(estimator.get_params(deep=True), sort_keys=True, default=repr)
    digest = hashlib.blake2b(described.encode(), digest_size=4).hexdigest()
    return Method(f"{home}#{digest}", home, estimator=estimator, title=_title_of(estimator))


def _title_of(estimator: Any) -> str:  # noqa: ANN401
    """Return the names of the classes: of a pipeline those of its steps, of a search also what it searches.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> from twinwl import STwinVectorizer
    >>> _title_of(make_pipeline(STwinVectorizer(), SVC()))
    'STwinVectorizer + SVC'
    """
    if isinstance(steps := getattr(estimator, "steps", None), list):
        return " + ".join(_title_of(step) for _, step in steps if step not in {None, "passthrough"})
    inner = getattr(estimator, "estimator", None)
    return type(estimator).__name__ + (f"({_title_of(inner)})" if hasattr(inner, "get_params") else "")


def told_apart(methods: Sequence[Method]) -> list[Method]:
    """Return methods with different titles: equal ones are followed by the parameters that differ.

    Raises
    ------
    TwinWLError
        If one of them is there twice.
    """
    result = []
    for method in methods:
        own = _parameters(method)
        alike = [_parameters(other) for other in methods if other.title == method.title]
        if alike.count(own) > 1:
            raise TwinWLError(f"method: {method.title} is named twice; name each method once")
        differing = [
            f"{name.rpartition('__')[2]}={value}"
            for name, value in own.items()
            if any(other.get(name) != value for other in alike)
        ]
        title = f"{method.title} ({', '.join(differing)})" if differing else method.title
        result.append(replace(method, title=title))
    return result


def _parameters(method: Method) -> dict[str, str]:
    """Return the values of all parameters as text, those of the steps of a pipeline but not the steps."""
    named = method.build({}, 0).get_params()
    nested = [name for name, value in named.items() if hasattr(value, "get_params") or name.endswith("steps")]
    return {name: repr(value) for name, value in named.items() if name not in nested}


def imported(path: str, form: str = "module:Class") -> Any:  # noqa: ANN401
    """Import something by its path, which has this form."""
    module, _, name = path.partition(":")
    try:
        return import_name(module, name)
    except MissingExtraError:
        raise
    except (ImportError, AttributeError, ValueError, TypeError) as error:  # the last two: '' and '..'
        raise TwinWLError(f"cannot import {shown(path)} ({error}); write it as {form!r}") from error
