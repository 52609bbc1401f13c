"""The decorator of every kernel: numba compiles it at its first call and keeps the machine code on disk.

The code is kept in ``NUMBA_CACHE_DIR`` where that is set, else in the user's cache folder, else among the
temporary files.
"""

import logging
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numba

from twinwl.arguments import user_cache

_IMPORTED = re.compile(r"^from twinwl\.([\w.]+) import", re.MULTILINE)
_SECONDS_UNUSED = 30 * 24 * 3600


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:  # noqa: ANN401  (numba has no types)
    """Compile a function of arrays with numba when it is first called; it runs without the GIL.

    With ``NUMBA_DISABLE_JIT=1`` kernels stay plain Python.

    Parameters
    ----------
    function
        Loops over arrays.
    options
        As `numba.njit` takes them, such as ``inline`` or ``fastmath``.

    >>> import numpy as np
    >>> @kernel
    ... def total(numbers):
    ...     result = 0
    ...     for number in numbers:
    ...         result += number
    ...     return result
    >>> int(total(np.arange(4)))
    6
    """
    if function is None:
        return lambda decorated: kernel(decorated, **options)
    file = Path(function.__code__.co_filename)
    options["cache"] = file.is_file()  # what was typed at a prompt cannot be found again
    config = numba.config
    before, config.CACHE_DIR = config.CACHE_DIR, str(_code_folder(file))
    try:  # Nothing calls kernels through C, so the code for that need not be compiled.
        return numba.njit(nogil=True, no_cfunc_wrapper=True, **options)(function)
    finally:
        config.CACHE_DIR = before  # numba has chosen the folder; those of other packages stay as they were


@cache
def _code_folder(file: Path) -> Path:
    """Return the folder for machine code of the kernels of a file; old folders are removed.

    Its name is a digest of what the code depends on. numba notices a change of the file itself, but not of
    a kernel or a constant in another file, nor of NUMBA_BOUNDSCHECK, nor that a type has moved.
    """
    sources = "".join(sorted(_kernel_sources(file)))
    digest = blake2b(f"{numba.config.BOUNDSCHECK} {sources}".encode(), digest_size=10).hexdigest()
    folder = _base_folder() / digest
    if not folder.exists():
        _announce()
        for other in _base_folder().iterdir():
            if other.stat().st_mtime < time.time() - _SECONDS_UNUSED:
                shutil.rmtree(other, ignore_errors=True)
    return folder


@cache
def _base_folder() -> Path:
    chosen, own = os.environ.get("NUMBA_CACHE_DIR"), user_cache()
    for folder in [chosen and Path(chosen, "twinwl").absolute(), own and own / "kernels"]:
        try:
            if folder:
                folder.mkdir(parents=True, exist_ok=True)
                tempfile.TemporaryFile(dir=folder).close()
                return folder
        except OSError:  # read-only, full, or not a folder
            continue
    user = getattr(os, "getuid", int)()
    temporary = Path(tempfile.gettempdir(), f"twinwl-{user}")
    temporary.mkdir(mode=0o700, exist_ok=True)
    # Another user may have made the folder first, with other code in it.
    mine = temporary.lstat().st_uid == user
    return temporary if mine else Path(tempfile.mkdtemp(prefix="twinwl-"))


@cache
def _kernel_sources(file: Path) -> frozenset[str]:
    """Return the text of a file with kernels and of those it imports, in turn."""
    text = file.read_text("utf-8") if file.is_file() else ""
    if "@kernel" not in text:
        return frozenset()
    names = _IMPORTED.findall(text)
    imported = [Path(__file__).parent.joinpath(*name.split(".")).with_suffix(".py") for name in names]
    return frozenset({text}).union(*map(_kernel_sources, imported))


@cache
def _announce() -> None:
    logging.getLogger("twinwl").info("compiling once for this machine, which takes some seconds")
