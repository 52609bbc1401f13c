"""The network inside the rooted subgraphs: its names, and how a user's own is made and described."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

from twinwl.arguments import Constraint, is_a, one_of
from twinwl.errors import TwinWLError, shown
from twinwl.ntwin.bounded_readouts import GATReadout, GCNReadout
from twinwl.ntwin.ppgn import PPGNReadout
from twinwl.ntwin.subgraph_tensors import SubgraphBatch, named_arguments, read_out

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "READOUT",
    "READOUTS",
    "AtDepths",
    "DeepSetsReadout",
    "NetworkReadout",
    "build_readout",
    "sees_edges",
    "sees_pairs",
    "width_of",
]

NetworkReadout: TypeAlias = "str | torch.nn.Module | Callable[..., torch.nn.Module]"


class DeepSetsReadout(torch.nn.Module):
    """Deep sets (Zaheer et al., 2017): a network of the sum, over the nodes, of a network of each node.

    It does not see edges, so that rooted subgraphs with the same nodes are computed once.

    Parameters
    ----------
    n_features
        Width of the nodes' features.
    hidden
        Width of all layers and of the readout.
    """

    sees_edges = False

    def __init__(self, n_features: int, hidden: int) -> None:
        super().__init__()
        self.of_node = _perceptron(n_features, hidden)
        self.of_sum = _perceptron(hidden, hidden)

    def forward(self, x: torch.Tensor, batch: torch.Tensor, size: int) -> torch.Tensor:
        """Return one row per subgraph, shape (size, hidden)."""
        states = self.of_node(x)
        rows: torch.Tensor = self.of_sum(states.new_zeros(size, states.shape[1]).index_add(0, batch, states))
        return rows


def _perceptron(n_inputs: int, hidden: int) -> torch.nn.Sequential:
    return torch.nn.Sequential(
        torch.nn.Linear(n_inputs, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, hidden)
    )


_BUILT_IN: dict[str, type[torch.nn.Module]] = {
    "gcn": GCNReadout,
    "gat": GATReadout,
    "ppgn": PPGNReadout,
    "deepsets": DeepSetsReadout,
}
READOUTS = ("gin", *_BUILT_IN)


def _network(value: object) -> object:
    if not is_a(value, torch.nn.Module) and not callable(value):
        raise TypeError
    return value


READOUT = (
    one_of(*READOUTS),
    Constraint("a torch.nn.Module, or a class or function that makes one", _network),
)


class AtDepths(torch.nn.Module):
    """A network that can be read at several depths, as readout at some of them; weights are shared.

    Parameters
    ----------
    network
        Has a method ``pooled_by_depth``.
    depths
        The depths to read, from 1; what is read is concatenated.
    """

    def __init__(self, network: torch.nn.Module, depths: tuple[int, ...]) -> None:
        super().__init__()
        self.network = network
        self.depths = depths

    def forward(
        self,
        x: torch.Tensor,
        edge_index: torch.Tensor,
        batch: torch.Tensor,
        codes: torch.Tensor | None,
        size: int,
    ) -> torch.Tensor:
        """Return one row per subgraph."""
        rows = self.network.pooled_by_depth(x, edge_index, batch, codes, size, max(self.depths))  # type: ignore[operator]
        return torch.cat([part for depth, part in enumerate(rows, start=1) if depth in self.depths], dim=1)


def build_readout(readout: NetworkReadout, arguments: dict[str, Any]) -> torch.nn.Module:
    """Return the network that a name, a module, a class or a function stands for.

    Parameters
    ----------
    readout
        One of `READOUTS` but ``"gin"``, a module, of which a copy is returned, or what makes one.
    arguments
        What a class or function gets if its parameters name it: ``n_features``, ``hidden``, ``layers``,
        ``hops`` and ``n_codes``.
    """
    if is_a(readout, str):
        kind = _BUILT_IN[readout]
        return kind(**named_arguments(readout, kind, arguments))
    if is_a(readout, torch.nn.Module):
        try:
            return copy.deepcopy(readout)
        except Exception as error:  # whatever a foreign module raises
            raise TwinWLError(f"readout: the module cannot be copied ({error})") from error
    what = f"the readout {_name(readout)}"
    given = named_arguments(what, readout, arguments)
    try:
        made = readout(**given)
    except TwinWLError:
        raise
    except Exception as error:  # whatever a foreign function raises
        raise TwinWLError(
            f"{what} failed when it was called with {', '.join(given) or 'nothing'} "
            f"({type(error).__name__}: {error})"
        ) from error
    if not is_a(made, torch.nn.Module):
        raise TwinWLError(f"{what} made {shown(made)}, expected a torch.nn.Module")
    return made


def sees_edges(readout: torch.nn.Module) -> bool:
    """Whether a readout looks at edges; one that does not may say so: ``sees_edges = False``."""
    return getattr(readout, "sees_edges", True) is not False


def sees_pairs(readout: torch.nn.Module) -> bool:
    """Whether a readout has a state for each pair of nodes; it may say so: ``sees_pairs = True``."""
    return getattr(readout, "sees_pairs", False) is True


def width_of(readout: torch.nn.Module, n_features: int, n_codes: int) -> int:
    """Return the width of a readout, found out with two copies of a small rooted subgraph.

    Raises
    ------
    TwinWLError
        If the copies, which differ in the order of their nodes and messages, get different rows: isomorphic
        graphs would get different predictions. One that draws random numbers is not refused.
    """
    probe = _two_copies(readout, n_features, n_codes)
    was_training = readout.training
    with torch.no_grad():
        rows = read_out(readout.eval(), probe)
        # Sums in another order differ by rounding.
        close = {"rtol": 0.0, "atol": torch.finfo(rows.dtype).eps ** 0.5 * float(rows.abs().max())}
        if not torch.allclose(rows[0], rows[1], **close) and torch.equal(rows, read_out(readout, probe)):
            name, worst = type(readout).__name__, int((rows[0] - rows[1]).abs().argmax())
            one, other = rows[:, worst].tolist()
            raise TwinWLError(
                f"the readout {name} returned {one:.6g} and {other:.6g} in column {worst} for two copies of "
                "a rooted subgraph that differ only in the order of their nodes, on which a readout must not "
                "depend; combine nodes by a sum, mean or maximum over batch"
            )
    readout.train(was_training)
    return rows.shape[1]


def _two_copies(readout: torch.nn.Module, n_features: int, n_codes: int) -> SubgraphBatch:
    """Return a path of four nodes, rooted at its second one, and a copy with another order of nodes."""
    like = next((value for value in readout.parameters() if value.is_floating_point()), torch.empty(0))
    x = torch.rand(4, n_features, generator=torch.Generator().manual_seed(0)).to(like)
    place = torch.tensor([2, 0, 3, 1])  # of each node in the copy
    order, arcs = place.argsort(), torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    codes = torch.tensor([0, 0, 1, 1, 2, 2]) % max(1, n_codes)
    distance = torch.tensor([1, 0, 1, 2])
    return SubgraphBatch(
        torch.cat([x, x[order]]),
        torch.cat([arcs, 4 + place[arcs].flip(1)], dim=1).to(like.device),
        torch.tensor([0] * 4 + [1] * 4, device=like.device),
        torch.cat([codes, codes.flip(0)]).to(like.device) if n_codes else None,
        torch.tensor([1, 4], device=like.device),
        torch.cat([distance, distance[order]]).to(like.device),
        2,
    )


def _name(readout: object) -> str:
    try:
        return str(readout.__qualname__)  # type: ignore[attr-defined]
    except Exception:  # noqa: BLE001  (a foreign object may raise anything)
        return type(readout).__name__
