"""
Readouts on a ladder
====================

A readout turns the rooted subgraph of a node into a value. The more it looks at, the more
graphs it tells apart, and the more it costs. :func:`twinwl.research.power` counts the pairs of a
suite; all pairs here are pairs that 1-WL cannot tell apart.
"""

import matplotlib.pyplot as plt
import numpy as np

import twinwl as tw

readouts = ["size", "edges", "rooted-wl", "marked-wl-1", "marked-wl-3", "canonical"]
suites = ["atlas", "csl", "cfi", "strongly-regular"]
found = {suite: tw.research.power({name: name for name in readouts}, suite, copies=1) for suite in suites}
print(found["cfi"])

# %%
# Sizes miss much; one marked node more tells strongly regular graphs apart; CFI graphs need
# up to three.

share = np.array(
    [[power.separated[name] / power.score(name).pairs for power in found.values()] for name in readouts]
)

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.imshow(share, cmap="Blues", vmin=0, vmax=1.4, aspect="auto")
ax.set_xticks(range(len(suites)), [f"{s}\n{p.score('size').pairs} pairs" for s, p in found.items()])
ax.set_yticks(range(len(readouts)), readouts)
ax.spines[:].set_visible(False)
for (row, column), value in np.ndenumerate(share):
    ax.text(column, row, f"{value:.0%}", ha="center", va="center")
ax.set_title("pairs told apart")
plt.show()
