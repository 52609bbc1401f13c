import numpy as np
import pytest
from matplotlib.figure import Figure

from tests.stwin.test_svc import noisy
from twinwl import GraphBatch, STwinSVC, TwinWLError


@pytest.fixture(scope="module")
def explanation():
    batch, y = noisy(20)
    return STwinSVC(1, 1).fit(batch, y).explain(batch[0])


@pytest.fixture(scope="module")
def ethanol():
    pytest.importorskip("rdkit", reason="molecules are drawn by RDKit; install twinwl[chem]")
    batch = GraphBatch.from_smiles(["CCO", "CCC"] * 5)
    return STwinSVC(1, 1).fit(batch, [1, 0] * 5).explain(batch[0])


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF")])
def test_pictures_are_written_in_the_format_of_their_name(explanation, tmp_path, name, start):
    explanation.draw(tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)


def test_axes_carry_every_node_shaded_by_its_share(explanation):
    axes = Figure().subplots()
    explanation.draw(axes)
    points = axes.collections[0]
    assert np.array_equal(points.get_array(), explanation.node_shares)
    assert np.isfinite(points.get_offsets()).all()
    assert len(np.unique(points.get_offsets(), axis=0)) == explanation.graph.n_nodes
    assert points.norm.vmin == -points.norm.vmax


@pytest.mark.parametrize(("name", "start"), [("m.png", b"\x89PNG"), ("m.svg", b"<?xml")])
def test_molecules_are_drawn_by_rdkit(ethanol, tmp_path, name, start):
    ethanol.draw(tmp_path / name, molecule="CCO")
    assert (tmp_path / name).read_bytes().startswith(start)
    if name.endswith("svg"):
        assert b"atom-2" in (tmp_path / name).read_bytes()


def test_a_molecule_on_axes_is_an_image(ethanol):
    axes = Figure().subplots()
    ethanol.draw(axes, molecule="CCO")
    assert len(axes.images) == 1


def test_directed_graphs_and_single_nodes_are_drawn(tmp_path):
    arcs = GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2)]] * 4, directed=True)
    STwinSVC(1, 1).fit(arcs, [0, 1] * 4).explain(arcs[1]).draw(tmp_path / "arcs.png")
    dots = GraphBatch.from_edges([[]] * 8, [["C"], ["N", "N"]] * 4)
    STwinSVC(1, 1).fit(dots, [0, 1] * 4).explain(dots[1]).draw(tmp_path / "dots.png")
    assert (tmp_path / "dots.png").stat().st_size > 0


def test_bad_targets_and_molecules_are_refused(ethanol, tmp_path):
    with pytest.raises(TwinWLError, match=r"use \.png"):
        ethanol.draw(tmp_path / "picture.txt")
    with pytest.raises(TwinWLError, match="no SMILES"):
        ethanol.draw(tmp_path / "a.png", molecule="not a molecule")
    with pytest.raises(TwinWLError, match="4 atoms and the graph 3 nodes"):
        ethanol.draw(tmp_path / "a.png", molecule="CCCO")
    assert list(tmp_path.iterdir()) == []
