"""What `power` can score, each turned into a probe that judges pairs of graphs of a suite.

A *test* says whether two graphs differ; a *function* gives one value per graph; a *fitted* estimator gives
values after it has been fitted to the pair.

Values that something gives to graphs, and when two of them are clearly different.
"""

from __future__ import annotations

import copy
import inspect
import sys
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np

from twinwl.arrays import Float64
from twinwl.errors import TwinWLError, import_extra, import_name, shown
from twinwl.graphs.batch import GraphBatch, concatenate, relabelled
from twinwl.isomorphism.comparison import compare
from twinwl.isomorphism.hashing import EVERY_RADIUS_UP_TO, graph_keys
from twinwl.isomorphism.readouts import resolve

_CLEARLY = 10.0  # a difference counts only from so many times the noise of relabelling on
_ROUNDING = 16.0  # and only above so many units of rounding
_UNCLEAR = 0.2  # from this part of both on, rounding alone may be what hides a difference


class Judgement(NamedTuple):
    """What a probe says about a pair.

    Attributes
    ----------
    separated : bool
        Whether the two graphs have clearly different values.
    sound : bool
        Whether relabelled copies have the values of their graphs, up to rounding.
    difference : float
        Distance of the two values; for tests, by how many nodes the counts of the witness differ.
    noise : float
        Largest distance of a copy's value from that of its graph.
    round : int or None
        For tests, the round with the first difference.
    seconds : float
        Processor time of the pair itself, without the copies.
    unclear : bool
        Whether the values differ by more than rounding usually does, but not clearly.
    """

    separated: bool
    sound: bool
    difference: float
    noise: float
    round: int | None
    seconds: float
    unclear: bool = False


class Value(NamedTuple):
    """A value of a graph: a vector with its unit of rounding, or something to compare for equality."""

    vector: Float64 | None
    rounding: float
    other: Hashable = None

    def distance(self, other: Value) -> float:
        """Return the Euclidean distance of two vectors, or 0 and 1 for equal and different values."""
        if self.vector is None or other.vector is None:
            if (self.vector is None) != (other.vector is None):
                raise TwinWLError("gave a vector for one graph and something else for another")
            return float(not _equal(self.other, other.other))
        if self.vector.shape != other.vector.shape:
            raise TwinWLError(
                f"gave vectors of different lengths, {self.vector.size} and {other.vector.size}; give all "
                "graphs vectors of one length, or return a tuple of integers or strings"
            )
        return float(np.linalg.norm(self.vector - other.vector))

    @property
    def size(self) -> float:
        """Length of the vector; 1 for other values."""
        return 1.0 if self.vector is None else float(np.linalg.norm(self.vector))


def as_value(given: Any) -> Value:  # noqa: ANN401
    """Turn what a function returned into something that can be compared.

    Numbers, arrays, tensors, sparse matrices and lists of numbers are vectors. Other values, tuples of
    integers among them, must be hashable and are compared for equality.

    >>> as_value([1.0, 2.5]).vector, as_value((3, "a")).other
    (array([1. , 2.5]), (3, 'a'))
    """
    if given is None:
        raise TwinWLError("returned None; return a number, a vector or a hashable value")
    if callable(getattr(given, "detach", None)):  # a tensor
        given = _without_graph(given)
    elif callable(getattr(given, "toarray", None)):
        given = given.toarray()
    array = _numbers(given)
    if array is None or (isinstance(given, tuple) and array.dtype.kind in "biu"):
        try:
            hash(given)
        except TypeError as error:
            raise TwinWLError(
                f"returned {shown(given)}, which is not hashable; return a number, a vector or a tuple"
            ) from error
        return Value(None, 0.0, given)
    if not np.isfinite(array).all():
        raise TwinWLError(f"returned {shown(given)}, which is not finite; return finite numbers")
    rounding = float(np.finfo(array.dtype).eps) if array.dtype.kind in "fc" else 0.0
    flat = array.ravel()
    if flat.dtype.kind == "c":
        flat = np.concatenate([flat.real, flat.imag])
    return Value(flat.astype(np.float64), rounding)


