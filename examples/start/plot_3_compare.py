"""
Compare, hash, de-duplicate
===========================

A hexagon and two triangles: every node has two neighbours, so 1-WL sees no difference.
With identities, a node of a triangle knows after two steps that it has met only three
nodes.
"""

import networkx as nx

import twinwl as tw

hexagon = nx.cycle_graph(6)
two_triangles = nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
outcome = tw.compare(hexagon, two_triangles)
print(outcome)
print(tw.graph_hash(nx.path_graph(3)))  # the same on every machine, in every version
print(tw.deduplicate([hexagon, two_triangles, hexagon]).labels)

# %%
# The rooted subgraph of one node, two steps wide: five nodes in the hexagon, three in the triangle.

import matplotlib.pyplot as plt

in_two_rows = {0: (0, 2), 1: (-1, 1), 2: (1, 1), 3: (0, -2), 4: (-1, -1), 5: (1, -1)}
fig, axes = plt.subplots(1, 2, figsize=(7, 3), layout="constrained")
for ax, graph in zip(axes, (hexagon, two_triangles), strict=True):
    reached = nx.single_source_shortest_path_length(graph, 0, cutoff=outcome.iteration)
    colours = ["#ee8866" if node == 0 else "#77aadd" if node in reached else "#dddddd" for node in graph]
    places = nx.kamada_kawai_layout(graph) if nx.is_connected(graph) else in_two_rows
    nx.draw(graph, places, ax=ax, node_color=colours, edgecolors="#5b6673", width=2, node_size=420)
    ax.set_title(f"in {outcome.iteration} steps the orange node meets {len(reached)} nodes")
    ax.set_aspect("equal")
    ax.margins(0.15)
plt.show()
