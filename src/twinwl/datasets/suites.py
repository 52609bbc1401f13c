"""Suites of graph pairs that are hard to tell apart: known by name, from a file, or your own.

====================  ====================================================================================
``brec``              400 pairs in seven categories (Wang and Zhang, 2024), from its authors' files
``atlas``             all pairs of graphs with up to seven nodes that 1-WL cannot tell apart
``regular``           all pairs of connected 4-regular graphs with ten nodes
``csl``               the circular skip links with 41 nodes
``strongly-regular``  the families 16-6-2-2, 25-12-5-6 and 28-12-6-4, pairs within each
``cfi``               the CFI graphs of cycles, grids, cubic and dense base graphs
``exp``               the 600 pairs of EXP (Abboud et al., 2021), from its files
``twins``             50 pairs of TWINS: molecule-like graphs with labels
====================  ====================================================================================

BREC: 400 pairs of graphs that 1-WL cannot tell apart, from its authors' own files.

The set of Wang and Zhang, "An Empirical Study of Realized GNN Expressiveness" (ICML 2024). Its arrays hold
graph6 strings. They are read without pickle, so a file can contain nothing but strings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np

from twinwl.arguments import PATH, checked, items
from twinwl.arrays import Int64
from twinwl.datasets.catalogue import data_folders, is_known
from twinwl.datasets.text_files import ArchiveMembers
from twinwl.errors import TwinWLError, nearest, shown
from twinwl.files.model_files import ModelFileError, read_array
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.graphs.coercion import as_batch
from twinwl.isomorphism.canonical import certificates
from twinwl.isomorphism.deduplication import wl_groups


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


_TWO = 2
_N_TWINS = 50


@dataclass(frozen=True, eq=False)
class PairSuite:
    """Pairs of graphs that are not isomorphic.

    Attributes
    ----------
    name : str
    graphs : GraphBatch
    pairs : array of int64, shape (n_pairs, 2)
        The two graphs of each pair; one graph may be in several pairs.
    categories : tuple of str
        The category of each pair.
    titles : tuple of str
        What each pair is called.
    """

    name: str
    graphs: GraphBatch
    pairs: Int64
    categories: tuple[str, ...]
    titles: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        return f"PairSuite({self.name!r}, {len(self):,} pairs of {len(self.graphs):,} graphs)"

    @property
    def sizes(self) -> dict[str, int]:
        """Number of pairs of each category, in their order."""
        return {name: self.categories.count(name) for name in dict.fromkeys(self.categories)}

    def only(self, categories: Sequence[str]) -> PairSuite:
        """Return the pairs of some categories.

        >>> len(load_suite("cfi").only(["cycles"]))
        6
        """
        kept = [pair for pair, name in enumerate(self.categories) if name in categories]
        if not kept:
            raise TwinWLError(
                f"{self.name} has no pairs of {shown(list(categories))}: {nearest('', self.sizes)}"
            )
        return PairSuite(
            self.name,
            self.graphs,
            self.pairs[kept],
            tuple(self.categories[pair] for pair in kept),
            tuple(self.titles[pair] for pair in kept),
        )


def load_suite(suite: object, data_dir: str | Path | None = None) -> PairSuite:
    """Return a suite of pairs.

    Parameters
    ----------
    suite
        A name of `SUITES`; the path of a zip or folder with BREC's files; anything else that
        `twinwl.load_dataset` reads, in which graphs 2p and 2p + 1 are a pair, or two of one group; a list of
        pairs of graphs; or a `PairSuite`.
    data_dir
        Where BREC and EXP are; None uses ``TWINWL_DATA``.

    >>> load_suite("atlas")
    PairSuite('atlas', 26 pairs of 52 graphs)
    >>> load_suite([([(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2)])])
    PairSuite('pairs', 1 pairs of 2 graphs)
    """
    if isinstance(suite, PairSuite):
        return suite
    if isinstance(suite, str) and suite.lower() in SUITES:
        return SUITES[suite.lower()](None if data_dir is None else Path(data_dir))
    if isinstance(suite, (str, Path)):
        return _from_source(suite, data_dir)
    listed = items("suite", suite, "a name, a path, or a list of pairs of graphs")
    graphs = [_graphs_of_pair(pair, place) for place, pair in enumerate(listed)]
    if not graphs:
        raise TwinWLError("suite: got an empty list, expected pairs of graphs")
    return _in_order("pairs", concatenate(graphs), own=True)


def _from_source(source: str | Path, data_dir: str | Path | None) -> PairSuite:
    from twinwl.datasets.source import load_dataset  # noqa: PLC0415

    path = checked("suite", source, PATH).expanduser()
    if not path.exists() and not is_known(str(source).partition(":")[0]):
        raise TwinWLError(
            f"no suite {shown(str(source))}: {nearest(str(source), SUITES)}; or give a file of pairs"
        )
    if holds_brec(path):
        return _brec(path)
    data = load_dataset(str(source), data_dir=data_dir)
    graphs = data.graphs
    if data.groups is not None:
        graphs = graphs[np.argsort(data.groups, kind="stable")]
    if (data.groups is None) != (data.y is None) or (
        data.groups is not None and (np.bincount(data.groups) != _TWO).any()
    ):
        raise TwinWLError(
            f"{data.name}: expected groups of two graphs, or no targets and graphs 2p and 2p + 1 as pair p"
        )
    return _in_order(data.name, graphs, own=True)


def _graphs_of_pair(pair: object, place: int) -> GraphBatch:
    try:
        batch = as_batch(pair)  # type: ignore[arg-type]
    except TwinWLError as error:
        raise TwinWLError(f"pair {place}: {error}") from error
    if len(batch) != _TWO:
        raise TwinWLError(f"pair {place}: got {len(batch)} graphs, expected two")
    return batch


def _in_order(
    name: str,
    graphs: GraphBatch,
    categories: Sequence[str] | None = None,
    titles: Sequence[str] | None = None,
    *,
    own: bool = False,
) -> PairSuite:
    """Make graphs 2p and 2p + 1 pair p; a user's ``own`` pairs must not be isomorphic."""
    if len(graphs) % _TWO or not len(graphs):
        raise TwinWLError(
            f"{name}: got {len(graphs):,} graphs, expected an even number: graphs 2p and 2p + 1 are a pair"
        )
    pairs = np.arange(len(graphs), dtype=np.int64).reshape(-1, _TWO)
    if own:
        forms = certificates(graphs, range(len(graphs)))
        for pair, (g, h) in enumerate(pairs.tolist()):
            if forms[g] == forms[h]:
                raise TwinWLError(
                    f"{name}: the graphs of pair {pair} are isomorphic, so nothing can tell them apart; "
                    "leave the pair out"
                )
    titles = [f"pair {pair}" for pair in range(len(pairs))] if titles is None else titles
    return PairSuite(name, graphs, pairs, tuple(categories or [name] * len(pairs)), tuple(titles))


