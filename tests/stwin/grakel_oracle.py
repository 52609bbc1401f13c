"""GraKeL as the judge of kernels on plain WL counts."""

import pytest

REASON = "GraKeL is the oracle here; install twinwl[baselines]"


def grakel_graphs(batch):
    """Convert a batch to GraKeL's own graphs; nodes are numbered within each graph."""
    grakel = pytest.importorskip("grakel", reason=REASON)
    graphs = []
    for graph in batch:
        sources, targets = graph.arcs()
        edges = {node: {} for node in range(graph.n_nodes)}
        for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
            edges[source][target] = 1.0
        labels = dict(enumerate(graph.labels_of_nodes()))
        graphs.append(grakel.Graph(edges, node_labels=labels))
    return graphs


def grakel_kernel(base, n_iter, *, normalize):
    kernels = pytest.importorskip("grakel.kernels", reason=REASON)
    if base == "intersection":
        return kernels.WeisfeilerLehmanOptimalAssignment(n_iter=n_iter, normalize=normalize)
    return kernels.WeisfeilerLehman(
        n_iter=n_iter, base_graph_kernel=kernels.VertexHistogram, normalize=normalize
    )
