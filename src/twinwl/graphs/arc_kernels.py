"""The kernels of `twinwl.graphs.assembly`: arcs in any order become sorted rows without repetitions."""

from __future__ import annotations

from twinwl.compilation.kernel import kernel

__all__ = ["bucket", "merge"]


@kernel
def bucket(sources, targets, given, directed, cursor, place_of_node, moved, moved_codes, entries, codes):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Enter each arc at its source and, where undirected, its reverse at its target, in order of neighbours.

    An entry is ``2 * neighbour + reversed``: the bit remembers from which end an edge was named, so that
    naming it from both ends is no repetition but naming it twice from one end is. Entries go into buckets by
    neighbour first and by node then. Both times they keep their order, so a node's are sorted in the end.
    """
    for end in range(1 if directed else 2):
        for arc in range(len(sources)):
            here, there = (targets[arc], sources[arc]) if end else (sources[arc], targets[arc])
            place = cursor[there]
            moved[place] = 2 * here + end
            if len(given):
                moved_codes[place] = given[arc]
            cursor[there] = place + 1
    begin = 0
    for there in range(len(cursor) - 1):
        # Filling the buckets has moved each one's begin to its end.
        for place in range(begin, cursor[there]):
            here, end = moved[place] >> 1, moved[place] & 1
            entries[place_of_node[here]] = 2 * there + end
            if len(given):
                codes[place_of_node[here]] = moved_codes[place]
            place_of_node[here] += 1
        begin = cursor[there]


@kernel
def merge(indptr, entries, codes, indices, found):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Keep one entry per neighbour; `indptr` and `codes` are rewritten in place.

    Written to ``found``: the number of repetitions, the ends of an edge with two labels, and those of one
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
                if len(codes) and codes[place] != codes[first] and found[1] < 0:
                    found[1], found[2] = node, target
                # Only repetitions in the direction it was named count, or each would count twice.
                if entries[place] == entries[place - 1] and entries[place] & 1 == 0:
                    found[0] += 1
                place += 1
            if entries[place - 1] & 1 == 0 and found[3] < 0:  # no entry came from the other end
                found[3], found[4] = node, target
            indices[out] = target
            if len(codes):
                codes[out] = codes[first]
            out += 1
        start = end
        indptr[node + 1] = out
    return out
