"""Data sets by name or from local files."""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from twinwl.datasets.catalogue.cards import CARDS, CardError, check_card
from twinwl.datasets.catalogue.locations import downloads_folder, find, names_at_hand
from twinwl.datasets.catalogue.moleculenet import MOLECULE_SETS, find_molecules, parsed_table
from twinwl.datasets.catalogue.tu_names import TU_NAMES
from twinwl.datasets.dataset import Dataset
from twinwl.datasets.formats.parsed_files import ParsedFile, parsed
from twinwl.datasets.generators.generated import GENERATED, generate
from twinwl.errors import TwinWLError, nearest, shown, warn_caller

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.arrays import Int64

__all__ = ["Dataset", "known_names", "load_dataset"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+.-]*")
_TABLES = {".csv", ".tsv"}
_EXP_FILES = {".txt", ".pkl", ".pickle", ".pt"}  # of which only the first is ever read
_FILES = {".zip", *_EXP_FILES, *_TABLES}
_IN_PAIRS = {"EXP", "CEXP"}


def load_dataset(
    name_or_path: str | Path,
    data_dir: str | Path | None = None,
    *,
    smiles_column: str | None = None,
    target: str | None = None,
    on_error: str = "fail",
    progress: bool | None = None,
    **options: int,
) -> Dataset:
    r"""Load graphs and classes by name, or from a file.

    Parameters
    ----------
    name_or_path
        A set of the TU collection (``"MUTAG"``), ``"EXP"`` or ``"CEXP"``, a set made in code (``"TWINS"``,
        ``"CSL"``, ``"SRG"``; options may follow, as in ``"TWINS:n_pairs=50,random_state=1"``), a table of
        MoleculeNet (``"HIV"``), or the path of a TU zip or folder, of the ``GRAPHSAT.txt`` of EXP's authors,
        or of a CSV file with SMILES.
    data_dir
        Where to look first; None takes the folder that the environment variable ``TWINWL_DATA`` names. What
        is not there is taken from the user's cache folder, or downloaded to it.
    smiles_column, target
        Columns of a CSV file; the target may be left out where there is only one other column.
    on_error
        For CSV files: ``"fail"`` at a row that cannot be used, or ``"skip"`` it and count.
    progress
        Whether to show a bar while downloading; None where standard error is a terminal.
    **options
        Options of sets made in code: ``n_pairs``, ``n_copies``, ``random_state``.

    Returns
    -------
    Dataset
        ``graphs``, ``y``, ``name``, ``groups``, ``card``, ``digest``, ``smiles``.

    Raises
    ------
    TwinWLError
        If the name is not known (the nearest is named), a file is not sound, or what was loaded is not what
        the card of the set says.

    Examples
    --------
    >>> twins = load_dataset("TWINS", n_pairs=50)
    >>> twins.graphs[0], twins.groups[:4].tolist()
    (GraphBatch(1 graph, 26 nodes, 27 edges, 5 node labels), [0, 0, 1, 1])
    """
    if not isinstance(name_or_path, str | Path):
        raise TwinWLError(f"the data set is {shown(name_or_path)}; give a name or a path")
    if not str(name_or_path):
        raise TwinWLError("the name of the data set is empty; 'twinwl datasets' lists all names")
    if on_error not in {"fail", "skip"}:
        raise TwinWLError(f"on_error is {on_error!r}: {nearest(on_error, ['fail', 'skip'])}")
    try:
        Path(name_or_path).exists()
    except (
        OSError,
        ValueError,
    ) as error:  # too long for any file, in a folder that is closed to us, a zero byte
        reason = getattr(error, "strerror", error)
        raise TwinWLError(f"{shown(str(name_or_path))}: {reason}; give a name or a path") from error
    columns = {"smiles_column": smiles_column, "target": target}
    if _is_path(name_or_path):
        _refuse(name_or_path, options)
        path = Path(name_or_path).expanduser()
        if path.suffix.lower() in _TABLES:
            return _finished(path.stem, parsed_table(path, None, smiles_column, target, on_error))
        _refuse(name_or_path, columns)
        return _from_file(path)
    name, options = _split_options(str(name_or_path), options)
    if name in MOLECULE_SETS:
        _refuse(name, options)
        known = MOLECULE_SETS[name]
        columns_known = (smiles_column or known.smiles_column, target or known.target)
        content = parsed_table(*find_molecules(name, data_dir), *columns_known, on_error)
        return _finished(name, content, known.about)
    _refuse(name, columns)
    if name in GENERATED:
        graphs, y, groups = generate(name, options)
        return Dataset.from_graphs(graphs, y, name=name, groups=groups, about=GENERATED[name].about)
    _refuse(name, options)
    return _from_collection(name, data_dir, progress)


def known_names() -> list[str]:
    """Return every name that `load_dataset` knows: sets made in code, those with cards, then all others.

    >>> known_names()[:2]
    ['TWINS', 'CSL']
    """
    return list(dict.fromkeys([*GENERATED, *CARDS, *MOLECULE_SETS, *sorted(TU_NAMES, key=str.casefold)]))


