"""
Search for similar molecules
============================

:func:`twinwl.neighbours` compares a query with every molecule of BBBP. The similarity is the share of
atom environments that two molecules have in common.
"""

import matplotlib.pyplot as plt
from rdkit import Chem
from rdkit.Chem import Draw

import twinwl as tw

query = "CN1C(=O)CN=C(c2ccccc2)c2cc(Cl)ccc21"  # diazepam
library = tw.load_dataset("BBBP", atoms="constitution")
found = tw.neighbours(tw.from_smiles([query], atoms="constitution"), library, k=4)
found.to_frame()

# %%

smiles = [query, *(library.smiles[graph] for graph in found.indices[0][1:])]
titles = ["query", *(f"similarity {each:.2f}" for each in found.similarities[0][1:])]
fig, axes = plt.subplots(2, 2, figsize=(6, 5), layout="constrained")
for ax, one, title in zip(axes.flat, smiles, titles, strict=True):
    ax.imshow(Draw.MolToImage(Chem.MolFromSmiles(one), (400, 400)))
    ax.set_title(title)
    ax.axis("off")
plt.show()
