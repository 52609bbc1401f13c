"""Graphs from files and from the command line, whatever their format.

A *spec* is what a user writes where a graph is asked for:

==================================  =======================================================================
``graphs.g6`` ``.s6`` ``.d6``       graph6, sparse6 or digraph6, one a line
``molecules.smi`` ``.smiles``       SMILES, one a line, a name after it if you like
``a.edges`` ``.edgelist`` ``.txt``  edge list, ``u v`` or ``u v label`` per line; ``.csv`` too
``a.graphml`` ``a.gml``             GraphML, GML
``a.json``                          node-link JSON of networkx or d3, one graph or an array of them
``MUTAG.zip`` or a folder           a TU data set
``FILE#17``                         graph 17 of a file, counted from 0
``smiles:CCO``, ``graph6:Bw``       the graph itself
``-``, ``smiles:-``                 graph6 or SMILES from standard input, one a line
==================================  =======================================================================

Nothing is ever executed or unpacked to disk.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from twinwl.datasets.formats.line_formats import iter_line_blocks, read_literal, read_one_line
from twinwl.datasets.graph_spec import GraphSpec, parse_spec
from twinwl.datasets.named_graphs import NamedGraphs
from twinwl.errors import GraphInputError
from twinwl.graphs.batch import concatenate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from twinwl.graphs.batch import GraphBatch

__all__ = ["NamedGraphs", "iter_graphs", "read_graph", "read_graphs"]

_LINE_FORMATS = {"graph6", "smiles"}
_BLOCK = 4096


def read_graphs(
    spec: str | Path,
    *,
    node_label: str | None = None,
    edge_label: str | None = None,
    skip_invalid: bool = False,
) -> NamedGraphs:
    """Read all graphs that a spec names, into memory.

    Parameters
    ----------
    spec
        A file, ``FILE#17`` (counted from 0), ``smiles:CCO`` or ``graph6:Bw``; see the top of this module.
    node_label, edge_label
        Attributes to take labels from, in the formats that have attributes (GraphML, GML, JSON, and for
        edges the third column of an edge list). What is not named is not read; one warning lists it.
    skip_invalid
        Leave out lines of a graph6 or SMILES file that cannot be read, instead of stopping there.

    Returns
    -------
    NamedGraphs
        ``graphs``, ``names``, ``smiles`` (where they are molecules) and ``skipped``.

    >>> graphs, names, *_ = read_graphs("graph6:Bw")
    >>> graphs, names
    (GraphBatch(1 graph, 3 nodes, 3 edges), ('graph6:Bw',))

    Raises
    ------
    GraphInputError
        If the file cannot be read, its format is not known, or it holds no graph of that number.
    """
    found = list(iter_graphs(spec, node_label=node_label, edge_label=edge_label, skip_invalid=skip_invalid))
    if len(found) == 1 and len(found[0].graphs):
        return found[0]
    blocks = [block for block in found if len(block.graphs)]
    if not blocks:
        raise GraphInputError(f"{spec}: no line of it could be read")
    return NamedGraphs(
        concatenate([block.graphs for block in blocks]),
        tuple(name for block in blocks for name in block.names),
        tuple(smiles for block in blocks for smiles in block.smiles or ()) or None,
        tuple(line for block in found for line in block.skipped),
    )


def read_graph(
    spec: str | Path, *, node_label: str | None = None, edge_label: str | None = None
) -> NamedGraphs:
    """Read exactly one graph; where a file holds several, the error says how to pick one.

    >>> read_graph("graph6:Bw").names
    ('graph6:Bw',)
    """
    found = read_graphs(spec, node_label=node_label, edge_label=edge_label)
    if len(found.graphs) != 1:
        last = len(found.graphs) - 1
        raise GraphInputError(
            f"{spec}: holds {last + 1:,} graphs where one is needed; pick one, '{spec}#0' to '{spec}#{last}'"
        )
    return found


def iter_graphs(
    spec: str | Path,
    block: int = _BLOCK,
    *,
    node_label: str | None = None,
    edge_label: str | None = None,
    skip_invalid: bool = False,
) -> Iterator[NamedGraphs]:
    """Read graphs block by block: a graph6 or SMILES file of any length never is in memory as a whole.

    The other formats are parsed as a whole and come as one block. Parameters as in `read_graphs`.

    >>> [len(part.graphs) for part in iter_graphs("graph6:Bw")]
    [1]
    """
    if block < 1:
        raise GraphInputError(f"block is {block}; it must be 1 or more")
    where = parse_spec(spec)
    if where.literal:
        yield read_literal(where.format, where.source)
    elif where.format in _LINE_FORMATS and where.index is not None:
        yield read_one_line(where.format, where.source, where.index)
    elif where.format in _LINE_FORMATS:
        yield from iter_line_blocks(where.format, where.source, block, skip_invalid=skip_invalid)
    else:
        yield _picked(_read_whole(where, node_label, edge_label), where)


def _read_whole(where: GraphSpec, node_label: str | None, edge_label: str | None) -> GraphBatch:
    """Read a file of a format that is parsed as a whole."""
    # Each format brings its own dependencies: only the one in use is imported.
    path = Path(where.source)
    if where.format == "edges":
        from twinwl.datasets.formats.edge_list import read_edge_list  # noqa: PLC0415

        return read_edge_list(path, edge_label)
    if where.format == "json":
        from twinwl.datasets.formats.node_link import read_node_link  # noqa: PLC0415

        return read_node_link(path, node_label, edge_label)
    if where.format == "tu":
        from twinwl.datasets.formats.tu import read_tu  # noqa: PLC0415

        return read_tu(path).graphs
    from twinwl.datasets.formats import markup  # noqa: PLC0415

    read = markup.read_gml if where.format == "gml" else markup.read_graphml
    return read(path, node_label, edge_label)


def _picked(graphs: GraphBatch, where: GraphSpec) -> NamedGraphs:
    """Name the graphs, and take the one that was asked for."""
    n_graphs = len(graphs)
    if where.index is None:
        names = [where.source] if n_graphs == 1 else [f"{where.source}#{index}" for index in range(n_graphs)]
        return NamedGraphs(graphs, tuple(names))
    if where.index >= n_graphs:
        held = "1 graph, number 0" if n_graphs == 1 else f"{n_graphs} graphs, numbered 0 to {n_graphs - 1}"
        raise GraphInputError(f"{where.source}: graph {where.index} is out of range: the file holds {held}")
    return NamedGraphs(graphs[where.index], (f"{where.source}#{where.index}",))
