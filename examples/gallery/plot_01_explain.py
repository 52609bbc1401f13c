"""
Predict a property of molecules, and explain the prediction
===========================================================

BBBP lists molecules and whether they cross the blood-brain barrier. :class:`twinwl.STwinSVC` learns
from four fifths of them. For each prediction, :func:`twinwl.explain` says which atoms led to it.
"""

import matplotlib.pyplot as plt
from sklearn.metrics import RocCurveDisplay
from sklearn.model_selection import train_test_split

import twinwl as tw

data = tw.load_dataset("BBBP", atoms="ecfp")
train, test, y_train, y_test = train_test_split(
    data.graphs, data.y, test_size=0.2, stratify=data.y, random_state=0
)
model = tw.STwinSVC(n_iter=(1, 2, 3), edge_labels=False).fit(train, y_train)
print(f"accuracy on {len(test)} new molecules: {model.score(test, y_test):.1%}")

# %%
# Red atoms support the prediction that diazepam crosses the barrier, blue atoms oppose it.

diazepam = "CN1C(=O)CN=C(c2ccccc2)c2cc(Cl)ccc21"
explanation = tw.explain(model, tw.from_smiles([diazepam], atoms="ecfp"))
print(explanation.verdict)

fig, ax = plt.subplots(figsize=(5, 4), layout="constrained")
explanation.plot(ax, molecule=diazepam)
plt.show()

# %%
# How well the probabilities rank new molecules:

fig, ax = plt.subplots(figsize=(4.6, 4), layout="constrained")
RocCurveDisplay.from_estimator(model, test, y_test, ax=ax, name="STwinSVC", plot_chance_level=True)
plt.show()
