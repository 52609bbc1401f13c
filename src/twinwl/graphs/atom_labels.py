"""Atom labels: five levels, of which the first four each include the one before.

Labels are written as in the brackets of SMILES: ``NH3+`` is a nitrogen with three hydrogens and a positive
charge, ``13C`` a carbon of mass 13, ``CH3•`` a radical, ``CH(R)`` a stereocentre.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from twinwl.arguments import one_of
from twinwl.errors import import_extra

if TYPE_CHECKING:
    from rdkit import Chem

AtomLevel = Literal["skeleton", "constitution", "isotope", "stereo", "ecfp"]

LADDER: tuple[AtomLevel, ...] = ("skeleton", "constitution", "isotope", "stereo")
ATOM_LEVELS: tuple[AtomLevel, ...] = (*LADDER, "ecfp")
ATOMS = one_of(*ATOM_LEVELS)

AtomKey = tuple[Any, ...]
"""Atomic number, hydrogens and charge; then radicals, isotope, mark of stereo, or mass, degree, in a ring."""

_NOTHING = (0, 0, 0, 0, 0, "")
_ATOM = re.compile(r"\[[^\]]*\]|Br|Cl|[BCNOPSFIbcnops*]")  # an atom in SMILES; what stands in brackets, whole


def atom_reader(chem: ModuleType, atoms: AtomLevel) -> Callable[[Chem.Mol, str], list[AtomKey]]:
    """Return a function that reads the atoms of a molecule, as one tuple each, for `atom_label`.

    The function takes the molecule and the SMILES that it was read from, or an empty string. RDKit has no
    array of atoms, and each property of all atoms costs a thirtieth of the time of parsing the molecule: so
    only those that the level needs are read. Elements alone are faster taken from the SMILES.
    """
    atom = chem.Atom
    number, hydrogens, charge = atom.GetAtomicNum, atom.GetTotalNumHs, atom.GetFormalCharge
    radicals, isotope = atom.GetNumRadicalElectrons, atom.GetIsotope

    key_of_text: dict[str, AtomKey] = {}

    def skeleton(molecule: Chem.Mol, smiles: str) -> list[AtomKey]:
        # RDKit's atoms have the order of the SMILES. Where it merged hydrogens, their number is another one.
        texts = [] if "|" in smiles else _ATOM.findall(smiles)
        if len(texts) != molecule.GetNumAtoms():
            return [(number(one),) for one in _each_atom(molecule)]
        try:
            return [key_of_text[text] for text in texts]
        except KeyError:
            for text, one in zip(texts, _each_atom(molecule), strict=True):
                key_of_text.setdefault(text, (number(one),))
        return [key_of_text[text] for text in texts]

    def constitution(molecule: Chem.Mol, _: str) -> list[AtomKey]:
        return [(number(one), hydrogens(one), charge(one), radicals(one)) for one in _each_atom(molecule)]

    def with_isotopes(molecule: Chem.Mol, _: str) -> list[AtomKey]:
        return [
            (number(one), hydrogens(one), charge(one), radicals(one), isotope(one))
            for one in _each_atom(molecule)
        ]

    def ecfp(molecule: Chem.Mol, smiles: str) -> list[AtomKey]:
        weight = chem.GetPeriodicTable().GetAtomicWeight
        plain = bool(smiles) and "[" not in smiles  # isotopes are in brackets
        return [
            (
                number(one),
                hydrogens(one, True),  # noqa: FBT003  (those that are nodes as well)
                charge(one),
                # Whole units of mass beside the mean of the element, as RDKit has it: 12C counts as C.
                int(one.GetMass() - weight(number(one))) if not plain and isotope(one) else 0,
                one.GetTotalDegree(),
                one.IsInRing(),
            )
            for one in _each_atom(molecule)
        ]

    return {"skeleton": skeleton, "constitution": constitution, "ecfp": ecfp}.get(atoms, with_isotopes)


def atom_label(atoms: AtomLevel, key: AtomKey) -> str:
    """Return the label of an atom as text.

    >>> atom_label("skeleton", (7,)), atom_label("constitution", (7, 3, 1, 0))
    ('N', 'NH3+')
    >>> atom_label("isotope", (6, 3, 0, 1, 13)), atom_label("stereo", (6, 1, 0, 0, 0, "(R)"))
    ('13CH3•', 'CH(R)')
    >>> atom_label("ecfp", (6, 2, 0, 0, 4, True))
    'CH2 X4 ring'
    """
    full: AtomKey = key + _NOTHING[len(key) :]
    number, hydrogens, charge, third, fourth, fifth = full
    symbol = import_extra("rdkit.Chem", "chem").GetPeriodicTable().GetElementSymbol(number)
    bracket = f"{symbol}{'H' if hydrogens else ''}{hydrogens if hydrogens > 1 else ''}{_signed(charge)}"
    if atoms == "ecfp":
        mass = f" mass{third:+d}" if third else ""
        return f"{bracket} X{fourth}{mass}{' ring' if fifth else ''}"
    return f"{fourth or ''}{bracket}{'•' * third}{fifth}"


def _each_atom(molecule: Chem.Mol) -> Iterator[Chem.Atom]:
    # Twice as fast as GetAtoms, which is written in Python and checks the length at each step.
    return map(molecule.GetAtomWithIdx, range(molecule.GetNumAtoms()))


def _signed(charge: int) -> str:
    return {0: "", 1: "+", -1: "-"}.get(charge, f"{charge:+d}")
