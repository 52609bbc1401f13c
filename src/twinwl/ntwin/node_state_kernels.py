"""Kernels that find the states which the rooted subgraphs of a graph share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twinwl.compilation.kernel import kernel

if TYPE_CHECKING:
    from twinwl.arrays import Int32, Int64

__all__ = ["Arcs", "States", "heard_states", "pooled_states", "share_states"]

# Which nodes have a mark of their own, after 0 for none.
_ROOT_ONLY, _BY_DISTANCE = 1, 2


class Arcs(NamedTuple):
    """Steps of walks, and the messages of each node, with the code of each message."""

    indptr: Int64
    indices: Int32
    message_ptr: Int64
    sender: Int32
    code: Int32


class States(NamedTuple):
    """Shared states of all layers under one numbering.

    Of n nodes and K layers, number ``layer * n + node`` is the state in the whole graph,
    ``(K + 1 + mark) * n + node`` a marked input, and the numbers after these are rows of their own, graph by
    graph: row r has the entries ``ptr[r]`` to ``ptr[r + 1]``, its own state in the layer below and those that
    it hears.
    """

    ptr: Int64
    items: Int64
    message: Int64
    layer: Int32
    first_row: Int64
    times: Int32


@kernel
def _longer(array: np.ndarray, needed: int) -> np.ndarray:
    """Return the array, or a longer copy if it has fewer entries than needed."""
    if needed <= len(array):
        return array
    longer = np.zeros(max(needed, 2 * len(array)), array.dtype)
    longer[: len(array)] = array
    return longer


@kernel
def share_states(  # noqa: C901, PLR0912, PLR0915  (one pass, few calls)
    arcs: Arcs, graph_ptr: Int64, roots: Int64, root_ptr: Int64, hops: Int64, mark: int, n_marks: int
) -> States:
    """Give each node of each rooted subgraph the number of its state, layer by layer, and count them."""
    n, n_layers = len(arcs.indptr) - 1, len(hops)
    n_shared = (n_layers + 1) * n
    first = n_shared + n_marks * n
    ptr, items, message = np.zeros(64, np.int64), np.zeros(256, np.int64), np.zeros(256, np.int64)
    layer_of_row, hash_of_row = np.zeros(64, np.int32), np.zeros(64, np.int64)
    count = np.zeros(first + 64, np.int32)
    table = np.full(128, -1, np.int64)
    n_rows = 0
    first_row = np.zeros(len(graph_ptr), np.int64)
    members = np.empty(n, np.int32)
    distance = np.full(n, -1, np.int64)
    now, after = np.empty(n, np.int64), np.empty(n, np.int64)
    widest = 0
    for radius in hops:
        widest = max(widest, radius)
    for graph in range(len(graph_ptr) - 1):
        if n_rows:  # states of another graph cannot recur
            table = np.full(128, -1, np.int64)
        n_here = 0
        for place in range(root_ptr[graph], root_ptr[graph + 1]):
            root = roots[place]
            if hops[0] < 0:  # no rooted subgraphs: the states of the whole graph
                for layer in range(1, n_layers + 1):
                    count[layer * n + root] += 1
                continue
            members[0] = root
            distance[root] = 0
            n_members, cursor = 1, 0
            while cursor < n_members and distance[members[cursor]] < widest:
                node = members[cursor]
                cursor += 1
                for arc in range(arcs.indptr[node], arcs.indptr[node + 1]):
                    other = arcs.indices[arc]
                    if distance[other] < 0:
                        distance[other] = distance[node] + 1
                        members[n_members] = other
                        n_members += 1
            for radius in range(widest + 1):
                deepest = 0
                for layer in range(n_layers):
                    if hops[layer] == radius:
                        deepest = layer + 1
                if not deepest:
                    continue
                n_inside = 0
                while n_inside < n_members and distance[members[n_inside]] <= radius:
                    node = members[n_inside]
                    now[node] = node
                    if mark == _BY_DISTANCE:
                        now[node] = n_shared + distance[node] * n + node
                    n_inside += 1
                if mark == _ROOT_ONLY:
                    now[root] = n_shared + root
                for layer in range(1, deepest + 1):
                    for inside in range(n_inside):
                        node = members[inside]
                        start, stop = arcs.message_ptr[node], arcs.message_ptr[node + 1]
                        end = ptr[n_rows] + 1
                        items = _longer(items, end + stop - start)
                        message = _longer(message, end + stop - start)
                        own = now[node]
                        items[end - 1] = own
                        whole = own < n_shared
                        code = own & 0x3FFFFFFFFFF
                        for entry in range(start, stop):
                            other = arcs.sender[entry]
                            if distance[other] < 0 or distance[other] > radius:
                                whole = False
                                continue
                            state = now[other]
                            whole = whole and state < n_shared
                            items[end] = state
                            message[end] = entry
                            end += 1
                            code = ((code * 1000003) ^ state) & 0x3FFFFFFFFFF
                        if whole:
                            after[node] = layer * n + node
                            continue
                        if 2 * (n_here + 1) > len(table):
                            table = np.full(4 * len(table), -1, np.int64)
                            for row in range(n_rows - n_here, n_rows):
                                slot = (hash_of_row[row] ^ (hash_of_row[row] >> 19)) & (len(table) - 1)
                                while table[slot] >= 0:
                                    slot = (slot + 1) & (len(table) - 1)
                                table[slot] = row
                        slot = (code ^ (code >> 19)) & (len(table) - 1)
                        begin = ptr[n_rows]
                        while table[slot] >= 0:
                            row = table[slot]
                            if hash_of_row[row] == code and ptr[row + 1] - ptr[row] == end - begin:
                                same = True
                                for offset in range(end - begin):
                                    if items[ptr[row] + offset] != items[begin + offset]:
                                        same = False
                                        break
                                if same:
                                    break
                            slot = (slot + 1) & (len(table) - 1)
                        if table[slot] < 0:
                            table[slot] = n_rows
                            ptr = _longer(ptr, n_rows + 2)
                            layer_of_row = _longer(layer_of_row, n_rows + 1)
                            hash_of_row = _longer(hash_of_row, n_rows + 1)
                            count = _longer(count, first + n_rows + 1)
                            ptr[n_rows + 1] = end
                            layer_of_row[n_rows] = layer
                            hash_of_row[n_rows] = code
                            n_rows += 1
                            n_here += 1
                        after[node] = first + table[slot]
                    now, after = after, now
                    if hops[layer - 1] == radius:
                        for inside in range(n_inside):
                            count[now[members[inside]]] += 1
            for inside in range(n_members):
                distance[members[inside]] = -1
        first_row[graph + 1] = n_rows
    return States(
        ptr[: n_rows + 1], items, message, layer_of_row[:n_rows], first_row, count[: first + n_rows]
    )


@kernel
def pooled_states(
    states: States, graph_ptr: Int64, layer: int, heard: Int64, place: Int32
) -> tuple[Int64, Int64, Int32, Int32]:
    """Return the states of a layer, those that are heard first, and the pooling matrix in these places."""
    n, n_graphs = graph_ptr[-1], len(graph_ptr) - 1
    first = len(states.times) - len(states.layer)
    most = n
    for of_row in states.layer:
        most += of_row == layer
    ids = np.empty(len(heard) + most, np.int64)
    ids[: len(heard)] = heard
    n_ids, written = len(heard), 0
    pool_ptr = np.zeros(n_graphs + 1, np.int64)
    pooled, counts = np.empty(most, np.int32), np.empty(most, np.int32)
    for graph in range(n_graphs):
        n_nodes = graph_ptr[graph + 1] - graph_ptr[graph]
        for entry in range(n_nodes + states.first_row[graph + 1] - states.first_row[graph]):
            if entry < n_nodes:
                state = layer * n + graph_ptr[graph] + entry
            else:
                row = states.first_row[graph] + entry - n_nodes
                if states.layer[row] != layer:
                    continue
                state = first + row
            if not states.times[state]:
                continue
            if place[state] < 0:
                place[state] = n_ids
                ids[n_ids] = state
                n_ids += 1
            pooled[written] = place[state]
            counts[written] = states.times[state]
            written += 1
        pool_ptr[graph + 1] = written
    return ids[:n_ids].copy(), pool_ptr, pooled[:written].copy(), counts[:written].copy()


@kernel
def heard_states(  # noqa: C901, PLR0912  (one pass, few calls)
    states: States, arcs: Arcs, ids: Int64, place: Int32, sizes: tuple[int, int, int], coded: bool
) -> tuple[Int64, Int32, Int64]:
    """Return what each state hears, in places of the layer below, and the states in these places."""
    n, n_layers, n_marks = sizes
    first = (n_layers + 1 + n_marks) * n
    hear_ptr = np.zeros(len(ids) + 1, np.int64)
    for index in range(len(ids)):
        if ids[index] < first:
            node = ids[index] % n
            length = 1 + arcs.message_ptr[node + 1] - arcs.message_ptr[node]
        else:
            row = ids[index] - first
            length = states.ptr[row + 1] - states.ptr[row]
        hear_ptr[index + 1] = hear_ptr[index] + (2 * length - 1 if coded else length)
    heard = np.empty(hear_ptr[-1], np.int32)
    below = np.empty(hear_ptr[-1], np.int64)
    n_below = 0
    for index in range(len(ids)):
        shared = ids[index] < first
        node = ids[index] % n if shared else 0
        row = 0 if shared else ids[index] - first
        length = hear_ptr[index + 1] - hear_ptr[index]
        if coded:
            length = (length + 1) // 2
        for offset in range(length):
            if not shared:
                state = states.items[states.ptr[row] + offset]
            elif offset:
                other = arcs.sender[arcs.message_ptr[node] + offset - 1]
                state = ids[index] - node - n + other
            else:
                state = ids[index] - n
            if place[state] < 0:
                place[state] = n_below
                below[n_below] = state
                n_below += 1
            heard[hear_ptr[index] + offset] = place[state]
    if coded:  # the number of rows below is known only now
        for index in range(len(ids)):
            shared = ids[index] < first
            node = ids[index] % n if shared else 0
            row = 0 if shared else ids[index] - first
            length = (hear_ptr[index + 1] - hear_ptr[index] + 1) // 2
            for offset in range(1, length):
                if shared:
                    entry = arcs.message_ptr[node] + offset - 1
                else:
                    entry = states.message[states.ptr[row] + offset]
                heard[hear_ptr[index] + length + offset - 1] = n_below + arcs.code[entry]
    return hear_ptr, heard, below[:n_below].copy()
