"""Twin Weisfeiler-Lehman: classify, compare, hash and de-duplicate graphs beyond 1-WL.

Names are loaded on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING

__version__ = "0.3.0"

if TYPE_CHECKING:
    from twinwl import nn as nn
    from twinwl import pyg as pyg
    from twinwl import research as research
    from twinwl import results as results
    from twinwl.corpus.corpus import Corpus
    from twinwl.datasets.dataset import Dataset
    from twinwl.datasets.source import load_dataset
    from twinwl.errors import TwinWLError, TwinWLWarning
    from twinwl.evaluation.audit import audit
    from twinwl.evaluation.evaluate import evaluate
    from twinwl.evaluation.neighbours import neighbours
    from twinwl.files.model_files import load, save
    from twinwl.graphs.batch import GraphBatch, concatenate
    from twinwl.graphs.building import as_batch
    from twinwl.isomorphism.comparison import compare
    from twinwl.isomorphism.deduplication import deduplicate
    from twinwl.isomorphism.hashing import graph_hash, graph_hashes
    from twinwl.models.attribution import explain
    from twinwl.models.base import SmilesToGraphs
    from twinwl.models.similarity import TwinKernel
    from twinwl.models.svc import STwinSVC, STwinSVR
    from twinwl.models.vectorizer import STwinVectorizer
    from twinwl.neural.ntwin import NTwinClassifier, NTwinRegressor
    from twinwl.neural.stwin import STwinClassifier, STwinRegressor
    from twinwl.refinement.colours import colours
    from twinwl.refinement.identities import rooted_sizes

    from_edges = GraphBatch.from_edges
    from_graph6 = GraphBatch.from_graph6
    from_igraph = GraphBatch.from_igraph
    from_networkx = GraphBatch.from_networkx
    from_pyg = GraphBatch.from_pyg
    from_rdkit = GraphBatch.from_rdkit
    from_scipy = GraphBatch.from_scipy
    from_smiles = GraphBatch.from_smiles

_NAMES_IN = {
    "corpus.corpus": ("Corpus",),
    "datasets.dataset": ("Dataset",),
    "datasets.source": ("load_dataset",),
    "errors": ("TwinWLError", "TwinWLWarning"),
    "evaluation.audit": ("audit",),
    "evaluation.evaluate": ("evaluate",),
    "evaluation.neighbours": ("neighbours",),
    "files.model_files": ("load", "save"),
    "graphs.batch": ("GraphBatch", "concatenate"),
    "graphs.building": ("as_batch",),
    "isomorphism.comparison": ("compare",),
    "isomorphism.deduplication": ("deduplicate",),
    "isomorphism.hashing": ("graph_hash", "graph_hashes"),
    "models.attribution": ("explain",),
    "models.base": ("SmilesToGraphs",),
    "models.similarity": ("TwinKernel",),
    "models.svc": ("STwinSVC", "STwinSVR"),
    "models.vectorizer": ("STwinVectorizer",),
    "neural.ntwin": ("NTwinClassifier", "NTwinRegressor"),
    "neural.stwin": ("STwinClassifier", "STwinRegressor"),
    "refinement.colours": ("colours",),
    "refinement.identities": ("rooted_sizes",),
}
_HOME_OF = {name: f"twinwl.{module}" for module, names in _NAMES_IN.items() for name in names}
_MODULES = ("nn", "pyg", "research", "results")
# Names that were here in version 0.1, by the module where they are now.
_MOVED_TO = {
    "nn": ("NTwinEncoder", "NTwinTransformer"),
    "research": ("ceiling", "power"),
    "results": ("Audit", "Ceiling", "Comparison", "Deduplication", "Evaluation", "Power"),
}
_MOVED = {name: module for module, names in _MOVED_TO.items() for name in names}
_REMOVED = {
    "data_parallel": "train in one process, or run folds and grids at once with evaluate(..., engine='ray')",
}

__all__ = [
    "Corpus",
    "Dataset",
    "GraphBatch",
    "NTwinClassifier",
    "NTwinRegressor",
    "STwinClassifier",
    "STwinRegressor",
    "STwinSVC",
    "STwinSVR",
    "STwinVectorizer",
    "SmilesToGraphs",
    "TwinKernel",
    "TwinWLError",
    "TwinWLWarning",
    "__version__",
    "as_batch",
    "audit",
    "colours",
    "compare",
    "concatenate",
    "deduplicate",
    "evaluate",
    "explain",
    "from_edges",
    "from_graph6",
    "from_igraph",
    "from_networkx",
    "from_pyg",
    "from_rdkit",
    "from_scipy",
    "from_smiles",
    "graph_hash",
    "graph_hashes",
    "load",
    "load_dataset",
    "neighbours",
    "rooted_sizes",
    "save",
]


def __getattr__(name: str) -> object:
    from twinwl.errors import import_name  # noqa: PLC0415  (loads nothing heavy, but is not needed before)

    if name in _HOME_OF:
        globals()[name] = value = import_name(_HOME_OF[name], name)
        return value
    if name in __all__:  # all others are constructors of GraphBatch, one dot nearer
        return getattr(import_name("twinwl.graphs.batch", "GraphBatch"), name)
    if name in _MODULES:
        return importlib.import_module(f"twinwl.{name}")
    if name in _MOVED:
        home = f"twinwl.{_MOVED[name]}"
        message = f"twinwl.{name} is now {home}.{name}; the old name goes in version 0.4"
        warnings.warn(message, FutureWarning, stacklevel=2)
        return import_name(home, name)
    if name in _REMOVED:
        raise import_name("twinwl.errors", "TwinWLError")(f"{name} was removed; {_REMOVED[name]}")
    raise AttributeError(f"module 'twinwl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
