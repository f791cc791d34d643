"""
How many features?
==================

Nothing needs to be given: the number of features and the number of clusters are found without
labels. The curve behind the choice tells how much the data care.
"""

# %%
# Ask for nothing. ``equivalent_range_`` holds the numbers that are nearly as good as the chosen
# one.

import matplotlib.pyplot as plt

from featsieve import JASFS
from featsieve.datasets import make_planted

planted = make_planted(150, 400, n_informative=20, n_clusters=6, signal=1.2, random_state=3)
sieve = JASFS(n_clusters="auto", random_state=0).fit(planted.X)
print(f"clusters: {sieve.n_clusters_}, plausible: {sieve.cluster_count_.plausible_range}")
print(f"features: {sieve.n_features_selected_}, nearly as good: {sieve.equivalent_range_}")
print(f"planted among them: {planted.informative[sieve.support_].sum()}")

# %%
# Every point of the curve is a nested selection. k-means clusters the samples by the selected
# columns alone; the modularity asks whether samples that are neighbours in the *whole* table stay
# together. The smallest number within 0.01 of the best is taken.

curve = sieve.path_.curve
figure, ax = plt.subplots()
ax.axvspan(*curve.equivalent_range, alpha=0.15, label="nearly equal")
ax.errorbar(curve.sizes, curve.values, yerr=curve.errors, marker="o", capsize=2)
ax.axvline(curve.chosen, linestyle="--", label=f"chosen: {curve.chosen}")
ax.set_xscale("log")
ax.set_xlabel("number of features")
ax.legend()
ax.set_title("modularity of k-means on the selected columns")
ax.grid(axis="y")
plt.show()

# %%
# The same as a table.

print(curve.table())

# %%
# The number of clusters is known within a factor of about two at best. Whether that matters for the
# selection shows in the selections for half to twice as many.

found = sieve.n_clusters_
selections = {
    count: JASFS(count, n_features_to_select=20, random_state=0).fit(planted.X).support_
    for count in (found // 2, found, 2 * found)
}
for count, support in selections.items():
    print(f"{count} clusters: {(support & selections[found]).sum()} of the 20 features are kept")
