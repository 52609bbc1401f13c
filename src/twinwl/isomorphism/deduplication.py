"""Groups of isomorphic graphs, in memory or in a stream, and what molecules of a group differ in."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from twinwl.arguments import FLAG, checked
from twinwl.arrays import Int64
from twinwl.errors import GraphInputError, TwinWLError
from twinwl.graphs.atom_labels import LADDER, AtomLevel
from twinwl.graphs.batch import GraphBatch, labels_only
from twinwl.graphs.coercion import GraphsLike, as_batch
from twinwl.isomorphism.exact_keys import exact_keys
from twinwl.isomorphism.hashing import Rounds, graph_keys
from twinwl.isomorphism.readouts import ReadoutChoice, ReadoutError, resolve
from twinwl.refinement.colours import refine

# A stream is taken so many graphs at a time.
_GRAPHS_PER_BLOCK = 2048


@dataclass(frozen=True, eq=False)
class Deduplication:
    """Groups of isomorphic graphs.

    Attributes
    ----------
    labels : array of int64, shape (n_graphs,)
        Group of each graph; groups are numbered by their first graph.
    exact : bool
        Whether the graphs of a group are isomorphic, or only have equal hashes.
    features_ignored : bool
        Whether some graphs have node features that were ignored; graphs of a group may differ in them.

    Examples
    --------
    >>> import twinwl as tw
    >>> result = tw.deduplicate([[(0, 1), (1, 2)], [(0, 1)], [(0, 2), (0, 1)]])
    >>> result
    Deduplication(3 graphs, 2 groups)
    >>> result.labels.tolist(), result.representatives.tolist()
    ([0, 1, 0], [0, 1])
    >>> [group.tolist() for group in result.groups]
    [[0, 2], [1]]
    """

    labels: Int64
    exact: bool = True
    features_ignored: bool = False

    @property
    def representatives(self) -> Int64:
        """Index of the first graph of each group, shape (n_groups,)."""
        return np.unique(self.labels, return_index=True)[1].astype(np.int64)

    @property
    def groups(self) -> list[Int64]:
        """Indices of the graphs of each group, in order."""
        order = np.argsort(self.labels, kind="stable")
        cuts = np.cumsum(np.bincount(self.labels))[:-1]
        return np.split(order, cuts) if len(order) else []

    def __len__(self) -> int:
        return int(self.labels.max(initial=-1)) + 1

    def __repr__(self) -> str:
        ignored = ", node features ignored" if self.features_ignored else ""
        return f"Deduplication({len(self.labels):,} graphs, {len(self):,} groups{ignored})"


def deduplicate(
    graphs: GraphsLike,
    exact: bool = True,
    *,
    n_iter: Rounds = None,
    readout: ReadoutChoice = "size",
    ignore_features: bool = False,
) -> Deduplication:
    """Find groups of isomorphic graphs; labels of nodes and edges are respected.

    Two graphs are in the same group if and only if their exact keys are equal: digests of their stable
    colours, with some nodes individualised where the colours alone do not determine a graph.

    Parameters
    ----------
    graphs
        A batch or anything `twinwl.as_batch` takes; or an iterator of graphs or batches, which is read in
        blocks and never held as a whole. Of each graph only a key of 128 bits is kept.
    exact
        Whether groups are exact. Otherwise graphs with equal hashes are one group, which is wrong for graphs
        that the Twin-WL test cannot tell apart.
    n_iter, readout
        As in `twinwl.graph_hashes`, for ``exact=False``; exact groups do not depend on them.
    ignore_features
        As in `twinwl.graph_hashes`.

    Returns
    -------
    Deduplication
        ``.groups``, ``.representatives``, ``.labels``.

    Examples
    --------
    >>> import networkx as nx
    >>> deduplicate(nx.path_graph(n % 5) for n in range(1000))
    Deduplication(1,000 graphs, 5 groups)
    """
    exact = checked("exact", exact, FLAG)
    readouts = resolve(readout)

    def keys_of(batch: GraphBatch) -> list[bytes]:
        data = (exact_keys(batch) if exact else graph_keys(batch, n_iter, readouts)).tobytes()
        return [data[start : start + 16] for start in range(0, len(data), 16)]

    number_of_key: dict[bytes, int] = {}
    if not issubclass(type(graphs), Iterator):
        given = as_batch(graphs)
        batch = labels_only(given, ignore_features=ignore_features)
        return Deduplication(_numbered(keys_of(batch), number_of_key), exact, given.has_node_features)
    parts = []
    ignored = False
    for first, block in _blocks(cast("Iterator[object]", graphs)):
        try:
            batch = labels_only(block, ignore_features=ignore_features)
            keys = keys_of(batch)
        except ReadoutError as error:
            raise error.at(first + error.graph) from error
        except GraphInputError as error:
            raise _moved(error, first) from error
        ignored |= block.has_node_features
        parts.append(_numbered(keys, number_of_key))
    return Deduplication(np.concatenate(parts) if parts else np.empty(0, np.int64), exact, ignored)


def _numbered(keys: list[bytes], number_of_key: dict[bytes, int]) -> Int64:
    return np.array([number_of_key.setdefault(key, len(number_of_key)) for key in keys], np.int64)


def _blocks(stream: Iterator[object]) -> Iterator[tuple[int, GraphBatch]]:
    """Gather a stream of graphs or batches into batches of moderate size; tell each one's first index."""
    pending: list[object] = []
    held = taken = 0
    for item in _drawn(stream):
        pending.append(item)
        held += len(item) if isinstance(item, GraphBatch) else 1
        if held >= _GRAPHS_PER_BLOCK:
            yield taken, _gathered(pending, taken)
            taken += held
            pending, held = [], 0
    if pending:
        yield taken, _gathered(pending, taken)


