"""What a user may write where a graph is asked for: ``FILE``, ``FILE#17``, ``smiles:CCO``, ``graph6:Bw``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from twinwl.datasets.formats.text_files import STDIN
from twinwl.errors import GraphInputError

__all__ = ["FORMATS", "GraphSpec", "known_formats", "parse_spec"]

FORMATS: dict[str, tuple[str, ...]] = {
    "graph6": (".g6", ".s6", ".d6"),
    "smiles": (".smi", ".smiles"),
    "edges": (".edges", ".edgelist", ".txt", ".csv"),
    "graphml": (".graphml", ".xml"),
    "gml": (".gml",),
    "json": (".json",),
    "tu": (".zip",),
}
_TITLES = {
    "graph6": "graph6",
    "smiles": "SMILES",
    "edges": "edge list",
    "graphml": "GraphML",
    "gml": "GML",
    "json": "JSON node-link",
    "tu": "TU data set",
}
_LITERALS = ("smiles", "graph6")


@dataclass(frozen=True, slots=True)
class GraphSpec:
    """Where graphs come from.

    Attributes
    ----------
    format : str
        One of the keys of `FORMATS`.
    source : str
        A path, ``-`` for standard input, or the literal itself.
    literal : bool
        Whether ``source`` is the graph and not the name of a file.
    index : int or None
        The one graph asked for, counted from 0.
    """

    format: str
    source: str
    literal: bool = False
    index: int | None = None


def parse_spec(spec: str | Path) -> GraphSpec:
    """Understand a spec, without reading anything yet.

    >>> parse_spec("smiles:C#N")
    GraphSpec(format='smiles', source='C#N', literal=True, index=None)
    >>> parse_spec("graphs.g6#17")
    GraphSpec(format='graph6', source='graphs.g6', literal=False, index=17)

    Raises
    ------
    GraphInputError
        If the format is not known (the message lists the known ones), or what follows ``#`` is no number.
    """
    text = str(spec)
    prefix, colon, literal = text.partition(":")
    if colon and prefix in _LITERALS and not isinstance(spec, Path):
        literal = literal.strip()
        if not literal:
            raise GraphInputError(f"nothing follows {text!r}; write for example 'smiles:CCO' or 'graph6:Bw'")
        return GraphSpec(prefix, literal, literal=literal != STDIN)
    if text == STDIN:
        return GraphSpec("graph6", STDIN)
    path, index = _split_index(text)
    return GraphSpec(_format_of(path), path, index=index)


def _split_index(text: str) -> tuple[str, int | None]:
    """Cut off ``#17``, unless that is part of the name of an existing file."""
    path, hash_sign, number = text.rpartition("#")
    if not hash_sign or Path(text).exists():
        return text, None
    if not re.fullmatch(r"[0-9]{1,18}", number):
        raise GraphInputError(
            f"{text!r}: after '#' comes the number of a graph, counted from 0, not {number!r}; "
            f"write for example {path + '#0'!r}"
        )
    return path, int(number)


def _format_of(path: str) -> str:
    if Path(path).is_dir():
        return "tu"
    suffix = Path(path).suffix.lower()
    for name, suffixes in FORMATS.items():
        if suffix in suffixes:
            return name
    raise GraphInputError(f"{path!r}: {_guess(path)} Known: {known_formats()}")


def _guess(path: str) -> str:
    """Say what is wrong with a name that no format claims."""
    prefix, colon, rest = path.partition(":")
    close = get_close_matches(prefix, _LITERALS, n=1)
    if colon and close:
        return f"did you mean '{close[0]}:{rest}'?"
    suffix = Path(path).suffix
    return f"unknown format {suffix!r}." if suffix else "a file without an ending does not say its format."


def known_formats() -> str:
    """Name the formats and their endings, for error messages and help texts.

    >>> known_formats().partition(",")[0]
    'graph6 (.g6 .s6 .d6)'
    """
    parts = [f"{_TITLES[name]} ({' '.join(suffixes)})" for name, suffixes in FORMATS.items()]
    return ", ".join(parts) + ", or the graph itself (smiles:CCO, graph6:Bw)"
