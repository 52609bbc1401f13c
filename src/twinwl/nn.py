"""The encoder of NTwin-GNN as a module of torch, and as a transformer of scikit-learn."""

from twinwl.errors import import_extra

import_extra("torch", "neural")

from twinwl.neural.encoder import GraphData, NTwinEncoder, RootedSubgraphEncoder  # noqa: E402
from twinwl.neural.transformer import NTwinTransformer  # noqa: E402

__all__ = ["GraphData", "NTwinEncoder", "NTwinTransformer", "RootedSubgraphEncoder"]
