"""STwinRegressor: STwin features and a two-layer perceptron, as one scikit-learn regressor of graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twinwl.estimators.base import keeps_parameters
from twinwl.files.model_files import savable
from twinwl.learning.regressor import NeuralGraphRegressor
from twinwl.stwin.network import STwinNetworkEstimator

if TYPE_CHECKING:
    from twinwl.estimators.base import RandomState
    from twinwl.isomorphism.readouts import ReadoutChoice
    from twinwl.learning.callbacks import Callbacks


@savable
class STwinRegressor(NeuralGraphRegressor, STwinNetworkEstimator):
    """Predict a number for each graph: STwin features, then a perceptron with one hidden layer.

    Parameters
    ----------
    n_iter, features, edge_labels, initial, min_df, max_features
        The features, as for `STwinVectorizer`.
    scaling : {"twin", "none"}, default="twin"
        What the network is fed. ``"twin"``: counts as steps, at least 1, 2, 3, 4, 6, 8, …, each graph's
        brought to one length; and for ``features="size"``, whose sums of equation (3) are taken apart for
        it, also by how much rooted sizes exceed what is usual for their colour (see
        `twinwl.stwin.network_input`). ``"none"``: the features as they are.
    hidden : int, default=64
        Number of hidden units.
    dropout : float, default=0.5
        Share of hidden units dropped in training.
    max_epochs, batch_size, learning_rate, weight_decay, patience
        Training by Adam on the squared error of standardised targets; it stops after ``patience`` epochs
        without a better one.
    validation_fraction : float or None, default=0.1
        Share of the training graphs held out to choose the epoch; None trains on all of them, for
        ``max_epochs``.
    random_state : int, RandomState, Generator or None, default=0
        Seed of hold-out, initial weights, batch order and dropout; None gives a different result each time.
    verbose : bool, int or None
        Show a progress bar with the losses; None shows it if standard error is a terminal.
    ignore_features : bool, default=False
        Do not warn about continuous node features, which are not used.
    readout : str, function or list of these, default="size"
        As for `STwinVectorizer`.
    device, precision
        Where to train, and how exactly: see `twinwl.learning.estimator.NeuralGraphEstimator`.
    scoring : str or None, default=None
        What the epoch is chosen by: see `twinwl.learning.regressor.NeuralGraphRegressor`.
    refit, hold_outs
        Training on all graphs once the epoch is chosen, several hold-outs: see
        `twinwl.learning.estimator.NeuralGraphEstimator`.
    average_epochs : int, default=5
        The network has the mean of the weights of this many epochs, up to the one that is kept.
    warm_start, callbacks
        Going on from the fit before, functions to call: see `twinwl.learning.estimator.NeuralGraphEstimator`.

    Attributes
    ----------
    mean_, scale_ : float
        Mean and standard deviation of the training targets.
    vectorizer_ : STwinVectorizer
        Alphabet and columns, fitted on the training graphs without those held out.
    input_ : NetworkInput or None
        How features are scaled.
    module_ : torch.nn.Module
        The trained network.
    history_ : History
        Curves of the training.

    Examples
    --------
    >>> from twinwl import STwinRegressor
    >>> paths = [[(node, node + 1) for node in range(length)] for length in range(2, 12)]
    >>> model = STwinRegressor(n_iter=1, random_state=0, verbose=False).fit(paths, range(2, 12))
    >>> model.predict(paths[:2]).shape
    (2,)
    """

    @keeps_parameters
    def __init__(
        self,
        n_iter: int | None = 3,
        features: str = "size",
        *,
        edge_labels: bool | None = None,
        initial: str = "label",
        min_df: int | float = 1,
        max_features: int | None = None,
        scaling: str = "twin",
        hidden: int = 64,
        dropout: float = 0.5,
        max_epochs: int = 100,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.0,
        patience: int = 15,
        validation_fraction: float | None = 0.1,
        random_state: RandomState = 0,
        verbose: bool | int | None = None,
        ignore_features: bool = False,
        readout: ReadoutChoice = "size",
        device: str = "auto",
        precision: str = "float32",
        scoring: str | None = None,
        refit: bool = False,
        hold_outs: int = 1,
        average_epochs: int = 5,
        warm_start: bool = False,
        callbacks: Callbacks = None,
    ) -> None: ...
