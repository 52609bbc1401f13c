"""What is certain about a network on every machine: its first outputs, and that its loss falls far.

Whether a training ends in the last right answer rests on rounding, so no test asks for that.
"""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")
from twinwl.neural.training import seeded  # noqa: E402  (it needs torch)

# What makes a small problem certain to be learnt: no units left out, no graphs held out, large steps.
CERTAIN = {"dropout": 0.0, "learning_rate": 0.01, "validation_fraction": None, "verbose": False}

# In double precision, and with outputs of about 1: what is equal but for rounding, and what is not.
SAME, DIFFERENT = 1e-12, 1e-9

# On pairs of graphs with opposite classes, a network that gives both of a pair the same output cannot have a
# smaller mean loss than this: one of them gets the probability p and the other 1 - p.
LEAST_LOSS_OF_1WL = np.log(2)


def mean_loss(model, graphs, y):
    """Return the mean log loss of a fitted classifier; a guess among n classes has log(n)."""
    codes = np.searchsorted(model.classes_, y)
    return -np.log(model.predict_proba(graphs)[np.arange(len(codes)), codes]).mean()


def lowest_loss(estimator, graphs, y, held, y_held):
    """Train, and return the lowest mean loss of all epochs on other graphs: the last may be a bad one."""
    estimator.set_params(patience=estimator.max_epochs)
    return min(estimator.fit(graphs, y, validation_data=(held, y_held)).history_.validation_loss)


def first_network(estimator, graphs, seed=1):
    """Return a function from graphs to the logits of an estimator's untrained network, in double precision.

    Parameters
    ----------
    estimator
        A neural classifier, not fitted.
    graphs
        What alphabets and encoders are fitted on.
    seed
        Decides the first weights.
    """
    estimator._check_parameters()
    estimator._fit_examples(graphs)
    with seeded(seed):
        module = estimator._build_module(2).double().eval()

    def logits(batch):
        with torch.no_grad():
            return module(in_double(estimator._examples(batch).take(np.arange(len(batch)))))

    return logits


def in_double(value):
    """Return the same input with every float tensor in double precision."""
    if isinstance(value, torch.Tensor):
        return value.double() if value.is_floating_point() else value
    if isinstance(value, tuple):
        parts = [in_double(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def apart(estimator, pair, seeds=range(4)):
    """Return how far apart an untrained network sees two graphs: the largest difference of their outputs.

    It is the largest over some first weights, for with one of them every unit may be off.
    """
    outputs = [first_network(estimator, pair, seed)(pair) for seed in seeds]
    return max((first - second).abs().max().item() for first, second in outputs)
