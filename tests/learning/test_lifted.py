"""A model of PyG on distinct colours gives the outputs and gradients of the plain way."""

import copy
import functools

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from torch_geometric.data import Batch, Data  # noqa: E402
from torch_geometric.nn import (  # noqa: E402
    GATConv,
    GCNConv,
    GINConv,
    GINEConv,
    GraphConv,
    SAGEConv,
    global_add_pool,
    global_max_pool,
    global_mean_pool,
)
from torch_geometric.nn.models import GCN, GIN  # noqa: E402

from twinwl.errors import TwinWLError  # noqa: E402
from twinwl.pyg import lifted  # noqa: E402

LINEAR, RELU = torch.nn.Linear, torch.nn.ReLU
NO_EDGES = torch.zeros(2, 0, dtype=torch.int64)
GIN_OF_PYG = functools.partial(GIN, 3, 3, 1)


def random_graphs(n_graphs=12, seed=0):
    """Graphs with labels, edge attributes, weights; loops, double edges, arcs one way, one without nodes."""
    rng = np.random.default_rng(seed)
    values = torch.tensor([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]], dtype=torch.float64)
    graphs = []
    for number in range(n_graphs):
        n = 0 if number == 3 else int(rng.integers(1, 8))
        m = 0 if n == 0 else int(rng.integers(0, 3 * n))
        edge_index = torch.from_numpy(rng.integers(0, max(1, n), (2, m)))
        graphs.append(
            Data(
                x=values[torch.from_numpy(rng.integers(0, 2, n))],
                edge_index=edge_index,
                edge_attr=values[torch.from_numpy(rng.integers(0, 2, m))],
                edge_weight=torch.tensor([0.5, 2.0], dtype=torch.float64)[
                    torch.from_numpy(rng.integers(0, 2, m))
                ],
            )
        )
    return graphs


class Network(torch.nn.Module):
    """Layers with activations, the states of all of them summed over graphs, an output layer."""

    def __init__(self, *layers, edges=None, pool=global_add_pool, width=4):
        super().__init__()
        self.layers = torch.nn.ModuleList(layers)
        self.edges = edges
        self.pool = pool
        self.out = LINEAR(3 + width * len(layers), 2)

    def forward(self, data):
        states = [data.x]
        for layer in self.layers:
            further = {} if self.edges is None else {self.edges: data[self.edges]}
            states.append(torch.tanh(layer(states[-1], data.edge_index, **further)))
        return self.out(torch.nn.functional.dropout(self.pool(torch.cat(states, dim=1), data.batch), 0.0))


def mlp(n_inputs):
    return torch.nn.Sequential(LINEAR(n_inputs, 4), torch.nn.BatchNorm1d(4), RELU(), LINEAR(4, 4))


class ByName(torch.nn.Module):
    """A model of PyG itself, called with tensors."""

    def __init__(self, network):
        super().__init__()
        self.network = network
        self.out = LINEAR(4, 2)

    def forward(self, x, edge_index, batch):
        return self.out(global_mean_pool(self.network(x, edge_index), batch))


