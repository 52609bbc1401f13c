"""Every network inside the rooted subgraphs: fast paths are the literal one, bad modules are refused."""

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.networks import CERTAIN, mean_loss
from tests.ntwin.rooted_data import assert_same_function, graph_data, row_input
from tests.strategies import batches
from twinwl import GraphBatch, NTwinClassifier, NTwinRegressor, TwinWLError, TwinWLWarning
from twinwl.datasets.graph_files import read_tu
from twinwl.graphs.batch import renumbered
from twinwl.neural import inputs, quotient
from twinwl.neural.encoder import TwinInput
from twinwl.neural.inputs import DistinctSubgraphs, FittedInputs, SubgraphExamples
from twinwl.neural.readouts import BoundedReadout, GATReadout, GCNReadout, checked_width
from twinwl.neural.transformer import _in_double
from twinwl.nn import NTwinEncoder

EXACT = 1e-10
HOPS = ["growing", 0, 1, 2, 3]
MARKS = ["none", "root", "distance"]


class RootAndSum(torch.nn.Module):
    """A network of one's own: the root, the farthest nodes and the edges, each weighed."""

    def __init__(self, n_features, hidden, n_codes):
        super().__init__()
        self.of_node = torch.nn.Linear(n_features, hidden)
        self.of_root = torch.nn.Linear(n_features, hidden)
        self.of_code = torch.nn.Embedding(max(1, n_codes), hidden)

    def forward(self, x, edge_index, batch, codes, root, distance, size):
        states = torch.tanh(self.of_node(x)) * (1 + distance)[:, None]
        said = states[edge_index[0]]
        if codes is not None:
            said = said * (1 + self.of_code(codes.clamp(min=0)))
        states = states.index_add(0, edge_index[1], said)
        total = states.new_zeros(size, states.shape[1]).index_add(0, batch, states)
        return torch.tanh(total) * self.of_root(x[root])


class Mean(BoundedReadout):
    """A bounded network of one's own."""

    def __init__(self, n_features, hidden, layers):
        super().__init__()
        widths = [n_features] + [hidden] * layers
        self.linear = torch.nn.ModuleList(map(torch.nn.Linear, widths[:-1], widths[1:]))

    def step(self, number, x, own, sender, receiver, codes):  # noqa: ARG002
        total = x[own].index_add(0, receiver, x[sender])
        count = torch.bincount(receiver, minlength=len(own))[:, None] + 1
        return torch.tanh(self.linear[number](total / count))


READOUTS = ["gin", "gcn", "gat", "ppgn", "deepsets", RootAndSum, Mean]
BOUNDED = {"gin": 0, "gcn": 1, "gat": 0, Mean: 0}


def encoder_of(batch, readout, layers, hops, mark, *, edges, n_attributes=0):
    torch.manual_seed(0)
    return NTwinEncoder(
        len(batch.node_vocabulary) + n_attributes,
        layers,
        hops,
        5,
        mark,
        n_edge_labels=max(1, len(batch.edge_vocabulary)) if edges else 0,
        directed=batch.directed,
        readout=readout,
    ).double()


def distinct_input(batch, encoder, *, edges):
    width = 0 if batch.node_features is None else batch.node_features.shape[1]
    known = batch.edge_vocabulary if edges else None
    fitted = FittedInputs(
        batch.node_vocabulary, np.zeros(width), np.ones(width), len(batch), known, batch.directed, "gin"
    )
    examples = SubgraphExamples(batch, fitted, encoder.hops, encoder.root_mark)
    return _in_double(TwinInput(examples.take(np.arange(len(batch)))))


def literal_input(batch, *, edges):
    data = graph_data(batch, edge_labels=batch.edge_vocabulary if edges else None)
    if batch.node_features is None:
        return data
    return data._replace(x=torch.cat([data.x, torch.tensor(batch.node_features)], dim=1))


settings_of_a_network = {
    "hops": st.sampled_from(HOPS),
    "mark": st.sampled_from(MARKS),
    "layers": st.integers(1, 3),
    "edges": st.booleans(),
    "directed": st.booleans(),
}


