"""
A corpus on Ray
===============

A corpus is a folder of Parquet shards, so it may hold more graphs than memory does. An engine only
moves the work: the result has the same bytes on this machine and on a Ray cluster. Where Ray is not
installed (``pip install 'twinwl[cluster]'``), this example uses the local engine.
"""

import importlib.util
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import twinwl as tw

folder = Path(tempfile.mkdtemp())
graphs = [nx.gnp_random_graph(7, 0.5, seed=seed) for seed in range(3000)]
(folder / "random.g6").write_bytes(b"".join(nx.to_graph6_bytes(graph, header=False) for graph in graphs))

# %%
# A connection to Ray that the program has made is used; on a cluster, pass ``address`` instead.

engine = "ray" if importlib.util.find_spec("ray") else "local"
if engine == "ray":
    import ray

    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")

# %%
# ``build`` parses once and gives each graph a key of 128 bits; ``dedup`` keeps one of each, exactly.

where = {"engine": engine, "workers": 2}
corpus = tw.Corpus.build(folder / "random.g6", folder / "corpus", rows_per_shard=500, **where)
distinct = corpus.dedup(folder / "distinct", **where)
again = corpus.dedup(folder / "again", engine="local", workers=1)
same = all(a.read_bytes() == b.read_bytes() for a, b in zip(distinct.shards, again.shards, strict=True))
print(f"{corpus}; {len(distinct)} distinct; engine: {engine}; the same bytes on this machine: {same}")

# %%
# There are 1,044 graphs of seven nodes. Those with many symmetries are drawn seldom, so the distinct graphs
# are spread wider than those that were drawn.

fig, ax = plt.subplots(layout="constrained")
bins = np.arange(23) - 0.5
for name, each in (("drawn", corpus), ("distinct", distinct)):
    edges = [graph.n_edges for batch in each for graph in batch]
    ax.hist(edges, bins, density=True, alpha=0.6, label=f"{name}: {len(each):,}")
ax.set(xlabel="edges", ylabel="share of graphs")
ax.legend()
plt.show()

# %%
if engine == "ray":
    ray.shutdown()
