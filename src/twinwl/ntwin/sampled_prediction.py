"""Prediction from sampled roots: pooled sums are means over several draws; a spread shows their error."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from twinwl.learning.determinism import single_threaded
from twinwl.learning.devices import moved, own_device
from twinwl.learning.training import rows_at_once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twinwl.arrays import Float64
    from twinwl.ntwin.examples import QuotientExamples
    from twinwl.ntwin.network import NTwinNetwork

__all__ = ["SampledPrediction", "sampled_outputs", "standard_error"]


class SampledPrediction(NamedTuple):
    """What is predicted from samples of the roots, and how far it may be off.

    Attributes
    ----------
    values : array of float64
        As `predict_proba` of a classifier, shape (n_graphs, n_classes), or `predict` of a regressor,
        (n_graphs,). More samples or more roots bring it closer to the exact prediction.
    spread : array of float64, of the same shape
        Standard error of each value because of the sampling, estimated with the jackknife; 0 if all roots
        were taken.
    """

    values: Float64
    spread: Float64


def sampled_outputs(network: NTwinNetwork, examples: QuotientExamples, n_samples: int) -> NDArray[np.float32]:
    """Return outputs from the mean of all samples' sums, then from the means without one of them.

    Each call of ``examples.take`` draws roots. A sample's sums are right on average, so their mean tends to
    the exact sums; a mean of outputs would not tend to the exact output, which is no linear function.

    Returns
    -------
    array of float32, shape (1 + n_samples, n_graphs, n_outputs)
    """
    network.eval()
    place, step = own_device(network), rows_at_once(examples)
    parts = []
    with torch.no_grad(), single_threaded():
        for rows in np.split(np.arange(len(examples)), range(step, len(examples), step)):
            sums = []
            for _ in range(n_samples):
                sample = moved(examples.take(rows), place)
                sums.append(network.encoder(sample.graphs).cpu().double())
            total = torch.stack(sums).sum(dim=0)
            means = [total / n_samples, *((total - one) / (n_samples - 1) for one in sums)]
            outputs = [network.from_sums(mean.float().to(place), sample.histograms).cpu() for mean in means]
            parts.append(torch.stack(outputs))
    return torch.cat(parts, dim=1).numpy()


def standard_error(left_out: list[Float64]) -> Float64:
    """Return the jackknife's standard error of a value, from what it is without each of the samples.

    >>> standard_error([np.array([1.0]), np.array([3.0])]).tolist()
    [1.0]
    """
    values = np.stack(left_out)
    n = len(values)
    error: Float64 = np.sqrt((n - 1) / n * ((values - values.mean(axis=0)) ** 2).sum(axis=0))
    return error
