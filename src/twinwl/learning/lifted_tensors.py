"""Tensors with one row per colour that stand for tensors with one row per node.

A network of torch computes with them as it is written: functions of single nodes run on the rows, those of
several states bring them to the finer level first, and pooling counts how often each row occurs. Whatever
else mixes nodes is refused, so that a result is never merely close. Message passing is in `lifted_layers`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import torch
from torch.nn import functional

from twinwl.errors import TwinWLError
from twinwl.learning.pooling import pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from twinwl.arrays import Int64
    from twinwl.learning.colour_levels import BatchLevels

__all__ = ["ColourRows", "EdgeRows", "NodeIndex", "NodeRows", "on_nodes"]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# One entry of the result depends on the same entry of each argument.
_POINTWISE = _names("""
    abs add add_ atan bfloat16 celu clamp clamp_ clamp_max clamp_min clone contiguous cos detach div
    div_ double elu elu_ eq erf exp expm1 float floor_divide ge gelu gt half hardsigmoid hardswish
    hardtanh le leaky_relu leaky_relu_ log log1p logsigmoid long lt maximum minimum mish mul mul_
    nan_to_num ne neg pow prelu reciprocal relu relu6 relu_ rsqrt rsub selu sigmoid sigmoid_ sign
    silu sin softplus softsign sqrt square sub sub_ tanh tanh_ tanhshrink threshold to true_divide
    type type_as where __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__
    __div__ __rdiv__ __neg__ __pow__ __rpow__ __iadd__ __isub__ __imul__ __itruediv__ __gt__ __ge__
    __lt__ __le__ __eq__ __ne__
""")
# A row of the result depends on one row; further tensors are weights.
_OF_ROWS = _names("linear matmul mm __matmul__ embedding one_hot layer_norm rms_norm")
# The same, where the dimension (its place among the arguments) is not the first.
_ALONG = dict.fromkeys(_names("sum mean max min amax amin softmax log_softmax logsumexp"), 1)
_ALONG |= dict.fromkeys(_names("cat concat stack squeeze unsqueeze"), 1) | {"normalize": 2, "norm": 2}
_RESHAPES = _names("view reshape flatten")
_PROPERTIES = _names("""
    dtype device requires_grad is_cuda is_mps is_sparse is_leaf layout is_meta is_quantized is_nested
""")
_QUESTIONS = _names("""
    is_floating_point is_complex get_device new_zeros new_empty new_full new_ones element_size
""")
_SUMS = _names("index_add index_add_ scatter_add scatter_add_")
_SAME_INDEX = _names("view reshape expand expand_as unsqueeze long to contiguous clone detach")


class NodeRows:
    """What rows stand for: the nodes of a mini-batch, in levels."""

    def __init__(self, levels: BatchLevels, device: torch.device) -> None:
        self.levels = levels
        self.device = device
        self._kept: dict[object, Any] = {}

    @property
    def n_items(self) -> int:
        """Number of nodes."""
        return int(self.levels.item_ptr(0)[-1])

    def raised(self, rows: torch.Tensor, level: int, wanted: int) -> torch.Tensor:
        """Bring rows to a finer level."""
        for number in range(level + 1, wanted + 1):
            rows = rows[self._tensor("own", number)]
        return rows

    def counts(self, level: int) -> torch.Tensor:
        """Return the number of nodes in each row."""
        return self._tensor("counts", level)

    def on_nodes(self, rows: torch.Tensor, level: int) -> torch.Tensor:
        """Return one row per node."""
        return rows[self._tensor("row_of_item", level)]

    def pooled(self, level: int) -> tuple[Int64, Int64, Int64]:
        """Return the pooling matrix of a level, in CSR form."""
        return self._once(("pooled", level), lambda: self.levels.pooled(level))

    def _tensor(self, name: str, level: int) -> torch.Tensor:
        make = lambda: torch.from_numpy(getattr(self.levels.level(level), name)).to(self.device)  # noqa: E731
        return self._once((name, level), make)

    def _once(self, key: object, make: Callable[[], Any]) -> Any:  # noqa: ANN401
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]


class EdgeRows:
    """The same for edge attributes: a row per distinct value, on a single level."""

    def __init__(self, n_items: int) -> None:
        self.n_items = n_items

    def raised(self, rows: torch.Tensor, level: int, wanted: int) -> torch.Tensor:  # noqa: ARG002
        """Return the rows; there is one level."""
        return rows

    def counts(self, level: int) -> NoReturn:  # noqa: ARG002
        """Refuse: nothing counts edges."""
        raise TwinWLError(
            "the model normalises edge attributes over all edges, which lifted does not support"
        )


class _Lifted(torch.Tensor):
    """A tensor that does not take part in torch's functions as it is."""

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        with torch._C.DisableTorchFunctionSubclass():  # noqa: SLF001  (torch's own way to do it)
            return _run(func, args, kwargs or {})


