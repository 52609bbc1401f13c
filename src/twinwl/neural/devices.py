"""Where a network is trained: the choice of the device, its precision, and moving of inputs.

Determinism: seeding of torch without changing its global state.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
import torch

from twinwl.errors import TwinWLError


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch within the block, and restore its generator afterwards.

    >>> with seeded(0):
    ...     first = torch.rand(1)
    >>> with seeded(0):
    ...     bool(torch.rand(1) == first)
    True
    """
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield


@contextmanager
def single_threaded() -> Iterator[None]:
    """Limit torch to one thread within the block: more threads would slow small batches down.

    One thread also sums in a fixed order, so a result does not depend on the number of cores.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


DEVICES = ("auto", "cpu", "cuda", "mps")

T = TypeVar("T")


def device_of(name: str, *, or_else: str | None = None) -> torch.device:
    """Return a device by its name; ``"auto"`` is the first available of cuda, mps and cpu.

    Parameters
    ----------
    name
        One of `DEVICES`.
    or_else
        What to take where there is no such device, as for a model trained elsewhere; None is an error.

    >>> device_of("cpu")
    device(type='cpu')
    """
    there = [kind for kind, found in _found().items() if found]
    if name == "auto":
        return torch.device(there[0])
    if name in there:
        return torch.device(name)
    if or_else is not None:
        return torch.device(or_else)
    raise TwinWLError(
        f"device: got {name!r}, which torch does not find here; there is {' and '.join(there)}. "
        "device='auto' takes the best there is"
    )


def _found() -> dict[str, bool]:
    mps = getattr(torch.backends, "mps", None)
    return {"cuda": torch.cuda.is_available(), "mps": mps is not None and mps.is_available(), "cpu": True}


def own_device(module: torch.nn.Module) -> torch.device:
    """Return the device of a network's weights; the processor where it has none."""
    return next((weight.device for weight in module.parameters()), torch.device("cpu"))


def moved(value: T, device: torch.device) -> T:
    """Return an input of a network with all its tensors on a device; arrays and numbers stay as they are.

    >>> moved((torch.ones(1), 3), torch.device("meta"))[0].device
    device(type='meta')
    """
    if isinstance(value, torch.Tensor):
        return value.to(device)  # type: ignore[return-value]
    if isinstance(value, tuple) and not isinstance(value, torch.Size):
        parts = [moved(part, device) for part in value]
        named = hasattr(value, "_fields")
        return type(value)(*parts) if named else type(value)(parts)
    return value


def as_tensor(array: np.ndarray, device: torch.device) -> torch.Tensor:
    """Return an array as a tensor on a device, without a copy on the processor."""
    return torch.from_numpy(array).to(device)
