"""SMILES and RDKit molecules into a GraphBatch: atoms are nodes, bonds are edges.

`twinwl.graphs.atom_labels` says what the label of an atom can hold. Labels are written as in the brackets of
SMILES: ``NH3+`` is a nitrogen with three hydrogens and a positive charge, ``13C`` a carbon of mass 13,
``CH3•`` a radical, ``CH(R)`` a stereocentre.

Stereo is the CIP descriptors (R, S, r, s; E, Z) that RDKit assigns. Whether an atom is ``@`` or ``@@``
depends on the order in which its neighbours are written, so a graph cannot carry it; it can carry a
descriptor. Descriptors are read from the canonical SMILES, so equal canonical SMILES give equal marks. If the
canonical SMILES specifies stereo that has no descriptor, the first atom's label contains the whole string, so
that different molecules still differ.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np

from twinwl.arguments import JOBS, checked, one_of, owners, some_of
from twinwl.arrays import Float64, Int64
from twinwl.errors import GraphInputError, import_extra, setting, shown, warn_caller
from twinwl.graphs.atom_labels import ATOM_LABELLINGS, MODEL_ATOMS, periodic_table
from twinwl.graphs.building import build, listed
from twinwl.graphs.labels import Coded, encode_labels

if TYPE_CHECKING:
    from rdkit import Chem

    from twinwl.graphs.batch import GraphBatch

OnError = Literal["fail", "skip"]
AtomLevel: TypeAlias = str
"""A name in `ATOM_LABELLINGS`."""

ATOMS = one_of(*ATOM_LABELLINGS)
LEVELS = some_of(*ATOM_LABELLINGS)
JOINED_LEVELS = some_of(*ATOM_LABELLINGS, joined=True)

# ---------------------------------------------------------------------- constructors


class MoleculeConstructors:
    """The constructors of `GraphBatch` from molecules."""

    __slots__ = ()

    @classmethod
    def from_smiles(
        cls,
        smiles: Iterable[str],
        on_error: OnError = "fail",
        *,
        atoms: AtomLevel | Sequence[AtomLevel] = MODEL_ATOMS,
        n_jobs: int | None = None,
    ) -> GraphBatch:
        """Build a batch from SMILES strings; atoms are nodes, bonds are edges.

        Hydrogens are atoms only if RDKit treats them as atoms.

        Parameters
        ----------
        smiles
            One string per molecule.
        on_error
            ``"fail"``: a string that does not parse raises an error. ``"skip"``: such strings are left out,
            with one warning that counts them (to know which, use `twinwl.graphs.molecules.read_smiles`).
        atoms
            Content of the labels, and so what counts as the same molecule: ``"skeleton"`` element and bond
            type; ``"constitution"`` also formal charge, hydrogens and radicals; ``"isotope"`` also isotopes;
            ``"stereo"`` also tetrahedral and double-bond stereo, as CIP descriptors. ``"ecfp"``, apart from
            these: the atom invariants of Morgan fingerprints, for features. Several levels become views of
            the same molecules, which are parsed once; see `view`. The default is that of models, as in
            `load_dataset` and `SmilesToGraphs`. To compare, hash or de-duplicate molecules as the command
            line does, read them with ``"constitution"``.
        n_jobs
            Number of processes; None means one. The result does not depend on it.

        Returns
        -------
        GraphBatch

        Examples
        --------
        >>> from twinwl import GraphBatch
        >>> acetate = GraphBatch.from_smiles(["CC(=O)[O-]"], atoms="skeleton")
        >>> acetate.labels_of_nodes(), acetate.edge_vocabulary
        (['C', 'C', 'O', 'O'], ('double', 'single'))
        >>> GraphBatch.from_smiles(["CC(=O)[O-]"], atoms="constitution").labels_of_nodes()
        ['CH3', 'C', 'O', 'O-']
        """
        graphs, failures = read_smiles(smiles, on_error, atoms=atoms, n_jobs=n_jobs)
        if failures:
            first = failures[0]
            warn_caller(
                f"left out {len(failures)} SMILES that cannot be read; the first, at index {first.position}, "
                f"is {shown(first.smiles)}: {first.reason}"
            )
        return graphs

    @classmethod
    def from_rdkit(
        cls, molecules: Iterable[Chem.Mol], atoms: AtomLevel | Sequence[AtomLevel] = MODEL_ATOMS
    ) -> GraphBatch:
        """Build a batch from RDKit molecules.

        Parameters
        ----------
        molecules
            RDKit molecules.
        atoms
            Content of the labels, as in `from_smiles`.

        Returns
        -------
        GraphBatch

        Examples
        --------
        >>> from rdkit import Chem
        >>> from twinwl import GraphBatch
        >>> GraphBatch.from_rdkit([Chem.MolFromSmiles("c1ccccc1O")])
        GraphBatch(1 graph, 7 nodes, 7 edges, 3 node labels, 2 edge labels)
        """
        levels = checked("atoms", atoms, LEVELS)
        chem = import_extra("rdkit.Chem", "chem")
        if isinstance(molecules, chem.Mol):
            raise GraphInputError("this is one molecule, not a list of them; wrap it in a list: [molecule]")
        collected = listed(molecules, "molecules")
        for graph, molecule in enumerate(collected):
            if not isinstance(molecule, chem.Mol):
                name = type(molecule).__name__
                raise GraphInputError(
                    f"{name} is not an RDKit molecule (None: RDKit could not read it); correct it or drop it",
                    graph,
                )
        return _views_of_molecules(((cast("Chem.Mol", molecule), None) for molecule in collected), levels)


class SmilesFailure(NamedTuple):
    """A SMILES string that could not be read: its index in the input, the string, and the reason."""

    position: int
    smiles: object
    reason: str


class ReadSmiles(NamedTuple):
    """Graphs of the strings that could be read, in their order, and the failures."""

    graphs: GraphBatch
    failures: list[SmilesFailure]


def read_smiles(
    smiles: Iterable[str],
    on_error: OnError = "fail",
    *,
    atoms: AtomLevel | Sequence[AtomLevel] = MODEL_ATOMS,
    n_jobs: int | None = None,
) -> ReadSmiles:
    """Read SMILES strings into graphs, keeping track of which could be read; the parameters of `from_smiles`.

    Molecules are converted a few hundred at a time, because all of them at once would fill the memory.

    >>> graphs, failures = read_smiles(["CCO", "C(", "N"], on_error="skip")
    >>> len(graphs), failures[0].position
    (2, 1)
    """
    from twinwl.graphs.batch import concatenate  # noqa: PLC0415  (which is made of the constructors here)

    on_error = checked("on_error", on_error, one_of("fail", "skip"))
    levels = checked("atoms", atoms, LEVELS)
    n_jobs = checked("n_jobs", n_jobs, JOBS, None)
    import_extra("rdkit.Chem", "chem")  # a missing package is reported here, not by a worker
    strings = listed(smiles, "smiles")
    starts = range(0, max(1, len(strings)), _CHUNK)
    chunks = ((strings[start : start + _CHUNK], levels) for start in starts)
    if n_jobs in {None, 1} or len(starts) == 1:
        parts: Iterable[ReadSmiles] = itertools.starmap(_read_chunk, chunks)
    else:
        from joblib import Parallel, delayed  # noqa: PLC0415

        parts = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(_read_chunk)(*one) for one in chunks)
    batches: list[GraphBatch] = []
    failures: list[SmilesFailure] = []
    for start, part in zip(starts, parts):
        batches.append(part.graphs)
        failures += [failure._replace(position=start + failure.position) for failure in part.failures]
        if failures and on_error == "fail":
            position, text, reason = failures[0]
            raise GraphInputError(
                f"SMILES {shown(text)} cannot be read: {reason}",
                position,
                remedy=f"correct it, drop it, or pass {setting(on_error='skip')}",
            )
    return ReadSmiles(concatenate(batches), failures)


def _read_chunk(strings: list[object], levels: tuple[AtomLevel, ...]) -> ReadSmiles:
    chem = import_extra("rdkit.Chem", "chem")
    parse = functools.partial(_molecule, chem) if "stereo" in levels else _fast_parser(chem, levels)
    failures: list[SmilesFailure] = []

    def molecules() -> Iterator[tuple[Chem.Mol, str]]:
        for index, text in enumerate(strings):
            molecule = None if _refusal(text) else parse(cast("str", text))
            if molecule is None:
                failures.append(SmilesFailure(index, text, _reason(chem, text)))
            else:
                yield molecule, cast("str", text)

    return ReadSmiles(_views_of_molecules(molecules(), levels), failures)


# ---------------------------------------------------------------------- molecules taken apart

_NAME_OF_ORDER = {1.0: "single", 1.5: "aromatic", 2.0: "double", 3.0: "triple"}
_LARGE = 400  # atoms from which a dense matrix costs more than a call for each bond


def _views_of_molecules(
    molecules: Iterable[tuple[Chem.Mol, str | None]], levels: tuple[AtomLevel, ...]
) -> GraphBatch:
    """Build a batch from molecules, with a view for each level if there are several."""
    from twinwl.graphs.batch import stacked  # noqa: PLC0415  (which is made of the constructors here)

    with import_extra("rdkit.rdBase", "chem").BlockLogs():  # the order of an exotic bond prints a stack trace
        parsed = molecules if len(levels) == 1 else list(molecules)
        return stacked({level: _batch_of_molecules(parsed, level) for level in levels})


def _batch_of_molecules(molecules: Iterable[tuple[Chem.Mol, str | None]], atoms: AtomLevel) -> GraphBatch:
    """Build a batch from molecules, each with the SMILES that it was read from, if that is known."""
    chem = import_extra("rdkit.Chem", "chem")
    labelling = ATOM_LABELLINGS[atoms]
    number_of_key: dict[tuple[Any, ...], int] = {}
    numbers: list[int] = []
    atom_counts: list[int] = []
    order_of_name = {name: order for order, name in _NAME_OF_ORDER.items()}
    places, orders = [np.empty(0, np.int64)], [np.empty(0)]
    for molecule, text in molecules:
        n_atoms = molecule.GetNumAtoms()
        # Twice as fast as GetAtoms, which is written in Python and checks the length at each step.
        each = list(map(molecule.GetAtomWithIdx, range(n_atoms)))
        try:
            values: list[Iterable[Any]] = [map(read, each) for read in labelling.read]
            if labelling.read_molecule is not None:
                values.append(labelling.read_molecule(molecule))
            keys = list(zip(*values))
            has_no_stereo = atoms != "stereo" or (text is not None and not _may_have_stereo(text))
            marks = StereoMarks({}, {}) if has_no_stereo else stereo_marks(chem, molecule)
        except (RuntimeError, ValueError) as error:  # hydrogens or rings were never worked out
            raise GraphInputError(
                f"RDKit cannot say all that atoms={atoms!r} asks for; sanitise the molecule first "
                "(Chem.SanitizeMol)",
                len(atom_counts),
            ) from error
        for place, mark in marks.atoms.items():
            keys[place] += (mark,)
        numbers += [number_of_key.setdefault(key, len(number_of_key)) for key in keys]
        atom_counts.append(n_atoms)
        bonds = _matrix_bonds(chem, molecule) if not marks.bonds else None
        if bonds is None:
            bonds = _bond_by_bond(molecule, atoms, marks.bonds, order_of_name)
        places.append(bonds[0])
        orders.append(bonds[1])
    symbol = periodic_table().GetElementSymbol
    node_counts = np.array(atom_counts, np.int64)
    graph = owners([len(own) for own in places[1:]])  # without the empty first part
    sources, targets = np.divmod(np.concatenate(places), node_counts[graph])
    once = sources < targets
    # The names of bonds, sorted by their numbers.
    names, known = zip(*sorted(order_of_name.items(), key=itemgetter(1)))
    kinds = np.searchsorted(known, np.concatenate(orders)[once])
    used = np.bincount(kinds, minlength=len(known)) > 0
    return build(
        node_counts,
        np.bincount(graph[once], minlength=len(node_counts)),
        sources[once],
        targets[once],
        nodes=_encode_names(
            np.array(numbers, np.int64),
            [labelling.text(symbol(number), *values) for number, *values in number_of_key],
        ),
        edges=_encode_names((np.cumsum(used) - 1)[kinds], list(itertools.compress(names, used))),
        atoms=atoms,
    )


def _encode_names(numbers: Int64, names: list[str]) -> Coded:
    """Encode numbers that have these names."""
    ranks, vocabulary = encode_labels(names)
    return Coded(ranks[numbers], vocabulary)


def _matrix_bonds(chem: ModuleType, molecule: Chem.Mol) -> tuple[Int64, Float64] | None:
    """Return ``n * u + v`` and the order of each bond, from both ends; None if a bond has no plain order.

    A Python call for each bond would cost half as much as parsing the SMILES; RDKit returns the matrix of
    bond orders as a whole.
    """
    if molecule.GetNumAtoms() > _LARGE:
        return None
    try:
        matrix = chem.GetAdjacencyMatrix(molecule, True, 0, True).ravel()  # noqa: FBT003
    except RuntimeError:
        return None
    molecule.ClearProp("AdjacencyMatrixBO")  # RDKit keeps a copy with the molecule otherwise
    (places,) = matrix.nonzero()
    orders = matrix[places]
    # A bond whose order is zero is missing, a dative one stands in one direction only, some orders are odd.
    plain = len(places) == 2 * molecule.GetNumBonds() and _NAME_OF_ORDER.keys() >= set(orders.tolist())
    return (places, orders) if plain else None


def _bond_by_bond(
    molecule: Chem.Mol, atoms: AtomLevel, marks: dict[int, str], order_of_name: dict[str, float]
) -> tuple[Int64, Float64]:
    """Return ``n * u + v`` and the order of each bond, from one end; other types get orders below zero."""
    places, orders = [], []
    for bond in molecule.GetBonds():
        name = str(bond.GetBondType().name).lower()
        if name.startswith("dative") and atoms != "skeleton":  # it has a direction
            name += f" from {bond.GetBeginAtom().GetSymbol()}"
        name += marks.get(bond.GetIdx(), "")
        orders.append(order_of_name.setdefault(name, -float(len(order_of_name))))
        low, high = sorted((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()))
        places.append(molecule.GetNumAtoms() * low + high)
    return np.array(places, np.int64), np.array(orders, np.float64)


# ---------------------------------------------------------------------- stereo

_CIP_PROPERTY = "_CIPCode"
# Ranking the branches of a highly symmetric molecule can take extremely long; this many steps take a few
# seconds.
_MOST_STEPS = 100_000


class StereoMarks(NamedTuple):
    """What to append to labels, by index of the atom or bond."""

    atoms: dict[int, str]
    bonds: dict[int, str]


def _may_have_stereo(smiles: str) -> bool:
    return not set("@/\\").isdisjoint(smiles)


def stereo_marks(chem: ModuleType, molecule: Chem.Mol) -> StereoMarks:
    """Find the stereocentres and stereo bonds of a molecule, and what they are.

    >>> from rdkit import Chem
    >>> stereo_marks(Chem, Chem.MolFromSmiles("C[C@H](N)C(=O)O"))
    StereoMarks(atoms={1: '(S)'}, bonds={})
    """
    copy = chem.Mol(molecule)  # writing SMILES leaves properties behind
    smiles = chem.MolToSmiles(copy)
    if not _may_have_stereo(smiles):
        return StereoMarks({}, {})
    place = list(copy.GetPropsAsDict(True, True)["_smilesAtomOutputOrder"])  # noqa: FBT003
    options = chem.SmilesParserParams()
    options.removeHs = False  # every atom that was written is to come back
    canonical = chem.MolFromSmiles(smiles, options)
    decided = _assign_descriptors(canonical)
    marks = StereoMarks({}, {})
    for atom in canonical.GetAtoms():
        if atom.HasProp(_CIP_PROPERTY):
            marks.atoms[place[atom.GetIdx()]] = f"({atom.GetProp(_CIP_PROPERTY)})"
        elif atom.GetChiralTag() != chem.ChiralType.CHI_UNSPECIFIED:
            decided = False
    for bond in canonical.GetBonds():
        if bond.HasProp(_CIP_PROPERTY):
            ends = place[bond.GetBeginAtomIdx()], place[bond.GetEndAtomIdx()]
            marks.bonds[molecule.GetBondBetweenAtoms(*ends).GetIdx()] = f"({bond.GetProp(_CIP_PROPERTY)})"
        elif bond.GetStereo() > chem.BondStereo.STEREOANY:  # kinds above it are definite
            decided = False
    if not decided:
        marks.atoms[place[0]] = marks.atoms.get(place[0], "") + f" in {smiles}"
    return marks


def _assign_descriptors(molecule: Chem.Mol) -> bool:
    """Let RDKit assign CIP descriptors; return whether it came to an end."""
    parts: list[Chem.Atom | Chem.Bond] = [*molecule.GetAtoms(), *molecule.GetBonds()]
    for part in parts:
        part.ClearProp(_CIP_PROPERTY)  # of an older algorithm, which parsing runs
    labeler = import_extra("rdkit.Chem.rdCIPLabeler", "chem")
    try:
        labeler.AssignCIPLabels(molecule, maxRecursiveIterations=_MOST_STEPS)
    except RuntimeError:
        return False
    return True


# ---------------------------------------------------------------------- parsing

# RDKit's time grows with the square of a molecule, and with the cube of a fused ring system: at these
# bounds it is a second or two. The longest SMILES of MoleculeNet's sets has 580 characters.
MAX_LENGTH = 10_000
MAX_RINGS = 500

_BRACKETS = re.compile(r"\[[^\]]*\]")  # digits in there are isotopes, charges and counts of hydrogen
_RING_BOND = re.compile(r"%\d\d|%\(\d+\)|\d")
_EXTENSION = re.compile(r"\|[^|]*\|")  # of CXSMILES, the only text that may follow after white space
_HYDROGEN = re.compile(r"\[\d*H")
_CHUNK = 1024


def _fast_parser(chem: ModuleType, levels: tuple[AtomLevel, ...]) -> Callable[[str], Chem.Mol | None]:
    """Return a parser of SMILES that skips what the labels do not need, such as stereo, to save time."""
    # Atropisomers need hybridisation; not every version of RDKit has a step for them.
    needless = ["SETCONJUGATION", "SETHYBRIDIZATION", "CLEANUPCHIRALITY", "CLEANUPATROPISOMERS"]
    needless += ["FINDRADICALS"] if set(levels) == {"skeleton"} else []
    steps = int(chem.SANITIZE_ALL)
    for step in needless:
        steps &= ~int(getattr(chem, f"SANITIZE_{step}", 0))
    read, sanitize = chem.MolFromSmiles, chem.SanitizeMol

    def parse(text: str) -> Chem.Mol | None:
        # Only the full parser merges explicit hydrogens and reads CXSMILES extensions.
        if "|" in text or ("H" in text and _HYDROGEN.search(text)):
            return _molecule(chem, text)
        try:
            molecule: Chem.Mol | None = read(text, sanitize=False)
            if molecule is None or sanitize(molecule, steps, catchErrors=True):
                return None
        except RuntimeError:
            return None
        return molecule

    return parse


def _refusal(text: object) -> str:  # noqa: PLR0911  (one per reason)
    """Return why a string is not passed to RDKit; empty if it is."""
    if not isinstance(text, str):
        return f"it is of type {type(text).__name__}, not a string"
    if not text.strip():
        return "it is empty"
    _, *rest = text.split(maxsplit=1)
    if rest and not _EXTENSION.fullmatch(rest[0].rstrip()):  # RDKit would take it for a name
        return f"it has {shown(rest[0])} after white space; only a .smi file may have names there"
    if "\0" in text or text.encode("utf-8", "replace").decode() != text:
        return "it has characters that are not valid text"
    if len(text) > MAX_LENGTH:
        return f"it has {len(text):,} characters, more than the {MAX_LENGTH:,} that are read in bounded time"
    n_rings = len(_RING_BOND.findall(_BRACKETS.sub("", text))) // 2 if len(text) > 2 * MAX_RINGS else 0
    if n_rings > MAX_RINGS:
        return f"it closes {n_rings:,} rings, more than the {MAX_RINGS:,} that are read in bounded time"
    return ""


def _reason(chem: ModuleType, text: object) -> str:
    """Return why a string could not be read: its chemistry if the syntax is right."""
    refused = _refusal(text)
    if refused:
        return refused
    unchecked = _molecule(chem, cast("str", text), sanitize=False)
    if unchecked is None:
        return "it is not valid SMILES"
    try:
        problems = chem.DetectChemistryProblems(unchecked)
    except RuntimeError:  # RDKit of 2023 needs rings that it has not searched for
        problems = ()
    return problems[0].Message().strip() if problems else "RDKit cannot sanitise it"


def _molecule(chem: ModuleType, text: str, **options: bool) -> Chem.Mol | None:
    try:
        return chem.MolFromSmiles(text, **options)
    except RuntimeError:  # an internal condition of RDKit that is not met
        return None
