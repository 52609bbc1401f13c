"""Classes and functions of the user in model files: by name only, and only if the user allows them."""

from __future__ import annotations

import importlib
import sys

from twinwl.arguments import NAME, checked, is_a
from twinwl.errors import TwinWLError, shown
from twinwl.files.array_members import ModelFileError

_MADE, _OBJECT = "made", "object"


def importable_name(parameter: str, value: object) -> list[str]:
    """Return how a file names a class or function, or the class of an object, that can be imported.

    >>> from fractions import Fraction
    >>> importable_name("readout", Fraction), importable_name("readout", Fraction(1, 2))
    (['made', 'fractions:Fraction'], ['object', 'fractions:Fraction'])

    Raises
    ------
    TwinWLError
        If it cannot be found by its name: a lambda, or a class or function defined inside a function.
    """
    kind, named = (_MADE, value) if hasattr(value, "__qualname__") else (_OBJECT, type(value))
    name = _name_of(named)
    if _at(name, imported=False) is not named:
        raise TwinWLError(
            f"{parameter}: {name.replace(':', '.')} cannot be imported by that name, so a model file cannot "
            "name it; define it with def or class at the top level of a module, without a wrapper around it"
        )
    return [kind, name]


def found_object(parameter: str, entry: object, allowed: list[object]) -> object:
    """Return the one of the allowed classes, functions and objects that a file names.

    Parameters
    ----------
    parameter
        The parameter of the estimator.
    entry
        From `importable_name`, read from a file.
    allowed
        Classes, functions, objects, and names ``"package.module:Class"``, which are imported.
    """
    match entry:
        case ["made" | "object" as kind, str(name)]:
            pass
        case _:
            raise ModelFileError(f"{parameter} is {shown(entry)}, which is not a name; the file is damaged")
    short = name.rpartition(":")[2]
    for candidate in allowed:
        if is_a(candidate, str):
            found = _at(name, imported=True) if checked("allow", candidate, NAME) == name else None
        else:
            found = candidate if name in {_name_of(candidate), _name_of(type(candidate))} else None
        if found is None:
            continue
        if (kind == _OBJECT) == hasattr(found, "__qualname__"):
            wanted = f"an object made as for training, {short}(…)" if kind == _OBJECT else f"{short} itself"
            raise ModelFileError(f"{parameter} was saved from {name}; allow {wanted}")
        return found
    raise ModelFileError(
        f"{parameter} is {name}, code that is not of twinwl; if you trust it, load with "
        f"allow=[{short}{'(…)' if kind == _OBJECT else ''}]"
    )


def _name_of(value: object) -> str:
    try:
        return f"{value.__module__}:{value.__qualname__}"  # type: ignore[attr-defined]
    except Exception:  # noqa: BLE001  (a foreign object may raise anything)
        return ""


def _at(name: str, *, imported: bool) -> object:
    """Return what a name stands for, or None."""
    home, _, path = name.partition(":")
    try:
        value: object = importlib.import_module(home) if imported else sys.modules[home]
        for part in path.split("."):
            value = getattr(value, part)
    except (ImportError, AttributeError, KeyError, ValueError):
        return None
    return value
