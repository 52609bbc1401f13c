"""Determinism: seeding of torch without changing its global state."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["seeded", "single_threaded"]


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch within the block, and put its generator back afterwards.

    >>> with seeded(0):
    ...     first = torch.rand(1)
    >>> with seeded(0):
    ...     bool(torch.rand(1) == first)
    True
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


@contextmanager
def single_threaded() -> Iterator[None]:
    """Keep torch to one thread within the block: small batches lose more to hand-overs than they gain.

    One thread also adds up in one order, so a result does not depend on the number of cores.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
