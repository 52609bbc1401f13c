from __future__ import annotations

import pytest

from twinwl.cli.smiles_columns import columns_to_read
from twinwl.errors import GraphInputError


def chosen(header, smiles_column=None, target=None, classes="needed"):
    return tuple(columns_to_read(f"{header}\nCC,1\n".encode(), "m.csv", smiles_column, target, classes))


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("smiles,active", ("smiles", "active")),
        ("BBBP,SMILES", ("SMILES", "BBBP")),
        ("mol,CID,Class,Model,pIC50", ("mol", "Class")),
        ("id;Smiles;y", ("Smiles", "y")),
        ('"smiles","a, b"', ("smiles", "a, b")),
    ],
)
def test_obvious_columns_are_found(header, expected):
    assert chosen(header) == expected


def test_named_columns_are_taken():
    assert chosen("a,b,c", "b", "c") == ("b", "c")


def test_without_smiles_the_columns_are_listed():
    with pytest.raises(GraphInputError, match=r"--smiles-column\. It has 'structure', 'active'"):
        chosen("structure,active")


def test_a_target_that_is_not_obvious_is_asked_for():
    with pytest.raises(GraphInputError, match="with --target; it has 'activity', 'HIV_active'"):
        chosen("smiles,activity,HIV_active")


def test_two_obvious_targets_are_none():
    with pytest.raises(GraphInputError, match="--target"):
        chosen("smiles,label,class,x")


def test_a_typo_is_corrected():
    with pytest.raises(GraphInputError, match="no column 'actve' for --target; did you mean 'active'"):
        chosen("smiles,active,id", target="actve")


def test_classes_are_left_alone_unless_wanted():
    assert chosen("smiles,active", classes="given") == ("smiles", None)
    assert chosen("smiles,a,b", classes="obvious") == ("smiles", None)
    assert chosen("smiles,a", classes="obvious") == ("smiles", "a")
