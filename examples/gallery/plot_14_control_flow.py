"""
Directed and edge-labelled graphs: control flow
===============================================

A Python function is a directed graph: instructions are nodes, and an arc leads to what may
run next, labelled by whether it is the next line or a jump. Functions with equal graphs do
the same steps, whatever their variables are called.
"""

import dis

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
        ends = instruction.opname.startswith(("RETURN", "JUMP_FORWARD", "JUMP_BACKWARD"))
        if following is not None and not ends:
            graph.add_edge(instruction.offset, following.offset, kind="next")
    return graph


def total(values):
    result = 0
    for value in values:
        if value > 0:
            result += value
    return result


def summed(numbers):
    s = 0
    for n in numbers:
        if n > 0:
            s += n
    return s


def largest(values):
    result = 0
    for value in values:
        result = max(result, value)
    return result


functions = [total, summed, largest]
graphs = tw.from_networkx(map(flow, functions), node_label="op", edge_label="kind")
for function, name in zip(functions, tw.graph_hashes(graphs), strict=True):
    print(f"{function.__name__:8} {name}")
print(tw.deduplicate(graphs).groups)

# %%
# ``total`` and ``summed`` are one graph; ``largest`` differs in what it does with a value.

fig, axes = plt.subplots(1, 2, figsize=(8.5, 5.5), layout="constrained")
here = {name for _, name in flow(total).nodes(data="op")}
for ax, function in zip(axes, (total, largest), strict=True):
    graph = flow(function)
    order = {node: place for place, node in enumerate(sorted(graph))}
    places = {node: (0.0, -float(place)) for node, place in order.items()}
    jumps = [(u, v) for u, v, kind in graph.edges(data="kind") if kind == "jump"]
    steps = [edge for edge in graph.edges if edge not in jumps]
    options = {"ax": ax, "node_size": 90, "arrowsize": 9}
    nx.draw_networkx_edges(graph, places, steps, edge_color="#7a8594", **options)
    nx.draw_networkx_edges(
        graph, places, jumps, edge_color="#ee8866", connectionstyle="arc3,rad=0.6", **options
    )
    nx.draw_networkx_nodes(graph, places, ax=ax, node_size=90, node_color="#77aadd", edgecolors="#5b6673")
    for node, name in graph.nodes(data="op"):
        ax.text(0.03, places[node][1], name.lower(), va="center", fontsize=7)
    ax.set(title=f"{function.__name__}  (orange: jumps)", xlim=(-0.25, 0.3))
    ax.axis("off")
plt.show()
