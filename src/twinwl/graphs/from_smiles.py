"""SMILES strings and RDKit molecules into a GraphBatch: atoms labelled by element, bonds by bond type."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from twinwl.arguments import checked, is_a, one_of
from twinwl.errors import GraphInputError, import_extra, shown, warn_caller
from twinwl.graphs.building import listed
from twinwl.graphs.molecules import batch_from_molecules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

    from rdkit import Chem

    from twinwl.graphs.batch import GraphBatch

__all__ = [
    "MAX_LENGTH",
    "MAX_RINGS",
    "ParsedSmiles",
    "SmilesFailure",
    "from_rdkit",
    "from_smiles",
    "parse_smiles",
]

OnError = Literal["fail", "skip"]

# RDKit's time grows with the square of a molecule, and with the cube of a fused ring system: at these
# bounds it is a second or two. The longest SMILES of MoleculeNet's sets has 580 characters.
MAX_LENGTH = 10_000
MAX_RINGS = 500

_BRACKETS = re.compile(r"\[[^\]]*\]")  # digits in there are isotopes, charges and counts of hydrogen
_RING_BOND = re.compile(r"%\d\d|%\(\d+\)|\d")
_SKIP = 'correct it, drop it, or pass on_error="skip"'


class SmilesFailure(NamedTuple):
    """A SMILES string that could not be read: its place in the input, what stood there, and why."""

    position: int
    smiles: object
    reason: str


class ParsedSmiles(NamedTuple):
    """Molecules that could be read, the input index of each, and what could not be read."""

    molecules: list[Chem.Mol]
    kept: list[int]
    failures: list[SmilesFailure]


def from_smiles(smiles: Iterable[str], on_error: OnError = "fail") -> GraphBatch:
    """Build a batch from SMILES strings; see `GraphBatch.from_smiles`."""
    failures: list[SmilesFailure] = []
    # Molecules are taken apart as they come: all of them at once would fill the memory.
    batch = batch_from_molecules(molecule for _, molecule in _parsed(smiles, on_error, failures))
    _warn_skipped(failures)
    return batch


def parse_smiles(smiles: Iterable[str], on_error: OnError = "fail", *, warn: bool = True) -> ParsedSmiles:
    """Read SMILES strings with RDKit, keeping track of which could be read.

    Parameters
    ----------
    smiles
        One string a molecule.
    on_error
        ``"fail"`` raises at the first string that does not parse; ``"skip"`` leaves such strings out, with
        one warning that counts them.
    warn
        Whether to raise that warning.

    >>> molecules, kept, failures = parse_smiles(["CCO", "c1ccccc1"])
    >>> kept, failures
    ([0, 1], [])
    """
    failures: list[SmilesFailure] = []
    pairs = list(_parsed(smiles, on_error, failures))
    if warn:
        _warn_skipped(failures)
    return ParsedSmiles([molecule for _, molecule in pairs], [index for index, _ in pairs], failures)


def from_rdkit(molecules: Iterable[Chem.Mol]) -> GraphBatch:
    """Build a batch from RDKit molecules; see `GraphBatch.from_rdkit`."""
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
    return batch_from_molecules(cast("list[Chem.Mol]", collected))


def _parsed(
    smiles: Iterable[str], on_error: OnError, failures: list[SmilesFailure]
) -> Iterator[tuple[int, Chem.Mol]]:
    """Yield the index and molecule of each string that parses; raise or note down the others."""
    on_error = checked("on_error", on_error, one_of("fail", "skip"))
    chem = import_extra("rdkit.Chem", "chem")
    base = import_extra("rdkit.rdBase", "chem")
    strings = enumerate(listed(smiles, "smiles"))
    while chunk := list(itertools.islice(strings, 1024)):
        with base.BlockLogs():  # the error raised here says all that RDKit would have logged
            molecules = [None if _refused(text) else _molecule(chem, text) for _, text in chunk]
            for (index, text), molecule in zip(chunk, molecules, strict=True):
                if molecule is None:
                    failures.append(SmilesFailure(index, text, _reason(chem, text)))
                    if on_error == "fail":
                        raise GraphInputError(
                            f"SMILES {shown(text)} cannot be read: {failures[-1].reason}; {_SKIP}",
                            index,
                        )
        yield from (
            (index, molecule) for (index, _), molecule in zip(chunk, molecules, strict=True) if molecule
        )


def _refused(text: object) -> str:
    """Say why a string is not even handed to RDKit; empty where it is."""
    if not is_a(text, str):
        return f"it is of type {type(text).__name__}, not a string"
    if not text.strip():
        return "it is empty"
    if "\0" in text or not (text.isascii() or _is_unicode(text)):
        return "it holds characters that no text has"
    if len(text) > MAX_LENGTH:
        return f"it has {len(text):,} characters, more than the {MAX_LENGTH:,} that are read in bounded time"
    if len(text) > 2 * MAX_RINGS:
        n_rings = len(_RING_BOND.findall(_BRACKETS.sub("", text))) // 2
        if n_rings > MAX_RINGS:
            return f"it closes {n_rings:,} rings, more than the {MAX_RINGS:,} that are read in bounded time"
    return ""


def _reason(chem: ModuleType, text: object) -> str:
    """Say why a string could not be read: its chemistry where the syntax is right."""
    refused = _refused(text)
    if refused:
        return refused
    unchecked = _molecule(chem, text, sanitize=False)
    if unchecked is None:
        return "it is not valid SMILES"
    problems = chem.DetectChemistryProblems(unchecked)
    return problems[0].Message().strip() if problems else "RDKit cannot sanitise it"


def _molecule(chem: ModuleType, text: object, **options: bool) -> Chem.Mol | None:
    try:
        return chem.MolFromSmiles(text, **options)
    except RuntimeError:  # a condition that RDKit checks inside, and does not meet
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
