import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ntwin.rooted_data import assert_same_function, encoder_for, graph_data, row_input
from tests.strategies import batches
from twinwl import GraphBatch, TwinWLError
from twinwl.datasets.generators import worked_example
from twinwl.datasets.graph_files import read_tu
from twinwl.nn import NTwinEncoder

HOPS = ["growing", 0, 1, 2, 3]
MARKS = ["none", "root", "distance"]


@settings(max_examples=25)
@given(batch=batches(), layers=st.integers(1, 3), edges=st.booleans())
def test_gin_subtree_encoder_is_the_same_function_too(batch, layers, edges):
    encoder = encoder_for(batch, layers, "growing", edge_labels=edges, subtree="gin")
    fast = row_input(batch, layers, "growing", edge_labels=edges, subtree="gin")
    literal = graph_data(batch, edge_labels=batch.edge_vocabulary if edges else None)
    assert_same_function(encoder, fast, literal)


@settings(max_examples=25)
@given(batch=batches(min_graphs=3, max_graphs=6), data=st.data())
def test_a_mini_batch_gives_the_rows_of_the_whole(batch, data):
    rows = data.draw(st.lists(st.integers(0, len(batch) - 1), min_size=1, max_size=4))
    encoder = encoder_for(batch, 3, "growing")
    everything = encoder(row_input(batch, 3, "growing")).detach()
    some = encoder(row_input(batch, 3, "growing", rows=np.array(rows))).detach()
    torch.testing.assert_close(some, everything[rows])


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("hops", ["growing", 3])
def test_exact_on_real_molecules(tu_zip, hops, mark):
    mutag = read_tu(tu_zip("MUTAG")).graphs
    encoder = encoder_for(mutag, 3, hops, mark, edge_labels=True, hidden=16)
    fast = row_input(mutag, 3, hops, mark, edge_labels=True)
    assert_same_function(encoder, fast, graph_data(mutag, edge_labels=mutag.edge_vocabulary))


@pytest.mark.parametrize(("hops", "mark"), [("growing", "none"), (3, "none"), (2, "root"), (3, "distance")])
def test_exact_on_a_slice_of_nci1_in_single_precision(tu_zip, hops, mark):
    batch = read_tu(tu_zip("NCI1")).graphs[100:160]
    encoder = encoder_for(batch, 3, hops, mark, hidden=16).float()
    fast = row_input(batch, 3, hops, mark)
    assert_same_function(encoder, fast, graph_data(batch, dtype=torch.float32), relative=1e-5)


def test_the_worked_example_is_told_apart_where_gin_cannot():
    pair = worked_example()
    encoder = encoder_for(pair, 2, "growing", subtree="gin", hidden=8)
    first, second = encoder(row_input(pair, 2, "growing", subtree="gin")).detach()
    whole, rooted = slice(0, 16), slice(16, 32)
    torch.testing.assert_close(first[whole], second[whole])
    assert (first[rooted] - second[rooted]).abs().max() > 1e-3


def test_pyg_data_and_batches_are_taken_as_they_are():
    data = pytest.importorskip("torch_geometric.data")
    graphs = [
        data.Data(x=torch.eye(3), edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])),
        data.Data(x=torch.eye(3)[:2], edge_index=torch.tensor([[0, 1], [1, 0]])),
    ]
    torch.manual_seed(0)
    encoder = NTwinEncoder(n_features=3, layers=2, hidden=4)
    together = encoder(data.Batch.from_data_list(graphs))
    torch.testing.assert_close(together, torch.cat([encoder(graph) for graph in graphs]))
    assert together.shape == (2, 8)


def test_one_hot_edge_attributes_count_as_codes():
    batch = GraphBatch.from_edges([[(0, 1), (1, 2)]], edge_labels=[["a", "b"]])
    encoder = encoder_for(batch, 2, 1, edge_labels=True)
    codes = graph_data(batch, edge_labels=batch.edge_vocabulary)

    class Data:
        x, edge_index = codes.x, codes.edge_index
        edge_attr, batch = torch.nn.functional.one_hot(codes.edge_attr).double(), None

    torch.testing.assert_close(encoder(Data()), encoder(codes))


