"""Local folders of data sets: the user's folder first, then the folder of downloads.

Names of the classification sets of the TU collection, so that a typo does not start a download.

Cards: known figures of a data set, which are compared with the loaded data.

The tables of MoleculeNet, by name.
"""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from twinwl.arrays import Values
from twinwl.datasets.text_files import ArchiveMembers
from twinwl.errors import TwinWLError
from twinwl.files.cache import cache_folder

if TYPE_CHECKING:
    from twinwl.graphs.batch import GraphBatch

_EXP_NAMES = {"EXP", "CEXP"}


def downloads_folder() -> Path:
    """Return the folder of downloads.

    >>> downloads_folder().name
    'downloads'
    """
    return cache_folder() / "downloads"


def data_folders(data_dir: str | Path | None = None) -> list[Path]:
    """Return the folders to search: the given one or that of ``TWINWL_DATA``, then that of downloads.

    >>> data_folders(".")[0]
    PosixPath('.')
    """
    chosen = data_dir if data_dir is not None else os.environ.get("TWINWL_DATA")
    if not chosen:
        return [downloads_folder()]
    folder = Path(chosen).expanduser()
    if not folder.is_dir():
        said_by = "TWINWL_DATA" if data_dir is None else "the data folder"
        raise TwinWLError(f"{said_by}: got {str(folder)!r}, which is not a folder; create it or name another")
    return [folder, downloads_folder()]


def find(name: str, data_dir: str | Path | None = None) -> Path | None:
    """Return the file or folder of a data set, or None if it is not available locally.

    A set is in ``NAME.zip``, in a folder ``NAME``, or, for EXP and CEXP, in ``NAME/GRAPHSAT.txt`` or
    ``NAME/raw/GRAPHSAT.txt`` as in their authors' repository. Sets of molecules are found by
    `twinwl.datasets.catalogue.find_molecules`.

    >>> find("no such set") is None
    True
    """
    for folder in data_folders(data_dir):
        archive = folder / f"{name}.zip"
        if archive.is_file():
            return archive
        unpacked = folder / name
        if any(unpacked.glob(f"{name}_A.txt")) or any(unpacked.glob(f"*/{name}_A.txt")):
            return unpacked
        if name in _EXP_NAMES:
            for text in (unpacked / "raw" / "GRAPHSAT.txt", unpacked / "GRAPHSAT.txt"):
                if text.is_file():
                    return text
    return None


def names_at_hand(data_dir: str | Path | None = None) -> list[str]:
    """Return the names of all TU sets in the data folders, zipped or unpacked, known or not.

    >>> isinstance(names_at_hand(), list)
    True
    """
    names: set[str] = set()
    for folder in data_folders(data_dir):
        names |= {path.stem for path in folder.glob("*.zip") if _holds_tu_set(path)}
        names |= {path.name.removesuffix("_A.txt") for path in folder.glob("*/*_A.txt")}
    return sorted(names)


