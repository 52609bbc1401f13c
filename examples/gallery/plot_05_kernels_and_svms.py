"""
Kernels and support vector machines
===================================

:class:`twinwl.TwinKernel` computes similarities of graphs, :class:`twinwl.STwinSVC` learns
from them and chooses rounds and penalty by cross-validation. Graphs that 1-WL cannot tell
apart have similarity 1 in its kernel.
"""

import matplotlib.pyplot as plt
import numpy as np

import twinwl as tw

data = tw.load_dataset("TWINS", n_pairs=60)
plain = tw.TwinKernel(n_iter=3, features="count", base="minmax").fit_transform(data.graphs)
twin = tw.TwinKernel(n_iter=3, features="joint", base="minmax").fit_transform(data.graphs)

# %%
# Both graphs of a pair stand next to each other, so that pairs are blocks along the diagonal.
# For 1-WL they are blocks of ones; with identities they are not.

fig, axes = plt.subplots(1, 2, figsize=(8, 3.9), layout="constrained")
for ax, kernel, title in zip(axes, (plain, twin), ("1-WL", "with identities"), strict=True):
    image = ax.imshow(kernel[:24, :24], vmin=0, vmax=1, cmap="Blues")
    pairs = kernel[np.arange(0, 120, 2), np.arange(1, 120, 2)]
    ax.set_title(f"{title}: similarity within pairs {pairs.mean():.2f}")
    ax.set(xticks=[], yticks=[])
fig.colorbar(image, ax=axes, shrink=0.8)
plt.show()

# %%
# The machine that learns from such a kernel, with half of the pairs held out:

train = data.groups < 30
model = tw.STwinSVC(features="joint").fit(data.graphs[train], data.y[train], groups=data.groups[train])
print(
    f"rounds {model.n_iter_}, C {model.C_}: accuracy {model.score(data.graphs[~train], data.y[~train]):.2f}"
)
