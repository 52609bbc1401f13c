"""The user's cache folder, for files that can be recreated."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def user_cache() -> Path | None:
    """Return ``twinwl`` in the user's cache folder, or None if the home folder is unknown.

    The user's cache is ``XDG_CACHE_HOME`` or ``~/.cache``, or the equivalent of macOS and Windows.
    """
    xdg = os.environ.get("XDG_CACHE_HOME")
    if xdg and Path(xdg).is_absolute():  # the specification says to pass over relative ones
        return Path(xdg) / "twinwl"
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "twinwl"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "twinwl" / "Cache"
    return home / ".cache" / "twinwl"
