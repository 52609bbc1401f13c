"""The decorator of every kernel: numba compiles it once that pays off, and keeps the machine code on disk.

Loading numba takes half a second, and compiling the kernels of a hash takes several. So kernels run as plain
Python while arrays are small; once that has taken as long as loading numba, compiled code is used for good.

The code is kept in ``NUMBA_CACHE_DIR`` where that is set, else in the user's cache folder, else among the
temporary files.
"""

import functools
import logging
import os
import re
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import cache, cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from twinwl.arguments import user_cache
from twinwl.arrays import Fields

_IMPORTED = re.compile(r"^from twinwl\.([\w.]+) import", re.MULTILINE)
_SECONDS_UNUSED = 30 * 24 * 3600
_MAX_ROWS_PLAIN = 512  # rows of an array up to which plain Python is quick enough
_MAX_SECONDS_PLAIN = 0.5  # about the time of loading numba


class Kernel:
    """A function of arrays, in plain Python and compiled; it runs without the GIL.

    With ``NUMBA_DISABLE_JIT=1`` kernels stay plain Python.

    Parameters
    ----------
    function
        Loops over arrays.
    options
        As `numba.njit` takes them, such as ``inline`` or ``fastmath``.
    """

    def __init__(self, function: Callable[..., Any], options: Fields) -> None:
        functools.update_wrapper(self, function)
        self.function, self.options = function, options

    def __call__(self, *args: Any, **named: Any) -> Any:  # noqa: ANN401  (whatever the function takes)
        """Call the function in the faster way."""
        if _PLAIN.inside:
            return self.function(*args, **named)
        # With options such as fastmath compiled code may round differently. Results must not depend on
        # whether numba is loaded, so these kernels are always compiled.
        if self.options or not (_PLAIN.pays and _are_small(args)):
            return self.compiled(*args, **named)
        began, _PLAIN.inside = time.perf_counter(), True
        try:
            with np.errstate(over="ignore"):  # words wrap around
                return self.function(*args, **named)
        finally:
            _PLAIN.inside = False
            _PLAIN.spend(time.perf_counter() - began)

    @cached_property
    def compiled(self) -> Any:  # noqa: ANN401  (numba has no types)
        """The same function compiled; numba compiles it when it is first called."""
        import numba  # noqa: PLC0415  (slow to load)

        file = Path(self.function.__code__.co_filename)
        # Functions typed at a prompt have no file, so numba cannot cache them.
        options = {"nogil": True, "no_cfunc_wrapper": True, "cache": file.is_file()} | self.options
        config = numba.config
        before = config.CACHE_DIR
        config.CACHE_DIR = str(_code_folder(file, config.BOUNDSCHECK))
        try:  # Nothing calls kernels through C, so the code for that need not be compiled.
            compiled = numba.njit(**options)(self.function)
        finally:  # numba reads this setting only while it decorates; other packages keep theirs
            config.CACHE_DIR = before
        namespace = vars(sys.modules[self.function.__module__])
        if namespace.get(self.function.__name__) is self:  # from now on it is called without a detour
            namespace[self.function.__name__] = compiled
        return compiled

    @property
    def _numba_type_(self) -> Any:  # noqa: ANN401
        """What numba asks a global variable for: kernels that call this one call its compiled form."""
        return self.compiled._numba_type_


class _Plain(threading.local):
    """Whether this thread is inside a kernel in plain Python, and whether that still pays.

    ``inside`` belongs to the thread; ``seconds`` is the total of all threads, so it is set on the class.
    """

    inside = False
    seconds = 0.0

    @property
    def pays(self) -> bool:
        return _Plain.seconds < _MAX_SECONDS_PLAIN and "numba" not in sys.modules

    def spend(self, seconds: float) -> None:
        _Plain.seconds += seconds


_PLAIN = _Plain()


def _are_small(args: Any) -> bool:  # noqa: ANN401
    """Return whether no array among the arguments, or in tuples of them, is long."""
    for value in args:
        if isinstance(value, np.ndarray):
            if value.ndim and len(value) > _MAX_ROWS_PLAIN:
                return False
        elif isinstance(value, tuple) and not _are_small(value):
            return False
    return True


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:  # noqa: ANN401
    """Decorate a function of arrays: return a `Kernel`, or the compiled function if numba is already loaded.

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
    made = Kernel(function, options)
    return made.compiled if "numba" in sys.modules else made


@cache
def _code_folder(file: Path, bounds_check: object) -> Path:
    """Return the folder for machine code of the kernels of a file; old folders are removed.

    Its name is a digest of what the code depends on. numba notices a change of the file itself, but not of
    a kernel or a constant in another file, nor of NUMBA_BOUNDSCHECK, nor that the class of an argument is now
    defined elsewhere.
    """
    sources = "".join(sorted(_kernel_sources(file)))
    digest = blake2b(f"{bounds_check} {sources}".encode(), digest_size=10).hexdigest()
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
def _announce() -> None:  # cached, so logged once per process
    logging.getLogger("twinwl").info("compiling once for this machine, which takes some seconds")
