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

from featsieve import JASFS, cluster_sensitivity
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

figure, ax = plt.subplots()
sieve.path_.curve.plot(ax=ax)
ax.set_title("modularity of k-means on the selected columns")
ax.grid(axis="y")
plt.show()

# %%
# The same as a table.

print(sieve.path_.curve.table())

# %%
# The number of clusters is known within a factor of about two at best. Whether that matters for the
# selection is a table too: the selections for half to twice as many are compared with the first
# one.

selector = JASFS(sieve.n_clusters_, n_features_to_select=20, random_state=0)
print(cluster_sensitivity(planted.X, selector))
