"""
Continuous features
===================

Colours are made of labels. Where nodes have vectors instead, NTwin-GNN runs its network on
them directly; ``discretise`` turns them into labels for everything else.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import twinwl as tw

# %%
# Points in a square, joined if they are close. The class is whether the graph is drawn from
# the upper or the lower half, which only the coordinates tell.

rng = np.random.default_rng(0)
edge_lists, points, y = [], [], []
for seed in range(160):
    graph = nx.random_geometric_graph(12, 0.45, seed=seed)
    place = np.array([graph.nodes[node]["pos"] for node in graph])
    side = int(rng.integers(0, 2))
    place[:, 1] = place[:, 1] * 0.7 + 0.3 * side
    edge_lists.append(list(graph.edges))
    points.append(place)
    y.append(side)
y = np.array(y)
graphs = tw.from_edges(edge_lists, node_features=points, num_nodes=[12] * 160)

network = tw.NTwinClassifier(layers=2, max_epochs=25, verbose=False).fit(graphs[:110], y[:110])
blind = tw.STwinSVC(n_iter=2, ignore_features=True).fit(graphs[:110], y[:110])
binned = tw.STwinSVC(n_iter=1, base="linear").fit(graphs[:110].discretise([0.25, 0.5, 0.75]), y[:110])
accuracy = {
    "labels only": blind.score(graphs[110:], y[110:]),
    "features in bins": binned.score(graphs[110:].discretise([0.25, 0.5, 0.75]), y[110:]),
    "NTwin on features": network.score(graphs[110:], y[110:]),
}

# %%

fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained", width_ratios=[1, 1.5])
for graph, colour in (
    (int(np.flatnonzero(y == 1)[0]), "#77aadd"),
    (int(np.flatnonzero(y == 0)[0]), "#ee8866"),
):
    for u, v in edge_lists[graph]:
        left.plot(*points[graph][[u, v]].T, color="#cccccc", linewidth=1, zorder=1)
    left.scatter(*points[graph].T, color=colour, edgecolors="#5b6673", s=45, zorder=2)
left.set(title="one graph of each class", xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[], aspect="equal")
bars = right.barh(list(accuracy), list(accuracy.values()), color=["#dddddd", "#eedd88", "#77aadd"])
right.bar_label(bars, fmt="{:.0%}", padding=3)
right.set(xlim=(0, 1.12), xlabel="accuracy on 50 new graphs")
plt.show()
