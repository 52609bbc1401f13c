"""Data sets by name: what is known of them, where they are, and how they are loaded.

A name stands for a set that is generated, found in the user's folders, or downloaded. Cards hold the known
figures of a data set, which are compared with the loaded data. Names of the TU collection are listed, so
that a typo does not start a download.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from twinwl.arguments import checked, integer
from twinwl.arrays import AnyPath
from twinwl.datasets.dataset import Card, Dataset, check_card
from twinwl.datasets.formats import ArchiveMembers, ReadOptions, decode
from twinwl.datasets.records import Table, csv_table, parsed
from twinwl.errors import TwinWLError, import_name, nearest, warn_caller
from twinwl.files.storage import cache_folder
from twinwl.terminal import ProgressBar

_PAIRED = {"EXP", "CEXP"}
_ARCHIVES = ("moleculenet_csv.zip", "moleculenet_regression_csv.zip")
_URL = "https://www.chrsmrrs.com/graphkerneldatasets/{name}.zip"
_RETRIES = 2
_TIMEOUT = (10, 60)  # seconds to connect, and between two pieces

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


# Where only graphs and classes are given, they are all that is certain without the file.
CARDS = {
    card.name: card
    for card in [
        Card(
            "MUTAG", "nitro compounds: mutagenic or not",
            188, 3371, 3721, 2, ((-1, 63), (1, 125)), 7, 4, 0,
            "b5b5741f8ab0b351e3097337e8d3cc5b7806ac3c4c02d900dc781a27e565b07f",
        ),
        Card(
            "PTC_MR", "compounds: carcinogenic in male rats or not",
            344, 4915, 5054, 2, ((-1, 192), (1, 152)), 18, 4, 0,
            "ae0a386ec8d320483d1a1de27561ad28d646893ec7519bb1ae1ae23e1e63a8e6",
        ),
        Card(
            "Mutagenicity", "compounds: mutagenic (0) or not (1)",
            4337, 131_488, 133_447, 2, ((0, 2401), (1, 1936)), 14, 3, 2401,
            "dc15b59f9a4fba545045285ee8c44a9d9b19a37df68bb3cac8a07cf954370d2c",
        ),
        Card(
            "NCI1", "compounds: active against lung cancer cells or not",
            4110, 122_747, 132_753, 2, ((0, 2053), (1, 2057)), 37, 0, 428,
            "ea192d25a4117871a09c2cdf902e6cbe0111a471ea0ad0f00d956ec05f3034e5",
        ),
        Card(
            "NCI109", "compounds: active against ovarian cancer cells or not",
            4127, 122_494, 132_604, 2, ((0, 2048), (1, 2079)), 38, 0, 474,
            "f08f6d20fff893085e11cd91ae50ae4230640883b531af0784a6eab781be3cbe",
        ),
        Card(
            "DD", "proteins as graphs of amino acids: enzyme or not",
            1178, 334_925, 843_046, 2, ((1, 691), (2, 487)), 82, 0, 0,
            "0470a0fef217dab03a70d9be2f641686eec67c582bd69cc05c7687dd220961e9",
        ),
        Card(
            "IMDB-BINARY", "ego networks of actors: action or romance",
            1000, 19_773, 96_531, 2, ((0, 500), (1, 500)), 0, 0, 0,
            "16fccd2352f0a1517780c032302cc81e520a0d828e855178bd3544db1911c330",
        ),
        Card(
            "EXP", "pairs of formulas that 1-WL cannot tell apart: satisfiable (1) or not (0)",
            1200, 53_336, 66_130, 2, ((0, 600), (1, 600)), 2, 0, 0,
            "1447f8a33029b6e9a81d29a6cf9334c3a49dff3400f07cf94869eafea52a99b7",
        ),
        Card("CEXP", "EXP with half of its pairs changed so that 1-WL tells them apart", 1200, n_classes=2),
        Card("PROTEINS", "proteins as graphs of structure elements: enzyme or not", 1113, n_classes=2),
        Card("ENZYMES", "enzymes: which of the six top classes", 600, n_classes=6),
        Card("IMDB-MULTI", "ego networks of actors: comedy, romance or science fiction", 1500, n_classes=3),
        Card("REDDIT-BINARY", "threads: question and answer, or discussion", 2000, n_classes=2),
        Card("COLLAB", "ego networks of researchers: which field of physics", 5000, n_classes=3),
    ]
}  # fmt: skip


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


class Generated(NamedTuple):
    """A generated data set: its description, function and first argument, and its size without options."""

    about: str
    function: str
    argument: tuple[str | None, ...]
    n_graphs: int
    n_classes: int


_FAMILIES = {"16-6-2-2": 2, "25-12-5-6": 15, "28-12-6-4": 4}  # graphs with these parameters
_REGULAR = "strongly_regular"
GENERATED = {
    "TWINS": Generated("pairs of molecule-like graphs that 1-WL cannot tell apart", "twins", (), 600, 2),
    "CSL": Generated("circular skip links: which of ten regular graphs", "csl", (), 150, 10),
    "SRG": Generated("strongly regular graphs of three families: which one", _REGULAR, (None,), 210, 21),
    "CFI": Generated("CFI graphs of 19 base graphs: twisted or not", "cfi", (), 380, 2),
} | {
    f"SRG-{family}": Generated(
        "strongly regular graphs of one family: which one", _REGULAR, (family,), 10 * n, n
    )
    for family, n in _FAMILIES.items()
}


def check_generator_options(name: str, options: Mapping[str, int]) -> None:
    """Refuse options that a generator does not have.

    >>> check_generator_options("TWINS", {"n_pairs": 2})
    """
    known = inspect.signature(_generator(name)).parameters
    for option, value in options.items():
        if option not in known:
            raise TwinWLError(f"{name} has no option {option!r}: {nearest(option, known)}")
        checked(f"{name}: {option}", value, integer(0))


def generate(name: str, options: Mapping[str, int]) -> Dataset:
    """Generate a data set by name.

    >>> generate("TWINS", {"n_pairs": 2}).y.tolist()
    [1, 0, 0, 1]
    """
    return replace(Dataset(name, *_generator(name)(**options)), about=GENERATED[name].about)


def _generator(name: str) -> Callable[..., Any]:
    # The list of names must not import the generators.
    return partial(
        import_name("twinwl.datasets.generators", GENERATED[name].function), *GENERATED[name].argument
    )


# ---------------------------------------------------------------------- where they are


def downloads_folder() -> Path:
    """Return the folder of downloads.

    >>> downloads_folder().name
    'downloads'
    """
    return cache_folder() / "downloads"


def data_folders(data_dir: AnyPath | None = None) -> list[Path]:
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


def find(name: str, data_dir: AnyPath | None = None) -> Path | None:
    """Return the file or folder of a data set, or None if it is not available locally.

    A set is in ``NAME.zip``, in a folder ``NAME``, or, for EXP and CEXP, in ``NAME/GRAPHSAT.txt`` or
    ``NAME/raw/GRAPHSAT.txt`` as in their authors' repository. Sets of molecules are found by
    `find_molecules`.

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
        if name in _PAIRED:
            for text in (unpacked / "raw" / "GRAPHSAT.txt", unpacked / "GRAPHSAT.txt"):
                if text.is_file():
                    return text
    return None


