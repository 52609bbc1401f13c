"""The inner hold-out, stratified: graphs of a training part that choose the epoch. Scaffolds of molecules."""

from __future__ import annotations

import re

import numpy as np

from twinwl.arguments import checked, number
from twinwl.arrays import Int64, pointer
from twinwl.errors import TwinWLError
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.labels import encode_labels

_ELEMENT = re.compile(r"\d*(\*|[A-Z][a-z]?)")  # at the start of the label of an atom, of every level
_MOST_HELD = 0.5  # of the molecules with a rare scaffold


def scaffolds_of(batch: GraphBatch) -> Int64:
    """Return the scaffold of each molecule as a number, shape (n_graphs,).

    It is what is left without side chains: the ring systems and the linkers between them, their elements and
    bonds. Molecules without a ring have no scaffold: each has a number of its own, from n_graphs on.

    >>> rings = [[(0, 1), (1, 2), (2, 0), (2, 3)], [(0, 1), (1, 2), (2, 0)], [(0, 1)], [(0, 1)]]
    >>> scaffolds_of(GraphBatch.from_edges(rings)).tolist()
    [0, 0, 4, 5]
    """
    from twinwl.isomorphism.canonical import exact_keys  # noqa: PLC0415  (numba; errors come before that)

    sources, targets = batch.arcs()
    left, arcs = -1, np.ones(len(targets), bool)
    while left != arcs.sum():  # until no node has a single neighbour
        left = arcs.sum()
        degrees = np.bincount(sources[arcs], minlength=batch.n_nodes)
        arcs &= (degrees[sources] > 1) & (degrees[targets] > 1)
    inside = degrees > 1
    place = pointer(inside.astype(np.int64))
    names = [_ELEMENT.match(label) if isinstance(label, str) else None for label in batch.node_vocabulary]
    elements, vocabulary = encode_labels([None if name is None else name[1] for name in names])
    core = GraphBatch.unchecked(
        indptr=pointer(degrees[inside]),
        indices=place[targets[arcs]].astype(np.int32),
        graph_ptr=place[batch.graph_ptr],
        node_labels=elements[batch.node_labels[inside]],
        node_vocabulary=vocabulary,
        edge_labels=None if batch.edge_labels is None else batch.edge_labels[arcs],
        edge_vocabulary=batch.edge_vocabulary,
        node_features=None,
        directed=False,
    )
    numbers = np.unique(exact_keys(core), axis=0, return_inverse=True)[1].reshape(-1)
    (chains,) = np.nonzero(core.nodes_per_graph == 0)
    numbers[chains] = len(batch) + np.arange(len(chains))
    return numbers


def hold_out(
    codes: Int64,
    fraction: float,
    seed: int,
    groups: Int64 | None = None,
    remedy: str = "give more, pass validation_data, or set validation_fraction=None",
) -> tuple[Int64, Int64]:
    """Split rows into a training part and a held-out part, stratified by class.

    Parameters
    ----------
    codes : shape (n,)
        Class code of each row.
    fraction
        Share of rows to hold out, between 0 and 1.
    seed
        Seed of the choice.
    groups : shape (n,), optional
        Rows of one group stay on one side.
    remedy
        What to do if there are too few rows, for the message.

    Returns
    -------
    kept, held : arrays of int64, rising
        Both have every class, unless a class has a single row (or group), which is then kept for training.

    >>> kept, held = hold_out(np.array([0, 0, 0, 0, 1, 1, 1, 1]), 0.25, seed=0)
    >>> len(kept), len(held)
    (6, 2)
    """
    fraction = checked("validation_fraction", fraction, number(0, 1, above=True, below=True))
    random = np.random.default_rng(seed)
    held = (
        _held_rows(codes, fraction, random)
        if groups is None
        else _held_groups(codes, fraction, random, groups)
    )
    kept_classes = np.bincount(codes[~held], minlength=int(codes.max()) + 1)
    if not held.any() or not kept_classes.all():
        every = " and learn every class" if codes.any() else ""
        raise TwinWLError(
            f"{len(codes)} graphs are too few to hold {fraction:.0%} of them out{every}; {remedy}"
        )
    return np.flatnonzero(~held), np.flatnonzero(held)


