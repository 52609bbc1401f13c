"""The decorator of every kernel: compiled at its first call, kept on disk, without the GIL."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from numba import config
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher

from twinwl.compilation.code_cache import CodeCache, code_folder

if TYPE_CHECKING:
    from collections.abc import Callable

_LOG = logging.getLogger("twinwl")
_SECONDS_BEFORE_NOTICE = 1.0


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:  # noqa: ANN401  (numba has no types)
    """Compile a function with numba, in place of ``njit(cache=True, nogil=True)``.

    A kernel is compiled when it is first called with arguments of some types. Compiling takes seconds, so its
    machine code is kept (see `twinwl.compilation.code_cache`), and processes that start together take turns.
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
    if config.DISABLE_JIT:
        return function
    # Nothing calls kernels through C, so the code for that need not be compiled.
    fixed = {"nopython": True, "nogil": True, "no_cfunc_wrapper": True}
    return _Kernel(py_func=function, targetoptions=fixed | options)


class _Kernel(CPUDispatcher):
    """A function that numba compiles, with our cache in the place of numba's."""

    def __init__(self, *args: Any, **more: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **more)
        self._cache = CodeCache(self.py_func, self.targetoptions)

    def compile(self, sig: Any) -> Any:  # noqa: ANN401
        """Load or compile the kernel for some types of arguments."""
        with global_compiler_lock:
            if _clock.running:  # a kernel that is being compiled calls this one
                _clock.tell_once()
                return super().compile(sig)
            if self._cache.holds(sig, self.targetctx):
                return super().compile(sig)
            with self._cache.turn(sig, self.targetctx), _clock:
                return super().compile(sig)


class _Clock:
    """Adds up the time this process spends on compiling, and logs a line if it takes long."""

    def __init__(self) -> None:
        self.running = False
        self._begin = self._seconds = 0.0
        self._told = False

    def __enter__(self) -> None:
        self.running, self._begin = True, time.perf_counter()
        self.tell_once()

    def __exit__(self, *_: object) -> None:
        self.running = False
        self._seconds += time.perf_counter() - self._begin

    def tell_once(self) -> None:
        """Log one line once compiling has taken a while."""
        if self._told or self._seconds + time.perf_counter() - self._begin < _SECONDS_BEFORE_NOTICE:
            return
        self._told = True
        _LOG.info(
            "compiling once for this machine, which takes some seconds"
            if code_folder()
            else "compiling, at every start: no cache folder can be written to; set NUMBA_CACHE_DIR to one"
        )


_clock = _Clock()
