"""The neural baselines with one row per distinct colour, and with one row per node, pair or set.

Run as ``python benchmarks/baselines.py`` (needs TWINWL_DATA with NCI1.zip and EXP), or with names of methods
to measure only these. On one thread, processor time of a training step on 32 graphs of NCI1, for PPGN of EXP
(forward, backward, and on rows cutting the batch; the mean over twenty batches) and of the evaluation of 411
graphs. Both ways have the same weights; rounds alternate and the least of three counts. The plain way is
the oracle of the tests, `tests/baselines/plain.py`. How many items a row stands for is the mean over all
levels of one batch. The table is written to results/baselines.json, with the difference of the outputs in
single precision, relative to the largest.
"""

from __future__ import annotations

import copy
import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

import twinwl as tw
from twinwl.evaluation.methods import resolve
from twinwl.neural.training import seeded

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from tests.baselines import plain  # noqa: E402  (the oracle of the tests)
from tests.baselines.plain import GraphExamples, RootedExamples  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

OUT = Path(__file__).parent / "results" / "baselines.json"
# The method, its parameters, its plain network, the plain input, and that input's parameter.
METHODS: list[
    tuple[str, dict[str, Any], Callable[..., torch.Tensor], Callable[..., Any], tuple[int, ...]]
] = [
    ("gcn", {"layers": 3}, plain.gcn, GraphExamples, ()),
    ("gcn", {"layers": 5}, plain.gcn, GraphExamples, ()),
    ("gin", {"layers": 2}, plain.gin, GraphExamples, ()),
    ("gin", {"layers": 4}, plain.gin, GraphExamples, ()),
    ("sortpool", {"hidden": 64}, plain.sort_pool, GraphExamples, ()),
    ("diffpool", {"cluster_ratio": 0.25}, plain.diffpool, GraphExamples, ()),
    ("nested-gin", {"height": 2}, plain.nested_gin, RootedExamples, (2,)),
    ("nested-gin", {"height": 3}, plain.nested_gin, RootedExamples, (3,)),
    ("3-hop-gnn", {"hidden": 64}, plain.k_hop, RootedExamples, (3,)),
    ("123-gnn", {"hidden": 32}, plain.one_two_three, plain.SetExamples, ()),
    ("ppgn", {"layers": 3}, plain.ppgn, plain.PairExamples, ()),
]
# The data set, where it is not NCI1.
SETS = {"ppgn": "EXP"}
BATCHES, ROUNDS = 20, 3


class Kept:
    """The plain input, which the oracle makes from scratch: each batch is cut once, before it is measured."""

    def __init__(self, examples: Any) -> None:  # noqa: ANN401
        self.examples = examples
        self.parts: dict[bytes, Any] = {}

    def part(self, rows: np.ndarray) -> Any:  # noqa: ANN401
        """Return the input of some graphs."""
        if rows.tobytes() not in self.parts:
            self.parts[rows.tobytes()] = self.examples.part(rows)
        return self.parts[rows.tobytes()]


class Way(NamedTuple):
    """A network, and what cuts its input."""

    network: torch.nn.Module
    run: Callable[[torch.nn.Module, Any], torch.Tensor]
    examples: Any

    def outputs(self, rows: np.ndarray) -> torch.Tensor:
        """Return the logits of some graphs."""
        return self.run(self.network, self.examples.part(rows))


def main() -> None:
    """Measure, print and store."""
    torch.set_num_threads(1)
    chosen = sys.argv[1:] or [name for name, *_ in METHODS]
    table = Table("method", "", "items per row", "step, ms", "", "ratio", "evaluation, ms", "", "ratio")
    stored = json.loads(OUT.read_text(encoding="utf-8")) if OUT.exists() else []
    found = [row for row in stored if row["method"] not in chosen]
    for name, parameters, run, kind, more in METHODS:
        if name not in chosen:
            continue
        graphs = tw.load_dataset(SETS.get(name, "NCI1")).graphs
        order = np.random.default_rng(0).permutation(len(graphs))
        held, batches = order[:411], order[411 : 411 + 32 * BATCHES].reshape(BATCHES, 32)
        method = resolve(name)
        estimator = method.build(parameters, 0)
        lifted = estimator._fit_examples(graphs)  # noqa: SLF001
        columns = estimator.inputs_.columns(graphs)
        with seeded(0):
            network = estimator._build_module(2)  # noqa: SLF001
        ways = [
            Way(copy.deepcopy(network), run, Kept(kind(graphs, columns, *more))),
            Way(network, lambda network, part: network.logits(*part), lifted),
        ]
        steps = alternating([partial(train, way, batches) for way in ways])
        evaluations = alternating([partial(evaluate, way, held) for way in ways])
        first, second = (evaluate(way, held) for way in ways)
        levels, numbers = lifted.part(batches[0]).levels, range(lifted.levels.n_levels)
        n_rows = sum(len(levels.level(number).counts) for number in numbers)
        items = sum(int(levels.item_ptr(number)[-1]) for number in numbers) / n_rows
        found.append(
            {
                "method": name,
                **parameters,
                "items_per_row": items,
                "plain_step_ms": steps[0] / BATCHES,
                "step_ms": steps[1] / BATCHES,
                "plain_evaluation_ms": evaluations[0],
                "evaluation_ms": evaluations[1],
                "relative_difference": float((first - second).abs().max() / first.abs().max()),
            }
        )
        told = ", ".join(f"{key}={value}" for key, value in parameters.items())
        pairs = ((steps[0] / BATCHES, steps[1] / BATCHES), evaluations)
        cells = [cell for a, b in pairs for cell in (f"{a:.1f}", f"{b:.1f}", f"{a / b:.1f}")]
        table.add_row(name, told, f"{items:.1f}", *cells)
    Console(width=110).print(table)
    OUT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def alternating(ways: list[Callable[[], object]]) -> list[float]:
    """Return the least processor time of each, in milliseconds, after a first call that is not counted."""
    for way in ways:
        way()
    times: list[list[float]] = [[] for _ in ways]
    for _ in range(ROUNDS):
        for way, of_way in zip(ways, times, strict=True):
            start = time.process_time()
            way()
            of_way.append(1000 * (time.process_time() - start))
    return [min(each) for each in times]


def train(way: Way, batches: np.ndarray) -> None:
    """Compute the gradients of some batches."""
    way.network.train()
    for rows in batches:
        way.network.zero_grad()
        way.outputs(rows).square().mean().backward()


def evaluate(way: Way, rows: np.ndarray) -> torch.Tensor:
    """Return the outputs as at prediction; the running statistics are the first ones."""
    network = copy.deepcopy(way.network).eval()
    for layer in network.modules():
        if isinstance(layer, torch.nn.BatchNorm1d):
            layer.reset_running_stats()
    with torch.no_grad():
        return way._replace(network=network).outputs(rows)


if __name__ == "__main__":
    main()
