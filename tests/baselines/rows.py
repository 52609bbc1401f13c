"""Every neural row, in small, and its network with random weights in double precision."""

from importlib import import_module

from tests.networks import first_network

# The rows that 1-WL bounds, and those that see more.
BOUNDED = {
    "gcn": ("gnn:GCNClassifier", {}),
    "gin": ("gnn:GINClassifier", {}),
    "diffpool": ("gnn:DiffPoolClassifier", {"cluster_ratio": 0.5}),
    "sortpool": ("gnn:SortPoolClassifier", {}),
    "sagpool": ("gnn:SAGPoolClassifier", {}),
}
STRONGER = {
    "123-gnn": ("higher_order:OneTwoThreeGNNClassifier", {}),
    "3-hop-gnn": ("higher_order:KHopGNNClassifier", {"layers": 1}),
    "nested-gin": ("higher_order:NestedGINClassifier", {}),
    "ppgn": ("higher_order:PPGNClassifier", {}),
    "id-gnn": ("higher_order:IDGNNClassifier", {"layers": 5}),
    "id-gnn-fast": ("higher_order:IDGNNClassifier", {"form": "fast"}),
}
RANDOM = {"gcn-rni": ("gnn:GCNRNIClassifier", {"draws": 2})}
ALL = {**BOUNDED, **STRONGER, **RANDOM}


def row(name, **parameters):
    """Return a small estimator of the row."""
    home, own = ALL[name]
    module, kind = home.split(":")
    small = {"layers": 3, "hidden": 8, "random_state": 0, "verbose": False}
    return getattr(import_module(f"twinwl.baselines.{module}"), kind)(**{**small, **own, **parameters})


def random_network(name, batch, **parameters):
    """Return a function from graphs to the logits of a row's untrained network."""
    return first_network(row(name, **parameters), batch)
