"""
Graphs from networkx: pieces of crystals
========================================

Cut a round piece out of a square, a triangular and a honeycomb lattice at many places. How
many different pieces are there, and how do they look? De-duplication is exact, so the answer
is a count.
"""

import matplotlib.pyplot as plt
import networkx as nx

import twinwl as tw

lattices = {
    "square": nx.grid_2d_graph(12, 12),
    "triangular": nx.triangular_lattice_graph(11, 22),
    "honeycomb": nx.hexagonal_lattice_graph(7, 7),
}
pieces, origin = [], []
for name, lattice in lattices.items():
    for node in lattice:
        pieces.append(nx.ego_graph(lattice, node, radius=2))
        origin.append(name)
plain = [nx.convert_node_labels_to_integers(nx.Graph(piece.edges)) for piece in pieces]
found = tw.deduplicate(plain)
print(f"{len(pieces)} pieces, {len(found.groups)} different")

# %%
# The most common piece of each lattice is that of its interior; the others are at its border.

fig, axes = plt.subplots(1, 3, figsize=(8.5, 3.2), layout="constrained")
for ax, (name, lattice) in zip(axes, lattices.items(), strict=True):
    groups = [group for group in found.groups if origin[group[0]] == name]
    most = max(groups, key=len)
    piece = pieces[most[0]]
    places = nx.get_node_attributes(lattice, "pos") or {node: node for node in lattice}
    nx.draw(piece, places, ax=ax, node_size=90, node_color="#77aadd", edgecolors="#5b6673", width=1.5)
    ax.set_title(f"{name}: {len(groups)} different\nthe most common, {len(most)} times")
    ax.set_aspect("equal")
plt.show()