def judge(values: tuple[Value, Value], noises: tuple[float, float], seconds: float) -> Judgement:
    """Judge a pair by the values of its graphs and by how far those of relabelled copies are from them.

    Up to the square root of the unit of rounding, relative to the length of the vectors (or to 1, if they are
    shorter), a change under relabelling is rounding; beyond, the values are unsound. Two graphs are separated
    if their distance is above ten times that change and above sixteen units of rounding; above a fifth of
    that it is unclear.
    """
    noise, size = max(noises), max(value.size for value in values)
    rounding = max(value.rounding for value in values)
    difference = values[0].distance(values[1])
    sound = noise <= rounding**0.5 * max(1.0, size)
    clear = max(_CLEARLY * noise, _ROUNDING * rounding * size)
    unclear = sound and _UNCLEAR * clear < difference <= clear
    return Judgement(sound and difference > clear, sound, difference, noise, None, seconds, unclear)


def _without_graph(tensor: Any) -> Any:  # noqa: ANN401
    plain = tensor.detach().cpu()
    if not str(plain.dtype).endswith(("float32", "float64", "int64", "int32", "bool")):
        plain = plain.float()  # bfloat16 and others that NumPy lacks
    return plain.numpy()


def _numbers(value: object) -> np.ndarray[Any, Any] | None:
    """Return numbers as an array; None if the value is something else."""
    if isinstance(value, str | bytes):
        return None
    try:
        array = np.asarray(value)
    except Exception:  # noqa: BLE001  (ragged lists, and whatever a foreign object raises)
        return None
    return array if array.dtype.kind in "biufc" else None


def _equal(one: object, other: object) -> bool:
    try:
        return bool(one == other)
    except Exception as error:
        raise TwinWLError(f"returned {shown(one)}, which cannot be compared ({error})") from error


TAKES = ("batch", "networkx", "pyg")
_MOST_NODES_FOR_ONE_THREAD = 256  # with more threads torch spends its time on waking them


class Probe(Protocol):
    """Something that judges pairs of graphs of a batch."""

    def pair(self, g: int, h: int) -> Judgement:
        """Judge two graphs of the batch, given by their indices."""


class Copies:
    """Relabelled copies of the graphs of a batch: those of one graph are always the same.

    Parameters
    ----------
    graphs
        The graphs.
    number
        Copies of each graph.
    seed
        The only random step.
    """

    def __init__(self, graphs: GraphBatch, number: int, seed: int) -> None:
        self.graphs, self._number, self._seed = graphs, number, seed

    def of(self, graph: int) -> GraphBatch:
        """Return the copies of one graph."""
        repeated = self.graphs[np.full(self._number, graph, np.int64)]
        return relabelled(repeated, np.random.default_rng([self._seed, graph]))


class ReadoutProbe:
    """The Twin-WL test with a readout, run until no later round can differ."""

    def __init__(self, readout: Any, copies: Copies) -> None:  # noqa: ANN401  (resolve checks it)
        self._readouts = resolve(readout)
        self._choice, self._copies = readout, copies
        # Canonical forms of whole graphs settle the test at once, but not a hash.
        self._by_hash = all(part.is_known and part.name != "canonical" for part in self._readouts)
        self._sound: dict[int, bool] = {}

    def pair(self, g: int, h: int) -> Judgement:
        """Judge two graphs of the batch, given by their indices."""
        graphs = self._copies.graphs
        first, second = graphs[g], graphs[h]
        began = time.process_time()
        found = compare(first, second, self._choice)
        seconds = time.process_time() - began
        sound = self._is_sound(g) and self._is_sound(h)
        counts = found.witness.counts if found.witness else (0, 0)
        return Judgement(
            found.distinguished and sound,
            sound,
            float(abs(counts[0] - counts[1])),
            0.0 if sound else 1.0,
            found.iteration,
            seconds,
        )

    def _is_sound(self, graph: int) -> bool:
        if graph not in self._sound:
            original, copies = self._copies.graphs[graph], self._copies.of(graph)
            if self._by_hash and original.n_nodes <= EVERY_RADIUS_UP_TO:
                # A hash is never weaker than the test, and all copies are hashed at once.
                keys = graph_keys(concatenate([original, copies]), None, self._readouts)
                self._sound[graph] = bool((keys == keys[0]).all())
            else:
                self._sound[graph] = not any(
                    compare(original, copy, self._choice).distinguished for copy in copies
                )
        return self._sound[graph]


