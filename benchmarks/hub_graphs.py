"""Graphs with hubs, for `refinement.py`: stars, Barabási–Albert graphs, random graphs and reply trees."""

from __future__ import annotations

import networkx as nx
import numpy as np

import twinwl as tw
from twinwl.graphs.building import assemble

__all__ = ["barabasi_albert", "random_graph", "reply_trees", "star", "unlabelled"]


def star(n_leaves: int) -> tw.GraphBatch:
    """Return one hub and its leaves."""
    leaves = np.arange(1, n_leaves + 1)
    return unlabelled([n_leaves + 1], np.zeros_like(leaves), leaves)


def barabasi_albert(n_nodes: int, n_links: int) -> tw.GraphBatch:
    """Return a Barabási–Albert graph: new nodes link to others, preferably to those with many links."""
    edges = np.array(nx.barabasi_albert_graph(n_nodes, n_links, seed=0).edges)
    return unlabelled([n_nodes], edges[:, 0], edges[:, 1])


def random_graph(n_nodes: int, n_edges: int) -> tw.GraphBatch:
    """Return a random graph with uniformly drawn edges."""
    ends = np.random.default_rng(n_nodes).integers(0, n_nodes, (2, n_edges))
    return unlabelled([n_nodes], *ends[:, ends[0] != ends[1]])


def reply_trees(n_graphs: int, *, chords: float = 0.0) -> tw.GraphBatch:
    """Return threads of a forum, with an edge per reply.

    In each thread a share of all posts, drawn from 0.2 to 0.8, replies to the first one, and the others reply
    to any post before them. Threads have about 430 posts on average, from 6 to 3,800.

    Parameters
    ----------
    chords
        Further replies between any two posts, for each post: people who meet again. REDDIT-BINARY has 0.16.
    """
    random = np.random.default_rng(0)
    sizes = np.clip(random.lognormal(5.6, 1.0, n_graphs), 6, 3800).astype(np.int64)
    sources, targets = [], []
    first = 0
    for size in sizes.tolist():
        posts = np.arange(1, size)
        to_first = random.random(size - 1) < random.uniform(0.2, 0.8)
        parents = np.where(to_first, 0, (random.random(size - 1) * posts).astype(np.int64))
        more = random.integers(0, size, (2, int(chords * size)))
        more = more[:, more[0] != more[1]]
        sources.append(first + np.concatenate([parents, more[0]]))
        targets.append(first + np.concatenate([posts, more[1]]))
        first += size
    return unlabelled(sizes, np.concatenate(sources), np.concatenate(targets))


def unlabelled(sizes: list[int] | np.ndarray, sources: np.ndarray, targets: np.ndarray) -> tw.GraphBatch:
    """Return graphs without labels from edges between nodes numbered over all graphs."""
    graph_ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    adjacency = assemble(graph_ptr, sources, targets, warn=False)
    return tw.GraphBatch.unchecked(
        indptr=adjacency.indptr,
        indices=adjacency.indices,
        graph_ptr=graph_ptr,
        node_labels=np.zeros(graph_ptr[-1], np.int32),
        node_vocabulary=(None,),
        edge_labels=None,
        edge_vocabulary=(),
        node_features=None,
        directed=False,
    )