def _is_path(given: str | Path) -> bool:
    if isinstance(given, Path):
        return True
    if not _NAME.fullmatch(given.partition(":")[0]):
        return True
    return Path(given).suffix.lower() in _FILES or (given not in known_names() and Path(given).is_dir())


def _refuse(given: str | Path, options: dict[str, str | None] | dict[str, int]) -> None:
    for option, value in options.items():
        if value is not None:
            raise TwinWLError(f"{given} takes no option {option!r}; leave it out")


def _split_options(given: str, options: dict[str, int]) -> tuple[str, dict[str, int]]:
    """Take options out of a name such as ``TWINS:n_pairs=50``."""
    name, _, written = given.partition(":")
    found = dict(options)
    for part in filter(None, written.split(",")):
        key, _, value = (text.strip() for text in part.partition("="))
        if not re.fullmatch(r"-?[0-9]{1,18}", value):
            raise TwinWLError(f"{given!r}: {part!r} is no option; write for example 'TWINS:n_pairs=50'")
        found[key] = int(value)
    return name, found


def _from_collection(name: str, data_dir: str | Path | None, progress: bool | None) -> Dataset:
    """Load a set by its name in the TU collection: at hand, downloaded before, or downloaded now."""
    path = find(name, data_dir)
    if path is None or path.parent != downloads_folder() or name not in TU_NAMES:
        return _checked(name, path or _fetched(name, data_dir, progress))
    from twinwl.datasets.catalogue.tu_download import is_intact, set_aside  # noqa: PLC0415

    if is_intact(path):
        try:
            return _checked(name, path)
        except CardError as error:  # what was downloaded once must not stand in the way for ever
            set_aside(path, f"{error}; it is downloaded again")
    return _checked(name, _fetched(name, data_dir, progress))


def _checked(name: str, path: Path) -> Dataset:
    """Load a set from a file, and compare it with the card of its name."""
    result = _finished(name, _parsed_file(path))
    if name not in CARDS:
        return result
    card = CARDS[name]
    if path.suffix.lower() == ".txt":  # nothing says that the authors' text form has the order of the zip
        card = replace(card, digest=None)
    return replace(result, card=check_card(card, result.card, str(path)))


def _fetched(name: str, data_dir: str | Path | None, progress: bool | None) -> Path:
    if name in _IN_PAIRS:
        raise TwinWLError(
            f"{name} is not at hand, and not in the TU collection: put {name}.zip in TU format, or its "
            f"authors' text form as {name}/GRAPHSAT.txt, into the folder that TWINWL_DATA or --data-dir names"
        )
    if name not in TU_NAMES:
        raise TwinWLError(_unknown(name, data_dir))
    from twinwl.datasets.catalogue.tu_download import downloaded_tu  # noqa: PLC0415  (it brings pooch)

    return downloaded_tu(name, progress)


def _unknown(name: str, data_dir: str | Path | None) -> str:
    of_folded = {known.casefold(): known for known in [*known_names(), *names_at_hand(data_dir)]}
    close = get_close_matches(name.casefold(), list(of_folded), n=1)
    hint = f"did you mean {of_folded[close[0]]!r}? " if close else ""
    return (
        f"there is no data set {name!r}: {hint}'twinwl datasets' lists all names; a TU zip of your own is "
        f"loaded by its path, or by name from the folder that TWINWL_DATA or --data-dir names"
    )


def _from_file(path: Path) -> Dataset:
    if not path.exists():
        raise TwinWLError(
            f"{str(path)!r} does not exist; give a TU zip or folder, GRAPHSAT.txt, or a CSV file"
        )
    content = _parsed_file(path)
    return _finished(content.name, content)


def _finished(name: str, content: ParsedFile, about: str = "") -> Dataset:
    _, graphs, y, smiles, _ = content
    groups = _pairs(name, y) if name in _IN_PAIRS else None
    return Dataset.from_graphs(graphs, y, name=name, groups=groups, smiles=smiles, about=about)


def _pairs(name: str, y: NDArray[np.generic]) -> Int64 | None:
    """Return the pair of each graph of EXP: graphs 2i and 2i + 1 are one, of opposite classes."""
    if len(y) % 2 or (y[::2] == y[1::2]).any():
        warn_caller(
            f"{name} does not come as pairs of opposite classes, so nothing is known of which graphs to keep "
            "together in folds; its figures will mislead"
        )
        return None
    return np.repeat(np.arange(len(y) // 2), 2)


def _parsed_file(path: Path) -> ParsedFile:
    if path.is_file() and path.suffix.lower() in _EXP_FILES:
        name = "CEXP" if "CEXP" in path.absolute().parts else "EXP"
        return parsed(path, "exp-text", _parse_exp_text)._replace(name=name)
    return parsed(path, "tu", _parse_tu)


def _parse_tu(path: Path) -> ParsedFile:
    from twinwl.datasets.formats.tu import read_tu  # noqa: PLC0415  (numba)

    content = read_tu(path)
    return ParsedFile(content.name, content.graphs, content.y)


def _parse_exp_text(path: Path) -> ParsedFile:
    from twinwl.datasets.formats.exp_text import read_exp_text  # noqa: PLC0415

    return ParsedFile("EXP", *read_exp_text(path))
