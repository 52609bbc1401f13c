"""The readouts written literally: functions of a `naive.Rooted` that return plain nested tuples."""

from __future__ import annotations

from collections import Counter
from functools import partial

import networkx as nx

from tests.naive import reference


def size(rooted):
    return rooted.graph.n


def edges(rooted):
    return size(rooted), _multiset(_edge_label(rooted, u, v) for u, v in _arcs(rooted))


def triangles(rooted):
    arcs = set(_arcs(rooted))
    closed = sum((v, w) in arcs and (u, w) in arcs for u, v in arcs for w in _nodes(rooted))
    return size(rooted), closed


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


def marked_wl(n_marks, rooted):
    """1-WL with the root marked, and again with each node of the largest cell marked as well, and so on.

    The largest cell is chosen among equals by the smallest key of its colour, which is that of the kernels.
    """
    labels = map(reference.token, rooted.graph.labels)
    keys = _stable_keys(
        rooted, {node: reference.digest(b"twl1 inner label", label) for node, label in enumerate(labels)}
    )
    keys[rooted.root] = reference.absorb(keys[rooted.root], (_MARK, _MARK))
    return _marked_value(rooted, _stable_keys(rooted, keys), n_marks)


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
    "triangles": triangles,
    "degrees": degrees,
    "wl": wl,
    "rooted-wl": rooted_wl,
    "marked-wl-1": partial(marked_wl, 1),
    "rooted-fwl2": rooted_fwl2,
    "marked-wl-2": partial(marked_wl, 2),
    "marked-wl-3": partial(marked_wl, 3),
    "canonical": canonical,
}

_MARK = 0x3C6EF372FE94F82B
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


def _marked_value(rooted, keys, n_marks):
    members = {key: [node for node in keys if keys[node] == key] for key in sorted(set(keys.values()))}
    largest = max(members.values(), key=len)
    value = _multiset((keys[node], _heard_keys(rooted, node, keys)) for node in keys)
    if n_marks and len(largest) > 1:
        marked = [{**keys, node: reference.absorb(keys[node], (_MARK, _MARK))} for node in largest]
        further = [_marked_value(rooted, _stable_keys(rooted, each), n_marks - 1) for each in marked]
        value = value, _multiset(further)
    return _NUMBER_OF_CONTENT.setdefault(value, len(_NUMBER_OF_CONTENT))


def _stable_keys(rooted, keys):
    """Refine until nothing changes; a cell that stays whole keeps its key."""
    while True:
        heard = {node: reference.absorb(keys[node], _heard_keys(rooted, node, keys)) for node in keys}
        mixed = {keys[node] for node in keys} - {
            key for key in keys.values() if len({heard[node] for node in keys if keys[node] == key}) == 1
        }
        if not mixed:
            return keys
        keys = {node: heard[node] if keys[node] in mixed else keys[node] for node in keys}


def _heard_keys(rooted, node, keys):
    """The sum of the keys that a node hears from either end of its arcs, each mixed with the kind of arc."""
    graph, total = rooted.graph, (0, 0)
    for other in keys:
        for u, v, end in ((node, other, "head"), (other, node, "tail")):
            if v not in graph.neighbours[u] or (end == "tail" and not graph.directed):
                continue
            label = None if graph.edge_labels is None else graph.edge_labels[u, v]
            kind = (label, end if graph.directed else "edge")
            a, b = reference.digest(b"twl1 inner code", reference.token(kind))
            x, y = keys[other]
            total = reference.plus(total, (reference.stir(x ^ a), reference.stir((y + b) % 2**64)))
    return total


def _interned(colour):
    """Replace each content by its number in one table for all graphs and all rounds: exact, and short."""
    return {
        key: _NUMBER_OF_CONTENT.setdefault(content, len(_NUMBER_OF_CONTENT))
        for key, content in colour.items()
    }


def _same_mark(first, second):
    return first["mark"] == second["mark"]