def names_at_hand(data_dir: AnyPath | None = None) -> list[str]:
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
    with contextlib.suppress(TwinWLError), ArchiveMembers(path) as members:
        return any(name.endswith(f"{path.stem}_A.txt") for name in members.names)
    return False


def find_molecules(name: str, data_dir: AnyPath | None = None) -> tuple[Path, str | None]:
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


def molecule_table(name: str, data_dir: AnyPath | None) -> tuple[Path, str | None, Table]:
    """Open the table of a MoleculeNet set; return its file, its name in a zip, and the table."""
    path, member = find_molecules(name, data_dir)
    if member is None:
        return path, member, csv_table(str(path))
    where = f"{path}: {member}"
    with ArchiveMembers(path) as members:
        return path, member, csv_table(where, io.StringIO(decode(members.read(member), where), newline=""))


def is_known(name: str) -> bool:
    """Return whether a name is that of a known data set, available locally or not.

    >>> is_known("MUTAG"), is_known("MUTAG.zip")
    (True, False)
    """
    return any(name in names for names in (GENERATED, CARDS, MOLECULE_SETS, TU_NAMES))


def check_known(name: str, data_dir: AnyPath | None) -> None:
    """Refuse a name that is neither available locally nor in the TU collection.

    >>> check_known("MUTAG", None)
    """
    if name in TU_NAMES or find(name, data_dir) is not None:
        return
    if name in _PAIRED:
        raise TwinWLError(
            f"{name} was not found, and is not in the TU collection: put {name}.zip in TU format, or its "
            f"authors' text form as {name}/GRAPHSAT.txt, into the folder given by TWINWL_DATA or --data-dir"
        )
    of_folded = {
        known.casefold(): known
        for known in [*GENERATED, *CARDS, *MOLECULE_SETS, *TU_NAMES, *names_at_hand(data_dir)]
    }
    close = get_close_matches(name.casefold(), list(of_folded), n=1)
    hint = f"did you mean {of_folded[close[0]]!r}? " if close else ""
    raise TwinWLError(
        f"there is no data set or file {name!r}: {hint}'twinwl datasets' lists all names; load your own "
        f"TU zip by its path, or by name from the folder given by TWINWL_DATA or --data-dir"
    )


def split_options(text: str, options: Mapping[str, int]) -> tuple[str, dict[str, int]]:
    """Split a name such as ``TWINS:n_pairs=50`` into the name and its options.

    >>> split_options("TWINS:n_pairs=50", {})
    ('TWINS', {'n_pairs': 50})
    """
    name, _, settings = text.partition(":")
    chosen = dict(options)
    for part in filter(None, settings.split(",")):
        key, _, value = (each.strip() for each in part.partition("="))
        if not re.fullmatch(r"-?[0-9]{1,18}", value):
            raise TwinWLError(f"{text!r}: got {part!r}, expected an option as in 'TWINS:n_pairs=50'")
        chosen[key] = int(value)
    return name, chosen


