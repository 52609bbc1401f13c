"""Twin Weisfeiler-Lehman: classify, compare, hash and de-duplicate graphs beyond 1-WL.

Names are loaded on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.2.0"

if TYPE_CHECKING:
    from twinwl.corpus.corpus import Corpus as Corpus
    from twinwl.datasets.dataset import Dataset as Dataset
    from twinwl.datasets.source import load_dataset as load_dataset
    from twinwl.errors import TwinWLError as TwinWLError
    from twinwl.errors import TwinWLWarning as TwinWLWarning
    from twinwl.evaluation.audit import Audit as Audit
    from twinwl.evaluation.audit import Ceiling as Ceiling
    from twinwl.evaluation.audit import audit as audit
    from twinwl.evaluation.audit import ceiling as ceiling
    from twinwl.evaluation.evaluate import evaluate as evaluate
    from twinwl.evaluation.power import Power as Power
    from twinwl.evaluation.power import power as power
    from twinwl.evaluation.result import Evaluation as Evaluation
    from twinwl.files.model_files import load as load
    from twinwl.files.model_files import save as save
    from twinwl.graphs.batch import GraphBatch as GraphBatch
    from twinwl.graphs.batch import concatenate as concatenate
    from twinwl.graphs.building import as_batch as as_batch
    from twinwl.isomorphism.comparison import Comparison as Comparison
    from twinwl.isomorphism.comparison import compare as compare
    from twinwl.isomorphism.deduplication import Deduplication as Deduplication
    from twinwl.isomorphism.deduplication import deduplicate as deduplicate
    from twinwl.isomorphism.hashing import graph_hash as graph_hash
    from twinwl.isomorphism.hashing import graph_hashes as graph_hashes
    from twinwl.models.base import SmilesToGraphs as SmilesToGraphs
    from twinwl.models.similarity import TwinKernel as TwinKernel
    from twinwl.models.svc import STwinSVC as STwinSVC
    from twinwl.models.svc import STwinSVR as STwinSVR
    from twinwl.models.vectorizer import STwinVectorizer as STwinVectorizer
    from twinwl.neural.encoder import NTwinEncoder as NTwinEncoder
    from twinwl.neural.ntwin import NTwinClassifier as NTwinClassifier
    from twinwl.neural.ntwin import NTwinRegressor as NTwinRegressor
    from twinwl.neural.stwin import STwinClassifier as STwinClassifier
    from twinwl.neural.stwin import STwinRegressor as STwinRegressor
    from twinwl.neural.transformer import NTwinTransformer as NTwinTransformer

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
    "evaluation.audit": ("Audit", "Ceiling", "audit", "ceiling"),
    "evaluation.evaluate": ("evaluate",),
    "evaluation.power": ("Power", "power"),
    "evaluation.result": ("Evaluation",),
    "files.model_files": ("load", "save"),
    "graphs.batch": ("GraphBatch", "concatenate"),
    "graphs.building": ("as_batch",),
    "isomorphism.comparison": ("Comparison", "compare"),
    "isomorphism.deduplication": ("Deduplication", "deduplicate"),
    "isomorphism.hashing": ("graph_hash", "graph_hashes"),
    "models.base": ("SmilesToGraphs",),
    "models.similarity": ("TwinKernel",),
    "models.svc": ("STwinSVC", "STwinSVR"),
    "models.vectorizer": ("STwinVectorizer",),
    "neural.encoder": ("NTwinEncoder",),
    "neural.ntwin": ("NTwinClassifier", "NTwinRegressor"),
    "neural.stwin": ("STwinClassifier", "STwinRegressor"),
    "neural.transformer": ("NTwinTransformer",),
}
_HOME_OF = {name: f"twinwl.{module}" for module, names in _NAMES_IN.items() for name in names}
_CONSTRUCTORS = tuple(
    f"from_{kind}" for kind in ("edges", "graph6", "igraph", "networkx", "pyg", "rdkit", "scipy", "smiles")
)
_REMOVED = {
    "data_parallel": "train in one process, or run folds and grids at once with evaluate(..., engine='ray')",
}

__all__ = sorted(["__version__", *_HOME_OF, *_CONSTRUCTORS])  # noqa: PLE0605  (type checkers see the imports)


def __getattr__(name: str) -> object:
    from twinwl.errors import import_name  # noqa: PLC0415  (loads nothing heavy, but is not needed before)

    if name in _HOME_OF:
        globals()[name] = value = import_name(_HOME_OF[name], name)
        return value
    if name in _CONSTRUCTORS:  # the constructors of GraphBatch, one dot nearer
        return getattr(import_name("twinwl.graphs.batch", "GraphBatch"), name)
    if name in _REMOVED:
        raise import_name("twinwl.errors", "TwinWLError")(f"{name} was removed; {_REMOVED[name]}")
    raise AttributeError(f"module 'twinwl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
