"""Training on several processes at once: each takes a part of every batch, and gradients are added up.

All processes draw the same batches and hold the same weights. Each computes the loss of its rows as a part of
the mean over the batch, so that the sum of the gradients is that of one process; normalisation over graphs
sums its statistics over all processes. After every epoch a checkpoint is written, and a run whose worker died
goes on from the last one. Ray Train starts the processes and watches them.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple, cast

import cloudpickle
import numpy as np
import torch

from twinwl.arguments import NAME, PATH, checked, integer
from twinwl.arrays import Float64, Int64
from twinwl.engines import RETRIES, connected
from twinwl.errors import TwinWLError, check_extra, import_extra
from twinwl.files.atomic import errors_of_writing
from twinwl.neural.network import PooledSumNorm
from twinwl.neural.optimiser import SparseAwareAdam
from twinwl.neural.training import Examples, History, Part, train

_FILE = "state.pt"
_MAX_WORKERS = 4096


class _Where(NamedTuple):
    workers: int
    address: str | None
    folder: Path | None


_WHERE: ContextVar[_Where | None] = ContextVar("where", default=None)


@contextlib.contextmanager
def data_parallel(
    workers: int, address: str | None = None, folder: str | Path | None = None
) -> Iterator[None]:
    """Train the STwin and NTwin networks of this block on several workers of Ray (extra ``cluster``).

    The gradient of a step is that of one process on the same batch, up to rounding; only dropout draws other
    units. Each worker holds all training graphs and computes its part of every batch.

    Parameters
    ----------
    workers
        Number of processes, with one processor each.
    address
        Of a running cluster, as in `twinwl.engines.engine_of`; None starts Ray on this machine.
    folder
        Where checkpoints are written while a network is trained; on a cluster all nodes have to reach it.
        None uses a temporary folder of this machine.

    Yields
    ------
    None
        While the block runs.

    Examples
    --------
    >>> import twinwl as tw
    >>> data = tw.load_dataset("TWINS")
    >>> with tw.data_parallel(workers=2):  # doctest: +SKIP
    ...     model = tw.NTwinClassifier(random_state=0).fit(data.graphs, data.y)
    """
    where = _Where(
        checked("workers", workers, integer(1, _MAX_WORKERS)),
        checked("address", address, NAME, None),
        checked("folder", folder, PATH, None),
    )
    check_extra("ray", "cluster")
    token = _WHERE.set(where)
    try:
        yield
    finally:
        _WHERE.reset(token)


def is_data_parallel() -> bool:
    """Return whether networks are trained on several processes here."""
    return _WHERE.get() is not None


def fit_network(
    module: torch.nn.Module,
    examples: Examples,
    targets: Int64 | Float64,
    **options: Any,  # noqa: ANN401
) -> History:
    """Train as `twinwl.neural.training.train` does: here, or on the workers of `data_parallel`.

    Parameters
    ----------
    module, examples, targets, options
        As in `train`. ``progress`` is called only where training runs in this process.
    """
    where = _WHERE.get()
    if where is None:
        return train(module, examples, targets, **options)
    options.pop("progress", None)
    if options.get("device", "cpu") == "mps":
        raise TwinWLError("device: got 'mps', but data_parallel trains on processors or cuda; set 'cpu'")
    options["device"] = "cuda" if options.get("device") == "cuda" else "cpu"
    with contextlib.ExitStack() as stack:
        stack.enter_context(connected(where.workers, where.address))
        _check_gpus(where.workers, options["device"])
        # A folder of its own for each network: Ray Train goes on with whatever run it finds in one.
        if where.folder is not None:
            with errors_of_writing(where.folder):
                where.folder.mkdir(parents=True, exist_ok=True)
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="twinwl-", dir=where.folder))
        job = (module, examples, targets, options)
        state = _train_on_ray(job, where.workers, Path(folder), use_gpu=options["device"] == "cuda")
    module.load_state_dict(state["module"])
    module.eval()
    history: History = state["history"]
    return history


class PartOfBatches(Part):
    """One of the processes that share batches; torch.distributed connects them.

    Parameters
    ----------
    rank, world
        Number of this process, and of all.
    device
        Where this process computes: NCCL connects nothing else than GPUs.
    """

    def __init__(self, rank: int, world: int, device: str = "cpu") -> None:
        self._rank, self._world, self._device = rank, world, device
        self._norms: list[PooledSumNorm] = []

    def prepare(self, module: torch.nn.Module, random_state: int, epoch: int) -> None:
        """Find the layers that normalise; seed dropout by epoch, so that a restart draws the same."""
        self._norms = [layer for layer in module.modules() if isinstance(layer, PooledSumNorm)]
        sequence = np.random.SeedSequence([random_state, epoch, self._rank])
        torch.manual_seed(int(sequence.generate_state(1)[0]))

    def rows(self, batch: Int64) -> Int64:
        """Return every n-th row; of a batch with fewer rows than processes, each computes all."""
        is_shared = len(batch) >= self._world
        for layer in self._norms:
            layer.total = _differentiable_total if is_shared else None
        return batch[self._rank :: self._world] if is_shared else batch

    def share(self, loss: torch.Tensor, ours: torch.Tensor, whole: torch.Tensor) -> torch.Tensor:
        """Return the part that a mean loss over our answers has in the mean over those of the batch."""
        if len(whole) < self._world:
            return loss / self._world
        return loss * (_n_known(ours) / max(1, _n_known(whole)))

    def add_gradients(self, module: torch.nn.Module, optimiser: SparseAwareAdam) -> None:
        """Replace gradients by their sums over all processes."""
        dense = [weight for weight in module.parameters() if _has_gradient(weight, sparse=False)]
        if dense:
            joined = torch.cat([cast("torch.Tensor", weight.grad).flatten() for weight in dense])
            torch.distributed.all_reduce(joined)
            parts = torch.split(joined, [weight.numel() for weight in dense])
            for weight, part in zip(dense, parts, strict=True):
                weight.grad = part.view_as(weight).clone()
        for weight in module.parameters():
            if _has_gradient(weight, sparse=True):
                weight.grad = self._summed_rows(cast("torch.Tensor", weight.grad))
        optimiser.catch_up()  # rows that only other processes have used

    def total(self, number: float) -> float:
        """Return the sum of a number over all processes."""
        summed = torch.tensor([number], dtype=torch.float64, device=self._device)
        torch.distributed.all_reduce(summed)
        return summed.item()

    def _summed_rows(self, grad: torch.Tensor) -> torch.Tensor:
        """Join the rows that any process has, those of all in the same order, and add up equal ones."""
        indices, values = grad._indices()[0], grad._values()  # noqa: SLF001
        lengths = [indices.new_zeros(1) for _ in range(self._world)]
        torch.distributed.all_gather(lengths, indices.new_tensor([len(indices)]))
        longest = max(int(length) for length in lengths)
        padded = torch.nn.functional.pad(indices, (0, longest - len(indices)))
        padded_values = torch.nn.functional.pad(values, (0, 0, 0, longest - len(indices)))
        places = [torch.empty_like(padded) for _ in lengths]
        parts = [torch.empty_like(padded_values) for _ in lengths]
        torch.distributed.all_gather(places, padded)
        torch.distributed.all_gather(parts, padded_values)
        rows = torch.cat([each[: int(length)] for each, length in zip(places, lengths, strict=True)])
        sums = torch.cat([each[: int(length)] for each, length in zip(parts, lengths, strict=True)])
        return torch.sparse_coo_tensor(rows[None], sums, grad.shape, check_invariants=False).coalesce()

    def saved(self) -> dict[str, Any] | None:
        """Return the state of the last checkpoint, if training was interrupted."""
        from ray.train import get_checkpoint  # noqa: PLC0415  (only where Ray runs)

        checkpoint = get_checkpoint()
        if checkpoint is None:
            return None
        with checkpoint.as_directory() as folder:
            path = Path(folder, _FILE)
            state: dict[str, Any] = torch.load(path, map_location=self._device, weights_only=False)
            return state

    def save(self, state: dict[str, Any]) -> None:
        """Write a checkpoint; every process calls this, the first one writes."""
        from ray.train import Checkpoint, report  # noqa: PLC0415

        with tempfile.TemporaryDirectory() as folder:
            if self._rank == 0:
                torch.save(state, Path(folder, _FILE))
            report({}, checkpoint=Checkpoint.from_directory(folder) if self._rank == 0 else None)


def _differentiable_total(values: torch.Tensor) -> torch.Tensor:
    from torch.distributed.nn.functional import all_reduce  # noqa: PLC0415

    total: torch.Tensor = all_reduce(values)  # type: ignore[no-untyped-call]
    return total


def _has_gradient(weight: torch.Tensor, *, sparse: bool) -> bool:
    return weight.grad is not None and weight.grad.is_sparse == sparse


def _n_known(answers: torch.Tensor) -> int:
    """Return the number of entries that a mean loss is over."""
    if answers.ndim == 1:
        return len(answers)
    return int((~answers.isnan() if answers.is_floating_point() else answers >= 0).sum())


def _check_gpus(workers: int, device: str) -> None:
    """Refuse a device that the cluster does not have: Ray would wait for it."""
    found = int(import_extra("ray", "cluster").cluster_resources().get("GPU", 0))
    if device == "cuda" and found < workers:
        raise TwinWLError(
            f"device: got 'cuda' for {workers} workers, but Ray has {found} GPUs here; set device to 'cpu'"
        )


def _train_on_ray(job: tuple[Any, ...], workers: int, folder: Path, *, use_gpu: bool) -> dict[str, Any]:
    """Train on Ray Train's workers; return the state of the last checkpoint."""
    ray_train = import_extra("ray.train", "cluster")
    torch_train = import_extra("ray.train.torch", "cluster")
    trainer = torch_train.TorchTrainer(
        _train_part,
        train_loop_config={"job": import_extra("ray", "cluster").put(cloudpickle.dumps(job))},
        scaling_config=ray_train.ScalingConfig(num_workers=workers, use_gpu=use_gpu),
        torch_config=torch_train.TorchConfig(backend="nccl" if use_gpu else "gloo"),
        run_config=ray_train.RunConfig(
            name="twinwl",
            storage_path=str(folder.absolute()),
            failure_config=ray_train.FailureConfig(max_failures=RETRIES),
            checkpoint_config=ray_train.CheckpointConfig(num_to_keep=1),
        ),
    )
    try:
        result = trainer.fit()
    except Exception as error:
        raise TwinWLError(f"training on {workers} workers of Ray failed: {error}") from error
    with result.checkpoint.as_directory() as place:
        state: dict[str, Any] = torch.load(Path(place, _FILE), map_location="cpu", weights_only=False)
    if state.get("problem"):
        raise TwinWLError(state["problem"])
    return state


def _train_part(config: dict[str, Any]) -> None:
    """Train in one worker of Ray Train."""
    import ray  # noqa: PLC0415
    from ray.train import get_context  # noqa: PLC0415

    module, examples, targets, options = cloudpickle.loads(ray.get(config["job"]))
    context = get_context()
    part = PartOfBatches(context.get_world_rank(), context.get_world_size(), options["device"])
    state: dict[str, Any] = {"module": None, "history": None}
    try:
        state["history"] = train(module, examples, targets, **options, part=part)
        state["module"] = module.state_dict()
    except TwinWLError as error:  # the same in all processes: another try would not help
        state["problem"] = str(error)
    part.save(state)
