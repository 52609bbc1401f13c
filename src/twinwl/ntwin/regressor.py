"""NTwinRegressor: the NTwin-GNN as a scikit-learn regressor of graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twinwl.estimators.base import keeps_parameters
from twinwl.files.model_files import savable
from twinwl.learning.regressor import NeuralGraphRegressor
from twinwl.ntwin.estimator import NTwinNetworkEstimator

if TYPE_CHECKING:
    from twinwl.estimators.base import RandomState
    from twinwl.learning.callbacks import Callbacks
    from twinwl.ntwin.readouts import NetworkReadout
    from twinwl.ntwin.settings import Hops, RootMark

__all__ = ["NTwinRegressor"]


@savable
class NTwinRegressor(NeuralGraphRegressor, NTwinNetworkEstimator):
    """Predict a number for each graph with NTwin-GNN: colours, and a GIN inside every rooted subgraph.

    The network runs on the colour quotient if a sample of the graphs shows that it pays, else, and with
    continuous features, on states that are shared within each graph. Both give the same numbers as running it
    on every rooted subgraph. Another ``readout`` can replace the GIN; if it is not bounded by 1-WL, it runs
    on distinct rooted subgraphs, once on each.

    Parameters
    ----------
    layers : int, default=3
        Number of layers, each with its own depth of the GIN.
    hops : "growing" or int, default="growing"
        Radius of the rooted subgraphs: k in layer k, or the same in all layers.
    hidden : int, default=64
        Width of the GIN's states and of the head's hidden layer.
    root_mark : {"none", "root", "distance"}, default="none"
        Mark of each node: whether it is the root, or its distance to the root. ``"none"`` is the paper's.
    random_state : int, RandomState, Generator or None, default=0
        Seed of hold-out, initial weights, batch order and dropout; None gives a different result each time.
    readout : str, torch.nn.Module, class or function, default="gin"
        The network inside the rooted subgraphs: ``"gin"``, ``"gcn"``, ``"gat"`` (all bounded by 1-WL, on the
        quotient), ``"ppgn"`` (3-WL), ``"deepsets"`` (without edges), or your own: a module, or a class or
        function that makes one, which maps rooted subgraphs (`twinwl.ntwin.subgraph_tensors.SubgraphBatch`)
        to one row each. ``docs/ntwin.md`` has an example.
    subtree : {"auto", "wl", "gin"}, default="auto"
        The subtree encoder: histograms of colours, or a GIN on the whole graph. ``"auto"`` uses the GIN
        if there are continuous features.
    edge_labels : bool or None, default=None
        Whether both encoders use edge labels, if the graphs have any. None ignores them as False does, with a
        warning if they differ.
    dropout : float, default=0.5
        Share of the head's hidden units dropped in training.
    input_dropout : float or "auto", default="auto"
        Share of the head's inputs dropped in training. ``"auto"``: half of them if there are at least 1,000
        training graphs, else none: it helps on NCI1 and hurts on PTC_MR.
    normalize : bool, default=True
        Normalise the pooled sums over the graphs of a batch.
    min_df : int, default=2
        Ignore colours that occur in fewer training graphs than this in the histograms.
    unknown : {"zero", "error"}, default="zero"
        What to do at prediction with labels that occur in no training graph: zeros and a warning, or an
        error.
    roots : int, float or None, default=None
        Number, or share, of the roots of each graph that a training step sums over, drawn anew each time and
        scaled so that the sum is right on average; None takes all. Predictions take all of them, but for
        `predict_sampled`. Only for readouts that are bounded by 1-WL.
    max_memory : int or None
        Limit for the quotient, or for the states of a mini-batch, in bytes; None allows half of the machine's
        memory. Where it would not do, hops shrink, with a warning; a rooted subgraph of radius 1 that is too
        large for the readout is an error.
    max_epochs, batch_size, learning_rate, weight_decay, patience, validation_fraction, verbose
        As for every neural estimator here: see `twinwl.learning.estimator.NeuralGraphEstimator`.
    device, precision
        Where to train, and how exactly: see `twinwl.learning.estimator.NeuralGraphEstimator`.
    scoring : str or None, default=None
        What the epoch is chosen by: see `twinwl.learning.regressor.NeuralGraphRegressor`.
    refit, hold_outs, average_epochs, warm_start, callbacks
        Training on all graphs once the epoch is chosen, several hold-outs, means of weights, going on from
        the fit before, functions to call: see `twinwl.learning.estimator.NeuralGraphEstimator`.

    Attributes
    ----------
    mean_, scale_ : float
        Mean and standard deviation of the training targets.
    history_ : History
        Curves of the training.
    module_ : NTwinNetwork
    inputs_ : FittedInputs
        Labels, scales and histograms of the training graphs.
    hops_ : tuple of int
        Radius of each layer: ``hops``, or less where memory would not do, which a warning tells.

    Examples
    --------
    >>> from twinwl import NTwinRegressor
    >>> paths = [[(node, node + 1) for node in range(length)] for length in range(2, 12)]
    >>> model = NTwinRegressor(layers=2, max_epochs=20, verbose=False).fit(paths, range(2, 12))
    >>> model.predict(paths[:2]).shape
    (2,)
    """

    @keeps_parameters
    def __init__(
        self,
        layers: int = 3,
        hops: Hops = "growing",
        hidden: int = 64,
        root_mark: RootMark = "none",
        random_state: RandomState = 0,
        *,
        readout: NetworkReadout = "gin",
        subtree: str = "auto",
        edge_labels: bool | None = None,
        dropout: float = 0.5,
        input_dropout: float | str = "auto",
        normalize: bool = True,
        min_df: int = 2,
        unknown: str = "zero",
        roots: float | None = None,
        max_memory: int | None = None,
        max_epochs: int = 100,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.0,
        patience: int = 15,
        validation_fraction: float | None = 0.1,
        verbose: bool | int | None = None,
        device: str = "auto",
        precision: str = "float32",
        scoring: str | None = None,
        refit: bool = False,
        hold_outs: int = 1,
        average_epochs: int = 1,
        warm_start: bool = False,
        callbacks: Callbacks = None,
    ) -> None: ...
