from __future__ import annotations

import numpy as np
import pytest

from twinwl.graphs.batch import GraphBatch
from twinwl.report.drawing import atom_texts

pytest.importorskip("rdkit", reason="needs RDKit")


def texts(smiles, points):
    return atom_texts(
        smiles, GraphBatch.from_smiles([smiles], atoms="skeleton"), np.array(points, dtype=float)
    )


def test_carbon_in_a_chain_is_left_bare():
    assert [text.element for text in texts("CCO", [(0, 0), (1, 0), (2, 0)])] == ["", "", "O"]


def test_a_lone_carbon_and_an_ion_are_written():
    methane = texts("C", [(0, 0)])[0]
    assert (methane.element, methane.hydrogens) == ("C", 4)
    assert texts("[CH3-]", [(0, 0)])[0].charge == "−"


def test_hydrogens_stand_where_no_bond_is():
    assert texts("CO", [(0, 0), (1, 0)])[1].side == "right"
    assert texts("CO", [(1, 0), (0, 0)])[1].side == "left"
    # An amine between a neighbour on either side, both a little above it.
    assert texts("CNC", [(-1, -0.6), (0, 0), (1, -0.6)])[1].side == "below"
    assert texts("CNC", [(-1, 0.6), (0, 0), (1, 0.6)])[1].side == "above"


def test_a_charge_keeps_off_the_bonds():
    points = [(0.7, -0.7), (0, 0), (0.7, 0.7), (-1, 0.3), (-0.3, 1)]
    text = texts("C[N+](C)(C)C", points)[1]
    assert (text.charge, text.corner) == ("+", (-1, -1))
    assert texts("[Ca+2]", [(0, 0)])[0].charge == "2+"
