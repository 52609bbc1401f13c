"""STwinVectorizer: graphs in, sparse STwin features out, as a scikit-learn transformer.

`ColumnChoice` has the parameters that drop columns. A new one is a field and a rule there, and a parameter of
`STwinVectorizer`.

Vocabularies: the columns of graphs that are never in memory together, counted by their content keys.

Each part of the graphs is counted on its own: how many graphs have each column. Columns are identified by
their content keys, which need no common alphabet, so the counts of all parts add up, wherever they were
made. Columns in enough graphs are then frozen into a feature space, built from the first graph of each.

A signature never occurs in more graphs than the signatures it consists of. So the alphabet without the rare
columns is complete: every frequent colour consists of frequent colours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin

from twinwl.arguments import FRACTION, MAX_ITEMS, checked, integer, pointer
from twinwl.arrays import Bool, Float64, Int32, Int64, UInt64
from twinwl.errors import TwinWLError, shown
from twinwl.files.model_files import load, savable
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.building import GraphsLike
from twinwl.isomorphism.readouts import ReadoutChoice
from twinwl.models import features
from twinwl.models.base import warn_unseen_labels, with_parameters
from twinwl.models.explanation import RootedTree
from twinwl.models.features import (
    Encoding,
    FeatureSpace,
    ViewEncodings,
    ViewEstimator,
    ViewSpaces,
    keep_columns,
    stwin_features,
)
from twinwl.refinement.colours import Alphabet, Round, item_dtype
from twinwl.refinement.content_keys import absorb_rows, content_keys, row_keys

if TYPE_CHECKING:
    from scipy import sparse


class ColumnChoice(NamedTuple):
    """Which columns are kept, by the number of graphs that have each: parameters of `STwinVectorizer`.

    All who choose columns do it here: ``fit`` on graphs in memory, and where columns are counted in parts.
    """

    min_df: int | float = 1
    """Smallest number of graphs in which a column must occur; a float is a share of the graphs."""
    max_features: int | None = None
    """Largest number of columns to keep: the most frequent ones, the first of equally frequent ones."""
    max_df: int | float = 1.0
    """Largest number of graphs in which a column may occur; a float is a share of the graphs."""

    def bounds(self, n_graphs: int) -> tuple[int, int]:
        """Return the smallest and the largest number of graphs that may have a column.

        >>> ColumnChoice(min_df=0.1).bounds(30)
        (3, 30)
        """
        fewest, most = int(self.min_df), int(self.max_df)
        if isinstance(self.min_df, float | np.floating):
            # Corrected for rounding: 0.1 of 30 graphs is 3, not 4.
            fewest = max(1, int(np.ceil(float(self.min_df) * n_graphs - 1e-9)))
        if isinstance(self.max_df, float | np.floating):
            most = int(float(self.max_df) * n_graphs + 1e-9)
        return fewest, most

    def columns(self, n_graphs_with: Int64, n_graphs: int) -> Int64:
        """Return the columns to keep, sorted, of which ``n_graphs_with`` graphs each have one.

        >>> ColumnChoice(min_df=2, max_features=2).columns(np.array([3, 5, 1, 3]), 6)
        array([0, 1])
        """
        fewest, most = self.bounds(n_graphs)
        columns = np.flatnonzero((n_graphs_with >= fewest) & (n_graphs_with <= most))
        if len(n_graphs_with) and not len(columns):
            name, share, remedy = "min_df", f"{fewest}", "; lower it"
            if most < n_graphs:
                name, share, remedy = "max_df", f"{fewest} to {most}", ""
            raise TwinWLError(
                f"{name}: got {getattr(self, name)!r}, but no column occurs in {share} of {n_graphs} graphs"
                f"{remedy}"
            )
        if self.max_features is None or len(columns) <= self.max_features:
            return columns
        by_frequency = np.argsort(-n_graphs_with[columns], kind="stable")
        return np.sort(columns[by_frequency[: self.max_features]])


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
    def of(cls, batch: GraphBatch, settings: dict[str, Any], rows: Int64) -> ColumnCounts:
        """Count the columns of some graphs, whose numbers among all graphs are ``rows``, rising.

        >>> from twinwl import GraphBatch, STwinVectorizer
        >>> graphs = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]])
        >>> counts = ColumnCounts.of(graphs, STwinVectorizer(n_iter=1).settings, np.array([0, 1]))
        >>> sorted(zip(counts.h.tolist(), counts.n_graphs.tolist(), counts.first.tolist()))
        [(0, 2, 0), (1, 1, 0), (1, 2, 0)]
        """
        # Sums of sizes stand in the columns that counts stand in, and counts need no sizes.
        kind = settings["kind"].replace("size", "count")
        matrix, space, _ = stwin_features(batch, **{**settings, "kind": kind})
        keys = column_keys(space)
        first = np.empty(space.n_columns, np.int64)
        row_of_entry = np.repeat(rows, np.diff(matrix.indptr))
        first[matrix.indices[::-1]] = row_of_entry[::-1]
        h = np.repeat(np.arange(len(keys), dtype=np.int32), [len(part) for part in keys])
        n_graphs = np.bincount(matrix.indices, minlength=space.n_columns).astype(np.int64)
        return _in_order(cls(h, np.concatenate(keys), n_graphs, first))

    @classmethod
    def merge(cls, parts: Iterable[ColumnCounts]) -> ColumnCounts:
        """Add up counts of different graphs; the order of the parts does not matter."""
        counts = _in_order(cls(*map(np.concatenate, zip(*parts))))
        names = np.column_stack([counts.keys, counts.h.astype(np.uint64)])
        new = np.ones(len(names), np.bool_)
        new[1:] = (names[1:] != names[:-1]).any(axis=1)
        starts = np.flatnonzero(new)
        return cls(
            counts.h[starts],
            counts.keys[starts],
            np.add.reduceat(counts.n_graphs, starts),
            np.minimum.reduceat(counts.first, starts),
        )

    def where(self, chosen: Bool | Int64) -> ColumnCounts:
        """Return a part of the columns, or these in another order."""
        parts: Any = (part[chosen] for part in self)
        return ColumnCounts(*parts)

    def frequent(self, choice: ColumnChoice, n_graphs: int) -> ColumnCounts:
        """Return the columns to keep and, of ``max_features``, all that are as frequent as the last.

        `freeze`, which has them in order, chooses among these.
        """
        fewest, most = choice.bounds(n_graphs)
        enough = self.where((self.n_graphs >= fewest) & (self.n_graphs <= most))
        if choice.max_features is None or len(enough.h) <= choice.max_features:
            return enough
        return enough.where(enough.n_graphs >= np.sort(enough.n_graphs)[-choice.max_features])


def column_keys(space: FeatureSpace) -> list[UInt64]:
    """Return a content key for each column, one array of shape (n, 2) per round, equal on every machine.

    That of the colour or, for pairs, one of colour and value.
    """
    keys = content_keys(space.alphabet)
    if space.twins is None:
        return keys
    out = []
    for of_colour, part in zip(keys, space.twins):
        colour, value = part.pairs.T.astype(np.int64)
        of_value = row_keys(value[:, None]) if space.values is None else space.values.keys[value]
        out.append(absorb_rows(np.ascontiguousarray(of_colour[colour]), np.ascontiguousarray(of_value)))
    return out


def freeze(vectorizer: STwinVectorizer, counts: ColumnCounts, graphs: GraphBatch) -> STwinVectorizer:
    """Give a vectorizer, instead of ``fit``, the frequent columns of graphs that were counted in parts.

    Columns stand in the order in which a vectorizer fitted on all graphs has them: by round, then by first
    occurrence, pairs by colour and value. (Labels, in round 0, stand in the order of the batch's vocabulary.)

    Parameters
    ----------
    vectorizer
        It was used to count (its `settings`).
    counts
        Of the columns that are frequent enough.
    graphs
        The graphs ``np.unique(counts.first)``, which have all of these columns.

    Raises
    ------
    TwinWLError
        If these graphs do not have the columns.
    """
    space = stwin_features(graphs, **vectorizer.settings).space
    n_graphs, n_found = [], 0
    for h, keys in enumerate(column_keys(space)):
        counted = counts.where(counts.h == h)
        number, _ = features.ValueTable(counted.keys).numbers(keys, insert=False)
        n_found += int(np.count_nonzero(number >= 0))
        n_graphs.append(np.append(counted.n_graphs, 0)[number])
    if n_found != len(counts.h):
        raise TwinWLError(
            f"{len(counts.h) - n_found} of {len(counts.h)} columns are in none of the graphs in which they "
            "were counted; the graphs have changed since, so count them again"
        )
    frequency = np.concatenate(n_graphs)
    columns = ColumnChoice(1, vectorizer.max_features).columns(frequency, int(frequency.max(initial=0)))
    vectorizer._keep(*_restrict(space, columns), frequency[columns])  # noqa: SLF001  (the same module)
    return vectorizer


def _restrict(space: FeatureSpace, kept: Int64) -> tuple[FeatureSpace, Int64 | None]:
    """Return the smallest space that has some columns, and their places in it; None if it has no others."""
    first = pointer(space.columns_per_round)
    of_round = np.split(kept, np.searchsorted(kept, first[1:-1]))
    places = [columns - low for columns, low in zip(of_round, first, strict=False)]
    if space.twins is None:
        alphabet, rank = _close(space.alphabet, places)
        smaller = replace(space, alphabet=alphabet)
        if smaller.n_columns == len(kept):
            return smaller, None
        new = [
            low + of[place] for low, of, place in zip(pointer(alphabet.n_colours), rank, places, strict=False)
        ]
        return smaller, np.concatenate(new)
    pairs = [part.pairs[place] for part, place in zip(space.twins, places)]
    alphabet, rank = _close(space.alphabet, [part[:, 0] for part in pairs])
    twins = tuple(
        Round(
            np.arange(0, 2 * len(part) + 1, 2, dtype=np.int64),
            np.stack([of[part[:, 0]], part[:, 1]], axis=1).astype(np.int32).ravel(),
            old.stride,
        )
        for old, part, of in zip(space.twins, pairs, rank)
    )
    examples = space.examples
    if examples is not None:
        examples = examples.of_columns(kept)
    return replace(space, alphabet=alphabet, twins=twins, examples=examples), None


def _close(alphabet: Alphabet, wanted: list[Int64]) -> tuple[Alphabet, list[Int64]]:
    """Return the smallest alphabet with these colours of each round, and the new number of each colour."""
    # From the last round down: a colour is needed if it is asked for, or part of a needed signature.
    needed = [np.zeros(width, np.bool_) for width in alphabet.n_colours]
    signatures = []
    for h in range(alphabet.n_iter, -1, -1):
        needed[h][wanted[h]] = True
        if h:
            part = alphabet.rounds[h - 1]
            lengths = np.diff(part.sig_ptr)
            items = part.sig_items[np.repeat(needed[h], lengths)].astype(np.int64)
            codes, colours = np.divmod(items, max(1, part.stride))  # one's own colour has code 0
            needed[h - 1][colours] = True
            signatures.append((codes, colours, pointer(lengths[needed[h]])))
    rank = [np.cumsum(mask, dtype=np.int64) - 1 for mask in needed]
    rounds = []
    for part, below, of, (codes, colours, sig_ptr) in zip(alphabet.rounds, needed, rank, signatures[::-1]):
        stride = int(below.sum())
        items = (codes * stride + of[colours]).astype(item_dtype(stride, part.n_codes))
        rounds.append(Round(sig_ptr, items, stride, part.n_codes))
    labels = tuple(label for label, is_needed in zip(alphabet.labels, needed[0]) if is_needed)
    return replace(alphabet, labels=labels, rounds=tuple(rounds)), rank


def _in_order(counts: ColumnCounts) -> ColumnCounts:
    return counts.where(np.lexsort((counts.h, counts.keys[:, 1], counts.keys[:, 0])))


@savable
@with_parameters
class STwinVectorizer(TransformerMixin, ViewEstimator):
    """Turn graphs into sparse STwin features.

    Where graphs have several views, the columns of one follow those of another, and their names begin with
    the name of the view.

    Parameters
    ----------
    n_iter : int or None, default=3
        Number of rounds of twin passing; None continues until the training graphs' colours are stable.
    features : {"count", "size", "joint"}, default="size"
        ``"count"``: how many nodes have each colour (plain WL). ``"size"``: the sum of their rooted sizes,
        equation (3). ``"joint"``: how many nodes have each (colour, readout), equation (2). Only
        ``"joint"`` is never weaker than ``"count"``: sums of sizes can, rarely, cancel where counts differ.
    edge_labels : bool or None, default=None
        Let edge labels take part, where the graphs have them. None ignores them as False does, with a
        warning if they differ.
    initial : {"label", "degree", "ring"}, default="label"
        What round 0 looks at: the label, the degree, or the label and whether the node lies on a cycle.
    min_df : int or float, default=1
        Drop columns that occur in fewer training graphs than this (a share of them, where a float).
    max_features : int or None, default=None
        Keep this many columns at most: those that occur in most training graphs, the earlier one of equals.
    ignore_features : bool, default=False
        Do not warn about continuous node features, which are not used.
    readout : str, function or list of these, default="size"
        For ``"joint"``: what is read out of each node's rooted subgraph, by a name from
        `twinwl.isomorphism.READOUTS`, as for `twinwl.compare`; or a function of a `RootedSubgraph` that
        returns a number, a string or a tuple of these. It sees the labels that colours are made of: edge
        labels only with ``edge_labels=True``, and node labels only with ``initial="label"``.
    max_df : int or float, default=1.0
        Drop columns that occur in more training graphs than this (a share of them, where a float).
    pairs : int or None, default=None
        Also count pairs of nodes by their labels and their distance, up to this distance, ``d3:c0:c2``.

    Attributes
    ----------
    spaces_ : ViewSpaces
        Alphabet and columns of each view, before any were dropped; those of the first are also ``space_``.
    columns_ : array of int64, or None
        The columns of ``spaces_`` that are kept; None where all are.
    n_features_out_ : int
    n_graphs_with_column_ : array of int64, or None
        Where the columns come from a vocabulary: how many graphs had each when they were counted.

    See Also
    --------
    TwinKernel : Similarities of graphs, from these features.
    STwinSVC : A classifier that chooses the number of rounds.
    explain : The reasons for a prediction from these features.

    Examples
    --------
    >>> from twinwl import GraphBatch, STwinVectorizer
    >>> path, triangle = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]
    >>> vectorizer = STwinVectorizer(n_iter=1)
    >>> vectorizer.fit_transform(GraphBatch.from_edges([path, triangle])).toarray()
    array([[3., 4., 3.],
           [3., 0., 9.]])
    >>> vectorizer.get_feature_names_out().tolist()
    ['0: •', '1: •(•)', '1: •(2×•)']
    >>> print(vectorizer.explain_column(2))
    •
    └─ 2 × •
    >>> by_edges = STwinVectorizer(n_iter=1, features="joint", readout="edges")
    >>> by_edges.fit_transform(GraphBatch.from_edges([path, triangle])).toarray()
    array([[3., 2., 0., 1.],
           [3., 0., 3., 0.]])
    >>> print(by_edges.explain_column(2))
    •
    └─ 2 × •
    and edges=8d54d493d568d004, as in this rooted subgraph:
      0: • (root) – 1, 2
      1: • – 0, 2
      2: • – 0, 1
    """

    _constraints = {
        "min_df": (integer(1, MAX_ITEMS), FRACTION),
        "max_features": (integer(1, MAX_ITEMS), None),
        "max_df": (integer(1, MAX_ITEMS), FRACTION),
    }

    _fitted_attribute = "spaces_"
    _kept = {
        "columns": Int64 | None,
        "n_graphs_with_column": Int64 | None,
    }

    n_iter: int | None = 3
    features: str = "size"
    edge_labels: bool | None = None
    initial: str = "label"
    min_df: int | float = 1
    max_features: int | None = None
    ignore_features: bool = False
    _: KW_ONLY
    readout: ReadoutChoice = "size"
    max_df: int | float = 1.0
    pairs: int | None = None

    @classmethod
    def from_vocabulary(
        cls,
        path: str | PathLike[str],
        *,
        min_df: int | None = None,
        max_features: int | None = None,
        **settings: object,
    ) -> STwinVectorizer:
        """Return a fitted vectorizer with the columns of a vocabulary, as ``corpus features`` writes them.

        Its `transform` equals that of a vectorizer fitted on all graphs of the corpus in memory, with the
        same parameters. The vocabulary lacks columns below its ``min_df`` altogether, so `unseen_rates`
        counts their nodes as unseen.

        Parameters
        ----------
        path
            The file ``vocabulary.twinwl``.
        min_df
            Keep only columns that occur in at least this many graphs; not below that of the vocabulary.
        max_features
            Keep this many columns at most, the most frequent ones.
        **settings
            ``n_iter``, ``features``, ``edge_labels``, ``initial`` or ``readout``: what the vocabulary is
            expected to have.

        Returns
        -------
        STwinVectorizer
            Fitted.

        Raises
        ------
        TwinWLError
            If the file is not a vocabulary, or has other settings.
        """
        model = load(path)
        if not isinstance(model, STwinVectorizer) or model.n_graphs_with_column_ is None:
            raise TwinWLError(
                f"{str(path)!r} holds a {type(model).__name__}, expected a vocabulary, which `twinwl corpus "
                "features` writes"
            )
        for name, value in settings.items():
            if name not in cls._constraints:
                raise TypeError(f"from_vocabulary() got an unexpected keyword argument {name!r}")
            if (own := getattr(model, name)) != value:
                raise TwinWLError(
                    f"{name}: got {shown(value)}, but the vocabulary {str(path)!r} was counted with "
                    f"{shown(own)}; count the corpus again with the settings you need"
                )
        n_graphs = model.n_graphs_with_column_
        fewest = model.min_df if min_df is None else checked("min_df", min_df, cls._constraints["min_df"][0])
        if fewest < model.min_df:
            raise TwinWLError(
                f"min_df: got {fewest}, but the vocabulary {str(path)!r} only has columns of {model.min_df} "
                "graphs and more; count the corpus again with a lower min_df"
            )
        checked("max_features", max_features, *cls._constraints["max_features"])
        columns = ColumnChoice(fewest, max_features).columns(n_graphs, int(n_graphs.max(initial=0)))
        if len(columns) < len(n_graphs):
            model.columns_ = columns if model.columns_ is None else model.columns_[columns]
            model.n_graphs_with_column_, model.n_features_out_ = n_graphs[columns], len(columns)
            model.min_df, model.max_features = fewest, max_features or model.max_features
        return model

    def fit(self, X: GraphsLike, y: object = None) -> STwinVectorizer:  # noqa: ARG002
        """Learn the alphabet and the columns from training graphs.

        Parameters
        ----------
        X : GraphBatch or sequence of graphs
            The training graphs, in any form that `as_batch` accepts.
        y : ignored
            Present for scikit-learn.

        Returns
        -------
        STwinVectorizer
            The fitted vectorizer itself.
        """
        self._learn(X)
        return self

    def fit_transform(self, X: GraphsLike, y: object = None) -> sparse.csr_matrix:  # noqa: ARG002
        """Return ``fit(X).transform(X)``, computed in one pass.

        Parameters
        ----------
        X : GraphBatch or sequence of graphs
            The training graphs, in any form that `as_batch` accepts.
        y : ignored
            Present for scikit-learn.

        Returns
        -------
        csr_matrix of float64, shape ``(n_graphs, n_features_out_)``
        """
        return keep_columns(self._learn(X).matrix, self.columns_)

    def transform(self, X: GraphsLike) -> sparse.csr_matrix:
        """Encode graphs with the alphabet of the training graphs.

        Nodes with a colour that no training graph has are left out; `unseen_rate` returns their share.

        Parameters
        ----------
        X : GraphBatch or sequence of graphs
            The graphs, in any form that `as_batch` accepts.

        Returns
        -------
        csr_matrix of float64, shape ``(n_graphs, n_features_out_)``
        """
        self._check_fitted()
        batch = self._new_graphs(X, "transform")
        encodings = self.spaces_.encoded(batch)
        warn_strange_graphs(batch, encodings.colours)
        return keep_columns(encodings.matrix, self.columns_)

    def unseen_rate(self, X: GraphsLike) -> float:
        """Return the mean of `unseen_rates`: 1.0 where not even a label was seen in training."""
        return float(self.unseen_rates(X).mean())

    def unseen_rates(self, X: GraphsLike) -> Float64:
        """Return, by round, the share of nodes whose colour no training graph has; `transform` omits them.

        For ``"joint"`` it is colour and readout. Of several views it is the mean.

        Returns
        -------
        array of float64, shape (n_iter + 1,)
        """
        self._check_fitted()
        batch = self._new_graphs(X, "look at")
        colours = self.spaces_.encoded(batch).colours
        return np.mean([part.unseen_per_round for part in colours], axis=0) / max(1, batch.n_nodes)

    @property
    def unseen_rate_(self) -> float:
        """Gone: ``transform`` keeps nothing."""
        raise AttributeError("transform keeps nothing of the last call; call unseen_rate(X)")

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Name each column by its pattern, for people to read: ``2: C(C,O)``.

        That is the round, and the rooted tree of the nodes that are counted, without the steps back to where
        one came from: a C whose neighbours are a C and an O, with all that is one step further in brackets
        behind each. ``2×`` stands for two of a kind, and bonds are written as in SMILES. For ``"joint"`` the
        rooted size follows, ``2: C(C,O) size=5``, or the beginning of the content key of a readout's value,
        which is the same on every machine. Names that would be the same, because a long tree is cut, get
        their code too (`column_codes`).
        """
        self._check_fitted()
        return np.array(self.spaces_.texts(self.columns_), dtype=object)

    def column_codes(self) -> list[str]:
        """Return a short code for each column, of round and colour: ``h2:c17``, or ``h2:c17:s5``.

        Explanations name columns by these codes. Numbers of colours are those of this vectorizer only.
        """
        self._check_fitted()
        return self.spaces_.column_names(self.columns_)

    def explain_column(self, column: int) -> RootedTree:
        """Return the rooted tree that a column counts: what its nodes see within their round's steps.

        With a readout, also a rooted subgraph that the column counted in training, ``.example``.
        """
        self._check_fitted()
        return self.spaces_.explained(self._column_of_space(column))[1]

    def _column_of_space(self, column: int) -> int:
        column = checked("column", column, integer(0, self.n_features_out_ - 1))
        return int(column if self.columns_ is None else self.columns_[column])

    @property
    def column_choice(self) -> ColumnChoice:
        """The parameters that decide which columns are kept."""
        return ColumnChoice(*(getattr(self, name) for name in ColumnChoice._fields))

    def _learn(self, X: GraphsLike) -> ViewEncodings:
        encodings = ViewSpaces.learn(self._graphs_to_fit(X), self.settings, self.pairs)
        matrix = encodings.matrix
        n_graphs, n_columns = matrix.shape
        n_graphs_with = np.bincount(matrix.indices, minlength=n_columns)
        columns = self.column_choice.columns(n_graphs_with, n_graphs)
        self._keep_views(encodings.spaces, columns if len(columns) < n_columns else None, None)
        return encodings

    def _keep_views(
        self, spaces: ViewSpaces, columns: Int64 | None, n_graphs_with_column: Int64 | None
    ) -> None:
        features.check_columns(columns, spaces.n_columns)
        self.spaces_, self.columns_, self.n_graphs_with_column_ = spaces, columns, n_graphs_with_column
        self.n_features_out_ = spaces.n_columns if columns is None else len(columns)
        if n_graphs_with_column is not None and len(n_graphs_with_column) != self.n_features_out_:
            raise TwinWLError("the numbers of graphs do not fit the columns; the file is damaged")


def warn_strange_graphs(batch: GraphBatch, views: Sequence[Encoding]) -> None:
    """Warn once where graphs carry only labels that training never saw, in every view."""
    labels = [np.diff(pointer(view.column_of_node[0] < 0)[batch.graph_ptr]) for view in views]
    unseen_per_graph = np.min(labels, axis=0)
    warn_unseen_labels((unseen_per_graph == batch.nodes_per_graph) & (unseen_per_graph > 0))
