"""The door for PyTorch Geometric: rooted sizes for its GIN on EXP, and steps on distinct colours on NCI1.

Run as ``python benchmarks/pyg_door.py`` (needs TWINWL_DATA with EXP.zip and NCI1.zip). On EXP, 600 pairs
that 1-WL cannot tell apart: ten folds that keep pairs together; 20 epochs, nothing is tuned. On NCI1:
processor time of a step (forward and backward) of PyG's GIN and GCN of width 64, plain and lifted, by depth
and batch size; the plain way includes joining the graphs of a batch, except for the whole data set, which is
joined once. It prints tables and writes results/pyg_door.json.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from sklearn.model_selection import GroupKFold
from torch_geometric.data import Batch
from torch_geometric.loader import DataLoader
from torch_geometric.nn import global_add_pool
from torch_geometric.nn.models import GCN, GIN

import twinwl as tw
from twinwl.pyg import AddRootedSizes, lifted

if TYPE_CHECKING:
    from torch_geometric.data import Data

EPOCHS = 20
OUT = Path(__file__).parent / "results" / "pyg_door.json"


class Network(torch.nn.Module):
    """Layers of PyG, the sum over nodes, a linear layer."""

    def __init__(self, layers: GIN | GCN) -> None:
        super().__init__()
        self.layers = layers
        self.out = torch.nn.Linear(layers.out_channels, 2)

    def forward(self, data: Data) -> torch.Tensor:
        """Return logits."""
        return self.out(global_add_pool(self.layers(data.x.float(), data.edge_index), data.batch))


def main() -> None:
    """Train, print and store."""
    torch.set_num_threads(1)
    exp = tw.load_dataset("EXP")
    plain = exp.graphs.to_pyg()
    for graph, target in zip(plain, exp.y.tolist(), strict=True):
        graph.y = torch.tensor([target])
    add = AddRootedSizes(hops=3)
    contestants = {"GIN of PyG": plain, "with rooted sizes": [add(graph) for graph in plain]}
    folds = list(GroupKFold(10, shuffle=True, random_state=0).split(np.arange(len(plain)), exp.y, exp.groups))
    result = {
        name: [accuracy([data[i] for i in train], [data[i] for i in test]) for train, test in folds]
        for name, data in contestants.items()
    }
    table = Table("", "accuracy, %", title="EXP, ten folds")
    for name, scores in result.items():
        table.add_row(name, f"{100 * np.mean(scores):.1f} ± {100 * np.std(scores):.1f}")
    Console(width=80).print(table)
    steps = lifted_steps()
    stored = {"epochs": EPOCHS, "hops": add.hops, "accuracy": result, "lifted": steps}
    OUT.write_text(json.dumps(stored, indent=1) + "\n")


def lifted_steps() -> list[dict[str, Any]]:
    """Measure steps on NCI1, print them and return them."""
    data = tw.load_dataset("NCI1").graphs.to_pyg()
    codes = torch.cat([graph.x for graph in data]).flatten()
    for graph in data:
        graph.x = torch.nn.functional.one_hot(graph.x.flatten().long(), int(codes.max()) + 1).float()
    whole = Batch.from_data_list(data)
    order = np.random.default_rng(0).permutation(len(data))
    table = Table("", "depth", "nodes per row", "graphs", "plain, ms", "lifted, ms", "ratio", title="NCI1")
    steps = []
    for make in (GIN, GCN):
        for depth in (1, 2, 3, 4):
            torch.manual_seed(0)
            model = Network(make(whole.x.shape[1], 64, depth))
            network = torch.nn.Sequential(lifted(data, model.layers, "sum"), model.out)
            for size in (64, 1024, len(data)):
                rows = None if size == len(data) else order[:size]
                chosen = whole if rows is None else [data[row] for row in rows]
                times = [1000 * step_time(model, chosen), 1000 * step_time(network, rows)]
                ratio = len(whole.x) / network[0].n_colours(depth)
                names = ("model", "depth", "nodes_per_row", "graphs", "plain_ms", "lifted_ms")
                steps.append(dict(zip(names, (make.__name__, depth, ratio, size, *times), strict=True)))
                cells = (make.__name__, str(depth), f"{ratio:.0f}", str(size))
                table.add_row(*cells, *(f"{one:.1f}" for one in times), f"{times[0] / times[1]:.1f}")
    Console(width=80).print(table)
    return steps


def step_time(model: torch.nn.Module, graphs: Batch | list[Data] | np.ndarray | None) -> float:
    """Return the processor time of a step in seconds, the least of five; a list of graphs is joined in it."""
    times = []
    for _ in range(6):
        start = time.process_time()
        model.zero_grad()
        batch = Batch.from_data_list(graphs) if isinstance(graphs, list) else graphs
        model(batch).square().mean().backward()
        times.append(time.process_time() - start)
    return min(times[1:])


def accuracy(train: list[Data], test: list[Data]) -> float:
    """Train a network and return its accuracy on the test part after the last epoch."""
    torch.manual_seed(0)
    network = Network(GIN(train[0].x.shape[1], 32, 3, norm="batch_norm"))
    optimiser = torch.optim.Adam(network.parameters(), 1e-3)
    for _ in range(EPOCHS):
        network.train()
        for batch in DataLoader(train, 64, shuffle=True):
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(network(batch), batch.y).backward()
            optimiser.step()
    network.eval()
    with torch.no_grad():
        (batch,) = DataLoader(test, len(test))
        return float((network(batch).argmax(dim=1) == batch.y).float().mean())


if __name__ == "__main__":
    main()
