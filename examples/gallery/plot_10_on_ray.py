"""
Many graphs, on this machine or on Ray
======================================

Hashes need no shared state, so a collection can be cut into parts that any worker hashes. An
engine only moves the work: the result is the same on this machine and on a Ray cluster. Where
Ray is not installed (``pip install 'twinwl[cluster]'``), this example uses the local engine.
"""

import importlib.util

import matplotlib.pyplot as plt
import networkx as nx

import twinwl as tw
from twinwl.engines.engine import engine_of


def hashes_of_part(seed):
    """Draw 250 random graphs of seven nodes, and return their hashes."""
    return tw.graph_hashes([nx.gnp_random_graph(7, 0.5, seed=1000 * seed + n) for n in range(250)])


engine_name = "ray" if importlib.util.find_spec("ray") else "local"
with engine_of(engine_name, workers=2) as engine:
    parts = dict(engine.run(hashes_of_part, [(seed,) for seed in range(12)]))
with engine_of("local", workers=1) as engine:
    again = dict(engine.run(hashes_of_part, [(seed,) for seed in range(3)]))
print(f"engine: {engine_name}; the first parts are the same here: {all(parts[i] == again[i] for i in again)}")

# %%
# There are 1,044 graphs of seven nodes. The more are drawn, the rarer a new one is.

seen, distinct = set(), []
for place in sorted(parts):
    for each in parts[place]:
        seen.add(each)
        distinct.append(len(seen))

fig, ax = plt.subplots(layout="constrained")
ax.plot(distinct)
ax.axhline(1044, color="#7a8594", linestyle=":")
ax.set(xlabel="random graphs", ylabel="different hashes (dotted: all graphs)")
plt.show()
