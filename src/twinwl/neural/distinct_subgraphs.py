"""Distinct rooted subgraphs: a readout of any power is computed once for each of them, then counted.

Rooted subgraphs are grouped by content: root, labels, features and edges. Equal ones are isomorphic, so every
readout that does not depend on the order of nodes has the same value for them.

Rooted subgraphs as tensors, and the call of a readout on them, whoever wrote it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import numpy as np
import torch

from twinwl.arrays import Float64, Int32, Int64
from twinwl.errors import TwinWLError, import_extra, shown
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.labels import Label, recode
from twinwl.isomorphism.rooted import Groups, Neighbourhoods
from twinwl.neural.network import NTwinInput
from twinwl.neural.quotient import PoolBuilder, RootMark, n_marks
from twinwl.neural.sparse import SparseExamples
from twinwl.refinement.identities import rooted_sizes
from twinwl.refinement.rooted_subgraphs import RootedSubgraphs, rooted_subgraphs

if TYPE_CHECKING:
    from twinwl.neural.slicing import QuotientSlice
    from twinwl.neural.uncompressed import GraphData


class SubgraphBatch(NamedTuple):
    """The disjoint union of rooted subgraphs: what a readout may ask for, by the names of its parameters.

    Attributes
    ----------
    x : tensor, shape (n_nodes, n_features)
        One-hot label, standardised features, one-hot mark of each node.
    edge_index : tensor of int64, shape (2, n_messages)
        Sender and receiver of each message; an edge passes one in each direction, an arc too.
    batch : tensor of int64, shape (n_nodes,)
        Subgraph of each node, ascending.
    codes : tensor of int64, shape (n_messages,), or None
        Kind of each message, if there are several: the code of the edge's label; in directed graphs twice
        that, plus 1 if the message runs along the arc. -1 for a label that no training graph has.
    root : tensor of int64, shape (n_subgraphs,)
        The root of each subgraph, as a row of ``x``.
    distance : tensor of int64, shape (n_nodes,)
        Steps from the root.
    size : int
        Number of subgraphs.
    """

    x: torch.Tensor
    edge_index: torch.Tensor
    batch: torch.Tensor
    codes: torch.Tensor | None
    root: torch.Tensor
    distance: torch.Tensor
    size: int


def subgraph_tensors(
    cut: RootedSubgraphs,
    x: torch.Tensor,
    edge_attr: torch.Tensor | None,
    marks: tuple[str, int],
    *,
    directed: bool,
) -> SubgraphBatch:
    """Return rooted subgraphs as tensors, on the device of ``x``.

    Parameters
    ----------
    cut
        The subgraphs.
    x : tensor, shape (n_nodes, n_features)
        Features of each node of the subgraphs, without the mark.
    edge_attr : tensor of int64, shape (n_arcs,), or None
        Code of the label of each arc of the subgraphs.
    marks
        The ``root_mark`` and the number of different marks.
    directed
        Whether edges are arcs.
    """
    distance = torch.from_numpy(cut.distance.astype(np.int64)).to(x.device)
    root_mark, n_marks = marks
    if n_marks > 1:
        mark = distance.clamp(max=1) if root_mark == "root" else distance
        x = torch.cat([x, torch.nn.functional.one_hot(mark, n_marks).to(x.dtype)], dim=1)
    source = np.repeat(np.arange(len(cut.node)), np.diff(cut.indptr))
    arcs = torch.from_numpy(np.stack([source, cut.indices.astype(np.int64)])).to(x.device)
    edge_index, codes = messages(arcs, edge_attr, directed=directed)
    subgraph = np.repeat(np.arange(len(cut.root)), np.diff(cut.subgraph_ptr))
    return SubgraphBatch(
        x,
        edge_index,
        torch.from_numpy(subgraph).to(x.device),
        codes,
        torch.from_numpy(cut.root.astype(np.int64)).to(x.device),
        distance,
        len(cut.root),
    )


def messages(
    edges: torch.Tensor, codes: torch.Tensor | None, *, directed: bool
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return sender and receiver of each message; in directed graphs, both ends of an arc send one."""
    if not directed:
        return edges, codes
    labels = edges.new_zeros(edges.shape[1]) if codes is None else codes
    from_tail = torch.where(labels < 0, -1, 2 * labels + 1)
    from_head = torch.where(labels < 0, -1, 2 * labels)
    return torch.cat([edges, edges.flip(0)], dim=1), torch.cat([from_tail, from_head])