# ---------------------------------------------------------------------- reading


def read_tu_set(path: Path, _: ReadOptions) -> Dataset:
    """Read a TU data set from a file or folder; the files give the name."""
    data = parsed(path, "tu", lambda: _parser("read_tu")(path))
    return _named_rows(data, path)


def read_exp_set(path: Path, _: ReadOptions) -> Dataset:
    """Read EXP, or CEXP, in its authors' text format."""
    name = "CEXP" if "CEXP" in path.absolute().parts else "EXP"
    data = parsed(path, "exp", lambda: Dataset(name, *_parser("read_exp_text")(path)))
    return _named_rows(data, path)


def _parser(name: str) -> Callable[..., Any]:
    return import_name(
        "twinwl.datasets.graph_files", name
    )  # only where nothing is cached: it is slow to load


def _named_rows(data: Dataset, path: Path) -> Dataset:
    """Name graphs by their file; in EXP graphs 2i and 2i + 1 are a pair, with opposite classes."""
    data = replace(data, names=tuple(f"{path}#{row}" for row in data.rows.tolist()))
    if data.name not in _PAIRED:
        return data
    y = data.targets
    if len(y) % 2 or (y[::2] == y[1::2]).any():
        warn_caller(
            f"{data.name} does not consist of pairs with opposite classes, so it is unknown which graphs to "
            "keep together in folds; scores will be misleading"
        )
        return data
    return replace(data, groups=np.repeat(np.arange(len(y) // 2), 2))


def load_collection(name: str, data_dir: AnyPath | None, progress: bool | None) -> Dataset:
    """Load a set by its name in the TU collection, from a local file or by downloading it."""
    path = find(name, data_dir)
    return _download(name, progress) if path is None else _check_digest(name, path)


class DownloadError(TwinWLError):
    """A file could not be downloaded, or is not what it should be."""


def _download(name: str, progress: bool | None) -> Dataset:
    """Download the zip of a TU data set to the user's cache, and load it; a bad one is not kept."""
    import pooch  # noqa: PLC0415  (it brings requests, and most calls need neither)

    url, target = _URL.format(name=name), downloads_folder() / f"{name}.zip"
    pooch.get_logger().setLevel("ERROR")  # there is a progress bar
    try:
        with ProgressBar(target.name, unit="bytes", show=progress) as bar:
            fetcher = pooch.create(
                target.parent,
                "",
                registry={target.name: None},
                urls={target.name: url},
                retry_if_failed=_RETRIES,
            )
            downloader = pooch.HTTPDownloader(progressbar=_PoochBar(bar), timeout=_TIMEOUT)
            fetcher.fetch(target.name, downloader=downloader)
        return _check_digest(name, target)
    except (OSError, ValueError) as error:  # of requests, the disk, or the file's content
        target.unlink(missing_ok=True)
        raise DownloadError(
            f"could not download {url}: {error}. To put the file there by hand, save {url} as "
            f"{str(target)!r}, or in any folder that TWINWL_DATA (or --data-dir) names"
        ) from error


class _PoochBar:
    """A progress bar with the interface that pooch needs."""

    total = 0

    def __init__(self, bar: ProgressBar) -> None:
        self.bar: ProgressBar | None = bar

    def update(self, n_bytes: int) -> None:
        """Report some bytes."""
        if self.bar is not None:
            self.bar.advance(n_bytes)

    def reset(self) -> None:
        """Stop: pooch reports all once more at the end."""
        self.bar = None

    close = reset


def _check_digest(name: str, path: Path) -> Dataset:
    """Load a set from a file, and compare it with the card of its name."""
    is_text = path.suffix.lower() == ".txt"
    data = (read_exp_set if is_text else read_tu_set)(path, ReadOptions())
    data = replace(data, name=name, names=())
    if name not in CARDS:
        return data
    # The authors' text form of EXP need not have the order of the zip.
    card = replace(CARDS[name], digest=None) if is_text else CARDS[name]
    check_card(card, data.card, str(path))
    return replace(data, about=card.about)


# ---------------------------------------------------------------------- the list of all


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


def catalogue(data_dir: AnyPath | None = None, *, everything: bool = False) -> list[Entry]:
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


def entry_of(name: str, data_dir: AnyPath | None = None) -> Entry:
    """Return the entry of one set.

    >>> entry_of("CSL").source
    'made in code'
    """
    if name in GENERATED:
        about, *_, n_graphs, n_classes = GENERATED[name]
        return Entry(name, "made in code", None, Card(name, about, n_graphs, n_classes=n_classes))
    if name in MOLECULE_SETS:
        where: str | None = None
        with contextlib.suppress(TwinWLError):  # not available locally
            where = ": ".join(str(part) for part in find_molecules(name, data_dir) if part is not None)
        return Entry(name, "MoleculeNet", where, Card(name, MOLECULE_SETS[name].about))
    path = find(name, data_dir)
    source = "TU collection" if name in TU_NAMES else "EXP's authors" if name in CARDS else "your own"
    return Entry(name, source, None if path is None else str(path), CARDS.get(name, Card(name)))
