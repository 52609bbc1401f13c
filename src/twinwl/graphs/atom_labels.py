"""What the labels of atoms can hold: the table of atom labellings.

A new labelling is a record in `ATOM_LABELLINGS` and a row in ``docs/background/same_graph.md``. The table
loads neither RDKit nor NumPy, so that the command line can show it at once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from operator import methodcaller
from typing import TYPE_CHECKING, Any, NamedTuple

from twinwl.errors import import_extra, warn_caller

if TYPE_CHECKING:
    from rdkit import Chem


def bracket(
    symbol: str, hydrogens: int = 0, charge: int = 0, radicals: int = 0, isotope: int = 0, mark: str = ""
) -> str:
    """Write an atom as in the brackets of SMILES; ``mark`` is its stereo descriptor."""
    sign = {0: "", 1: "+", -1: "-"}.get(charge, f"{charge:+d}")
    counted = f"H{hydrogens if hydrogens > 1 else ''}" if hydrogens else ""
    return f"{isotope or ''}{symbol}{counted}{sign}{'•' * radicals}{mark}"


def _invariant(symbol: str, hydrogens: int, charge: int, mass: int, degree: int, in_ring: bool) -> str:
    shift = f" mass{mass:+d}" if mass else ""
    return f"{bracket(symbol, hydrogens, charge)} X{degree}{shift}{' ring' if in_ring else ''}"


def _mass_shift(atom: Chem.Atom) -> int:
    """Return whole units of mass beside the mean of the element, as RDKit has it: 12C counts as C."""
    if not atom.GetIsotope():
        return 0
    return int(atom.GetMass() - periodic_table().GetAtomicWeight(atom.GetAtomicNum()))


@functools.cache
def periodic_table() -> Any:  # noqa: ANN401
    """Return RDKit's periodic table."""
    return import_extra("rdkit.Chem", "chem").GetPeriodicTable()


class AtomLabelling(NamedTuple):
    """One way to label atoms."""

    summary: str
    read: tuple[Callable[[Any], Any], ...]
    """What is read from each atom; the number of its element comes first."""
    text: Callable[..., str] = bracket
    """From the symbol of the element and the other values to the label."""
    on_ladder: bool = True
    """Whether it distinguishes all atoms that the one before it distinguishes."""
    read_molecule: Callable[[Any], Iterable[Any]] | None = None
    """One more value of each atom, which RDKit only works out for the whole molecule."""


_CONSTITUTION = tuple(
    map(methodcaller, ("GetAtomicNum", "GetTotalNumHs", "GetFormalCharge", "GetNumRadicalElectrons"))
)
_ISOTOPE = (*_CONSTITUTION, methodcaller("GetIsotope"))

# The bits of RDKit's feature invariants.
_CLASSES = ("donor", "acceptor", "aromatic", "halogen", "basic", "acidic")

ATOM_LABELLINGS = {
    "skeleton": AtomLabelling("element and bond type", _CONSTITUTION[:1]),
    "constitution": AtomLabelling("also formal charge, hydrogens and radicals", _CONSTITUTION),
    "isotope": AtomLabelling("also isotopes", _ISOTOPE),
    "stereo": AtomLabelling("also tetrahedral and double-bond stereo, as CIP descriptors", _ISOTOPE),
    "ecfp": AtomLabelling(
        "apart from these, the atom invariants of Morgan fingerprints, for features",
        (
            methodcaller("GetAtomicNum"),
            methodcaller("GetTotalNumHs", True),  # noqa: FBT003  (those that are nodes as well)
            methodcaller("GetFormalCharge"),
            _mass_shift,
            methodcaller("GetTotalDegree"),
            methodcaller("IsInRing"),
        ),
        _invariant,
        on_ladder=False,
    ),
    "fcfp": AtomLabelling(
        "apart from these, the functional classes of FCFP fingerprints: donor, acceptor, aromatic and so on",
        _CONSTITUTION[:1],
        lambda _, classes: (
            " ".join(name for bit, name in enumerate(_CLASSES) if classes >> bit & 1) or "other"
        ),
        on_ladder=False,
        read_molecule=lambda molecule: import_extra(
            "rdkit.Chem.rdMolDescriptors", "chem"
        ).GetFeatureInvariants(molecule),
    ),
}
LADDER = tuple(name for name, labelling in ATOM_LABELLINGS.items() if labelling.on_ladder)

# What molecules are read with unless something else is asked for: whatever models may learn from (also
# `GraphBatch.from_smiles` and `load_dataset`), and what decides whether two molecules are the same (compare,
# hash, dedup, audit and corpora). Scaffold splits decided the first: benchmarks/molecules.py.
MODEL_ATOMS: Any = "ecfp"
IDENTITY_ATOMS: Any = "constitution"
# Models that do not know how their molecules were read are of versions that knew this level only.
FIRST_ATOMS: Any = "skeleton"


def warn_of_level(atoms: str | None) -> None:
    """Warn if molecules are tested for identity with labels that were made for models.

    A hash of such labels would change with the default of models, and is not that of ``twinwl hash``.
    """
    if atoms is not None and atoms not in LADDER:
        warn_caller(
            f"these molecules were read with atoms={atoms!r}, which is for models; read them with "
            f"atoms={IDENTITY_ATOMS!r} to compare, hash or de-duplicate them as the command line does"
        )
