"""Expressive power: how many pairs of a suite a readout, kernel, network or function tells apart.

Each is turned into a judge of pairs. A *readout* says whether two graphs differ; a *function* gives one value
per graph; a *fitted* estimator or kernel gives values after it has been fitted to the pair. The values of
relabelled copies show how much of a difference is rounding.
"""

from __future__ import annotations

import copy
import inspect
import sys
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from twinwl.arguments import FLAG, SEED, checked, integer, items, one_of
from twinwl.arrays import Float64
from twinwl.datasets.generators import PairSuite, load_suite
from twinwl.errors import TwinWLError, import_extra, prefix_errors, setting, shown
from twinwl.evaluation.methods import imported
from twinwl.graphs.batch import GraphBatch, renumbered
from twinwl.isomorphism.comparison import compare
from twinwl.isomorphism.readouts import resolve
from twinwl.models.metrics import Rendered
from twinwl.terminal import ProgressBar, aligned

TAKES = ("batch", "networkx", "pyg")
_CLEARLY = 10.0  # a difference counts only from so many times the noise of relabelling on
_ROUNDING = 16.0  # and only above so many units of rounding
_UNCLEAR = 0.2  # from this part of both on, rounding alone may be what hides a difference
_MOST_NODES_FOR_ONE_THREAD = 256  # with more threads torch spends its time on waking them
_MOST_COPIES = 10_000
_WANG = "Wang and Zhang, An Empirical Study of Realized GNN Expressiveness, ICML 2024, table 2"
_FENG = (
    "Feng et al., Extending the Design Space of Graph Neural Networks by Rethinking Folklore "
    "Weisfeiler-Lehman, NeurIPS 2023, abstract (71.8 %)"
)
_ALL = 400


class Published(NamedTuple):
    """Pairs of BREC told apart, by category of the paper; None where the source has only the total."""

    method: str
    basic: int | None
    regular: int | None
    extension: int | None
    cfi: int | None
    total: int
    source: str


PUBLISHED = (
    Published("3-WL", 60, 50, 100, 60, 270, _WANG),
    Published("SPD-WL", 16, 14, 41, 12, 83, _WANG),
    Published("NGNN", 59, 48, 59, 0, 166, _WANG),
    Published("SUN", 60, 50, 100, 13, 223, _WANG),
    Published("KP-GNN", 60, 106, 98, 11, 275, _WANG),
    Published("I²-GNN", 60, 100, 100, 21, 281, _WANG),
    Published("PPGN", 60, 50, 100, 23, 233, _WANG),
    Published("δ-k-LGNN", 60, 50, 100, 6, 216, _WANG),
    Published("GSN", 60, 99, 95, 0, 254, _WANG),
    Published("Graphormer", 16, 12, 41, 10, 79, _WANG),
    Published("N²-GNN", None, None, None, None, 287, _FENG),
)


def published_for(power: Power) -> tuple[Published, ...]:
    """Return the published figures, if a result is about all pairs of BREC.

    >>> published_for(Power("csl", {"41 nodes": 45}, 16, (), []))
    ()
    """
    return PUBLISHED if power.suite == "brec" and power.n_pairs == _ALL else ()


class PairScore(NamedTuple):
    """One pair, scored by one method.

    Attributes
    ----------
    scored : str
        Name of what was scored.
    category, pair, title
        The pair: its category, its number in the suite, what it is called.
    outcome : str
        ``"separated"``; ``"same"``: no difference; ``"unclear"``: a difference that may be rounding;
        ``"unsound"``: the value of a graph changes when its nodes are relabelled; or ``"failed"``.
    difference : float or None
        Distance of the two values (0 or 1 for values that are not vectors); for a readout, by how many nodes
        the counts of the witness differ.
    noise : float or None
        Largest distance between the value of a graph and that of a relabelled copy.
    round : int or None
        For a readout, the first round with a difference.
    seconds : float
        Processor time of the two graphs, without the copies.
    error : str
        Why it failed, if it did.
    """

    scored: str
    category: str
    pair: int
    title: str
    outcome: str
    difference: float | None
    noise: float | None
    round: int | None
    seconds: float
    error: str


