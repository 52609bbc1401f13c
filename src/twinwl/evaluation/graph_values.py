"""Values that something gives to graphs, and when two of them are clearly different."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twinwl.arguments import attribute_of
from twinwl.errors import TwinWLError, shown

if TYPE_CHECKING:
    from collections.abc import Hashable

    from twinwl.arrays import Float64

_CLEARLY = 10.0  # a difference counts only from so many times the noise of relabelling on
_ROUNDING = 16.0  # and only above so many units of rounding
_UNCLEAR = 0.2  # from this part of both on, rounding alone may be what hides a difference


class Judgement(NamedTuple):
    """What a probe says about a pair.

    Attributes
    ----------
    separated : bool
        Whether the two graphs have clearly different values.
    sound : bool
        Whether relabelled copies have the values of their graphs, up to rounding.
    difference : float
        Distance of the two values; for tests, by how many nodes the counts of the witness differ.
    noise : float
        Largest distance of a copy's value from that of its graph.
    round : int or None
        For tests, the round with the first difference.
    seconds : float
        Processor time of the pair itself, without the copies.
    unclear : bool
        Whether the values differ by more than rounding usually does, but not clearly.
    """

    separated: bool
    sound: bool
    difference: float
    noise: float
    round: int | None
    seconds: float
    unclear: bool = False


class Value(NamedTuple):
    """A value of a graph: a vector with its unit of rounding, or something to compare for equality."""

    vector: Float64 | None
    rounding: float
    other: Hashable = None

    def distance(self, other: Value) -> float:
        """Return the Euclidean distance of two vectors, or 0 and 1 for equal and different values."""
        if self.vector is None or other.vector is None:
            if (self.vector is None) != (other.vector is None):
                raise TwinWLError("gave a vector for one graph and something else for another")
            return float(not _equal(self.other, other.other))
        if self.vector.shape != other.vector.shape:
            raise TwinWLError(
                f"gave vectors of different lengths, {self.vector.size} and {other.vector.size}; give all "
                "graphs vectors of one length, or return a tuple of integers or strings"
            )
        return float(np.linalg.norm(self.vector - other.vector))

    @property
    def size(self) -> float:
        """Length of the vector; 1 for other values."""
        return 1.0 if self.vector is None else float(np.linalg.norm(self.vector))


def as_value(given: Any) -> Value:  # noqa: ANN401
    """Turn what a function returned into something that can be compared.

    Numbers, arrays, tensors, sparse matrices and lists of numbers are vectors. Other values, tuples of
    integers among them, must be hashable and are compared for equality.

    >>> as_value([1.0, 2.5]).vector, as_value((3, "a")).other
    (array([1. , 2.5]), (3, 'a'))
    """
    if given is None:
        raise TwinWLError("returned None; return a number, a vector or a hashable value")
    if callable(attribute_of(given, "detach")):  # a tensor
        given = _without_graph(given)
    elif callable(attribute_of(given, "toarray")):
        given = given.toarray()
    array = _numbers(given)
    if array is None or (isinstance(given, tuple) and array.dtype.kind in "biu"):
        try:
            hash(given)
        except TypeError as error:
            raise TwinWLError(
                f"returned {shown(given)}, which is not hashable; return a number, a vector or a tuple"
            ) from error
        return Value(None, 0.0, given)
    if not np.isfinite(array).all():
        raise TwinWLError(f"returned {shown(given)}, which is not finite; return finite numbers")
    rounding = float(np.finfo(array.dtype).eps) if array.dtype.kind in "fc" else 0.0
    flat = array.ravel()
    if flat.dtype.kind == "c":
        flat = np.concatenate([flat.real, flat.imag])
    return Value(flat.astype(np.float64), rounding)


def judge(values: tuple[Value, Value], noises: tuple[float, float], seconds: float) -> Judgement:
    """Judge a pair by the values of its graphs and by how far those of relabelled copies are from them.

    Up to the square root of the unit of rounding, relative to the length of the vectors (or to 1, if they are
    shorter), a change under relabelling is rounding; beyond, the values are unsound. Two graphs are separated
    if their distance is above ten times that change and above sixteen units of rounding; above a fifth of
    that it is unclear.
    """
    noise, size = max(noises), max(value.size for value in values)
    rounding = max(value.rounding for value in values)
    difference = values[0].distance(values[1])
    sound = noise <= rounding**0.5 * max(1.0, size)
    clear = max(_CLEARLY * noise, _ROUNDING * rounding * size)
    unclear = sound and _UNCLEAR * clear < difference <= clear
    return Judgement(sound and difference > clear, sound, difference, noise, None, seconds, unclear)


def _without_graph(tensor: Any) -> Any:  # noqa: ANN401
    plain = tensor.detach().cpu()
    if not str(plain.dtype).endswith(("float32", "float64", "int64", "int32", "bool")):
        plain = plain.float()  # bfloat16 and others that NumPy lacks
    return plain.numpy()


def _numbers(value: object) -> np.ndarray[Any, Any] | None:
    """Return numbers as an array; None if the value is something else."""
    if isinstance(value, str | bytes):
        return None
    try:
        array = np.asarray(value)
    except Exception:  # noqa: BLE001  (ragged lists, and whatever a foreign object raises)
        return None
    return array if array.dtype.kind in "biufc" else None


def _equal(one: object, other: object) -> bool:
    try:
        return bool(one == other)
    except Exception as error:
        raise TwinWLError(f"returned {shown(one)}, which cannot be compared ({error})") from error
