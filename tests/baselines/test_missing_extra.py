import sys

import pytest

from twinwl.baselines.kernels import DeepGraphKernelSVC
from twinwl.errors import MissingExtraError


def test_a_kernel_says_which_extra_it_misses(monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(MissingExtraError, match=r"'twinwl\[baselines\]'"):
        DeepGraphKernelSVC().fit([[(0, 1)]] * 8, [0, 1] * 4)