@pytest.mark.parametrize("readout", READOUTS, ids=str)
@settings(max_examples=12)
@given(data=st.data(), attributes=st.booleans(), **settings_of_a_network)
def test_distinct_subgraphs_and_literal_path_are_one_function(
    readout, data, hops, mark, layers, edges, directed, attributes
):
    batch = data.draw(batches(directed=directed, max_nodes=6))
    assume(batch.n_nodes)
    if attributes:  # few values, so that some subgraphs are alike
        values = np.random.default_rng(0).integers(0, 2, (batch.n_nodes, 2)).astype(np.float64)
        batch = batch.changed(node_features=values)
    encoder = encoder_of(batch, readout, layers, hops, mark, edges=edges, n_attributes=2 * attributes)
    fast = distinct_input(batch, encoder, edges=edges)
    assert_same_function(encoder, fast, literal_input(batch, edges=edges), relative=EXACT)


@pytest.mark.parametrize("readout", BOUNDED, ids=str)
@settings(max_examples=40)
@given(data=st.data(), attributes=st.booleans(), **settings_of_a_network)
def test_bounded_readouts_are_one_function_on_rows(
    readout, data, hops, mark, layers, edges, directed, attributes
):
    batch = data.draw(batches(directed=directed, max_nodes=6))
    assume(batch.n_nodes)
    if attributes:
        values = np.random.default_rng(0).integers(0, 2, (batch.n_nodes, 2)).astype(np.float64)
        batch = batch.changed(node_features=values)
    encoder = encoder_of(batch, readout, layers, hops, mark, edges=edges, n_attributes=2 * attributes)
    fast = rows_of(batch, encoder, BOUNDED[readout], edges=edges)
    assert_same_function(encoder, fast, literal_input(batch, edges=edges), relative=EXACT)


def rows_of(batch, encoder, steps_before, *, edges, roots=None):
    radii = (encoder.hops[0],) * steps_before + encoder.hops
    features = None if batch.node_features is None else batch.node_features.astype(np.float32)
    settings = {"edge_labels": edges, "features": features, "roots": roots}
    return row_input(batch, len(radii), radii, encoder.root_mark, **settings)


@pytest.mark.parametrize("readout", BOUNDED, ids=str)
def test_the_mean_over_all_samples_of_one_root_is_the_exact_sum(readout, monkeypatch):
    star = GraphBatch.from_edges([STAR])
    encoder = encoder_of(star, readout, 2, "growing", "root", edges=False)
    draws = []
    for root in range(4):
        drawn = (np.array([root]), np.array([4.0]))
        monkeypatch.setattr(quotient, "draw_roots", lambda *_, drawn=drawn: drawn)
        with torch.no_grad():
            draws.append(encoder(rows_of(star, encoder, BOUNDED[readout], edges=False, roots=1)))
    exact = encoder(literal_input(star, edges=False)).detach()
    torch.testing.assert_close(sum(draws) / 4, exact, rtol=EXACT, atol=EXACT)


@pytest.mark.parametrize("readout", READOUTS, ids=str)
@settings(max_examples=6)
@given(batch=batches(max_nodes=7), seed=st.integers(0, 100), attributes=st.booleans())
def test_the_order_of_nodes_does_not_matter(readout, batch, seed, attributes):
    """On every path: distinct subgraphs, literal ones, rows."""
    if attributes:
        values = np.random.default_rng(seed).normal(size=(batch.n_nodes, 2))
        batch = batch.changed(node_features=values.astype(np.float32).astype(np.float64))
    encoder = encoder_of(batch, readout, 2, "growing", "distance", edges=True, n_attributes=2 * attributes)
    other = renumbered(batch, np.random.default_rng(seed))
    paths = [distinct_input, literal_input] if batch.n_nodes else [distinct_input]
    for path in paths:
        arguments = (encoder,) if path is distinct_input else ()
        with torch.no_grad():
            rows, again = (encoder(path(part, *arguments, edges=True)) for part in (batch, other))
        torch.testing.assert_close(rows, again, rtol=EXACT, atol=EXACT)
    if readout not in BOUNDED:
        return
    with torch.no_grad():
        found = [encoder(rows_of(part, encoder, BOUNDED[readout], edges=True)) for part in (batch, other)]
    torch.testing.assert_close(*found, rtol=EXACT, atol=EXACT)