class FunctionProbe:
    """A function of one graph."""

    def __init__(self, function: Callable[[GraphBatch], object], copies: Copies) -> None:
        self._function, self._copies = function, copies
        self._known: dict[int, tuple[Value, float, float]] = {}

    def pair(self, g: int, h: int) -> Judgement:
        """Judge two graphs of the batch, given by their indices."""
        (first, noise, seconds), (second, other_noise, more) = self._of(g), self._of(h)
        return judge((first, second), (noise, other_noise), seconds + more)

    def _of(self, graph: int) -> tuple[Value, float, float]:
        """Return the value of a graph, the largest distance of a copy's from it, and the processor time."""
        if graph not in self._known:
            began = time.process_time()
            value = as_value(self._function(self._copies.graphs[graph]))
            seconds = time.process_time() - began
            copies = (as_value(self._function(copy)) for copy in self._copies.of(graph))
            noise = max((value.distance(copy) for copy in copies), default=0.0)
            self._known[graph] = value, noise, seconds
        return self._known[graph]


class ModuleProbe:
    """A torch module: a copy in double precision where that works, else the module itself.

    In single precision rounding hides small differences, and every layer adds to it.
    """

    def __init__(self, module: Any, copies: Copies, takes: str) -> None:  # noqa: ANN401
        self._own = FunctionProbe(_module_function(module, copies.graphs, takes), copies)
        try:
            double = copy.deepcopy(module).double()
            self._double = FunctionProbe(_module_function(double, copies.graphs, takes, "float64"), copies)
        except Exception:  # noqa: BLE001  (some tensors cannot be copied)
            self._double = self._own

    def pair(self, g: int, h: int) -> Judgement:
        """Judge two graphs of the batch, given by their indices."""
        try:
            return self._double.pair(g, h)
        except Exception:  # noqa: BLE001  (a layer that makes tensors of a fixed type; or the module is wrong)
            return self._own.pair(g, h)


class FittedProbe:
    """An estimator that is fitted to the two graphs of each pair and then transforms them and their copies.

    So is a kernel: a fitted kernel gives the similarities of a graph with the two graphs of the pair.
    """

    def __init__(
        self, values_of_pair: Callable[[GraphBatch], Callable[[GraphBatch], Any]], copies: Copies
    ) -> None:
        self._values_of_pair, self._copies = values_of_pair, copies

    def pair(self, g: int, h: int) -> Judgement:
        """Judge two graphs of the batch, given by their indices."""
        both = self._copies.graphs[np.array([g, h])]
        began = time.process_time()
        transform = self._values_of_pair(both)
        first, second = (as_value(row) for row in transform(both))
        seconds = time.process_time() - began
        noises = [
            max((value.distance(as_value(row)) for row in transform(self._copies.of(graph))), default=0.0)
            for graph, value in ((g, first), (h, second))
        ]
        return judge((first, second), (noises[0], noises[1]), seconds)


def probe_of(scored: Any, graphs: GraphBatch, copies: int, seed: int, takes: str | None) -> Probe:  # noqa: ANN401
    """Turn what a user wants to score into a probe.

    Parameters
    ----------
    scored
        See `twinwl.power`.
    graphs
        The graphs of the suite.
    copies
        Number of relabelled copies of each graph.
    seed
        Their seed.
    takes
        What functions and modules receive; None is a batch for functions, PyG data for modules.
    """
    made = Copies(graphs, copies, seed)
    if isinstance(scored, str) and ":" in scored:
        scored = _imported(scored)
    if isinstance(scored, (str, list, tuple)):
        return ReadoutProbe(scored, made)
    if _is_module(scored):
        return ModuleProbe(scored, made, takes or "pyg")
    if not isinstance(scored, type) and callable(getattr(scored, "fit", None)):
        return FittedProbe(_fitting(scored), made)
    if isinstance(scored, type):
        raise TwinWLError(f"got the class {scored.__name__}; give an object of it")
    if not callable(scored):
        raise TwinWLError(
            f"got {shown(scored)}, expected a readout, a function of a graph, a kernel, a transformer or a "
            "torch module"
        )
    converted = _converter(graphs, takes or "batch")
    if _n_required(scored) == 2:  # noqa: PLR2004  (a kernel: a function of two graphs)
        return FittedProbe(_kernel_function(scored, converted), made)
    return FunctionProbe(lambda graph: scored(converted(graph)), made)


