"""
Your own network inside rooted subgraphs
========================================

The paper promises that any network can be the readout of a rooted subgraph. Here an untrained
network looks at the square of the adjacency matrix inside each subgraph, something that no
message-passing network computes, and tells a pair apart that 1-WL confuses.
"""

import matplotlib.pyplot as plt
import networkx as nx
import torch

from twinwl.nn import GraphData, RootedSubgraphEncoder


class ClosedWalks(torch.nn.Module):
    """Sum an MLP over the numbers of closed walks of length 2 and 3 from each node."""

    def __init__(self, width):
        super().__init__()
        self.mlp = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, width))

    def forward(self, x, edge_index, batch):
        adjacency = torch.zeros(len(x), len(x))
        adjacency[edge_index[0], edge_index[1]] = 1
        square = adjacency @ adjacency
        walks = torch.stack([square.diagonal(), (square @ adjacency).diagonal()], dim=1)
        sums = torch.zeros(int(batch.max()) + 1, self.mlp[-1].out_features)
        return sums.index_add(0, batch, self.mlp(walks))


def data_of(graph):
    arcs = torch.tensor([*graph.edges, *((v, u) for u, v in graph.edges)]).T
    return GraphData(torch.ones(len(graph), 1), arcs, None, torch.zeros(len(graph), dtype=int), 1)


# %%
# Each layer looks one step farther. The prism and K3,3 are both 3-regular with six nodes.

torch.manual_seed(0)
encoder = RootedSubgraphEncoder([ClosedWalks(8), ClosedWalks(8)], hops=[1, 2])
with torch.no_grad():
    rows = [encoder(data_of(g))[0] for g in (nx.circular_ladder_graph(3), nx.complete_bipartite_graph(3, 3))]
print("largest difference:", float((rows[0] - rows[1]).abs().max()).__round__(2))

# %%

fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
for row, name, shift in zip(rows, ("prism", "$K_{3,3}$"), (-0.2, 0.2), strict=True):
    ax.bar(torch.arange(16) + shift, row, width=0.4, label=name)
ax.axvline(7.5, color="#7a8594", linestyle=":")
ax.set(xlabel="entry of the representation: one step, then two steps", ylabel="value")
ax.legend()
plt.show()