@pytest.mark.parametrize("readout", READOUTS, ids=str)
@settings(max_examples=6)
@given(data=st.data(), attributes=st.booleans(), edges=st.booleans(), directed=st.booleans())
def test_a_fitted_model_gives_what_its_literal_network_gives(readout, data, attributes, edges, directed):
    """Also of graphs with labels that it has not seen, and with a GIN on the whole graphs beside it."""
    graphs = data.draw(batches(min_graphs=4, max_graphs=6, max_nodes=5, directed=directed))
    learnt = graphs[:2]
    assume(learnt.n_nodes)
    if attributes:
        values = np.random.default_rng(1).normal(size=(graphs.n_nodes, 2))
        graphs = graphs.changed(node_features=values)
        learnt = graphs[:2]
    model = NTwinClassifier(readout=readout, subtree="gin", edge_labels=edges, layers=2, hidden=4)
    model.set_params(max_epochs=1, verbose=False, validation_fraction=None).fit(learnt, [0, 1])
    fast = _in_double(model._examples(graphs).take(np.arange(len(graphs))).graphs)
    literal = _in_double(model.inputs_.graph_data(graphs))
    assert_same_function(model.module_.encoder.double(), fast, literal, relative=EXACT)


@pytest.mark.parametrize("readout", ["gcn", "gat", "ppgn"])
def test_exact_on_real_molecules(tu_zip, readout):
    mutag = read_tu(tu_zip("MUTAG")).graphs[:40]
    encoder = encoder_of(mutag, readout, 2, "growing", "none", edges=True)
    fast = distinct_input(mutag, encoder, edges=True)
    assert_same_function(encoder, fast, literal_input(mutag, edges=True), relative=EXACT)


def test_rooted_subgraphs_of_molecules_repeat(tu_zip):
    mutag = read_tu(tu_zip("MUTAG")).graphs.without_edge_labels()
    distinct = DistinctSubgraphs(mutag, 2)
    assert distinct.pool.counts.sum() == mutag.n_nodes == 3371
    assert len(distinct.representative) < mutag.n_nodes / 15


def test_what_differs_in_one_value_is_kept_apart():
    edges, values = [[(0, 1)]] * 4, [[[0.0], [1.0]], [[0.0], [1.0]], [[0.0], [1.5]], [[-0.0], [1.0]]]
    batch = GraphBatch.from_edges(edges, node_features=[np.array(rows) for rows in values])
    groups = DistinctSubgraphs(batch, 1).pool.rows.reshape(4, 2)
    assert groups[0].tolist() == groups[1].tolist() == groups[3].tolist()
    assert not set(groups[0]) & set(groups[2])


@pytest.mark.parametrize("kind", [GCNReadout, GATReadout])
def test_layers_are_those_of_pyg(kind):
    layers = pytest.importorskip("torch_geometric.nn")
    torch.manual_seed(0)
    ours, x = kind(3, 8, 1).double(), torch.rand(4, 3, dtype=torch.float64)
    edges = torch.tensor([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]])
    if kind is GCNReadout:
        theirs, rectify = layers.GCNConv(3, 8).double(), torch.relu
    else:
        theirs, rectify = layers.GATConv(3, 2, heads=4).double(), torch.nn.functional.elu
    with torch.no_grad():
        theirs.lin.weight.copy_(ours.linear[0].weight)
        theirs.bias.copy_(ours.linear[0].bias)
        if kind is GATReadout:
            theirs.att_src.copy_(ours.attention[0, 0][None])
            theirs.att_dst.copy_(ours.attention[0, 1][None])
        (rows,) = ours.pooled_by_depth(x, edges, torch.arange(4), None, 4, 1)
        torch.testing.assert_close(rows, rectify(theirs(x, edges)), rtol=1e-9, atol=1e-12)


PATH, TRIANGLE, STAR = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)], [(0, 1), (0, 2), (0, 3)]
GRAPHS = GraphBatch.from_edges([PATH, TRIANGLE, STAR] * 8)
Y = ["path", "triangle", "star"] * 8
SMALL = {"layers": 2, "hidden": 8, "max_epochs": 25, "random_state": 0, **CERTAIN}