def _fitting(estimator: Any) -> Callable[[GraphBatch], Callable[[GraphBatch], Any]]:  # noqa: ANN401
    from sklearn.base import clone  # noqa: PLC0415  (slow to load)

    if not callable(getattr(estimator, "transform", None)):
        raise TwinWLError(
            f"got {shown(estimator)}, which cannot transform graphs; give one of its methods, such as "
            "model.predict_proba of a fitted model"
        )

    def fitted(pair: GraphBatch) -> Callable[[GraphBatch], Any]:
        transform: Callable[[GraphBatch], Any] = clone(estimator).fit(pair).transform
        return transform

    return fitted


def _kernel_function(
    kernel: Callable[[Any, Any], object], converted: Callable[[GraphBatch], object]
) -> Callable[[GraphBatch], Callable[[GraphBatch], Any]]:
    def fitted(pair: GraphBatch) -> Callable[[GraphBatch], Any]:
        landmarks = [converted(graph) for graph in pair]

        def similarities(graphs: GraphBatch) -> list[list[object]]:
            return [[kernel(converted(graph), landmark) for landmark in landmarks] for graph in graphs]

        return similarities

    return fitted


def _module_function(
    module: Any,  # noqa: ANN401
    graphs: GraphBatch,
    takes: str,
    precision: str | None = None,
) -> Callable[[GraphBatch], object]:
    """Return a module as a function of a graph, with inputs of the given type, or of that of its weights."""
    torch = import_extra("torch", "neural")
    weights = (each.dtype for each in (*module.parameters(), *module.buffers()) if each.is_floating_point())
    dtype = getattr(torch, precision) if precision else next(weights, torch.get_default_dtype())
    if any(part.training for part in module.modules()):
        raise TwinWLError(
            "the module is in training mode, where dropout and batch normalisation change its values; "
            "call module.eval() first"
        )
    names = list(inspect.signature(module.forward).parameters)
    in_parts = takes == "pyg" and names[:2] == ["x", "edge_index"]
    converted = _converter(graphs, takes)

    def value(graph: GraphBatch) -> object:
        data: Any = converted(graph)
        if takes == "pyg":
            data = data.apply(lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor)
        with torch.no_grad(), _torch_set_for(graph, dtype):
            if in_parts:
                known = {name: data[name] for name in names if name in data}
                found = module(**known)
            else:
                found = module(data)
        shape = tuple(getattr(found, "shape", ()))
        if len(shape) == 2 and shape[0] == graph.n_nodes > 1:  # noqa: PLR2004
            raise TwinWLError(
                f"returned shape {shape}, one row per node; pool over the nodes, such as with "
                "torch_geometric.nn.global_add_pool"
            )
        return found

    return value


@contextmanager
def _torch_set_for(graph: GraphBatch, dtype: object) -> Iterator[None]:
    """Let a module make tensors of a type, and use one thread for a small graph."""
    torch = sys.modules["torch"]
    before = torch.get_default_dtype(), torch.get_num_threads()
    torch.set_default_dtype(dtype)
    if graph.n_nodes <= _MOST_NODES_FOR_ONE_THREAD:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_default_dtype(before[0])
        torch.set_num_threads(before[1])


def _converter(graphs: GraphBatch, takes: str) -> Callable[[GraphBatch], object]:
    """Return what turns a batch of one graph into what a function receives."""
    if takes == "networkx":
        return lambda graph: graph.to_networkx()[0]
    if takes == "batch":
        return lambda graph: graph
    torch = import_extra("torch", "neural")
    data_module = import_extra("torch_geometric.data", "baselines")
    width = len(graphs.node_vocabulary) if graphs.has_node_labels else 1

    def converted(graph: GraphBatch) -> object:
        data = graph.to_pyg()[0]
        if graph.node_features is None:  # one column per label, or of ones
            data.x = torch.nn.functional.one_hot(torch.tensor(graph.node_labels.tolist()), width).float()
        return data_module.Batch.from_data_list([data])

    return converted


def _is_module(value: object) -> bool:
    torch = sys.modules.get("torch")  # where it was never loaded, there are no modules
    return torch is not None and isinstance(value, torch.nn.Module)


def _n_required(function: Callable[..., object]) -> int:
    """Return how many positional arguments a function needs; 1 if that is not known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(each.kind in positional and each.default is inspect.Parameter.empty for each in parameters)


def _imported(path: str) -> Any:  # noqa: ANN401
    module, _, name = path.partition(":")
    try:
        return import_name(module, name)
    except TwinWLError:
        raise
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise TwinWLError(f"cannot import {shown(path)} ({error}); write it as 'module:name'") from error
