"""The arcs along which labels pass: plain, with edge labels, or with directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from twinwl.arrays import Int32, Int64
    from twinwl.graphs.batch import GraphBatch

__all__ = ["Messages", "messages_of"]


class Messages(NamedTuple):
    """Who hears from whom in a round of label passing.

    ``codes`` (one a message, empty where all messages are alike) tells kinds of messages apart: the edge
    label, and in directed graphs whether the neighbour is at the head or the tail of the arc. -1 marks an
    edge label that a frozen alphabet does not know.
    """

    indptr: Int64
    indices: Int32
    codes: Int32
    n_codes: int


def messages_of(batch: GraphBatch, edge_codes: Int32 | None, n_edge_codes: int) -> Messages:
    """Return the messages of a batch.

    Parameters
    ----------
    batch
        In a directed batch a node hears from both ends of its arcs, told apart. Successors alone would
        miss much: two arcs into one node and two arcs into two nodes would look the same.
    edge_codes : array of int32, shape (n_arcs,), or None
        Code of each arc's label, where edge labels take part.
    n_edge_codes
        Number of distinct codes.
    """
    if not batch.directed:
        codes = np.empty(0, np.int32) if edge_codes is None else edge_codes
        return Messages(batch.indptr, batch.indices, codes, 1 if edge_codes is None else n_edge_codes)
    sources, targets = batch.arcs()
    labels = np.zeros(len(targets), np.int32) if edge_codes is None else edge_codes
    forward = np.where(labels < 0, -1, 2 * labels)
    backward = np.where(labels < 0, -1, 2 * labels + 1)
    heard_by = np.concatenate([sources, targets.astype(np.int64)])
    order = np.argsort(heard_by, kind="stable")
    indptr = np.zeros(batch.n_nodes + 1, np.int64)
    np.cumsum(np.bincount(heard_by, minlength=batch.n_nodes), out=indptr[1:])
    return Messages(
        indptr,
        np.concatenate([targets, sources.astype(np.int32)])[order],
        np.concatenate([forward, backward])[order].astype(np.int32),
        2 * (1 if edge_codes is None else n_edge_codes),
    )