@pytest.mark.parametrize("readout", READOUTS, ids=str)
def test_every_readout_learns(readout):
    model = NTwinClassifier(readout=readout, subtree="gin", **SMALL).fit(GRAPHS, Y)
    assert mean_loss(model, GRAPHS, Y) < np.log(3) / 2
    assert model.explain(GRAPHS[0]).node_shares.shape == (3,)


@pytest.mark.parametrize("readout", ["gcn", "ppgn", RootAndSum], ids=str)
def test_continuous_features_are_learnt_with_every_readout(readout):
    values = [np.full((3, 1), float(place % 2)) for place in range(24)]
    graphs = GraphBatch.from_edges([PATH] * 24, node_features=values)
    model = NTwinRegressor(readout=readout, **SMALL).fit(graphs, np.arange(24) % 2)
    assert np.abs(model.predict(graphs) - np.arange(24) % 2).mean() < 0.4


def test_ppgn_tells_apart_what_gin_inside_rooted_subgraphs_cannot():
    """A prism and K_{3,3} are cubic, and every rooted subgraph of radius 2 is the whole graph."""
    prism = [*TRIANGLE, *((u + 3, v + 3) for u, v in TRIANGLE), (0, 3), (1, 4), (2, 5)]
    pair = GraphBatch.from_edges([prism, [(u, v) for u in range(3) for v in range(3, 6)]])
    for readout, apart in (("gin", False), ("gcn", False), ("ppgn", True)):
        encoder = encoder_of(pair, readout, 3, 2, "none", edges=False)
        with torch.no_grad():
            first, second = encoder(graph_data(pair))
        assert bool((first - second).abs().max() > 1e-9 * first.abs().max()) is apart


def test_a_module_object_is_copied_not_trained():
    module = RootAndSum(1, 4, 0)
    before = module.of_node.weight.detach().clone()
    model = NTwinClassifier(readout=module, **SMALL).fit(GRAPHS, Y)
    assert torch.equal(module.of_node.weight, before)
    assert not torch.equal(model.module_.encoder.rooted.of_node.weight, before)


def test_the_same_seed_gives_the_same_bytes_and_leaves_torch_alone():
    torch.manual_seed(3)
    expected = torch.rand(3)
    outputs = []
    for _ in range(2):
        torch.manual_seed(3)
        outputs.append(
            NTwinClassifier(readout="ppgn", **SMALL | {"max_epochs": 2}).fit(GRAPHS, Y).predict_proba(GRAPHS)
        )
        assert torch.equal(torch.rand(3), expected)
    assert outputs[0].tobytes() == outputs[1].tobytes()


def test_pyg_layers_get_a_batch():
    pytest.importorskip("torch_geometric")
    from torch_geometric.nn import GraphConv, global_add_pool  # noqa: PLC0415

    class OfPyG(torch.nn.Module):
        def __init__(self, n_features, hidden):
            super().__init__()
            self.conv = GraphConv(n_features, hidden)

        def forward(self, data):
            assert data.num_graphs == len(data.root) == len(data.ptr) - 1
            return global_add_pool(self.conv(data.x, data.edge_index).relu(), data.batch)

    model = NTwinClassifier(readout=OfPyG, **SMALL).fit(GRAPHS, Y)
    assert mean_loss(model, GRAPHS, Y) < np.log(3) / 2


HUBS = GraphBatch.from_edges([[(0, leaf) for leaf in range(1, 200)], PATH] * 6)


def test_hops_shrink_where_a_rooted_subgraph_is_too_large_for_the_readout():
    ring = [(node, (node + 1) % 24) for node in range(24)]
    rings = GraphBatch.from_edges([ring, ring[:-1]] * 6)
    model = NTwinClassifier(
        readout="ppgn", **SMALL | {"max_epochs": 1, "hops": 6, "max_memory": 1 << 18, "batch_size": 2}
    )
    with pytest.warns(TwinWLWarning, match=r"hops: the .* may need .* so hops are \(\d, \d\) instead of"):
        model.fit(rings, [0, 1] * 6)
    assert 1 <= max(model.hops_) < 6


