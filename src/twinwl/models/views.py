"""The feature spaces of all views of graphs, side by side: the columns of one view follow those of another.

Graphs of a single view have a single space, and nothing here does more than that space itself. Pairs, if
they are counted, have a space per view of their own, behind all others.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from twinwl.arguments import pointer, ranges
from twinwl.arrays import Float64, Int64
from twinwl.errors import TwinWLError
from twinwl.graphs.batch import GraphBatch
from twinwl.graphs.descriptors import Extra
from twinwl.models.base import warn_unseen_labels
from twinwl.models.explanation import RootedTree
from twinwl.models.features import Encoding, FeatureEstimator, FeatureSpace, stwin_features
from twinwl.models.pairs import DISTANCES, PairEncoding, PairSpace, pair_features

Space: TypeAlias = FeatureSpace | PairSpace


_TINY = 1e-300  # so that the deviation of two numbers that hardly differ is not 0
_MOST = 5.0  # standard deviations; some descriptors of a few molecules are astronomically large


@dataclass(frozen=True, eq=False)
class ExtraScaling:
    """How extra features become numbers of about the same size.

    Attributes
    ----------
    names : tuple of str
        The features that are used: those that vary.
    usual, centre, scale : arrays of float64, shape (n_features,)
        What stands for a missing value (the median), mean and standard deviation of the training graphs.
    """

    names: tuple[str, ...]
    usual: Float64
    centre: Float64
    scale: Float64

    @classmethod
    def fitted(cls, extra: Extra) -> ExtraScaling:
        """Learn from the training graphs.

        >>> scaling = ExtraScaling.fitted(Extra(("a", "b"), np.array([[1.0, 2], [np.nan, 2], [3, 2]])))
        >>> scaling.names, scaling.usual
        (('a',), array([2.]))
        """
        known = ~np.isnan(extra.values).all(axis=0)
        usual = np.zeros(len(extra.names))
        usual[known] = np.nanmedian(extra.values[:, known], axis=0)
        filled = np.where(np.isnan(extra.values), usual, extra.values)
        varies = np.flatnonzero(filled.min(axis=0) < filled.max(axis=0))
        if not len(varies):
            raise TwinWLError("extra features: all are the same for all graphs; leave them out")
        filled = filled[:, varies]
        names = tuple(extra.names[place] for place in varies.tolist())
        return cls(names, usual[varies], filled.mean(axis=0), np.maximum(filled.std(axis=0), _TINY))

    def apply(self, extra: Extra | None) -> Float64:
        """Return standardised features, at most 5 standard deviations from the mean."""
        if extra is None:
            raise TwinWLError(
                f"the model learnt from {len(self.names)} extra features, such as {self.names[0]!r}, and "
                "these graphs carry none; add them with batch.with_extra(...)"
            )
        values = extra.select(self.names).values
        filled = np.where(np.isnan(values), self.usual, values)
        return np.clip((filled - self.centre) / self.scale, -_MOST, _MOST)


class ViewEncodings(NamedTuple):
    """The features of some graphs in each space."""

    parts: list[Encoding | PairEncoding]
    spaces: ViewSpaces

    @property
    def matrix(self) -> sparse.csr_matrix:
        """The columns of all spaces."""
        matrices = [part.matrix for part in self.parts]
        return matrices[0] if len(matrices) == 1 else sparse.hstack(matrices, format="csr")

    @property
    def colours(self) -> list[Encoding]:
        """The features of the views, without those of pairs."""
        return self.parts[: len(self.spaces.views)]  # type: ignore[return-value]

    def node_shares(self, graph: GraphBatch, contributions: Float64) -> Float64:
        """Distribute the contributions of all columns among the nodes of one graph; see `Encoding`."""
        own = np.split(contributions, self.spaces.first_columns[1:-1])
        shares = [
            part.node_shares(view, share)
            for (_, view), part, share in zip(self.spaces.with_graphs(graph), self.parts, own)
        ]
        return np.sum(shares, axis=0)

    def explained(self, graph: GraphBatch, column: int) -> tuple[str, RootedTree, Int64]:
        """Return a column's name, the tree that it counts, and the nodes of the one graph that it counts."""
        place, own = self.spaces.locate(column)
        view = self.spaces.with_graphs(graph)[place][1]
        name, tree, nodes = self.parts[place].explained(view, own)
        return self.spaces.titled(place, name), tree, nodes


