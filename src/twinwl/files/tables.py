"""Tables as files: the ending of a name decides the format, and a cell never becomes a formula.

Spreadsheets run a cell of a CSV file that begins with ``=``, ``+``, ``-`` or ``@``. In .csv and .tsv files a
text that begins so is therefore written with a single quote in front, which tells them that it is text;
numbers, and one such character alone, stay as they are. `plain_cell` takes the quote off again.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from types import SimpleNamespace

from twinwl.errors import TwinWLError, import_extra

TABLE_ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".parquet")

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_QUOTED_FORMULA = re.compile(r"'+[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def table_bytes(columns: Mapping[str, Sequence[object]], ending: str) -> bytes:
    r"""Return a table in the format of an ending.

    Parameters
    ----------
    columns
        Cells by column: numbers, strings, booleans or None.
    ending
        One of `TABLE_ENDINGS`: ``.json`` is a list of objects, ``.jsonl`` one object per line.

    >>> table_bytes({"name": ["CCO", "=1+1"], "share": [-0.5, 1.0]}, ".csv")
    b"name,share\nCCO,-0.5\n'=1+1,1.0\n"
    >>> table_bytes({"name": ["CCO"], "share": [-0.5]}, ".jsonl")
    b'{"name": "CCO", "share": -0.5}\n'
    """
    if ending == ".parquet":
        return _parquet(columns)
    rows = zip(*columns.values(), strict=True)
    if ending in {".csv", ".tsv"}:
        lines: list[str] = []
        # A carriage return inside a cell is quoted only where it is part of the line ending.
        writer = csv.writer(
            SimpleNamespace(write=lines.append),
            delimiter="," if ending == ".csv" else "\t",
            lineterminator="\r\n",
        )
        writer.writerow(map(_cell, columns))
        writer.writerows(map(_cell, row) for row in rows)
        return "".join(f"{line[:-2]}\n" for line in lines).encode("utf-8", "replace")
    lines = [json.dumps(dict(zip(columns, map(_json_value, row), strict=True))) for row in rows]
    if ending == ".jsonl":
        return "".join(f"{line}\n" for line in lines).encode()
    if ending == ".json":
        return f"[{','.join(f'{chr(10)}{line}' for line in lines)}\n]\n".encode()
    raise TwinWLError(f"tables are not written as {ending!r}; use {', '.join(TABLE_ENDINGS)}")


def plain_cell(cell: str) -> str:
    """Return a cell of a .csv or .tsv file without the quote that keeps it from being a formula.

    >>> plain_cell("'=1+1"), plain_cell("'quoted'"), plain_cell("-1.5")
    ('=1+1', "'quoted'", '-1.5')
    """
    return cell[1:] if _QUOTED_FORMULA.match(cell) else cell


def _cell(value: object) -> object:
    if not isinstance(value, str) or len(value) < 2 or _NUMBER.fullmatch(value):  # noqa: PLR2004
        return value
    return f"'{value}" if _FORMULA.match(value) else value


def _json_value(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _parquet(columns: Mapping[str, Sequence[object]]) -> bytes:
    arrow = import_extra("pyarrow", extra="parquet")
    parquet = import_extra("pyarrow.parquet", extra="parquet")
    arrays = {}
    for name, cells in columns.items():
        kinds = {type(cell) for cell in cells if cell is not None}
        # A column of one type stays so; of several it becomes text, as it would in a CSV file.
        plain = cells if len(kinds) <= 1 and str not in kinds else [_text(cell) for cell in cells]
        # An empty column is text too, such as the errors of a table without any: tables can be joined then.
        arrays[_text(name)] = arrow.array(plain) if kinds else arrow.array(plain, arrow.string())
    stream = io.BytesIO()
    parquet.write_table(arrow.table(arrays), stream)
    return stream.getvalue()


def _text(cell: object) -> str | None:
    return None if cell is None else str(cell).encode("utf-8", "replace").decode()