class CategoryScore(NamedTuple):
    """The pairs of a category, counted by outcome, and the processor time in seconds."""

    pairs: int
    separated: int
    unsound: int
    failed: int
    seconds: float
    unclear: int


@dataclass(frozen=True, eq=False)
class Power(Rendered):
    """What `power` found.

    Attributes
    ----------
    suite : str
    categories : dict of str to int
        Number of pairs of each category.
    copies : int
        Relabelled copies of each graph.
    names : tuple of str
        What was scored.
    scores : list of PairScore
        One per pair and method.
    """

    _records = "scores"
    _own_page = "power_page"
    suite: str
    categories: dict[str, int]
    copies: int
    names: tuple[str, ...]
    scores: list[PairScore]

    @property
    def n_pairs(self) -> int:
        """Number of pairs of the suite."""
        return sum(self.categories.values())

    @property
    def separated(self) -> dict[str, int]:
        """How many pairs each method told apart."""
        return {name: self.score(name).separated for name in self.names}

    def score(self, name: str, category: str | None = None) -> CategoryScore:
        """Count the outcomes of a method, of all pairs or those of one category."""
        name = checked("name", name, one_of(*self.names))
        category = checked("category", category, one_of(*self.categories), None)
        chosen = [each for each in self.scores if each.scored == name and category in {None, each.category}]
        n_of = Counter(each.outcome for each in chosen)
        seconds = sum(each.seconds for each in chosen)
        return CategoryScore(
            len(chosen), n_of["separated"], n_of["unsound"], n_of["failed"], seconds, n_of["unclear"]
        )

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values: the counts of each method, its pairs, and published figures."""
        methods = {
            name: {
                **self.score(name)._asdict(),
                "categories": {part: self.score(name, part)._asdict() for part in self.categories},
            }
            for name in self.names
        }
        return {
            "suite": self.suite,
            "pairs": self.n_pairs,
            "categories": self.categories,
            "copies": self.copies,
            "methods": methods,
            "scores": self.to_records(),
            "published": [row._asdict() for row in published_for(self)],
        }

    def _bars(self) -> dict[str, float]:
        return dict(self.separated)

    @property
    def _title(self) -> str:
        return f"{self.suite}: pairs told apart, of {self.n_pairs}"

    def table(self) -> list[list[str]]:
        """Return the counts as rows of text: a header, one row per category, one column per method."""
        every = [self.score(name) for name in self.names]
        rows = [
            [part, f"{size:,}", *(f"{self.score(name, part).separated:,}" for name in self.names)]
            for part, size in self.categories.items()
        ]
        if len(rows) > 1:
            rows.append(["all", f"{self.n_pairs:,}", *(f"{score.separated:,}" for score in every)])
        rows += [
            [outcome, "", *(f"{getattr(score, outcome):,}" for score in every)]
            for outcome in ("unclear", "unsound", "failed")
        ]
        rows.append(["processor seconds", "", *(f"{score.seconds:.2f}" for score in every)])
        return [[f"{self.suite}: told apart", "of", *self.names], *rows]

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}: {number:,}" for name, number in self.separated.items())
        return f"Power({self.suite!r}, {self.n_pairs:,} pairs; {counts})"

    def __str__(self) -> str:
        return aligned(self.table())


def power(
    f: object,
    suite: object = "brec",
    *,
    categories: Sequence[str] | None = None,
    copies: int = 16,
    takes: str | None = None,
    on_error: str = "raise",
    random_state: int = 0,
    data_dir: str | Path | None = None,
    edge_labels: bool = True,
) -> Power:
    """Count the pairs of a suite of hard pairs that something tells apart.

    Parameters
    ----------
    f
        What to score, as it is, without any training:

        - a readout of the Twin-WL test (a name, or a list of names and functions of rooted subgraphs, as in
          `twinwl.compare`);
        - a function of one graph that returns a number, a vector (array, tensor, sparse matrix) or something
          hashable. Methods of fitted models are such functions: ``model.transform``, ``model.predict_proba``;
        - a kernel: a function of two graphs, or `TwinKernel`;
        - a transformer such as `STwinVectorizer`: a clone is fitted to the two graphs of each pair;
        - a torch module in evaluation mode, called with a PyG ``Batch`` of one graph (or with its ``x``,
          ``edge_index`` and ``batch``, if ``forward`` names these). ``x`` has one column per label, or a
          column of ones. A copy in double precision is called where that works, else the module itself;
        - an import path ``"module:name"`` of one of these;
        - a dictionary from names to any of these.
    suite
        ``"brec"``, ``"atlas"``, ``"regular"``, ``"csl"``, ``"strongly-regular"``, ``"cfi"``, ``"exp"`` or
        ``"twins"``; a zip or folder with BREC's files; a file of graphs of which 2p and 2p + 1 are a pair; or
        a list of pairs of graphs.
    categories
        Only these categories of the suite.
    copies
        Relabelled copies of each graph, which must have its value.
    takes
        What functions and modules receive: ``"batch"`` (a `GraphBatch` of one graph, the default of
        functions), ``"networkx"`` or ``"pyg"`` (the default of modules). The others do not need it.
    on_error
        Whether a function that raises, or returns something that cannot be compared, is an error
        (``"raise"``) or counts as failed for that pair (``"count"``).
    random_state
        Seed of the node orders of the copies.
    data_dir
        Folder with BREC and EXP; None uses ``TWINWL_DATA``.
    edge_labels
        Whether the graphs keep their edge labels, if the suite has any.

    Returns
    -------
    Power

    Notes
    -----
    A pair is *separated* only if the distance of its two values exceeds ten times the largest distance
    between a graph and its relabelled copies, and the unit of rounding of its type sixteen times. If a copy
    differs by more than rounding explains (the square root of that unit, relative to the length of the
    vector), the pair is *unsound* and does not count, whatever the difference. A difference above a fifth of
    what is needed is *unclear*: more precision may turn it into a clear one. Values that are not vectors are
    compared for equality.

    Examples
    --------
    >>> import networkx as nx
    >>> hexagon, triangles = nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    >>> found = power({"edges": nx.number_of_edges, "triangles": nx.triangles}, [(hexagon, triangles)],
    ...               takes="networkx", on_error="count")
    >>> found.separated, found.score("triangles").failed
    ({'edges': 0, 'triangles': 0}, 1)
    >>> power("size", "cfi", categories=["cycles"], copies=2)
    Power('cfi', 6 pairs; size: 6)
    """
    copies = checked("copies", copies, integer(0, _MOST_COPIES))
    takes = checked("takes", takes, one_of(*TAKES), None)
    on_error = checked("on_error", on_error, one_of("raise", "count"))
    seed = checked("random_state", random_state, SEED)
    pairs = load_suite(suite, data_dir)
    if not checked("edge_labels", edge_labels, FLAG):
        pairs = replace(pairs, graphs=pairs.graphs.without_edge_labels())
    if categories is not None:
        listed = [categories] if isinstance(categories, str) else categories
        chosen = items("categories", listed, "a list of names")
        if not chosen:
            raise TwinWLError("categories: got no name, expected at least one")
        pairs = pairs.only([checked("categories", name, one_of(*pairs.sizes)) for name in chosen])
    tested = _by_name(f)
    scores: list[PairScore] = []
    with ProgressBar(f"pairs of {pairs.name}", len(tested) * len(pairs)) as bar:
        for name, scored in tested.items():
            with prefix_errors(name):
                warm_up, judge = (
                    _judge_of(scored, Copies(pairs.graphs, n, seed), takes) for n in (0, copies)
                )
            _score(warm_up, pairs, 0, name, "count")  # compiles kernels and loads modules, untimed
            for number in range(len(pairs)):
                bar.note(name)
                scores.append(_score(judge, pairs, number, name, on_error))
                bar.advance()
    return Power(pairs.name, pairs.sizes, copies, tuple(tested), scores)


def _score(judge: Judge, suite: PairSuite, number: int, name: str, on_error: str) -> PairScore:
    """Judge one pair; whatever a user's function raises is an error that names the pair, or counts."""
    g, h = suite.pairs[number].tolist()
    place = (name, suite.categories[number], number, suite.titles[number])
    try:
        return PairScore._make((*place, *judge(g, h), ""))
    except Exception as error:
        what = str(error) if isinstance(error, TwinWLError) else f"raised {type(error).__name__}: {error}"
        if on_error == "count":
            return PairScore(*place, "failed", None, None, None, 0.0, what)
        title = "" if suite.titles[number] == f"pair {number}" else f" ({suite.titles[number]})"
        raise TwinWLError(
            f"{suite.name}, pair {number}{title}: {name} {what}; "
            f"{setting(on_error='count')} counts it as failed"
        ) from error