def read_out(readout: torch.nn.Module, subgraphs: SubgraphBatch) -> torch.Tensor:
    """Return the readout of each subgraph, shape (n_subgraphs, width).

    The readout's ``forward`` gets those of the fields of `SubgraphBatch` that its parameters name, and for a
    parameter ``data`` all of them as a PyG ``Batch``, with ``codes`` as ``edge_attr``.

    Raises
    ------
    TwinWLError
        If it fails, changes its input, or does not return one row of finite numbers per subgraph.

    Examples
    --------
    >>> class Size(torch.nn.Module):
    ...     def forward(self, batch, size):
    ...         return torch.bincount(batch, minlength=size)[:, None].float()
    >>> zeros = torch.zeros(3, dtype=int)
    >>> edge_index = torch.tensor([[0, 1], [1, 0]])
    >>> pair_and_node = SubgraphBatch(
    ...     torch.ones(3, 1), edge_index, torch.tensor([0, 0, 1]), None, torch.tensor([0, 2]), zeros, 2
    ... )
    >>> read_out(Size(), pair_and_node).tolist()
    [[2.0], [1.0]]
    """
    name = type(readout).__name__
    given: dict[str, Any] = subgraphs._asdict()
    arguments = named_arguments(f"the readout {name}", readout.forward, given, {"data": _as_pyg})
    rows = guarded_rows(
        name, lambda: readout(**arguments), given, subgraphs.size, "rooted subgraph", subgraphs.x.device
    )
    return rows.to(subgraphs.x.dtype)


def guarded_rows(
    name: str,
    call: Callable[[], object],
    inputs: Mapping[str, object],
    n_rows: int,
    unit: str,
    device: torch.device,
) -> torch.Tensor:
    """Call a network, which may be the user's, and return what it returned: one row per ``unit``.

    Raises
    ------
    TwinWLError
        If it fails, changes a tensor of ``inputs`` or how torch works, or returns anything but rows of finite
        numbers. The rows go to kernels, which would read memory that is not theirs if there were fewer.
    """
    tensors = {field: value for field, value in inputs.items() if isinstance(value, torch.Tensor)}
    versions = [value._version for value in tensors.values()]  # noqa: SLF001  (counts changes in place)
    modes = torch.is_grad_enabled(), torch.get_default_dtype(), torch.initial_seed()
    try:
        rows = call()
    except TwinWLError:
        raise
    except Exception as error:  # whatever a network raises
        raise TwinWLError(
            f"the readout {name} failed on {n_rows} {unit}s ({type(error).__name__}: {error})"
        ) from error
    finally:
        changed = modes != (torch.is_grad_enabled(), torch.get_default_dtype(), torch.initial_seed())
        torch.set_grad_enabled(modes[0])
        torch.set_default_dtype(modes[1])
    if changed:
        raise TwinWLError(
            f"the readout {name} changes torch's seed, default dtype or whether gradients are recorded; let "
            "it use a torch.Generator, a dtype of its own, or a with block"
        )
    for (field, value), version in zip(tensors.items(), versions, strict=True):
        if value._version != version:  # noqa: SLF001
            raise TwinWLError(f"the readout {name} changes its input {field} in place; let it work on a copy")
    _check_rows(rows, name, n_rows, unit, device)
    return cast("torch.Tensor", rows)


def _check_rows(rows: object, name: str, n_rows: int, unit: str, device: torch.device) -> None:
    expected = f"expected a tensor of floats of shape ({n_rows}, width), one row per {unit}"
    if not isinstance(rows, torch.Tensor):
        raise TwinWLError(f"the readout {name} returned {shown(rows)}, {expected}")
    if rows.ndim != 2 or len(rows) != n_rows or not rows.shape[1] or not rows.is_floating_point():  # noqa: PLR2004
        kind = str(rows.dtype).removeprefix("torch.")
        raise TwinWLError(
            f"the readout {name} returned a tensor of {kind} of shape {tuple(rows.shape)}, {expected}"
        )
    if rows.layout != torch.strided or rows.device.type != device.type:
        raise TwinWLError(
            f"the readout {name} returned a tensor of layout {rows.layout} on {rows.device}, expected a "
            f"dense one on {device}"
        )
    if not rows.is_meta and not bool(rows.isfinite().all()):
        row = int((~rows.detach().isfinite()).any(dim=1).nonzero()[0])
        raise TwinWLError(
            f"the readout {name} returned NaN or infinity, first for {unit} {row} of "
            f"{n_rows}; lower learning_rate, or look for divisions by zero and huge values"
        )


