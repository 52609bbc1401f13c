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
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np

from twinwl.arguments import PATH, checked, items
from twinwl.arrays import Int64
from twinwl.datasets.catalogue import data_folders, is_known
from twinwl.datasets.text_files import ArchiveMembers
from twinwl.errors import TwinWLError, import_name, nearest, shown
from twinwl.files.model_files import read_array
from twinwl.graphs.batch import GraphBatch, concatenate
from twinwl.graphs.coercion import as_batch
from twinwl.isomorphism.canonical import certificates
from twinwl.isomorphism.deduplication import wl_groups

_GENERATORS = "twinwl.datasets.generators"  # imported by the suites that need it


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
    if path.suffix != ".zip" or not path.is_file():
        return path.name == _TEXT and path.is_file()
    with ArchiveMembers(path) as members:
        return bool({"basic.npy", _TEXT} & {PurePosixPath(name).name for name in members.names})


def brec_pairs(path: Path) -> GraphBatch:
    """Return all 800 graphs; graphs 2p and 2p + 1 are pair p.

    Parameters
    ----------
    path
        A zip or folder with the files, at any depth, or ``brec_pairs.g6``.
    """
    if path.is_dir():
        path = next((found.parent for found in sorted(path.rglob("basic.npy"))), path)
    strings: list[str | bytes] = []
    with ArchiveMembers(path.parent if path.name == _TEXT else path) as members:
        place = {PurePosixPath(name).name: name for name in members.names}
        missing = [part.file for part in BREC_PARTS.values() if part.file not in place]
        if _TEXT in place and (len(missing) == len(BREC_PARTS) or path.name == _TEXT):
            strings += members.read(place[_TEXT]).split()
            n_graphs = 2 * sum(part.n_pairs for part in BREC_PARTS.values())
            if len(strings) != n_graphs:
                count = f"got {len(strings):,} lines, expected {n_graphs}"
                raise TwinWLError(f"{path}: {_TEXT}: {count}; get the file again")
        elif missing:
            raise TwinWLError(f"{path}: there is no {missing[0]} in it, so it is not BREC; {_REMEDY}")
        else:
            for part in BREC_PARTS.values():
                array = read_array(members.read(place[part.file]), f"{path}: {part.file}")
                if array.dtype.kind not in "SU" or array.size != 2 * part.n_pairs:
                    raise TwinWLError(
                        f"{path}: {part.file}: got {array.size:,} values of {array.dtype}, expected "
                        f"{2 * part.n_pairs} graph6 strings; get the file again"
                    )
                strings += array.ravel().tolist()
    try:
        return GraphBatch.from_graph6(strings)
    except TwinWLError as error:
        raise TwinWLError(f"{path}: {error}") from error


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
        categories, titles = ([part[pair] for pair in kept] for part in (self.categories, self.titles))
        return replace(self, pairs=self.pairs[kept], categories=tuple(categories), titles=tuple(titles))


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
    if isinstance(suite, str | Path):
        return _from_source(suite, data_dir)
    graphs = []
    for place, pair in enumerate(items("suite", suite, "a name, a path, or a list of pairs of graphs")):
        try:
            graphs.append(as_batch(pair))
        except TwinWLError as error:
            raise TwinWLError(f"pair {place}: {error}") from error
        if len(graphs[-1]) != 2:  # noqa: PLR2004
            raise TwinWLError(f"pair {place}: got {len(graphs[-1])} graphs, expected two")
    if not graphs:
        raise TwinWLError("suite: got an empty list, expected pairs of graphs")
    return _different(_in_order("pairs", concatenate(graphs)))


def _from_source(source: str | Path, data_dir: str | Path | None) -> PairSuite:
    path = checked("suite", source, PATH).expanduser()
    if not path.exists() and not is_known(str(source).partition(":")[0]):
        raise TwinWLError(
            f"no suite {shown(str(source))}: {nearest(str(source), SUITES)}; or give a file of pairs"
        )
    if holds_brec(path):
        return _brec(path)
    data = import_name("twinwl.datasets.source", "load_dataset")(str(source), data_dir=data_dir)
    paired = data.y is None if data.groups is None else (np.bincount(data.groups) == 2).all()  # noqa: PLR2004
    if not paired or (data.groups is not None and data.y is None):
        raise TwinWLError(
            f"{data.name}: expected groups of two graphs, or no targets and graphs 2p and 2p + 1 as pair p"
        )
    order = slice(None) if data.groups is None else np.argsort(data.groups, kind="stable")
    return _different(_in_order(data.name, data.graphs[order]))