def _by_name(f: object) -> dict[str, object]:
    """Return what is to be scored by name."""
    if not isinstance(f, dict):
        return {" + ".join(map(_name_of, f)) if isinstance(f, list | tuple) else _name_of(f): f}
    if not f:
        raise TwinWLError("f: got an empty dictionary, expected something to score")
    return {str(name): scored for name, scored in f.items()}


def _name_of(f: object) -> str:
    return f if isinstance(f, str) else getattr(f, "__name__", type(f).__name__)


class Verdict(NamedTuple):
    """What is known about a pair; see `PairScore`."""

    outcome: str
    difference: float
    noise: float
    round: int | None
    seconds: float


Judge = Callable[[int, int], Verdict]  # of two graphs of the suite, given by their indices
# From a pair to a function that gives the values of each graph of a batch.
_Fitted = Callable[[GraphBatch], Callable[[GraphBatch], Any]]


class Copies(NamedTuple):
    """The graphs of a suite, and how many relabelled copies of each are made, with which seed."""

    graphs: GraphBatch
    number: int
    seed: int

    def of(self, graph: int) -> GraphBatch:
        """Return the copies of one graph, which are always the same."""
        repeated = self.graphs[np.full(self.number, graph, np.int64)]
        return renumbered(repeated, np.random.default_rng([self.seed, graph]))