def hold_out_scaffolds(
    codes: Int64, fraction: float, seed: int, scaffolds: Int64
) -> tuple[Int64, Int64] | None:
    """Split molecules as `hold_out` does, by whole scaffolds; None where there are too few scaffolds.

    Common scaffolds are learnt from: to hold one out would cost much of what there is to learn. So are
    molecules without a ring, which have no scaffold to hold out.

    >>> hold_out_scaffolds(np.zeros(8, np.int64), 0.25, 0, np.array([0, 0, 0, 0, 1, 2, 3, 4]))[1].tolist()
    [5, 7]
    """
    numbers, sizes = np.unique(scaffolds, return_inverse=True, return_counts=True)[1:]
    small = sizes[numbers] <= max(1.0, fraction * len(codes) / 2)
    rare = np.flatnonzero(small & (scaffolds < len(codes)))
    share = fraction * len(codes) / max(1, len(rare))
    if not len(rare) or share > _MOST_HELD:
        return None
    try:
        held = rare[hold_out(codes[rare], share, seed, numbers[rare])[1]]
    except TwinWLError:
        return None
    return np.setdiff1d(np.arange(len(codes)), held), held


def rarest_classes(codes: Int64) -> Int64:
    """Return a code for each graph by which to stratify: the rarest class, of any task, that it has.

    Parameters
    ----------
    codes : array of int64, shape (n_graphs, n_tasks)
        The class of each graph in each task; below 0 where it is unknown.

    >>> rarest_classes(np.array([[0, 0], [0, 1], [0, 0], [1, -1]]))
    array([2, 1, 2, 0])
    """
    places = np.where(codes >= 0, codes + np.arange(codes.shape[1]) * (codes.max() + 1), -1)
    labels, numbers, counts = np.unique(places, return_inverse=True, return_counts=True)
    rank = np.empty(len(labels), np.int64)
    rank[np.lexsort((labels, counts))] = np.arange(len(labels))
    rank[labels < 0] = len(labels)
    rarest = rank[numbers.reshape(codes.shape)].min(axis=1)
    return np.unique(rarest, return_inverse=True)[1].astype(np.int64)


def _held_rows(codes: Int64, fraction: float, random: np.random.Generator) -> np.ndarray:
    """Hold out the share of each class, rounded, at least one row and never the last."""
    held = np.zeros(len(codes), bool)
    for code in range(int(codes.max()) + 1):
        rows = random.permutation(np.flatnonzero(codes == code))
        held[rows[: _share(len(rows), fraction)]] = True
    return held


def _held_groups(codes: Int64, fraction: float, random: np.random.Generator, groups: Int64) -> np.ndarray:
    """Hold out whole groups: each class in turn until its share is reached, rarest class first."""
    n_classes = int(codes.max()) + 1
    rows_of = np.zeros((int(groups.max()) + 1, n_classes), np.int64)
    np.add.at(rows_of, (groups, codes), 1)
    total = rows_of.sum(axis=0)
    held = np.zeros(len(rows_of), bool)
    count = np.zeros(n_classes, np.int64)
    order = random.permutation(len(rows_of))
    for code in np.argsort(total, kind="stable"):
        wanted = max(1, round(fraction * int(total[code])))
        for group in order[rows_of[order, code] > 0]:
            left = total - count - rows_of[group]
            # The last group of a class is kept: a class that does not occur in training cannot be predicted.
            if count[code] >= wanted or held[group] or not left.all():
                continue
            held[group] = True
            count += rows_of[group]
    return held[groups]


def _share(n_rows: int, fraction: float) -> int:
    return min(max(1, round(fraction * n_rows)), n_rows - 1)
