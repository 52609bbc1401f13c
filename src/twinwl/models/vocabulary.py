"""Vocabularies: the columns of graphs that are never in memory together, counted by their content keys.

Each part of the graphs is counted on its own: how many graphs have each column. Columns are identified by
their content keys, which need no common alphabet, so the counts of all parts add up, wherever they were
made. Columns in enough graphs are then frozen into a feature space, built from the first graph of each.

A signature never occurs in more graphs than the signatures it consists of. So the alphabet without the rare
columns is complete: every frequent colour consists of frequent colours.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple, TypedDict

import numpy as np

from twinwl.arrays import Bool, Int32, Int64, UInt64
from twinwl.errors import TwinWLError
from twinwl.graphs.batch import GraphBatch
from twinwl.isomorphism.readouts import ReadoutChoice
from twinwl.models.features import FeatureSpace, most_frequent, stwin_features
from twinwl.models.readout_columns import Examples, ValueTable
from twinwl.refinement.alphabet import Alphabet, Round, item_dtype
from twinwl.refinement.content_keys import absorbed_rows, content_keys, row_keys


class FeatureSettings(TypedDict):
    """What decides about columns, as for `stwin_features`."""

    n_iter: int | None
    kind: str
    edge_labels: bool
    initial: str
    readout: ReadoutChoice


class Vocabulary(NamedTuple):
    """A feature space, its columns that are kept (None: all), and how many graphs have each of these."""

    space: FeatureSpace
    columns: Int64 | None
    n_graphs: Int64


class ColumnCounts(NamedTuple):
    """How many graphs have each column, sorted by key.

    ``h`` is the round of each column and ``keys``, shape (n, 2), its content key; ``n_graphs`` have it, of
    which ``first`` is the number of the first.
    """

    h: Int32
    keys: UInt64
    n_graphs: Int64
    first: Int64

    @classmethod
    def of(cls, batch: GraphBatch, settings: FeatureSettings, rows: Int64) -> ColumnCounts:
        """Count the columns of some graphs, whose numbers among all graphs are ``rows``, rising.

        >>> from twinwl import GraphBatch, STwinVectorizer
        >>> graphs = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]])
        >>> counts = ColumnCounts.of(graphs, STwinVectorizer(n_iter=1).settings, np.array([0, 1]))
        >>> sorted(zip(counts.h.tolist(), counts.n_graphs.tolist(), counts.first.tolist()))
        [(0, 2, 0), (1, 1, 0), (1, 2, 0)]
        """
        # Sums of sizes stand in the columns that counts stand in, and counts need no sizes.
        counting = settings.copy()
        if settings["kind"] == "size":
            counting["kind"] = "count"
        matrix, space, _ = stwin_features(batch, **counting)
        keys = column_keys(space)
        first = np.empty(space.n_columns, np.int64)
        row_of_entry = np.repeat(rows, np.diff(matrix.indptr))
        first[matrix.indices[::-1]] = row_of_entry[::-1]
        h = np.repeat(np.arange(len(keys), dtype=np.int32), [len(part) for part in keys])
        n_graphs = np.bincount(matrix.indices, minlength=space.n_columns).astype(np.int64)
        return _in_order(cls(h, np.concatenate(keys), n_graphs, first))

    @classmethod
    def merged(cls, parts: Iterable[ColumnCounts]) -> ColumnCounts:
        """Add up counts of different graphs; the order of the parts does not matter."""
        joined = _in_order(cls(*map(np.concatenate, zip(*parts, strict=True))))
        if not len(joined.h):
            return joined
        new = np.ones(len(joined.h), np.bool_)
        new[1:] = (joined.keys[1:] != joined.keys[:-1]).any(axis=1) | (joined.h[1:] != joined.h[:-1])
        starts = np.flatnonzero(new)
        return cls(
            joined.h[starts],
            joined.keys[starts],
            np.add.reduceat(joined.n_graphs, starts),
            np.minimum.reduceat(joined.first, starts),
        )

    def where(self, chosen: Bool | Int64) -> ColumnCounts:
        """Return a part of the columns, or these in another order."""
        return ColumnCounts(self.h[chosen], self.keys[chosen], self.n_graphs[chosen], self.first[chosen])

    def frequent(self, min_df: int, max_features: int | None = None) -> ColumnCounts:
        """Return the columns of at least ``min_df`` graphs.

        Of these ``max_features``, where given, and all that are as frequent as the last of them.
        """
        enough = self.where(self.n_graphs >= min_df)
        if max_features is None or len(enough.h) <= max_features:
            return enough
        return enough.where(enough.n_graphs >= np.sort(enough.n_graphs)[-max_features])


def column_keys(space: FeatureSpace) -> list[UInt64]:
    """Return a content key for each column, one array of shape (n, 2) per round, equal on every machine.

    That of the colour or, for pairs, one of colour and value.
    """
    keys = content_keys(space.alphabet)
    if space.twins is None:
        return keys
    out = []
    for of_colour, pairs in zip(keys, space.twins, strict=True):
        colour, value = pairs.sig_items.reshape(-1, 2).T.astype(np.int64)
        of_value = row_keys(value[:, None]) if space.values is None else space.values.keys[value]
        out.append(absorbed_rows(np.ascontiguousarray(of_colour[colour]), np.ascontiguousarray(of_value)))
    return out


def frozen(
    counts: ColumnCounts, graphs: GraphBatch, settings: FeatureSettings, max_features: int | None = None
) -> Vocabulary:
    """Build the space of frequent columns.

    Columns stand in the order in which a vectorizer fitted on all graphs has them: by round, then by first
    occurrence, pairs by colour and value. (Labels, in round 0, stand in the order of the batch's vocabulary.)

    Parameters
    ----------
    counts
        Of the columns that are frequent enough.
    graphs
        The graphs ``np.unique(counts.first)``, which have all of these columns.
    settings
        Those that were counted with.
    max_features
        Largest number of columns to keep: the most frequent ones, the first of equally frequent ones.

    Raises
    ------
    TwinWLError
        If these graphs do not have the columns.
    """
    space = stwin_features(graphs, **settings).space
    n_graphs, n_found = [], 0
    for h, keys in enumerate(column_keys(space)):
        counted = counts.where(counts.h == h)
        number, _ = ValueTable(counted.keys).numbers(keys, insert=False)
        n_found += int(np.count_nonzero(number >= 0))
        n_graphs.append(np.append(counted.n_graphs, 0)[number])
    if n_found != len(counts.h):
        raise TwinWLError(
            f"{len(counts.h) - n_found} of {len(counts.h)} columns are in none of the graphs in which they "
            "were counted; the graphs have changed since, so count them again"
        )
    frequency = np.concatenate(n_graphs)
    kept = most_frequent(frequency, np.flatnonzero(frequency), max_features)
    smaller, columns = _restricted(space, kept)
    return Vocabulary(smaller, columns, frequency[kept])


def _restricted(space: FeatureSpace, kept: Int64) -> tuple[FeatureSpace, Int64 | None]:
    """Return the smallest space that has some columns, and their places in it; None if it has no others."""
    first = np.concatenate([[0], np.cumsum(space.columns_per_round)])
    places = [part - low for part, low in zip(_by_round(kept, first), first, strict=False)]
    if space.twins is None:
        alphabet, rank = _closed(space.alphabet, places)
        smaller = replace(space, alphabet=alphabet)
        if smaller.n_columns == len(kept):
            return smaller, None
        before = np.concatenate([[0], np.cumsum(alphabet.n_colours)])
        new = [low + of[place] for low, of, place in zip(before, rank, places, strict=False)]
        return smaller, np.concatenate(new)
    pairs = [part.sig_items.reshape(-1, 2)[place] for part, place in zip(space.twins, places, strict=True)]
    alphabet, rank = _closed(space.alphabet, [part[:, 0] for part in pairs])
    twins = tuple(
        Round(
            np.arange(0, 2 * len(part) + 1, 2, dtype=np.int64),
            np.stack([of[part[:, 0]], part[:, 1]], axis=1).astype(np.int32).ravel(),
            old.stride,
        )
        for old, part, of in zip(space.twins, pairs, rank, strict=True)
    )
    examples = space.examples
    if examples is not None:
        examples = Examples(examples.graphs[kept], examples.root[kept])
    return replace(space, alphabet=alphabet, twins=twins, examples=examples), None


def _by_round(columns: Int64, first: Int64) -> list[Int64]:
    return np.split(columns, np.searchsorted(columns, first[1:-1]))


def _closed(alphabet: Alphabet, asked: list[Int64]) -> tuple[Alphabet, list[Int64]]:
    """Return the smallest alphabet with these colours of each round, and the new number of each colour."""
    # From the last round down: a colour is needed if it is asked for, or part of a needed signature.
    needed = [np.zeros(width, np.bool_) for width in alphabet.n_colours]
    for h in range(alphabet.n_iter, -1, -1):
        needed[h][asked[h]] = True
        if h:
            needed[h - 1][_items_of(alphabet.rounds[h - 1], needed[h])[1]] = True
    rank = [np.cumsum(mask, dtype=np.int64) - 1 for mask in needed]
    rounds = []
    for h, part in enumerate(alphabet.rounds, start=1):
        codes, colours, sig_ptr = _items_of(part, needed[h])
        stride = int(needed[h - 1].sum())
        items = codes * stride + rank[h - 1][colours]
        rounds.append(Round(sig_ptr, items.astype(item_dtype(stride, part.n_codes)), stride, part.n_codes))
    labels = tuple(label for label, is_needed in zip(alphabet.labels, needed[0], strict=True) if is_needed)
    return replace(alphabet, labels=labels, rounds=tuple(rounds)), rank


def _items_of(part: Round, needed: Bool) -> tuple[Int64, Int64, Int64]:
    """Return codes and colours of the signatures of some colours (own ones have code 0), and their ranges."""
    lengths = np.diff(part.sig_ptr)
    items = part.sig_items[np.repeat(needed, lengths)].astype(np.int64)
    codes, colours = np.divmod(items, max(1, part.stride))
    return codes, colours, np.concatenate([[0], np.cumsum(lengths[needed])])


def _in_order(counts: ColumnCounts) -> ColumnCounts:
    return counts.where(np.lexsort((counts.h, counts.keys[:, 1], counts.keys[:, 0])))