class Value(NamedTuple):
    """A value of a graph: a vector with its unit of rounding, or something to compare for equality."""

    vector: Float64 | None
    rounding: float
    other: Hashable = None

    def distance(self, other: Value) -> float:
        """Return the Euclidean distance of two vectors, or 0 and 1 for equal and different values."""
        if self.vector is None or other.vector is None:
            return float(self.vector is not other.vector or self.other != other.other)
        if self.vector.shape != other.vector.shape:
            raise TwinWLError(
                f"gave vectors of different lengths, {self.vector.size} and {other.vector.size}; give all "
                "graphs vectors of one length, or return a tuple of integers or strings"
            )
        return float(np.linalg.norm(self.vector - other.vector))

    def noise(self, copies: Iterator[Any]) -> float:
        """Return the largest distance of a relabelled copy's value."""
        return max((self.distance(as_value(value)) for value in copies), default=0.0)


def as_value(value: Any) -> Value:  # noqa: ANN401
    """Turn what a function returned into something that can be compared.

    Numbers, arrays, tensors, sparse matrices and lists of numbers are vectors. Other values, tuples of
    integers among them, must be hashable and are compared for equality.

    >>> as_value([1.0, 2.5]).vector, as_value((3, "a")).other
    (array([1. , 2.5]), (3, 'a'))
    """
    if value is None:
        raise TwinWLError("returned None; return a number, a vector or a hashable value")
    if hasattr(value, "detach"):  # a tensor; NumPy lacks bfloat16 and others
        value = value.detach().cpu()
        value = (value.float() if "16" in str(value.dtype) else value).numpy()
    elif hasattr(value, "toarray"):
        value = value.toarray()
    try:
        array = np.asarray(value)
    except ValueError:  # a ragged list
        array = np.array(None)
    kind = array.dtype.kind
    if kind not in "biufc" or (isinstance(value, tuple) and kind in "biu"):
        try:
            hash(value)
        except TypeError as error:
            raise TwinWLError(
                f"returned {shown(value)}, which is not hashable; return a number, a vector or a tuple"
            ) from error
        return Value(None, 0.0, value)
    if not np.isfinite(array).all():
        raise TwinWLError(f"returned {shown(value)}, which is not finite; return finite numbers")
    rounding = float(np.finfo(array.dtype).eps) if kind in "fc" else 0.0
    flat = np.stack([array.real, array.imag]) if kind == "c" else array
    return Value(flat.ravel().astype(np.float64), rounding)


