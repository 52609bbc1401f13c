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
    MessagePassing,
    SAGEConv,
    global_add_pool,
    global_mean_pool,
)
from torch_geometric.nn.models import GAT, GCN, GIN, GraphSAGE  # noqa: E402

from twinwl.errors import TwinWLError  # noqa: E402
from twinwl.pyg import lifted  # noqa: E402

LINEAR, RELU, TANH, LISTED = torch.nn.Linear, torch.nn.ReLU, torch.nn.Tanh, torch.nn.Sequential
NO_EDGES = torch.zeros(2, 0, dtype=torch.int64)
GIN_OF_PYG = functools.partial(GIN, 3, 3, 1)
POOLS = {"sum": global_add_pool, "mean": global_mean_pool, None: lambda x, _batch, _size: x}


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


def mlp(n_inputs):
    return LISTED(LINEAR(n_inputs, 4), torch.nn.BatchNorm1d(4), RELU(), LINEAR(4, 4))


MODELS = {
    "gin": lambda: LISTED(
        GINConv(mlp(3), train_eps=True), TANH(), GINConv(mlp(4)), GINConv(mlp(4), aggr="max")
    ),
    "gine": lambda: LISTED(GINEConv(mlp(3)), torch.nn.BatchNorm1d(4), GINEConv(mlp(4), edge_dim=3)),
    "gcn": lambda: LISTED(LINEAR(3, 5), GCNConv(5, 4, improved=True), TANH(), GCNConv(4, 4, improved=True)),
    "gcn without loops": lambda: LISTED(*(GCNConv(3, 3, add_self_loops=False) for _ in range(2))),
    "gcn as given": lambda: LISTED(*(GCNConv(3, 3, normalize=False, bias=False) for _ in range(2))),
    "sage": lambda: LISTED(
        SAGEConv(3, 4), TANH(), SAGEConv(4, 4, normalize=True), SAGEConv(4, 4, "sum", project=True)
    ),
    "sage max": lambda: LISTED(SAGEConv(3, 4, "max"), TANH(), SAGEConv(4, 4, "min")),
    "graph": lambda: LISTED(
        GraphConv(3, 4), TANH(), GraphConv(4, 4, aggr="mean"), GraphConv(4, 4, aggr="max")
    ),
    "pyg gin": lambda: GIN(3, 4, 3, norm="batch_norm", jk="cat", out_channels=4),
    "pyg gcn": lambda: GCN(3, 4, 2, jk="max", out_channels=4, act="elu"),
    "pyg sage": lambda: GraphSAGE(3, 4, 3, norm="layer_norm", norm_kwargs={"mode": "node"}, act_first=True),
    "pyg gin of one layer": lambda: GIN(3, 4, 1),
}


def plain_output(model, graphs, pool):
    batch = Batch.from_data_list(graphs)
    x = batch.x
    if isinstance(model, LISTED):
        for step in model:
            further = {}
            if isinstance(step, GINEConv):
                further = {"edge_attr": batch.edge_attr}
            elif isinstance(step, GCNConv | GraphConv):
                further = {"edge_weight": batch.edge_weight}
            x = step(x, batch.edge_index, **further) if isinstance(step, MessagePassing) else step(x)
    else:
        x = model(x, batch.edge_index, edge_weight=batch.edge_weight, edge_attr=batch.edge_attr)
    return POOLS[pool](x, batch.batch, len(graphs))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("training", "pool"), [(True, "sum"), (True, None), (False, "mean")])