@dataclass(frozen=True, eq=False)
class ViewSpaces:
    """The meaning of the columns of all views.

    Attributes
    ----------
    views : tuple of FeatureSpace
        One per view.
    pairs : tuple of PairSpace
        One per view, if pairs are counted.
    names : tuple of str
        The names of the views; empty if there is one.
    """

    views: tuple[FeatureSpace, ...]
    pairs: tuple[PairSpace, ...] = ()
    names: tuple[str, ...] = ()

    @classmethod
    def learn(cls, batch: GraphBatch, settings: dict[str, Any], pairs: int | None = None) -> ViewEncodings:
        """Encode graphs, each view in a new space.

        Parameters
        ----------
        batch
            The graphs.
        settings
            Arguments of `stwin_features`.
        pairs
            Also count pairs of labels up to this distance.
        """
        views = batch.each_view()
        colours = [stwin_features(view, **settings) for view in views]
        counted = [] if pairs is None else [pair_features(view, pairs, settings["initial"]) for view in views]
        spaces = tuple(part.space for part in colours), tuple(part.space for part in counted)
        return ViewEncodings([*colours, *counted], cls(*spaces, batch.view_names))

    def __iter__(self) -> Iterator[Space]:
        return iter((*self.views, *self.pairs))

    @property
    def first_columns(self) -> Int64:
        """The first column of each space and, behind them, the number of all columns."""
        return pointer([space.n_columns for space in self])

    @property
    def n_columns(self) -> int:
        """Number of columns of all spaces."""
        return int(self.first_columns[-1])

    @property
    def titles(self) -> list[str]:
        """What each space is called; a single one needs no title."""
        names = self.names or ("labels",)
        return [*names, *(f"pairs of {name}" for name in names[: len(self.pairs)])]

    def first_rounds(self, n_iter: int) -> ViewSpaces:
        """Return the spaces of the first rounds alone; pairs have no rounds."""
        return replace(self, views=tuple(view.first_rounds(n_iter) for view in self.views))

    def columns_of(self, smaller: ViewSpaces, matrix: sparse.csr_matrix) -> sparse.csr_matrix:
        """Return the columns of a matrix that the spaces of fewer rounds have."""
        if smaller.n_columns == self.n_columns:
            return matrix
        widths = np.array([space.n_columns for space in smaller])
        return matrix[:, ranges(self.first_columns[:-1], widths)]

    def split(self, matrix: sparse.csr_matrix) -> list[sparse.csr_matrix]:
        """Return the columns of each space."""
        first = self.first_columns.tolist()
        if len(first) == 2:  # noqa: PLR2004
            return [matrix]
        return [matrix[:, low:high] for low, high in itertools.pairwise(first)]

    def widen(self, matrix: sparse.csr_matrix) -> None:
        """Give a matrix of a single view all columns; files of earlier versions do not tell their number."""
        if len(self.titles) == 1:
            self.views[0].widen(matrix)

    def with_graphs(self, batch: GraphBatch) -> list[tuple[Space, GraphBatch]]:
        """Return each space with the graphs as its view shows them."""
        views = batch.each_view()
        return list(zip(self, [*views, *views], strict=False))

    def encoded(self, batch: GraphBatch) -> ViewEncodings:
        """Encode other graphs; what the spaces lack is left out."""
        return ViewEncodings([space.encoded(view) for space, view in self.with_graphs(batch)], self)

    def encoded_with_rest(
        self, batch: GraphBatch
    ) -> tuple[ViewEncodings, list[Encoding] | list[PairEncoding]]:
        """Encode graphs for kernels, leaving nothing out: similarity with oneself counts every node.

        Returns
        -------
        known
            In these spaces.
        grown
            Of each space, the same features and temporary columns for all that it lacks.
        """
        known, grown = zip(*(space.encoded_with_rest(view) for space, view in self.with_graphs(batch)))
        found = ViewEncodings(list(known), self)
        entries = np.sum([np.diff(view.matrix.indptr) for view in found.colours], axis=0)
        warn_unseen_labels((entries == 0) & (batch.nodes_per_graph > 0))
        return found, list(grown)

    def titled(self, place: int, name: str) -> str:
        """Return the name of a column of a space, which starts with that of the view where there are more."""
        return name if not self.names else f"{(self.names * 2)[place]}:{name}"

    def column_names(self) -> list[str]:
        """Return a name for each column."""
        return [self.titled(place, name) for place, space in enumerate(self) for name in space.names()]

    def texts(self, columns: Int64 | None) -> list[str]:
        """Return a text for each of some columns, which tells what it counts."""
        chosen = np.arange(self.n_columns) if columns is None else columns
        bounds = np.searchsorted(chosen, self.first_columns)
        return [
            self.titled(place, text)
            for place, space in enumerate(self)
            for text in space.texts(chosen[bounds[place] : bounds[place + 1]] - self.first_columns[place])
        ]

    def locate(self, column: int) -> tuple[int, int]:
        """Return the place of a column's space, and the column there."""
        first = self.first_columns
        place = int(np.searchsorted(first, column, side="right")) - 1
        return place, column - int(first[place])

    def explained(self, column: int) -> tuple[str, RootedTree]:
        """Return a column's name, and the tree that it counts."""
        place, own = self.locate(column)
        name, tree = list(self)[place].explained(own)
        return self.titled(place, name), tree