class ColourRows(_Lifted):
    """A tensor with one row per colour; it says that it has one row per node."""

    space: NodeRows | EdgeRows
    level: int

    @staticmethod
    def of(rows: torch.Tensor, space: NodeRows | EdgeRows, level: int) -> ColourRows:
        """Return the rows of a level of a space."""
        made: ColourRows = rows.as_subclass(ColourRows)
        made.space, made.level = space, level
        return made

    @property
    def plain(self) -> torch.Tensor:
        """The rows as they are."""
        with torch._C.DisableTorchFunctionSubclass():  # noqa: SLF001
            return self.as_subclass(torch.Tensor)


class NodeIndex(_Lifted):
    """For each node the group that it is pooled into, as PyG's ``batch``.

    Attributes
    ----------
    matrix : function
        Returns the pooling matrix of a level, in CSR form: pointer, rows, counts.
    """

    matrix: Callable[[int], tuple[Int64, Int64, Int64]]

    @staticmethod
    def of(groups: torch.Tensor, matrix: Callable[[int], tuple[Int64, Int64, Int64]]) -> NodeIndex:
        """Return the index of nodes."""
        made: NodeIndex = groups.as_subclass(NodeIndex)
        made.matrix = matrix
        return made


def on_nodes(value: object) -> object:
    """Return a model's output with one row per node where it has one row per colour."""
    if isinstance(value, ColourRows):
        if isinstance(value.space, EdgeRows):
            raise TwinWLError("the model returns edge attributes, which lifted does not support")
        return value.space.on_nodes(value.plain, value.level)
    if isinstance(value, tuple | list):
        return type(value)(on_nodes(each) for each in value)
    if isinstance(value, dict):
        return {name: on_nodes(each) for name, each in value.items()}
    return value


# ---------------------------------------------------------------------- torch's functions


