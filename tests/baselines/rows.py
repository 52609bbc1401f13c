"""Every neural row, in small, and its network with random weights in double precision."""

from importlib import import_module

import torch

from twinwl.learning.determinism import seeded

# The rows that 1-WL bounds, and those that see more.
BOUNDED = {
    "gcn": ("gcn:GCNClassifier", {}),
    "gin": ("gin:GINClassifier", {}),
    "diffpool": ("diffpool:DiffPoolClassifier", {"cluster_ratio": 0.5}),
    "sortpool": ("sort_pool:SortPoolClassifier", {}),
    "sagpool": ("sag_pool:SAGPoolClassifier", {}),
}
STRONGER = {
    "123-gnn": ("one_two_three_gnn:OneTwoThreeGNNClassifier", {}),
    "3-hop-gnn": ("k_hop_gnn:KHopGNNClassifier", {"layers": 1}),
    "nested-gin": ("nested_gin:NestedGINClassifier", {}),
    "ppgn": ("ppgn:PPGNClassifier", {}),
    "id-gnn": ("id_gnn:IDGNNClassifier", {"layers": 5}),
    "id-gnn-fast": ("id_gnn:IDGNNClassifier", {"form": "fast"}),
}
RANDOM = {"gcn-rni": ("gcn_rni:GCNRNIClassifier", {"draws": 2})}
ALL = {**BOUNDED, **STRONGER, **RANDOM}


def row(name, **parameters):
    """Return a small estimator of the row."""
    home, own = ALL[name]
    module, kind = home.split(":")
    small = {"layers": 3, "hidden": 8, "random_state": 0, "progress": False}
    return getattr(import_module(f"twinwl.baselines.{module}"), kind)(**{**small, **own, **parameters})


def random_network(name, batch, **parameters):
    """Return a function from graphs to the logits of an untrained network."""
    estimator = row(name, **parameters)
    estimator._check_parameters()
    estimator._fit_examples(batch)
    with seeded(1):
        module = estimator._build_module(2).double().eval()

    def logits(graphs):
        with torch.no_grad():
            return module(in_double(estimator._examples(graphs).take(range(len(graphs)))))

    return logits


def in_double(value):
    """Return the same input with every float in double precision."""
    if isinstance(value, torch.Tensor):
        return value.double() if value.is_floating_point() else value
    if isinstance(value, tuple):
        parts = [in_double(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value
