"""graph6, sparse6 and digraph6 strings into a GraphBatch.

The formats are nauty's: a size, then the bits of the adjacency matrix (graph6: the upper triangle by
columns; digraph6: all of it by rows) or a list of edges (sparse6), six bits in each printable character.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twinwl.arrays import Int64, pointer
from twinwl.errors import GraphInputError, shown
from twinwl.graphs.arc_kernels import fill_from_bits
from twinwl.graphs.batch import UNLABELLED, GraphBatch
from twinwl.graphs.building import build, check_plausible, listed

_HEADERS = {b">>graph6<<": b"", b">>sparse6<<": b":", b">>digraph6<<": b"&"}
_REMEDY = "is it graph6, sparse6 or digraph6, whole and unchanged?"
_BIAS = 63  # the first printable character used
_LONG = 126  # announces a longer size field
_BITS_SET = np.array([number.bit_count() for number in range(64)])


class _Parsed(NamedTuple):
    """One string: its kind (``b""``, ``b":"`` or ``b"&"``), its size, and the characters after these."""

    kind: bytes
    n_nodes: int
    body: bytes


def from_graph6(strings: Iterable[str | bytes]) -> GraphBatch:
    """Build a batch from graph6, sparse6 or digraph6 strings; see `GraphBatch.from_graph6`."""
    texts = listed(strings, "strings")
    found = _plain(texts)
    if found is not None:
        return found
    parsed = [_parse(text, graph) for graph, text in enumerate(texts)]
    directed = {part.kind == b"&" for part in parsed}
    if len(directed) > 1:
        graph = next(
            place for place, part in enumerate(parsed) if (part.kind == b"&") != (parsed[0].kind == b"&")
        )
        raise GraphInputError(
            "digraph6 and undirected strings cannot be mixed; put them into separate batches", graph
        )
    node_counts = np.array([part.n_nodes for part in parsed], dtype=np.int64)
    if any(part.kind == b":" for part in parsed):
        edge_counts, sources, targets = _mixed_edges(parsed)
    else:
        edge_counts, sources, targets = _matrix_edges(parsed, node_counts, first_graph=0)
    return build(node_counts, edge_counts, sources, targets, directed=directed == {True})


def _plain(texts: list[object]) -> GraphBatch | None:
    """Read graph6 strings of small graphs all at once, or return None if one of them is anything else."""
    kinds = set(map(type, texts))
    # join alone would also take numbers of NumPy for bytes
    if kinds not in ({str}, {bytes}) or not all(text.isascii() for text in texts):  # type: ignore[attr-defined]
        return None
    whole = "".join(texts).encode() if kinds == {str} else b"".join(texts)  # type: ignore[arg-type]
    return plain_graph6(np.frombuffer(whole, np.uint8), pointer(list(map(len, texts))))  # type: ignore[arg-type]


def plain_graph6(characters: NDArray[np.uint8], ptr: Int64) -> GraphBatch | None:
    """Read graph6 strings of fewer than 63 nodes, or return None if one of them is anything else.

    Parameters
    ----------
    characters : array of uint8
        The strings, one after the other.
    ptr : array of int64, shape (n_graphs + 1,)
        Where each string starts, and where the last one ends.
    """
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
        node_vocabulary=UNLABELLED,
        edge_labels=None,
        edge_vocabulary=(),
        node_features=None,
        directed=False,
    )


def _parse(text: object, graph: int) -> _Parsed:
    """Check the characters and split off kind and size."""
    kind, body = _marked(_raw(text, graph), text, graph)
    if not body:
        raise _garbage(text, "no size", graph)
    if min(body) < _BIAS or max(body) > _LONG:
        wrong = next(byte for byte in body if not _BIAS <= byte <= _LONG)
        raise _garbage(text, f"character {bytes([wrong])!r} out of range '?'..'~'", graph)
    # One digit, or '~' and three, or '~~' and six.
    start, width = (0, 1) if body[0] != _LONG else (1, 4) if body[1:2] != b"~" else (2, 8)
    if len(body) < width:
        raise _garbage(text, "its size is cut off", graph)
    n_nodes = 0
    for digit in body[start:width]:
        n_nodes = n_nodes << 6 | digit - _BIAS
    parsed = _Parsed(kind, n_nodes, body[width:])
    if kind != b":":
        _check_length(parsed, text, graph)
    check_plausible(n_nodes, len(body), graph)
    return parsed


def _raw(text: object, graph: int) -> bytes:
    if isinstance(text, bytes):
        return text.rstrip(b"\r\n")
    if not isinstance(text, str):
        raise GraphInputError(f"{shown(text)} is not a string; give one str or bytes per graph", graph)
    try:
        return text.rstrip("\r\n").encode("ascii")
    except UnicodeEncodeError as error:
        raise _garbage(text, f"character {text[error.start]!r} at {error.start}", graph) from error


def _marked(raw: bytes, text: object, graph: int) -> tuple[bytes, bytes]:
    """Remove the optional header and the character that marks the format."""
    for header, mark in _HEADERS.items():
        if raw.startswith(header):
            raw = raw[len(header) :]
            if mark and not raw.startswith(mark):
                raise _garbage(text, f"no {mark.decode()!r} after its header", graph)
            break
    mark = raw[:1] if raw[:1] in {b":", b"&"} else b""
    return mark, raw[len(mark) :]


def _n_bits(parsed: _Parsed) -> int:
    n = parsed.n_nodes
    return n * n if parsed.kind == b"&" else n * (n - 1) // 2


def _check_length(parsed: _Parsed, text: object, graph: int) -> None:
    wanted = -(-_n_bits(parsed) // 6)
    if len(parsed.body) != wanted:
        problem = "is cut off" if len(parsed.body) < wanted else "has characters to spare"
        raise _garbage(
            text,
            f"it {problem}: {parsed.n_nodes} nodes take {wanted} characters, not {len(parsed.body)}",
            graph,
        )


def _garbage(text: object, problem: str, graph: int) -> GraphInputError:
    return GraphInputError(f"cannot read {shown(text)} ({problem}); {_REMEDY}", graph)


def _matrix_edges(parsed: list[_Parsed], node_counts: Int64, first_graph: int) -> tuple[Int64, Int64, Int64]:
    """Read the adjacency bits of all graphs at once: edge counts, sources and targets."""
    body = np.frombuffer(b"".join(part.body for part in parsed), dtype=np.uint8) - np.uint8(_BIAS)
    bits = np.unpackbits(body[:, None], axis=1)[:, 2:].ravel()
    bit_ptr = 6 * pointer([len(part.body) for part in parsed])
    places = np.flatnonzero(bits)
    graph_of_edge = np.searchsorted(bit_ptr, places, side="right") - 1
    places -= bit_ptr[graph_of_edge]
    limits = np.array([_n_bits(part) for part in parsed], dtype=np.int64)
    beyond = np.flatnonzero(places >= limits[graph_of_edge])
    if len(beyond):
        raise GraphInputError(
            f"its last character has bits set beyond the matrix; {_REMEDY}",
            first_graph + int(graph_of_edge[beyond[0]]),
        )
    if parsed and parsed[0].kind == b"&":
        sources, targets = np.divmod(places, node_counts[graph_of_edge])
    else:
        # Bit k of the upper triangle by columns is (i, j) with k = j (j - 1) / 2 + i.
        targets = ((1 + np.sqrt(1 + 8 * places.astype(np.float64))) / 2).astype(np.int64)
        targets -= targets * (targets - 1) // 2 > places  # the root may be rounded either way
        targets += targets * (targets + 1) // 2 <= places
        sources = places - targets * (targets - 1) // 2
    return np.bincount(graph_of_edge, minlength=len(parsed)).astype(np.int64), sources, targets


def _mixed_edges(parsed: list[_Parsed]) -> tuple[Int64, Int64, Int64]:
    """Read graphs one by one where some are sparse6."""
    parts = [
        _sparse_edges(part, graph)
        if part.kind == b":"
        else np.stack(_matrix_edges([part], np.array([part.n_nodes]), graph)[1:], axis=1)
        for graph, part in enumerate(parsed)
    ]
    edges = np.concatenate(parts)
    return np.array([len(part) for part in parts], dtype=np.int64), edges[:, 0], edges[:, 1]


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
        raise GraphInputError(f"it goes on after its last node; {_REMEDY}", graph)
    return np.array(edges, dtype=np.int64).reshape(-1, 2)
