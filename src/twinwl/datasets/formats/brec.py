"""BREC: 400 pairs of graphs that 1-WL cannot tell apart, from its authors' own files.

The set of Wang and Zhang, "An Empirical Study of Realized GNN Expressiveness" (ICML 2024). Its arrays hold
graph6 strings. They are read without pickle, so a file can contain nothing but strings.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import NamedTuple

from twinwl.datasets.catalogue.locations import data_folders
from twinwl.datasets.formats.archive_members import ArchiveMembers
from twinwl.errors import TwinWLError
from twinwl.files.array_members import ModelFileError, read_array
from twinwl.graphs.batch import GraphBatch


class BrecPart(NamedTuple):
    """A category of BREC: its file, its number of pairs, and the category of the paper it belongs to."""

    file: str
    n_pairs: int
    published_as: str


# In the order of the authors' numbering of pairs.
BREC_PARTS = {
    "basic": BrecPart("basic.npy", 60, "basic"),
    "regular": BrecPart("regular.npy", 50, "all regular"),
    "strongly regular": BrecPart("str.npy", 50, "all regular"),
    "extension": BrecPart("extension.npy", 100, "extension"),
    "CFI": BrecPart("cfi.npy", 100, "CFI"),
    "4-vertex condition": BrecPart("4vtx.npy", 20, "all regular"),
    "distance regular": BrecPart("dr.npy", 20, "all regular"),
}
_TEXT = "brec_pairs.g6"  # all pairs in one file, in the same order
_REMEDY = (
    "it has the files " + ", ".join(part.file for part in BREC_PARTS.values()) + " (in its authors' "
    f"repository, GraphPKU/BREC, in customize/Data/raw), or {_TEXT}"
)


def find_brec(data_dir: str | Path | None = None) -> Path:
    """Return the zip, folder or file with BREC in the data folders."""
    folders = data_folders(data_dir)
    for folder in folders:
        for name in ("BREC.zip", "BREC", "brec", _TEXT):
            if (folder / name).exists():
                return folder / name
        if (folder / "basic.npy").is_file():
            return folder
    searched = " and ".join(repr(str(folder)) for folder in folders)
    raise TwinWLError(
        f"BREC is not in {searched}: expected BREC.zip or a folder BREC; {_REMEDY}. Or name the zip or "
        "folder in place of 'brec', or set TWINWL_DATA"
    )


def holds_brec(path: Path) -> bool:
    """Return whether a path is BREC: a zip or folder with the first of its files at any depth, or its text.

    >>> from pathlib import Path
    >>> holds_brec(Path("no such folder"))
    False
    """
    if path.is_dir():
        return any(path.rglob("basic.npy")) or (path / _TEXT).is_file()
    if path.name == _TEXT:
        return path.is_file()
    if path.suffix != ".zip" or not path.is_file():
        return False
    with ArchiveMembers(path) as members:
        return bool({"basic.npy", _TEXT} & {PurePosixPath(name).name for name in members.names})


def brec_pairs(path: Path) -> GraphBatch:
    """Return all 800 graphs; graphs 2p and 2p + 1 are pair p.

    Parameters
    ----------
    path
        A zip or folder with the files, at any depth, or ``brec_pairs.g6``.
    """
    n_graphs = 2 * sum(part.n_pairs for part in BREC_PARTS.values())
    if path.name == _TEXT:
        return _from_text(path.read_bytes(), str(path), n_graphs)
    if path.is_dir():
        path = next((found.parent for found in sorted(path.rglob("basic.npy"))), path)
    with ArchiveMembers(path) as members:
        place = {PurePosixPath(name).name: name for name in members.names}
        missing = [part.file for part in BREC_PARTS.values() if part.file not in place]
        if len(missing) == len(BREC_PARTS) and _TEXT in place:
            return _from_text(members.read(place[_TEXT]), f"{path}: {_TEXT}", n_graphs)
        if missing:
            raise TwinWLError(f"{path}: there is no {missing[0]} in it, so it is not BREC; {_REMEDY}")
        strings = [
            text
            for part in BREC_PARTS.values()
            for text in _strings(members.read(place[part.file]), f"{path}: {part.file}", 2 * part.n_pairs)
        ]
    return _graphs(strings, str(path))


def _strings(content: bytes, name: str, n_graphs: int) -> list[str | bytes]:
    """Return the graph6 strings of an array, pair after pair."""
    try:
        array = read_array(content, name)
    except ModelFileError as error:
        raise TwinWLError(f"{error}. BREC's arrays hold strings; get the file again") from error
    if array.dtype.kind not in "SU" or array.size != n_graphs:
        raise TwinWLError(
            f"{name}: got {array.size:,} values of {array.dtype}, expected {n_graphs} graph6 strings; "
            "get the file again"
        )
    strings: list[str | bytes] = array.ravel().tolist()
    return strings


def _from_text(content: bytes, name: str, n_graphs: int) -> GraphBatch:
    lines: list[str | bytes] = list(content.split())
    if len(lines) != n_graphs:
        raise TwinWLError(f"{name}: got {len(lines):,} lines, expected {n_graphs}; get the file again")
    return _graphs(lines, name)


def _graphs(strings: list[str | bytes], name: str) -> GraphBatch:
    try:
        return GraphBatch.from_graph6(strings)
    except TwinWLError as error:
        raise TwinWLError(f"{name}: {error}") from error
