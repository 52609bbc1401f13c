"""The tables of MoleculeNet, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from twinwl.datasets.catalogue.locations import data_folders
from twinwl.datasets.formats.archive_members import ArchiveMembers
from twinwl.errors import TwinWLError

if TYPE_CHECKING:
    from pathlib import Path

_ARCHIVES = ("moleculenet_csv.zip", "moleculenet_regression_csv.zip")


class MoleculeSet(NamedTuple):
    """A table of MoleculeNet: its file, the columns to read, and a description."""

    file: str
    smiles_column: str
    target: str
    about: str


MOLECULE_SETS = {
    "HIV": MoleculeSet("HIV.csv", "smiles", "HIV_active", "compounds: inhibits HIV replication or not"),
    "BBBP": MoleculeSet("BBBP.csv", "smiles", "BBBP", "compounds: passes the blood-brain barrier or not"),
    "BACE": MoleculeSet("bace.csv", "mol", "Class", "compounds: inhibits beta-secretase 1 or not"),
    "ClinTox": MoleculeSet("clintox.csv", "smiles", "CT_TOX", "drugs: failed for toxicity or not"),
    "Tox21": MoleculeSet("tox21.csv", "smiles", "NR-AR", "compounds: toxic in one of twelve assays or not"),
    "ESOL": MoleculeSet(
        "ESOL.csv", "smiles", "measured log solubility in mols per litre", "compounds: solubility in water"
    ),
    "Lipophilicity": MoleculeSet("Lipophilicity.csv", "smiles", "exp", "compounds: solubility in fat"),
}


def find_molecules(name: str, data_dir: str | Path | None = None) -> tuple[Path, str | None]:
    """Return the CSV file of a MoleculeNet set, or the zip that contains it and its name inside.

    Raises
    ------
    TwinWLError
        If it is not available locally; the message says where to put it.
    """
    file = MOLECULE_SETS[name].file
    folders = data_folders(data_dir)
    for folder in folders:
        if (folder / file).is_file():
            return folder / file, None
        for archive in (folder / name for name in _ARCHIVES):
            if archive.is_file():
                with ArchiveMembers(archive) as members:
                    inside = [member for member in members.names if member.rpartition("/")[2] == file]
                if inside:
                    return archive, inside[0]
    raise TwinWLError(
        f"{name} was not found: put MoleculeNet's {file} into {str(folders[0])!r}, or into the folder given "
        "by TWINWL_DATA or --data-dir"
    )
