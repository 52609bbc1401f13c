"""What every layer builds on: argument checks, runs of numbers, limits of memory.

Checks have one form of message: "name: got X, expected Y". A constraint defines valid values of an argument.
`checked` tries the constraints of an argument in turn; estimators declare a table of them
(`twinwl.models.base`).
"""

import functools
import math
import numbers
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from twinwl.arrays import Array, Fields, Int64, Names, Values
from twinwl.errors import GraphInputError, TwinWLError, shown

_Scalar = TypeVar("_Scalar", bound=np.generic)
_Function = TypeVar("_Function", bound="Callable[..., Any]")

MAX_ROUNDS = 10_000
MAX_ITEMS = 2**31 - 2  # of nodes, columns, rows: their numbers are int32
_MAX_JOBS = 4096
_MAX_NAME = 255  # bytes that file systems take
_MAX_SEED = 2**32 - 1  # what the generators of NumPy and scikit-learn take


@dataclass(frozen=True)
class Constraint:
    """Valid values of an argument.

    Attributes
    ----------
    expected : str
        What is accepted, in words that follow "expected".
    accept : function
        Returns the value as plain Python, or raises a TypeError, ValueError or AttributeError to refuse it.
    names : tuple of str
        The names to choose from, if the argument is a choice.
    """

    expected: str
    accept: Callable[[Any], Any]
    names: Names = ()


def checked(name: str, value: object, *constraints: Constraint | None, graph: int | None = None) -> Any:  # noqa: ANN401
    """Return a value that one of the constraints accepts, as plain Python; the constraint None accepts None.

    Parameters
    ----------
    name
        The argument, or what part of it this is.
    value
        What was passed for it.
    *constraints
        The constraints; one of them must accept the value.
    graph
        Index of the graph that it belongs to, for the error.

    >>> checked("n_iter", np.int64(3), ROUNDS, None)
    3
    >>> checked("features", "sise", one_of("count", "size"))
    Traceback (most recent call last):
    twinwl.errors.TwinWLError: features: got 'sise', expected 'count' or 'size'; did you mean 'size'?
    """
    for constraint in constraints:
        if constraint is None:
            if value is None:
                return None
            continue
        try:
            return constraint.accept(value)
        except (TypeError, ValueError, AttributeError, OverflowError):
            continue
    names = [known for constraint in constraints if constraint is not None for known in constraint.names]
    close = get_close_matches(value[:100], names, n=1) if isinstance(value, str) else []
    raise (TwinWLError if graph is None else GraphInputError)(
        f"got {shown(value)}, expected {in_words(constraints)}",
        graph,
        parameter=name,
        value=value,
        remedy=f"did you mean {close[0]!r}?" if close else None,
    )


def in_words(constraints: Sequence[Constraint | None]) -> str:
    """Say what is accepted.

    >>> in_words((FLAG, None))
    'True or False or None'
    """
    return _either(["None" if constraint is None else constraint.expected for constraint in constraints])


