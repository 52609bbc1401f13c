"""Views: several label columns of the same graphs, such as levels of atoms or several node attributes.

A batch's own labels are its first view. Each further one is kept as a complete set of labels beside them, so
that `GraphBatch.view` gives an ordinary batch without any work, and nothing else has to know of views.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from twinwl.arguments import MAX_ITEMS, NAME, checked, instance, integer, items
from twinwl.arrays import Int32, Int64
from twinwl.errors import GraphInputError, shown
from twinwl.graphs.building import aligned, coded
from twinwl.graphs.labels import Label

if TYPE_CHECKING:
    from twinwl.graphs.batch import GraphBatch

UNNAMED = "labels"
"""What a batch's own labels are called as a view, unless they have a name."""


class View(NamedTuple):
    """The labels of a further view, as in `GraphBatch`."""

    node_labels: Int32
    node_vocabulary: tuple[Label, ...]
    edge_labels: Int32 | None = None
    edge_vocabulary: tuple[Label, ...] = ()
    atoms: str | None = None

    @classmethod
    def of(cls, batch: GraphBatch) -> View:
        """Return the labels of a batch."""
        return cls(*(getattr(batch, name) for name in cls._fields))

    def part(self, nodes: slice | Int64, arcs: slice | Int64) -> View:
        """Return the labels of some nodes and arcs."""
        edges = None if self.edge_labels is None else self.edge_labels[arcs]
        return self._replace(node_labels=self.node_labels[nodes], edge_labels=edges)


class Views:
    """The methods of `GraphBatch` about views."""

    __slots__ = ()

    def view(self, which: int | str = 0) -> GraphBatch:
        """Return the graphs with the labels of one view alone.

        Parameters
        ----------
        which
            Its name, or its place among ``view_names``; 0 is the batch's own labels.

        >>> from twinwl import GraphBatch
        >>> batch = GraphBatch.from_smiles(["CC(=O)[O-]"], atoms=("skeleton", "constitution"))
        >>> batch.view_names, batch.view("constitution").labels_of_nodes()
        (('skeleton', 'constitution'), ['CH3', 'C', 'O', 'O-'])
        """
        batch = cast("GraphBatch", self)
        names = batch.view_names or (batch.atoms or UNNAMED,)
        place = checked("view", which, integer(0, MAX_ITEMS), NAME)
        place = names.index(place) if place in names else place
        if isinstance(place, str) or place >= len(names):
            raise GraphInputError(f"view: got {shown(which)}, but these graphs have {shown(list(names))}")
        own = {} if place == 0 else batch.views[place - 1]._asdict()
        return batch.changed(**own, views=(), view_names=()) if batch.views else batch

    def each_view(self) -> list[GraphBatch]:
        """Return the graphs with the labels of each view."""
        return [self.view(place) for place in range(max(1, len(cast("GraphBatch", self).view_names)))]

    def select_views(self, names: Sequence[str]) -> GraphBatch:
        """Return the graphs with some of the views, in this order.

        >>> from twinwl import GraphBatch
        >>> batch = GraphBatch.from_smiles(["CCO"], atoms=("skeleton", "constitution", "ecfp"))
        >>> batch.select_views(["ecfp", "skeleton"]).view_names
        ('ecfp', 'skeleton')
        """
        batch = cast("GraphBatch", self)
        wanted = items("views", names, "names of views")
        return (
            batch if tuple(wanted) == batch.view_names else stacked({one: self.view(one) for one in wanted})
        )

    def with_views(
        self, labels: Mapping[str, Sequence[Sequence[object]]], own: str | None = None
    ) -> GraphBatch:
        """Return the same graphs with further views.

        Parameters
        ----------
        labels
            By the name of the view, one sequence of node labels per graph.
        own
            What the batch's own labels are called, which remain the first view. None is the level of its
            atoms, or ``"labels"``.

        >>> from twinwl import GraphBatch
        >>> batch = GraphBatch.from_edges([[(0, 1), (1, 2)]], node_labels=[["a", "b", "a"]])
        >>> batch.with_views({"size": [[3, 1, 3]]})
        GraphBatch(1 graph, 3 nodes, 2 edges, 2 node labels, 2 views)
        """
        batch = cast("GraphBatch", self)
        counts = batch.nodes_per_graph
        first = checked("own", own, NAME, None) or batch.atoms or UNNAMED
        views = dict(zip(batch.view_names or (first,), self.each_view()))
        for name, parts in checked("labels", labels, instance(dict)).items():
            if checked("view", name, NAME) in views:
                raise GraphInputError(f"view: there are two called {name!r}; rename one")
            found = coded(aligned(parts, len(batch), f"view {name!r}"), counts, "node")
            if found is None:
                raise GraphInputError(f"view {name!r}: got None, expected one sequence of labels per graph")
            views[name] = views[next(iter(views))].changed(
                node_labels=found.codes, node_vocabulary=found.vocabulary, atoms=None
            )
        return stacked(views)


def stacked(batches: Mapping[str, GraphBatch]) -> GraphBatch:
    """Join batches of the same graphs, each with other labels, into one with a view for each."""
    if not batches:
        raise GraphInputError("views: got no name, expected at least one")
    first, *others = batches.values()
    if not others:
        return first
    return first.changed(views=tuple(map(View.of, others)), view_names=tuple(batches))