def _among(
    name: str,
    graphs: GraphBatch,
    groups: Sequence[Sequence[int]],
    category: Callable[[int], str],
    title: Sequence[str],
) -> PairSuite:
    """Make a pair of every two graphs of a group."""
    pairs = [pair for group in groups for pair in combinations(group, _TWO)]
    used = sorted({graph for pair in pairs for graph in pair})
    place = {graph: number for number, graph in enumerate(used)}
    return PairSuite(
        name,
        graphs[np.array(used)],
        np.array([(place[g], place[h]) for g, h in pairs], np.int64),
        tuple(category(g) for g, _ in pairs),
        tuple(f"{title[g]} and {title[h]}" for g, h in pairs),
    )


def _brec(path: Path | None) -> PairSuite:

    where = path if path is not None and not _is_data_folder(path) else find_brec(path)
    numbered = [(name, pair) for name, part in BREC_PARTS.items() for pair in range(part.n_pairs)]
    return _in_order(
        "brec",
        brec_pairs(where),
        [name for name, _ in numbered],
        [f"{name} {pair}" for name, pair in numbered],
    )


def _is_data_folder(path: Path) -> bool:
    """Return whether a folder has BREC among other data, rather than its files."""
    return path.is_dir() and any((path / name).exists() for name in ("BREC.zip", "BREC", "brec"))


def _atlas(_: Path | None) -> PairSuite:
    from networkx.generators.atlas import graph_atlas_g  # noqa: PLC0415

    graphs = GraphBatch.from_networkx(graph_atlas_g()[1:])
    numbers = [f"graph {number}" for number in range(1, len(graphs) + 1)]
    sizes, group_of = graphs.nodes_per_graph, wl_groups(graphs)
    groups = [np.flatnonzero(group_of == group).tolist() for group in range(group_of.max() + 1)]
    return _among("atlas", graphs, groups, lambda g: f"{sizes[g]} nodes", numbers)


def _regular(_: Path | None) -> PairSuite:
    from twinwl.datasets.generators import regular_graphs  # noqa: PLC0415

    graphs = regular_graphs()
    numbers = [f"graph {number}" for number in range(len(graphs))]
    return _among("regular", graphs, [range(len(graphs))], lambda _: "4-regular, 10 nodes", numbers)


def _csl(_: Path | None) -> PairSuite:
    from twinwl.datasets.generators import N_NODES, SKIPS, circular_skip_links  # noqa: PLC0415

    graphs = GraphBatch.from_edges([circular_skip_links(N_NODES, skip) for skip in SKIPS])
    return _among(
        "csl", graphs, [range(len(graphs))], lambda _: f"{N_NODES} nodes", [f"skip {s}" for s in SKIPS]
    )


def _strongly_regular(_: Path | None) -> PairSuite:
    from twinwl.datasets.generators import FAMILIES, strongly_regular_family  # noqa: PLC0415

    edges: list[Int64] = []
    family: list[str] = []
    groups: list[range] = []
    for name in FAMILIES:
        members = strongly_regular_family(name)
        groups.append(range(len(edges), len(edges) + len(members)))
        edges += members
        family += [name] * len(members)
    numbers = [f"graph {number - group[0]}" for group in groups for number in group]
    return _among("strongly-regular", GraphBatch.from_edges(edges), groups, lambda g: family[g], numbers)


def _cfi(_: Path | None) -> PairSuite:
    from twinwl.datasets.generators import CFI_BASES, cfi_pair  # noqa: PLC0415

    bases = [(family, name, make) for family, part in CFI_BASES.items() for name, make in part.items()]
    graphs = concatenate([cfi_pair(make()) for _, _, make in bases])
    return _in_order("cfi", graphs, [family for family, _, _ in bases], [name for _, name, _ in bases])


def _exp(data_dir: Path | None) -> PairSuite:
    from twinwl.datasets.source import load_dataset  # noqa: PLC0415

    data = load_dataset("EXP", data_dir=data_dir)
    return _in_order("exp", data.graphs[np.argsort(data.groups, kind="stable")])  # type: ignore[arg-type]


def _twins(_: Path | None) -> PairSuite:
    from twinwl.datasets.generators import twins  # noqa: PLC0415

    return _in_order("twins", twins(_N_TWINS)[0])


SUITES: dict[str, Callable[[Path | None], PairSuite]] = {
    "brec": _brec,
    "atlas": _atlas,
    "regular": _regular,
    "csl": _csl,
    "strongly-regular": _strongly_regular,
    "cfi": _cfi,
    "exp": _exp,
    "twins": _twins,
}