def _holds_tu_set(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.endswith(f"{path.stem}_A.txt") for name in archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return False


_URL = "https://www.chrsmrrs.com/graphkerneldatasets/{name}.zip"

_MOLECULES = """
AIDS BZR BZR_MD COX2 COX2_MD DHFR DHFR_MD ER_MD FRANKENSTEIN MCF-7 MCF-7H MOLT-4 MOLT-4H
Mutagenicity MUTAG NCI1 NCI109 NCI-H23 NCI-H23H OVCAR-8 OVCAR-8H P388 P388H PC-3 PC-3H PTC_FM PTC_FR
PTC_MM PTC_MR SF-295 SF-295H SN12C SN12CH SW-620 SW-620H UACC257 UACC257H Yeast YeastH
"""
_TOX21 = "AhR AR AR-LBD ARE aromatase ATAD5 ER ER-LBD HSE MMP p53 PPAR-gamma"
_BIOINFORMATICS = "DD ENZYMES KKI OHSU Peking_1 PROTEINS PROTEINS_full"
_VISION = """
COIL-DEL COIL-RAG Cuneiform Fingerprint FIRSTMM_DB Letter-high Letter-low Letter-med MSRC_9 MSRC_21
MSRC_21C
"""
_SOCIAL = """
COLLAB dblp_ct1 dblp_ct2 DBLP_v1 deezer_ego_nets facebook_ct1 facebook_ct2 github_stargazers
highschool_ct1 highschool_ct2 IMDB-BINARY IMDB-MULTI infectious_ct1 infectious_ct2 mit_ct1 mit_ct2
REDDIT-BINARY REDDIT-MULTI-5K REDDIT-MULTI-12K reddit_threads tumblr_ct1 tumblr_ct2 twitch_egos
TWITTER-Real-Graph-Partial
"""
_SYNTHETIC = "COLORS-3 SYNTHETIC SYNTHETICnew Synthie TRIANGLES"

TU_NAMES = (
    *_MOLECULES.split(),
    *(f"Tox21_{assay}_{part}" for assay in _TOX21.split() for part in ("training", "testing", "evaluation")),
    *_BIOINFORMATICS.split(),
    *_VISION.split(),
    *_SOCIAL.split(),
    *_SYNTHETIC.split(),
)


def tu_url(name: str) -> str:
    """Return the address of a data set of the TU collection.

    >>> tu_url("MUTAG").startswith("https://")
    True
    """
    return _URL.format(name=name)


ClassValue: TypeAlias = "int | float | str"


class CardError(TwinWLError):
    """The loaded data do not match the card of the data set."""


@dataclass(frozen=True, slots=True)
class Card:
    """The figures of a data set; None if a figure is not known in advance.

    Attributes
    ----------
    name, about : str
        Name, and a one-line description of the graphs and classes.
    n_graphs, n_nodes, n_edges, n_classes : int or None
        There are no classes if the targets are measurements.
    classes : tuple of (class, number of its graphs), or None
        Sorted by class.
    n_node_labels, n_edge_labels : int or None
        Number of different labels; 0 if there are none.
    n_isolated : int or None
        Nodes without an edge.
    digest : str or None
        `twinwl.datasets.dataset.content_digest` of the graphs, classes and groups.

    >>> CARDS["MUTAG"].n_graphs, CARDS["MUTAG"].classes
    (188, ((-1, 63), (1, 125)))
    """

    name: str
    about: str = ""
    n_graphs: int | None = None
    n_nodes: int | None = None
    n_edges: int | None = None
    n_classes: int | None = None
    classes: tuple[tuple[ClassValue, int], ...] | None = None
    n_node_labels: int | None = None
    n_edge_labels: int | None = None
    n_isolated: int | None = None
    digest: str | None = None

    def as_dict(self) -> dict[str, object]:
        """Return the card as plain values, for JSON; classes become strings.

        >>> Card("X", n_graphs=2).as_dict()["n_graphs"]
        2
        """
        plain: dict[str, object] = {name: getattr(self, name) for name in ("name", "about", *_FIGURES)}
        if self.classes is not None:
            plain["classes"] = {str(value): count for value, count in self.classes}
        return plain


_FIGURES = {
    "n_graphs": "graphs",
    "n_nodes": "nodes",
    "n_edges": "edges",
    "n_classes": "classes",
    "classes": "graphs by class",
    "n_node_labels": "node labels",
    "n_edge_labels": "edge labels",
    "n_isolated": "isolated nodes",
}


def measure(name: str, graphs: GraphBatch, y: Values | None, about: str = "") -> Card:
    """Compute the card of a data set from its graphs and, if it has any, its classes.

    >>> from twinwl.graphs.batch import GraphBatch
    >>> measure("tiny", GraphBatch.from_edges([[(0, 1)], []], num_nodes=[2, 1]), np.array([1, 0])).n_isolated
    1
    """
    several = y is not None and y.ndim > 1
    values, counts = np.unique(np.empty(0) if y is None or several else y, return_counts=True)
    measured = several or (values.dtype.kind == "f" and bool((values != np.floor(values)).any()))
    edge_codes = graphs.edge_labels
    return Card(
        name,
        about,
        n_graphs=len(graphs),
        n_nodes=graphs.n_nodes,
        n_edges=graphs.n_edges,
        n_classes=None if measured else len(values),
        classes=None if measured else tuple(zip(values.tolist(), counts.tolist(), strict=True)),
        n_node_labels=len(np.unique(graphs.node_labels)) if graphs.has_node_labels else 0,
        n_edge_labels=0 if edge_codes is None else len(np.unique(edge_codes)),
        n_isolated=int((np.diff(graphs.indptr) == 0).sum()),
    )


def check_card(card: Card, found: Card, where: str) -> Card:
    """Return the card with every figure filled in, or raise an error that lists the differences.

    Parameters
    ----------
    card
        The known figures.
    found
        The measured figures.
    where
        The file the data came from.

    Raises
    ------
    CardError
        If a figure differs; the message has the expected and the actual value of each. The digest is
        mentioned only if no other figure differs.

    >>> check_card(Card("X", n_graphs=2), Card("X", n_graphs=2, n_nodes=9), "X.zip").n_nodes
    9
    """
    differences = []
    for name, title in _FIGURES.items():
        expected, measured = getattr(card, name), getattr(found, name)
        if expected is not None and expected != measured:
            differences.append(f"{title}: {_shown(expected)} on the card, {_shown(measured)} in the file")
    if not differences and card.digest not in {None, found.digest}:
        differences = [f"the digest of its graphs and classes is {found.digest}, expected {card.digest}"]
    if differences:
        raise CardError(
            f"{where} is not the known data set {card.name}: {'; '.join(differences)}. "
            "Get it again, or give its path instead of its name if the difference is intended"
        )
    return replace(found, name=card.name, about=card.about or found.about)


def _shown(figure: object) -> str:
    if isinstance(figure, tuple):
        return ", ".join(f"{value}: {count:,}" for value, count in figure)
    return f"{figure:,}"


def _known(
    name: str,
    about: str,
    n_graphs: int,
    n_nodes: int | None = None,
    n_edges: int | None = None,
    counts: dict[int, int] | None = None,
    n_classes: int | None = None,
    labels: tuple[int, int, int] | tuple[None, None, None] = (None, None, None),
    digest: str | None = None,
) -> Card:
    """Build a card; ``labels`` are the numbers of node labels, edge labels and isolated nodes."""
    classes = None if counts is None else tuple(sorted(counts.items()))
    n_classes = n_classes if counts is None else len(counts)
    known = Card(name, about, n_graphs, n_nodes, n_edges, n_classes, classes, *labels)
    return replace(known, digest=digest)


# Where only graphs and classes are given, they are all that is certain without the file.
CARDS: dict[str, Card] = {
    card.name: card
    for card in [
        _known(
            "MUTAG", "nitro compounds: mutagenic or not",
            188, 3371, 3721, {-1: 63, 1: 125}, labels=(7, 4, 0),
            digest="b5b5741f8ab0b351e3097337e8d3cc5b7806ac3c4c02d900dc781a27e565b07f",
        ),
        _known(
            "PTC_MR", "compounds: carcinogenic in male rats or not",
            344, 4915, 5054, {-1: 192, 1: 152}, labels=(18, 4, 0),
            digest="ae0a386ec8d320483d1a1de27561ad28d646893ec7519bb1ae1ae23e1e63a8e6",
        ),
        _known(
            "Mutagenicity", "compounds: mutagenic (0) or not (1)",
            4337, 131_488, 133_447, {0: 2401, 1: 1936}, labels=(14, 3, 2401),
            digest="dc15b59f9a4fba545045285ee8c44a9d9b19a37df68bb3cac8a07cf954370d2c",
        ),
        _known(
            "NCI1", "compounds: active against lung cancer cells or not",
            4110, 122_747, 132_753, {0: 2053, 1: 2057}, labels=(37, 0, 428),
            digest="ea192d25a4117871a09c2cdf902e6cbe0111a471ea0ad0f00d956ec05f3034e5",
        ),
        _known(
            "NCI109", "compounds: active against ovarian cancer cells or not",
            4127, 122_494, 132_604, {0: 2048, 1: 2079}, labels=(38, 0, 474),
            digest="f08f6d20fff893085e11cd91ae50ae4230640883b531af0784a6eab781be3cbe",
        ),
        _known(
            "DD", "proteins as graphs of amino acids: enzyme or not",
            1178, 334_925, 843_046, {1: 691, 2: 487}, labels=(82, 0, 0),
            digest="0470a0fef217dab03a70d9be2f641686eec67c582bd69cc05c7687dd220961e9",
        ),
        _known(
            "IMDB-BINARY", "ego networks of actors: action or romance",
            1000, 19_773, 96_531, {0: 500, 1: 500}, labels=(0, 0, 0),
            digest="16fccd2352f0a1517780c032302cc81e520a0d828e855178bd3544db1911c330",
        ),
        _known(
            "EXP", "pairs of formulas that 1-WL cannot tell apart: satisfiable (1) or not (0)",
            1200, 53_336, 66_130, {0: 600, 1: 600}, labels=(2, 0, 0),
            digest="1447f8a33029b6e9a81d29a6cf9334c3a49dff3400f07cf94869eafea52a99b7",
        ),
        _known("CEXP", "EXP with half of its pairs changed so that 1-WL tells them apart", 1200, n_classes=2),
        _known("PROTEINS", "proteins as graphs of structure elements: enzyme or not", 1113, n_classes=2),
        _known("ENZYMES", "enzymes: which of the six top classes", 600, n_classes=6),
        _known("IMDB-MULTI", "ego networks of actors: comedy, romance or science fiction", 1500, n_classes=3),
        _known("REDDIT-BINARY", "threads: question and answer, or discussion", 2000, n_classes=2),
        _known("COLLAB", "ego networks of researchers: which field of physics", 5000, n_classes=3),
    ]
}  # fmt: skip


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
