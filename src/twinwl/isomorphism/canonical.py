"""Canonical forms: byte strings that two labelled graphs share exactly when they are isomorphic."""

from __future__ import annotations

import struct
import sys
from collections.abc import Hashable, Iterable
from functools import lru_cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from twinwl.arrays import Int32, Int64, Ints
from twinwl.graphs.labels import Label, label_token

if TYPE_CHECKING:
    import igraph

    from twinwl.graphs.batch import GraphBatch
    from twinwl.isomorphism.rooted import RootedBlock


def canonical(block: RootedBlock) -> list[Hashable]:
    """Return the certificate of each rooted subgraph: the exact readout."""
    return list(certificates(block.graphs, range(len(block)), block.root))


def certificates(batch: GraphBatch, graphs: Iterable[int], roots: Ints | None = None) -> list[bytes]:
    """Return the certificates of some graphs of a batch.

    Two certificates are equal if and only if there is an isomorphism that preserves directions, node labels,
    edge labels and root. They contain the labels themselves, not codes, and so are comparable between
    batches.

    Parameters
    ----------
    batch
        The graphs.
    graphs
        Indices of the wanted ones.
    roots : array of int, shape (n_graphs,), optional
        One node of the batch to mark in each graph of the batch.

    >>> from twinwl import GraphBatch
    >>> path, star = [(0, 1), (1, 2), (2, 3)], [(0, 1), (0, 2), (0, 3)]
    >>> forms = certificates(GraphBatch.from_edges([path, [(2, 0), (0, 3), (3, 1)], star]), range(3))
    >>> forms[0] == forms[1], forms[0] == forms[2]
    (True, False)
    """
    node_tokens, rank_of_node = _ranked(batch.node_vocabulary, batch.node_labels)
    edges = _Edges(batch)
    out = []
    for graph in graphs:
        first, last = int(batch.graph_ptr[graph]), int(batch.graph_ptr[graph + 1])
        tokens, colours = _dense(rank_of_node[first:last].tolist(), node_tokens)
        if roots is not None:
            root = int(roots[graph]) - first
            colours = [2 * colour for colour in colours]
            colours[root] += 1
        ends, edge_tokens, kinds = edges.of_graph(graph)
        head = struct.pack("<BBQQQ", batch.directed, roots is not None, last - first, len(ends), len(tokens))
        form = _form(colours, ends - first, kinds, directed=batch.directed)
        out.append(b"".join([head, *tokens, *edge_tokens, form]))
    return out


def orbits(batch: GraphBatch, graphs: Iterable[int]) -> Int64:
    """Return the lowest node that an automorphism maps to each node, shape (n_nodes,), in some graphs.

    Automorphisms preserve directions, node labels and edge labels. A node of another graph stands for itself.

    >>> from twinwl import GraphBatch
    >>> orbits(GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3)]]), [0]).tolist()
    [0, 1, 1, 0]
    """
    _, rank_of_node = _ranked(batch.node_vocabulary, batch.node_labels)
    edges = _Edges(batch)
    out = np.arange(batch.n_nodes)
    for graph in graphs:
        first, last = int(batch.graph_ptr[graph]), int(batch.graph_ptr[graph + 1])
        if first == last:
            continue
        ends, _, kinds = edges.of_graph(graph)
        graph_of_igraph, colours, _ = _as_igraph(
            rank_of_node[first:last].tolist(), ends - first, kinds, directed=batch.directed
        )
        moved = np.array(graph_of_igraph.automorphism_group(color=colours), np.int64).reshape(
            -1, len(colours)
        )
        lowest = out[first:last]
        while True:
            before = lowest.copy()
            for image in moved[:, : last - first]:  # a cycle gets its lowest number after some turns
                np.minimum(lowest, lowest[image], out=lowest)
                lowest[image] = np.minimum(lowest[image], lowest)
            if np.array_equal(lowest, before):
                break
    return out


