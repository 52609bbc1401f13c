"""CSV files with a column of SMILES and, mostly, a column of classes."""

from __future__ import annotations

import csv
import io
import reprlib
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.datasets.formats.text_files import decode, read_bytes
from twinwl.errors import GraphInputError, TwinWLError, TwinWLWarning, nearest, warn_caller
from twinwl.files.tables import plain_cell
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.graphs.from_smiles import from_rdkit, parse_smiles

if TYPE_CHECKING:
    from _csv import Reader
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from twinwl.arrays import Int64

__all__ = ["SmilesTable", "only_target", "parse_smiles_csv", "read_smiles_csv"]

_SMILES_NAMES = ("smiles", "canonical_smiles", "mol")
_MISSING = {"", "nan", "na", "n/a", "none", "null"}
_EXACT = 2**53  # beyond, floats skip whole numbers
_MOLECULES_AT_A_TIME = 4096  # RDKit's molecules are large, the graphs made from them are not


class SmilesTable(NamedTuple):
    """Molecules of a CSV file.

    Attributes
    ----------
    graphs : GraphBatch
    smiles : tuple of str
    y : array, shape (n_graphs,), or None
        Integers where all classes are whole numbers, else strings; None where no target was asked for.
    lines : array of int64, shape (n_graphs,)
        The line of the file that each molecule stands in, from 1; the header is line 1.
    skipped : tuple of (line, reason)
        What was left out.
    """

    graphs: GraphBatch
    smiles: tuple[str, ...]
    y: NDArray[np.generic] | None
    lines: Int64
    skipped: tuple[tuple[int, str], ...]


class _Row(NamedTuple):
    line: int
    smiles: str
    target: str


def read_smiles_csv(
    path: str | Path, smiles_column: str | None = None, target: str | None = None, on_error: str = "fail"
) -> SmilesTable:
    r"""Read molecules from a CSV file.

    Parameters
    ----------
    path
        Separated by commas, semicolons or tabs, whichever the header holds most of.
    smiles_column
        Its name; None finds a column called ``smiles``, ``canonical_smiles`` or ``mol``.
    target
        The column of classes; None reads none.
    on_error
        What to do with a SMILES that does not parse or a target that is missing: ``"fail"`` names the line,
        ``"skip"`` leaves the row out, with one warning that counts.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "m.csv").write_text("smiles,active\nCCO,1\nc1ccccc1,0\n")
    ...     table = read_smiles_csv(Path(folder, "m.csv"), target="active")
    >>> table.graphs, table.y.tolist()
    (GraphBatch(2 graphs, 9 nodes, 8 edges, 2 node labels, 2 edge labels), [1, 0])
    """
    return parse_smiles_csv(read_bytes(Path(path)), str(path), smiles_column, target, on_error)


def parse_smiles_csv(
    content: bytes,
    name: str,
    smiles_column: str | None = None,
    target: str | None = None,
    on_error: str = "fail",
) -> SmilesTable:
    r"""Do what `read_smiles_csv` does with the content of a file, ``name`` being for messages.

    >>> parse_smiles_csv(b"mol,y\nCC,1\n", "m.csv").smiles
    ('CC',)
    """
    if on_error not in {"fail", "skip"}:
        raise TwinWLError(f"on_error is {on_error!r}: {nearest(on_error, ['fail', 'skip'])}")
    rows, skipped = _rows(decode(content, name), name, smiles_column, target)
    parts: list[GraphBatch] = []
    kept: list[_Row] = []
    for start in range(0, len(rows), _MOLECULES_AT_A_TIME):
        chunk = rows[start : start + _MOLECULES_AT_A_TIME]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TwinWLWarning)  # one warning for the whole file comes below
            found = parse_smiles([row.smiles for row in chunk], on_error="skip")
        parts.append(from_rdkit(found.molecules))
        kept += [chunk[index] for index in found.kept]
        for place, smiles, reason in found.failures:
            shown = reprlib.repr(smiles)
            skipped.append((chunk[place].line, f"SMILES {shown} cannot be read: {reason}"))
        if on_error == "fail" and skipped:
            break
    _report(sorted(skipped), len(kept), name, on_error)
    if not kept:
        raise GraphInputError(f"{name}: there is no molecule in it; give a file with at least one row")
    return SmilesTable(
        concatenate([part for part in parts if len(part)]),
        tuple(row.smiles for row in kept),
        None if target is None else _classes([row.target for row in kept], target, name),
        np.array([row.line for row in kept], dtype=np.int64),
        tuple(sorted(skipped)),
    )


