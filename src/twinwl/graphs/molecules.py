"""RDKit molecules taken apart in bulk.

A Python call for each bond would cost half as much as parsing the SMILES. RDKit hands out the matrix of
bond orders as a whole; only molecules with a bond that has no plain order are read bond by bond.

Stereo as marks on atoms and bonds: the CIP descriptors (R, S, r, s; E, Z) that RDKit assigns.

Whether an atom is ``@`` or ``@@`` depends on the order in which its neighbours are written, so a graph cannot
carry it; it can carry a CIP descriptor. Descriptors are those of the canonical SMILES, read again: so equal
canonical SMILES have equal marks. Where a descriptor is missing though the SMILES says something there, the
first atom is marked with the whole canonical SMILES: so different ones have different graphs.

SMILES strings and RDKit molecules into a GraphBatch, with labels of atoms and bonds.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import itemgetter
from types import ModuleType
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from twinwl.arguments import JOBS, checked, one_of
from twinwl.arrays import pointer
from twinwl.errors import GraphInputError, import_extra, shown, warn_caller
from twinwl.graphs.atom_labels import ATOMS, AtomKey, AtomLevel, atom_label, atom_reader
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.graphs.building import build, listed
from twinwl.graphs.labels import Coded, encode_labels

if TYPE_CHECKING:
    from rdkit import Chem

_CODE = "_CIPCode"
_SIGNS = frozenset("@/\\")
# Ranking the branches of a highly symmetric molecule can take extremely long; this many steps take a few
# seconds.
_MOST_STEPS = 100_000


class StereoMarks(NamedTuple):
    """What to append to labels, by index of the atom or bond."""

    atoms: dict[int, str]
    bonds: dict[int, str]


def may_have_stereo(smiles: str) -> bool:
    """Say whether a SMILES can hold stereo at all, which most do not.

    >>> may_have_stereo("CCO"), may_have_stereo("C/C=C/C")
    (False, True)
    """
    return not _SIGNS.isdisjoint(smiles)


def stereo_marks(chem: ModuleType, molecule: Chem.Mol) -> StereoMarks:
    """Find the stereocentres and stereo bonds of a molecule, and what they are.

    >>> from rdkit import Chem
    >>> stereo_marks(Chem, Chem.MolFromSmiles("C[C@H](N)C(=O)O"))
    StereoMarks(atoms={1: '(S)'}, bonds={})
    """
    copy = chem.Mol(molecule)  # writing SMILES leaves properties behind
    smiles = chem.MolToSmiles(copy)
    if not may_have_stereo(smiles):
        return StereoMarks({}, {})
    place = list(copy.GetPropsAsDict(True, True)["_smilesAtomOutputOrder"])  # noqa: FBT003
    options = chem.SmilesParserParams()
    options.removeHs = False  # every atom that was written is to come back
    canonical = chem.MolFromSmiles(smiles, options)
    decided = _assign_descriptors(canonical)
    marks = StereoMarks({}, {})
    for atom in canonical.GetAtoms():
        if atom.HasProp(_CODE):
            marks.atoms[place[atom.GetIdx()]] = f"({atom.GetProp(_CODE)})"
        elif atom.GetChiralTag() != chem.ChiralType.CHI_UNSPECIFIED:
            decided = False
    for bond in canonical.GetBonds():
        if bond.HasProp(_CODE):
            ends = place[bond.GetBeginAtomIdx()], place[bond.GetEndAtomIdx()]
            marks.bonds[molecule.GetBondBetweenAtoms(*ends).GetIdx()] = f"({bond.GetProp(_CODE)})"
        elif bond.GetStereo() > chem.BondStereo.STEREOANY:
            decided = False
    if not decided:
        marks.atoms[place[0]] = marks.atoms.get(place[0], "") + f" in {smiles}"
    return marks


def _assign_descriptors(molecule: Chem.Mol) -> bool:
    """Let RDKit assign CIP descriptors; return whether it came to an end."""
    parts: list[Chem.Atom | Chem.Bond] = [*molecule.GetAtoms(), *molecule.GetBonds()]
    for part in parts:
        part.ClearProp(_CODE)  # of an older algorithm, which parsing runs
    labeler = import_extra("rdkit.Chem.rdCIPLabeler", "chem")
    try:
        labeler.AssignCIPLabels(molecule, maxRecursiveIterations=_MOST_STEPS)
    except RuntimeError:
        return False
    return True


_NAME_OF_ORDER = {1.0: "single", 1.5: "aromatic", 2.0: "double", 3.0: "triple"}
_LARGE = 400  # atoms from which a dense matrix costs more than a call for each bond
_BLOCK = 32  # molecules held at once: so few that all stays in the processor's cache
_NO_ORDERS: NDArray[np.float64] = np.empty(0)


class _Bonds(NamedTuple):
    """Bonds of molecules, some from both ends: ``n * u + v`` for atoms u and v of a molecule of n atoms."""

    counts: NDArray[np.int64]
    places: NDArray[np.int64]
    orders: NDArray[np.float64]


def batch_from_molecules(
    molecules: Iterable[Chem.Mol],
    atoms: AtomLevel = "skeleton",
    smiles: Iterable[str] | None = None,
) -> GraphBatch:
    """Build a batch from molecules, of which a few at a time are held.

    Parameters
    ----------
    molecules
        One graph each.
    atoms
        What labels say; see `twinwl.graphs.atom_labels`.
    smiles
        What each molecule was read from, asked for after the molecule; None where that is not known.
    """
    chem = import_extra("rdkit.Chem", "chem")
    base = import_extra("rdkit.rdBase", "chem")
    read = atom_reader(chem, atoms)
    name_of_bond = _bond_names(chem, atoms)
    number_of_key: dict[AtomKey, int] = {}
    numbers: list[int] = []
    atom_counts: list[int] = []
    order_of_name: dict[str, float] = {name: order for order, name in _NAME_OF_ORDER.items()}
    parts: list[_Bonds] = []
    block: list[tuple[Chem.Mol, NDArray[np.float64] | None, dict[int, str]]] = []

    def flush() -> None:
        parts.append(_bonds_of_block(block, order_of_name, name_of_bond))
        block.clear()

    with base.BlockLogs():  # asking for the order of an exotic bond prints a stack trace
        for molecule, text in zip(molecules, smiles or itertools.repeat(""), strict=False):
            own, marks = _atoms(chem, molecule, text, atoms, read, len(atom_counts))
            numbers += [number_of_key.setdefault(key, len(number_of_key)) for key in own]
            atom_counts.append(len(own))
            block.append((molecule, None if marks else _bond_orders(chem, molecule), marks))
            if len(block) == _BLOCK:
                flush()
        flush()
    node_counts = np.array(atom_counts, np.int64)
    bonds = _Bonds(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    owners = np.repeat(np.arange(len(node_counts)), bonds.counts)
    sources, targets = np.divmod(bonds.places, node_counts[owners])
    once = sources < targets
    names, known = zip(*sorted(order_of_name.items(), key=itemgetter(1)), strict=True)
    kinds = np.searchsorted(known, bonds.orders[once])
    used = np.bincount(kinds, minlength=len(known)) > 0
    return build(
        node_counts,
        np.bincount(owners[once], minlength=len(node_counts)),
        sources[once],
        targets[once],
        nodes=_renamed(np.array(numbers, np.int64), [atom_label(atoms, key) for key in number_of_key]),
        edges=_renamed((np.cumsum(used) - 1)[kinds], list(itertools.compress(names, used))),
        atoms=atoms,
    )


def _atoms(
    chem: ModuleType,
    molecule: Chem.Mol,
    smiles: str,
    atoms: AtomLevel,
    read: Callable[[Chem.Mol, str], list[AtomKey]],
    graph: int,
) -> tuple[list[AtomKey], dict[int, str]]:
    """Read the atoms of a molecule, and which of its bonds are marked."""
    try:
        keys = read(molecule, smiles)
        if atoms != "stereo" or (smiles and not may_have_stereo(smiles)):
            return keys, {}
        marks = stereo_marks(chem, molecule)
    except (RuntimeError, ValueError) as error:  # hydrogens or rings were never worked out
        raise GraphInputError(
            f"RDKit cannot say all that atoms={atoms!r} asks for; sanitise the molecule first "
            "(Chem.SanitizeMol)",
            graph,
        ) from error
    for place, mark in marks.atoms.items():
        keys[place] += (mark,)
    return keys, marks.bonds


def _renamed(numbers: NDArray[np.int64], names: list[str]) -> Coded:
    """Encode numbers that have these names."""
    ranks, vocabulary = encode_labels(names)
    return Coded(ranks[numbers], vocabulary)


def _bond_names(chem: ModuleType, atoms: AtomLevel) -> Callable[[Chem.Bond], str]:
    """Return what names a bond by its type; beyond the skeleton a dative one also says where it starts."""
    directed = {kind for name, kind in chem.BondType.names.items() if name.startswith("DATIVE")}

    def name_of_bond(bond: Chem.Bond) -> str:
        kind = bond.GetBondType()
        name = str(kind.name).lower()
        if atoms == "skeleton" or kind not in directed:
            return name
        return f"{name} from {bond.GetBeginAtom().GetSymbol()}"

    return name_of_bond


def _bond_orders(chem: ModuleType, molecule: Chem.Mol) -> NDArray[np.float64] | None:
    """Return the matrix of bond orders as a row; None where there is none, or it is too large."""
    if molecule.GetNumAtoms() > _LARGE:
        return None
    try:
        matrix: NDArray[np.float64] = chem.GetAdjacencyMatrix(molecule, True, 0, True)  # noqa: FBT003
    except RuntimeError:
        return None
    molecule.ClearProp("AdjacencyMatrixBO")  # RDKit keeps a copy with the molecule otherwise
    return matrix.ravel()


def _bonds_of_block(
    block: list[tuple[Chem.Mol, NDArray[np.float64] | None, dict[int, str]]],
    order_of_name: dict[str, float],
    name_of_bond: Callable[[Chem.Bond], str],
) -> _Bonds:
    """Read the bonds of some molecules at once; those that a matrix does not tell all about, bond by bond."""
    rows = [_NO_ORDERS if orders is None else orders for _, orders, _ in block]
    flat = np.concatenate([_NO_ORDERS, *rows])
    starts = pointer(np.array([len(row) for row in rows], np.int64))
    (cells,) = flat.nonzero()
    orders = flat[cells]
    bounds = np.searchsorted(cells, starts)
    counts = np.diff(bounds)
    # A bond whose order is zero is missing, a dative one stands in one direction only, some orders are odd.
    odd = functools.reduce(np.logical_and, [orders != order for order in _NAME_OF_ORDER])
    wrong = set((np.searchsorted(bounds, np.flatnonzero(odd), side="right") - 1).tolist())
    by_bond = [
        place
        for place, ((molecule, row, _), count) in enumerate(zip(block, counts.tolist(), strict=True))
        if row is None or count != 2 * molecule.GetNumBonds() or place in wrong
    ]
    places = cells - np.repeat(starts[:-1], counts)
    if not by_bond:
        return _Bonds(counts, places, orders)
    parts = [(places[low:high], orders[low:high]) for low, high in itertools.pairwise(bounds.tolist())]
    for place in by_bond:
        molecule, _, marks = block[place]
        parts[place] = _bond_by_bond(molecule, marks, order_of_name, name_of_bond)
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return _Bonds(np.array([len(own) for own, _ in parts], np.int64), columns[0], columns[1])


def _bond_by_bond(
    molecule: Chem.Mol,
    marks: Mapping[int, str],
    order_of_name: dict[str, float],
    name_of_bond: Callable[[Chem.Bond], str],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    n_atoms = molecule.GetNumAtoms()
    places, orders = [], []
    for bond in molecule.GetBonds():
        name = name_of_bond(bond) + marks.get(bond.GetIdx(), "")
        # Types without a plain order get numbers of their own, below zero.
        orders.append(order_of_name.setdefault(name, -float(len(order_of_name))))
        low, high = sorted((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()))
        places.append(n_atoms * low + high)
    return np.array(places, np.int64), np.array(orders, np.float64)


OnError = Literal["fail", "skip"]

# RDKit's time grows with the square of a molecule, and with the cube of a fused ring system: at these
# bounds it is a second or two. The longest SMILES of MoleculeNet's sets has 580 characters.
MAX_LENGTH = 10_000
MAX_RINGS = 500

_BRACKETS = re.compile(r"\[[^\]]*\]")  # digits in there are isotopes, charges and counts of hydrogen
_RING_BOND = re.compile(r"%\d\d|%\(\d+\)|\d")
_EXTENSION = re.compile(r"\|[^|]*\|")  # of CXSMILES, the only text that may follow after white space
_HYDROGEN = re.compile(r"\[\d*H")
# A bracket that starts with none of the non-metals that are common; outside of brackets there is no metal.
_METAL = re.compile(r"\[(?!\d*(?:Cl|Br|Si|[HBCNOPSFIbcnops](?![a-z])))")
_CHUNK = 1024
_SKIP = 'correct it, drop it, or pass on_error="skip"'


class SmilesFailure(NamedTuple):
    """A SMILES string that could not be read: its index in the input, the string, and the reason."""

    position: int
    smiles: object
    reason: str


class ReadSmiles(NamedTuple):
    """Graphs of the strings that could be read, the input index of each, and the failures."""

    graphs: GraphBatch
    kept: list[int]
    failures: list[SmilesFailure]


def from_smiles(
    smiles: Iterable[str],
    on_error: OnError = "fail",
    *,
    atoms: AtomLevel = "skeleton",
    n_jobs: int | None = None,
) -> GraphBatch:
    """Build a batch from SMILES strings; see `GraphBatch.from_smiles`."""
    graphs, _, failures = read_smiles(smiles, on_error, atoms=atoms, n_jobs=n_jobs)
    _warn_skipped(failures)
    return graphs


def read_smiles(
    smiles: Iterable[str],
    on_error: OnError = "fail",
    *,
    atoms: AtomLevel = "skeleton",
    n_jobs: int | None = None,
) -> ReadSmiles:
    """Read SMILES strings into graphs, keeping track of which could be read; the parameters of `from_smiles`.

    Molecules are converted a few hundred at a time, because all of them at once would fill the memory.

    >>> graphs, kept, failures = read_smiles(["CCO", "C(", "N"], on_error="skip")
    >>> len(graphs), kept, failures[0].position
    (2, [0, 2], 1)
    """
    on_error = checked("on_error", on_error, one_of("fail", "skip"))
    atoms = checked("atoms", atoms, ATOMS)
    n_jobs = checked("n_jobs", n_jobs, JOBS, None)
    import_extra("rdkit.Chem", "chem")  # a missing package is not to be told from inside a worker
    strings = listed(smiles, "smiles")
    starts = range(0, len(strings), _CHUNK)
    chunks = ((strings[start : start + _CHUNK], atoms) for start in starts)
    if n_jobs in {None, 1} or len(starts) < 2:  # noqa: PLR2004
        parts: Iterable[ReadSmiles] = itertools.starmap(_read_chunk, chunks)
    else:
        from joblib import Parallel, delayed  # noqa: PLC0415

        parts = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(_read_chunk)(*one) for one in chunks)
    batches: list[GraphBatch] = []
    kept: list[int] = []
    failures: list[SmilesFailure] = []
    for start, part in zip(starts, parts, strict=True):
        batches.append(part.graphs)
        kept += [start + index for index in part.kept]
        failures += [failure._replace(position=start + failure.position) for failure in part.failures]
        if failures and on_error == "fail":
            raise _unreadable(failures[0])
    return ReadSmiles(concatenate(batches) if batches else batch_from_molecules([], atoms), kept, failures)


def from_rdkit(molecules: Iterable[Chem.Mol], atoms: AtomLevel = "skeleton") -> GraphBatch:
    """Build a batch from RDKit molecules; see `GraphBatch.from_rdkit`."""
    atoms = checked("atoms", atoms, ATOMS)
    chem = import_extra("rdkit.Chem", "chem")
    if isinstance(molecules, chem.Mol):
        raise GraphInputError("this is one molecule, not a list of them; wrap it in a list: [molecule]")
    collected = listed(molecules, "molecules")
    for graph, molecule in enumerate(collected):
        if molecule is None:
            raise GraphInputError(
                "it is None: RDKit could not read this molecule; correct it or drop it", graph
            )
        if not isinstance(molecule, chem.Mol):
            raise GraphInputError(f"{type(molecule).__name__} is not an RDKit molecule; convert it", graph)
    return batch_from_molecules(cast("list[Chem.Mol]", collected), atoms)


def _read_chunk(strings: list[object], atoms: AtomLevel) -> ReadSmiles:
    chem = import_extra("rdkit.Chem", "chem")
    parse = functools.partial(_molecule, chem) if atoms == "stereo" else _flat_parser(chem, atoms)
    kept: list[int] = []
    failures: list[SmilesFailure] = []

    def molecules() -> Iterator[Chem.Mol]:
        for index, text in enumerate(strings):
            molecule = None if _refused(text) else parse(cast("str", text))
            if molecule is None:
                failures.append(SmilesFailure(index, text, _reason(chem, text)))
            else:
                kept.append(index)
                yield molecule

    texts = (cast("str", strings[kept[-1]]) for _ in itertools.count())
    with import_extra("rdkit.rdBase", "chem").BlockLogs():  # the reasons say all that RDKit would have logged
        graphs = batch_from_molecules(molecules(), atoms, texts)
    return ReadSmiles(graphs, kept, failures)


def _flat_parser(chem: ModuleType, atoms: AtomLevel) -> Callable[[str], Chem.Mol | None]:
    """Return a parser of SMILES that skips what the labels do not need, such as stereo, to save time."""
    # Atropisomers need hybridisation; not every version of RDKit has a step for them.
    needless = ["SETCONJUGATION", "SETHYBRIDIZATION", "CLEANUPCHIRALITY", "CLEANUPATROPISOMERS"]
    needless += ["FINDRADICALS"] if atoms == "skeleton" else []
    with_metals = _steps_without(chem, needless)
    without_metals = _steps_without(chem, [*needless, "CLEANUP_ORGANOMETALLICS"])
    read, sanitize = chem.MolFromSmiles, chem.SanitizeMol

    def parse(text: str) -> Chem.Mol | None:
        # Hydrogens that are atoms are to be merged, extensions to be understood.
        if "|" in text or ("H" in text and _HYDROGEN.search(text)):
            return _molecule(chem, text)
        try:
            molecule: Chem.Mol | None = read(text, sanitize=False)
            steps = with_metals if "[" in text and _METAL.search(text) else without_metals
            if molecule is None or sanitize(molecule, steps, catchErrors=True):
                return None
        except RuntimeError:
            return None
        return molecule

    return parse


def _steps_without(chem: ModuleType, needless: list[str]) -> int:
    steps = int(chem.SANITIZE_ALL)
    for step in needless:
        steps &= ~int(getattr(chem, f"SANITIZE_{step}", 0))
    return steps


def _unreadable(failure: SmilesFailure) -> GraphInputError:
    message = f"SMILES {shown(failure.smiles)} cannot be read: {failure.reason}; {_SKIP}"
    return GraphInputError(message, failure.position)


def _refused(text: object) -> str:
    """Return why a string is not passed to RDKit; empty if it is."""
    if not isinstance(text, str):
        return f"it is of type {type(text).__name__}, not a string"
    if not text.strip():
        return "it is empty"
    _, *rest = text.split(maxsplit=1)
    if rest and not _EXTENSION.fullmatch(rest[0].rstrip()):  # RDKit would take it for a name
        return f"it has {shown(rest[0])} after white space; only a .smi file may have names there"
    if "\0" in text or not (text.isascii() or _is_unicode(text)):
        return "it has characters that are not valid text"
    if len(text) > MAX_LENGTH:
        return f"it has {len(text):,} characters, more than the {MAX_LENGTH:,} that are read in bounded time"
    n_rings = len(_RING_BOND.findall(_BRACKETS.sub("", text))) // 2 if len(text) > 2 * MAX_RINGS else 0
    many = f"it closes {n_rings:,} rings, more than the {MAX_RINGS:,} that are read in bounded time"
    return many if n_rings > MAX_RINGS else ""


def _reason(chem: ModuleType, text: object) -> str:
    """Return why a string could not be read: its chemistry if the syntax is right."""
    refused = _refused(text)
    if refused:
        return refused
    unchecked = _molecule(chem, cast("str", text), sanitize=False)
    if unchecked is None:
        return "it is not valid SMILES"
    try:
        problems = chem.DetectChemistryProblems(unchecked)
    except RuntimeError:  # RDKit of 2023 asks for rings that it has not looked for
        problems = ()
    return problems[0].Message().strip() if problems else "RDKit cannot sanitise it"


def _molecule(chem: ModuleType, text: str, **options: bool) -> Chem.Mol | None:
    try:
        return chem.MolFromSmiles(text, **options)
    except RuntimeError:  # an internal condition of RDKit that is not met
        return None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def _warn_skipped(failures: list[SmilesFailure]) -> None:
    if failures:
        first = failures[0]
        warn_caller(
            f"left out {len(failures)} SMILES that cannot be read; the first, at index {first.position}, is "
            f"{shown(first.smiles)}: {first.reason}"
        )