class _Edges:
    """The edges of each graph of a batch, undirected ones once, with their labels where there are any."""

    def __init__(self, batch: GraphBatch) -> None:
        sources, targets = batch.arcs()
        kept = np.flatnonzero(sources < targets) if not batch.directed else np.arange(len(targets))
        self._ends = np.column_stack([sources[kept], targets[kept]])
        self._ptr = np.searchsorted(kept, batch.indptr[batch.graph_ptr]).tolist()
        self._tokens: list[bytes] = []
        self._ranks: Int64 | None = None
        if batch.edge_labels is not None:
            self._tokens, self._ranks = _ranked(batch.edge_vocabulary, batch.edge_labels[kept])

    def of_graph(self, graph: int) -> tuple[Int64, list[bytes], list[int]]:
        """Return both ends of each edge, the tokens that occur, and which of them each edge bears."""
        part = slice(self._ptr[graph], self._ptr[graph + 1])
        if self._ranks is None:
            return self._ends[part], [], []
        return self._ends[part], *_dense(self._ranks[part].tolist(), self._tokens)


def _form(colours: list[int], ends: Int64, kinds: list[int], *, directed: bool) -> bytes:
    """Return colours and edges in canonical order."""
    graph, colours, ends = _as_igraph(colours, ends, kinds, directed=directed)
    n = len(colours)
    place = np.array(graph.canonical_permutation(color=colours), dtype=np.int64)
    if not _gives_new_places():
        place = np.argsort(place)
    ends = place[ends]
    if not directed:
        ends.sort(axis=1)
    numbers = np.sort(ends[:, 0] * n + ends[:, 1])
    in_order = np.empty(n, "<i8")
    in_order[place] = colours
    return in_order.tobytes() + numbers.astype("<i8").tobytes()


def _as_igraph(
    colours: list[int], ends: Int64, kinds: list[int], *, directed: bool
) -> tuple[igraph.GraphBase, list[int], Int64]:
    """Return a graph of igraph's, its colours and its edges.

    Edges of the first kind stay as they are; an edge of another kind becomes a node of that kind's own colour
    between its ends, for igraph's search knows colours of nodes only.
    """
    if any(kinds):
        special = np.flatnonzero(kinds)
        between = len(colours) + np.arange(len(special))
        highest = max(colours)
        colours = colours + [highest + kinds[edge] for edge in special]
        ends = np.concatenate(
            [
                np.delete(ends, special, axis=0),
                np.column_stack([ends[special, 0], between]),
                np.column_stack([between, ends[special, 1]]),
            ]
        )
    # The base class, because the constructor of igraph.Graph takes longer than the search on a small graph.
    return _igraph_core().GraphBase(len(colours), ends.tolist(), directed), colours, ends


@lru_cache(maxsize=1)
def _igraph_core() -> ModuleType:
    """Return the compiled module of igraph without the package around it.

    The package loads matplotlib, which takes 0.7 seconds in every process that needs a canonical form. It can
    still be imported later, and then has the same classes.
    """
    name, package = "igraph._igraph", find_spec("igraph")
    if name in sys.modules or package is None:
        return import_module(name)
    spec = PathFinder.find_spec(name, package.submodule_search_locations)
    if spec is None or spec.loader is None:
        return import_module(name)
    core = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(core)
    return core


@lru_cache(maxsize=1)
def _gives_new_places() -> bool:
    """Return which direction igraph's permutations have.

    ``canonical_permutation`` is made for ``permute_vertices``. Up to 0.11 entry i is the new place of vertex
    i, from 1.0 on it is the vertex that moves to place i; read the wrong way, isomorphic graphs get different
    forms. So ask: moved by (1, 2, 0), the edge 0-1 becomes 1-2 in the one reading and 0-2 in the other.
    """
    moved = _igraph_core().GraphBase(3, [(0, 1)]).permute_vertices([1, 2, 0])
    return sorted(moved.get_edgelist()[0]) == [1, 2]


def _ranked(vocabulary: tuple[Label, ...], codes: Int32) -> tuple[list[bytes], Int64]:
    """Return the tokens of a vocabulary in order, each after its length, and the rank of each code."""
    tokens = [label_token(label) for label in vocabulary]
    ordered = sorted(set(tokens))
    rank_of_token = {token: rank for rank, token in enumerate(ordered)}
    ranks = np.array([rank_of_token[token] for token in tokens], dtype=np.int64)
    return [struct.pack("<Q", len(token)) + token for token in ordered], ranks[codes]


def _dense(ranks: list[int], tokens: list[bytes]) -> tuple[list[bytes], list[int]]:
    """Return the tokens that occur, in order, and the ranks counted among these only.

    So the numbers depend on the graph alone, not on what else its batch holds.
    """
    present = sorted(set(ranks))
    place = {rank: number for number, rank in enumerate(present)}
    return [tokens[rank] for rank in present], [place[rank] for rank in ranks]
