"""
Predict numbers, with intervals
===============================

ESOL lists the solubility of molecules in water. :class:`twinwl.STwinSVR` predicts it, and
``predict_interval`` returns an interval for each molecule that contains the true value with a
probability of 90 %, if new molecules are like the training molecules.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

import twinwl as tw

data = tw.load_dataset("ESOL", atoms="ecfp")
train, test, y_train, y_test = train_test_split(data.graphs, data.y, test_size=0.2, random_state=0)
model = tw.STwinSVR(edge_labels=False).fit(train, y_train)
predicted = model.predict(test)
low, high = model.predict_interval(test, confidence=0.9).T
inside = (low <= y_test) & (y_test <= high)
print(f"R² on {len(test)} new molecules: {model.score(test, y_test):.2f}")
print(f"measured values inside the intervals: {inside.mean():.0%}")

# %%

fig, ax = plt.subplots(figsize=(5.4, 4.8), layout="constrained")
order = np.argsort(predicted)
ax.fill_between(predicted[order], low[order], high[order], color="#dbe6f2", label="90 % interval")
ax.plot(predicted[inside], y_test[inside], "o", ms=4, alpha=0.7, label="inside")
ax.plot(predicted[~inside], y_test[~inside], "o", ms=5, label="outside")
ax.set(xlabel="predicted log solubility", ylabel="measured")
ax.legend(loc="upper left")
plt.show()
