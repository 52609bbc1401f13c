"""
What 1-WL cannot see, round by round
====================================

Decalin is two hexagons that share an edge, bicyclopentyl two pentagons joined by an edge. In every round,
each colour of 1-WL is equally frequent in both. The number of nodes that a node reaches is not.
"""

import matplotlib.pyplot as plt
import networkx as nx

import twinwl as tw

decalin = nx.Graph([(i, (i + 1) % 10) for i in range(10)] + [(0, 5)])
pentagons = [(i, (i + 1) % 5) for i in range(5)]
bicyclopentyl = nx.Graph(pentagons + [(u + 5, v + 5) for u, v in pentagons] + [(0, 5)])
graphs = tw.from_networkx([decalin, bicyclopentyl])
print(tw.compare(graphs[0], graphs[1]))

# %%
# The fill of a node is its colour, the number its rooted size: how many nodes it reaches in as many steps.
# In round 2 both agree; in round 3, nodes of one colour have different sizes in the two graphs.

colours, sizes = tw.colours(graphs, 3), tw.rooted_sizes(graphs, 3)
fills = ["#77aadd", "#ee8866", "#eedd88", "#44bb99", "#ffaabb", "#bbcc33"]
fig, axes = plt.subplots(2, 2, figsize=(5.6, 5.2), layout="constrained")
for row, graph, name, first in zip(
    axes, (decalin, bicyclopentyl), ("decalin", "bicyclopentyl"), (0, 10), strict=True
):
    places = nx.kamada_kawai_layout(graph)
    for ax, h in zip(row, (2, 3), strict=True):
        nodes = slice(first, first + 10)
        nx.draw(
            graph,
            places,
            ax=ax,
            node_color=[fills[colour % len(fills)] for colour in colours[h][nodes]],
            labels=dict(zip(graph, sizes[h][first : first + 10].tolist(), strict=False)),
            nodelist=list(range(10)),
            edgecolors="#5b6673",
            node_size=420,
            font_size=11,
        )
        ax.set_title(f"{name}, round {h}")
        ax.margins(0.12)
plt.show()