def only_target(content: bytes, name: str, smiles_column: str | None = None) -> str:
    r"""Return the one column beside that of the SMILES, or say that the target has to be named.

    >>> only_target(b"smiles,active\nCC,1\n", "m.csv")
    'active'
    """
    header, _ = _opened(decode(content, name))
    others = [
        column for place, column in enumerate(header) if place != _smiles_place(header, smiles_column, name)
    ]
    if len(others) != 1:
        raise GraphInputError(f"{name}: which column holds the classes? Name one of {others} with target")
    return others[0]


def _opened(text: str) -> tuple[list[str], Reader]:
    """Return the header and what reads the rows."""
    first = text[: text.find("\n") % (len(text) + 1)]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count))
    return [plain_cell(column.strip()) for column in next(reader, [])], reader


def _rows(
    text: str, name: str, smiles_column: str | None, target: str | None
) -> tuple[list[_Row], list[tuple[int, str]]]:
    """Return the rows that can be used, and the line and reason of each that cannot."""
    header, reader = _opened(text)
    smiles_at = _smiles_place(header, smiles_column, name)
    target_at = None if target is None else _place(header, target, "target", name)
    rows: list[_Row] = []
    unusable: list[tuple[int, str]] = []
    try:
        for cells in reader:
            if not any(cells):
                continue
            line = reader.line_num
            if len(cells) != len(header):
                problem = f"{len(cells)} cells where the header has {len(header)}"
                raise GraphInputError(f"{name}, line {line}: {problem}; quote cells that hold separators")
            value = "" if target_at is None else plain_cell(cells[target_at].strip())
            if target_at is not None and value.lower() in _MISSING:
                unusable.append((line, f"its target {target!r} is missing"))
            else:
                rows.append(_Row(line, plain_cell(cells[smiles_at].strip()), value))
    except csv.Error as error:
        raise GraphInputError(f"{name}, line {reader.line_num}: {error}; correct that line") from error
    return rows, unusable


def _smiles_place(header: Sequence[str], wanted: str | None, name: str) -> int:
    if wanted is not None:
        return _place(header, wanted, "smiles_column", name)
    lowered = [column.lower() for column in header]
    for candidate in _SMILES_NAMES:
        if candidate in lowered:
            return lowered.index(candidate)
    raise GraphInputError(f"{name}: no column is called 'smiles'; name one of {header} with smiles_column")


def _place(header: Sequence[str], wanted: str, option: str, name: str) -> int:
    if header.count(wanted) == 1:
        return header.index(wanted)
    if wanted in header:
        raise GraphInputError(f"{name}: {header.count(wanted)} columns are called {wanted!r}; rename one")
    raise GraphInputError(f"{name}: {option} is {wanted!r}, but {nearest(wanted, header)}")


def _report(skipped: list[tuple[int, str]], n_kept: int, name: str, on_error: str) -> None:
    if not skipped:
        return
    line, reason = skipped[0]
    if on_error == "fail":
        raise GraphInputError(
            f'{name}, line {line}: {reason}; correct it, or leave such rows out with on_error="skip"'
        )
    n_rows = len(skipped) + n_kept
    warn_caller(f"{name}: left out {len(skipped):,} of {n_rows:,} rows; the first is line {line}: {reason}")


def _classes(values: list[str], target: str, name: str) -> NDArray[np.generic]:
    """Return integers where all values are whole numbers, strings where they are names."""
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        return np.array(values)
    for number in numbers:
        if not number.is_integer() or abs(number) > _EXACT:
            raise TwinWLError(
                f"{name}: target {target!r} holds {number}, a measured value, while classes are needed; "
                "choose a column of classes, or turn it into one with a threshold"
            )
    return np.array(numbers).astype(np.int64)
