"""Explanations as pictures, from the library and from the command line by one painter."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.patches import Circle

from tests.stwin.test_svc import noisy
from twinwl import GraphBatch, STwinSVC, TwinWLError
from twinwl.report.picture import draw_explanation


@pytest.fixture(scope="module")
def explanation():
    batch, y = noisy(20)
    return STwinSVC(1, 1).fit(batch, y).explain(batch[0])


@pytest.fixture(scope="module")
def ethanol():
    pytest.importorskip("rdkit", reason="molecules are drawn by RDKit; install twinwl[chem]")
    batch = GraphBatch.from_smiles(["CCO", "CCC"] * 5, atoms="skeleton")
    return STwinSVC(1, 1).fit(batch, [1, 0] * 5).explain(batch[0])


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_pictures_have_the_format_of_their_name_and_the_same_bytes_every_time(
    explanation, ethanol, tmp_path, ending, start
):
    for found, molecule in ((explanation, None), (ethanol, "CCO")):
        path = tmp_path / f"x.{ending}"
        found.draw(path, molecule)
        once = path.read_bytes()
        assert once.startswith(start)
        found.draw(path, molecule)
        assert path.read_bytes() == once


def test_red_is_for_the_prediction_and_blue_against_it(ethanol, tmp_path):
    shares = np.array([0.0, -1.0, 1.0])
    draw_explanation(replace(ethanol, node_shares=shares), tmp_path / "x.png", "CCO", probability=0.87)
    pixels = imread(tmp_path / "x.png")[..., :3].reshape(-1, 3)
    for wanted in ((0xD8, 0x67, 0x49), (0x47, 0x85, 0xBF)):
        assert (np.abs(pixels - np.array(wanted) / 255).max(axis=1) < 0.01).sum() > 1000


def test_axes_carry_one_disc_per_node(explanation):
    axes = Figure().subplots()
    explanation.draw(axes)
    discs = [patch.center for patch in axes.patches if isinstance(patch, Circle)]
    assert len(set(discs)) == len(discs) == explanation.graph.n_nodes


def test_a_molecule_may_be_smiles_or_an_rdkit_molecule(ethanol):
    chem = pytest.importorskip("rdkit.Chem")
    written = []
    for molecule in ("CCO", chem.MolFromSmiles("CCO")):
        axes = Figure().subplots()
        ethanol.draw(axes, molecule)
        written.append([text.get_text() for text in axes.texts])
    assert written[0] == written[1]
    assert "OH" in written[0]
    assert "C" not in written[0]


def test_directed_graphs_and_single_nodes_are_drawn(tmp_path):
    arcs = GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2)]] * 4, directed=True)
    STwinSVC(1, 1).fit(arcs, [0, 1] * 4).explain(arcs[1]).draw(tmp_path / "arcs.png")
    dots = GraphBatch.from_edges([[]] * 8, [["C"], ["N", "N"]] * 4)
    STwinSVC(1, 1).fit(dots, [0, 1] * 4).explain(dots[1]).draw(tmp_path / "dots.png")
    assert (tmp_path / "dots.png").stat().st_size > 0


def test_bad_targets_and_molecules_are_refused(ethanol, tmp_path):
    with pytest.raises(TwinWLError, match=r"end in \.png"):
        ethanol.draw(tmp_path / "picture.txt")
    with pytest.raises(TwinWLError, match="expected SMILES"):
        ethanol.draw(tmp_path / "a.png", molecule="not a molecule")
    with pytest.raises(TwinWLError, match="4 atoms and the graph 3 nodes"):
        ethanol.draw(tmp_path / "a.png", molecule="CCCO")
    assert list(tmp_path.iterdir()) == []


def test_unseen_atoms_have_a_dashed_circle():
    pytest.importorskip("rdkit")
    model = STwinSVC(1, 1).fit(GraphBatch.from_smiles(["CCO", "CCC"] * 5, atoms="skeleton"), [1, 0] * 5)
    for smiles, n_unseen in (("CCO", 0), ("CCCN", 2)):  # the nitrogen, and the carbon next to it
        axes = Figure().subplots()
        found = model.explain(GraphBatch.from_smiles([smiles], atoms="skeleton"))
        draw_explanation(found, axes, smiles, model=model)
        circles = [patch for patch in axes.patches if isinstance(patch, Circle)]
        assert sum(circle.get_linestyle() != "solid" for circle in circles) == n_unseen
        below = [part.get_xlabel() for part in axes.figure.axes if part is not axes]
        assert below == ["share of the decision" + ("; dashed: unseen atoms" if n_unseen else "")]