def _drawn(stream: Iterator[object]) -> Iterator[object]:
    """Yield the graphs of an iterator; an error names the place."""
    for place in itertools.count():
        try:
            item = next(stream)
        except StopIteration:
            return
        except TwinWLError:  # about a file, say, which it names
            raise
        except Exception as error:
            message = f"the iterator failed before this graph ({type(error).__name__}: {error})"
            raise GraphInputError(message, place) from error
        yield item


def _gathered(pending: Iterable[object], taken: int) -> GraphBatch:
    """Return a batch; an error counts graphs from the start of the stream."""
    try:
        return as_batch(pending)
    except GraphInputError as error:
        raise _moved(error, taken) from error


def _moved(error: GraphInputError, taken: int) -> GraphInputError:
    """Return the same complaint about a graph that is counted from the start of the stream."""
    graph = None if error.graph is None else taken + error.graph
    return error.at(graph)


def wl_groups(batch: GraphBatch, n_iter: int | None = None) -> Int64:
    """Return a number for each graph, equal for graphs that 1-WL cannot tell apart, shape (n_graphs,).

    Parameters
    ----------
    batch
        The graphs; edge labels count if there are any.
    n_iter
        Number of rounds; None runs until the colours of all graphs together are stable.

    >>> hexagon = [(i, (i + 1) % 6) for i in range(6)]
    >>> triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    >>> wl_groups(GraphBatch.from_edges([hexagon, [(0, 1)], triangles]))
    array([0, 1, 0])
    """
    # The colours of a round decide those of all rounds before.
    colours = refine(batch, n_iter, edge_labels=True).colours[-1]
    number_of: dict[bytes, int] = {}
    numbers = [
        number_of.setdefault(np.sort(colours[first:last]).tobytes(), len(number_of))
        for first, last in zip(batch.graph_ptr[:-1], batch.graph_ptr[1:], strict=True)
    ]
    return np.array(numbers, np.int64)


def differing_groups(found: Deduplication, smiles: Sequence[str], atoms: AtomLevel) -> dict[AtomLevel, int]:
    """Count the groups whose molecules differ in what the chosen level leaves out, for each finer level.

    Parameters
    ----------
    found
        Groups of the molecules.
    smiles
        One per molecule, in the same order.
    atoms
        The level that the groups were found at.

    Returns
    -------
    dict
        For each finer level, the number of groups in which two molecules agree at the level before it and
        differ at this one.

    >>> smiles = ["CC(=O)O", "CC(=O)[O-]", "C[C@H](O)F", "C[C@@H](O)F"]
    >>> found = deduplicate(GraphBatch.from_smiles(smiles))
    >>> differing_groups(found, smiles, "skeleton")
    {'constitution': 1, 'isotope': 0, 'stereo': 1}
    """
    finer = LADDER[LADDER.index(atoms) + 1 :]
    shared = np.flatnonzero((np.bincount(found.labels) > 1)[found.labels])
    group_of = found.labels[shared].tolist()
    before: list[object] = [*group_of]
    counts = {}
    for level in finer:
        graphs = GraphBatch.from_smiles([smiles[graph] for graph in shared.tolist()], atoms=level)
        now = list(zip(before, deduplicate(graphs).labels.tolist(), strict=True))
        parts_before, parts_now = (
            np.bincount([group for group, _ in set(zip(group_of, parts, strict=True))], minlength=len(found))
            for parts in (before, now)
        )
        counts[level] = int((parts_now > parts_before).sum())
        before = [*now]
    return counts
