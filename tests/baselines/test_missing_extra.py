import importlib
import sys

import pytest

from twinwl.baselines.kernels import DeepGraphKernelSVC, ShortestPathSVC
from twinwl.errors import MissingExtraError
from twinwl.evaluation.methods import resolve

EDGES = [[(0, 1)]] * 8


@pytest.mark.parametrize(
    ("kind", "package"), [(ShortestPathSVC, "grakel"), (DeepGraphKernelSVC, "gensim.models")]
)
def test_kernels_say_which_extra_they_miss(kind, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"'twinwl\[baselines\]'"):
        kind().fit(EDGES, [0, 1] * 4)


def test_a_network_says_which_extra_it_misses(monkeypatch):
    pytest.importorskip("torch_geometric", reason="needs PyTorch Geometric, to take it away")
    importlib.import_module("twinwl.baselines.geometric")
    monkeypatch.delitem(sys.modules, "twinwl.baselines.geometric")
    monkeypatch.setitem(sys.modules, "torch_geometric.nn", None)
    with pytest.raises(MissingExtraError, match=r"'torch_geometric'.*pip install 'twinwl\[baselines\]'"):
        resolve("sagpool").build({}, 0)
