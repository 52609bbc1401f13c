"""NTwinTransformer: the representation of graphs by NTwin-GNN, for pipelines."""

from __future__ import annotations

import copy
import warnings
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.multiclass import type_of_target

from twinwl.arguments import MAX_ITEMS, checked, integer, one_of
from twinwl.arrays import Fields, Float64
from twinwl.errors import TwinWLError
from twinwl.files.model_files import savable
from twinwl.graphs.building import GraphsLike
from twinwl.models.base import seeds, with_parameters
from twinwl.neural.encoder import NTwinNetwork
from twinwl.neural.estimator import network_from_state, weights_to_state
from twinwl.neural.ntwin import NTwinClassifier, NTwinParameters, NTwinRegressor
from twinwl.neural.training import blocks_of, change_tensors, device_of, seeded, single_threaded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

T = TypeVar("T")


@savable
@with_parameters
class NTwinTransformer(TransformerMixin, NTwinParameters):
    """Turn graphs into the vectors that NTwin-GNN computes of their rooted subgraphs.

    The columns are the readouts, summed over the roots of a graph and normalised as in the network: for a
    scikit-learn pipeline, or next to other features. Histograms of colours are not among them: these are what
    `STwinVectorizer` with ``features="count"`` computes.

    Parameters
    ----------
    layers, hops, hidden, root_mark, random_state, readout, subtree, edge_labels
        See `NTwinClassifier`.
    task : {"auto", "classification", "regression", "none"}, default="auto"
        What the network learns in ``fit``. ``"none"``: nothing, it keeps its first, random weights.
        ``"auto"``: nothing without ``y``; numbers if those in ``y`` are not all integers; else classes.
    dropout, input_dropout, normalize, min_df, unknown, roots, max_memory
        See `NTwinClassifier`.
    max_epochs, batch_size, learning_rate, weight_decay, patience, validation_fraction, verbose
        See `twinwl.neural.estimator.NeuralGraphEstimator`.
    device, refit, average_epochs, warm_start, callbacks
        See `twinwl.neural.estimator.NeuralGraphEstimator`.

    Attributes
    ----------
    model_ : NTwinClassifier or NTwinRegressor
        The network with its inputs; if something was learnt, its ``history_`` has the learning curves.
    n_features_out_ : int

    Examples
    --------
    >>> from twinwl import GraphBatch
    >>> from twinwl.nn import NTwinTransformer
    >>> graphs = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]] * 5)
    >>> transformer = NTwinTransformer(layers=2, hidden=4, readout="ppgn")
    >>> transformer.fit_transform(graphs).shape
    (10, 16)
    >>> transformer.get_feature_names_out()[:2].tolist()
    ['ntwin0', 'ntwin1']
    """

    _constraints = {
        "task": (one_of("auto", "classification", "regression", "none"),),
    }
    _fitted_attribute = "n_features_out_"

    _: KW_ONLY
    task: str = "auto"

    def fit(self, X: GraphsLike, y: object = None, groups: object = None) -> Self:
        """Train the network on ``y``, or only fit its inputs and norms to the graphs.

        Parameters
        ----------
        X
            A GraphBatch, or anything `twinwl.as_batch` accepts.
        y : sequence of shape (n_graphs,), optional
            Classes or numbers.
        groups : sequence of shape (n_graphs,), optional
            Graphs of one group stay on one side of the inner hold-out.

        Returns
        -------
        NTwinTransformer
            The same object, fitted.
        """
        batch = self._graphs_to_fit(X)
        task = self._task_of(y)
        model = self._model_to_fit(task)
        device_of(self.device)  # refuse one that is not there
        if task == "none":
            examples = model._fit_examples(batch)  # noqa: SLF001  (it is ours)
            with seeded(seeds(self.random_state, 3)[1]):
                model.module_ = model._build_module(1)  # noqa: SLF001
            with single_threaded():
                model.module_.recalibrate(examples)
            model.module_.eval()
        else:
            model.fit(batch, y, groups=groups)
        self.model_ = model
        self.n_features_out_ = model.module_.encoder.n_outputs
        return self

    def transform(self, X: GraphsLike) -> Float64:
        """Return the vectors of graphs.

        Parameters
        ----------
        X
            A GraphBatch, or anything `twinwl.as_batch` accepts.

        Returns
        -------
        array of float64, shape (n_graphs, n_columns)
        """
        self._check_fitted()
        batch = self._new_graphs(X, "transform")
        model = self.model_
        model.inputs_.check_labels(batch, self.unknown)
        examples = model._examples(batch)  # noqa: SLF001
        # In double precision, so that a graph's vector does not depend on its company.
        network: NTwinNetwork = copy.deepcopy(model.module_).cpu().double()
        with torch.no_grad(), single_threaded():
            parts = [
                network.norm(network.encoder(_in_double(examples.take(rows).graphs)))
                for rows in blocks_of(examples)
            ]
        vectors: Float64 = torch.cat(parts).numpy()
        return vectors

    def node_vectors(self, X: GraphsLike) -> Float64:
        """Return what each node adds to the vector of its graph before it is normalised.

        As `NTwinClassifier.node_vectors`, shape (n_nodes, n_columns).
        """
        self._check_fitted()
        return self.model_._node_vectors(X)  # noqa: SLF001

    def plot_history(self) -> Figure:
        """Return the learning curves as a figure of matplotlib, to show or to save (``.savefig``)."""
        self._check_fitted()
        if _learnt(self.model_) == "none":
            raise TwinWLError("plot_history: this transformer has learnt nothing; fit it with y")
        return self.model_.plot_history()

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return the name of each column.

        Parameters
        ----------
        input_features
            Ignored: graphs have no columns.

        Returns
        -------
        array of str, shape (n_columns,)
        """
        self._check_fitted()
        return np.array([f"ntwin{column}" for column in range(self.n_features_out_)], dtype=object)

    def _task_of(self, y: object) -> str:
        task = self.task
        if task == "auto":
            if y is None:
                return "none"
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of values that are refused later
                    kind = type_of_target(y, input_name="y")
                return "regression" if kind.startswith("continuous") else "classification"
            except Exception as error:  # whatever a foreign sequence raises
                raise TwinWLError(f"y: {error} Name the task if y is meant so") from error
        if task != "none" and y is None:
            raise TwinWLError(f"task={task!r} needs y, and there is none; pass it, or use task='none'")
        return task

    def _model_to_fit(self, task: str) -> NTwinClassifier | NTwinRegressor:
        """Return a new model, or one that continues from the weights of the fit before."""
        before = _learnt(self.model_) if self.warm_start and hasattr(self, self._fitted_attribute) else "none"
        if before == "none":
            return self._new_model(task)
        if before != task:
            raise TwinWLError(
                f"warm_start: the task was {before!r} and is {task!r}; fit with the same kind of y, or set "
                "warm_start=False"
            )
        earlier: Any = self.model_
        model: Any = earlier._share_with(self._new_model(task))  # noqa: SLF001
        model.module_, model.tasks_, model.heads_ = earlier.module_, earlier.tasks_, earlier.heads_
        return model

    def _new_model(self, task: str) -> NTwinClassifier | NTwinRegressor:
        params = self.get_params(deep=False)
        del params["task"]
        return (NTwinClassifier if task == "classification" else NTwinRegressor)(**params)

    def _to_state(self) -> Fields:
        self._check_fitted()
        model, task = self.model_, _learnt(self.model_)
        if task != "none":
            return {"task": task, **model._to_state()}  # noqa: SLF001
        return {
            "inputs": model.inputs_.to_state(),
            "hops": list(model.hops_),
            "weights": weights_to_state(model.module_),
            "n_outputs": model.module_.second.out_features,
            "width": model.module_.encoder.n_rooted_outputs,
        }

    @classmethod
    def _from_state(cls, params: Fields, state: Fields) -> Self:
        self = cls._with_params(params)
        # Where nothing was learnt, and in earlier files, there is the network alone.
        task = checked("task", state.get("task", "none"), one_of("classification", "regression", "none"))
        model = self._new_model(task)
        if task == "none":
            model._inputs_from_state(state)  # noqa: SLF001
            n_outputs, width = (
                checked(name, state[name], integer(1, MAX_ITEMS)) for name in ("n_outputs", "width")
            )
            model.module_ = network_from_state(
                lambda: model._build_module(n_outputs, width),  # noqa: SLF001
                state["weights"],
            )
        else:
            model = model._from_state(model.get_params(deep=False), state)  # noqa: SLF001
        self.model_, self.n_features_out_ = model, model.module_.encoder.n_outputs
        return self


def _learnt(model: NTwinClassifier | NTwinRegressor) -> str:
    """Return the task that a network was trained for."""
    if not hasattr(model, "history_"):
        return "none"
    return "classification" if isinstance(model, NTwinClassifier) else "regression"


def _in_double(value: T) -> T:
    """Return an input of a network with its numbers in double precision."""
    return change_tensors(value, lambda tensor: tensor.double() if tensor.is_floating_point() else tensor)
