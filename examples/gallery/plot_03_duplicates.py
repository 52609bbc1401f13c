"""
Duplicates that contradict each other
=====================================

The same molecule can be written as different SMILES. :func:`twinwl.deduplicate` finds the groups of
equal molecules of BBBP exactly, and those whose rows disagree about the target.
"""

import matplotlib.pyplot as plt
from rdkit import Chem
from rdkit.Chem import Draw

import twinwl as tw

data = tw.load_dataset("BBBP", atoms="constitution")
found = tw.deduplicate(data.graphs)
contradictions = found.contradictions(data.y)
print(f"{len(data.graphs):,} molecules, {len(found.groups):,} different")
print(f"{len(contradictions)} of them occur with both targets")

# %%
# Two rows of the same molecule at the level ``constitution``, which ignores stereochemistry. With
# ``atoms="stereo"`` some of these contradictions disappear, because the stereoisomers differ.

fig, axes = plt.subplots(2, 2, figsize=(6.4, 4.8), layout="constrained")
for row, group in zip(axes, [found.groups[contradictions[place]] for place in (1, 3)], strict=True):
    for ax, graph in zip(row, group[:2], strict=True):
        ax.imshow(Draw.MolToImage(Chem.MolFromSmiles(data.smiles[graph]), (520, 360)))
        ax.set_title(f"row {data.rows[graph]}: {'crosses' if int(data.y[graph]) else 'does not cross'}")
        ax.axis("off")
plt.show()
