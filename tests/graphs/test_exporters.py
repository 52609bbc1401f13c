"""A batch that goes out to another library and comes back is the same batch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twinwl as tw
from tests.batch_equality import assert_same_graphs
from tests.strategies import batches
from twinwl import GraphBatch
from twinwl.errors import GraphInputError

directions = st.booleans()


def drawn(data, directed, **options):
    return data.draw(batches(directed=directed, **options))


def attributes(batch):
    """Name the attributes to read; nodes whose labels are all None have none."""
    return {"node_label": "label" if batch.has_node_labels else None, "edge_label": "label"}


@given(directed=directions, data=st.data())
def test_networkx_round_trip(directed, data):
    batch = drawn(data, directed)
    back = GraphBatch.from_networkx(batch.to_networkx(), **attributes(batch))
    assert_same_graphs(back, batch)


@given(directed=directions, data=st.data())
def test_igraph_round_trip(directed, data):
    batch = drawn(data, directed)
    # igraph has None where an attribute was never set, so None cannot be a label there.
    batch = GraphBatch.unchecked(
        **{name: getattr(batch, name) for name in batch.__dataclass_fields__ if "vocabulary" not in name},
        node_vocabulary=tuple("none" if label is None else label for label in batch.node_vocabulary),
        edge_vocabulary=tuple("none" if label is None else label for label in batch.edge_vocabulary),
    )
    back = GraphBatch.from_igraph(batch.to_igraph(), **attributes(batch))
    assert_same_graphs(back, batch)


@given(directed=directions, data=st.data())
def test_scipy_round_trip_keeps_the_structure(directed, data):
    batch = drawn(data, directed, node_label=False, edge_label=False)
    assert_same_graphs(GraphBatch.from_scipy(batch.to_scipy(), directed=directed), batch)


def test_pyg_round_trip_of_integers_tuples_and_edge_labels():
    pytest.importorskip("torch_geometric")
    for labels in ([[6, 8, 6], [1]], [[(1, 0), (2, 5), (1, 0)], [(7, 7)]]):
        batch = GraphBatch.from_edges([[(0, 1), (1, 2)], []], node_labels=labels, edge_labels=[[4, 9], []])
        assert_same_graphs(GraphBatch.from_pyg(batch.to_pyg()), batch)


def test_pyg_gets_the_place_of_labels_that_are_not_integers():
    pytest.importorskip("torch_geometric")
    [data] = GraphBatch.from_edges([[(0, 1)]], node_labels=[["N", "C"]]).to_pyg()
    batch = GraphBatch.from_edges([[(0, 1)]], node_labels=[["N", "C"]])
    assert [batch.node_vocabulary[code] for code in data.x.ravel().tolist()] == ["N", "C"]


def test_features_go_out_and_labels_beside_them():
    pytest.importorskip("torch_geometric")
    features = np.array([[0.5, 1.5], [2.5, -1.0]])
    batch = GraphBatch.from_edges([[(0, 1)]], node_labels=[[3, 4]], node_features=[features])
    [data] = batch.to_pyg()
    np.testing.assert_array_equal(data.x.numpy(), features)
    assert data.node_label.ravel().tolist() == [3, 4]
    [graph] = batch.to_networkx()
    back = GraphBatch.from_networkx([graph], node_label="label", node_features="features")
    assert_same_graphs(back, batch)


SMILES = [
    "CCO",
    "c1ccc[nH]1",
    "C[N+](C)(C)C",
    "O=[N+]([O-])c1ccccc1",
    "[Na+].[Cl-]",
    "C[n+]1ccccc1",
    "F[P-](F)(F)(F)(F)F",
    "c1ccc2[nH]cnc2c1",
    "N#[N+]c1ccccc1",
    "C",
]


def test_smiles_round_trip():
    pytest.importorskip("rdkit")
    batch = GraphBatch.from_smiles(SMILES, atoms="skeleton")
    back = GraphBatch.from_smiles(batch.to_smiles(), atoms="skeleton")
    both = tw.deduplicate(tw.concatenate([batch, back])).labels
    assert both[: len(SMILES)].tolist() == both[len(SMILES) :].tolist() == list(range(len(SMILES)))


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (GraphBatch.from_edges([[(0, 1)]]), "not a molecule"),
        (
            GraphBatch.from_edges([[(0, 1)]], node_labels=[["C", "X"]], edge_labels=[["single"]]),
            "'X' is not an",
        ),
        (
            GraphBatch.from_edges([[(0, 1)]], node_labels=[["C", "C"]], edge_labels=[["fourfold"]]),
            "bond type",
        ),
        (
            GraphBatch.from_edges([[(0, 1), (0, 2)]], node_labels=[["F"] * 3], edge_labels=[["triple"] * 2]),
            "no molecule",
        ),
    ],
    ids=["no labels", "no element", "no bond type", "no valence"],
)
def test_what_is_no_molecule_is_refused_by_name(graph, message):
    pytest.importorskip("rdkit")
    with pytest.raises(GraphInputError, match=f"graph 0: .*{message}"):
        graph.to_smiles()


def test_constructors_stand_at_the_top_level_too():
    for name in ("edges", "graph6", "igraph", "networkx", "pyg", "rdkit", "scipy", "smiles"):
        assert getattr(tw, f"from_{name}") == getattr(GraphBatch, f"from_{name}")
    assert len(tw.concatenate([tw.from_graph6(["Bw"]), tw.from_graph6(["A_"])])) == 2
