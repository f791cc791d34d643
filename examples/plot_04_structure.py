"""
Is there any structure at all?
==============================

Every selector selects something, on pure noise too. Before you trust a selection, ask whether there
are clusters for it to carry.
"""

# %%
# The test compares a table with copies of itself that have no clusters: with every column permuted
# (the same columns, independent), and with the same correlations, but as a continuum. The three
# tables below have clusters, one continuous factor, and nothing. (One in twenty tables without
# clusters is called so by chance, as the level is 0.05; the random states here are not of these.)

import warnings

import matplotlib.pyplot as plt
import numpy as np

from featsieve import JASFS, structure_test
from featsieve.datasets import make_planted

rng = np.random.default_rng(1)
tables = {
    "planted clusters": make_planted(150, 100, n_informative=30, random_state=0).X,
    "one factor": rng.standard_normal((150, 1)) + rng.standard_normal((150, 100)),
    "noise": np.random.default_rng(0).standard_normal((150, 100)),
}
tests = {name: structure_test(X) for name, X in tables.items()}
for name, test in tests.items():
    print(f"{name}. {test.sentence}")

# %%
# The value of a table says how far different clusterings agree, in standard deviations beyond
# the other tables. Grey are the copies, orange is the table. It must be beyond both kinds of
# copies to be called clusters. (The second kind is not asked for where the first gives nothing.)

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
for ax, kind, title in zip(
    axes, ("permuted", "rotated"), ("permuted columns", "same correlations"), strict=True
):
    for place, test in enumerate(tests.values()):
        null = getattr(test, f"null_{kind}")
        ax.plot(null, [place] * len(null), "o", color="0.6", alpha=0.6)
        ax.plot(getattr(test, f"value_{kind}"), place, "D", color="C1")
    ax.set_xscale("symlog")
    ax.set_title(f"copies with {title}")
    ax.set_xlabel("standard deviations beyond the others")
axes[0].set_yticks(range(3), [f"{name}:\n{test.answer}" for name, test in tests.items()])
axes[0].set_ylim(2.5, -0.5)
plt.show()

# %%
# Where a number of clusters or features is to be found, fits test by themselves and warn.

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    sieve = JASFS(n_clusters=3, random_state=0).fit(tables["one factor"])
print(sieve.structure_.verdict)
print(caught[0].category.__name__)
print(caught[0].message)