def named_arguments(
    what: str,
    function: Callable[..., object],
    known: Mapping[str, Any],
    made: Mapping[str, Callable[[Mapping[str, Any]], Any]] | None = None,
) -> dict[str, Any]:
    """Return what a user's function asks for by the names of its parameters.

    Parameters
    ----------
    what
        What the function is, for errors.
    function
        The function.
    known
        Values by name.
    made
        Functions that make further values, which are only made if they are asked for.

    >>> named_arguments("f", lambda hidden, depth=2: None, {"hidden": 8, "layers": 3})
    {'hidden': 8}
    """
    made = made or {}
    try:
        parameters = inspect.signature(function).parameters.values()
    except Exception as error:  # a foreign object may raise anything
        raise TwinWLError(f"{what}: its parameters cannot be found out ({error})") from error
    found: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.kind in {parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL}:
            continue  # of every module without an __init__ of its own
        if parameter.kind is not parameter.POSITIONAL_ONLY and parameter.name in known:
            found[parameter.name] = known[parameter.name]
        elif parameter.kind is not parameter.POSITIONAL_ONLY and parameter.name in made:
            found[parameter.name] = made[parameter.name](known)
        elif parameter.default is parameter.empty:
            raise TwinWLError(
                f"{what} asks for {parameter.name!r}; its parameters can be {', '.join([*known, *made])}"
            )
    return found


def _as_pyg(known: Mapping[str, Any]) -> Any:  # noqa: ANN401  (a class of PyG)
    data = import_extra("torch_geometric.data", "baselines")
    counts = torch.bincount(known["batch"], minlength=known["size"])
    graphs = data.Batch(
        x=known["x"],
        edge_index=known["edge_index"],
        edge_attr=known["codes"],
        batch=known["batch"],
        ptr=torch.cat([counts.new_zeros(1), counts.cumsum(0)]),
        root=known["root"],
        distance=known["distance"],
    )
    graphs._num_graphs = known["size"]  # noqa: SLF001  (as Batch.from_data_list does)
    return graphs


# Nodes and arcs that a readout gets at once: some tens of megabytes of states.
_BLOCK_ENTRIES = 1 << 17
# Graphs to evaluate together, if their blocks have no more than so many nodes and arcs: 100 megabytes.
_ROWS_AT_ONCE, _TAKEN_ENTRIES = 1024, 1 << 22


class DistinctPart(NamedTuple):
    """The distinct rooted subgraphs of one radius in a mini-batch, and how often each graph has them.

    ``pool_ptr``, ``pooled`` and ``counts`` are a matrix in CSR form, one row per graph.
    """

    blocks: tuple[SubgraphBatch, ...]
    pool_ptr: Int64
    pooled: Int32
    counts: Int32


class DistinctSlice(NamedTuple):
    """A mini-batch of distinct rooted subgraphs, one part per radius; and the whole graphs, if needed."""

    parts: tuple[DistinctPart, ...]
    whole: QuotientSlice | GraphData | None = None


