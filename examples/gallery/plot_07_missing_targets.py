"""
Several tasks, some targets missing
===================================

One model learns all columns of a table. Features and kernel matrices are computed once, and
NaN means that a target is unknown: the row still serves the other tasks.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from sklearn.metrics import roc_auc_score

import twinwl as tw

graphs = [nx.gnm_random_graph(14, 18, seed=seed) for seed in range(240)]
truth = np.array(
    [
        [
            sum(nx.triangles(graph).values()) > 0,
            nx.is_connected(graph),
            max(degree for _, degree in graph.degree) >= 6,
        ]
        for graph in graphs
    ],
    dtype=float,
)
tasks = ["has a triangle", "is connected", "has a hub"]
batch = tw.from_networkx(graphs)

# %%
# More and more targets of the training graphs are unknown; the test graphs stay the same.

rng = np.random.default_rng(0)
shares, scores = [0.0, 0.3, 0.6, 0.8], []
for share in shares:
    y = np.where(rng.random((160, 3)) < share, np.nan, truth[:160])
    model = tw.STwinSVC(n_iter=2, C=1.0, features="joint", readout="edges").fit(batch[:160], y)
    decisions = [each[:, 1] for each in model.predict_proba(batch[160:])]
    scores.append([roc_auc_score(truth[160:, task], decisions[task]) for task in range(3)])

fig, ax = plt.subplots(layout="constrained")
for name, line in zip(tasks, np.transpose(scores), strict=True):
    ax.plot([f"{share:.0%}" for share in shares], line, "o-", label=name)
ax.axhline(0.5, color="#7a8594", linestyle=":")
ax.set(xlabel="unknown targets in training", ylabel="ROC-AUC on 80 new graphs")
ax.legend()
plt.show()
