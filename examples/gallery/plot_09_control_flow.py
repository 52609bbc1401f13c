"""
Duplicate code in the standard library
======================================

The compiled code of a Python function is a directed graph: instructions are nodes, and an arc leads to
what may run next, labelled by whether it is the next instruction or a jump. Functions with isomorphic
graphs do the same steps, whatever their variables are called.
"""

import colorsys
import dis
import genericpath
import heapq
import inspect
import ntpath
import posixpath
import statistics
import textwrap

import matplotlib.pyplot as plt
import networkx as nx

import twinwl as tw


def flow(function):
    """The control-flow graph of a function, with the names of instructions as labels."""
    graph, code = nx.DiGraph(), list(dis.get_instructions(function))
    for instruction, following in zip(code, [*code[1:], None], strict=True):
        graph.add_node(instruction.offset, op=instruction.opname)
        if "JUMP" in instruction.opname or instruction.opname == "FOR_ITER":
            graph.add_edge(instruction.offset, instruction.argval, kind="jump")
        ends = instruction.opname.startswith(("RETURN", "JUMP_FORWARD", "JUMP_BACKWARD", "RAISE"))
        if following is not None and not ends:
            graph.add_edge(instruction.offset, following.offset, kind="next")
    return graph


modules = [genericpath, posixpath, ntpath, heapq, statistics, textwrap, colorsys]
functions = [
    function
    for module in modules
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if (function.__module__, function.__name__) == (module.__name__, name)
]
graphs = tw.from_networkx(map(flow, functions), node_label="op", edge_label="kind")
groups = [group for group in tw.deduplicate(graphs).groups if len(group) > 1]
print(f"{len(functions)} functions, {len(groups)} groups of functions that do the same steps:")
for group in groups:
    print("  ", ", ".join(f"{functions[graph].__module__}.{functions[graph].__name__}" for graph in group))

# %%
# The two functions of a group: their graphs are the same up to the numbering of nodes.

small = [group for group in groups if len(flow(functions[group[0]])) > 6]
pair = min(small, key=lambda group: len(flow(functions[group[0]])))[:2]
fig, axes = plt.subplots(1, 2, figsize=(5.4, 4.2), layout="constrained")
for ax, number in zip(axes, pair, strict=True):
    graph = flow(functions[number])
    places = {node: (0.0, -float(place)) for place, node in enumerate(sorted(graph))}
    jumps = [(u, v) for u, v, kind in graph.edges(data="kind") if kind == "jump"]
    steps = [edge for edge in graph.edges if edge not in jumps]
    options = {"ax": ax, "node_size": 90, "arrowsize": 9}
    nx.draw_networkx_edges(graph, places, steps, edge_color="#7a8594", **options)
    nx.draw_networkx_edges(
        graph, places, jumps, edge_color="#ee8866", connectionstyle="arc3,rad=0.6", **options
    )
    nx.draw_networkx_nodes(graph, places, ax=ax, node_size=90, node_color="#77aadd", edgecolors="#5b6673")
    for node, name in graph.nodes(data="op"):
        ax.text(0.03, places[node][1], name.lower(), va="center", fontsize=11)
    name = f"{functions[number].__module__}.{functions[number].__name__}"
    ax.set(title=f"{name}\n(orange: jumps)", xlim=(-0.25, 0.3))
    ax.axis("off")
plt.show()
