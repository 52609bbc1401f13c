"""Explanation of an NTwin-GNN: gradient times state, mapped from colours back to nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray

from twinwl.arguments import MAX_ITEMS, checked, integer
from twinwl.arrays import Float64
from twinwl.graphs.batch import GraphBatch
from twinwl.models.explanation import ColumnShare, Decision, Explanation, plain, tree_of_colour
from twinwl.neural.distinct_subgraphs import DistinctExamples, DistinctSlice
from twinwl.neural.encoder import NTwinEncoder, TwinSlices
from twinwl.neural.gin import GIN
from twinwl.neural.inputs import LiteralExamples, QuotientExamples, SubtreeHistograms, whole_quotient
from twinwl.neural.network import NTwinInput, NTwinNetwork
from twinwl.neural.node_states import NodeSlicer
from twinwl.neural.quotient import Quotient, pair_colours
from twinwl.neural.slicing import QuotientSlice, QuotientSlicer
from twinwl.neural.sparse import SparseRows
from twinwl.neural.uncompressed import GraphData
from twinwl.refinement.colours import refine

_METHOD = "gradient × state of each node in each rooted subgraph, gradient × count of each colour"
_LITERAL = "gradient × input of each node, gradient × count of each colour"


def explain_graph(
    network: NTwinNetwork,
    graph: GraphBatch,
    examples: QuotientExamples | LiteralExamples | DistinctExamples,
    histograms: SubtreeHistograms | None,
    read: Callable[[NDArray[np.float32]], Decision],
    *,
    n_columns: int = 10,
) -> Explanation:
    """Explain the prediction of a network for one graph.

    The representation is a sum: of the states of every node in every rooted subgraph, and of one-hot colours.
    So the gradient of the decision, times a state, is that state's share to first order; a node's share is
    summed over all rooted subgraphs that contain it, and over its own colours.

    Parameters
    ----------
    network
        A trained network.
    graph
        A batch of one.
    examples
        The same graph as input of the network.
    histograms
        The subtree encoder, if it is one of histograms.
    read
        Function that interprets the outputs of the network.
    n_columns
        Number of colours of the histograms to list.
    """
    n_columns = checked("n_columns", n_columns, integer(0, MAX_ITEMS))
    network.eval()
    taken = examples.take(np.zeros(1, np.int64))
    inputs = _with_gradient(taken)
    sums = network.encoder(inputs.graphs)
    units = network.hidden_units(sums, inputs.histograms)
    outputs = network.second(units.relu())[0]
    reading = read(outputs.detach().float().numpy())
    decision = outputs @ torch.from_numpy(reading.weights).to(outputs.dtype) + reading.intercept
    x = inputs.graphs.x if isinstance(inputs.graphs, GraphData) else sums
    wanted = [part for part in (sums, units, x) if part.requires_grad]
    found = torch.autograd.grad(decision, wanted, allow_unused=True)  # an own readout may not look at x
    by_part = {id(part): gradient for part, gradient in zip(wanted, found, strict=True)}
    gradients = [_or_zeros(by_part.get(id(part)), part) for part in (sums, units, x)]
    shares = np.zeros(graph.n_nodes)
    if isinstance(inputs.graphs, GraphData):
        shares = (x.detach() * gradients[2]).sum(dim=1).double().numpy()
    elif isinstance(examples, QuotientExamples) and not isinstance(inputs.graphs, DistinctSlice):
        shares = _state_shares(network.encoder, graph, examples, inputs.graphs, gradients[0][0])
    columns: tuple[ColumnShare, ...] = ()
    if histograms is not None and network.wide is not None and taken.histograms is not None:
        of_columns = (network.wide.weight.detach() @ gradients[1][0]).double().numpy()
        columns = _column_shares(graph, histograms, taken.histograms, of_columns, shares, n_columns)
    return Explanation(
        graph=graph,
        prediction=plain(reading.prediction),
        against=plain(reading.against),
        decision=float(decision.detach()),
        intercept=float(decision.detach()) - float(shares.sum()),
        node_shares=shares,
        columns=columns,
        method=_METHOD if isinstance(examples, QuotientExamples) else _LITERAL,
    )


def _or_zeros(gradient: torch.Tensor | None, part: torch.Tensor) -> torch.Tensor:
    return torch.zeros_like(part) if gradient is None else gradient


def _with_gradient(taken: NTwinInput) -> NTwinInput:
    if not isinstance(taken.graphs, GraphData):
        return taken
    return taken._replace(graphs=taken.graphs._replace(x=taken.graphs.x.clone().requires_grad_()))


def _state_shares(
    encoder: NTwinEncoder,
    graph: GraphBatch,
    examples: QuotientExamples,
    slices: QuotientSlice | TwinSlices,
    gradient: torch.Tensor,
) -> Float64:
    """Return each node's share by its states, summed over layers and over the subgraphs that contain it."""
    plain = graph.without_features()
    layers = len(encoder.hops)
    parts = gradient.reshape(-1, encoder.hidden)
    shares = np.zeros(graph.n_nodes)
    rooted = slices.rooted if isinstance(slices, TwinSlices) else slices
    if isinstance(slices, TwinSlices) and encoder.subtree is not None and examples.whole is not None:
        whole = _quotient_of(examples.whole)
        _, colours = whole_quotient(plain, layers, edge_labels=whole.edge_labels is not None)
        of_layers = _colour_shares(encoder.subtree, slices.whole, whole, encoder.n_features, parts[:layers])
        for layer, of_colour in enumerate(of_layers, start=1):
            shares += of_colour[colours[layer]]
    quotient = _quotient_of(examples.rooted)
    gin = cast("GIN", encoder.rooted)
    of_layers = _colour_shares(gin, rooted, quotient, encoder.n_features, parts[-layers:])
    for layer, of_colour in enumerate(of_layers, start=1):
        cut, colour_of_pair = pair_colours(plain, quotient, layer)
        shares += np.bincount(cut.node, of_colour[colour_of_pair], minlength=graph.n_nodes)
    return shares


