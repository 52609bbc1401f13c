"""
How much of a test set is in the training set?
==============================================

A model that was trained on BBBP would look too good on ClinTox: :func:`twinwl.audit` finds the
molecules that both sets contain, however their SMILES are written.
"""

import matplotlib.pyplot as plt
import numpy as np

import twinwl as tw

train = tw.load_dataset("BBBP", atoms="skeleton")
test = tw.load_dataset("ClinTox", atoms="skeleton")
report = tw.audit(train, test)
print(report)
report.to_frame()[["name", "same", "similarity", "other_name"]].head()

# %%
# The similarity of each test molecule to the most similar training molecule: 1 means that no
# environment of an atom differs.

nearest = tw.neighbours(test, train, k=1).similarities[:, 0]
fig, ax = plt.subplots(layout="constrained")
ax.hist(nearest, bins=np.linspace(0, 1, 41))
ax.axvline(0.9, color="#7a8594", linestyle=":")
ax.text(0.89, ax.get_ylim()[1] * 0.9, "nearly the same", ha="right")
ax.set(xlabel="similarity to the nearest molecule of BBBP", ylabel="molecules of ClinTox")
plt.show()
