"""What the processes of data-parallel training do in tests."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import torch

import twinwl as tw
from twinwl.neural import training
from twinwl.neural.data_parallel import PartOfBatches
from twinwl.neural.devices import seeded
from twinwl.neural.optimiser import SparseAwareAdam

MODELS = {
    "stwin": lambda: tw.STwinClassifier(2, hidden=8, dropout=0.0),
    "ntwin": lambda: tw.NTwinClassifier(2, hidden=8, dropout=0.0),
}


def problem(name):
    """Return a network, its examples and the classes of 24 graphs."""
    data = tw.load_dataset("TWINS:n_pairs=12")
    model = MODELS[name]()
    examples = model._fit_examples(data.graphs)
    model.tasks_ = None
    with seeded(0):
        module = model._build_module(2)
    if name == "ntwin":
        module.input_dropout.p = 0.0
    return module, examples, np.array(data.y, np.int64)


class WithoutCheckpoints(PartOfBatches):
    def saved(self):
        return None

    def save(self, state):
        pass


def joined(rank, world, folder, function, *arguments):
    """Call a function in one of several connected processes."""
    if world == 1:
        return function(training.Part(), *arguments)
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=world
    )
    try:
        return function(WithoutCheckpoints(rank, world), *arguments)
    finally:
        torch.distributed.destroy_process_group()


def gradients(part, name, n_rows):
    """Return all gradients of one step."""
    module, examples, answers = problem(name)
    batch, answers = np.arange(n_rows), torch.as_tensor(answers)
    part.prepare(module, 0, 0)
    module.train()
    with SparseAwareAdam(module, 1e-3) as optimiser:
        rows = part.rows(batch)
        loss = training._loss(module(examples.take(rows)), answers[rows], None)
        part.share(loss, answers[rows], answers[batch]).backward()
        part.add_gradients(module, optimiser)
    return {key: weight.grad.to_dense().numpy() for key, weight in module.named_parameters()}


def curve(part, name):
    """Train for some epochs; return losses and weights."""
    module, examples, answers = problem(name)
    history = training.train(module, examples, answers, max_epochs=6, batch_size=7, part=part)
    return history.train_loss, {key: value.numpy() for key, value in module.state_dict().items()}


class Deadly:
    """Examples that kill the process once, in the middle of training."""

    def __init__(self, examples, mark, after):
        self.examples, self.mark, self.after = examples, Path(mark), after

    def __len__(self):
        return len(self.examples)

    def take(self, rows):
        self.after -= 1
        if self.after == 0 and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.examples.take(rows)