class DistinctSubgraphs:
    """The rooted subgraphs of a batch, grouped by content.

    Parameters
    ----------
    batch
        The graphs, with the edge labels and features that count.
    radius
        Radius of the subgraphs.
    edges
        Whether edges count; if not, subgraphs are equal if the labels and features of their nodes are, and
        their distances from the root.
    pairs
        Whether the readout has a state for each pair of nodes.

    Attributes
    ----------
    representative : array of int64, shape (n_distinct,)
        A root of each.
    entries : array of int64, shape (n_distinct,)
        Number of states of each: nodes and arcs, or pairs of nodes.
    pool : Pool
        How often each graph has each of them.

    Examples
    --------
    >>> path = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3)]])
    >>> distinct = DistinctSubgraphs(path, 1)
    >>> distinct.representative.tolist(), distinct.pool.counts.tolist()
    ([0, 1], [2, 2])
    """

    def __init__(self, batch: GraphBatch, radius: int, *, edges: bool = True, pairs: bool = False) -> None:
        self.radius = radius
        plain = _with_contents_as_labels(batch)
        sizes = rooted_sizes(plain, radius)[radius]
        group, arcs = (_grouped if edges else _grouped_by_nodes)(plain, radius, sizes)
        _, self.representative = np.unique(group, return_index=True)
        size = sizes[self.representative].astype(np.int64)
        self.entries = size * size if pairs else size + arcs[self.representative]
        builder = PoolBuilder(batch.graph_ptr)
        if batch.n_nodes:
            builder.add(0, np.arange(batch.n_nodes + 1, dtype=np.int64), group)
        self.pool = builder.finished()

    @property
    def n_graphs(self) -> int:
        """Number of graphs."""
        return len(self.pool.indptr) - 1

    def entries_of_graphs(self) -> Int64:
        """Return the number of states of the distinct subgraphs of each graph."""
        before = np.concatenate([[0], np.cumsum(self.entries[self.pool.colours])])
        entries: Int64 = before[self.pool.indptr[1:]] - before[self.pool.indptr[:-1]]
        return entries

    def take(self, rows: Int64) -> tuple[list[Int64], tuple[Int64, Int32, Int32]]:
        """Return roots of the distinct subgraphs of some graphs, in blocks, and their pooling matrix."""
        indptr, groups, counts = self.pool
        lengths = indptr[rows + 1] - indptr[rows]
        pool_ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        entry = np.arange(pool_ptr[-1]) + np.repeat(indptr[rows] - pool_ptr[:-1], lengths)
        needed, pooled = np.unique(groups[entry], return_inverse=True)
        block = np.cumsum(self.entries[needed]) // _BLOCK_ENTRIES
        cuts = [0, *(np.flatnonzero(np.diff(block)) + 1).tolist(), len(needed)]
        roots = [self.representative[needed[low:high]] for low, high in pairwise(cuts) if low < high]
        return roots, (pool_ptr, pooled.astype(np.int32), counts[entry])


