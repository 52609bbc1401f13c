"""Data sets by name: generated, found locally, or downloaded."""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np

from twinwl.datasets.catalogue.cards import CARDS, CardError, check_card
from twinwl.datasets.catalogue.locations import downloads_folder, find, names_at_hand
from twinwl.datasets.catalogue.moleculenet import MOLECULE_SETS
from twinwl.datasets.catalogue.tu_names import TU_NAMES
from twinwl.datasets.dataset import Dataset
from twinwl.datasets.generators.generated import GENERATED, generate
from twinwl.datasets.parse_cache import parsed
from twinwl.errors import TwinWLError, warn_caller

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_IN_PAIRS = {"EXP", "CEXP"}


def known_names() -> list[str]:
    """Return every name that `load_dataset` knows: generated sets, those with cards, then all others.

    >>> known_names()[:2]
    ['TWINS', 'CSL']
    """
    return list(dict.fromkeys([*GENERATED, *CARDS, *MOLECULE_SETS, *sorted(TU_NAMES, key=str.casefold)]))


def is_known(name: str) -> bool:
    """Return whether a name is that of a known data set, available locally or not.

    >>> is_known("MUTAG"), is_known("MUTAG.zip")
    (True, False)
    """
    return any(name in names for names in (GENERATED, CARDS, MOLECULE_SETS, TU_NAMES))


def check_known(name: str, data_dir: str | Path | None) -> None:
    """Refuse a name that is neither available locally nor in the TU collection.

    >>> check_known("MUTAG", None)
    """
    if name not in TU_NAMES and find(name, data_dir) is None:
        raise TwinWLError(_not_at_hand(name, data_dir))


def split_options(given: str, options: Mapping[str, int]) -> tuple[str, dict[str, int]]:
    """Split a name such as ``TWINS:n_pairs=50`` into the name and its options.

    >>> split_options("TWINS:n_pairs=50", {})
    ('TWINS', {'n_pairs': 50})
    """
    name, _, written = given.partition(":")
    found = dict(options)
    for part in filter(None, written.split(",")):
        key, _, value = (text.strip() for text in part.partition("="))
        if not re.fullmatch(r"-?[0-9]{1,18}", value):
            raise TwinWLError(f"{given!r}: got {part!r}, expected an option as in 'TWINS:n_pairs=50'")
        found[key] = int(value)
    return name, found


def load_generated(name: str, options: Mapping[str, int]) -> Dataset:
    """Generate a data set.

    >>> load_generated("TWINS", {"n_pairs": 2})
    Dataset('TWINS', 4 graphs, 2 classes)
    """
    graphs, y, groups = generate(name, options)
    return Dataset(name, graphs, y, groups, about=GENERATED[name].about)


def load_collection(name: str, data_dir: str | Path | None, progress: bool | None) -> Dataset:
    """Load a set by its name in the TU collection, from a local file or by downloading it."""
    path = find(name, data_dir)
    if path is None or path.parent != downloads_folder() or name not in TU_NAMES:
        return _checked(name, path or _fetched(name, data_dir, progress))
    from twinwl.datasets.catalogue.tu_download import is_intact, set_aside  # noqa: PLC0415

    if is_intact(path):
        try:
            return _checked(name, path)
        except CardError as error:  # a bad download is replaced
            set_aside(path, f"{error}; it is downloaded again")
    return _checked(name, _fetched(name, data_dir, progress))


def read_collection(path: Path, kind: str) -> Dataset:
    """Read a TU data set, or EXP in its authors' text format, from a file or folder; the files give the name.

    Parameters
    ----------
    path
    kind
        ``"tu"`` or ``"exp"``.
    """
    found = parsed(path, kind, lambda: _parse_exp(path) if kind == "exp" else _parse_tu(path))
    return _in_pairs(found) if found.name in _IN_PAIRS else found


def _checked(name: str, path: Path) -> Dataset:
    """Load a set from a file, and compare it with the card of its name."""
    is_text = path.suffix.lower() == ".txt"
    result = replace(read_collection(path, "exp" if is_text else "tu"), name=name, names=())
    if name not in CARDS:
        return result
    # The authors' text form of EXP need not have the order of the zip.
    card = replace(CARDS[name], digest=None) if is_text else CARDS[name]
    check_card(card, result.card, str(path))
    return replace(result, about=card.about)


def _fetched(name: str, data_dir: str | Path | None, progress: bool | None) -> Path:
    check_known(name, data_dir)
    from twinwl.datasets.catalogue.tu_download import downloaded_tu  # noqa: PLC0415  (it brings pooch)

    return downloaded_tu(name, progress)


def _not_at_hand(name: str, data_dir: str | Path | None) -> str:
    if name in _IN_PAIRS:
        return (
            f"{name} was not found, and is not in the TU collection: put {name}.zip in TU format, or its "
            f"authors' text form as {name}/GRAPHSAT.txt, into the folder given by TWINWL_DATA or --data-dir"
        )
    of_folded = {known.casefold(): known for known in [*known_names(), *names_at_hand(data_dir)]}
    close = get_close_matches(name.casefold(), list(of_folded), n=1)
    hint = f"did you mean {of_folded[close[0]]!r}? " if close else ""
    return (
        f"there is no data set or file {name!r}: {hint}'twinwl datasets' lists all names; load your own "
        f"TU zip by its path, or by name from the folder given by TWINWL_DATA or --data-dir"
    )


def _in_pairs(data: Dataset) -> Dataset:
    """Add the pairs of EXP as groups: graphs 2i and 2i + 1 are a pair, with opposite classes."""
    y = data.targets
    if len(y) % 2 or (y[::2] == y[1::2]).any():
        warn_caller(
            f"{data.name} does not consist of pairs with opposite classes, so it is unknown which graphs to "
            "keep together in folds; scores will be misleading"
        )
        return data
    return replace(data, groups=np.repeat(np.arange(len(y) // 2), 2))


def _parse_tu(path: Path) -> Dataset:
    from twinwl.datasets.formats.tu import read_tu  # noqa: PLC0415  (numba)

    content = read_tu(path)
    return Dataset(content.name, content.graphs, content.y)


def _parse_exp(path: Path) -> Dataset:
    from twinwl.datasets.formats.exp_text import read_exp_text  # noqa: PLC0415

    return Dataset("CEXP" if "CEXP" in path.absolute().parts else "EXP", *read_exp_text(path))
