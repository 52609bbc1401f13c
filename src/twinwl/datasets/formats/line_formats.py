"""graph6 and SMILES files: one graph per line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from twinwl.datasets.formats.text_files import STDIN, numbered_lines
from twinwl.datasets.rows import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADER = re.compile(r"^>>(?:graph6|sparse6|digraph6)<<")


def line_rows(kind: str, source: str) -> Iterator[Row]:
    """Yield one row per line that is not empty.

    Parameters
    ----------
    kind
        ``"graph6"`` or ``"smiles"``; a SMILES may be followed by the name of its molecule.
    source
        A path, or ``-`` for standard input.
    """
    shown = "stdin" if source == STDIN else source
    for row, (line, text) in enumerate(numbered_lines(source)):
        if kind == "smiles":
            smiles, *given = text.split(maxsplit=1)
            yield Row(row, line, smiles, given[0] if given else smiles)
        else:
            yield Row(row, line, text if row else _HEADER.sub("", text), f"{shown}#{row}")