@pytest.mark.parametrize("readout", ["ppgn", "deepsets", RootAndSum], ids=str)
def test_hubs_too_large_for_the_readout_are_refused_before_anything_is_cut(readout, monkeypatch):
    monkeypatch.setattr(inputs, "rooted_subgraphs", None)  # it must not be called
    model = NTwinClassifier(readout=readout, **SMALL | {"max_memory": 1 << 17})
    with pytest.raises(TwinWLError, match=r"readout: the .*rooted subgraph.* more than the 0\.1 MiB"):
        model.fit(HUBS, [0, 1] * 6)


def test_a_hub_too_large_for_the_readout_is_refused_at_prediction():
    model = NTwinClassifier(readout="ppgn", **SMALL | {"max_epochs": 1, "max_memory": 1 << 21})
    model.fit(GRAPHS, Y)
    assert model.predict(GRAPHS[:2]).shape == (2,)
    for ask in (model.predict, lambda graphs: model.explain(graphs[0])):
        with pytest.raises(
            TwinWLError, match=r"with 200 nodes in graph 0 needs about .* leave that graph out"
        ):
            ask(HUBS)


@pytest.mark.parametrize("readout", ["gcn", "gat"])
def test_hubs_that_compress_fit_with_every_bounded_readout(readout):
    model = NTwinClassifier(readout=readout, **SMALL | {"max_epochs": 1, "max_memory": 1 << 22})
    assert model.fit(HUBS, [0, 1] * 6).hops_ == (1, 2)


@pytest.mark.parametrize("readout", ["gcn", "gat", Mean], ids=str)
def test_roots_are_sampled_with_bounded_readouts_only(readout):
    model = NTwinClassifier(readout=readout, roots=2, **SMALL | {"max_epochs": 2})
    assert model.fit(GRAPHS, Y).predict(GRAPHS).shape == (24,)
    with pytest.raises(TwinWLError, match="roots: got 2 with a readout that is not bounded"):
        NTwinClassifier(readout="ppgn", roots=2, **SMALL).fit(GRAPHS, Y)


def test_graphs_without_nodes_are_rows_too():
    graphs = GraphBatch.from_edges([[], PATH, [], TRIANGLE])
    model = NTwinClassifier(readout="ppgn", **SMALL | {"batch_size": 1}).fit(graphs, [0, 1, 0, 1])
    assert model.predict(graphs[[0, 2]]).shape == (2,)


def bad(forward):
    """Return a class of modules with this ``forward``."""
    return type("Bad", (torch.nn.Module,), {"forward": staticmethod(forward)})


@pytest.mark.parametrize(
    ("readout", "message"),
    [
        (bad(lambda x: x), r"shape \(8, \d\), expected a tensor of floats of shape \(2, width\)"),
        (bad(lambda x, size: x.new_zeros(size)), r"of shape \(2,\), expected"),
        (bad(lambda size: torch.zeros(size + 1, 2)), r"of shape \(3, 2\), expected"),
        (bad(lambda size: torch.zeros(size, 0)), r"of shape \(2, 0\), expected"),
        (bad(lambda batch, size: torch.bincount(batch, minlength=size)[:, None]), "tensor of int64"),
        (bad(lambda size: [[0.0]] * size), "returned .*expected a tensor"),
        (bad(lambda size: torch.full((size, 1), torch.nan)), "returned NaN or infinity"),
        (
            bad(lambda x, weights: x + weights),
            "asks for 'weights'; its parameters can be x, edge_index, batch",
        ),
        (torch.nn.Linear(1, 1), "asks for 'input'"),
        (lambda: None, "made None, expected a torch.nn.Module"),
        (lambda width: torch.nn.Linear(width, 1), "asks for 'width'; its parameters can be n_features"),
        (object, "made <object .*, expected a torch.nn.Module"),
        (dict, "its parameters cannot be found out"),
        ("ppng", "did you mean 'ppgn'"),
        (3, "readout: got 3, expected 'gin'"),
        (None, "readout: got None"),
    ],
)
def test_modules_that_return_no_rows_are_refused(readout, message):
    with pytest.raises(TwinWLError, match=message):
        NTwinClassifier(readout=readout, **SMALL).fit(GRAPHS, Y)


