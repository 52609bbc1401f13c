"""The readouts written literally: functions of a `naive.Rooted` that return plain nested tuples."""

from __future__ import annotations

from collections import Counter

import networkx as nx


def size(rooted):
    return rooted.graph.n


def edges(rooted):
    return size(rooted), _multiset(_edge_label(rooted, u, v) for u, v in _arcs(rooted))


def degrees(rooted):
    return _multiset(
        _local_view(rooted, node, dict.fromkeys(range(rooted.graph.n))) for node in _nodes(rooted)
    )


def wl(rooted):
    return _stable_colours(rooted, {node: repr(rooted.graph.labels[node]) for node in _nodes(rooted)})


def rooted_wl(rooted):
    start = {node: (repr(rooted.graph.labels[node]), node == rooted.root) for node in _nodes(rooted)}
    return _stable_colours(rooted, start)


def rooted_fwl2(rooted):
    """Folklore 2-WL: pairs of nodes, refined by all ways through a third."""
    nodes = _nodes(rooted)
    label, root = rooted.graph.labels, rooted.root
    colour = {
        (u, v): (u == v, repr(label[u]), repr(label[v]), u == root, v == root, _joins(rooted, u, v))
        for u in nodes
        for v in nodes
    }
    for _ in range(len(nodes) ** 2 + 1):
        colour = _interned(
            {
                (u, v): (colour[u, v], _multiset((colour[u, w], colour[w, v]) for w in nodes))
                for u, v in colour
            }
        )
    return _multiset(colour.values())


def canonical(rooted):
    """Which class of isomorphic rooted graphs it belongs to, classes being numbered as they come."""
    graph = nx.DiGraph()
    for node in _nodes(rooted):
        graph.add_node(node, mark=(repr(rooted.graph.labels[node]), node == rooted.root))
    for u, v in _arcs(rooted):
        graph.add_edge(u, v, mark=_edge_label(rooted, u, v))
    counts = (
        graph.number_of_nodes(),
        graph.number_of_edges(),
        _multiset(nx.get_node_attributes(graph, "mark").values()),
    )
    known = _CLASSES.setdefault(counts, [])
    for number, other in enumerate(known):
        if nx.is_isomorphic(graph, other, node_match=_same_mark, edge_match=_same_mark):
            return counts, number
    known.append(graph)
    return counts, len(known) - 1


BY_NAME = {
    "size": size,
    "edges": edges,
    "degrees": degrees,
    "wl": wl,
    "rooted-wl": rooted_wl,
    "rooted-fwl2": rooted_fwl2,
    "canonical": canonical,
}

_CLASSES: dict[object, list[nx.DiGraph]] = {}
_NUMBER_OF_CONTENT: dict[object, int] = {}


def _nodes(rooted):
    return list(range(rooted.graph.n))


def _arcs(rooted):
    return [(u, v) for u in _nodes(rooted) for v in rooted.graph.neighbours[u]]


def _edge_label(rooted, u, v):
    return None if rooted.graph.edge_labels is None else repr(rooted.graph.edge_labels[u, v])


def _joins(rooted, u, v):
    """What lies between two nodes, in either direction."""
    return tuple(
        _edge_label(rooted, a, b) or "arc" if b in rooted.graph.neighbours[a] else "none"
        for a, b in ((u, v), (v, u))
    )


def _multiset(values):
    return tuple(sorted(Counter(values).items(), key=repr))


def _local_view(rooted, node, colour):
    """A node's label, and what it hears from either end of its arcs."""
    neighbours = rooted.graph.neighbours
    ahead = _multiset((_edge_label(rooted, node, other), colour[other]) for other in neighbours[node])
    behind = _multiset(
        (_edge_label(rooted, other, node), colour[other]) for other in colour if node in neighbours[other]
    )
    return repr(rooted.graph.labels[node]), ahead, behind


def _stable_colours(rooted, colour):
    """1-WL for so many rounds that nothing can change any more in a graph of up to that many nodes."""
    for _ in range(12):
        colour = _interned({node: (colour[node], _local_view(rooted, node, colour)) for node in colour})
    return _multiset(colour.values())


def _interned(colour):
    """Replace each content by its number in one table for all graphs and all rounds: exact, and short."""
    return {
        key: _NUMBER_OF_CONTENT.setdefault(content, len(_NUMBER_OF_CONTENT))
        for key, content in colour.items()
    }


def _same_mark(first, second):
    return first["mark"] == second["mark"]
