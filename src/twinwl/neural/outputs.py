"""One network for several tasks: one output per task, and the model of a single task taken out of it."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np
import torch

from twinwl.arrays import Bool, Float32, Float64, Int64, Values
from twinwl.errors import TwinWLError
from twinwl.graphs.coercion import GraphsLike
from twinwl.models.hold_out import rarest_classes
from twinwl.models.state import task_names_from_state
from twinwl.models.targets import Answered, Given, Measurements, MultiTask, Targets, Tasks, given_for

Outputs = TypeVar("Outputs", "Float32", torch.Tensor)


class TaskOutputs(MultiTask):
    """What neural estimators do with targets, for one task or for several.

    Where ``_learns_tasks`` is true, the network ends in a linear layer ``second``, and one network learns
    several tasks of two classes, or numbers. It has one output per task, for classes the logit of the second.
    """

    _per_task: ClassVar[tuple[str, ...]]
    """Attributes of which each task has its own."""

    module_: torch.nn.Module
    held_out_outputs_: Float32 | None

    # ------------------------------------------------------------------ one task

    def _targets(
        self, y: object, n_graphs: int, sample_weight: object, groups: object, known: Bool | None = None
    ) -> Targets | Measurements:
        """Check the targets of a task, and keep what predictions need of them."""
        raise NotImplementedError

    def _answers(self, y: object, n_graphs: int, name: str) -> Int64 | Float64:
        """Return targets of other graphs as the network learns them; ``name`` says what they are for."""
        raise NotImplementedError

    @property
    def _n_outputs(self) -> int:
        """Number of outputs for one task."""
        raise NotImplementedError

    def _own_outputs(self, outputs: Outputs, place: int) -> Outputs:
        """Return the outputs (or weights of the last layer) of one task among several, as if it were alone.

        A copy with as many entries on its last axis as the network of that task has outputs.
        """
        raise NotImplementedError

    def _keep_scores(self, outputs: Float32 | None, answers: Int64 | Float64 | None) -> None:
        """Keep what conformal prediction needs of the held-out graphs; None where there are none."""
        raise NotImplementedError

    def _own_to_state(self) -> dict[str, object]:
        """Return what is kept of the targets, for a model file."""
        raise NotImplementedError

    def _own_from_state(self, state: Mapping[str, object]) -> None:
        """Undo `_own_to_state`."""
        raise NotImplementedError

    def _build_module(self, n_outputs: int) -> torch.nn.Module:
        """Return a fresh network."""
        raise NotImplementedError

    def _outputs(self, X: GraphsLike) -> Float32:
        """Return what the network says, shape (n_graphs, n_outputs)."""
        raise NotImplementedError

    # ------------------------------------------------------------------ all tasks

    def _all_targets(
        self, y: object, n_graphs: int, sample_weight: object, groups: object
    ) -> Targets | Measurements | TaskTable:
        """Check the targets, and keep what predictions need of them."""
        tasks = Tasks.of(y, n_graphs) if self._learns_tasks else None
        self.tasks_ = None
        if tasks is None:
            return self._targets(y, n_graphs, sample_weight, groups)
        models = [copy.copy(self) for _ in tasks.names]

        def targets(model: Self, column: Values, known: Bool) -> Targets | Measurements:
            found = model._targets(column, n_graphs, sample_weight, groups, known)
            if isinstance(found, Targets) and len(found.classes) > 2:  # noqa: PLR2004
                raise TwinWLError(
                    f"got {len(found.classes)} classes, expected 2 where a network learns several tasks; "
                    "train that task alone, or use STwinSVC"
                )
            return found

        found = tasks.each(targets, models, tasks.columns, tasks.known.T)
        self.tasks_ = tasks.names
        self._gather(models)
        return TaskTable.of(tasks, found, sample_weight, groups)

    def _all_answers(self, y: object, n_graphs: int, name: str) -> Int64 | Float64:
        """Return targets of other graphs as the network learns them."""
        if self.tasks_ is None:
            return self._answers(y, n_graphs, name)
        tasks = Tasks.of(y, n_graphs, empty=True)
        if tasks is None or len(tasks.names) != len(self.tasks_):
            raise TwinWLError(f"{name}: expected targets with {len(self.tasks_)} columns, one per task")
        if not tasks.known.any():
            raise TwinWLError(f"{name}: all targets are missing; give some that are known")

        def answers(model: Self, column: Values, known: Bool) -> Values:
            found = model._answers(column[known], int(known.sum()), name)
            out = np.full(n_graphs, np.nan if found.dtype.kind == "f" else -1, found.dtype)
            out[known] = found
            return out

        columns = tasks.each(answers, list(self._bare()), tasks.columns, tasks.known.T)
        return cast("Int64 | Float64", np.stack(columns, axis=1))

    def _keep_all_scores(self, outputs: Float32 | None, answers: Int64 | Float64 | None) -> None:
        """Keep what conformal prediction needs of the held-out graphs."""
        if self.tasks_ is None:
            self._keep_scores(outputs, answers)
            return
        models = list(self._bare())
        for place, model in enumerate(models):
            own, known = None, None
            if outputs is not None and answers is not None:
                column = answers[:, place]
                rows = np.flatnonzero(~np.isnan(column) if column.dtype.kind == "f" else column >= 0)
                own, known = self._own_outputs(outputs, place)[rows], column[rows]
            model._keep_scores(own, known)  # noqa: SLF001
        self._gather(models)

    def _all_to_state(self) -> dict[str, object]:
        """Return what is kept of the targets, for a model file."""
        if self.tasks_ is None:
            return self._own_to_state()
        outputs = [model._own_to_state() for model in self._bare()]  # noqa: SLF001
        return {"tasks": list(self.tasks_), "outputs": outputs}

    def _all_from_state(self, state: Mapping[str, object]) -> int:
        """Undo `_all_to_state`; return the number of the network's outputs."""
        if "tasks" not in state:
            self._own_from_state(state)
            return self._n_outputs
        self.tasks_ = task_names_from_state(state)
        outputs = state.get("outputs")
        if not isinstance(outputs, list) or len(outputs) != len(self.tasks_):
            raise TwinWLError("the model's outputs do not fit its tasks; the file is damaged")
        models = [copy.copy(self) for _ in outputs]
        for model, output in zip(models, outputs, strict=True):
            model._own_from_state(output)  # noqa: SLF001
        self._gather(models)
        return len(outputs)

    # ------------------------------------------------------------------ one of several

    def _of_task(self, place: int) -> Self:
        """Return the model of one task; its network shares all weights but those of the last layer."""
        model = list(self._bare())[place]
        weights = dict(self.module_.state_dict())
        weights["second.weight"] = self._own_outputs(weights["second.weight"].T, place).T.contiguous()
        weights["second.bias"] = self._own_outputs(weights["second.bias"], place)
        with torch.device("meta"):
            model.module_ = model._build_module(model._n_outputs)  # noqa: SLF001
        model.module_.load_state_dict(weights, assign=True)
        model.module_.eval()
        held = getattr(self, "held_out_outputs_", None)  # a loaded model has none
        model.held_out_outputs_ = None if held is None else self._own_outputs(held, place)
        return model

    def _ask(self, X: GraphsLike) -> Iterator[tuple[Self, GraphsLike]]:
        outputs = self._outputs(X)
        for place, model in enumerate(self._bare()):
            yield model, cast("GraphsLike", Answered(self._own_outputs(outputs, place)))

    def _bare(self) -> Iterator[Self]:
        """Yield the model of each task, without a network of its own."""
        for place in range(len(self.tasks_ or ())):
            model = copy.copy(self)
            model.tasks_ = None
            for name in self._per_task:
                if hasattr(self, name):
                    setattr(model, name, getattr(self, name)[place])
            yield model

    def _gather(self, models: list[Self]) -> None:
        for name in self._per_task:
            setattr(self, name, [getattr(model, name, None) for model in models])