class Residual(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.convs = LINEAR(3, 4), torch.nn.ModuleList(GINConv(mlp(4)) for _ in range(3))
        self.scale, self.norm = torch.nn.Parameter(torch.ones(4)), torch.nn.LayerNorm(4)

    def forward(self, data):
        x = self.embed(data.x)
        for conv in self.convs:
            x = self.norm(x * self.scale + conv(x, data.edge_index)).relu()
        x = torch.softmax(x.view(-1, 2, 2), dim=-1).flatten(1)
        return torch.zeros(data.num_graphs, 2, dtype=x.dtype).index_add(0, data.batch, x[:, :2])


MODELS = {
    "gin": lambda: Network(GINConv(mlp(3), train_eps=True), GINConv(mlp(4)), GINConv(mlp(4))),
    "gine": lambda: Network(GINEConv(mlp(3)), GINEConv(mlp(4), edge_dim=3), edges="edge_attr"),
    "gcn": lambda: Network(GCNConv(3, 4), GCNConv(4, 4), pool=global_mean_pool),
    "gcn with weights": lambda: Network(GCNConv(3, 4), GCNConv(4, 4, improved=True), edges="edge_weight"),
    "gcn without loops": lambda: Network(GCNConv(3, 4, add_self_loops=False), GCNConv(4, 4, normalize=False)),
    "gcn after gin": lambda: Network(GINConv(mlp(3)), GCNConv(4, 4), SAGEConv(4, 4)),
    "sage": lambda: Network(
        SAGEConv(3, 4), SAGEConv(4, 4, normalize=True), SAGEConv(4, 4, "sum", project=True)
    ),
    "sage max": lambda: Network(SAGEConv(3, 4, "max"), SAGEConv(4, 4, "min")),
    "graph": lambda: Network(GraphConv(3, 4), GraphConv(4, 4, aggr="mean")),
    "graph with weights": lambda: Network(GraphConv(3, 4), GraphConv(4, 4, aggr="max"), edges="edge_weight"),
    "pyg gin": lambda: ByName(GIN(3, 4, 3, norm="batch_norm", jk="cat", out_channels=4)),
    "pyg gcn": lambda: ByName(GCN(3, 4, 2, jk="max", out_channels=4, act="elu")),
    "residual": Residual,
    "no layers": Network,
}


def plain_output(model, graphs):
    batch = Batch.from_data_list(graphs)
    if isinstance(model, ByName):
        return model(batch.x, batch.edge_index, batch.batch)
    return model(batch)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("training", [True, False])
def test_outputs_gradients_and_statistics_are_those_of_the_plain_way(name, training):
    torch.manual_seed(0)
    graphs = random_graphs()
    model = MODELS[name]().double().train(training)
    other = copy.deepcopy(model)
    network = lifted(graphs, other)
    for rows in (None, [4, 0, 3, 7, 4]):
        chosen = graphs if rows is None else [graphs[row] for row in rows]
        expected, got = plain_output(model, chosen), network(rows)
        torch.testing.assert_close(got, expected, rtol=0, atol=1e-10)
        weights = torch.randn_like(expected)
        (expected * weights).sum().backward()
        (got * weights).sum().backward()
    for (key, one), two in zip(model.named_parameters(), other.parameters(), strict=True):
        assert (one.grad is None) == (two.grad is None), key
        if one.grad is not None:
            torch.testing.assert_close(two.grad, one.grad, rtol=0, atol=1e-10, msg=key)
    for one, two in zip(model.buffers(), other.buffers(), strict=True):
        torch.testing.assert_close(two, one, rtol=0, atol=1e-10)


def test_training_gives_the_weights_of_the_plain_way():
    torch.manual_seed(0)
    graphs, model = random_graphs(20), MODELS["gin"]().double()
    other = copy.deepcopy(model)
    network = lifted(graphs, other)
    for step, run in ((0, lambda rows: plain_output(model, [graphs[row] for row in rows])), (1, network)):
        weights = (model, other)[step].parameters()
        optimiser = torch.optim.SGD(weights, 0.01)
        for rows in np.random.default_rng(0).permutation(20).reshape(4, 5):
            optimiser.zero_grad()
            run(rows.tolist()).square().sum().backward()
            optimiser.step()
    for one, two in zip(model.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(two, one, rtol=0, atol=1e-8)


def test_states_of_nodes_are_returned_one_per_node():
    graphs = random_graphs()
    model = GIN(3, 4, 2).double()
    batch = Batch.from_data_list(graphs[4:7])
    torch.testing.assert_close(lifted(graphs, model)([4, 5, 6]), model(batch.x, batch.edge_index))


def test_rows_are_colours_and_integers_can_be_embedded():
    ring = torch.tensor([[0, 1, 2, 3, 1, 2, 3, 0], [1, 2, 3, 0, 0, 1, 2, 3]])
    graphs = [Data(x=torch.zeros(4, dtype=torch.int64), edge_index=ring)] * 3

    class Embedded(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.conv = torch.nn.Embedding(2, 3), GINConv(LINEAR(3, 2))

        def forward(self, data):
            return global_add_pool(self.conv(self.table(data.x), data.edge_index), data.batch)

    model = Embedded()
    network = lifted(graphs, model)
    assert [network.n_colours(depth) for depth in range(3)] == [1, 1, 1]
    torch.testing.assert_close(network(), model(Batch.from_data_list(graphs)))


class Odd(torch.nn.Module):
    def __init__(self, function, *layers):
        super().__init__()
        self.function, self.layers = function, torch.nn.ModuleList(layers)
        self.conv = GINConv(LINEAR(3, 3))

    def forward(self, data):
        return self.function(self.conv(data.x, data.edge_index), data)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x, _: torch.nn.functional.dropout(x, 0.5), "drops out"),
        (lambda x, _: x.sum(dim=0), "runs over nodes"),
        (lambda x, _: x.sum(), "sum"),
        (lambda x, _: x[0], "__getitem__"),
        (lambda x, _: x.flip(0), "flip"),
        (lambda x, _: x @ x.T, "T is not supported"),
        (lambda x, data: x - global_mean_pool(x, data.batch)[data.batch], "back to its nodes"),
        (lambda x, data: global_max_pool(x, data.batch), "scatter_reduce_"),
        (lambda x, data: x + torch.ones(data.num_nodes, 3, dtype=x.dtype), "combines nodes"),
        (lambda x, data: x[data.edge_index[0]], "looks into edge_index"),
        (lambda x, data: x * data.edge_attr, "nodes with those of edges"),
        (lambda _, data: data.pos, "data.pos"),
        (lambda x, _: x.cumsum(0), "cumsum"),
        (lambda x, _: torch.cat([x, x]), "joins nodes"),
        (lambda x, data: torch.cat([x, x.new_ones(data.num_nodes, 3)], dim=1), "not made from them"),
        (lambda x, data: data.x.add_(x), "in place"),
    ],
)
def test_what_mixes_nodes_is_refused(function, message):
    network = lifted(random_graphs(), Odd(function).double())
    with pytest.raises(TwinWLError, match=message):
        network()


