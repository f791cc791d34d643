"""
Why this feature, and why not that one?
=======================================

``explain`` has one row of facts for every feature: what it is worth, which cluster it tells apart,
and whether a selected feature says the same already.
"""

# %%
# Breast cancer measurements: 569 samples, 30 columns with names. Radius, perimeter and area of the
# same cell nuclei are nearly the same column three times. The diagnosis is not used.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from featsieve import JASFS, MaxVariance, explain
from featsieve.evaluation import redundancy

table = load_breast_cancer(as_frame=True).data
sieve = JASFS(n_clusters=4, n_features_to_select=6, random_state=0).fit(table)
facts = explain(sieve, table).sort_values("rank")
print(facts[["feature", "rank", "score", "best_cluster", "reason"]].head(12).to_string(index=False))

# %%
# How strongly does each column correlate with the closest *other* selected one? Five of the six
# are the size of the nuclei.

colour = {"selected": "C1", "redundant": "C0", "low score": "C6"}
figure, ax = plt.subplots(figsize=(6.8, 6.4))
strength = np.abs(facts["correlation"])
ax.barh(facts["feature"], strength, color=[colour[status] for status in facts["status"]])
for status, color in colour.items():
    ax.barh(facts["feature"][:1], 0, color=color, label=status)
ax.axvline(0.9, color="black", linewidth=1, linestyle="--", label="redundant from here")
ax.invert_yaxis()
ax.tick_params(axis="y", labelsize=8)
ax.set(xlabel="|correlation| with the closest selected column", ylabel="column, best first")
ax.set_xlim(0, 1.0)
figure.legend(loc="outside lower center", ncols=4)
plt.show()

# %%
# A small ridge makes JASFS avoid what it has already; a large one keeps groups of related columns
# together. The mean absolute correlation inside the selection shows it.

for name, selector in {
    "ridge=0.1": JASFS(4, n_features_to_select=6, ridge=0.1, random_state=0),
    "ridge=10 (default)": JASFS(4, n_features_to_select=6, random_state=0),
    "ridge=100": JASFS(4, n_features_to_select=6, ridge=100.0, random_state=0),
    "largest variance": MaxVariance(n_features_to_select=6),
}.items():
    support = selector.fit(table).support_
    print(f"{name:19} redundancy {redundancy(table.to_numpy(), support):.2f}")
