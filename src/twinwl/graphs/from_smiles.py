"""SMILES strings and RDKit molecules into a GraphBatch, with labels of atoms and bonds."""

from __future__ import annotations

import functools
import itertools
import re
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from twinwl.arguments import JOBS, checked, is_a, one_of
from twinwl.errors import GraphInputError, import_extra, shown, warn_caller
from twinwl.graphs.atom_labels import ATOMS
from twinwl.graphs.batch import concatenate
from twinwl.graphs.building import listed
from twinwl.graphs.molecules import batch_from_molecules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType

    from rdkit import Chem

    from twinwl.graphs.atom_labels import AtomLevel
    from twinwl.graphs.batch import GraphBatch

__all__ = [
    "MAX_LENGTH",
    "MAX_RINGS",
    "ReadSmiles",
    "SmilesFailure",
    "from_rdkit",
    "from_smiles",
    "read_smiles",
]

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
    if is_a(molecules, chem.Mol):
        raise GraphInputError("this is one molecule, not a list of them; wrap it in a list: [molecule]")
    collected = listed(molecules, "molecules")
    for graph, molecule in enumerate(collected):
        if molecule is None:
            raise GraphInputError(
                "it is None: RDKit could not read this molecule; correct it or drop it", graph
            )
        if not is_a(molecule, chem.Mol):
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
    if not is_a(text, str):
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
