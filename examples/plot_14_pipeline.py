"""
A table with names and holes
============================

Real tables have column names, missing values, text, and columns in all sorts of units. A pipeline
takes care of it, and the names come out at the other end.
"""

# %%
# scikit-learn's wine table, with some values knocked out, a column of text and a constant one. The
# cultivars are kept aside to look at the result.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_wine
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from featsieve import JASFS

wine = load_wine(as_frame=True)
table, rng = wine.data.copy(), np.random.default_rng(0)
table = table.mask(rng.random(table.shape) < 0.05)
table["bottle"] = [f"bottle {i}" for i in range(len(table))]
table["litres"] = 0.75
print(f"{table.shape[0]} rows, {table.isna().to_numpy().sum()} missing values")

# %%
# The selector refuses what it cannot use, and names the columns.

try:
    JASFS(n_clusters=3).fit(table)
except ValueError as error:
    print(error)

# %%
# So numeric columns are imputed, others dropped. ``set_output`` keeps the names.

numbers = (SimpleImputer(strategy="median"), make_column_selector(dtype_include="number"))
model = make_pipeline(
    make_column_transformer(numbers, verbose_feature_names_out=False),
    JASFS(n_clusters=3, n_features_to_select=5, random_state=0),
).set_output(transform="pandas")
selected = model.fit_transform(table)
print(selected.head(3).round(2).to_string())

# %%
# The scores, by name. The constant column is worth nothing.

sieve = model[-1]
order = np.argsort(sieve.ranking_)
figure, axes = plt.subplots(1, 2, figsize=(9.4, 4.0), width_ratios=(1, 1.1))
bars = np.where(sieve.support_[order], "C1", "C6")
axes[0].barh(sieve.feature_names_in_[order], sieve.scores_[order], color=bars)
axes[0].invert_yaxis()
axes[0].set(xlabel="score (orange: selected)")
axes[0].tick_params(axis="y", labelsize=8)
first, second = selected.columns[:2]
for cluster, marker in zip(range(3), "osv", strict=True):
    rows = sieve.labels_ == cluster
    axes[1].plot(
        selected[first][rows],
        selected[second][rows],
        marker,
        markersize=4,
        label=f"cluster {cluster}",
    )
axes[1].set(xlabel=first.replace("_", " "), ylabel=second.replace("_", " "))
axes[1].legend()
plt.show()

# %%
# New rows get a cluster, holes or not. Clusters beside the cultivars, which nobody told it:

for cluster in range(3):
    print(cluster, np.bincount(wine.target[sieve.labels_ == cluster], minlength=3))
print("clusters of the first five rows:", model.predict(table.head()))