def _different(suite: PairSuite) -> PairSuite:
    """Refuse pairs of a user that are isomorphic."""
    forms = certificates(suite.graphs, range(len(suite.graphs)))
    for pair, (g, h) in enumerate(suite.pairs.tolist()):
        if forms[g] == forms[h]:
            raise TwinWLError(
                f"{suite.name}: the graphs of pair {pair} are isomorphic, so nothing can tell them apart; "
                "leave the pair out"
            )
    return suite


def _in_order(
    name: str, graphs: GraphBatch, categories: Sequence[str] = (), titles: Sequence[str] = ()
) -> PairSuite:
    """Make graphs 2p and 2p + 1 pair p."""
    if len(graphs) % 2 or not len(graphs):
        raise TwinWLError(
            f"{name}: got {len(graphs):,} graphs, expected an even number: graphs 2p and 2p + 1 are a pair"
        )
    pairs = np.arange(len(graphs), dtype=np.int64).reshape(-1, 2)
    titles = titles or [f"pair {pair}" for pair in range(len(pairs))]
    return PairSuite(name, graphs, pairs, tuple(categories or [name] * len(pairs)), tuple(titles))


def _among(name: str, graphs: GraphBatch, category: Sequence[str], titles: Sequence[str]) -> PairSuite:
    """Make a pair of every two graphs of a category, in the order of its first graph."""
    members: dict[str, list[int]] = {}
    for graph, group in enumerate(category):
        members.setdefault(group, []).append(graph)
    pairs = [pair for group in members.values() for pair in combinations(group, 2)]
    used = np.unique(pairs)
    return PairSuite(
        name,
        graphs[used],
        np.searchsorted(used, pairs).astype(np.int64),
        tuple(category[g] for g, _ in pairs),
        tuple(f"{titles[g]} and {titles[h]}" for g, h in pairs),
    )


def _brec(path: Path | None) -> PairSuite:
    # A folder may have BREC among other data, rather than its files.
    among = path is None or any((path / name).exists() for name in ("BREC.zip", "BREC", "brec"))
    where = find_brec(path) if among else path
    numbered = [(name, pair) for name, part in BREC_PARTS.items() for pair in range(part.n_pairs)]
    titles = [f"{name} {pair}" for name, pair in numbered]
    return _in_order("brec", brec_pairs(where), [name for name, _ in numbered], titles)  # type: ignore[arg-type]


def _atlas(_: Path | None) -> PairSuite:
    graphs = GraphBatch.from_networkx(import_name("networkx.generators.atlas", "graph_atlas_g")()[1:])
    titles = [f"graph {number}" for number in range(1, len(graphs) + 1)]
    found = _among("atlas", graphs, [str(group) for group in wl_groups(graphs)], titles)
    sizes = found.graphs.nodes_per_graph[found.pairs[:, 0]]
    return replace(found, categories=tuple(f"{size} nodes" for size in sizes.tolist()))


def _regular(_: Path | None) -> PairSuite:
    graphs = import_name(_GENERATORS, "regular_graphs")()
    titles = [f"graph {number}" for number in range(len(graphs))]
    return _among("regular", graphs, ["4-regular, 10 nodes"] * len(graphs), titles)


def _csl(_: Path | None) -> PairSuite:
    from twinwl.datasets.generators import N_NODES, SKIPS, circular_skip_links  # noqa: PLC0415

    graphs = GraphBatch.from_edges([circular_skip_links(N_NODES, skip) for skip in SKIPS])
    return _among("csl", graphs, [f"{N_NODES} nodes"] * len(SKIPS), [f"skip {skip}" for skip in SKIPS])


def _strongly_regular(_: Path | None) -> PairSuite:
    from twinwl.datasets.generators import FAMILIES, strongly_regular_family  # noqa: PLC0415

    found = [
        (edges, name, f"graph {number}")
        for name in FAMILIES
        for number, edges in enumerate(strongly_regular_family(name))
    ]
    edges, families, titles = zip(*found, strict=True)
    return _among("strongly-regular", GraphBatch.from_edges(edges), families, titles)


def _cfi(_: Path | None) -> PairSuite:
    from twinwl.datasets.generators import CFI_BASES, cfi_pair  # noqa: PLC0415

    bases = [(family, name, make) for family, part in CFI_BASES.items() for name, make in part.items()]
    families, titles, makes = zip(*bases, strict=True)
    return _in_order("cfi", concatenate([cfi_pair(make()) for make in makes]), families, titles)


def _exp(data_dir: Path | None) -> PairSuite:
    data = import_name("twinwl.datasets.source", "load_dataset")("EXP", data_dir=data_dir)
    return _in_order("exp", data.graphs[np.argsort(data.groups, kind="stable")])


def _twins(_: Path | None) -> PairSuite:
    return _in_order("twins", import_name(_GENERATORS, "twins")(50)[0])


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
