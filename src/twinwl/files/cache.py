"""The content-addressed cache: arrays in the user's cache folder, under the digest of what they came from.

The cache may be deleted, read-only, full or damaged; files are then parsed again.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from twinwl.arrays import Values
from twinwl.errors import TwinWLError, warn_caller
from twinwl.files.atomic import atomic_write
from twinwl.user_cache import user_cache


def cache_folder() -> Path:
    """Return the cache folder: ``TWINWL_CACHE``, or ``twinwl`` in the user's cache folder.

    >>> cache_folder().is_absolute()
    True
    """
    chosen = os.environ.get("TWINWL_CACHE")
    if chosen:
        return Path(chosen).expanduser().absolute()
    cache = user_cache()
    if cache is None:
        raise TwinWLError("your home folder is unknown; set TWINWL_CACHE to a folder")
    return cache


def file_digest(path: str | Path) -> str:
    """Return the SHA-256 of a file, or of the files of a folder with their names, as 64 hex digits.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as empty:
    ...     file_digest(empty.name)[:8]
    'e3b0c442'
    """
    path = Path(path)
    try:
        if not path.is_dir():
            if path.exists() and not path.is_file():  # reading a pipe would wait, reading a device never end
                raise TwinWLError(f"cannot read {str(path)!r}: it is a pipe or device, not a file")
            return _digest(path)
        total = hashlib.sha256()
        for part in sorted(path.rglob("*")):
            if part.is_file():
                # Both have a length of their own, so no two folders run together.
                name = os.fsencode(part.relative_to(path).as_posix())
                total.update(hashlib.sha256(name).digest() + bytes.fromhex(_digest(part)))
        return total.hexdigest()
    except OSError as error:
        raise TwinWLError(f"cannot read {str(path)!r}: {error.strerror or error}") from error


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_arrays(key: str) -> dict[str, Values] | None:
    """Return the arrays that were kept under a key, or None where there are none or they are damaged.

    Parameters
    ----------
    key
        A digest of the content and of the version of the form it is kept in, 64 hex digits.
    """
    path = _place(key)
    try:
        # The zip holds a checksum of each array, so damage is noticed; pickled objects are never read.
        with np.load(path, allow_pickle=False) as kept:
            return {name: kept[name] for name in kept.files}
    except Exception:  # noqa: BLE001  (NumPy, zip and zlib have many words for damage)
        return None


def write_arrays(key: str, arrays: Mapping[str, Values]) -> bool:
    """Keep arrays under a key, and return whether they were kept; where that cannot be done, go on.

    A full disk causes a warning, a folder without write permission does not.
    """
    path = _place(key)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as stream:
            np.savez(stream, **arrays)  # type: ignore[arg-type]  # (the stub takes them for allow_pickle)
    except OSError as error:
        if not isinstance(error, PermissionError) and error.errno != errno.EROFS:
            warn_caller(
                f"could not write to the cache {str(path.parent)!r} ({error.strerror or error}): the data is "
                "loaded, but will be parsed again next time; make room there or set TWINWL_CACHE elsewhere"
            )
        return False
    return True


def _place(key: str) -> Path:
    return cache_folder() / "arrays" / key[:2] / f"{key[2:]}.npz"