def _verdict(values: tuple[Value, Value], noise: float, seconds: float) -> Verdict:
    """Judge a pair by the values of its graphs and by how far those of relabelled copies are from them.

    Up to the square root of the unit of rounding, relative to the length of the vectors (or to 1, if they are
    shorter), a change under relabelling is rounding; beyond, the values are unsound. Two graphs are separated
    if their distance is above ten times that change and above sixteen units of rounding; above a fifth of
    that it is unclear.
    """
    size = max(1.0 if value.vector is None else float(np.linalg.norm(value.vector)) for value in values)
    rounding = max(value.rounding for value in values)
    difference = values[0].distance(values[1])
    clear = max(_CLEARLY * noise, _ROUNDING * rounding * size)
    outcome = "separated" if difference > clear else "unclear" if difference > _UNCLEAR * clear else "same"
    if noise > rounding**0.5 * max(1.0, size):
        outcome = "unsound"
    return Verdict(outcome, difference, noise, None, seconds)


def _judge_of(scored: Any, copies: Copies, takes: str | None) -> Judge:  # noqa: ANN401
    """Turn what a user wants to score (see `power`) into a judge of pairs."""
    if isinstance(scored, str) and ":" in scored:
        scored = imported(scored, "module:name")
    if isinstance(scored, str | list | tuple):
        return _by_readout(scored, copies)
    if isinstance(scored, type):
        raise TwinWLError(f"got the class {scored.__name__}; give an object of it")
    torch = sys.modules.get("torch")  # where it was never loaded, there are no modules
    if torch is not None and isinstance(scored, torch.nn.Module):
        return _by_module(scored, copies, takes or "pyg")
    if hasattr(scored, "fit"):
        return _by_fit(_fitting(scored), copies)
    if not callable(scored):
        raise TwinWLError(
            f"got {shown(scored)}, expected a readout, a function of a graph, a kernel, a transformer or a "
            "torch module"
        )
    converted = _converter(copies.graphs, takes or "batch")
    if _n_required(scored) == 2:  # noqa: PLR2004  (a kernel: a function of two graphs)
        return _by_fit(_kernel_function(scored, converted), copies)
    return _by_function(lambda graph: scored(converted(graph)), copies)


