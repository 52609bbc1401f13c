"""Loading of models for a command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from twinwl.errors import TwinWLError


def load_predictor(path: Path) -> Any:  # noqa: ANN401  (models share no base that has predict)
    """Load a model that predicts classes or numbers.

    Raises
    ------
    TwinWLError
        If it is not a model file, or the model does not predict.
    """
    from twinwl.files.model_files import load  # noqa: PLC0415

    model = load(path)
    if not hasattr(model, "predict"):
        raise TwinWLError(
            f"{path}: contains a {type(model).__name__}, expected a classifier or regressor written by "
            "twinwl train"
        )
    return model


def model_of_task(model: Any, path: Path, task: str | None) -> Any:  # noqa: ANN401
    """Return the model of one target, which must be named if there are several."""
    tasks = model.tasks_
    if tasks is None:
        only = getattr(model, "target_", None)
        if task not in {None, only}:
            called = "" if only is None else f", {only!r}"
            raise TwinWLError(
                f"--for-task: got {task!r}, but {path} was trained on one target{called}; leave it out"
            )
        return model
    if task is None:
        raise TwinWLError(
            f"{path}: predicts {len(tasks)} targets; name one with --for-task: {', '.join(tasks)}"
        )
    if task not in tasks:
        raise TwinWLError(f"--for-task: got {task!r}, but {path} predicts {', '.join(tasks)}")
    return model.for_task(task)


def use_device(model: Any, device: str) -> None:  # noqa: ANN401
    """Let a network predict on a device; refuse one that is not there, and models that are no networks."""
    if not hasattr(model, "device"):
        raise TwinWLError(f"--device is for networks; the model is of {type(model).__name__}")
    from twinwl.neural.devices import device_of  # noqa: PLC0415  (loads torch)

    model.device = device_of(device).type
