"""PyTorch Geometric's own GIN on EXP, 600 pairs that 1-WL cannot tell apart, without and with rooted sizes.

Run as ``python benchmarks/pyg_door.py`` (needs TWINWL_DATA with EXP.zip). Ten folds that keep pairs together;
20 epochs, nothing is tuned. It prints a table and writes results/pyg_door.json.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from sklearn.model_selection import GroupKFold
from torch_geometric.loader import DataLoader
from torch_geometric.nn import global_add_pool
from torch_geometric.nn.models import GIN

import twinwl as tw
from twinwl.pyg import AddRootedSizes

if TYPE_CHECKING:
    from torch_geometric.data import Data

EPOCHS = 20
OUT = Path(__file__).parent / "results" / "pyg_door.json"


class Network(torch.nn.Module):
    """PyG's GIN, the sum over nodes, a linear layer."""

    def __init__(self, n_columns: int) -> None:
        super().__init__()
        self.gin = GIN(n_columns, 32, 3, norm="batch_norm")
        self.out = torch.nn.Linear(32, 2)

    def forward(self, data: Data) -> torch.Tensor:
        """Return logits."""
        return self.out(global_add_pool(self.gin(data.x.float(), data.edge_index), data.batch))


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
    OUT.write_text(json.dumps({"epochs": EPOCHS, "hops": add.hops, "accuracy": result}, indent=1) + "\n")


def accuracy(train: list[Data], test: list[Data]) -> float:
    """Train a network and return its accuracy on the test part after the last epoch."""
    torch.manual_seed(0)
    network = Network(train[0].x.shape[1])
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
