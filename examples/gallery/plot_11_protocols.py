"""
Protocols, and how much of a headline they are
==============================================

The same training curves give three figures, depending on who picks the epoch: a part of the
training graphs (fair), the mean over the test folds, or each test fold for itself. Here the
classes are coin flips, so that every point above one half is an artefact.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import twinwl as tw

graphs = tw.from_networkx([nx.gnm_random_graph(12, 16, seed=seed) for seed in range(100)])
coins = np.random.default_rng(1).integers(0, 2, 100)
result = tw.evaluate("stwin", (graphs, coins), n_folds=10, verbose=False)
protocols = ["fair", "best-epoch", "best-fold-epoch"]
summaries = {protocol: result.summary(protocol, "accuracy") for protocol in protocols}
for protocol, summary in summaries.items():
    print(f"{protocol:16} {summary.mean:.1%}")

# %%
# Nothing was learnt, because there is nothing to learn. The third figure says otherwise.

fig, ax = plt.subplots(figsize=(7, 2.6), layout="constrained")
for place, summary in enumerate(summaries.values()):
    ax.plot(summary.fold_scores, np.full(10, place), "o", color="#dddddd", mec="#7a8594")
    ax.plot(summary.mean, place, "D", ms=10)
ax.axvline(0.5, color="#7a8594", linestyle=":")
ax.set_yticks(range(3), protocols)
ax.set(xlabel="accuracy on coin flips: folds, and their mean", xlim=(0, 1), ylim=(2.5, -0.5))
plt.show()
