"""TU data sets fetched from their collection, and looked at before they are let in."""

from __future__ import annotations

import zipfile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from twinwl.datasets.catalogue.download import DownloadError, download
from twinwl.datasets.catalogue.locations import downloads_folder
from twinwl.datasets.catalogue.tu_names import tu_url
from twinwl.errors import warn_caller
from twinwl.files.atomic import atomic_write
from twinwl.files.cache import file_digest

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["check_tu_zip", "downloaded_tu", "is_intact"]

_REQUIRED = ("A", "graph_indicator", "graph_labels")
_MAX_UNPACKED = 16 * 2**30
# A column of equal numbers packs hundreds to one, but a whole set, with its arcs, about six to one.
_MAX_RATIO, _RATIO_FROM = 100, 16 * 2**20


def downloaded_tu(name: str, progress: bool | None = None) -> Path:
    """Download the zip of a TU data set to the user's cache, and note its checksum.

    Parameters
    ----------
    name
        As the TU collection writes it.
    progress
        Whether to show a bar; None where standard error is a terminal.

    Returns
    -------
    Path
        The zip, which `check_tu_zip` has found sound.
    """
    target = downloads_folder() / f"{name}.zip"
    download(tu_url(name), target, check=lambda path: check_tu_zip(path, name), progress=progress)
    with atomic_write(_note(target)) as stream:
        stream.write(f"{file_digest(target)}  {target.name}\n".encode())
    return target


def is_intact(path: Path) -> bool:
    """Say whether a downloaded zip is still what it was; a changed one is set aside, with a warning.

    A zip without a note of its checksum was put there by hand and is taken as it is.
    """
    note = _note(path)
    if not note.is_file() or note.read_text(encoding="ascii", errors="replace").startswith(file_digest(path)):
        return True
    aside = path.with_name(path.name + ".changed")
    path.replace(aside)
    note.unlink(missing_ok=True)
    warn_caller(f"{path} has changed since it was downloaded; it is now {aside.name}, and is downloaded anew")
    return False


def check_tu_zip(path: Path, name: str) -> None:
    """Refuse a zip that is no TU data set of that name, or that would do harm.

    Raises
    ------
    DownloadError
        If it is no zip, lacks a file, has names that lead out of a folder, or unpacks to far too much.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            damaged = archive.testzip() if _is_plausible(members) else None
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, NotImplementedError) as error:
        raise DownloadError(f"what came is no readable zip ({error})") from error
    if not _is_plausible(members):
        unpacked = sum(member.file_size for member in members)
        raise DownloadError(f"it unpacks to {unpacked:,} bytes, which looks like an attack")
    if damaged is not None:
        raise DownloadError(f"{damaged} in it is damaged")
    for member in members:
        place = PurePosixPath(member.filename.replace("\\", "/"))
        if place.is_absolute() or ".." in place.parts:
            raise DownloadError(f"it holds {member.filename!r}, a name that leads out of its folder")
    present = {PurePosixPath(member.filename).name for member in members}
    missing = [f"{name}_{part}.txt" for part in _REQUIRED if f"{name}_{part}.txt" not in present]
    if missing:
        raise DownloadError(f"it lacks {', '.join(missing)}, so it is not the TU data set {name}")


def _is_plausible(members: list[zipfile.ZipInfo]) -> bool:
    unpacked = sum(member.file_size for member in members)
    packed = sum(member.compress_size for member in members)
    return unpacked <= min(_MAX_UNPACKED, max(_RATIO_FROM, _MAX_RATIO * packed))


def _note(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")
