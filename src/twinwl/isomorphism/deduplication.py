"""Groups of isomorphic graphs, in memory or in a stream, and what molecules of a group differ in."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from twinwl.arguments import FLAG, checked, foreign_array, items, one_of
from twinwl.arrays import Int64
from twinwl.errors import GraphInputError, TwinWLError
from twinwl.graphs.atom_labels import LADDER, warn_of_level
from twinwl.graphs.batch import GraphBatch, labels_only
from twinwl.graphs.building import GraphsLike, as_batch
from twinwl.graphs.molecules import AtomLevel
from twinwl.isomorphism.canonical import exact_keys, number_keys
from twinwl.isomorphism.hashing import Rounds, graph_keys
from twinwl.isomorphism.readouts import ReadoutChoice, ReadoutError, resolve
from twinwl.refinement.colours import refine

# Number of graphs that are read from a stream at a time.
_GRAPHS_PER_BLOCK = 2048
_ISOTOPE_OR_STEREO = re.compile(r"[@/\\]|\[\d")


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

    def choose(self, keep: object = "first") -> Int64:
        """Return the index of the graph of each group that is to be kept, shape (n_groups,).

        Parameters
        ----------
        keep : {"first", "last"} or array-like, shape (n_graphs,)
            The first or last graph of each group; or a number for each graph, of which the largest wins. NaN
            loses to every number, and of equal numbers the first wins.

        Returns
        -------
        array of int64, shape (n_groups,)

        Examples
        --------
        >>> import twinwl as tw
        >>> found = tw.deduplicate([[(0, 1), (1, 2)], [(0, 1)], [(0, 2), (0, 1)]])
        >>> found.choose("last").tolist(), found.choose([0.5, 0.1, float("nan")]).tolist()
        ([2, 1], [0, 1])

        One row of a table for each molecule, in the order of the table:

        >>> import numpy as np
        >>> import pandas as pd
        >>> table = pd.DataFrame({"name": ["a", "b", "c"]})
        >>> table.iloc[np.sort(found.choose("last"))].name.tolist()
        ['b', 'c']
        """
        n_graphs = len(self.labels)
        if isinstance(keep, str):
            order = 1 if checked("keep", keep, one_of("first", "last")) == "last" else -1
            scores = order * np.arange(n_graphs, dtype=np.float64)
        else:
            scores = foreign_array("keep", keep, np.float64)
            if scores.shape != (n_graphs,):
                raise TwinWLError(f"keep: got shape {scores.shape}, expected one number for each graph")
        best_first = np.lexsort((-np.where(np.isnan(scores), -np.inf, scores), self.labels))
        firsts = np.unique(self.labels[best_first], return_index=True)[1]
        return best_first[firsts]

    def contradictions(self, y: object) -> Int64:
        """Return the groups of which two graphs have different targets; None and NaN do not count.

        Parameters
        ----------
        y : array-like, shape (n_graphs,)
            A target for each graph.

        Returns
        -------
        array of int64
            The numbers of these groups.

        Examples
        --------
        >>> import twinwl as tw
        >>> tw.deduplicate([[(0, 1)], [(0, 1)], [(0, 1), (1, 2)]]).contradictions([0, 1, 1]).tolist()
        [0]
        """
        values = items("y", y, "one target for each graph")
        if len(values) != len(self.labels):
            raise TwinWLError(
                f"y: got {len(values)} targets for {len(self.labels)} graphs; give one for each"
            )
        known: dict[int, object] = {}
        found = {
            group
            for group, value in zip(self.labels.tolist(), values)
            if value is not None and value == value and known.setdefault(group, value) != value  # noqa: PLR0124
        }
        return np.array(sorted(found), np.int64)

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

    See Also
    --------
    graph_hash : A key to store and look up.
    audit : What data sets share.
    compare : Where two graphs differ.

    Examples
    --------
    >>> import networkx as nx
    >>> deduplicate(nx.path_graph(n % 5) for n in range(1000))
    Deduplication(1,000 graphs, 5 groups)
    """
    exact = checked("exact", exact, FLAG)
    readouts = () if exact and isinstance(readout, str) and readout == "size" else resolve(readout)
    number_of_key: dict[bytes, int] = {}

    def groups_of(given: GraphBatch) -> Int64:
        batch = labels_only(given, ignore_features=ignore_features)
        warn_of_level(batch.atoms)
        keys = exact_keys(batch) if exact else graph_keys(batch, n_iter, readouts)
        return number_keys(keys, number_of_key)

    if not isinstance(graphs, Iterator):
        batch = as_batch(graphs)
        return Deduplication(groups_of(batch), exact, batch.has_node_features)
    parts = [np.empty(0, np.int64)]
    ignored = False
    for block in _blocks(graphs):
        first = sum(map(len, parts))
        try:
            batch = as_batch(block)
            parts.append(groups_of(batch))
        except (ReadoutError, GraphInputError) as error:  # graphs are counted from the start of the stream
            raise error if error.graph is None else error.at(first + error.graph) from error
        ignored |= batch.has_node_features
    return Deduplication(np.concatenate(parts), exact, ignored)


def _blocks(stream: Iterator[object]) -> Iterator[list[object]]:
    """Gather a stream of graphs or batches into lists of moderate size."""
    pending: list[object] = []
    n_pending = 0
    for item in stream:
        pending.append(item)
        n_pending += len(item) if isinstance(item, GraphBatch) else 1
        if n_pending >= _GRAPHS_PER_BLOCK:
            yield pending
            pending, n_pending = [], 0
    if pending:
        yield pending


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
        for first, last in zip(batch.graph_ptr[:-1], batch.graph_ptr[1:])
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
    >>> found = deduplicate(GraphBatch.from_smiles(smiles, atoms="skeleton"))
    >>> differing_groups(found, smiles, "skeleton")
    {'constitution': 1, 'isotope': 0, 'stereo': 1}
    """
    levels = LADDER[LADDER.index(atoms) :]
    if atoms == LADDER[-1]:
        return {}
    members: dict[int, dict[str, None]] = defaultdict(dict)
    shared = (np.bincount(found.labels) > 1)[found.labels]
    plain_of: dict[int, str] = {}
    for graph in map(int, np.flatnonzero(shared)):
        group, text = int(found.labels[graph]), smiles[graph]
        # Of molecules of one constitution, all without isotopes and stereo are the same: one stands for them.
        if atoms != "skeleton" and not _ISOTOPE_OR_STEREO.search(text):
            text = plain_of.setdefault(group, text)
        members[group][text] = None
    asked = [(group, text) for group, texts in members.items() if len(texts) > 1 for text in texts]
    numbers: list[dict[bytes, int]] = [{} for _ in levels]
    parts: set[tuple[int, ...]] = set()
    for first in range(0, len(asked), _GRAPHS_PER_BLOCK):
        block = asked[first : first + _GRAPHS_PER_BLOCK]
        graphs = GraphBatch.from_smiles([text for _, text in block], atoms=levels)
        views = [graphs.view(level) for level in levels[1:]]
        labels = [number_keys(exact_keys(view), known) for view, known in zip(views, numbers)]
        parts.update(
            (group, *row) for (group, _), row in zip(block, zip(*(each.tolist() for each in labels)))
        )
    counts = {}
    for place, level in enumerate(levels[1:], 1):
        n_parts = Counter(part[:place] for part in {part[: place + 1] for part in parts})
        counts[level] = len({part[0] for part, n in n_parts.items() if n > 1})
    return counts
