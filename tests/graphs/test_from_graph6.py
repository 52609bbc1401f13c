import contextlib
import warnings

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx.generators.atlas import graph_atlas_g

from tests.batch_equality import assert_same_graphs
from twinwl import GraphBatch, TwinWLError, TwinWLWarning
from twinwl.errors import GraphInputError
from twinwl.graphs.batch import validate


def test_whole_atlas_equals_networkx():
    atlas = graph_atlas_g()
    expected = GraphBatch.from_networkx(atlas)
    assert_same_graphs(GraphBatch.from_graph6([nx.to_graph6_bytes(graph) for graph in atlas]), expected)
    assert_same_graphs(GraphBatch.from_graph6([nx.to_sparse6_bytes(graph) for graph in atlas]), expected)


@given(st.integers(0, 70), st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_random_graph_equals_networkx_in_both_formats(n, density, seed):
    # Sizes around powers of two are where sparse6 needs its special padding, from 63 on sizes take 4 bytes.
    graph = nx.gnp_random_graph(n, density, seed=seed)
    expected = GraphBatch.from_networkx([graph])
    for write in (nx.to_graph6_bytes, nx.to_sparse6_bytes):
        assert_same_graphs(GraphBatch.from_graph6([write(graph).decode()]), expected)


def test_large_graph_equals_networkx():
    graph = nx.gnp_random_graph(400, 0.01, seed=1)
    expected = GraphBatch.from_networkx([graph])
    assert_same_graphs(GraphBatch.from_graph6([nx.to_graph6_bytes(graph)]), expected)
    path = nx.path_graph(3_000)
    assert GraphBatch.from_graph6([nx.to_sparse6_bytes(path)]).n_edges == 2_999


def _digraph6(graph):
    n = len(graph)
    bits = "".join("1" if graph.has_edge(u, v) else "0" for u in range(n) for v in range(n))
    bits += "0" * (-len(bits) % 6)
    body = "".join(chr(63 + int(bits[at : at + 6], 2)) for at in range(0, len(bits), 6))
    return "&" + chr(63 + n) + body


@given(st.integers(0, 12), st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_digraph6_is_directed(n, density, seed):
    graph = nx.gnp_random_graph(n, density, seed=seed, directed=True)
    batch = GraphBatch.from_graph6([_digraph6(graph)])
    assert batch.directed
    assert_same_graphs(batch, GraphBatch.from_networkx([graph]))


@pytest.mark.parametrize(
    "text", ["Bw", b"Bw", "Bw\n", b"Bw\r\n", ">>graph6<<Bw", ":BcN", b">>sparse6<<:BcN\n"]
)
def test_triangle_is_read_with_and_without_header(text):
    batch = GraphBatch.from_graph6([text])
    assert (batch.n_nodes, batch.n_edges) == (3, 3)


def test_formats_without_direction_mix():
    assert GraphBatch.from_graph6(["Bw", ":BcN", "?", "@"]).nodes_per_graph.tolist() == [3, 3, 0, 1]


def test_parallel_edges_of_sparse6_are_merged_with_a_count():
    text = nx.to_sparse6_bytes(nx.MultiGraph([(0, 1), (0, 1), (1, 2)]))
    with pytest.warns(TwinWLWarning, match="merged 1 repeated"):
        assert GraphBatch.from_graph6([text]).n_edges == 2


BAD = {
    "empty": ("", "expected a number of nodes"),
    "header only": (">>graph6<<", "expected a number of nodes"),
    "colon only": (":", "expected a number of nodes"),
    "cut off": ("B", "3 nodes take 1 characters, not 0"),
    "trailing": ("Bw~", "3 nodes take 1 characters, not 2"),
    "padding bits set": ("A`", "beyond the matrix"),
    "size cut off": ("~?", "expected a number of nodes"),
    "long size cut off": ("~~??", "expected a number of nodes"),
    "low character": ("B ", r"from '\?' to '~'"),
    "high character": ("C\x7f", r"from '\?' to '~'"),
    "high byte": (b"C\xff", r"from '\?' to '~'"),
    "not ASCII": ("é", r"from '\?' to '~'"),
    "wrong mark": (">>sparse6<<Bw", "expected a number of nodes"),
    "astronomic": ("~~~~~~~~", "characters, not 0"),
    "astronomic sparse6": (":~~~~~~~~", "without gaps"),
    "large empty sparse6": (":~~?_????", "without gaps"),
    "SMILES": ("c1ccccc1", r"from '\?' to '~'"),
    "number": (3, "3 is not a string"),
    "None": (None, "None is not a string"),
    "directed among undirected": ("&?", "cannot be mixed"),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD.keys())
def test_garbage_is_refused_by_its_index(text, message):
    with pytest.raises(GraphInputError, match=message) as caught:
        GraphBatch.from_graph6(["Bw", text])
    assert caught.value.graph == 1


@given(st.text(st.characters(min_codepoint=32, max_codepoint=130), max_size=12))
def test_any_text_is_read_or_refused_by_our_own_error(text):
    with warnings.catch_warnings(), contextlib.suppress(TwinWLError):
        warnings.simplefilter("ignore", TwinWLWarning)  # sparse6 may hold loops
        validate(GraphBatch.from_graph6([text]))


@pytest.mark.parametrize("strings", ["Bw", b"Bw"])
def test_lone_string_is_told_to_be_wrapped(strings):
    with pytest.raises(GraphInputError, match="wrap a single one in a list"):
        GraphBatch.from_graph6(strings)