@dataclass(frozen=True, eq=False)
class TaskTable(Given):
    """The targets of several tasks as a network learns them: one row per graph with a known target.

    Attributes
    ----------
    answers : array, shape (n_graphs, n_tasks)
        Class codes, -1 where a target is unknown; or standardised numbers, NaN where it is.
    weight_of_entry : array of float64, shape (n_graphs, n_tasks), or None
        Weight of each, 0 where it is unknown; None if all known ones count the same.
    """

    answers: Int64 | Float64
    weight_of_entry: Float64 | None

    @classmethod
    def of(
        cls, tasks: Tasks, targets: Sequence[Targets | Measurements], sample_weight: object, groups: object
    ) -> TaskTable:
        """Put the targets of each task side by side."""
        n_graphs, anything = len(tasks.known), np.logical_or.reduce(tasks.known, axis=1)
        given = given_for(np.zeros(n_graphs), n_graphs, sample_weight, groups, anything)[1]
        unknown = np.nan if targets[0].answers.dtype.kind == "f" else -1
        answers: Any = np.full((len(given.rows), len(targets)), unknown, targets[0].answers.dtype)
        weights = np.zeros(answers.shape)
        for task, one in enumerate(targets):
            places = np.searchsorted(given.rows, one.rows)
            answers[places, task], weights[places, task] = one.answers, one.importance()
        weighed = any(one.weighed for one in targets)
        return cls(given.rows, given.weights, given.groups, answers, weights if weighed else None)

    @property
    def weighed(self) -> bool:
        """Whether some targets may count more than others."""
        return self.weight_of_entry is not None

    def importance(self) -> Float64:
        """Return how much each target weighs."""
        return np.ones(self.answers.shape) if self.weight_of_entry is None else self.weight_of_entry

    @property
    def codes(self) -> Int64:
        """Codes by which to stratify; all 0 for numbers."""
        if self.answers.dtype.kind == "f":
            return np.zeros(len(self.rows), np.int64)
        return rarest_classes(np.asarray(self.answers, np.int64))
