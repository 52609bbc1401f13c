import numpy as np
import pytest
from hypothesis import given

from tests.batch_equality import assert_same_graphs
from tests.strategies import graphs
from twinwl import GraphBatch, as_batch, graph_hash
from twinwl.errors import GraphInputError

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
data = pytest.importorskip("torch_geometric.data", reason="PyTorch Geometric is not installed")

EDGE = torch.tensor([[0, 1], [1, 0]])


def _data(**fields):
    return data.Data(**{"edge_index": EDGE, "num_nodes": 2, **fields})


@given(graphs())
def test_both_arcs_equal_the_edge_list(part):
    n, edges, _, _ = part
    arcs = torch.tensor([*edges, *[(v, u) for u, v in edges]], dtype=torch.long).reshape(-1, 2).T
    batch = GraphBatch.from_pyg([data.Data(edge_index=arcs, num_nodes=n)])
    assert_same_graphs(batch, GraphBatch.from_edges([edges], num_nodes=[n]))


@given(graphs(directed=True))
def test_arcs_stay_one_way_where_directed(part):
    n, edges, _, _ = part
    arcs = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).T
    batch = GraphBatch.from_pyg([data.Data(edge_index=arcs, num_nodes=n)], directed=True)
    assert_same_graphs(batch, GraphBatch.from_edges([edges], num_nodes=[n], directed=True))


@pytest.mark.parametrize(
    ("x", "labels"),
    [
        (torch.tensor([[6], [8]]), [6, 8]),
        (torch.tensor([6, 8]), [6, 8]),
        (torch.tensor([[1.0, 0, 0], [0, 0, 1]]), [0, 2]),
        (torch.tensor([[0, 1, 0], [0, 0, 1]]), [1, 2]),
        (torch.tensor([[6, 1], [8, 0]]), [(6, 1), (8, 0)]),
        (torch.tensor([[1.0], [1.0]]), [0, 0]),
        (torch.tensor([[True], [False]]), [True, False]),
    ],
    ids=str,
)
def test_discrete_x_is_labels(x, labels):
    batch = GraphBatch.from_pyg([_data(x=x)])
    assert batch.labels_of_nodes() == labels
    assert batch.node_features is None


@pytest.mark.parametrize(
    "x",
    [
        torch.tensor([[0.5], [1.0]]),
        torch.tensor([[6.0], [8.0]]),
        torch.tensor([[1.0, 1.0], [0.0, 1.0]]),
        torch.tensor([[0.0, 0.0], [0.0, 1.0]]),
    ],
    ids=str,
)
def test_continuous_x_is_features(x):
    batch = GraphBatch.from_pyg([_data(x=x)])
    assert batch.node_features.tolist() == x.tolist()
    assert not batch.has_node_labels


def test_one_rule_for_the_whole_batch():
    one_hot, continuous = torch.eye(2), torch.tensor([[0.5, 0], [0, 1]])
    batch = GraphBatch.from_pyg([_data(x=one_hot), _data(x=continuous)])
    assert batch.node_features.tolist() == [*one_hot.tolist(), *continuous.tolist()]


@pytest.mark.parametrize("kind", [torch.float32, torch.int64])
@pytest.mark.parametrize(
    ("x", "labels"), [("labels", [1, (0, 0), (1, 1)]), ("rows", [(0, 1), (0, 0), (1, 1)])]
)
def test_rows_can_be_read_each_by_itself(kind, x, labels):
    rows = [torch.tensor([row], dtype=kind) for row in ([0, 1], [0, 0], [1, 1])]
    lone = [data.Data(x=row, edge_index=EDGE[:, :0]) for row in rows]
    assert GraphBatch.from_pyg(lone, x=x).labels_of_nodes() == labels
    assert [GraphBatch.from_pyg([graph], x=x).labels_of_nodes() for graph in lone] == [
        [own] for own in labels
    ]


def test_one_hot_rows_can_be_read_as_features():
    batch = GraphBatch.from_pyg([_data(x=torch.eye(2))], x="features")
    assert batch.node_features.tolist() == [[1, 0], [0, 1]]
    assert not batch.has_node_labels


def test_soft_row_is_refused_as_a_label():
    soft = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    with pytest.raises(GraphInputError, match=r'graph 1: node 1 has \[0.5, 0.5\] in x.*x="features"'):
        GraphBatch.from_pyg([_data(x=torch.eye(2)), _data(x=soft)], x="labels")


@pytest.mark.parametrize(
    ("attribute", "label"),
    [(torch.tensor([[3], [3]]), 3), (torch.tensor([2, 2]), 2), (torch.tensor([[0.0, 1], [0, 1]]), 1)],
    ids=str,
)
def test_discrete_edge_attr_is_edge_labels(attribute, label):
    batch = GraphBatch.from_pyg([_data(edge_attr=attribute), data.Data(edge_index=None, num_nodes=1)])
    assert [batch.edge_vocabulary[code] for code in batch.edge_labels] == [label, label]


def test_gradients_are_let_go():
    x = torch.tensor([[0.5], [1.5]], requires_grad=True)
    assert GraphBatch.from_pyg([_data(x=x)]).node_features.tolist() == [[0.5], [1.5]]