_OF_VIEWS: dict[str, Any] = {
    "other_spaces": list[FeatureSpace],
    "pair_spaces": list[PairSpace],
    "view_names": tuple[str, ...],
}


class ViewEstimator(FeatureEstimator):
    """Base of estimators that use all views of graphs; ``fit`` sets ``spaces_``."""

    _uses_views = True
    _constraints = {"pairs": (DISTANCES, None)}
    _kept = {"space": FeatureSpace} | dict(_OF_VIEWS)
    _keep_views: Callable[..., None]

    spaces_: ViewSpaces
    pairs: int | None

    @property
    def space_(self) -> FeatureSpace:
        """The feature space of the first view."""
        return self.spaces_.views[0]

    @property
    def other_spaces_(self) -> list[FeatureSpace]:
        """Those of all other views."""
        return list(self.spaces_.views[1:])

    @property
    def pair_spaces_(self) -> list[PairSpace]:
        """What the columns of pairs stand for, by view."""
        return list(self.spaces_.pairs)

    def _keep(
        self,
        space: FeatureSpace,
        *parts: Any,  # noqa: ANN401
        other_spaces: Sequence[FeatureSpace] = (),
        pair_spaces: Sequence[PairSpace] = (),
        view_names: tuple[str, ...] = (),
        **named: Any,  # noqa: ANN401
    ) -> None:
        """Set the fitted attributes, as a model file has them."""
        n_views = len(other_spaces) + 1
        if len(view_names) != n_views * (n_views > 1) or len(pair_spaces) not in {0, n_views}:
            raise TwinWLError("the model's views do not fit together; the file is damaged")
        self.view_names_ = view_names
        self._keep_views(ViewSpaces((space, *other_spaces), tuple(pair_spaces), view_names), *parts, **named)

    def _to_state(self) -> dict[str, object]:
        """Return what ``fit`` has learnt; graphs of a single view leave what earlier versions read too."""
        state = super()._to_state()
        return {name: part for name, part in state.items() if name not in _OF_VIEWS or part}
