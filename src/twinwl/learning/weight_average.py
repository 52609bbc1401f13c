"""The mean of a network's weights over the last epochs, which is often better than those of any of them."""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

Weights: TypeAlias = dict[str, torch.Tensor]


def weights_of(module: torch.nn.Module) -> Weights:
    """Return a copy of a network's weights."""
    return {name: value.detach().clone() for name, value in module.state_dict().items()}


class WeightAverage:
    """The mean of the weights after each of the last epochs.

    Parameters
    ----------
    n_epochs
        Number of epochs; with 1 the network is left as it is.

    Attributes
    ----------
    recent : deque of dict
        Weights after the last epochs.

    >>> line, average = torch.nn.Linear(1, 1, bias=False), WeightAverage(2)
    >>> for weight in (1.0, 2.0, 4.0):
    ...     _ = line.weight.data.fill_(weight)
    ...     with average.applied(line):
    ...         print(line.weight.item())
    1.0
    1.5
    3.0
    >>> line.weight.item()
    4.0
    """

    def __init__(self, n_epochs: int) -> None:
        self.recent: deque[Weights] = deque(maxlen=n_epochs)

    @contextmanager
    def applied(self, module: torch.nn.Module) -> Iterator[None]:
        """Add the weights of an epoch, and give the network the mean within the block."""
        if self.recent.maxlen == 1:
            yield
            return
        self.recent.append(weights_of(module))
        module.load_state_dict({name: self._mean(name) for name in self.recent[-1]})
        yield
        module.load_state_dict(self.recent[-1])

    def _mean(self, name: str) -> torch.Tensor:
        *before, last = (weights[name] for weights in self.recent)
        if not last.is_floating_point():  # such as the number of batches that a layer has seen
            return last
        total = last.clone()
        for value in before:  # stacked, they would take as much memory again
            total += value
        return total.div_(len(self.recent))