def test_graph_without_nodes_is_taken():
    nothing = data.Data(
        x=torch.empty((0, 1), dtype=torch.long), edge_index=torch.empty((2, 0), dtype=torch.long)
    )
    batch = GraphBatch.from_pyg([nothing, _data(x=torch.tensor([[1], [2]]))])
    assert batch.nodes_per_graph.tolist() == [0, 2]


def test_duck_is_enough():
    class Duck:
        edge_index = np.array([[0, 1], [1, 0]])
        num_nodes = 3

    assert GraphBatch.from_pyg([Duck()]).nodes_per_graph.tolist() == [3]


def test_data_set_of_pyg_is_a_list_of_graphs():
    class Two(data.InMemoryDataset):
        def __init__(self):
            super().__init__()
            self.data, self.slices = self.collate(
                [_data(x=torch.tensor([[1], [2]])), _data(x=torch.tensor([[1], [1]]))]
            )

    assert GraphBatch.from_pyg(Two()).labels_of_nodes() == [1, 2, 1, 1]


BAD = {
    "one-way": (
        _data(edge_index=torch.tensor([[0], [1]])),
        r"\(0, 1\) is there but \(1, 0\) is not.*directed=True",
    ),
    "node that does not exist": (_data(edge_index=torch.tensor([[0, 5], [5, 0]])), r"\(0, 5\) names node 5"),
    "negative node": (_data(edge_index=torch.tensor([[0, -1], [-1, 0]])), "names node -1"),
    "transposed": (_data(edge_index=torch.tensor([[0, 1], [1, 0], [0, 1]])), r"shape \(3, 2\)"),
    "float arcs": (_data(edge_index=EDGE.float()), "must hold integers"),
    "x missing": (_data(), "no x here, while other graphs"),
    "NaN": (_data(x=torch.tensor([[float("nan")], [1.0]])), "not finite"),
    "x of three axes": (_data(x=torch.zeros((2, 2, 2))), "must be a matrix of numbers"),
    "wider x": (_data(x=torch.tensor([[0.5, 1], [1, 1]])), "equally many"),
    "no Data": ("CC", "str has no edge_index"),
    "heterogeneous": (data.HeteroData(), "HeteroData has no edge_index"),
}


@pytest.mark.parametrize(("graph", "message"), BAD.values(), ids=BAD.keys())
def test_bad_graph_is_refused_by_its_index(graph, message):
    good = _data(x=torch.tensor([[0.5], [1.5]]))
    if getattr(graph, "x", None) is None and message[:4] != "no x" and isinstance(graph, data.Data):
        graph.x = good.x
    with pytest.raises(GraphInputError, match=message) as caught:
        GraphBatch.from_pyg([good, graph])
    assert caught.value.graph == 1


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        (torch.tensor([[0.5, 1], [0.5, 1]]), "continuous.*drop it"),
        (None, "no edge_attr here"),
        (torch.tensor([[1], [2]]), "different labels"),
        (torch.tensor([[1]]), "1 rows of edge_attr for 2 arcs"),
    ],
    ids=str,
)
def test_bad_edge_attr_is_refused(attribute, message):
    good = _data(edge_attr=torch.tensor([[1], [1]]))
    with pytest.raises(GraphInputError, match=message):
        GraphBatch.from_pyg([good, _data(edge_attr=attribute)])


def test_lone_data_is_told_to_be_wrapped():
    with pytest.raises(GraphInputError, match="wrap it in a list"):
        GraphBatch.from_pyg(_data())


# ------------------------------------------------------------------ many graphs in one Batch

THREE = [_data(x=torch.tensor([[number], [7]])) for number in range(3)]
NOTHING = _data(x=torch.empty((0, 1), dtype=torch.long), edge_index=EDGE[:, :0], num_nodes=0)


@pytest.mark.parametrize("take", [GraphBatch.from_pyg, as_batch])
def test_batch_is_taken_as_its_graphs(take):
    graphs = [*THREE, NOTHING]
    assert_same_graphs(take(data.Batch.from_data_list(graphs)), GraphBatch.from_pyg(graphs))


@pytest.mark.parametrize("take", [GraphBatch.from_pyg, as_batch])
@pytest.mark.parametrize("graphs", [THREE, [THREE[0], NOTHING]], ids=["three", "one and an empty one"])
def test_batch_inside_a_list_is_refused(take, graphs):
    with pytest.raises(GraphInputError, match=f"graph 0: it is a Batch of {len(graphs)} graphs inside a"):
        take([data.Batch.from_data_list(graphs)])


def test_graphs_joined_by_a_batch_vector_are_refused():
    joined = _data(batch=torch.tensor([0, 1]))
    with pytest.raises(GraphInputError, match="graph 1: it is a Batch of 2 graphs"):
        GraphBatch.from_pyg([_data(), joined])


def test_batch_that_does_not_know_its_graphs_is_refused():
    with pytest.raises(GraphInputError, match=r"its graphs are unknown.*list of Data"):
        GraphBatch.from_pyg(data.Batch(edge_index=EDGE, num_nodes=2))


def test_one_graph_of_a_batch_can_be_hashed_and_several_cannot():
    assert graph_hash(data.Batch.from_data_list(THREE[:1])) == graph_hash(THREE[0])
    with pytest.raises(GraphInputError, match="a batch of 3 graphs; pick one"):
        graph_hash(data.Batch.from_data_list(THREE))
