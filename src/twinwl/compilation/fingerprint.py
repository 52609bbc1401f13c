"""What a kernel's machine code depends on, as a digest: equal digests, equal code."""

from __future__ import annotations

import sys
from hashlib import blake2b
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

import numba
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOOLS = (sys.version, numba.__version__, np.__version__)
_CONSTANTS = (bool, int, float, complex, str, bytes, np.generic, np.dtype, type(None))


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
