"""Local folders of data sets: the user's folder first, then the folder of downloads."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

from twinwl.errors import TwinWLError
from twinwl.files.cache import cache_folder

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
    `twinwl.datasets.catalogue.moleculenet.find_molecules`.

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
