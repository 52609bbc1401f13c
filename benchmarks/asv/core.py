"""A small subset of the benchmarks, for asv: each case is compared between two commits as a ratio.

Data are generated, and every case is run once before it is timed, so that compilation does not count.
"""

from __future__ import annotations

import time

import twinwl as tw
from twinwl.refinement.colours import refine
from twinwl.refinement.identities import rooted_sizes


class Core:
    """Refinement, hash, features, kernel, de-duplication, quotient."""

    timer = time.process_time  # the machine may be busy
    warmup_time = 0.0
    repeat = 5

    def setup(self) -> None:
        """Generate the graphs, and compile."""
        self.graphs = tw.load_dataset("TWINS", n_pairs=400).graphs
        self.few = self.graphs[:200]
        for name in dir(self):
            if name.startswith("time_"):
                getattr(self, name)()

    def time_colours(self) -> None:
        """Run five rounds of 1-WL."""
        refine(self.graphs, 5)

    def time_rooted_sizes(self) -> None:
        """Pass identities for five rounds."""
        rooted_sizes(self.graphs, 5)

    def time_hash(self) -> None:
        """Compute the default hash."""
        tw.graph_hashes(self.graphs)

    def time_stwin_features(self) -> None:
        """Sum sizes by colour, three rounds."""
        tw.STwinVectorizer(n_iter=3).fit_transform(self.graphs)

    def time_kernel_minmax(self) -> None:
        """Compute a minmax kernel matrix."""
        tw.TwinKernel(n_iter=3, base="minmax").fit_transform(self.few)

    def time_deduplicate(self) -> None:
        """Find exact groups."""
        tw.deduplicate(self.graphs)

    def time_ntwin_quotient(self) -> None:
        """Refine all rooted subgraphs, three layers."""
        from twinwl.neural.quotient import build_quotient  # noqa: PLC0415  (needs PyTorch)

        build_quotient(self.few, layers=3, hops=3)
