"""
Which pixels carry the digits?
==============================

An image is a row of pixels, so features are places in the picture, and a selection is a mask.
"""

# %%
# scikit-learn's digits: 1797 images of 8 x 8 pixels. The labels are loaded to judge the result.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from featsieve import JASFS
from featsieve.evaluation import ClusteringScores, practical_protocol

X, y = load_digits(return_X_y=True)
sieve = JASFS(n_clusters=10, random_state=0).fit(X)
print(f"{sieve.n_features_selected_} of 64 pixels; nearly as good: {sieve.equivalent_range_}")

# %%
# Rank 1 is the best pixel. Grey pixels are left out: the sides, which few images touch. Columns
# have unit variance inside, so that a corner which few images touch can be worth much as well:
# below, a way to write a 1 or a 2 is told by it.

rank = np.where(sieve.support_, sieve.ranking_, np.nan).reshape(8, 8)
figure, axes = plt.subplots(1, 2, figsize=(8.2, 3.7))
axes[0].imshow(X.mean(axis=0).reshape(8, 8), cmap="Greys")
axes[0].set_title("mean of all images")
best = axes[1].imshow(rank, cmap="cividis_r")
axes[1].set_facecolor("#d5dae1")
axes[1].set_title(f"the {sieve.n_features_selected_} selected pixels")
figure.colorbar(best, ax=axes[1], label="rank (1 is the best)")
for ax in axes:
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set(visible=True, color="#d5dae1")

# %%
# The clusters found on the way are digits, mostly, or ways to write one. Here is the mean image of
# each.

figure, axes = plt.subplots(2, 5, figsize=(7.0, 3.2))
for cluster, ax in enumerate(axes.flat):
    members = sieve.labels_ == cluster
    digit = np.bincount(y[members]).argmax()
    ax.imshow(X[members].mean(axis=0).reshape(8, 8), cmap="Greys")
    ax.set_title(f"{members.sum()} images, most a {digit}", fontsize=8, fontweight="normal")
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)

# %%
# How well do k-means clusters match the digits when it sees fewer pixels? One fit holds the nested
# selections of every size in ``path_``.

sizes = [5, 10, 15, 20, 30, 40, 64]
order = np.argsort(sieve.ranking_)
accuracy = [practical_protocol(X[:, order[:k]], y, n_starts=5).accuracy[0] for k in sizes]
own = ClusteringScores.of_labels(y, sieve.labels_).accuracy[0]

figure, ax = plt.subplots()
ax.plot(sizes, accuracy, "o-", label="k-means on the best pixels")
ax.axhline(own, color="C1", linestyle="--", label="JASFS's own clusters")
ax.set(xlabel="number of pixels", ylabel="clustering accuracy", ylim=(0, 1))
ax.grid(axis="y")
ax.legend(loc="lower right")
plt.show()
