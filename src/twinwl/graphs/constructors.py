"""The constructors of GraphBatch: one class method for each kind of input.

Each only names its module, so that nothing is imported before it is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from twinwl.arrays import Values

if TYPE_CHECKING:
    import igraph
    import networkx as nx
    import scipy.sparse
    import torch_geometric.data

    from twinwl.graphs.batch import GraphBatch


class Constructors:
    """The ``from_…`` constructors of `GraphBatch`."""

    __slots__ = ()

    @classmethod
    def from_edges(
        cls,
        edge_lists: Iterable[Iterable[tuple[int, int]]],
        node_labels: Iterable[Sequence[object]] | None = None,
        num_nodes: Iterable[int] | None = None,
        edge_labels: Iterable[Sequence[object]] | None = None,
        node_features: Iterable[Values] | None = None,
        *,
        directed: bool = False,
    ) -> GraphBatch:
        """Build a batch from one list of ``(u, v)`` per graph; nodes are 0..n-1.

        Parameters
        ----------
        edge_lists
            An edge may be given once or from both ends; arrays of shape (n_edges, 2) are accepted too.
        node_labels
            One sequence of labels per graph; its length is that graph's number of nodes.
        num_nodes
            Number of nodes of each graph; needed only if the last nodes are isolated.
        edge_labels
            One sequence of labels per graph, aligned with its edge list.
        node_features
            One array of shape (n_nodes, n_features) per graph.
        directed
            Keep arcs one-way.

        Returns
        -------
        GraphBatch

        Examples
        --------
        >>> from twinwl import GraphBatch
        >>> GraphBatch.from_edges([[(0, 1), (1, 2)]], num_nodes=[4])
        GraphBatch(1 graph, 4 nodes, 2 edges)
        """
        from twinwl.graphs.from_objects import from_edges  # noqa: PLC0415

        return from_edges(edge_lists, node_labels, num_nodes, edge_labels, node_features, directed=directed)

    @classmethod
    def from_networkx(
        cls,
        graphs: Iterable[nx.Graph],
        node_label: str | None = None,
        edge_label: str | None = None,
        node_features: str | None = None,
    ) -> GraphBatch:
        """Build a batch from networkx graphs; nodes keep the order of ``graph.nodes``.

        Attributes that are not named are not read; the guide, "What counts as the same graph", has the rules.

        Parameters
        ----------
        graphs
            Directed graphs give a directed batch; directed and undirected ones do not mix.
        node_label, edge_label
            Attributes with the labels. Weights are ignored with a warning, unless ``edge_label="weight"``.
        node_features
            Attribute with the vector of features of each node.

        Returns
        -------
        GraphBatch

        Examples
        --------
        >>> import networkx as nx
        >>> from twinwl import GraphBatch
        >>> GraphBatch.from_networkx([nx.path_graph(3), nx.cycle_graph(4)])
        GraphBatch(2 graphs, 7 nodes, 6 edges)
        """
        from twinwl.graphs.from_networkx import from_networkx  # noqa: PLC0415

        return from_networkx(graphs, node_label, edge_label, node_features)

    @classmethod
    def from_scipy(
        cls,
        adjacencies: Iterable[scipy.sparse.sparray | Values],
        node_labels: Iterable[Sequence[object]] | None = None,
        edge_label: str | None = None,
        *,
        directed: bool = False,
    ) -> GraphBatch:
        """Build a batch from adjacency matrices, sparse or dense.

        Parameters
        ----------
        adjacencies
            One square matrix per graph.
        node_labels
            One sequence of labels per graph.
        edge_label
            ``"weight"`` reads entries as edge labels; otherwise entries other than 0 and 1 are weights, which
            are ignored with a warning.
        directed
            Keep arcs one-way; otherwise a matrix that is not symmetric is an error.

        Returns
        -------
        GraphBatch

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> from twinwl import GraphBatch
        >>> GraphBatch.from_scipy([sp.csr_array([[0, 1], [1, 0]])])
        GraphBatch(1 graph, 2 nodes, 1 edge)
        """
        from twinwl.graphs.from_objects import from_scipy  # noqa: PLC0415

        return from_scipy(adjacencies, node_labels, edge_label, directed=directed)

    @classmethod
    def from_pyg(
        cls,
        data_list: Iterable[torch_geometric.data.Data] | torch_geometric.data.Batch,
        edge_label: str | None = None,
        *,
        directed: bool = False,
        x: str = "auto",
    ) -> GraphBatch:
        """Build a batch from PyTorch Geometric ``Data`` objects, or from the graphs of one ``Batch``.

        ``x`` of an integer kind is node labels: the integer of a single column, the place of the one in
        one-hot rows, else a tuple per row. ``x`` of a floating kind is node labels if every row of every
        graph is one-hot, and continuous node features otherwise. ``edge_attr`` is edge labels by the same
        rules; several continuous columns are an error, because edges have no features here.

        ``edge_weight``, and an ``edge_attr`` of one floating column, are weights: ignored with a warning.

        Parameters
        ----------
        data_list
            Graphs whose ``edge_index`` holds both arcs of each edge.
        edge_label
            Attribute whose rows are used as edge labels, continuous or not.
        directed
            Keep arcs one-way.
        x
            ``"auto"`` is the rule above, which looks at all graphs. The others read each row by itself:
            ``"features"`` as continuous features, ``"rows"`` as the tuple of its numbers, ``"labels"`` as the
            place of the one in a one-hot row, else as that tuple. Labels are integers, or zeros and ones.
            Fitted estimators remember which of these suits their training graphs.

        Returns
        -------
        GraphBatch

        Examples
        --------
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from twinwl import GraphBatch
        >>> arcs = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> GraphBatch.from_pyg([Data(x=torch.tensor([[6], [6], [8]]), edge_index=arcs)])
        GraphBatch(1 graph, 3 nodes, 2 edges, 2 node labels)
        """
        from twinwl.graphs.from_pyg import from_pyg  # noqa: PLC0415

        return from_pyg(data_list, edge_label, directed=directed, x=x)

    @classmethod
    def from_graph6(cls, strings: Iterable[str | bytes]) -> GraphBatch:
        """Build a batch from graph6, sparse6 or digraph6 strings.

        Parameters
        ----------
        strings
            One string per graph.

        Returns
        -------
        GraphBatch

        Examples
        --------
        >>> from twinwl import GraphBatch
        >>> GraphBatch.from_graph6(["Bw", "A_"])
        GraphBatch(2 graphs, 5 nodes, 4 edges)
        """
        from twinwl.graphs.from_graph6 import from_graph6  # noqa: PLC0415

        return from_graph6(strings)

    @classmethod
    def from_igraph(
        cls, graphs: Iterable[igraph.Graph], node_label: str | None = None, edge_label: str | None = None
    ) -> GraphBatch:
        """Build a batch from igraph graphs.

        Parameters
        ----------
        graphs
            Directed graphs give a directed batch; directed and undirected ones do not mix.
        node_label, edge_label
            Vertex and edge attributes with the labels. Weights are ignored with a warning, unless
            ``edge_label="weight"``.

        Returns
        -------
        GraphBatch

        Examples
        --------
        >>> import igraph
        >>> from twinwl import GraphBatch
        >>> GraphBatch.from_igraph([igraph.Graph.Ring(5)])
        GraphBatch(1 graph, 5 nodes, 5 edges)
        """
        from twinwl.graphs.from_igraph import from_igraph  # noqa: PLC0415

        return from_igraph(graphs, node_label, edge_label)
