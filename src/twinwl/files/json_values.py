"""Python values as JSON and back, kinds kept: tuples, dictionaries, bytes, infinities, arrays."""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING

import numpy as np

from twinwl.errors import TwinWLError, shown
from twinwl.files.array_members import ModelFileError, plain_array

if TYPE_CHECKING:
    from twinwl.arrays import Values


def to_json(value: object, arrays: dict[str, Values], name: str) -> object:
    """Return a JSON value; arrays go into ``arrays``, under the name of their place.

    Numbers, strings, booleans, None and lists stand for themselves, all else for an object of one entry that
    names its kind.

    >>> found = {}
    >>> to_json({"w": np.zeros(2), "betas": (0.9, 1)}, found, "state")
    {'dict': [['w', {'array': 'state/w'}], ['betas', {'tuple': [0.9, 1]}]]}
    >>> list(found)
    ['state/w']
    """
    if isinstance(value, np.ndarray):
        arrays[name] = plain_array(value, name)
        return {"array": name}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, list | tuple):
        parts = [to_json(part, arrays, f"{name}/{place}") for place, part in enumerate(value)]
        return {"tuple": parts} if isinstance(value, tuple) else parts
    if isinstance(value, dict):
        pairs = enumerate(value.items())
        return {
            "dict": [
                [
                    to_json(key, arrays, f"{name}/keys/{place}"),
                    to_json(part, arrays, _place(name, key, place)),
                ]
                for place, (key, part) in pairs
            ]
        }
    raise TwinWLError(
        f"{name} is a {type(value).__name__}, which a model file cannot hold; "
        "use numbers, strings, lists, tuples, dictionaries or arrays"
    )


def from_json(value: object, arrays: dict[str, Values]) -> object:  # noqa: PLR0911
    """Undo `to_json`; each array is taken out of ``arrays`` as it is used.

    >>> from_json({"tuple": [1, {"float": "inf"}]}, {})
    (1, inf)

    Raises
    ------
    ModelFileError
        If the value is nothing that `to_json` writes.
    """
    match value:
        case None | bool() | int() | float() | str():
            return value
        case list(parts):
            return [from_json(part, arrays) for part in parts]
        case {"array": str(name), **rest} if not rest and name in arrays:
            array = arrays.pop(name)
            return array.astype(array.dtype.newbyteorder("="), copy=False)
        case {"tuple": list(parts), **rest} if not rest:
            return tuple(from_json(part, arrays) for part in parts)
        case {"dict": list(pairs), **rest} if not rest:
            return dict(_pair(pair, arrays) for pair in pairs)
        case {"bytes": str(digits), **rest} if not rest:
            with contextlib.suppress(ValueError):
                return bytes.fromhex(digits)
        case {"float": "nan" | "inf" | "-inf" as digits, **rest} if not rest:
            return float(digits)
    raise ModelFileError(f"the manifest holds {shown(value)}, which is not a value of a model file")


def _place(name: str, key: object, place: int) -> str:
    """Name an entry by its key where that makes a decent file name, else by its number."""
    decent = isinstance(key, str) and key.replace("_", "").replace(".", "").isalnum() and key.isascii()
    return f"{name}/{key if decent and key.strip('.') else place}"  # type: ignore[attr-defined]


def _pair(pair: object, arrays: dict[str, Values]) -> tuple[object, object]:
    match pair:
        case [key, part]:
            read = from_json(key, arrays)
            if isinstance(read, list | dict | np.ndarray):
                raise ModelFileError(f"the manifest has {shown(key)} for a key")
            return read, from_json(part, arrays)
    raise ModelFileError(f"the manifest holds {shown(pair)} where a key and a value should be")
