import sys

import pytest

from twinwl.baselines.kernels import DeepGraphKernelSVC, ShortestPathSVC
from twinwl.errors import MissingExtraError

EDGES = [[(0, 1)]] * 8


@pytest.mark.parametrize(
    ("kind", "package"), [(ShortestPathSVC, "grakel"), (DeepGraphKernelSVC, "gensim.models")]
)
def test_kernels_say_which_extra_they_miss(kind, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"'twinwl\[baselines\]'"):
        kind().fit(EDGES, [0, 1] * 4)
