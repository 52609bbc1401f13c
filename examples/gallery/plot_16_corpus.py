"""
A corpus: more graphs than memory holds
=======================================

A corpus is a folder of Parquet shards, so it may hold more graphs than memory does. It is built and
de-duplicated shard by shard, and goes on where it was stopped. With ``engine="ray"`` the same calls
run on a Ray cluster, and write the same bytes.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import twinwl as tw

folder = Path(tempfile.mkdtemp())
lines = [
    nx.to_graph6_bytes(nx.gnp_random_graph(7, 0.5, seed=seed), header=False).decode() for seed in range(3000)
]
(folder / "random.g6").write_text("".join(lines))

# %%
# ``build`` parses once and gives each graph a key of 128 bits; ``dedup`` keeps one of each, exactly.

corpus = tw.Corpus.build(folder / "random.g6", folder / "corpus", rows_per_shard=500, workers=2)
distinct = corpus.dedup(folder / "distinct", workers=2)
again = corpus.dedup(folder / "again", workers=1)
same = all(a.read_bytes() == b.read_bytes() for a, b in zip(distinct.shards, again.shards, strict=True))
print(f"{corpus}; {len(distinct)} distinct; the same bytes with one worker: {same}")

# %%
# There are 1,044 graphs of seven nodes. Graphs with many symmetries are drawn seldom: the distinct ones have
# another number of edges than those that were drawn.

fig, ax = plt.subplots(layout="constrained")
bins = np.arange(23) - 0.5
for name, each in (("drawn", corpus), ("distinct", distinct)):
    edges = [graph.n_edges for batch in each for graph in batch]
    ax.hist(edges, bins, density=True, alpha=0.6, label=f"{name}: {len(each):,}")
ax.set(xlabel="edges", ylabel="share of graphs")
ax.legend()
plt.show()
