"""Which columns of a CSV to read, where the user does not say."""

from __future__ import annotations

import csv
from typing import NamedTuple

from twinwl.datasets.formats.text_files import decode
from twinwl.errors import GraphInputError, nearest

__all__ = ["Columns", "columns_to_read"]

_SMILES = ("smiles", "canonical_smiles", "mol")
_TARGETS = ("label", "class", "target", "y")


class Columns(NamedTuple):
    """Names of the columns to read; no target where there is none or none was asked for."""

    smiles: str
    target: str | None


def columns_to_read(
    content: bytes, name: str, smiles_column: str | None, target: str | None, classes: str
) -> Columns:
    r"""Choose the columns of a CSV file by its header.

    SMILES are in the column called so, in whatever case; classes in the only other column, or in the one
    that is called label, class, target or y.

    Parameters
    ----------
    content, name
        Of the file.
    smiles_column, target
        What the user said; None leaves the choice to us.
    classes
        As for `twinwl.cli.data_argument.read_data`.

    >>> columns_to_read(b"BBBP,smiles\n1,CCO\n", "BBBP.csv", None, None, "needed")
    Columns(smiles='smiles', target='BBBP')
    """
    header = _header(content, name)
    smiles = _smiles(header, name, smiles_column)
    if target is not None:
        return Columns(smiles, _named(header, target, "--target", name))
    if classes == "given":
        return Columns(smiles, None)
    others = [column for column in header if column != smiles]
    obvious = others if len(others) == 1 else [column for column in others if column.lower() in _TARGETS]
    if len(obvious) == 1:
        return Columns(smiles, obvious[0])
    if classes == "needed":
        listing = ", ".join(map(repr, others)) or f"nothing but {smiles!r}"
        raise GraphInputError(f"{name}: say which column holds the classes with --target; it has {listing}")
    return Columns(smiles, None)


def _header(content: bytes, name: str) -> list[str]:
    first = decode(content, name).partition("\n")[0].rstrip("\r")
    separator = max(",;\t", key=first.count)
    try:
        return [column.strip() for column in next(csv.reader([first], delimiter=separator), [])]
    except csv.Error as error:
        raise GraphInputError(f"{name}, line 1: {error}; correct that line") from error


def _smiles(header: list[str], name: str, wanted: str | None) -> str:
    if wanted is not None:
        return _named(header, wanted, "--smiles-column", name)
    for candidate in _SMILES:
        found = [column for column in header if column.lower() == candidate]
        if found:
            return found[0]
    listing = ", ".join(map(repr, header))
    raise GraphInputError(
        f"{name}: no column is called 'smiles'; say which one holds them with --smiles-column. "
        f"It has {listing}"
    )


def _named(header: list[str], wanted: str, option: str, name: str) -> str:
    if wanted not in header:
        raise GraphInputError(
            f"{name}: there is no column {wanted!r} for {option}; {nearest(wanted, header)}"
        )
    return wanted
