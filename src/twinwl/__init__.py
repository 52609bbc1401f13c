"""Twin Weisfeiler-Lehman: classify, compare, hash and de-duplicate graphs beyond 1-WL.

Names are loaded on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.2.0"

if TYPE_CHECKING:
    from twinwl.corpus.corpus import Corpus
    from twinwl.datasets.dataset import Dataset
    from twinwl.datasets.source import load_dataset
    from twinwl.errors import TwinWLError, TwinWLWarning
    from twinwl.evaluation.audit import Audit, audit
    from twinwl.evaluation.ceiling import Ceiling, ceiling
    from twinwl.evaluation.evaluate import evaluate
    from twinwl.evaluation.power import Power, power
    from twinwl.evaluation.result import Evaluation
    from twinwl.files.model_files import load, save
    from twinwl.graphs.batch import GraphBatch, concatenate
    from twinwl.graphs.coercion import as_batch
    from twinwl.isomorphism.comparison import Comparison, compare
    from twinwl.isomorphism.deduplication import Deduplication, deduplicate
    from twinwl.isomorphism.hashing import graph_hash, graph_hashes
    from twinwl.models.base import SmilesToGraphs
    from twinwl.models.similarity import TwinKernel
    from twinwl.models.svc import STwinSVC, STwinSVR
    from twinwl.models.vectorizer import STwinVectorizer
    from twinwl.neural.encoder import NTwinEncoder
    from twinwl.neural.ntwin import NTwinClassifier, NTwinRegressor
    from twinwl.neural.stwin import STwinClassifier, STwinRegressor
    from twinwl.neural.transformer import NTwinTransformer

    from_edges = GraphBatch.from_edges
    from_graph6 = GraphBatch.from_graph6
    from_igraph = GraphBatch.from_igraph
    from_networkx = GraphBatch.from_networkx
    from_pyg = GraphBatch.from_pyg
    from_rdkit = GraphBatch.from_rdkit
    from_scipy = GraphBatch.from_scipy
    from_smiles = GraphBatch.from_smiles

_HOME_OF = {
    "Audit": "twinwl.evaluation.audit",
    "Ceiling": "twinwl.evaluation.ceiling",
    "Comparison": "twinwl.isomorphism.comparison",
    "Corpus": "twinwl.corpus.corpus",
    "Dataset": "twinwl.datasets.dataset",
    "Deduplication": "twinwl.isomorphism.deduplication",
    "Evaluation": "twinwl.evaluation.result",
    "GraphBatch": "twinwl.graphs.batch",
    "NTwinClassifier": "twinwl.neural.ntwin",
    "NTwinEncoder": "twinwl.neural.encoder",
    "NTwinRegressor": "twinwl.neural.ntwin",
    "NTwinTransformer": "twinwl.neural.transformer",
    "Power": "twinwl.evaluation.power",
    "STwinClassifier": "twinwl.neural.stwin",
    "STwinRegressor": "twinwl.neural.stwin",
    "STwinSVC": "twinwl.models.svc",
    "STwinSVR": "twinwl.models.svc",
    "STwinVectorizer": "twinwl.models.vectorizer",
    "SmilesToGraphs": "twinwl.models.base",
    "TwinKernel": "twinwl.models.similarity",
    "TwinWLError": "twinwl.errors",
    "TwinWLWarning": "twinwl.errors",
    "as_batch": "twinwl.graphs.coercion",
    "audit": "twinwl.evaluation.audit",
    "ceiling": "twinwl.evaluation.ceiling",
    "compare": "twinwl.isomorphism.comparison",
    "concatenate": "twinwl.graphs.batch",
    "deduplicate": "twinwl.isomorphism.deduplication",
    "evaluate": "twinwl.evaluation.evaluate",
    "graph_hash": "twinwl.isomorphism.hashing",
    "graph_hashes": "twinwl.isomorphism.hashing",
    "load": "twinwl.files.model_files",
    "load_dataset": "twinwl.datasets.source",
    "power": "twinwl.evaluation.power",
    "save": "twinwl.files.model_files",
}

_REMOVED = {
    "data_parallel": "train in one process, or run folds and grids at once with evaluate(..., engine='ray')",
}

__all__ = [
    "Audit",
    "Ceiling",
    "Comparison",
    "Corpus",
    "Dataset",
    "Deduplication",
    "Evaluation",
    "GraphBatch",
    "NTwinClassifier",
    "NTwinEncoder",
    "NTwinRegressor",
    "NTwinTransformer",
    "Power",
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
    "ceiling",
    "compare",
    "concatenate",
    "deduplicate",
    "evaluate",
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
    "power",
    "save",
]


def __getattr__(name: str) -> object:
    from twinwl.errors import import_name  # noqa: PLC0415  (loads nothing heavy, but is not needed before)

    if name in _HOME_OF:
        globals()[name] = value = import_name(_HOME_OF[name], name)
        return value
    if name.startswith("from_") and name in __all__:  # the constructors of GraphBatch, one dot nearer
        return getattr(import_name("twinwl.graphs.batch", "GraphBatch"), name)
    if name in _REMOVED:
        raise import_name("twinwl.errors", "TwinWLError")(f"{name} was removed; {_REMOVED[name]}")
    raise AttributeError(f"module 'twinwl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
