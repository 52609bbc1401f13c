"""
Audit of a train/test split
===========================

A test set that repeats training molecules flatters every model. :func:`twinwl.audit` finds
copies exactly, however the SMILES are written, near copies, and copies whose targets
contradict each other.
"""

import matplotlib.pyplot as plt
import pandas as pd

import twinwl as tw

train = pd.DataFrame(
    {
        "smiles": ["CCO", "CC(=O)O", "c1ccccc1O", "CC(C)O", "CCN", "c1ccc2ccccc2c1", "C[C@H](N)C(=O)O"],
        "active": [0, 0, 1, 0, 1, 1, 0],
    }
)
test = pd.DataFrame(
    {
        "smiles": ["OCC", "CC(=O)[O-]", "Oc1ccccc1", "C[C@@H](N)C(=O)O", "CCCCCCCC", "c1ccc2cc3ccccc3cc2c1"],
        "active": [1, 0, 1, 0, 0, 1],
    }
)
report = tw.audit(train, test, target="active", near=0.6)
print("copies with different targets:", len(report.contradictions))
report.to_frame()[["name", "same", "similarity", "other_name"]]

# %%
# The contradiction is ethanol, inactive in training and active in the test set. Which test rows
# are in training too depends on what counts as the same molecule: acetate is acetic acid only by
# its skeleton, and the two alanines differ in stereo.

name = list(report.sizes)[-1]
shares = {level: len(report.rows_in_common(name, level)) for level in report.levels}
shares["nearly"] = len(report.rows_in_common(name))

fig, ax = plt.subplots(figsize=(7, 2.6), layout="constrained")
bars = ax.barh(list(shares)[::-1], list(shares.values())[::-1])
ax.bar_label(bars, padding=4)
ax.set(xlim=(0, 6), xlabel=f"test molecules, of {len(test)}, that training has too")
plt.show()
