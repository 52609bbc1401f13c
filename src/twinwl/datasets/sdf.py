"""SD files: one molecule per record, with its properties, read record by record.

Each record is converted to SMILES, so that a molecule gives the same graph whether it comes from an SD file
or from a table. A record that cannot be read still counts as a row.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from twinwl.datasets.rows import Row
from twinwl.datasets.text_files import text_lines
from twinwl.errors import first_line, import_extra

if TYPE_CHECKING:
    from rdkit import Chem

END = "$$$$"
"""What the line after each record starts with."""
_MAX_RECORD = 2**22  # characters; a molecule of 10,000 atoms takes about a million
_MAX_ATOMS, _MAX_RINGS = 10_000, 500  # RDKit reads so many in a second or two


def sdf_rows(path: Path, target: str | tuple[str, ...] | None = None) -> Iterator[Row]:
    """Yield one row per record: its SMILES, its title as name, and one of its properties as target.

    Parameters
    ----------
    path
        An SD file, or a file of one molecule (``.mol``).
    target
        The property to read as target, or several; None reads no targets.
    """
    for row, _ in record_rows(text_lines(path, errors="replace"), str(path), target):
        yield row


def record_rows(
    lines: Iterable[tuple[int, str]], name: str, target: str | tuple[str, ...] | None = None
) -> Iterator[tuple[Row, str]]:
    """Yield the rows of numbered lines of an SD file, as `sdf_rows` does, and the text of each record."""
    chem = import_extra("rdkit.Chem", "chem")
    logs = import_extra("rdkit.rdBase", "chem").BlockLogs
    for row, (line, text) in enumerate(_records(lines)):
        title = text.partition("\n")[0].strip()
        with logs():  # the reason kept with the row says all that RDKit would have logged
            smiles, value, problem = _parsed(chem, text, target)
        yield Row(row, line, smiles, title or f"{name}#{row}", value, problem), text


def _records(numbered: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the records of numbered lines, with the number of their first line."""
    lines: list[str] = []
    start, length = 1, 0
    for number, text in numbered:
        if text.startswith(END):
            yield start, "".join(lines)
            lines, start, length = [], number + 1, 0
            continue
        length += len(text)
        if length <= _MAX_RECORD:
            lines.append(text)
        elif lines:
            lines = [" " * (_MAX_RECORD + 1)]  # too long to be read, and kept no longer than that
    if any(text.strip() for text in lines):
        yield start, "".join(lines)


def _parsed(chem: ModuleType, text: str, target: str | tuple[str, ...] | None) -> tuple[str, object, str]:
    """Return the SMILES of a record and its target, or the problem with it."""
    if len(text) > _MAX_RECORD:
        return "", None, f"the record has more than {_MAX_RECORD:,} characters"
    supplier = chem.SDMolSupplier()
    try:
        supplier.SetData(text, sanitize=False, removeHs=False)
        molecule: Chem.Mol | None = supplier[0] if len(supplier) else None
        if molecule is None:
            return "", None, "the record is not a valid mol block"
        n_rings = molecule.GetNumBonds() - molecule.GetNumAtoms() + 1
        if molecule.GetNumAtoms() > _MAX_ATOMS or n_rings > _MAX_RINGS:
            size = f"{molecule.GetNumAtoms():,} atoms and about {max(n_rings, 0):,} rings"
            return "", None, f"it has {size}; the limits are {_MAX_ATOMS:,} and {_MAX_RINGS:,}"
        names = target if isinstance(target, tuple) else () if target is None else (target,)
        cells = tuple(molecule.GetProp(name) if molecule.HasProp(name) else None for name in names)
        value = cells if isinstance(target, tuple) else cells[0] if cells else None
        problems = chem.DetectChemistryProblems(molecule)
        supplier.SetData(text)  # hydrogens and stereo as RDKit sees them by default
        molecule = None if problems else supplier[0]
        if molecule is None:  # sanitising can fail without a problem that was detected
            return "", value, problems[0].Message().strip() if problems else "RDKit cannot sanitise it"
        smiles = chem.MolToSmiles(molecule)
    except (RuntimeError, ValueError, OSError, IndexError, UnicodeError) as error:
        return "", None, f"RDKit cannot read the record ({first_line(error)})"
    return smiles, value, "" if smiles else "the record holds no atoms"


def properties_of(path: Path) -> list[str]:
    """Return the names of the properties of the first record."""
    return list(properties_in(next(_records(text_lines(path, errors="replace")), (0, ""))[1]))


def property_names(path: Path) -> list[str]:
    """Return the names of the properties of all records, in the order of their first use."""
    records = _records(text_lines(path, errors="replace"))
    return list(dict.fromkeys(name for _, text in records for name in properties_in(text)))


def all_properties(path: Path) -> dict[str, list[object]]:
    """Return the title and the properties of every record, by name; None if a record lacks one."""
    columns: dict[str, list[object]] = {}
    row = -1
    for row, (_, text) in enumerate(_records(text_lines(path, errors="replace"))):
        found = {"title": text.partition("\n")[0].strip(), **properties_in(text)}
        for name, value in found.items():
            cells = columns.setdefault(name, [])
            cells += [None] * (row - len(cells))
            cells.append(value)
    for cells in columns.values():
        cells.extend([None] * (row + 1 - len(cells)))
    return columns


def properties_in(text: str) -> dict[str, str]:
    """Read the data items of a record: a line ``> <name>``, then lines up to an empty one."""
    found: dict[str, str] = {}
    lines = iter([line.rstrip("\r") for line in text.split("\n")])
    for line in lines:
        name = line.partition("<")[2].rpartition(">")[0] if line.startswith(">") else ""
        if name:
            found[name] = "\n".join(itertools.takewhile(str.strip, lines))
    return found
