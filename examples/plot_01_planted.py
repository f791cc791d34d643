"""
Find the planted features
=========================

A table of noise, in which a few columns differ between groups of samples. Nobody tells the selector
which, how many groups there are in the rows, or what the units of the columns are.
"""

# %%
# Sixty of 500 columns are informative. Every column gets a unit of its own, from thousandths to
# thousands, as in a table that mixes millimetres, dollars and counts.

import matplotlib.pyplot as plt
import numpy as np

from featsieve import JASFS, MaxVariance
from featsieve.datasets import make_planted

planted = make_planted(n_samples=150, n_features=500, n_informative=60, random_state=0)
units = 10.0 ** np.random.default_rng(0).uniform(-3, 3, 500)
X = planted.X * units

# %%
# The largest variances know only the units. JASFS scales the columns itself, finds clusters in all
# of them together, and keeps the columns that predict these clusters.

methods = {
    "JASFS": JASFS(n_clusters=4, n_features_to_select=60, random_state=0).fit(X),
    "largest variance": MaxVariance(n_features_to_select=60).fit(X),
}
for name, sieve in methods.items():
    print(f"{name}: {planted.informative[sieve.support_].sum()} of the 60 planted columns")

# %%
# Each point is a column. The planted ones should lie on top.

figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.9))
for ax, (name, sieve) in zip(axes, methods.items(), strict=True):
    column, truth = np.arange(500), planted.informative
    ax.plot(column[~truth], sieve.scores_[~truth], ".", color="C6", label="noise")
    ax.plot(column[truth], sieve.scores_[truth], "o", color="C1", markersize=4, label="planted")
    ax.axhline(sieve.scores_[sieve.support_].min(), color="C0", linewidth=1, label="selected above")
    ax.set_yscale("log")
    ax.set(title=name, xlabel="column", ylabel="score")
handles, labels = axes[0].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncols=3)
plt.show()
