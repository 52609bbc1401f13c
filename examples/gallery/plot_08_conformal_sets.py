"""
Conformal sets
==============

A class probability says little about how often the model is right. ``predict_set`` returns
the classes that cannot be ruled out: if new graphs are like the training graphs, the true
class is among them at least as often as was asked for.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import twinwl as tw

makers = {
    "small world": lambda seed: nx.connected_watts_strogatz_graph(20, 4, 0.3, seed=seed),
    "random": lambda seed: nx.gnm_random_graph(20, 40, seed=seed),
    "preferential": lambda seed: nx.barabasi_albert_graph(20, 2, seed=seed),
}
names = list(makers)
y = np.tile(names, 160)
graphs = tw.from_networkx([makers[name](seed) for seed, name in enumerate(y)])
model = tw.STwinSVC(n_iter=1, features="size", C=1.0).fit(graphs[:240], y[:240])
print(f"accuracy on new graphs: {model.score(graphs[240:], y[240:]):.2f}")

# %%
# The more confidence is asked for, the more classes stay in the sets.

asked = [0.6, 0.7, 0.8, 0.9, 0.95]
column = np.searchsorted(model.classes_, y[240:])
covered, size = [], []
for confidence in asked:
    sets = model.predict_set(graphs[240:], confidence)
    covered.append(sets[np.arange(240), column].mean())
    size.append(sets.sum(axis=1).mean())

fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
left.axline((0.6, 0.6), slope=1, color="#7a8594", linestyle=":")
left.plot(asked, covered, "o-")
left.set(xlabel="confidence asked for", ylabel="sets with the true class", xlim=(0.55, 1), ylim=(0.55, 1))
right.plot(asked, size, "o-", color="#ee8866")
right.set(xlabel="confidence asked for", ylabel="mean number of classes in a set", ylim=(0, 3))
plt.show()
