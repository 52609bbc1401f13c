"""For users of PyTorch Geometric: Twin information for its models, and training on distinct colours.

`lifted` trains a model on the distinct colours of a data set. The transforms add to ``data.x`` or to an
attribute; they work on one ``Data`` object or on a ``Batch``, as ``transform=`` or ``pre_transform=`` of a
data set, or called directly. Nothing is drawn at random, and nothing depends on the order of nodes.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from twinwl.arguments import FLAG, NAME, checked, integer, pointer
from twinwl.errors import TwinWLError, import_extra, shown
from twinwl.graphs.batch import GraphBatch
from twinwl.isomorphism.readouts import ReadoutChoice, RoundReader, resolve
from twinwl.models.base import NotFittedTwinError, reading_of_x
from twinwl.refinement.colours import refine
from twinwl.refinement.identities import rooted_sizes

if TYPE_CHECKING:
    from collections.abc import Iterable

    import torch
    from torch_geometric.data import Batch, Data
    from torch_geometric.transforms import BaseTransform

    from twinwl.arrays import Int64
    from twinwl.neural.lifted import LiftedModel
    from twinwl.refinement.colours import Alphabet
else:
    BaseTransform = import_extra("torch_geometric.transforms", "baselines").BaseTransform

__all__ = ["AddColours", "AddReadout", "AddRootedSizes", "lifted"]

_MOST_ROUNDS = 100


def lifted(dataset: Iterable[Data], model: torch.nn.Module, pool: str | None = None) -> LiftedModel:
    """Return a model that computes each colour of a data set once, with the weights of the model given.

    After k layers nodes of one colour (of k rounds of 1-WL) have the same state, so each layer computes one
    row per colour instead of one per node. Outputs and gradients are those of the plain way, to rounding.

    Parameters
    ----------
    dataset
        ``Data`` objects with ``x`` and ``edge_index``, and perhaps ``edge_attr`` or ``edge_weight``. Nodes
        with the same row in ``x`` start alike, so discrete features save most.
    model
        A ``GCN``, ``GIN`` or ``GraphSAGE`` of ``torch_geometric.nn.models``, or a ``torch.nn.Sequential`` of
        layers ``GCNConv``, ``GINConv``, ``GINEConv``, ``GraphConv`` or ``SAGEConv`` and functions of single
        nodes, such as linear layers, activations, embeddings and batch normalisation.
    pool
        ``"sum"`` or ``"mean"`` over the nodes of each graph, for whatever follows; None returns the state of
        each node.

    Returns
    -------
    LiftedModel
        Call it with the numbers of some graphs, or without for all.

    Examples
    --------
    >>> import torch
    >>> from torch_geometric.data import Batch, Data
    >>> from torch_geometric.nn import global_add_pool
    >>> from torch_geometric.nn.models import GIN
    >>> path = Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]))
    >>> edge = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]))
    >>> model = GIN(1, 2, num_layers=2)
    >>> network = lifted([path, edge], model, pool="sum")
    >>> both = Batch.from_data_list([edge, path])
    >>> expected = global_add_pool(model(both.x, both.edge_index), both.batch)
    >>> torch.allclose(network([1, 0]), expected, atol=1e-5)
    True
    >>> network.n_colours(1)  # of five nodes
    2
    """
    from twinwl.neural.lifted import LiftedModel  # noqa: PLC0415  (needs torch)

    return LiftedModel(dataset, model, pool)


class _AddColumns(BaseTransform):
    """Adds columns to ``data.x``, or a tensor of its own to ``data``."""

    x_ = "auto"  # how x of other graphs is read

    def __init__(self, attribute: str, *, directed: bool) -> None:
        self.attribute = checked("attribute", attribute, NAME)
        if not self.attribute.isidentifier():
            raise TwinWLError(
                f"attribute: got {shown(attribute)}, expected 'x' or another name of an attribute"
            )
        self.directed = checked("directed", directed, FLAG)

    def forward(self, data: Data | Batch) -> Data | Batch:
        """Return a copy of the data with the new columns."""
        import torch  # noqa: PLC0415

        columns = torch.from_numpy(self._columns(self._batch(data)))
        changed = copy.copy(data)
        index = data.edge_index
        columns = columns if index is None else columns.to(index.device)
        if self.attribute == "x":
            old = data.x
            if old is not None:
                kind = torch.promote_types(old.dtype, columns.dtype)
                columns = torch.cat(
                    [(old if old.dim() > 1 else old[:, None]).to(kind), columns.to(kind)], dim=1
                )
            changed.x = columns
        else:
            changed[self.attribute] = columns
        return changed

    def _batch(self, data: Data | Batch) -> GraphBatch:
        """Return the graphs; ``x`` counts as labels where it holds labels."""
        graphs = data if hasattr(data, "ptr") else [data]
        return GraphBatch.from_pyg(cast("Any", graphs), directed=self.directed, x=self.x_).without_features()

    def _columns(self, batch: GraphBatch) -> np.ndarray:
        raise NotImplementedError


class AddRootedSizes(_AddColumns):
    """Add the sizes of the rooted subgraph of each node.

    A network that is bounded by 1-WL is no longer bounded by it when it gets them as input.

    Parameters
    ----------
    hops
        Sizes of 1..hops steps, one column each.
    attribute
        ``"x"`` appends the columns to the node features; any other name sets that attribute.
    log
        Whether to take the natural logarithm, which suits networks better than large numbers.
    directed
        Whether ``edge_index`` holds arcs; steps then follow them.

    Examples
    --------
    >>> import torch
    >>> from torch_geometric.data import Data
    >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
    >>> AddRootedSizes(hops=2, log=False)(path).x.tolist()
    [[2.0, 3.0], [3.0, 3.0], [2.0, 3.0]]
    """

    def __init__(
        self, hops: int = 3, attribute: str = "x", *, log: bool = True, directed: bool = False
    ) -> None:
        super().__init__(attribute, directed=directed)
        self.hops = checked("hops", hops, integer(1, _MOST_ROUNDS))
        self.log = checked("log", log, FLAG)

    def __repr__(self) -> str:
        return f"AddRootedSizes(hops={self.hops}, attribute={self.attribute!r}, log={self.log})"

    def _columns(self, batch: GraphBatch) -> np.ndarray:
        sizes = rooted_sizes(batch, self.hops)[1:].T.astype(np.float32)
        return np.log(sizes) if self.log else np.ascontiguousarray(sizes)


class _AddNumbers(_AddColumns):
    """Adds numbers of a vocabulary that `fit` builds: as they are, or in ``x`` as one column per number."""

    widths_: list[int]

    def _training_batch(self, data_list: Iterable[Data]) -> GraphBatch:
        """Return the graphs to fit; graphs to come are read as these are."""
        batch = GraphBatch.from_pyg(data_list, directed=self.directed)
        self.x_ = reading_of_x(batch)
        return batch.without_features()

    @property
    def n_numbers(self) -> list[int]:
        """Number of different numbers in each round; the last one stands for all that `fit` has not seen."""
        if not hasattr(self, "widths_"):
            raise NotFittedTwinError(
                f"{type(self).__name__} is not fitted; call fit with the training graphs first"
            )
        return [width + 1 for width in self.widths_]

    def _columns(self, batch: GraphBatch) -> np.ndarray:
        widths = self.n_numbers
        numbers = self._numbers(batch)
        numbers = np.where(numbers < 0, np.array(self.widths_), numbers)
        if self.attribute != "x":
            return numbers
        one_hot = np.zeros((len(numbers), sum(widths)), np.float32)
        np.put_along_axis(one_hot, numbers + pointer(widths)[:-1], 1.0, axis=1)
        return one_hot

    def _numbers(self, batch: GraphBatch) -> Int64:
        raise NotImplementedError


class AddColours(_AddNumbers):
    """Add the colours of 1-WL of each node, of rounds 0..n_iter.

    Parameters
    ----------
    n_iter
        Number of rounds.
    attribute
        Any name sets that attribute to integers, shape (n_nodes, n_iter + 1), for an embedding; ``"x"``
        appends a column per colour to the node features.
    directed
        Whether ``edge_index`` holds arcs.

    Examples
    --------
    >>> import torch
    >>> from torch_geometric.data import Data
    >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
    >>> add = AddColours(n_iter=1).fit([path])
    >>> add(path).colours.tolist(), add.n_numbers
    ([[0, 0], [0, 1], [0, 0]], [2, 3])
    """

    def __init__(self, n_iter: int = 3, attribute: str = "colours", *, directed: bool = False) -> None:
        super().__init__(attribute, directed=directed)
        self.n_iter = checked("n_iter", n_iter, integer(0, _MOST_ROUNDS))
        self.alphabet_: Alphabet | None = None

    def fit(self, data_list: Iterable[Data]) -> AddColours:
        """Give the colours of the training graphs their numbers, and return self."""
        batch = self._training_batch(data_list)
        self.alphabet_ = refine(batch, self.n_iter).alphabet
        self.widths_ = self.alphabet_.n_colours
        return self

    def __repr__(self) -> str:
        return f"AddColours(n_iter={self.n_iter}, attribute={self.attribute!r})"

    def _numbers(self, batch: GraphBatch) -> Int64:
        return refine(batch, None, alphabet=self.alphabet_).colours.T.astype(np.int64)


class AddReadout(_AddNumbers):
    """Add the value of a readout of each node's rooted subgraphs of 0..hops steps.

    Parameters
    ----------
    readout
        As in `twinwl.compare`: a name, a function of a rooted subgraph, or a list of these.
    hops
        The largest number of steps.
    attribute
        Any name sets that attribute to integers, shape (n_nodes, hops + 1), for an embedding; ``"x"`` appends
        a column per value to the node features.
    directed
        Whether ``edge_index`` holds arcs; steps then follow them.

    Examples
    --------
    >>> import torch
    >>> from torch_geometric.data import Data
    >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
    >>> add = AddReadout("degrees", hops=1).fit([path])
    >>> values = add(path).readout
    >>> values.shape, bool((values[0] == values[2]).all()), add.n_numbers
    (torch.Size([3, 2]), True, [2, 3])
    """

    def __init__(
        self,
        readout: ReadoutChoice = "rooted-wl",
        hops: int = 2,
        attribute: str = "readout",
        *,
        directed: bool = False,
    ) -> None:
        super().__init__(attribute, directed=directed)
        self.readouts = resolve(readout)
        self.hops = checked("hops", hops, integer(0, _MOST_ROUNDS))
        self.keys_: list[dict[bytes, int]] = []

    def fit(self, data_list: Iterable[Data]) -> AddReadout:
        """Give the values of the training graphs their numbers, and return self."""
        batch = self._training_batch(data_list)
        self.keys_ = [
            {key: number for number, key in enumerate(sorted(set(keys)))} for keys in self._keys(batch)
        ]
        self.widths_ = [len(numbers) for numbers in self.keys_]
        return self

    def __repr__(self) -> str:
        names = ", ".join(repr(readout.name) for readout in self.readouts)
        return f"AddReadout({names}, hops={self.hops}, attribute={self.attribute!r})"

    def _numbers(self, batch: GraphBatch) -> Int64:
        rounds = zip(self.keys_, self._keys(batch))
        return np.array([[numbers.get(key, -1) for key in keys] for numbers, keys in rounds], np.int64).T

    def _keys(self, batch: GraphBatch) -> list[list[bytes]]:
        """Return the key of each node's value in each round."""
        reader = RoundReader(batch, self.readouts)
        return [
            [row.tobytes() for row in reader.read_keys(sizes)]
            for sizes in rooted_sizes(batch, self.hops)[: self.hops + 1]
        ]
