"""
Regression
==========

:class:`twinwl.STwinSVR` predicts numbers. Here the graphs are random trees, and the number
is the Wiener index per pair: the mean distance between two nodes.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import twinwl as tw

rng = np.random.default_rng(0)
trees = [nx.random_labeled_tree(int(n), seed=seed) for seed, n in enumerate(rng.integers(8, 24, 300))]
y = np.array([nx.average_shortest_path_length(tree) for tree in trees])
graphs = tw.from_networkx(trees)
model = tw.STwinSVR(n_iter=(2, 3, 4)).fit(graphs[:200], y[:200])
predicted = model.predict(graphs[200:])
low, high = model.predict_interval(graphs[200:], confidence=0.9).T
inside = np.mean((low <= y[200:]) & (y[200:] <= high))
print(f"rounds chosen: {model.n_iter_}; true values inside the 90 % intervals: {inside:.0%}")

# %%
# Intervals come from graphs that the model had not learnt from.

fig, ax = plt.subplots(figsize=(5.5, 4.6), layout="constrained")
ax.errorbar(y[200:], predicted, yerr=(high - low) / 2, fmt="o", ms=5, elinewidth=0.7, ecolor="#bbbbbb")
ax.axline((3, 3), slope=1, color="#7a8594", linestyle=":")
ax.set(xlabel="mean distance between two nodes", ylabel="predicted, with 90 % intervals")
plt.show()
