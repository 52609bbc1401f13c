"""TU data sets downloaded from their collection, and checked before use."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from twinwl.datasets.catalogue.download import DownloadError, download
from twinwl.datasets.catalogue.locations import downloads_folder
from twinwl.datasets.catalogue.tu_names import tu_url
from twinwl.datasets.formats.archive_members import ArchiveMembers
from twinwl.errors import warn_caller
from twinwl.files.atomic import atomic_write
from twinwl.files.cache import file_digest

_REQUIRED = ("A", "graph_indicator", "graph_labels")


def downloaded_tu(name: str, progress: bool | None = None) -> Path:
    """Download the zip of a TU data set to the user's cache, and record its checksum.

    Parameters
    ----------
    name
        Name in the TU collection.
    progress
        Whether to show a progress bar; None shows it if standard error is a terminal.

    Returns
    -------
    Path
        The zip, checked by `check_tu_zip`.
    """
    target = downloads_folder() / f"{name}.zip"
    download(tu_url(name), target, check=lambda path: check_tu_zip(path, name), progress=progress)
    with atomic_write(_note(target)) as stream:
        stream.write(f"{file_digest(target)}  {target.name}\n".encode())
    return target


def is_intact(path: Path) -> bool:
    """Return whether a downloaded zip is unchanged; a changed one is set aside, with a warning.

    A zip without a recorded checksum was put there by hand and is not checked.
    """
    note = _note(path)
    if not note.is_file() or note.read_text(encoding="ascii", errors="replace").startswith(file_digest(path)):
        return True
    set_aside(path, f"{path} has changed since it was downloaded; it is downloaded again")
    return False


def set_aside(path: Path, reason: str) -> None:
    """Rename a zip that cannot be used, so that it is downloaded again; warn with the reason."""
    aside = path.with_name(path.name + ".rejected")
    path.replace(aside)
    _note(path).unlink(missing_ok=True)
    warn_caller(f"{reason} (the old file is kept as {aside.name})")


def check_tu_zip(path: Path, name: str) -> None:
    """Refuse a zip that is not the TU data set of that name, or that is dangerous.

    Raises
    ------
    TwinWLError
        If it is not a zip or is damaged, lacks a file, has member names outside its folder, or unpacks to far
        too much data.
    """
    with ArchiveMembers(path) as members:
        present = {PurePosixPath(member).name for member in members.names}
        missing = [f"{name}_{part}.txt" for part in _REQUIRED if f"{name}_{part}.txt" not in present]
        if missing:
            raise DownloadError(f"it lacks {', '.join(missing)}, so it is not the TU data set {name}")
        members.check_sums()


def _note(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")
