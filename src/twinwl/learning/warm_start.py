"""Going on from the network of an earlier fit."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from twinwl.errors import TwinWLError, shown

if TYPE_CHECKING:
    from collections.abc import Collection


def check_same_shape(earlier: dict[str, object], now: dict[str, object], free: Collection[str]) -> None:
    """Refuse to go on if a parameter that is not about training has changed.

    >>> check_same_shape({"hidden": 64, "patience": 15}, {"hidden": 32, "patience": 5}, {"patience"})
    Traceback (most recent call last):
    twinwl.errors.TwinWLError: warm_start: hidden was 64 and is 32; set it back, or warm_start=False
    """
    for name, value in now.items():
        before = earlier.get(name)
        if name not in free and before is not value and before != value:
            raise TwinWLError(
                f"warm_start: {name} was {shown(before)} and is {shown(value)}; set it back, or "
                "warm_start=False"
            )


def check_same_targets(earlier: Any, now: Any) -> None:  # noqa: ANN401  (estimators)
    """Refuse to go on with other classes or tasks; what the estimator was is then put back."""
    old = getattr(earlier, "classes_", None)
    same = earlier.tasks_ == now.tasks_
    if same and old is not None:
        new = now.classes_
        pairs = [(old, new)] if earlier.tasks_ is None else list(zip(old, new, strict=True))
        same = all(np.array_equal(before, after) for before, after in pairs)
    if not same:
        wanted = f"classes {old}" if earlier.tasks_ is None else f"tasks {earlier.tasks_} with classes {old}"
        vars(now).clear()
        vars(now).update(vars(earlier))
        raise TwinWLError(
            f"warm_start: y has other classes or tasks than before, {wanted}; give the same, or set "
            "warm_start=False"
        )


def network_of(earlier: Any, now: Any) -> torch.nn.Module:  # noqa: ANN401
    """Return a copy of the earlier network; that of a regressor answers in the units of the new targets."""
    module: torch.nn.Module = copy.deepcopy(earlier.module_)
    if hasattr(earlier, "scale_"):
        factor = np.asarray(earlier.scale_) / np.asarray(now.scale_)
        shift = (np.asarray(earlier.mean_) - np.asarray(now.mean_)) / np.asarray(now.scale_)
        last: Any = module.second
        with torch.no_grad():
            last.weight.mul_(torch.from_numpy(np.atleast_1d(factor)[:, None]).to(last.weight.dtype))
            last.bias.mul_(torch.from_numpy(np.atleast_1d(factor)).to(last.bias.dtype))
            last.bias.add_(torch.from_numpy(np.atleast_1d(shift)).to(last.bias.dtype))
    return module
