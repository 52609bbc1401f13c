"""The manifest of a finished job: where it is, reading it, and clearing a folder that has one."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

from twinwl.errors import TwinWLError
from twinwl.files.atomic import errors_of_writing

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST, JOURNAL = "manifest.json", "journal.jsonl"
FORMAT = "twinwl corpus 1"
VOCABULARY = "vocabulary.twinwl"
"""File of the vocabulary of features."""
WORK = "work"
"""Folder within that of a job for what it needs only while it runs."""


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a corpus.

    Raises
    ------
    TwinWLError
        If the folder is no corpus, or not finished.
    """
    path = folder / MANIFEST
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
        if found["format"] != FORMAT or not all(
            isinstance(found[name], kind) for name, kind in _PARTS.items()
        ):
            found = {}
    except FileNotFoundError as error:
        if (folder / JOURNAL).exists():
            raise TwinWLError(
                f"{folder}: not finished; run the command that began it again to go on"
            ) from error
        what = "no folder" if not folder.is_dir() else "not a corpus: it has no manifest.json"
        raise TwinWLError(f"{folder}: {what}; make one with twinwl corpus build") from error
    except OSError as error:
        raise TwinWLError(f"cannot read {str(path)!r}: {error.strerror}") from error
    except (ValueError, TypeError, KeyError):
        found = {}
    if not found:
        raise TwinWLError(f"{path}: not the manifest of a corpus, or damaged; build it in another folder")
    return found


_PARTS = {"job": str, "settings": dict, "shards": list}


def clear(folder: Path) -> None:
    """Delete what a job left in a folder, and nothing else: a manifest.json may be of another program."""
    with errors_of_writing(folder):
        noted = [path for path in (folder / MANIFEST, folder / JOURNAL) if path.is_file()]
        if not any(FORMAT.encode() in path.read_bytes()[:100] for path in noted):
            return
        for name in ("shards", "errors", "groups", WORK):
            if (folder / name).is_dir():
                shutil.rmtree(folder / name)
        for path in (folder / VOCABULARY, *noted):  # what tells whose folder it is goes last
            path.unlink(missing_ok=True)
