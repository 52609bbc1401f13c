"""
What 1-WL cannot see, round by round
====================================

Decalin is two hexagons that share an edge, bicyclopentyl two pentagons joined by one. In
every round, each colour of 1-WL is equally frequent in both. The number of nodes that a
node reaches is not.
"""

import matplotlib.pyplot as plt
import networkx as nx

import twinwl as tw
from twinwl.refinement.colours import refine
from twinwl.refinement.identities import rooted_sizes

decalin = nx.Graph([(i, (i + 1) % 10) for i in range(10)] + [(0, 5)])
pentagons = [(i, (i + 1) % 5) for i in range(5)]
bicyclopentyl = nx.Graph(pentagons + [(u + 5, v + 5) for u, v in pentagons] + [(0, 5)])
graphs = tw.from_networkx([decalin, bicyclopentyl])
outcome = tw.compare(graphs[0], graphs[1])
print(outcome)

# %%
# One row per round: the paint of a node is its colour, the number in it its rooted size.
# Round 3 is the first in which some number with some paint is not equally frequent.

colours = refine(graphs, 3).colours
sizes = rooted_sizes(graphs, 3)
paints = ["#77aadd", "#ee8866", "#eedd88", "#44bb99", "#ffaabb", "#bbcc33"]

fig, axes = plt.subplots(3, 2, figsize=(8, 7.5), layout="constrained")
for row, h in zip(axes, (1, 2, 3), strict=True):
    for place, (ax, graph) in enumerate(zip(row, (decalin, bicyclopentyl), strict=True)):
        nodes = slice(graphs.graph_ptr[place], graphs.graph_ptr[place + 1])
        nx.draw(
            graph,
            {node: (y, x) for node, (x, y) in nx.kamada_kawai_layout(graph).items()},
            ax=ax,
            node_color=[paints[colour % len(paints)] for colour in colours[h][nodes]],
            labels=dict(enumerate(sizes[h][nodes].tolist())),
            edgecolors="#5b6673",
            node_size=380,
            font_size=10,
        )
        ax.set_title(("decalin", "bicyclopentyl")[place] + f", round {h}")
        ax.set_aspect("equal")
        ax.margins(0.15)
plt.show()
