"""
Is there any structure at all?
==============================

Every selector selects something, on pure noise too. Before you trust a selection, ask whether there
are clusters for it to carry.
"""

# %%
# The structure score compares the clusters of a table with those found after every column was
# permuted by itself. Permuted columns keep their values and lose what they have in common.

import warnings

import matplotlib.pyplot as plt
import numpy as np

from featsieve import JASFS, structure_score
from featsieve.datasets import make_planted
from featsieve.tuning import NoStructureWarning

signals = [0.0, 0.5, 1.0, 1.25, 1.5, 2.0]
scores, found = [], []
for signal in signals:
    planted = make_planted(150, 300, n_informative=20, signal=signal, random_state=0)
    sieve = JASFS(n_clusters=4, n_features_to_select=20, random_state=0).fit(planted.X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoStructureWarning)  # the figure says it
        scores.append(structure_score(planted.X, sieve.labels_))
    found.append(planted.informative[sieve.support_].sum())

# %%
# With a signal of zero there is nothing to find, and the score says so. It needs no labels; the
# number of planted features that were found does. A low score does not prove that nothing is
# there: it looks at the neighbours among *all* columns, and at a spread of 1 it sees no clusters
# yet, where nearly all planted columns are found already.

figure, ax = plt.subplots()
ax.plot(signals, scores, "o-", color="C0")
ax.axhspan(-0.25, 0.05, color="C6", alpha=0.25, label="noise")
ax.set(xlabel="spread of the cluster means, in units of the noise", ylabel="structure score")
for signal, score, count in zip(signals, scores, found, strict=True):
    ax.annotate(f"{count}/20", (signal, score), (-4, 8), textcoords="offset points", ha="right")
ax.set_xlim(-0.25, 2.1)
ax.set_ylim(-0.25, max(scores) + 0.06)
ax.set_title("planted features found, by structure score")
ax.legend(loc="lower right")
plt.show()

# %%
# Where the number of features is to be found as well, JASFS looks by itself and warns.

noise = np.random.default_rng(0).standard_normal((100, 200))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    JASFS(n_clusters=3, random_state=0).fit(noise)
print(caught[0].category.__name__)
print(caught[0].message)