def _quotient_of(slicer: QuotientSlicer | NodeSlicer) -> Quotient:
    if not isinstance(slicer, QuotientSlicer):
        raise TypeError("states are explained on the quotient")
    return slicer.quotient


def _colour_shares(
    gin: GIN, rows_of_graph: QuotientSlice, quotient: Quotient, n_labels: int, gradients: torch.Tensor
) -> list[Float64]:
    """Return the contribution of one occurrence of each colour to the decision, layer by layer."""
    shares: list[Float64] = []
    with torch.no_grad():
        steps = gin.rectified_rows(rows_of_graph, n_labels)
        for (layer, rows, rectified), gradient, pool in zip(steps, gradients, quotient.pools, strict=True):
            of_row = (layer.second(rectified) @ gradient).double().numpy()
            of_colour = np.zeros(quotient.n_colours[len(shares) + 1])
            of_colour[pool.colours] = of_row[rows.pooled]
            shares.append(of_colour)
    return shares


def _column_shares(
    graph: GraphBatch,
    histograms: SubtreeHistograms,
    row: SparseRows,
    gradients: Float64,
    shares: Float64,
    n_columns: int,
) -> tuple[ColumnShare, ...]:
    """Add the histograms' part to the nodes' shares, and return the columns with the largest shares."""
    alphabet = histograms.alphabet
    contributions = np.zeros(histograms.n_columns)
    contributions[row.indices] = gradients[row.indices] * row.values
    first_of_layer = np.concatenate([[0], np.cumsum(alphabet.n_colours)])
    place = np.full(first_of_layer[-1], -1)
    place[histograms.columns] = np.arange(histograms.n_columns)
    colours, _ = refine(graph.without_features(), None, alphabet=alphabet)
    for layer, colour_of_node in enumerate(colours):
        seen = np.flatnonzero(colour_of_node >= 0)
        column = place[first_of_layer[layer] + colour_of_node[seen]]
        seen, column = seen[column >= 0], column[column >= 0]
        n_nodes = np.bincount(column, minlength=histograms.n_columns)
        shares[seen] += contributions[column] / n_nodes[column]
    listed = []
    for entry in np.argsort(-np.abs(contributions[row.indices]), kind="stable")[:n_columns].tolist():
        number = int(histograms.columns[row.indices[entry]])
        layer = int(np.searchsorted(first_of_layer, number, side="right")) - 1
        colour = number - int(first_of_layer[layer])
        share = float(contributions[row.indices[entry]])
        tree = tree_of_colour(alphabet, layer, colour)
        nodes = tuple(np.flatnonzero(colours[layer] == colour).tolist())
        listed.append(ColumnShare(f"h{layer}:c{colour}", share, float(row.values[entry]), tree, nodes))
    return tuple(listed)