class FirstNode(torch.nn.Module):
    """Counts the node that comes first twice."""

    def __init__(self, n_features):
        super().__init__()
        self.linear = torch.nn.Linear(n_features, 3)

    def forward(self, x, batch, size):
        first = torch.searchsorted(batch, torch.arange(size))
        return summed(self.linear(x), batch, size) + self.linear(x[first])


def test_a_network_that_depends_on_the_order_of_nodes_is_refused():
    with pytest.raises(
        TwinWLError, match=r"the readout FirstNode returned .* for two copies .* order of their"
    ):
        NTwinClassifier(readout=FirstNode, **SMALL).fit(GRAPHS, Y)


def test_a_network_that_draws_random_numbers_is_not_taken_for_one_that_depends_on_the_order():
    noisy = bad(lambda x, batch, size: summed(x + torch.rand_like(x), batch, size))
    assert checked_width(noisy(), 3, 0) == 3


def test_nan_in_the_middle_of_training_is_refused():
    class Breaks(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(1, 1))
            self.calls = 0

        def forward(self, batch, size):
            self.calls += 1
            return torch.bincount(batch, minlength=size)[:, None] * self.weight / (self.calls < 5)

    with pytest.raises(TwinWLError, match="Breaks returned NaN or infinity"):
        NTwinClassifier(readout=Breaks, **SMALL).fit(GRAPHS, Y)


class Later(Mean):
    """A bounded network that does something else, ``bad``, after its first steps."""

    def __init__(self, n_features, hidden, layers):
        super().__init__(n_features, hidden, layers)
        self.calls = 0

    def step(self, number, x, own, sender, receiver, codes):
        self.calls += 1
        states = super().step(number, x, own, sender, receiver, codes)
        return states if self.calls < 5 else self.bad(states, x, own)


@pytest.mark.parametrize(
    ("bad_step", "message"),
    [
        (lambda states, *_: states[:1], r"returned .* of shape \(1, 8\), expected .* one row per state"),
        (lambda states, *_: torch.cat([states, states]), r"returned .* of shape \(\d+, 8\), expected"),
        (lambda states, *_: states[:, 0], r"returned .* of shape \(\d+,\), expected"),
        (lambda states, *_: states * torch.nan, "returned NaN or infinity, first for state 0"),
        (lambda *_: None, "returned None, expected a tensor"),
    ],
    ids=["few", "many", "flat", "nan", "none"],
)
def test_bounded_networks_that_return_no_rows_are_refused_before_a_kernel_sees_their_rows(bad_step, message):
    kind = type("Hostile", (Later,), {"bad": staticmethod(bad_step)})
    with pytest.raises(TwinWLError, match=f"the readout Hostile {message}"):
        NTwinClassifier(readout=kind, **SMALL).fit(GRAPHS, Y)


def test_a_bounded_network_without_a_step_is_refused():
    with pytest.raises(NotImplementedError, match="needs a method step"):
        NTwinClassifier(readout=type("Empty", (BoundedReadout,), {}), **SMALL).fit(GRAPHS, Y)


def summed(x, batch, size):
    return x.new_zeros(size, x.shape[1]).index_add(0, batch, x)


class Keeping(RootAndSum):
    kept = 0.0

    def forward(self, x, edge_index, batch, codes, root, distance, size):
        rows = super().forward(x, edge_index, batch, codes, root, distance, size) + self.kept
        self.kept = rows.sum()
        return rows


def test_rows_that_cannot_be_learnt_from_are_refused():
    message = "the gradient cannot be computed .* must not keep tensors of an earlier step"
    with pytest.raises(TwinWLError, match=message):
        NTwinClassifier(readout=Keeping, **SMALL | {"batch_size": 8}).fit(GRAPHS, Y)


def test_a_readout_of_any_power_is_not_run_on_the_quotient():
    encoder = encoder_of(GRAPHS, "ppgn", 2, "growing", "none", edges=False)
    with pytest.raises(TwinWLError, match="not declared to be bounded by 1-WL"):
        encoder(row_input(GRAPHS, 2, "growing"))
