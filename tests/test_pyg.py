"""Transforms for PyTorch Geometric are compared with the oracle."""

import math

import numpy as np
import pytest

import twinwl as tw
from tests import naive
from tests.isomorphism import naive_readouts

torch = pytest.importorskip("torch")
geometric = pytest.importorskip("torch_geometric")

from torch_geometric.data import Batch, Data  # noqa: E402
from torch_geometric.loader import DataLoader  # noqa: E402
from torch_geometric.nn import global_add_pool  # noqa: E402
from torch_geometric.nn.models import GIN  # noqa: E402

from twinwl.pyg import AddColours, AddReadout, AddRootedSizes  # noqa: E402

GRAPHS = tw.from_edges(
    [[(0, 1), (1, 2), (2, 0), (2, 3)], [(0, 1), (1, 2), (2, 3), (3, 4)], [(0, 1)]],
    node_labels=[[1, 2, 1, 2], [1, 1, 1, 2, 2], [1, 2]],
)


@pytest.fixture
def data():
    return GRAPHS.to_pyg()


def test_rooted_sizes_equal_the_oracle(data):
    for graph, literal in zip(data, naive.from_batch(GRAPHS), strict=True):
        expected = np.array(naive.rooted_sizes(literal, 3)[1:]).T
        added = AddRootedSizes(hops=3, attribute="sizes", log=False)(graph)
        assert added.sizes.tolist() == expected.tolist()
        assert torch.equal(added.x, graph.x)
        assert "sizes" not in graph


def test_columns_follow_those_of_x_and_logarithms_survive_integer_features(data):
    added = AddRootedSizes(hops=1)(data[2])
    assert added.x[:, :-1].tolist() == data[2].x.tolist()
    assert added.x[:, -1].tolist() == pytest.approx([math.log(2)] * 2)


@pytest.mark.parametrize("make", [AddRootedSizes, AddColours, AddReadout])
@pytest.mark.parametrize("attribute", ["x", "twin"])
def test_a_batch_gives_what_its_graphs_give(make, attribute, data):
    add = make(attribute=attribute)
    add = add.fit(data) if hasattr(add, "fit") else add
    one_by_one = torch.cat([add(graph)[attribute] for graph in data])
    assert torch.equal(add(Batch.from_data_list(data))[attribute], one_by_one)
    assert torch.equal(next(iter(DataLoader([add(graph) for graph in data], 3)))[attribute], one_by_one)


def test_colours_are_those_of_refinement(data):
    add = AddColours(n_iter=2).fit(data)
    numbers = torch.cat([add(graph).colours for graph in data])
    assert numbers.dtype == torch.int64
    for h, literal in enumerate(naive.colours(naive.from_batch(GRAPHS), 2)):
        flat = [colour for graph in literal for colour in graph]
        pairs = set(zip(numbers[:, h].tolist(), flat, strict=True))
        assert len(pairs) == len(set(flat)) == add.n_numbers[h] - 1


def test_values_of_readouts_are_equal_where_the_oracle_says_so(data):
    add = AddReadout("degrees", hops=2).fit(data)
    numbers = torch.cat([add(graph).readout for graph in data])
    literal = naive.from_batch(GRAPHS)
    for h in range(3):
        values = [
            naive_readouts.degrees(naive.rooted_subgraph(graph, node, h))
            for graph in literal
            for node in range(graph.n)
        ]
        pairs = set(zip(numbers[:, h].tolist(), values, strict=True))
        assert len(pairs) == len(set(values)) == add.n_numbers[h] - 1


def test_what_fit_has_not_seen_gets_the_last_number(data):
    star = tw.from_edges([[(0, leaf) for leaf in range(1, 6)]], node_labels=[[9] * 6]).to_pyg()[0]
    for add in (AddColours(n_iter=1).fit(data), AddReadout("edges", hops=1).fit(data)):
        numbers = add(star)[add.attribute]
        assert numbers[0, 1] == add.n_numbers[1] - 1
    in_x = AddColours(n_iter=1, attribute="x").fit(data)
    added = in_x(star).x
    assert added.shape[1] == star.x.shape[1] + sum(in_x.n_numbers)
    assert added[:, star.x.shape[1] :].sum(dim=1).tolist() == [2.0] * 6


