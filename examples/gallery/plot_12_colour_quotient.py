"""
The colour quotient
===================

NTwin-GNN runs a network inside the rooted subgraph of every node. Nodes that look alike to
1-WL inside their subgraphs have the same state, so one row per colour is enough: the same
function, up to rounding, on far fewer rows.
"""

import matplotlib.pyplot as plt
import numpy as np

import twinwl as tw
from twinwl.neural.quotient import build_quotient

sizes = [10, 30, 100, 300]
rows = []
for n_pairs in sizes:
    graphs = tw.load_dataset("TWINS", n_pairs=n_pairs).graphs
    quotient = build_quotient(graphs, layers=3, hops=3)
    rows.append([quotient.n_pairs[0], *quotient.n_colours[1:]])
print(quotient)

# %%
# The number of pairs of root and node grows with the data; the number of colours hardly does.

fig, ax = plt.subplots(layout="constrained")
names = ["pairs of root and node", "colours, layer 1", "colours, layer 2", "colours, layer 3"]
for name, line in zip(names, np.transpose(rows), strict=True):
    ax.loglog(np.multiply(sizes, 2), line, "o-", label=name)
ax.set_xticks(np.multiply(sizes, 2), np.multiply(sizes, 2))
ax.minorticks_off()
ax.set(xlabel="graphs", ylabel="rows of the network")
ax.legend()
plt.show()