class DistinctExamples:
    """Graphs as examples of an NTwin-GNN with any readout.

    Parameters
    ----------
    batch
        The graphs, with the edge labels and features that the network uses.
    labels, edge_labels
        The labels of the network, in its order.
    scaling
        Centre and scale of each feature.
    hops, root_mark
        Radius of each layer, and the mark of the nodes.
    edges, pairs
        Whether the readout sees edges, and whether it has a state for each pair of nodes.
    whole
        Examples of the whole graphs, if the subtree encoder is a GIN.
    histograms
        Rows of the subtree encoder, where histograms are.
    """

    def __init__(
        self,
        batch: GraphBatch,
        labels: tuple[Label, ...],
        edge_labels: tuple[Label, ...] | None,
        scaling: tuple[Float64, Float64],
        hops: tuple[int, ...],
        root_mark: RootMark,
        *,
        edges: bool = True,
        pairs: bool = False,
        whole: _Whole | None = None,
        histograms: SparseExamples | None = None,
    ) -> None:
        self.batch = batch if edge_labels is not None else batch.without_edge_labels()
        self.marks = (root_mark, n_marks(root_mark, hops))
        self.whole = whole
        self.histograms = histograms
        self.distinct = [
            DistinctSubgraphs(self.batch, radius, edges=edges, pairs=pairs) for radius in dict.fromkeys(hops)
        ]
        largest = sum(distinct.entries_of_graphs().max(initial=1) for distinct in self.distinct)
        self.rows_at_once = int(min(_ROWS_AT_ONCE, max(1, _TAKEN_ENTRIES // largest)))
        self._n_labels = len(labels)
        self._place = recode(batch.node_labels, batch.node_vocabulary, labels) if labels else None
        self._centre, self._scale = scaling
        self._code: Int64 | None = None
        if edge_labels is not None and batch.edge_labels is not None:
            self._code = recode(batch.edge_labels, batch.edge_vocabulary, edge_labels).astype(np.int64)

    def __len__(self) -> int:
        return len(self.batch)

    def take(self, rows: Int64) -> NTwinInput:
        """Return the network's input for these graphs."""
        rows = np.asarray(rows, np.int64)
        parts = []
        for distinct in self.distinct:
            roots, pooling = distinct.take(rows)
            parts.append(DistinctPart(tuple(self._blocks(roots, distinct.radius)), *pooling))
        whole = None if self.whole is None else self.whole.take(rows)
        histograms = None if self.histograms is None else self.histograms.take(rows)
        return NTwinInput(DistinctSlice(tuple(parts), whole), histograms)

    def _blocks(self, roots: list[Int64], radius: int) -> Iterator[SubgraphBatch]:
        for some in roots:
            cut = rooted_subgraphs(self.batch, radius, some)
            codes = None if self._code is None else torch.from_numpy(self._code[cut.arc])
            x = torch.from_numpy(self._inputs(cut.node))
            yield subgraph_tensors(cut, x, codes, self.marks, directed=self.batch.directed)

    def _inputs(self, nodes: Int32) -> np.ndarray:
        """Return one-hot labels and scaled features of some nodes."""
        inputs = np.zeros((len(nodes), self._n_labels + len(self._centre)), np.float32)
        if self._place is not None:
            place = self._place[nodes]
            known = np.flatnonzero(place >= 0)
            inputs[known, place[known]] = 1
        if self.batch.node_features is not None:
            inputs[:, self._n_labels :] = (self.batch.node_features[nodes] - self._centre) / self._scale
        return inputs


class _Whole(Protocol):
    """Whole graphs as input of a GIN."""

    def take(self, rows: Int64) -> QuotientSlice | GraphData: ...


def _with_contents_as_labels(batch: GraphBatch) -> GraphBatch:
    """Return the graphs with a label for each different pair of label and row of features."""
    codes = batch.node_labels
    if batch.node_features is not None and batch.n_nodes:
        rows = np.ascontiguousarray(batch.node_features) + 0.0  # -0.0 is 0.0
        table = np.concatenate([rows.view(np.uint64), codes[:, None].astype(np.uint64)], axis=1)
        _, places = np.unique(table, axis=0, return_inverse=True)
        codes = places.reshape(-1).astype(np.int32)
    return GraphBatch.unchecked(
        indptr=batch.indptr,
        indices=batch.indices,
        graph_ptr=batch.graph_ptr,
        node_labels=codes,
        node_vocabulary=(None,),
        edge_labels=batch.edge_labels,
        edge_vocabulary=batch.edge_vocabulary,
        node_features=None,
        directed=batch.directed,
    )


def _grouped(batch: GraphBatch, radius: int, sizes: Int32) -> tuple[Int32, Int64]:
    """Return the number of each root's subgraph, and its arcs: equal numbers mean isomorphic subgraphs."""
    groups = Groups()
    numbers, arcs = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for block in Neighbourhoods(batch).blocks(np.arange(batch.n_nodes), radius, sizes):
        numbers.append(groups.of_block(block))
        arcs.append(np.diff(block.cut.indptr[block.cut.subgraph_ptr]))
    return np.concatenate(numbers).astype(np.int32), np.concatenate(arcs)


def _grouped_by_nodes(batch: GraphBatch, radius: int, sizes: Int32) -> tuple[Int32, Int64]:
    """Return the number of each root's subgraph by its nodes alone, labels and distances; no arcs count."""
    known: dict[bytes, int] = {}
    numbers: list[int] = []
    for block in Neighbourhoods(batch).blocks(np.arange(batch.n_nodes), radius, sizes):
        cut = block.cut
        content = batch.node_labels[cut.node].astype(np.int64) * (radius + 1) + cut.distance
        subgraph = np.repeat(np.arange(len(cut.root)), np.diff(cut.subgraph_ptr))
        text = content[np.lexsort((content, subgraph))].tobytes()
        ends = (content.itemsize * cut.subgraph_ptr).tolist()
        numbers += [known.setdefault(text[low:high], len(known)) for low, high in pairwise(ends)]
    return np.array(numbers, np.int32), np.zeros(len(numbers), np.int64)
