"""The doors of GraphBatch: one class method for each kind of graph the outside world has.

Each only names its module, so that nothing is imported before it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import igraph
    import networkx as nx
    import numpy as np
    import scipy.sparse
    import torch_geometric.data
    from numpy.typing import NDArray

    from twinwl.graphs.batch import GraphBatch

__all__ = ["Constructors"]


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
        node_features: Iterable[NDArray[np.generic]] | None = None,
        *,
        directed: bool = False,
    ) -> GraphBatch:
        """Build a batch from one list of ``(u, v)`` a graph; nodes are 0..n-1.

        Parameters
        ----------
        edge_lists
            An edge may be named once or from both ends; arrays of shape (n_edges, 2) are taken too.
        node_labels
            One sequence of labels a graph; its length is that graph's number of nodes.
        num_nodes
            Number of nodes of each graph; needed only where isolated nodes come last.
        edge_labels
            One sequence of labels a graph, aligned with its edge list.
        node_features
            One array of shape (n_nodes, n_features) a graph.
        directed
            Keep arcs one-way.

        >>> from twinwl import GraphBatch
        >>> GraphBatch.from_edges([[(0, 1), (1, 2)]], num_nodes=[4])
        GraphBatch(1 graph, 4 nodes, 2 edges)
        """
        from twinwl.graphs.from_edges import from_edges  # noqa: PLC0415

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

        ``node_label``, ``edge_label`` and ``node_features`` name the attributes to read. Directed graphs
        give a directed batch; directed and undirected ones do not mix.

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
        adjacencies: Iterable[scipy.sparse.sparray | NDArray[np.generic]],
        node_labels: Iterable[Sequence[object]] | None = None,
        *,
        directed: bool = False,
    ) -> GraphBatch:
        """Build a batch from adjacency matrices, sparse or dense.

        A matrix that is not symmetric is an error unless ``directed=True``; so is one with weights.

        >>> import scipy.sparse as sp
        >>> from twinwl import GraphBatch
        >>> GraphBatch.from_scipy([sp.csr_array([[0, 1], [1, 0]])])
        GraphBatch(1 graph, 2 nodes, 1 edge)
        """
        from twinwl.graphs.from_scipy import from_scipy  # noqa: PLC0415

        return from_scipy(adjacencies, node_labels, directed=directed)

    @classmethod
    def from_pyg(cls, data_list: Iterable[torch_geometric.data.Data]) -> GraphBatch:
        """Build a batch from PyTorch Geometric ``Data`` objects.

        ``x`` becomes labels where its rows are one-hot or a single integer column, and continuous node
        features otherwise; ``edge_attr`` likewise becomes edge labels where it is discrete.
        """
        from twinwl.graphs.from_pyg import from_pyg  # noqa: PLC0415

        return from_pyg(data_list)

    @classmethod
    def from_graph6(cls, strings: Iterable[str | bytes]) -> GraphBatch:
        """Build a batch from graph6, sparse6 or digraph6 strings, one a graph.

        >>> from twinwl import GraphBatch
        >>> GraphBatch.from_graph6(["Bw", "A_"])
        GraphBatch(2 graphs, 5 nodes, 4 edges)
        """
        from twinwl.graphs.from_graph6 import from_graph6  # noqa: PLC0415

        return from_graph6(strings)

    @classmethod
    def from_smiles(cls, smiles: Iterable[str]) -> GraphBatch:
        """Build a batch from SMILES strings: atoms labelled by element symbol, bonds by bond type."""
        from twinwl.graphs.from_smiles import from_smiles  # noqa: PLC0415

        return from_smiles(smiles)

    @classmethod
    def from_igraph(
        cls, graphs: Iterable[igraph.Graph], node_label: str | None = None, edge_label: str | None = None
    ) -> GraphBatch:
        """Build a batch from igraph graphs; the arguments name the vertex and edge attributes to read.

        >>> import igraph
        >>> from twinwl import GraphBatch
        >>> GraphBatch.from_igraph([igraph.Graph.Ring(5)])
        GraphBatch(1 graph, 5 nodes, 5 edges)
        """
        from twinwl.graphs.from_igraph import from_igraph  # noqa: PLC0415

        return from_igraph(graphs, node_label, edge_label)
