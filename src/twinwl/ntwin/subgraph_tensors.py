"""Rooted subgraphs as tensors, and the call of a readout on them, whoever wrote it."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import torch

from twinwl.arguments import is_a
from twinwl.errors import TwinWLError, import_extra, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from twinwl.refinement.rooted_subgraphs import RootedSubgraphs

__all__ = ["SubgraphBatch", "guarded_rows", "messages", "named_arguments", "read_out", "subgraph_tensors"]


class SubgraphBatch(NamedTuple):
    """The disjoint union of rooted subgraphs: what a readout may ask for, by the names of its parameters.

    Attributes
    ----------
    x : tensor, shape (n_nodes, n_features)
        One-hot label, standardised features, one-hot mark of each node.
    edge_index : tensor of int64, shape (2, n_messages)
        Sender and receiver of each message; an edge passes one in each direction, an arc too.
    batch : tensor of int64, shape (n_nodes,)
        Subgraph of each node, ascending.
    codes : tensor of int64, shape (n_messages,), or None
        Kind of each message, if there are several: the code of the edge's label; in directed graphs twice
        that, plus 1 if the message runs along the arc. -1 for a label that no training graph has.
    root : tensor of int64, shape (n_subgraphs,)
        The root of each subgraph, as a row of ``x``.
    distance : tensor of int64, shape (n_nodes,)
        Steps from the root.
    size : int
        Number of subgraphs.
    """

    x: torch.Tensor
    edge_index: torch.Tensor
    batch: torch.Tensor
    codes: torch.Tensor | None
    root: torch.Tensor
    distance: torch.Tensor
    size: int


def subgraph_tensors(
    cut: RootedSubgraphs,
    x: torch.Tensor,
    edge_attr: torch.Tensor | None,
    marks: tuple[str, int],
    *,
    directed: bool,
) -> SubgraphBatch:
    """Return rooted subgraphs as tensors, on the device of ``x``.

    Parameters
    ----------
    cut
        The subgraphs.
    x : tensor, shape (n_nodes, n_features)
        Features of each node of the subgraphs, without the mark.
    edge_attr : tensor of int64, shape (n_arcs,), or None
        Code of the label of each arc of the subgraphs.
    marks
        The ``root_mark`` and the number of different marks.
    directed
        Whether edges are arcs.
    """
    distance = torch.from_numpy(cut.distance.astype(np.int64)).to(x.device)
    root_mark, n_marks = marks
    if n_marks > 1:
        mark = distance.clamp(max=1) if root_mark == "root" else distance
        x = torch.cat([x, torch.nn.functional.one_hot(mark, n_marks).to(x.dtype)], dim=1)
    source = np.repeat(np.arange(len(cut.node)), np.diff(cut.indptr))
    arcs = torch.from_numpy(np.stack([source, cut.indices.astype(np.int64)])).to(x.device)
    edge_index, codes = messages(arcs, edge_attr, directed=directed)
    subgraph = np.repeat(np.arange(len(cut.root)), np.diff(cut.subgraph_ptr))
    return SubgraphBatch(
        x,
        edge_index,
        torch.from_numpy(subgraph).to(x.device),
        codes,
        torch.from_numpy(cut.root.astype(np.int64)).to(x.device),
        distance,
        len(cut.root),
    )


def messages(
    edges: torch.Tensor, codes: torch.Tensor | None, *, directed: bool
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return sender and receiver of each message; in directed graphs, both ends of an arc send one."""
    if not directed:
        return edges, codes
    labels = edges.new_zeros(edges.shape[1]) if codes is None else codes
    from_tail = torch.where(labels < 0, -1, 2 * labels + 1)
    from_head = torch.where(labels < 0, -1, 2 * labels)
    return torch.cat([edges, edges.flip(0)], dim=1), torch.cat([from_tail, from_head])


def read_out(readout: torch.nn.Module, subgraphs: SubgraphBatch) -> torch.Tensor:
    """Return the readout of each subgraph, shape (n_subgraphs, width).

    The readout's ``forward`` gets those of the fields of `SubgraphBatch` that its parameters name, and for a
    parameter ``data`` all of them as a PyG ``Batch``, with ``codes`` as ``edge_attr``.

    Raises
    ------
    TwinWLError
        If it fails, changes its input, or does not return one row of finite numbers per subgraph.

    Examples
    --------
    >>> class Size(torch.nn.Module):
    ...     def forward(self, batch, size):
    ...         return torch.bincount(batch, minlength=size)[:, None].float()
    >>> zeros = torch.zeros(3, dtype=int)
    >>> edge_index = torch.tensor([[0, 1], [1, 0]])
    >>> pair_and_node = SubgraphBatch(
    ...     torch.ones(3, 1), edge_index, torch.tensor([0, 0, 1]), None, torch.tensor([0, 2]), zeros, 2
    ... )
    >>> read_out(Size(), pair_and_node).tolist()
    [[2.0], [1.0]]
    """
    name = type(readout).__name__
    given: dict[str, Any] = subgraphs._asdict()
    arguments = named_arguments(f"the readout {name}", readout.forward, given, {"data": _as_pyg})
    rows = guarded_rows(
        name, lambda: readout(**arguments), given, subgraphs.size, "rooted subgraph", subgraphs.x.device
    )
    return rows.to(subgraphs.x.dtype)


