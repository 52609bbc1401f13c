"""
Which readouts tell hard pairs apart?
=====================================

A readout maps the rooted subgraph of a node to a value. The more it uses of the subgraph, the more graphs
it tells apart. :func:`twinwl.research.power` counts the pairs of a suite; 1-WL tells none of these pairs
apart. A readout can be a function of your own, such as the number of triangles.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import twinwl as tw


def triangles(rooted):
    """The number of triangles of the rooted subgraph."""
    return sum(nx.triangles(rooted.to_networkx()).values()) // 3


readouts = {"size": "size", "my own: triangles": [triangles]}
readouts |= {name: name for name in ("edges", "rooted-wl", "marked-wl-1", "marked-wl-3", "canonical")}
suites = ["atlas", "csl", "cfi", "strongly-regular"]
found = {suite: tw.research.power(readouts, suite, copies=1) for suite in suites}
print(found["cfi"])

# %%

share = np.array(
    [[power.separated[name] / power.score(name).pairs for power in found.values()] for name in readouts]
)
fig, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
ax.imshow(share, cmap="Blues", vmin=0, vmax=1.4, aspect="auto")
ax.set_xticks(range(len(suites)), [f"{s}\n{p.score('size').pairs} pairs" for s, p in found.items()])
ax.set_yticks(range(len(readouts)), readouts)
ax.spines[:].set_visible(False)
for (row, column), value in np.ndenumerate(share):
    ax.text(column, row, f"{value:.0%}", ha="center", va="center", fontsize=12)
ax.set_title("pairs told apart")
plt.show()