def path_with_edge_attr(edge_attr):
    data = pytest.importorskip("torch_geometric.data")
    arcs = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    return data.Data(x=torch.ones(3, 1), edge_index=arcs, edge_attr=edge_attr)


def edge_encoder():
    torch.manual_seed(0)
    return NTwinEncoder(n_features=1, layers=2, hidden=4, n_edge_labels=2)


@pytest.mark.parametrize("edge_attr", [torch.tensor([0, 0, 1, 1]), torch.tensor([[0], [0], [1], [1]])])
def test_integer_edge_attr_of_pyg_is_read_as_codes(edge_attr):
    encoder, one_hot = edge_encoder(), torch.eye(2)[[0, 0, 1, 1]]
    expected = encoder(path_with_edge_attr(one_hot))
    torch.testing.assert_close(encoder(path_with_edge_attr(edge_attr)), expected)
    assert not torch.allclose(encoder(path_with_edge_attr(torch.zeros(4, dtype=int))), expected)


@pytest.mark.parametrize(
    ("edge_attr", "message"),
    [
        (torch.tensor([[0.0], [0.0], [1.0], [1.0]]), r"got float32 of shape \(4, 1\), expected one integer"),
        (torch.tensor([0.2, 0.2, 0.7, 0.7]), "expected one integer per arc"),
        (torch.tensor([[0.5, 1.0]] * 4), "expected one integer per arc"),
        (torch.tensor([[1, 0, 1], [1, 0, 1], [0, 0, 0], [0, 0, 0]]), r"got int64 of shape \(4, 3\)"),
        (torch.tensor([0, 0, 2, 2]), "got codes from 0 to 2, expected 0 to 1"),
        (torch.tensor([0, 1, 1]), "3 rows of edge_attr for 4 arcs"),
    ],
    ids=["float column", "floats", "continuous rows", "vectors of integers", "unknown code", "too few"],
)
def test_edge_attr_of_pyg_without_codes_is_refused(edge_attr, message):
    with pytest.raises(TwinWLError, match=message):
        edge_encoder()(path_with_edge_attr(edge_attr))


def test_edge_attr_is_not_read_by_an_encoder_without_edge_labels():
    encoder = NTwinEncoder(n_features=1, layers=1, hidden=2)
    weighted, plain = path_with_edge_attr(torch.rand(4, 3)), path_with_edge_attr(None)
    torch.testing.assert_close(encoder(weighted), encoder(plain))


def test_features_of_the_wrong_width_are_refused():
    encoder = encoder_for(worked_example(), 2, 1)
    with pytest.raises(TwinWLError, match=r"shape \(12, 1\).* 2 features"):
        encoder(graph_data(worked_example(), labels=(1,)))


def test_missing_edge_labels_are_refused():
    batch = GraphBatch.from_edges([[(0, 1)]], edge_labels=[["a"]])
    encoder = encoder_for(batch, 1, 1, edge_labels=True)
    with pytest.raises(TwinWLError, match="edge_attr"):
        encoder(graph_data(batch))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"layers": 0}, "layers: got 0"),
        ({"layers": True}, "layers: got True"),
        ({"hops": -1}, "hops: got -1"),
        ({"hops": "shrinking"}, "hops: got 'shrinking'"),
        ({"hidden": 0}, "hidden: got 0"),
        ({"root_mark": "rot"}, "did you mean 'root'"),
        ({"subtree": "wl"}, "subtree: got 'wl'"),
    ],
)
def test_impossible_settings_are_refused(arguments, message):
    with pytest.raises(TwinWLError, match=message):
        NTwinEncoder(3, **arguments)


def test_gin_subtree_without_its_quotient_is_refused():
    pair = worked_example()
    encoder = encoder_for(pair, 2, "growing", subtree="gin")
    with pytest.raises(TwinWLError, match="TwinInput"):
        encoder(row_input(pair, 2, "growing"))


def test_data_without_features_is_refused():
    class Data:
        x, edge_index = None, torch.zeros(2, 0, dtype=torch.int64)

    with pytest.raises(TwinWLError, match="without x"):
        NTwinEncoder(3)(Data())