def _by_readout(readout: Any, copies: Copies) -> Judge:  # noqa: ANN401  (resolve checks it)
    """Judge by the Twin-WL test with a readout, run until no later round can differ."""
    readouts = resolve(readout)
    # Those of the table are equal for isomorphic rooted subgraphs; a function of a user's need not be.
    are_known = all(part.is_known for part in readouts)

    @cache
    def is_sound(graph: int) -> bool:
        original = copies.graphs[graph]
        return are_known or not any(compare(original, one, readout).distinguished for one in copies.of(graph))

    def judge(g: int, h: int) -> Verdict:
        first, second = copies.graphs[g], copies.graphs[h]
        began = time.process_time()
        result = compare(first, second, readout)
        counts = result.witness.counts if result.witness else (0, 0)  # it may run the rounds only now
        seconds = time.process_time() - began
        sound = is_sound(g) and is_sound(h)
        outcome = "unsound" if not sound else "separated" if result.distinguished else "same"
        return Verdict(
            outcome, float(abs(counts[0] - counts[1])), float(not sound), result.iteration, seconds
        )

    return judge


def _by_function(function: Callable[[GraphBatch], object], copies: Copies) -> Judge:
    """Judge by the values of a function of one graph."""

    @cache
    def of(graph: int) -> tuple[Value, float, float]:
        began = time.process_time()
        value = as_value(function(copies.graphs[graph]))
        seconds = time.process_time() - began
        return value, value.noise(function(one) for one in copies.of(graph)), seconds

    def judge(g: int, h: int) -> Verdict:
        (first, noise, seconds), (second, other_noise, more) = of(g), of(h)
        return _verdict((first, second), max(noise, other_noise), seconds + more)

    return judge


def _by_module(module: Any, copies: Copies, takes: str) -> Judge:  # noqa: ANN401
    """Judge by a torch module: a copy in double precision where that works, else the module itself.

    In single precision rounding hides small differences, and every layer adds to it.
    """
    try:
        double = _module_function(copy.deepcopy(module).double(), copies.graphs, takes, "float64")
        double(copies.graphs[0])
    except Exception:  # noqa: BLE001  (tensors that cannot be copied, or of a fixed type; or the module is wrong)
        return _by_function(_module_function(module, copies.graphs, takes), copies)
    return _by_function(double, copies)


def _by_fit(fit: _Fitted, copies: Copies) -> Judge:
    """Judge by an estimator that is fitted to each pair, and transforms its two graphs and their copies.

    So is a kernel: a fitted kernel gives the similarities of a graph with the two graphs of the pair.
    """

    def judge(g: int, h: int) -> Verdict:
        both = copies.graphs[np.array([g, h])]
        began = time.process_time()
        transform = fit(both)
        first, second = (as_value(row) for row in transform(both))
        seconds = time.process_time() - began
        noise = max(
            value.noise(iter(transform(copies.of(graph)))) for graph, value in ((g, first), (h, second))
        )
        return _verdict((first, second), noise, seconds)

    return judge


def _fitting(estimator: Any) -> _Fitted:  # noqa: ANN401
    from sklearn.base import clone  # noqa: PLC0415  (slow to load)

    if not hasattr(estimator, "transform"):
        raise TwinWLError(
            f"got {shown(estimator)}, which cannot transform graphs; give one of its methods, such as "
            "model.predict_proba of a fitted model"
        )
    return lambda pair: clone(estimator).fit(pair).transform


def _kernel_function(
    kernel: Callable[[Any, Any], object], converted: Callable[[GraphBatch], object]
) -> _Fitted:
    def fitted(pair: GraphBatch) -> Callable[[GraphBatch], Any]:
        landmarks = [converted(graph) for graph in pair]
        return lambda graphs: [[kernel(converted(graph), each) for each in landmarks] for graph in graphs]

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
            result = (
                module(**{name: data[name] for name in names if name in data}) if in_parts else module(data)
            )
        shape = tuple(getattr(result, "shape", ()))
        if len(shape) == 2 and shape[0] == graph.n_nodes > 1:  # noqa: PLR2004
            raise TwinWLError(
                f"returned shape {shape}, one row per node; pool over the nodes, such as with "
                "torch_geometric.nn.global_add_pool"
            )
        return result

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


def _n_required(function: Callable[..., object]) -> int:
    """Return how many positional arguments a function needs; 1 if that is not known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(each.kind in positional and each.default is inspect.Parameter.empty for each in parameters)
