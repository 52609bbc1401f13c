"""The catalogue: which data sets are known, and which of them are available locally."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from twinwl.datasets.catalogue.cards import CARDS, Card
from twinwl.datasets.catalogue.locations import find, names_at_hand
from twinwl.datasets.catalogue.moleculenet import MOLECULE_SETS, find_molecules
from twinwl.datasets.catalogue.tu_names import TU_NAMES
from twinwl.datasets.generators.generated import GENERATED
from twinwl.errors import TwinWLError

if TYPE_CHECKING:
    from pathlib import Path


class Entry(NamedTuple):
    """One line of the catalogue.

    Attributes
    ----------
    name : str
    source : str
        ``"made in code"``, ``"TU collection"``, ``"EXP's authors"``, ``"MoleculeNet"`` or ``"your own"``.
    where : str or None
        The file it would be loaded from; None if it is not available locally.
    card : Card
        Its figures, as far as they are known without loading it.
    """

    name: str
    source: str
    where: str | None
    card: Card

    @property
    def ready(self) -> bool:
        """Whether it can be loaded without a download."""
        return self.where is not None or self.source == "made in code"


def catalogue(data_dir: str | Path | None = None, *, everything: bool = False) -> list[Entry]:
    """List generated sets, those with cards, molecules, and all others that are available locally.

    Parameters
    ----------
    data_dir
        Folder to search; None uses ``TWINWL_DATA``.
    everything
        Whether to list all names of the TU collection too.

    >>> [entry.name for entry in catalogue()][:3]
    ['TWINS', 'CSL', 'SRG']
    """
    names = [*GENERATED, *CARDS, *MOLECULE_SETS, *names_at_hand(data_dir)]
    if everything:
        names += sorted(TU_NAMES, key=str.casefold)
    return [entry_of(name, data_dir) for name in dict.fromkeys(names)]


def entry_of(name: str, data_dir: str | Path | None = None) -> Entry:
    """Return the entry of one set.

    >>> entry_of("CSL").source
    'made in code'
    """
    if name in GENERATED:
        about, _, n_graphs, n_classes = GENERATED[name]
        return Entry(name, "made in code", None, Card(name, about, n_graphs, n_classes=n_classes))
    if name in MOLECULE_SETS:
        return Entry(name, "MoleculeNet", _molecules(name, data_dir), Card(name, MOLECULE_SETS[name].about))
    path = find(name, data_dir)
    source = "TU collection" if name in TU_NAMES else "EXP's authors" if name in CARDS else "your own"
    return Entry(name, source, None if path is None else str(path), CARDS.get(name, Card(name)))


def _molecules(name: str, data_dir: str | Path | None) -> str | None:
    try:
        path, member = find_molecules(name, data_dir)
    except TwinWLError:
        return None
    return str(path) if member is None else f"{path}: {member}"
