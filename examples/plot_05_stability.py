"""
Which features are certain?
===========================

Select again on subsamples of the rows, with new clusters each time. Features that come back are
certain; those that change places are not.
"""

# %%
# Twenty planted columns. Ten of them are mixed with so much noise that they are missed now and
# then. The subsamples hold four fifths of the rows.

import matplotlib.pyplot as plt
import numpy as np

from featsieve import JASFS, StabilitySelection
from featsieve.datasets import make_planted

planted = make_planted(150, 300, n_informative=20, signal=2.0, random_state=1)
X = planted.X.copy()
weak = np.flatnonzero(planted.informative)[::2]
X[:, weak] += 4.0 * np.random.default_rng(0).standard_normal((150, len(weak)))

selector = JASFS(n_clusters=4, n_features_to_select=20)
stable = StabilitySelection(selector, n_subsamples=20, random_state=0).fit(X)
low, high = stable.stability_interval_
print(f"stability {stable.stability_:.2f}, 95 % interval {low:.2f} to {high:.2f}")
print(f"{stable.n_features_selected_} columns are selected in at least 60 % of the subsamples")

# %%
# The clean columns come back most often. Of the others some are found more often than any column of
# noise, and some are not.

kinds = {
    "planted": np.setdiff1d(np.flatnonzero(planted.informative), weak),
    "planted, mixed with noise": weak,
    "noise": np.flatnonzero(~planted.informative),
}
figure, ax = plt.subplots()
order = np.argsort(stable.ranking_)[:50]
for (name, columns), color in zip(kinds.items(), ("C1", "C0", "C6"), strict=True):
    place = np.flatnonzero(np.isin(order, columns))
    ax.bar(place + 1, stable.selection_frequency_[order[place]], color=color, label=name)
ax.axhline(stable.threshold, color="black", linestyle="--", linewidth=1, label="threshold")
ax.set(xlabel="rank of the column", ylabel="selection frequency")
ax.legend()
plt.show()

# %%
# On noise the same selector picks other columns each time. Repeatability is not truth, but its
# absence is a warning.

noise = np.random.default_rng(1).standard_normal((150, 300))
lost = StabilitySelection(selector, n_subsamples=10, threshold=0.1, random_state=0).fit(noise)
print(f"stability on noise: {lost.stability_:.2f}")
print(f"most frequent column: in {lost.selection_frequency_.max():.0%} of the subsamples")
