"""
Molecules, from a DataFrame to explained predictions
====================================================

A DataFrame with a column of SMILES is a data set. Here the question is whether a molecule
is an acid; the model sees only graphs of atoms and bonds, and learns what
makes an acid.
"""

import pandas as pd

import twinwl as tw

acids = [
    "CC(=O)O",
    "CCC(=O)O",
    "OC(=O)c1ccccc1",
    "CC(C)C(=O)O",
    "OC(=O)C1CC1",
    "CC(N)C(=O)O",
    "OC(=O)CCl",
    "OC(=O)c1ccncc1",
]
others = ["CC(=O)OC", "CCC(=O)N", "COC(=O)c1ccccc1", "CC(C)C=O", "OCC1CC1", "CC(N)CO", "OCCCl", "Oc1ccncc1"]
table = pd.DataFrame({"smiles": acids + others, "acid": ["yes"] * 8 + ["no"] * 8})

data = tw.load_dataset(table, target="acid", atoms="ecfp")
model = tw.STwinSVC(n_iter=2, C=10, edge_labels=False).fit(data.graphs, data.y)

aspirin = "CC(=O)Oc1ccccc1C(=O)O"
explanation = model.explain(tw.from_smiles([aspirin], atoms="ecfp"))
print(explanation.verdict)

# %%
# Red atoms speak for the prediction, blue ones against it. Aspirin has an acid and an
# ester; the model tells them apart.

import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(6, 4.6))
explanation.draw(ax, molecule=aspirin)
plt.show()