@pytest.mark.parametrize(
    ("dataset", "model", "message"),
    [
        (random_graphs, lambda: Odd(None, GATConv(3, 3)), "GATConv"),
        (random_graphs, lambda: SAGEConv(3, 3, aggr="lstm"), "aggr='lstm'"),
        (random_graphs, lambda: GINConv(LINEAR(3, 3), flow="target_to_source"), "target_to_source"),
        (random_graphs, lambda: 3, "expected a torch.nn.Module"),
        (random_graphs, lambda: torch.nn.Bilinear(3, 3, 3), "forward must take"),
        (list, GIN_OF_PYG, "at least one"),
        (lambda: 5, GIN_OF_PYG, "Data objects"),
        (lambda: [Data(num_nodes=3)], GIN_OF_PYG, "graph 0 has no x"),
        (lambda: [*random_graphs(2), Data(x=torch.ones(2, 5), edge_index=NO_EDGES)], GIN_OF_PYG, "be joined"),
    ],
)
def test_unsupported_models_and_data_are_refused_at_once(dataset, model, message):
    with pytest.raises(TwinWLError, match=message):
        lifted(dataset(), model())


@pytest.mark.parametrize("rows", [[12], [-1], [0.5], "0", [[0]], object()])
def test_rows_are_numbers_of_graphs(rows):
    with pytest.raises(TwinWLError, match="rows: got"):
        lifted(random_graphs(), MODELS["gcn"]().double())(rows)


def test_the_model_is_left_as_it_was():
    model = GIN(3, 4, 2).double()
    network = lifted(random_graphs(), model)
    network()
    assert not any("propagate" in vars(layer) for layer in model.modules())
    with pytest.raises(TwinWLError):
        lifted(random_graphs(), Odd(lambda x, _: x.sum()).double())()
    assert not any("propagate" in vars(layer) for layer in model.modules())
