from __future__ import annotations

import numpy as np
import pytest

from twinwl.graphs.batch import GraphBatch
from twinwl.report.drawing import RADIUS, draw, on_one_canvas

pytest.importorskip("rdkit", reason="molecules are drawn with RDKit")


def molecule(smiles):
    return draw(GraphBatch.from_smiles([smiles], atoms="skeleton"), smiles)


@pytest.mark.parametrize(
    ("smiles", "styles"),
    [
        ("CC", ["line"]),
        ("C=C", ["line", "line"]),
        ("C#N", ["line", "line", "line"]),
        ("c1ccccc1", ["line", "dashed"] * 6),
    ],
)
def test_bonds_are_drawn_with_their_order(smiles, styles):
    assert [stroke.style for stroke in molecule(smiles).strokes] == styles


def test_only_atoms_other_than_carbon_have_letters():
    assert [text.element for text in molecule("CCO").texts] == ["", "", "O"]
    assert [text.element for text in molecule("C").texts] == ["C"]  # else there would be nothing to see


def test_a_letter_beside_its_atom_stands_away_from_the_bonds():
    drawing = molecule("CCO")
    outwards = np.array(drawing.texts[2].beside)
    assert np.linalg.norm(outwards) > RADIUS
    assert outwards @ (drawing.points[1] - drawing.points[2]) < 0


def test_the_second_stroke_of_a_ring_bond_lies_inside_the_ring():
    drawing = molecule("c1ccccc1")
    centre = drawing.points.mean(axis=0)
    for main, second in zip(drawing.strokes[::2], drawing.strokes[1::2], strict=True):
        middles = [np.array([s.x1 + s.x2, s.y1 + s.y2]) / 2 for s in (main, second)]
        assert np.linalg.norm(middles[1] - centre) < np.linalg.norm(middles[0] - centre)


def test_arcs_have_tips_at_the_rim_and_two_way_arcs_are_one_stroke():
    drawing = draw(GraphBatch.from_edges([[(0, 1), (1, 2), (2, 1)]], directed=True))
    assert sorted(stroke.style for stroke in drawing.strokes) == ["arrow", "arrows"]
    for stroke in drawing.strokes:
        gap = np.linalg.norm(drawing.points[stroke.target] - np.array([stroke.x2, stroke.y2]))
        assert RADIUS < gap < RADIUS + 5


def test_edge_labels_are_written_unless_there_are_too_many():
    few = GraphBatch.from_edges([[(0, 1), (1, 2)]], edge_labels=[["a", "a rather long label"]])
    assert [letter.text for letter in draw(few).edge_letters] == ["a", "a rathe…"]
    many = [(i, i + 1) for i in range(100)]
    assert draw(GraphBatch.from_edges([many], edge_labels=[["a"] * 100])).edge_letters == []


def test_both_drawings_share_one_canvas():
    paths = [GraphBatch.from_edges([[(i, i + 1) for i in range(n)]]) for n in (1, 20)]
    small, large = on_one_canvas(paths, [None, None])
    assert (small.width, small.height) == (large.width, large.height)
    for drawing in (small, large):
        assert (drawing.points > RADIUS).all()
        assert (drawing.points < np.array([drawing.width, drawing.height]) - RADIUS).all()
    assert small.points.mean(axis=0) == pytest.approx([small.width / 2, small.height / 2])
