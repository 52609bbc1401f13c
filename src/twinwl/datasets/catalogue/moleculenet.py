"""Molecules with classes from tables: CSV files of one's own, and those of MoleculeNet by name."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

from twinwl.datasets.catalogue.locations import data_folders
from twinwl.datasets.formats.archive_members import ArchiveMembers
from twinwl.datasets.formats.parsed_files import ParsedFile, parsed
from twinwl.datasets.formats.smiles_csv import only_target, parse_smiles_csv
from twinwl.datasets.formats.text_files import read_bytes
from twinwl.errors import TwinWLError, TwinWLWarning, import_extra

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["MOLECULE_SETS", "MoleculeSet", "find_molecules", "parsed_table"]

_ARCHIVE = "moleculenet_csv.zip"


class MoleculeSet(NamedTuple):
    """A table of MoleculeNet: its file, the columns to take, and what it is about."""

    file: str
    smiles_column: str
    target: str
    about: str


MOLECULE_SETS = {
    "HIV": MoleculeSet("HIV.csv", "smiles", "HIV_active", "compounds: hinders HIV or not"),
    "BBBP": MoleculeSet("BBBP.csv", "smiles", "BBBP", "compounds: pass the blood-brain barrier or not"),
    "BACE": MoleculeSet("bace.csv", "mol", "Class", "compounds: hinder beta-secretase 1 or not"),
    "ClinTox": MoleculeSet("clintox.csv", "smiles", "CT_TOX", "drugs: failed for toxicity or not"),
    "Tox21": MoleculeSet("tox21.csv", "smiles", "NR-AR", "compounds: toxic in one of twelve assays or not"),
}


def find_molecules(name: str, data_dir: str | Path | None = None) -> tuple[Path, str | None]:
    """Return the CSV file of a MoleculeNet set, or the zip that holds it and its name inside.

    Raises
    ------
    TwinWLError
        Where it is not at hand, saying how to put it there.
    """
    file = MOLECULE_SETS[name].file
    folders = data_folders(data_dir)
    for folder in folders:
        if (folder / file).is_file():
            return folder / file, None
        if (folder / _ARCHIVE).is_file():
            with ArchiveMembers(folder / _ARCHIVE) as members:
                inside = [member for member in members.names if member.rpartition("/")[2] == file]
            if inside:
                return folder / _ARCHIVE, inside[0]
    raise TwinWLError(
        f"{name} is not at hand: put MoleculeNet's {file} into {str(folders[0])!r}, or into the folder that "
        "TWINWL_DATA or --data-dir names"
    )


def parsed_table(
    path: Path, member: str | None, smiles_column: str | None, target: str | None, on_error: str = "fail"
) -> ParsedFile:
    """Read molecules and classes from a CSV file, or from the cache where the same file was read before.

    Parameters
    ----------
    path, member
        A CSV file and None, or a zip and the name of the file inside it.
    smiles_column, target, on_error
        As in `read_smiles_csv`; here a target of None stands for the only other column.
    """
    # RDKit decides what parses, so what was read with one version is not taken for another.
    version = import_extra("rdkit", "chem").__version__
    kind = repr(("smiles-csv", member, smiles_column, target, on_error, version))
    return parsed(path, kind, lambda path: _parse(path, member, smiles_column, target, on_error))


def _parse(
    path: Path, member: str | None, smiles_column: str | None, target: str | None, on_error: str
) -> ParsedFile:
    if member is None:
        content, name = read_bytes(path), str(path)
    else:
        with ArchiveMembers(path) as members:
            content, name = members.read(member), f"{path}: {member}"
    target = only_target(content, name, smiles_column) if target is None else target
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TwinWLWarning)
        table = parse_smiles_csv(content, name, smiles_column, target, on_error)
    said = [str(warning.message) for warning in caught if issubclass(warning.category, TwinWLWarning)]
    if table.y is None:
        raise TwinWLError(f"{name}: no classes; name their column with target")
    return ParsedFile(path.stem, table.graphs, table.y, table.smiles, "; ".join(said))