def test_continuous_features_are_kept_and_do_not_count_as_labels():
    graph = Data(x=torch.rand(3, 2), edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
    add = AddColours(n_iter=1).fit([graph])
    assert add(graph).colours.tolist() == [[0, 0], [0, 1], [0, 0]]
    assert torch.equal(AddRootedSizes()(graph).x[:, :2], graph.x)


SOFT = torch.tensor([[0.5, 0.5], [1.0, 0.0]])


def pair(x):
    return Data(x=x, edge_index=torch.tensor([[0, 1], [1, 0]]))


@pytest.mark.parametrize("stored", [False, True])
def test_a_model_of_soft_rows_reads_a_one_hot_graph_as_features(stored, tmp_path):
    model = tw.NTwinClassifier(layers=1, hidden=4, max_epochs=1, validation_fraction=None, verbose=False)
    model.fit([pair(SOFT), pair(torch.eye(2)), pair(SOFT), pair(torch.eye(2))], [0, 1, 0, 1])
    if stored:
        tw.save(model, tmp_path / "model.twinwl")
        model = tw.load(tmp_path / "model.twinwl")
    alone, together = (
        model.predict_proba([pair(torch.eye(2))]),
        model.predict_proba([pair(x) for x in (torch.eye(2), SOFT)]),
    )
    np.testing.assert_allclose(alone[0], together[0], rtol=1e-5)


@pytest.mark.parametrize("stored", [False, True])
def test_a_row_of_zeros_is_an_unseen_label_for_a_model_of_one_hot_rows(stored, tmp_path):
    vectorizer = tw.STwinVectorizer(n_iter=0).fit([pair(torch.eye(2)), pair(torch.eye(2)[[1, 1]])])
    if stored:
        tw.save(vectorizer, tmp_path / "model.twinwl")
        vectorizer = tw.load(tmp_path / "model.twinwl")
    new = pair(torch.tensor([[0.0, 1.0], [0.0, 0.0]]))
    assert vectorizer.transform([new]).toarray().tolist() == [[0, 1]]
    assert vectorizer.unseen_rate([new]) == 0.5


def test_a_lone_one_hot_graph_has_the_rows_that_training_had():
    trained = tw.STwinVectorizer(n_iter=0).fit([pair(torch.tensor([[0, 1], [1, 1]]))])
    assert trained.unseen_rate([pair(torch.tensor([[0, 1], [0, 1]]))]) == 0


def test_soft_rows_are_refused_by_a_model_of_one_hot_rows():
    vectorizer = tw.STwinVectorizer(n_iter=0).fit([pair(torch.eye(2))])
    with pytest.raises(tw.TwinWLError, match=r"graph 0: node 0 has .* in x, expected labels"):
        vectorizer.transform([pair(SOFT)])


def test_colours_are_added_to_a_one_hot_graph_as_to_the_soft_ones_of_fit():
    add = AddColours(n_iter=0).fit([pair(SOFT)])
    assert add(pair(torch.eye(2))).colours.tolist() == add(pair(SOFT)).colours.tolist()


def test_arcs_are_followed_where_edges_are_directed():
    arcs = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
    with pytest.raises(tw.TwinWLError, match="directed=True"):
        AddRootedSizes()(arcs)
    assert AddRootedSizes(2, log=False, directed=True)(arcs).x.tolist() == [[2, 3], [2, 2], [1, 1]]


@pytest.mark.parametrize(
    ("make", "name", "value"),
    [
        (AddRootedSizes, "hops", 0),
        (AddRootedSizes, "hops", "two"),
        (AddColours, "n_iter", -1),
        (AddReadout, "readout", "sise"),
        (AddReadout, "attribute", ""),
    ],
)
def test_wrong_values_are_refused(make, name, value):
    with pytest.raises(tw.TwinWLError, match=name):
        make(**{name: value})


def test_fit_comes_first():
    with pytest.raises(tw.TwinWLError, match="not fitted; call fit"):
        AddColours()(Data(edge_index=torch.empty(2, 0, dtype=torch.int64), num_nodes=1))


def test_a_network_of_pyg_sees_with_rooted_sizes_what_it_does_not_see_without():
    pair = tw.load_dataset("TWINS", n_pairs=1).graphs.to_pyg()
    for graph in pair:
        graph.x = torch.ones(graph.num_nodes, 1)

    def difference(graphs):
        torch.manual_seed(0)
        network = GIN(graphs[0].x.shape[1], 8, 3).double().eval()
        first, second = (
            global_add_pool(network(graph.x.double(), graph.edge_index), None) for graph in graphs
        )
        return (first - second).abs().max().item()

    assert difference(pair) < 1e-9
    assert difference([AddRootedSizes()(graph) for graph in pair]) > 1e-6
