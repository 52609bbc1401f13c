"""Random graphs for Hypothesis: empty ones, isolated nodes, labels of every kind, several in a batch."""

from hypothesis import strategies as st

from twinwl import GraphBatch

node_label_values = st.sampled_from([None, True, 1, 1.0, "1", b"1", ("C", 1), "C", "N", -3])
edge_label_values = st.sampled_from(["single", "double", 1, 1.0, None])


@st.composite
def graphs(draw, *, max_nodes=9, directed=False):
    """Draw (n, edges, node labels, edge labels); each edge is named once."""
    n = draw(st.integers(0, max_nodes))
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v and (directed or u < v)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=2 * n)) if pairs else []
    node_labels = draw(st.lists(node_label_values, min_size=n, max_size=n))
    edge_labels = draw(st.lists(edge_label_values, min_size=len(edges), max_size=len(edges)))
    return n, edges, node_labels, edge_labels


@st.composite
def batches(
    draw, *, directed=False, min_graphs=1, max_graphs=4, node_label=True, edge_label=True, max_nodes=9
):
    """Draw a GraphBatch; ``node_label`` and ``edge_label`` say whether labels are there."""
    drawn = draw(
        st.lists(graphs(max_nodes=max_nodes, directed=directed), min_size=min_graphs, max_size=max_graphs)
    )
    return GraphBatch.from_edges(
        [edges for _, edges, _, _ in drawn],
        num_nodes=[n for n, _, _, _ in drawn],
        node_labels=[labels for _, _, labels, _ in drawn] if node_label else None,
        edge_labels=[labels for _, _, _, labels in drawn] if edge_label else None,
        directed=directed,
    )
