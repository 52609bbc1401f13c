"""Graphs as tensors for the literal path, and comparisons of outputs and gradients."""

import numpy as np
import torch

from twinwl.graphs.labels import recode
from twinwl.neural.encoder import GraphData, NTwinEncoder, TwinInput
from twinwl.neural.quotient import RowExamples, hops_of_layers


def graph_data(batch, *, labels=None, edge_labels=None, dtype=torch.float64):
    """Write labels one-hot; ``edge_labels`` asks for the codes of the edges."""
    labels = batch.node_vocabulary if labels is None else labels
    places = recode(batch.node_labels, batch.node_vocabulary, labels)
    x = np.zeros((batch.n_nodes, len(labels)))
    known = np.flatnonzero(places >= 0)
    x[known, places[known]] = 1
    sources, targets = batch.arcs()
    codes = None
    if edge_labels is not None:
        codes = torch.from_numpy(
            recode(batch.edge_labels, batch.edge_vocabulary, edge_labels).astype(np.int64)
        )
    return GraphData(
        torch.from_numpy(x).to(dtype),
        torch.from_numpy(np.stack([sources, targets.astype(np.int64)])),
        codes,
        torch.from_numpy(np.repeat(np.arange(len(batch)), batch.nodes_per_graph)),
        len(batch),
    )


def encoder_for(
    batch, layers, hops, root_mark="none", *, edge_labels=False, subtree="none", hidden=6, seed=0
):
    torch.manual_seed(seed)
    return NTwinEncoder(
        len(batch.node_vocabulary),
        layers,
        hops,
        hidden,
        root_mark,
        n_edge_labels=max(1, len(batch.edge_vocabulary)) if edge_labels else 0,
        directed=batch.directed,
        subtree=subtree,
    ).double()


def row_examples(batch, layers, hops, root_mark="none", *, edge_labels=False, features=None, roots=None):
    radii = (None,) * layers if hops is None else hops_of_layers(hops, layers)
    edges = batch.edge_vocabulary if edge_labels else None
    return RowExamples(batch, radii, root_mark, batch.node_vocabulary, edges, features, roots)


def row_input(batch, layers, hops, root_mark="none", *, subtree="none", rows=None, **settings):
    rows = np.arange(len(batch)) if rows is None else rows
    rooted = row_examples(batch, layers, hops, root_mark, **settings).take(rows)
    if subtree == "none":
        return rooted
    return TwinInput(rooted, row_examples(batch, layers, None, **settings).take(rows))


def output_and_gradients(encoder, graphs, weights):
    """Return the representation and the gradient of every parameter of a weighted sum of it."""
    encoder.zero_grad()
    output = encoder(graphs)
    (output * weights[: output.shape[0], : output.shape[1]]).sum().backward()
    gradients = {
        name: torch.zeros_like(parameter) if parameter.grad is None else parameter.grad.clone()
        for name, parameter in encoder.named_parameters()
    }
    return output.detach(), gradients


def assert_same_function(encoder, fast, literal, *, relative=1e-10):
    """Compare outputs and gradients, relative to the largest entry of each."""
    generator = torch.Generator().manual_seed(1)
    weights = torch.rand(4096, encoder.n_outputs, generator=generator, dtype=torch.float64) - 0.3
    weights = weights.to(next(encoder.parameters()).dtype)
    output, gradients = output_and_gradients(encoder, fast, weights)
    expected, expected_gradients = output_and_gradients(encoder, literal, weights)
    _assert_close(output, expected, relative, "output")
    for name, gradient in gradients.items():
        _assert_close(gradient, expected_gradients[name], relative, name)


def _assert_close(actual, expected, relative, name):
    assert actual.shape == expected.shape, name
    if expected.numel():
        worst = (actual - expected).abs().max().item()
        assert worst <= relative * max(expected.abs().max().item(), 1e-3), (name, worst)
