"""The paper written literally, with dictionaries, strings, sorted lists and Python sets.

Slow and obvious on purpose: this is the oracle that the fast kernels are held against. It shares no code
with the package and has its own little graph type; only `from_batch` knows what a GraphBatch is.

Nodes of a graph are 0..n-1. Where a graph is directed, ``neighbours[v]`` are the ends of the arcs that
leave v; a signature holds those who are pointed at and those who point here, told apart, and an identity
travels against the arcs, so that ``t_h(v)`` is what v can reach in at most h steps.
"""

from __future__ import annotations

import importlib.util
import itertools
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

_SPEC = importlib.util.spec_from_file_location(
    "hash_reference", Path(__file__).parents[1] / "docs" / "hash_reference.py"
)
reference = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(reference)

UNSEEN = -1


@dataclass(frozen=True)
class Graph:
    n: int
    neighbours: dict[int, list[int]]
    labels: list
    edge_labels: dict[tuple[int, int], object] | None = None
    directed: bool = False

    def predecessors(self, node):
        return [other for other in range(self.n) if node in self.neighbours[other]]


class Rooted(NamedTuple):
    """A rooted subgraph; ``members`` are its nodes in the whole graph, ascending; ``root`` is a place."""

    graph: Graph
    root: int
    members: list[int]


def from_edges(n, edges, labels=None, edge_labels=None, *, directed=False):
    """Make a graph of a list of pairs; an undirected edge is named once."""
    neighbours = {node: [] for node in range(n)}
    label_of_arc = {}
    for position, (u, v) in enumerate(edges):
        for source, target in [(u, v)] if directed else [(u, v), (v, u)]:
            neighbours[source].append(target)
            if edge_labels is not None:
                label_of_arc[source, target] = edge_labels[position]
    labels = [None] * n if labels is None else list(labels)
    return Graph(n, neighbours, labels, None if edge_labels is None else label_of_arc, directed)


def from_batch(batch):
    """Convert a GraphBatch to a list of plain graphs."""
    graphs = []
    labels = batch.labels_of_nodes()
    for first, end in zip(batch.graph_ptr[:-1].tolist(), batch.graph_ptr[1:].tolist(), strict=True):
        neighbours, label_of_arc = {}, {}
        for node in range(first, end):
            places = range(int(batch.indptr[node]), int(batch.indptr[node + 1]))
            neighbours[node - first] = [int(batch.indices[place]) - first for place in places]
            if batch.edge_labels is not None:
                for place in places:
                    arc = (node - first, int(batch.indices[place]) - first)
                    label_of_arc[arc] = batch.edge_vocabulary[batch.edge_labels[place]]
        edge_labels = None if batch.edge_labels is None else label_of_arc
        graphs.append(Graph(end - first, neighbours, labels[first:end], edge_labels, batch.directed))
    return graphs


# ---------------------------------------------------------------------- colours


def colours(graphs, n_iter, *, edge_labels=False, initial="label"):
    """Return ``l_h(v)`` as ``[h][graph][node]``: the four steps of the paper, for all graphs together.

    Each round counts from 0, in the order in which nodes come. With ``n_iter=None`` the last round is the
    first whose partition the next round would not change.
    """
    strings = _initial_strings(graphs, initial)
    rounds = [_compress(strings, {})]
    while n_iter is None or len(rounds) <= n_iter:
        following = _compress(_strings(graphs, rounds[-1], edge_labels=edge_labels), {})
        if n_iter is None and following == rounds[-1]:
            break
        rounds.append(following)
    return rounds


def pair_colours(graphs, n_iter):
    """Return the colours of ordered pairs of nodes by folklore 2-WL, as ``[h][graph][u, v]``.

    At first a pair shows whether there is an arc, or, if it is one node twice, the label. Then it hears, for
    each node w, the colours of (u, w) and (w, v) together.
    """
    signatures = [
        {
            (u, v): ("node", repr(graph.labels[u])) if u == v else ("arc", v in graph.neighbours[u])
            for u in range(graph.n)
            for v in range(graph.n)
        }
        for graph in graphs
    ]
    rounds = []
    while True:
        numbers = {}
        rounds.append(
            [{pair: numbers.setdefault(seen, len(numbers)) for pair, seen in of.items()} for of in signatures]
        )
        if len(rounds) > n_iter:
            return rounds
        signatures = [
            {
                (u, v): (own, tuple(sorted((colour[u, w], colour[w, v]) for w in range(graph.n))))
                for (u, v), own in colour.items()
            }
            for graph, colour in zip(graphs, rounds[-1], strict=True)
        ]


