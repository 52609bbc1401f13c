"""Kernels that sort arcs into rows without repetitions, for `assemble` of `building`, and read graph6.

They have a file of their own, so that numba is loaded only where graphs are built.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twinwl.arrays import Int32, Int64
from twinwl.compilation import kernel


class Arcs(NamedTuple):
    """Arcs in any order; ``codes`` of their labels may be empty."""

    sources: Int64
    targets: Int64
    codes: Int32
    directed: bool


class Entries(NamedTuple):
    """Arcs by the node they are entered at.

    A number is ``2 * neighbour + reversed``: the bit is the end from which an edge was given, so that
    giving it from both ends is not a repetition, but giving it twice from one end is.
    """

    numbers: NDArray[np.uint32]
    codes: Int32


@kernel
def bucket(arcs: Arcs, cursor: Int64, place_of_node: Int64, moved: Entries, entries: Entries) -> None:
    """Enter each arc at its source and, if undirected, its reverse at its target, in order of neighbours.

    A stable bucket sort by neighbour and then by node, so the entries of each node are sorted.
    """
    sources, targets, labels, directed = arcs
    for end in range(1 if directed else 2):
        for arc in range(len(sources)):
            here, there = (targets[arc], sources[arc]) if end else (sources[arc], targets[arc])
            place = cursor[there]
            moved.numbers[place] = 2 * here + end
            if len(labels):
                moved.codes[place] = labels[arc]
            cursor[there] = place + 1
    begin = 0
    for there in range(len(cursor) - 1):
        # Filling the buckets has moved the begin of each to its end.
        for place in range(begin, cursor[there]):
            here, end = moved.numbers[place] >> 1, moved.numbers[place] & 1
            entries.numbers[place_of_node[here]] = 2 * there + end
            if len(labels):
                entries.codes[place_of_node[here]] = moved.codes[place]
            place_of_node[here] += 1
        begin = cursor[there]


@kernel
def merge(indptr: Int64, entries: NDArray[np.uint32], codes: Int32, indices: Int32, report: Int64) -> int:
    """Keep one entry per neighbour; `indptr` and `codes` are rewritten in place.

    Written to ``report``: the number of repetitions, the ends of an edge with two labels, and those of one
    that was named from one end only (-1 where there is none). Returns the number of neighbours.
    """
    out = 0
    start = 0
    for node in range(len(indptr) - 1):
        end = indptr[node + 1]
        place = start
        while place < end:
            first = place
            target = entries[first] >> 1
            place += 1
            while place < end and entries[place] >> 1 == target:
                if len(codes) and codes[place] != codes[first] and report[1] < 0:
                    report[1], report[2] = node, target
                # Only repetitions in the direction it was named count, or each would count twice.
                if entries[place] == entries[place - 1] and entries[place] & 1 == 0:
                    report[0] += 1
                place += 1
            if entries[place - 1] & 1 == 0 and report[3] < 0:  # no entry came from the other end
                report[3], report[4] = node, target
            indices[out] = target
            if len(codes):
                codes[out] = codes[first]
            out += 1
        start = end
        indptr[node + 1] = out
    return out


@kernel
def fill_from_bits(
    characters: NDArray[np.uint8], text_ptr: Int64, graph_ptr: Int64, indptr: Int64, indices: Int32
) -> None:
    """Write the rows of all graphs from their upper triangles by columns, six bits in each character.

    The first character of each text is its number of nodes.
    """
    out = 0
    for graph in range(len(text_ptr) - 1):
        start, low, high = text_ptr[graph] + 1, graph_ptr[graph], graph_ptr[graph + 1]
        for node in range(high - low):
            for other in range(high - low):
                if other == node:
                    continue
                row, column = min(node, other), max(node, other)
                bit = column * (column - 1) // 2 + row
                if characters[start + bit // 6] >> (5 - bit % 6) & 1:
                    indices[out] = low + other
                    out += 1
            indptr[low + node + 1] = out