def integer(low: int, high: float = math.inf) -> Constraint:
    """Accept an integer from ``low`` to ``high``, both included; a bool is not an integer.

    >>> checked("layers", 0, integer(1))
    Traceback (most recent call last):
    twinwl.errors.TwinWLError: layers: got 0, expected an integer of at least 1
    """

    def accept(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise TypeError
        plain = int(value)
        if not low <= plain <= high:
            raise ValueError
        return plain

    bounds = f"of at least {low}" if high == math.inf else f"from {low} to {high}"
    return Constraint(f"an integer {bounds}", accept)


def number(low: float, high: float = math.inf, *, above: bool = False, below: bool = False) -> Constraint:
    """Accept a finite number from ``low`` to ``high``; ``above`` and ``below`` exclude the ends.

    >>> checked("dropout", 1, number(0, 1, below=True))
    Traceback (most recent call last):
    twinwl.errors.TwinWLError: dropout: got 1, expected a number from 0 to below 1
    """

    def accept(value: object) -> float:
        if type(value) not in {int, float} and not isinstance(value, np.integer | np.floating):
            raise TypeError
        plain = float(value)  # type: ignore[arg-type]
        inside = (plain > low if above else plain >= low) and (plain < high if below else plain <= high)
        if not inside or math.isinf(plain):
            raise ValueError
        return plain

    if low == high:
        return Constraint(f"{low:g}", accept)
    if high == math.inf:
        return Constraint(f"a number {'above' if above else 'of at least'} {low:g}", accept)
    start, end = ("above" if above else "from"), ("to below" if below else "to")
    return Constraint(f"a number {start} {low:g} {end} {high:g}", accept)


def one_of(*names: str) -> Constraint:
    """Accept one of a few names."""

    def accept(value: object) -> str:
        plain: str = NAME.accept(value)
        if plain not in names:
            raise ValueError
        return plain

    return Constraint(_either([repr(name) for name in names]), accept, names)


def some_of(*names: str, joined: bool = False) -> Constraint:
    """Accept one of a few names, or several different ones in a sequence or joined by commas.

    It returns a tuple of them, or the names ``joined`` by commas.

    >>> checked("atoms", "ecfp, skeleton", some_of("skeleton", "ecfp"))
    ('ecfp', 'skeleton')
    """
    each = one_of(*names)

    def accept(value: object) -> Names | str:
        parts = value.split(",") if isinstance(value, str) else items("names", value, "names")
        chosen = tuple(each.accept(NAME.accept(part).strip()) for part in parts)
        if not chosen or len(set(chosen)) < len(chosen):
            raise ValueError
        return ",".join(chosen) if joined else chosen

    return Constraint(f"{each.expected}, or several different ones", accept, names)


def one_or_more(each: Constraint) -> Constraint:
    """Accept one number or a list of numbers; return a sorted list without repetitions.

    >>> checked("n_iter", (5, 3, 3), one_or_more(ROUNDS)), checked("C", 10, one_or_more(number(1)))
    ([3, 5], [10.0])
    """

    def accept(value: object) -> list[Any]:
        if isinstance(value, numbers.Number):
            return [each.accept(value)]
        if isinstance(value, str | bytes) or not isinstance(value, Sequence | set | frozenset | np.ndarray):
            raise TypeError
        values = sorted({each.accept(entry) for entry in value})
        if not values:
            raise ValueError
        return values

    return Constraint(f"{each.expected}, or a list of such numbers", accept)


def items(
    name: str, values: object, what: str, graph: int | None = None, *, ordered: bool = True
) -> list[Any]:
    """Return the entries of an iterable as a list; strings and dictionaries are refused.

    Parameters
    ----------
    name
        The argument, or what part of it this is.
    values
        What was passed for it.
    what
        What it should hold, in words that follow "expected".
    graph
        Index of the graph that it belongs to, for the error.
    ordered
        Whether the order matters, so that a set is refused too.

    >>> items("graphs", "CC", "one entry per graph")
    Traceback (most recent call last):
    twinwl.errors.GraphInputError: graphs: got 'CC', expected one entry per graph
    """
    if isinstance(values, list):
        return values
    wrong = (str, bytes, bytearray, dict, *((set, frozenset) if ordered else ()))
    try:
        if not isinstance(values, wrong):
            return list(iter(values))  # type: ignore[call-overload]
    except TypeError:  # not iterable
        pass
    raise GraphInputError(f"got {shown(values)}, expected {what}", graph, parameter=name, value=values)


def foreign_array(
    name: str, value: object, dtype: DTypeLike | None = None, graph: int | None = None
) -> Array:
    """Convert a user's value to an array; a failure is reported as a wrong value.

    Parameters
    ----------
    name
        The argument, or what part of it this is.
    value
        What was passed for it.
    dtype
        Type to convert to; None keeps what NumPy finds.
    graph
        Index of the graph that it belongs to, for the error.

    >>> foreign_array("x", [1, 2])
    array([1, 2])
    """
    if type(value) is np.ndarray and value.dtype.kind in "biuf":  # the usual case, and a quick one
        return value if dtype is None else value.astype(dtype, copy=False)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # NumPy warns where it drops an imaginary part or a mask
            return np.asarray(value, dtype)
    except (TypeError, ValueError, OverflowError, RuntimeError, Warning) as error:
        kind = "an array" if dtype is None else f"an array of {np.dtype(dtype)}"
        message = f"got {shown(value)}, expected {kind} ({type(error).__name__}: {error})"
        raise GraphInputError(message, graph, parameter=name, value=value) from error


def instance(kind: type) -> Constraint:
    """Accept an object of one class."""
    return Constraint(f"a {kind.__name__}", _of(kind))


def exactly(dtype: DTypeLike, ndim: int) -> Constraint:
    """Accept a plain NumPy array of one type and number of axes, without conversion.

    >>> checked("indices", np.zeros(2), exactly(np.int32, 1))
    Traceback (most recent call last):
    twinwl.errors.TwinWLError: indices: got array([0., 0.]), expected an array of int32 with 1 axis
    """

    def accept(value: object) -> Values:
        if type(value) is not np.ndarray or value.dtype != dtype or value.ndim != ndim:
            raise TypeError
        return value

    return Constraint(f"an array of {np.dtype(dtype)} with {ndim} {'axis' if ndim == 1 else 'axes'}", accept)


def _of(*kinds: type, plain: Callable[[Any], Any] = lambda value: value) -> Callable[[Any], Any]:
    """Return a function that accepts objects of some classes, and returns them as ``plain`` makes them."""

    def accept(value: object) -> object:
        if not isinstance(value, kinds):
            raise TypeError
        return plain(value)

    return accept


def _jobs(value: object) -> int:
    plain: int = integer(-_MAX_JOBS, _MAX_JOBS).accept(value)
    if plain == 0:
        raise ValueError
    return plain


def _path(value: str | os.PathLike[str]) -> Path:
    text = os.fspath(value)
    longest = max(map(len, os.fsencode(text).split(b"/")))
    if not isinstance(text, str) or not text or "\0" in text or longest > _MAX_NAME:
        raise ValueError
    return Path(text)


def _either(parts: Sequence[str]) -> str:
    """Join alternatives: "a", "a or b", "a, b or c"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"


ROUNDS = integer(0, MAX_ROUNDS)
SEED = integer(0, _MAX_SEED)
RANDOM_STATE = (
    SEED,
    Constraint("a NumPy RandomState or Generator", _of(np.random.RandomState, np.random.Generator)),
    None,
)
DEPTH, WIDTH = integer(1, 1_000), integer(1, 100_000)  # of a network
MEMORY = (integer(1), None)
# 1 is one of something, 1.0 all of it.
FRACTION = Constraint("a share from 0.0 to 1.0", _of(float, np.floating, plain=number(0, 1).accept))
FLAG = Constraint("True or False", _of(bool, np.bool_, plain=bool))
JOBS = Constraint(f"an integer from 1 to {_MAX_JOBS} or, counting back from all cores, from -1 down", _jobs)
PATH = Constraint("a path", _path)
NAME = Constraint("a string", _of(str, plain=str.__str__))
CLASS_WEIGHT = (one_of("balanced"), Constraint("a dictionary from class to weight", _of(dict)), None)
MARKED_WL = Constraint(
    "'marked-wl-K' with a number of marks K from 1 to 9",
    one_of(*(f"marked-wl-{n_marks}" for n_marks in range(1, 10))).accept,
)


# ---------------------------------------------------------------------- previous names


def old_names(
    removed: Mapping[str, str] = MappingProxyType({}), /, **renamed: str
) -> Callable[[_Function], _Function]:
    """Let a function accept the previous names of arguments, with a FutureWarning; refuse removed ones.

    The signature stays that of the new names, which is where scikit-learn reads an estimator's parameters.

    >>> @old_names(graph="X")
    ... def explain(X):
    ...     return X
    >>> explain(X=1)
    1
    """

    def decorate(function: _Function) -> _Function:
        @functools.wraps(function)
        def renaming(*args: object, **kwargs: object) -> object:
            return function(*args, **with_new_names(kwargs, renamed, removed, warn=True))

        return cast("_Function", renaming)

    return decorate


def with_new_names(
    params: Mapping[str, Any], renamed: Mapping[str, str], removed: Mapping[str, str], *, warn: bool
) -> Fields:
    """Return arguments under their new names; refuse removed ones, and ``warn`` of previous names.

    >>> with_new_names({"normalise": True}, {"normalise": "normalize"}, {}, warn=False)
    {'normalize': True}
    """
    for old in params.keys() & removed.keys():
        raise TwinWLError(f"the parameter is gone; {removed[old]}", parameter=old)
    for old in params.keys() & renamed.keys() if warn else ():
        message = f"the argument {old!r} is now called {renamed[old]!r}; the old name goes in version 0.4"
        warnings.warn(message, FutureWarning, stacklevel=3)
    return {renamed.get(name, name): value for name, value in params.items()}


# ---------------------------------------------------------------------- runs of consecutive numbers


def pointer(lengths: Int64 | Sequence[int]) -> Int64:
    """Return where each of some consecutive runs starts, and where the last one ends.

    >>> pointer([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    out = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=out[1:])
    return out


def read_only(array: NDArray[_Scalar]) -> NDArray[_Scalar]:
    """Return a view of an array that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def ranges(starts: Int64, lengths: Int64) -> Int64:
    """Concatenate ``arange(start, start + length)`` for each pair, without a Python loop."""
    ends = pointer(lengths)
    return np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1], dtype=np.int64)


def owners(lengths: Int64 | Sequence[int]) -> Int64:
    """Return of each entry the number of the run that it is in.

    >>> owners([2, 0, 1]).tolist()
    [0, 0, 2]
    """
    return np.repeat(np.arange(len(lengths)), lengths)


def graph_of_node(graph_ptr: Int64, node: int) -> int:
    """Return the index of the graph that holds a node of the batch.

    >>> graph_of_node(np.array([0, 3, 3, 5]), 3)
    2
    """
    return int(np.searchsorted(graph_ptr, node, side="right")) - 1


# ---------------------------------------------------------------------- what the machine has

_WHERE_UNKNOWN = 8 << 30


def check_fits(needed: int, max_memory: int | None, what: str, remedy: str) -> None:
    """Refuse work that needs more memory than allowed.

    Parameters
    ----------
    needed
        Bytes, estimated.
    max_memory
        Bytes allowed; None allows half of the machine's memory.
    what
        What would be that large, with its size, as the start of a sentence.
    remedy
        What to do about it.

    Raises
    ------
    TwinWLError

    >>> check_fits(3 << 30, 1 << 30, "graph 7", "leave it out")
    Traceback (most recent call last):
        ...
    twinwl.errors.TwinWLError: graph 7 needs about 3.0 GiB, more than the 1.0 GiB allowed; leave it out
    """
    allowed = allowed_memory(max_memory)
    if needed > allowed:
        raise TwinWLError(
            f"{what} needs about {readable(needed)}, more than the {readable(allowed)} allowed; {remedy}"
        )


def allowed_memory(max_memory: int | None) -> int:
    """Return the limit in bytes: half of the machine's memory if it is None."""
    return _half_of_memory() if max_memory is None else max_memory


def _half_of_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):  # no POSIX here
        return _WHERE_UNKNOWN // 2


def readable(n_bytes: int) -> str:
    """Write a number of bytes for people.

    >>> readable(3 << 29)
    '1.5 GiB'
    """
    return f"{n_bytes / 2**30:,.1f} GiB" if n_bytes >= 1 << 30 else f"{n_bytes / 2**20:,.1f} MiB"


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