def frozen_colours(train, test, n_iter, *, edge_labels=False, initial="label"):
    """Return the colours of ``test`` under the alphabet of ``train``, as ``[h][graph][node]``.

    A string that the alphabet lacks gets -1, and so does one that contains -1.
    """
    alphabets = [{} for _ in range(n_iter + 1)]
    known = _compress(_initial_strings(train, initial), alphabets[0])
    for alphabet in alphabets[1:]:
        known = _compress(_strings(train, known, edge_labels=edge_labels), alphabet)
    rounds = [_look_up(_initial_strings(test, initial), alphabets[0])]
    for alphabet in alphabets[1:]:
        rounds.append(_look_up(_strings(test, rounds[-1], edge_labels=edge_labels), alphabet))
    return rounds


def _initial_strings(graphs, initial):
    """``s_0(v)``: the label, or the number of neighbours; ``repr`` tells 1, True, 1.0 and '1' apart."""
    if initial == "label":
        return [[repr(label) for label in graph.labels] for graph in graphs]
    if initial == "ring":
        return [
            [repr((label, on_cycle(graph, node))) for node, label in enumerate(graph.labels)]
            for graph in graphs
        ]
    return [[str(len(graph.neighbours[node])) for node in range(graph.n)] for graph in graphs]


def on_cycle(graph, node):
    """Whether a neighbour can still be reached when the edge to it is taken away; arcs count both ways."""
    adjacent = {v: {*graph.neighbours[v], *graph.predecessors(v)} for v in range(graph.n)}
    for neighbour in adjacent[node]:
        reached, waiting = {node}, [v for v in adjacent[node] if v != neighbour]
        while waiting:
            v = waiting.pop()
            if v not in reached:
                reached.add(v)
                waiting += adjacent[v]
        if neighbour in reached:
            return True
    return False


def _strings(graphs, colours_of_graphs, *, edge_labels):
    """Steps 1 and 2: gather the multiset of neighbour colours, sort it, prefix the node's own colour."""
    return [
        [_string(graph, node, colour, edge_labels=edge_labels) for node in range(graph.n)]
        for graph, colour in zip(graphs, colours_of_graphs, strict=True)
    ]


def _string(graph, node, colour, *, edge_labels):
    arcs = [[(node, other) for other in graph.neighbours[node]]]
    others = [graph.neighbours[node]]
    if graph.directed:
        others.append(graph.predecessors(node))
        arcs.append([(other, node) for other in others[1]])
    multisets = [[colour[other] for other in side] for side in others]
    if UNSEEN in [colour[node], *itertools.chain(*multisets)]:
        return None
    if edge_labels and graph.edge_labels is not None:
        labels = [[repr(graph.edge_labels[arc]) for arc in side] for side in arcs]
        multisets = [list(zip(*pair, strict=True)) for pair in zip(multisets, labels, strict=True)]
    # Python writes lists with separators and quotes, so nothing runs together: "2|[0, 1, 1]".
    return "|".join([str(colour[node]), *(str(sorted(multiset)) for multiset in multisets)])


def _compress(strings_of_graphs, alphabet):
    """Steps 3 and 4: the counter mapping, shared by all graphs."""
    relabelled = []
    for strings in strings_of_graphs:
        for string in strings:
            if string not in alphabet:
                alphabet[string] = len(alphabet)
        relabelled.append([alphabet[string] for string in strings])
    return relabelled


def _look_up(strings_of_graphs, alphabet):
    return [[alphabet.get(string, UNSEEN) for string in strings] for strings in strings_of_graphs]


# ---------------------------------------------------------------------- identities


def identity_sets(graph, h):
    """Return ``t_h(v)`` of each node."""
    return _identity_rounds(graph, h)[h]


def rooted_sizes(graph, n_iter):
    """Return ``|t_h(v)|`` as ``[h][node]``."""
    return [[len(members) for members in sets] for sets in _identity_rounds(graph, n_iter)]


def _identity_rounds(graph, n_iter):
    """Start with the node itself; then itself and the identity sets of its neighbours a round ago."""
    rounds = [[{node} for node in range(graph.n)]]
    for _ in range(n_iter):
        before = rounds[-1]
        rounds.append(
            [{node}.union(*(before[other] for other in graph.neighbours[node])) for node in range(graph.n)]
        )
    return rounds


