"""Where machine code is kept: one file for each kernel and types of arguments, named by what it depends on.

A file gets its final name when it is whole and is never changed, so processes that compile at the same time
cannot damage one another's files. (numba's own cache numbers its files in an index that all of them rewrite.)
The cache may be deleted, read-only, full or damaged; kernels are then compiled again.

The decorator of every kernel: compiled at its first call, kept on disk, without the GIL.
"""

from __future__ import annotations

import logging
import os
import pickle
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numba
import numpy as np
from numba import config
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps

from twinwl.user_cache import user_cache

try:
    import fcntl
except ImportError:  # Windows: processes that start at the same time each compile for themselves
    fcntl = None  # type: ignore[assignment]

# Files of one kernel beyond this number belong to versions of it that are long gone.
_FILES_OF_ONE_KERNEL = 24
_CHECKSUM_BYTES = 16
_PATIENCE_IN_SECONDS = 60.0
_PAUSE_IN_SECONDS = 0.05

_patient = True
# Code with checks of all indices (NUMBA_BOUNDSCHECK) is other code.
_TOOLS = (sys.version, numba.__version__, np.__version__, numba.config.BOUNDSCHECK)
_CONSTANTS = (bool, int, float, complex, str, bytes, np.generic, np.dtype, type(None))


@lru_cache(maxsize=1)
def code_folder() -> Path | None:
    """Return the folder for machine code, or None where no folder can be written to.

    ``NUMBA_CACHE_DIR`` where that is set, else ``kernels`` in the user's cache, else a private folder among
    the temporary files.
    """
    chosen, cache = os.environ.get("NUMBA_CACHE_DIR"), user_cache()
    candidates = [Path(chosen).absolute() / "twinwl"] if chosen else []
    candidates += [cache / "kernels"] if cache else []
    with suppress(OSError):  # not even a folder for temporary files
        candidates.append(Path(tempfile.gettempdir()) / f"twinwl-kernels-{_user()}")
    return next((folder for folder in candidates if _can_be_used(folder)), None)


class CodeCache:
    """What numba asks for the machine code of one kernel.

    Parameters
    ----------
    function
        The kernel as Python knows it.
    options
        How it is compiled.
    """

    def __init__(self, function: FunctionType, options: dict[str, Any]) -> None:
        self._function = function
        self._options = sorted(options.items())

    @property
    def cache_path(self) -> str:
        """The folder, as numba's statistics show it."""
        return str(code_folder())

    def path(self, types: object, context: Any) -> Path | None:  # noqa: ANN401  (numba has no types)
        """Return the file of the kernel for some types of arguments, whether there is one or not."""
        folder = code_folder()
        if folder is None:
            return None
        target = context.codegen().magic_tuple()
        digits = fingerprint(self._function, self._options, _described(types), target)
        name = f"{self._function.__module__}.{self._function.__qualname__}"
        return folder / f"{name}-{digits}.nbc"

    def load_overload(self, types: object, context: Any) -> Any:  # noqa: ANN401
        """Return the compiled kernel for some types of arguments, or None."""
        context.refresh()
        path = self.path(types, context)
        try:
            data = b"" if path is None else path.read_bytes()
        except OSError:
            return None
        payload = data[_CHECKSUM_BYTES:]
        if not data or data[:_CHECKSUM_BYTES] != _checksum(payload):
            return None
        try:
            return CompileResult._rebuild(context, *pickle.loads(payload))  # noqa: S301, SLF001  (as numba does)
        except ImportError:  # code of another version, whose modules had other names
            return None

    def save_overload(self, types: object, result: Any) -> None:  # noqa: ANN401
        """Keep a compiled kernel; where that fails, the next process compiles it again."""
        path = self.path(types, result.target_context)
        if path is None or result.library.has_dynamic_globals:
            return
        payload = dumps(result._reduce())  # noqa: SLF001
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        with suppress(OSError):
            part.write_bytes(_checksum(payload) + payload)
            part.replace(path)
            _remove_oldest(path)

    def holds(self, types: object, context: Any) -> bool:  # noqa: ANN401
        """Tell whether there is code for some types of arguments."""
        path = self.path(types, context)
        return path is not None and path.exists()

    @contextmanager
    def turn(self, types: object, context: Any) -> Iterator[None]:  # noqa: ANN401
        """Wait while another process compiles this kernel, or too long."""
        path = self.path(types, context)
        lock = None
        with suppress(OSError):  # sixteen locks for all kernels, so that the folder does not fill with them
            lock = (
                None if path is None or fcntl is None else (path.parent / f"lock-{path.stem[-1]}").open("wb")
            )
        if path is None or lock is None:
            yield
            return
        with lock:  # closing the file gives the lock back
            _wait_for_lock(lock.fileno(), path)
            yield


