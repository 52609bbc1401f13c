"""
Protocols: how choosing by test scores inflates accuracy
========================================================

The same training curves give three figures, depending on what chooses the epoch: a part of the training
graphs (``fair``), the mean over the test folds, or each test fold. Here the classes of the molecules of
MUTAG are replaced by coin flips, so that there is nothing to learn.
"""

import matplotlib.pyplot as plt
import numpy as np

import twinwl as tw

data = tw.load_dataset("MUTAG")
rng = np.random.default_rng(0)
coins = rng.integers(0, 2, len(data.graphs))
result = tw.evaluate("stwin", (data.graphs, coins), edge_labels=False, verbose=False)
protocols = ["fair", "best-epoch", "best-fold-epoch"]
summaries = {protocol: result.summary(protocol, "accuracy") for protocol in protocols}
for protocol, summary in summaries.items():
    print(f"{protocol:16} {summary.mean:.1%}")

# %%
# One point per fold, and their mean. The dotted line is guessing.

fig, ax = plt.subplots(layout="constrained")
for place, summary in enumerate(summaries.values()):
    jitter = rng.uniform(-0.15, 0.15, len(summary.fold_scores))
    ax.plot(summary.fold_scores, place + jitter, "o", ms=6, alpha=0.6)
    ax.plot(summary.mean, place, "D", ms=9, color="#333333")
ax.axvline(0.5, color="#7a8594", linestyle=":")
ax.set_yticks(range(3), protocols)
ax.set(xlabel="accuracy on coin flips", ylim=(2.5, -0.5))
plt.show()
