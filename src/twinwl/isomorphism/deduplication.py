"""Groups of isomorphic graphs, labels included, among few graphs or a stream of millions."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, cast

import numpy as np

from twinwl.arguments import FLAG, checked
from twinwl.errors import GraphInputError
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.coercion import as_batch
from twinwl.graphs.node_features import labels_only
from twinwl.isomorphism.canonical import certificates
from twinwl.isomorphism.hashing import graph_keys
from twinwl.isomorphism.readouts import ReadoutError, resolve

if TYPE_CHECKING:
    from collections.abc import Iterable

    from twinwl.arrays import Int64
    from twinwl.graphs.coercion import GraphsLike
    from twinwl.isomorphism.hashing import Rounds
    from twinwl.isomorphism.readouts import ReadoutChoice

__all__ = ["Deduplication", "deduplicate"]

# A stream is taken so many graphs at a time.
_GRAPHS_PER_BLOCK = 2048
_ROUNDS_FOR_BUCKETS = 3


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

    Graphs are put into buckets by hash. Graphs in the same bucket are compared by coloured canonical forms,
    so the result is exact.

    Parameters
    ----------
    graphs
        A batch or anything `twinwl.as_batch` takes; or an iterator of graphs or batches, which is read in
        blocks and never held as a whole. Of each graph of an iterator only a digest of 128 bits is kept: of
        its canonical form, which is then computed for every graph, or with ``exact=False`` its hash.
    exact
        Whether to compare canonical forms. Otherwise graphs with equal hashes are one group: faster, and
        wrong only for graphs that the Twin-WL test cannot tell apart.
    n_iter, readout, ignore_features
        As in `twinwl.graph_hashes`; but with ``exact=True``, None means 3 rounds, which are enough for
        buckets.

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
    rounds = _ROUNDS_FOR_BUCKETS if exact and n_iter is None else n_iter

    def hashes(batch: GraphBatch) -> list[bytes]:
        data = graph_keys(batch, rounds, readouts).tobytes()
        return [data[start : start + 16] for start in range(0, len(data), 16)]

    number_of_key: dict[bytes, int] = {}
    if not issubclass(type(graphs), Iterator):
        given = as_batch(graphs)
        batch = labels_only(given, ignore_features=ignore_features)
        keys = hashes(batch)
        labels = _numbered(_resolved(batch, keys) if exact else keys, number_of_key)
        return Deduplication(labels, exact, given.has_node_features)
    parts = []
    ignored = False
    for first, block in _blocks(cast("Iterator[object]", graphs)):
        try:
            batch = labels_only(block, ignore_features=ignore_features)
            keys = _form_digests(batch) if exact else hashes(batch)
        except ReadoutError as error:
            raise error.moved(first + error.graph) from error
        except GraphInputError as error:
            raise _moved(error, first) from error
        ignored |= block.has_node_features
        parts.append(_numbered(keys, number_of_key))
    return Deduplication(np.concatenate(parts) if parts else np.empty(0, np.int64), exact, ignored)


def _resolved(batch: GraphBatch, keys: list[bytes]) -> list[bytes]:
    """Append the canonical form to the keys that several graphs share."""
    times = Counter(keys)
    shared = [graph for graph, key in enumerate(keys) if times[key] > 1]
    resolved = list(keys)
    for graph, form in zip(shared, certificates(batch, shared), strict=True):
        resolved[graph] += form
    return resolved


def _form_digests(batch: GraphBatch) -> list[bytes]:
    forms = certificates(batch, range(len(batch)))
    return [blake2b(form, digest_size=16, person=b"twl1 form").digest() for form in forms]


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
    """Yield what an iterator yields; what it raises is told with the place."""
    for place in itertools.count():
        try:
            item = next(stream)
        except StopIteration:
            return
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
    return GraphInputError(str(error).removeprefix(f"graph {error.graph}: "), graph)