def test_outputs_gradients_and_statistics_are_those_of_the_plain_way(name, training, pool):
    torch.manual_seed(0)
    graphs = random_graphs()
    model = MODELS[name]().double().train(training)
    other = copy.deepcopy(model)
    network = lifted(graphs, other, pool)
    for rows in (None, [4, 0, 3, 7, 4]):
        chosen = graphs if rows is None else [graphs[row] for row in rows]
        expected, got = plain_output(model, chosen, pool), network(rows)
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
    network = lifted(graphs, other, "sum")
    ways = (lambda rows: plain_output(model, [graphs[row] for row in rows], "sum"), network)
    for trained, run in zip((model, other), ways, strict=True):
        optimiser = torch.optim.SGD(trained.parameters(), 0.001)
        for rows in np.random.default_rng(0).permutation(20).reshape(4, 5):
            optimiser.zero_grad()
            run(rows.tolist()).square().sum().backward()
            optimiser.step()
    for one, two in zip(model.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(two, one, rtol=0, atol=1e-8)


def test_rows_are_colours_and_integers_can_be_embedded():
    ring = torch.tensor([[0, 1, 2, 3, 1, 2, 3, 0], [1, 2, 3, 0, 0, 1, 2, 3]])
    graphs = [Data(x=torch.zeros(4, dtype=torch.int64), edge_index=ring)] * 3
    model = LISTED(torch.nn.Embedding(2, 3), GINConv(LINEAR(3, 2)))
    network = lifted(graphs, model, "sum")
    assert [network.n_colours(depth) for depth in range(2)] == [1, 1]
    torch.testing.assert_close(network(), plain_output(model, graphs, "sum"))


@pytest.mark.parametrize(
    ("dataset", "model", "message"),
    [
        (random_graphs, lambda: GAT(3, 3, 2), "GATConv; lifted supports GCNConv"),
        (random_graphs, lambda: LISTED(GATConv(3, 3)), "GATConv"),
        (random_graphs, lambda: LISTED(SAGEConv(3, 3, aggr="lstm")), "aggr='lstm'"),
        (random_graphs, lambda: LISTED(GINConv(LINEAR(3, 3), flow="target_to_source")), "target_to_source"),
        (random_graphs, lambda: LISTED(GCNConv(3, 3), GINConv(LINEAR(3, 3))), "in different ways"),
        (random_graphs, lambda: GIN(3, 3, 2, norm="graph_norm"), "GraphNorm mixes"),
        (random_graphs, lambda: GIN(3, 3, 2, norm="layer_norm"), "LayerNorm mixes"),
        (random_graphs, lambda: 3, "expected a GCN, GIN or GraphSAGE"),
        (random_graphs, lambda: torch.nn.Bilinear(3, 3, 3), "expected a GCN, GIN or GraphSAGE"),
        (list, GIN_OF_PYG, "at least one"),
        (lambda: 5, GIN_OF_PYG, "Data objects"),
        (lambda: [Data(num_nodes=3)], GIN_OF_PYG, "graph 0 has no x"),
        (lambda: [*random_graphs(2), Data(x=torch.ones(2, 5), edge_index=NO_EDGES)], GIN_OF_PYG, "be joined"),
    ],
)
def test_unsupported_models_and_data_are_refused_at_once(dataset, model, message):
    with pytest.raises(TwinWLError, match=message):
        lifted(dataset(), model())


def test_dropout_of_nodes_is_refused_in_training_only():
    for model in (GIN(3, 3, 2, dropout=0.5), LISTED(GINConv(LINEAR(3, 3)), torch.nn.Dropout(0.5))):
        network = lifted(random_graphs(), model.double())
        with pytest.raises(TwinWLError, match="dropout"):
            network()
        model.eval()
        torch.testing.assert_close(network(), plain_output(model, random_graphs(), None))


@pytest.mark.parametrize("rows", [[12], [-1], [0.5], "0", [[0]], object()])
def test_rows_are_numbers_of_graphs(rows):
    with pytest.raises(TwinWLError, match="rows: got"):
        lifted(random_graphs(), MODELS["gcn"]().double())(rows)


def test_the_model_is_left_unchanged():
    model = GIN(3, 4, 2, norm="batch_norm").double()
    lifted(random_graphs(), model)()
    assert not any("forward" in vars(part) for part in model.modules())
