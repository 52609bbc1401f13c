"""Pairs of graphs that are hard to tell apart, by the names they have in the literature."""

import networkx as nx


def two_triangles():
    return nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))


def decalin():
    """Two hexagons that share an edge."""
    graph = nx.cycle_graph(10)
    graph.add_edge(0, 5)
    return graph


def bicyclopentyl():
    """Two pentagons joined by an edge."""
    graph = nx.disjoint_union(nx.cycle_graph(5), nx.cycle_graph(5))
    graph.add_edge(0, 5)
    return graph


def rook():
    """The 4×4 rook's graph: cells of a board, joined where they share a row or a column."""
    return nx.convert_node_labels_to_integers(nx.line_graph(nx.complete_bipartite_graph(4, 4)))


def shrikhande():
    """The Cayley graph of Z4×Z4 by ±(0, 1), ±(1, 0), ±(1, 1)."""
    graph = nx.Graph()
    for row in range(4):
        for column in range(4):
            for down, right in ((0, 1), (1, 0), (1, 1)):
                graph.add_edge((row, column), ((row + down) % 4, (column + right) % 4))
    return nx.convert_node_labels_to_integers(graph)


def circular_skip_link(skip, n_nodes=41):
    return nx.circulant_graph(n_nodes, [1, skip])
