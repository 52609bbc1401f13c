"""What makes a GraphBatch sound: checked before any kernel may read past an array's end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twinwl.arguments import FLAG, Constraint, checked, exactly
from twinwl.errors import GraphInputError
from twinwl.graphs.atom_labels import ATOMS
from twinwl.graphs.labels import label_token, normalise_label

if TYPE_CHECKING:
    from twinwl.arrays import Int32, Int64
    from twinwl.graphs.batch import GraphBatch

ARRAYS: dict[str, tuple[Constraint | None, ...]] = {
    "indptr": (exactly(np.int64, 1),),
    "indices": (exactly(np.int32, 1),),
    "graph_ptr": (exactly(np.int64, 1),),
    "node_labels": (exactly(np.int32, 1),),
    "edge_labels": (exactly(np.int32, 1), None),
    "node_features": (exactly(np.float64, 2), None),
}


def _vocabulary(value: object) -> object:
    if type(value) is not tuple:
        raise TypeError
    tokens = [label_token(normalise_label(label)) for label in value]
    if tokens != [label_token(label) for label in value] or len(set(tokens)) != len(tokens):
        raise ValueError
    return value


_VOCABULARY = Constraint(
    "a tuple of labels that differ: None, bool, int, float, str, bytes or tuples of these", _vocabulary
)


def validate(batch: GraphBatch) -> None:
    """Refuse arrays that do not fit together.

    Raises
    ------
    TwinWLError
        If an array has the wrong kind, a pointer does not rise, a code has no label, or an arc leaves its
        graph.
    """
    for name, constraints in ARRAYS.items():
        checked(name, getattr(batch, name), *constraints)
    for name in ("node_vocabulary", "edge_vocabulary"):
        checked(name, getattr(batch, name), _VOCABULARY)
    checked("directed", batch.directed, FLAG)
    checked("atoms", batch.atoms, ATOMS, None)
    n_nodes, n_arcs = len(batch.node_labels), len(batch.indices)
    _check_pointer("graph_ptr", batch.graph_ptr, n_nodes)
    _check_pointer("indptr", batch.indptr, n_arcs)
    if len(batch.indptr) != n_nodes + 1:
        raise GraphInputError(f"indptr is for {len(batch.indptr) - 1} nodes, node_labels for {n_nodes}")
    _check_codes("node_labels", batch.node_labels, len(batch.node_vocabulary))
    if batch.edge_labels is not None:
        if len(batch.edge_labels) != n_arcs:
            raise GraphInputError(f"{len(batch.edge_labels)} edge labels for {n_arcs} arcs")
        _check_codes("edge_labels", batch.edge_labels, len(batch.edge_vocabulary))
    if batch.node_features is not None and len(batch.node_features) != n_nodes:
        raise GraphInputError(
            f"node_features has shape {batch.node_features.shape}; give one row for each of {n_nodes} nodes"
        )
    _check_arcs(batch)


def _check_pointer(name: str, pointer: Int64, end: int) -> None:
    if len(pointer) == 0 or pointer[0] != 0 or pointer[-1] != end or (np.diff(pointer) < 0).any():
        raise GraphInputError(f"{name} must rise from 0 to {end}")


def _check_codes(name: str, codes: Int32, bound: int) -> None:
    if len(codes) and (codes.min() < 0 or codes.max() >= bound):
        raise GraphInputError(f"{name} must lie in 0..{bound - 1}, but spans {codes.min()}..{codes.max()}")


def _check_arcs(batch: GraphBatch) -> None:
    """Refuse arcs that leave their graph (kernels rely on graphs being apart) and unsorted neighbours."""
    arc_ptr = batch.indptr[batch.graph_ptr]
    arcs_of_graph = np.diff(arc_ptr)
    low = np.repeat(batch.graph_ptr[:-1], arcs_of_graph)
    high = np.repeat(batch.graph_ptr[1:], arcs_of_graph)
    wrong = np.flatnonzero((batch.indices < low) | (batch.indices >= high))
    if len(wrong):
        graph = int(np.searchsorted(arc_ptr, wrong[0], side="right")) - 1
        raise GraphInputError(
            f"an arc leads to node {batch.indices[wrong[0]]}, which is not in this graph "
            f"(its nodes are {batch.graph_ptr[graph]}..{batch.graph_ptr[graph + 1] - 1})",
            graph,
        )
    rises = np.diff(batch.indices) > 0
    rises[batch.indptr[1:-1][(batch.indptr[1:-1] > 0) & (batch.indptr[1:-1] < len(batch.indices))] - 1] = True
    if not rises.all():
        arc = int(np.flatnonzero(~rises)[0])
        raise GraphInputError(
            f"the neighbours of a node must rise, but arc {arc + 1} leads to {batch.indices[arc + 1]} after "
            f"{batch.indices[arc]}; build the batch with a from_… constructor"
        )
    sources = np.repeat(np.arange(len(batch.node_labels)), np.diff(batch.indptr))
    loops = np.flatnonzero(sources == batch.indices)
    if len(loops):
        raise GraphInputError(f"node {sources[loops[0]]} has a self-loop; drop it")
    if not batch.directed:
        _check_symmetry(batch, sources)


def _check_symmetry(batch: GraphBatch, sources: Int64) -> None:
    """Refuse an undirected batch that names an edge from one end only, or with two labels."""
    # Sorted by (target, source), the arcs of a symmetric structure read as if sorted by (source, target).
    order = np.argsort(batch.indices, kind="stable")
    wrong = (sources[order] != batch.indices) | (batch.indices[order] != sources)
    if batch.edge_labels is not None:
        wrong |= batch.edge_labels[order] != batch.edge_labels
    if wrong.any():
        arc = int(np.flatnonzero(wrong)[0])
        raise GraphInputError(
            f"the batch is undirected, but arc ({sources[arc]}, {batch.indices[arc]}) has no equal in "
            "the other direction; pass directed=True or build it with a from_… constructor"
        )