def fingerprint(function: FunctionType, *context: object) -> str:
    """Return 32 hex digits for a function, all that it calls and every constant it reads.

    numba's own cache looks at the file of the function alone, and so misses a change of a kernel or a
    constant that lies in another file.

    Parameters
    ----------
    function
        The function as Python knows it.
    context
        What else decides, such as the types of the arguments.

    >>> def double(x): return x + x
    >>> fingerprint(double, "int64") == fingerprint(double, "int64")
    True
    >>> fingerprint(double, "int64") == fingerprint(double, "int32")
    False
    """
    digest = blake2b(digest_size=16)
    for part in (*_TOOLS, *context, *_parts(function, set())):
        word = str(part).encode()
        digest.update(len(word).to_bytes(8, "little") + word)
    return digest.hexdigest()


def _described(types: Any) -> str:  # noqa: ANN401
    """Write types with the class of named tuples and their fields, which numba reads by place."""
    if isinstance(types, tuple):
        return ", ".join(map(_described, types))
    if hasattr(types, "fields"):
        home = types.instance_class
        return f"{home.__module__}.{home.__qualname__} {types.fields} ({_described(tuple(types))})"
    return str(types)


def _wait_for_lock(descriptor: int, path: Path) -> None:
    global _patient  # noqa: PLW0603  (one process that hangs must not delay every kernel)
    end = time.monotonic() + _PATIENCE_IN_SECONDS
    while _patient and not path.exists():
        with suppress(BlockingIOError):
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        time.sleep(_PAUSE_IN_SECONDS)
        _patient = time.monotonic() < end


def _can_be_used(folder: Path) -> bool:
    """Return whether a folder is writable and, among temporary files, belongs to this user."""
    try:
        folder.mkdir(parents=True, mode=0o700, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        if folder.parent != Path(tempfile.gettempdir()) or not hasattr(os, "getuid"):
            return True
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def _checksum(payload: bytes) -> bytes:
    return blake2b(payload, digest_size=_CHECKSUM_BYTES).digest()


def _remove_oldest(path: Path) -> None:
    kernel = path.name.rpartition("-")[0]
    files = sorted(path.parent.glob(f"{kernel}-*"), key=lambda file: file.stat().st_mtime)
    for file in files[:-_FILES_OF_ONE_KERNEL]:
        file.unlink(missing_ok=True)


def _parts(function: FunctionType, seen: set[int]) -> Iterator[object]:
    """Yield all that decides what a function does, those it calls included, each once."""
    if id(function) in seen:
        return
    seen.add(id(function))
    names: set[str] = set()
    yield from _parts_of_code(function.__code__, names)
    found = {name: function.__globals__[name] for name in sorted(names) if name in function.__globals__}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)
    for name, value in (*found.items(), *((name, cell.cell_contents) for name, cell in cells)):
        yield name
        inner = getattr(value, "py_func", None)
        if inner is not None:
            yield sorted(value.targetoptions.items())
            yield from _parts(inner, seen)
        else:
            yield _constant(value)


def _parts_of_code(code: CodeType, names: set[str]) -> Iterator[object]:
    yield from (code.co_name, code.co_code.hex(), code.co_argcount, code.co_varnames, code.co_names)
    names.update(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts_of_code(constant, names)
        else:
            yield _constant(constant)


def _constant(value: object) -> str:
    """Write what a name stands for; of a module, type or function of another package only its name."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_constant, value))})"
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(_constant, value)))}}}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    if hasattr(value, "_fields"):  # a kind of named tuple: numba reads its fields by place
        return f"{value} {value._fields}"
    if isinstance(value, _CONSTANTS):
        return f"{type(value).__name__} {value!r}"
    return f"{getattr(value, '__module__', None)}.{getattr(value, '__qualname__', type(value).__name__)}"


_LOG = logging.getLogger("twinwl")
_SECONDS_BEFORE_NOTICE = 1.0


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:  # noqa: ANN401  (numba has no types)
    """Compile a function with numba, in place of ``njit(cache=True, nogil=True)``.

    A kernel is compiled when it is first called with arguments of some types. Compiling takes seconds, so its
    machine code is kept (see `twinwl.compilation`), and processes that start together take turns.
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