def _run(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401, PLR0911, C901
    name = getattr(func, "__name__", str(func))
    if name == "__get__":
        name = func.__self__.__name__  # type: ignore[attr-defined]
        return _property(name, args[0])
    rows = [value for value in _flat((args, kwargs)) if isinstance(value, ColourRows)]
    if name in _SUMS:
        return _summed(name, args, kwargs)
    if not rows or name == "expand_as":
        return _of_index(name, func, args, kwargs)
    if name in ("size", "dim", "ndimension", "numel", "nelement", "__len__", "stride"):
        return getattr(_shape_only(rows[0]), name)(*args[1:])
    if name in _QUESTIONS:
        return func(rows[0].plain, *args[1:], **kwargs)
    if name in ("requires_grad_", "__repr__", "__hash__", "__format__"):
        return func(*args, **kwargs)
    if name == "batch_norm":
        return _batch_norm(*args, **kwargs)
    if "dropout" in name:
        return _dropout(args, kwargs)
    spaces = {id(each.space) for each in rows}
    if len(spaces) > 1:
        _refuse(name, "combines states of nodes with those of edges")
    level = max(each.level for each in rows)
    _check(name, args, kwargs, rows, level)
    space = rows[0].space

    def lowered(value: Any) -> Any:  # noqa: ANN401
        if isinstance(value, ColourRows):
            return space.raised(value.plain, value.level, level)
        return type(value)(map(lowered, value)) if type(value) in (tuple, list) else value

    n_rows = len(lowered(rows[0]))
    if name in ("view", "reshape") and args[1:] and args[1] == space.n_items:
        args = (args[0], n_rows, *args[2:])  # the model was told the number of nodes
    result = func(*lowered(args), **{key: lowered(value) for key, value in kwargs.items()})
    kept = result if isinstance(result, tuple) else (result,)
    if any(not isinstance(each, torch.Tensor) or len(each) != n_rows for each in kept if each is not None):
        _refuse(name, "does not return one row per node")
    wrapped = tuple(ColourRows.of(each, space, level) for each in kept)
    if not isinstance(result, tuple):
        return wrapped[0]
    return type(result)(wrapped) if type(result) is not tuple else wrapped


def _property(name: str, value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, NodeIndex) or name in _PROPERTIES:
        return getattr(value.as_subclass(torch.Tensor), name)
    if name in ("shape", "ndim"):
        return getattr(_shape_only(value), name)
    return _refuse(name, "is not supported")


def _shape_only(rows: ColourRows) -> torch.Tensor:
    """Return a tensor without memory, of the shape that rows stand for."""
    plain = rows.plain
    return torch.empty((rows.space.n_items, *plain.shape[1:]), dtype=plain.dtype, device="meta")


def _of_index(name: str, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
    if name in _SAME_INDEX:
        return args[0]
    if name in ("__getitem__", "index_select", "gather", "take_along_dim", "index_put_", "__setitem__"):
        _refuse(name, "sends a value of a graph back to its nodes")
    return func(*map(_lowered_index, args), **{key: _lowered_index(value) for key, value in kwargs.items()})


def _lowered_index(value: Any) -> Any:  # noqa: ANN401
    return value.as_subclass(torch.Tensor) if isinstance(value, NodeIndex) else value


def _summed(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
    target, dim, index, source = args[:4] if len(args) >= 4 else (*args, *kwargs.values())  # noqa: PLR2004
    if not isinstance(source, ColourRows):
        plain = getattr(torch.Tensor, name)
        return plain(target, dim, _lowered_index(index), source)
    if not isinstance(index, NodeIndex) or len(args) + len(kwargs) > 4 or dim % source.plain.dim() != 0:  # noqa: PLR2004
        _refuse(name, "is only supported as a sum over the nodes of each graph")
    rows = source.plain
    flat = rows if rows.dim() == 2 else rows.reshape(len(rows), -1)  # noqa: PLR2004
    sums = pool(flat, *index.matrix(source.level)).reshape(-1, *rows.shape[1:])
    missing = len(target) - len(sums)
    # Graphs without nodes at the end have no place in what PyG makes room for.
    sums = torch.cat([sums, sums.new_zeros(missing, *sums.shape[1:])]) if missing > 0 else sums[: len(target)]
    return target.add_(sums) if name.endswith("_") else target + sums


def _batch_norm(
    rows: ColourRows,
    mean: torch.Tensor | None,
    variance: torch.Tensor | None,
    weight: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> ColourRows:
    """Normalise over nodes: each row counts as often as it occurs."""
    x, space, level = rows.plain, rows.space, rows.level
    if x.dim() != 2:  # noqa: PLR2004
        _refuse("batch_norm", "is only supported for one row of numbers per node")
    if not training:
        out = functional.batch_norm(x, mean, variance, weight, bias, False, momentum, eps)  # noqa: FBT003
        return ColourRows.of(out, space, level)
    counts = space.counts(level).to(x.dtype)
    n = float(space.n_items)
    here = (counts @ x) / n
    centred = x - here
    spread = (counts @ centred.square()) / n
    if mean is not None and variance is not None:
        with torch.no_grad():
            mean.lerp_(here.to(mean.dtype), momentum)
            variance.lerp_((spread * (n / max(1.0, n - 1))).to(variance.dtype), momentum)
    out = centred * (spread + eps).rsqrt()
    out = out if weight is None else out * weight
    return ColourRows.of(out if bias is None else out + bias, space, level)


def _dropout(args: tuple[Any, ...], kwargs: dict[str, Any]) -> ColourRows:
    names = ("input", "p", "training", "inplace")
    given = dict(zip(names, args, strict=False)) | kwargs
    if given.get("training", True) and given.get("p", 0.5) > 0:
        raise TwinWLError(
            "the model drops out entries of single nodes, so nodes of one colour are not alike; set that "
            "dropout to 0, or move it behind the pooling"
        )
    rows: ColourRows = given["input"]
    return rows


def _check(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any], rows: list[ColourRows], level: int
) -> None:
    """Refuse a function that might mix rows."""
    n_dims = rows[0].plain.dim()
    in_place = (name.endswith("_") and not name.endswith("__")) or name.startswith("__i")
    if in_place and (not isinstance(args[0], ColourRows) or args[0].level != level):
        _refuse(name, "changes a tensor in place; write x = x + y")
    if name in _POINTWISE:
        _check_shapes(name, (args, kwargs), n_dims)
    elif name in _OF_ROWS:
        if not isinstance(args[0], ColourRows) or len(rows) > 1:
            _refuse(name, "multiplies by states of nodes")
    elif name in _ALONG:
        place = _ALONG[name]
        dim = kwargs.get("dim", args[place] if len(args) > place else 1 if name == "normalize" else None)
        n_dims += name in ("stack", "unsqueeze")
        joins = name in ("cat", "concat", "stack")
        if not all(type(each) is int and each % n_dims for each in (dim if type(dim) is tuple else (dim,))):
            _refuse(name, "joins nodes" if joins else "runs over nodes")
        if joins and any(
            isinstance(each, torch.Tensor) and not isinstance(each, ColourRows) for each in _flat(args)
        ):
            _refuse(name, "joins states of nodes with a tensor that is not made from them")
    elif name not in _RESHAPES and not (name == "__getitem__" and _keeps_rows(args[1])):
        _refuse(name, "is not known to treat every node alike")


def _check_shapes(name: str, values: object, n_dims: int) -> None:
    """Refuse tensors that are not the same for all nodes."""
    for value in _flat(values):
        if isinstance(value, ColourRows):
            if value.plain.dim() != n_dims:
                _refuse(name, "combines tensors of different numbers of dimensions")
        elif isinstance(value, torch.Tensor) and value.dim() >= n_dims and len(value) != 1:
            _refuse(name, f"combines nodes with a tensor of shape {tuple(value.shape)}")


def _keeps_rows(item: object) -> bool:
    parts = item if isinstance(item, tuple) else (item,)
    whole = parts[:1] in ((slice(None),), (Ellipsis,))
    return whole and not any(isinstance(part, ColourRows) for part in parts)


def _flat(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, tuple | list):
        for each in value:
            yield from _flat(each)
    else:
        yield value


def _refuse(name: str, why: str) -> NoReturn:
    raise TwinWLError(
        f"the model is not supported by lifted: {name} {why}. Layers of message passing, functions of single "
        "nodes, batch normalisation, and sums or means over graphs are"
    )