def guarded_rows(
    name: str,
    call: Callable[[], object],
    inputs: Mapping[str, object],
    n_rows: int,
    unit: str,
    device: torch.device,
) -> torch.Tensor:
    """Call a network, which may be the user's, and return what it returned: one row per ``unit``.

    Raises
    ------
    TwinWLError
        If it fails, changes a tensor of ``inputs`` or how torch works, or returns anything but rows of finite
        numbers. The rows go to kernels, which would read memory that is not theirs if there were fewer.
    """
    tensors = {field: value for field, value in inputs.items() if is_a(value, torch.Tensor)}
    versions = [value._version for value in tensors.values()]  # noqa: SLF001  (counts changes in place)
    modes = torch.is_grad_enabled(), torch.get_default_dtype(), torch.initial_seed()
    try:
        rows = call()
    except TwinWLError:
        raise
    except Exception as error:  # whatever a network raises
        raise TwinWLError(
            f"the readout {name} failed on {n_rows} {unit}s ({type(error).__name__}: {error})"
        ) from error
    finally:
        changed = modes != (torch.is_grad_enabled(), torch.get_default_dtype(), torch.initial_seed())
        torch.set_grad_enabled(modes[0])
        torch.set_default_dtype(modes[1])
    if changed:
        raise TwinWLError(
            f"the readout {name} changes torch's seed, default dtype or whether gradients are recorded; let "
            "it use a torch.Generator, a dtype of its own, or a with block"
        )
    for (field, value), version in zip(tensors.items(), versions, strict=True):
        if value._version != version:  # noqa: SLF001
            raise TwinWLError(f"the readout {name} changes its input {field} in place; let it work on a copy")
    _check_rows(rows, name, n_rows, unit, device)
    return cast("torch.Tensor", rows)


def _check_rows(rows: object, name: str, n_rows: int, unit: str, device: torch.device) -> None:
    expected = f"expected a tensor of floats of shape ({n_rows}, width), one row per {unit}"
    if not is_a(rows, torch.Tensor):
        raise TwinWLError(f"the readout {name} returned {shown(rows)}, {expected}")
    if rows.ndim != 2 or len(rows) != n_rows or not rows.shape[1] or not rows.is_floating_point():  # noqa: PLR2004
        kind = str(rows.dtype).removeprefix("torch.")
        raise TwinWLError(
            f"the readout {name} returned a tensor of {kind} of shape {tuple(rows.shape)}, {expected}"
        )
    if rows.layout != torch.strided or rows.device.type != device.type:
        raise TwinWLError(
            f"the readout {name} returned a tensor of layout {rows.layout} on {rows.device}, expected a "
            f"dense one on {device}"
        )
    if not rows.is_meta and not bool(rows.isfinite().all()):
        row = int((~rows.detach().isfinite()).any(dim=1).nonzero()[0])
        raise TwinWLError(
            f"the readout {name} returned NaN or infinity, first for {unit} {row} of "
            f"{n_rows}; lower learning_rate, or look for divisions by zero and huge values"
        )


def named_arguments(
    what: str,
    function: Callable[..., object],
    known: Mapping[str, Any],
    made: Mapping[str, Callable[[Mapping[str, Any]], Any]] | None = None,
) -> dict[str, Any]:
    """Return what a user's function asks for by the names of its parameters.

    Parameters
    ----------
    what
        What the function is, for errors.
    function
        The function.
    known
        Values by name.
    made
        Functions that make further values, which are only made if they are asked for.

    >>> named_arguments("f", lambda hidden, depth=2: None, {"hidden": 8, "layers": 3})
    {'hidden': 8}
    """
    made = made or {}
    try:
        parameters = inspect.signature(function).parameters.values()
    except Exception as error:  # a foreign object may raise anything
        raise TwinWLError(f"{what}: its parameters cannot be found out ({error})") from error
    found: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.kind in {parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL}:
            continue  # of every module without an __init__ of its own
        if parameter.kind is not parameter.POSITIONAL_ONLY and parameter.name in known:
            found[parameter.name] = known[parameter.name]
        elif parameter.kind is not parameter.POSITIONAL_ONLY and parameter.name in made:
            found[parameter.name] = made[parameter.name](known)
        elif parameter.default is parameter.empty:
            raise TwinWLError(
                f"{what} asks for {parameter.name!r}; its parameters can be {', '.join([*known, *made])}"
            )
    return found


def _as_pyg(known: Mapping[str, Any]) -> Any:  # noqa: ANN401  (a class of PyG)
    data = import_extra("torch_geometric.data", "baselines")
    counts = torch.bincount(known["batch"], minlength=known["size"])
    graphs = data.Batch(
        x=known["x"],
        edge_index=known["edge_index"],
        edge_attr=known["codes"],
        batch=known["batch"],
        ptr=torch.cat([counts.new_zeros(1), counts.cumsum(0)]),
        root=known["root"],
        distance=known["distance"],
    )
    graphs._num_graphs = known["size"]  # noqa: SLF001  (as Batch.from_data_list does)
    return graphs