def rooted_subgraph(graph, v, h):
    """Return ``G_v^h``: what ``t_h(v)`` induces, rooted at v."""
    members = sorted(identity_sets(graph, h)[v])
    place = {node: position for position, node in enumerate(members)}
    neighbours = {
        place[node]: [place[other] for other in graph.neighbours[node] if other in place] for node in members
    }
    edge_labels = None
    if graph.edge_labels is not None:
        inside = {arc: label for arc, label in graph.edge_labels.items() if set(arc) <= set(members)}
        edge_labels = {(place[source], place[target]): label for (source, target), label in inside.items()}
    induced = Graph(
        len(members), neighbours, [graph.labels[node] for node in members], edge_labels, graph.directed
    )
    return Rooted(induced, place[v], members)


def diameter(graph):
    """Return the largest finite distance: the round after which no identity set grows."""
    h = 0
    while identity_sets(graph, h) != identity_sets(graph, h + 1):
        h += 1
    return h


# ---------------------------------------------------------------------- features and the test


def features(graphs, n_iter, kind, *, edge_labels=False, initial="label"):
    """Return one dictionary a graph.

    "count" is plain WL, keys ``(h, colour)``; "size" is equation (3), same keys; "joint" is equation (2),
    keys ``(h, colour, size)``.
    """
    rounds = colours(graphs, n_iter, edge_labels=edge_labels, initial=initial)
    vectors = []
    for index, graph in enumerate(graphs):
        vector = Counter()
        sizes = rooted_sizes(graph, n_iter)
        for h in range(n_iter + 1):
            for colour, size in zip(rounds[h][index], sizes[h], strict=True):
                key = (h, colour, size) if kind == "joint" else (h, colour)
                vector[key] += size if kind == "size" else 1
        vectors.append(dict(vector))
    return vectors


def readout_features(graphs, n_iter, f, *, edge_labels=False, initial="label"):
    """Return one dictionary a graph: equation (2) with any readout, keys ``(h, colour, f(G_v^h))``.

    Readouts see the labels that colours are made of, and no others.
    """
    rounds = colours(graphs, n_iter, edge_labels=edge_labels, initial=initial)
    vectors = []
    for index, graph in enumerate(graphs):
        seen = replace(
            graph,
            labels=graph.labels if initial == "label" else [None] * graph.n,
            edge_labels=graph.edge_labels if edge_labels else None,
        )
        vector = Counter()
        for h in range(n_iter + 1):
            for node in range(graph.n):
                vector[h, rounds[h][index][node], f(rooted_subgraph(seen, node, h))] += 1
        vectors.append(dict(vector))
    return vectors


def twin_test(g1, g2, f, max_h=None, *, edge_labels=False, initial="label"):
    """Return the first round in which the Twin-WL test tells two graphs apart, or None.

    The multisets of ``(l_h(v), f(G_v^h))`` are compared until the colours of both graphs together are
    stable and no identity set grows any more. ``f`` takes a `Rooted` and returns something hashable.
    """
    stable = len(colours([g1, g2], None, edge_labels=edge_labels, initial=initial)) - 1
    end = max(stable, diameter(g1), diameter(g2))
    end = end if max_h is None else min(end, max_h)
    for h, (first, second) in enumerate(colours([g1, g2], end, edge_labels=edge_labels, initial=initial)):
        if _twins(g1, first, f, h) != _twins(g2, second, f, h):
            return h
    return None


def _twins(graph, colour, f, h):
    return Counter((colour[node], f(rooted_subgraph(graph, node, h))) for node in range(graph.n))


# ----------------------------------------------------------------- the hash, as docs/hash_reference.py has it


def graph_hash(graph):
    """Return the hash ``twl2`` of a graph, with the readout ``"size"``."""
    edges, edge_labels = _edges(graph)
    return reference.graph_hash(graph.n, edges, graph.labels, edge_labels, directed=graph.directed)


def stable_signatures(graph):
    """Return the last signature of each node, and the key of its class."""
    messages = reference.messages_of(*_edges(graph), directed=graph.directed)
    return reference.stable_signatures(graph.labels, messages)


def _edges(graph):
    edges = [(u, v) for u in range(graph.n) for v in graph.neighbours[u] if graph.directed or u < v]
    return edges, [None if graph.edge_labels is None else graph.edge_labels[edge] for edge in edges]
