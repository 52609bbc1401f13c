"""graph6, sparse6 and digraph6 strings into a GraphBatch.

The formats are nauty's: a size, then the bits of the adjacency matrix (graph6: the upper triangle by
columns; digraph6: all of it by rows) or a list of edges (sparse6), six bits in each printable character.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from twinwl.arguments import pointer
from twinwl.arrays import Int64
from twinwl.errors import GraphInputError, shown
from twinwl.graphs.building import build, listed

if TYPE_CHECKING:
    from twinwl.graphs.batch import GraphBatch

# An optional header, the mark of the format, the number of nodes (one digit, or "~" and three, or "~~" and
# six) and the rest.
_TEXT = re.compile(
    rb"(?:>>graph6<<|>>sparse6<<(?=:)|>>digraph6<<(?=&))?"
    rb"([:&]?)([?-}]|~[?-}][?-~]{2}|~~[?-~]{6})([?-~]*)[\r\n]*"
)
_REMEDY = "expected graph6, sparse6 or digraph6 that is not cut off"
_BIAS = 63  # the first printable character used
_LONG = 126  # announces a longer size field
_BITS_SET = np.array([number.bit_count() for number in range(64)])


class _Parsed(NamedTuple):
    """One string: its kind (``b""``, ``b":"`` or ``b"&"``), its size, and the characters after these."""

    kind: bytes
    n_nodes: int
    body: bytes


class Graph6Constructors:
    """The constructor of `GraphBatch` from graph6, sparse6 and digraph6."""

    __slots__ = ()

    @classmethod
    def from_graph6(cls, strings: Iterable[str | bytes]) -> GraphBatch:
        """Build a batch from graph6, sparse6 or digraph6 strings.

        Parameters
        ----------
        strings
            One string per graph.

        Returns
        -------
        GraphBatch

        Examples
        --------
        >>> from twinwl import GraphBatch
        >>> GraphBatch.from_graph6(["Bw", "A_"])
        GraphBatch(2 graphs, 5 nodes, 4 edges)
        """
        texts: list[Any] = listed(strings, "strings")
        kinds = set(map(type, texts))
        # join alone would also take numbers of NumPy for bytes
        if kinds in ({str}, {bytes}) and all(text.isascii() for text in texts):
            whole = "".join(texts).encode() if kinds == {str} else b"".join(texts)
            batch = plain_graph6(np.frombuffer(whole, np.uint8), pointer(list(map(len, texts))))
            if batch is not None:
                return batch
        parsed = [_parse(text, graph) for graph, text in enumerate(texts)]
        directed = [part.kind == b"&" for part in parsed]
        if len(set(directed)) > 1:
            raise GraphInputError(
                "digraph6 and undirected strings cannot be mixed; put them into separate batches",
                directed.index(not directed[0]),
            )
        edges = [_edges(part, graph) for graph, part in enumerate(parsed)]
        return build(
            np.array([part.n_nodes for part in parsed], np.int64),
            np.array([len(own) for own in edges], np.int64),
            *np.concatenate([np.empty((0, 2), np.int64), *edges]).T,
            directed=True in directed,
        )


def plain_graph6(characters: NDArray[np.uint8], ptr: Int64) -> GraphBatch | None:
    """Read graph6 strings of fewer than 63 nodes, or return None if one of them is anything else.

    Parameters
    ----------
    characters : array of uint8
        The strings, one after the other.
    ptr : array of int64, shape (n_graphs + 1,)
        Where each string starts, and where the last one ends.
    """
    from twinwl.graphs.arc_kernels import fill_from_bits  # noqa: PLC0415  (loads numba)
    from twinwl.graphs.batch import GraphBatch  # noqa: PLC0415  (which is made of the constructors)

    body = characters - np.uint8(_BIAS)  # what is below wraps around
    if not len(body) or (np.diff(ptr) == 0).any() or body.max() > _LONG - _BIAS:
        return None
    node_counts = body[ptr[:-1]].astype(np.int64)
    if node_counts.max() == _LONG - _BIAS:
        return None
    n_bits = node_counts * (node_counts - 1) // 2
    if (np.diff(ptr) != 1 + -(-n_bits // 6)).any():
        return None
    last_bits = body[ptr[1:] - 1] & ((1 << (-n_bits % 6)) - 1).astype(np.uint8)
    if last_bits[n_bits > 0].any():
        return None
    graph_ptr = pointer(node_counts)
    n_edges = int(_BITS_SET[body].sum() - _BITS_SET[body[ptr[:-1]]].sum())
    indptr = np.zeros(int(graph_ptr[-1]) + 1, np.int64)
    indices = np.empty(2 * n_edges, np.int32)
    fill_from_bits(body, ptr, graph_ptr, indptr, indices)
    return GraphBatch.unchecked(
        indptr=indptr,
        indices=indices,
        graph_ptr=graph_ptr,
        node_labels=np.zeros(int(graph_ptr[-1]), np.int32),
    )


def _parse(text: object, graph: int) -> _Parsed:
    """Split a string into its parts, and check its length."""
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if not isinstance(raw, bytes):
        raise GraphInputError(f"{shown(text)} is not a string; give one str or bytes per graph", graph)
    match = _TEXT.fullmatch(raw)
    if match is None:
        expected = "expected a number of nodes, then characters from '?' to '~'"
        raise GraphInputError(f"cannot read {shown(text)} ({expected}); {_REMEDY}", graph)
    kind, size, body = match.groups()
    n_nodes = 0
    for digit in size[len(size) // 4 :]:
        n_nodes = n_nodes << 6 | digit - _BIAS
    parsed = _Parsed(kind, n_nodes, body)
    n_characters = -(-_n_bits(parsed) // 6)
    if kind != b":" and len(body) != n_characters:
        problem = f"{n_nodes} nodes take {n_characters} characters, not {len(body)}"
        raise GraphInputError(f"cannot read {shown(text)} ({problem}); {_REMEDY}", graph)
    return parsed


def _n_bits(parsed: _Parsed) -> int:
    n = parsed.n_nodes
    return n * n if parsed.kind == b"&" else n * (n - 1) // 2


def _edges(parsed: _Parsed, graph: int) -> Int64:
    """Read the edges of one graph, shape (n_edges, 2)."""
    if parsed.kind == b":":
        return _sparse_edges(parsed, graph)
    body = np.frombuffer(parsed.body, dtype=np.uint8) - np.uint8(_BIAS)
    places = np.flatnonzero(np.unpackbits(body[:, None], axis=1)[:, 2:])
    if len(places) and places[-1] >= _n_bits(parsed):
        raise GraphInputError(f"its last character has bits set beyond the matrix; {_REMEDY}", graph)
    if parsed.kind == b"&":
        return np.column_stack(np.divmod(places, parsed.n_nodes))
    # Bit k of the upper triangle by columns is (i, j) with k = j (j - 1) / 2 + i.
    targets = ((1 + np.sqrt(1 + 8 * places.astype(np.float64))) / 2).astype(np.int64)
    targets -= targets * (targets - 1) // 2 > places  # the root may be rounded either way
    targets += targets * (targets + 1) // 2 <= places
    return np.column_stack([places - targets * (targets - 1) // 2, targets])


def _sparse_edges(parsed: _Parsed, graph: int) -> Int64:
    """Read sparse6: pairs of a bit and a node number that move a current node and name its neighbours."""
    n_nodes = parsed.n_nodes
    width = max(n_nodes - 1, 0).bit_length()
    stream = "".join(f"{byte - _BIAS:06b}" for byte in parsed.body)
    edges: list[tuple[int, int]] = []
    node = 0
    # What is left over at the end is padding: too short for a pair, or beyond the last node.
    place = 0
    while place + 1 + width <= len(stream):
        node += stream[place] == "1"
        other = int(stream[place + 1 : place + 1 + width] or "0", 2)
        place += 1 + width
        if node >= n_nodes or other >= n_nodes:
            break
        if other > node:
            node = other
        else:
            edges.append((other, node))
    rest = stream[place:]
    if len(rest) >= max(6, 1 + width) and "0" in rest:
        raise GraphInputError(f"it continues after its last node; {_REMEDY}", graph)
    return np.array(edges, dtype=np.int64).reshape(-1, 2)
