"""
Why a result chosen by labels misleads
======================================

Papers try many settings and print the best one, judged by the true classes. Try random columns as
often, and they look good too.
"""

# %%
# First a table without any structure: noise, with classes drawn at random. No selection can be
# right about it.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from featsieve import JASFS
from featsieve.evaluation import paper_protocol

rng = np.random.default_rng(0)
noise, classes = rng.standard_normal((60, 200)), rng.permutation(np.arange(60) % 3)


def random_scores(X, y, *, n_columns, n_tries):
    """Return the accuracy of k-means on each of many random selections."""
    draws = [rng.choice(X.shape[1], n_columns, replace=False) for _ in range(n_tries)]
    return np.array([paper_protocol(X[:, draw], y, n_seeds=1).accuracy[0] for draw in draws])


def expected_best(scores, n_tries):
    """Return the mean of the best of n_tries scores, drawn again and again."""
    return np.sort(rng.choice(scores, (500, n_tries)), axis=1)[:, -1].mean()


by_chance = random_scores(noise, classes, n_columns=20, n_tries=200)

# %%
# Then 800 of the digits, which have structure. Random selections of 20 pixels, and the 20 pixels
# of JASFS, fitted once with its defaults.

X, y = load_digits(return_X_y=True)
X, y = X[:800], y[:800]
pixels = random_scores(X, y, n_columns=20, n_tries=150)
sieve = JASFS(n_clusters=10, n_features_to_select=20, random_state=0).fit(X)
honest = paper_protocol(sieve.transform(X), y).accuracy.mean()

# %%
# The more selections are tried, the better the best of them looks, and nothing was learned. A part
# of it is the luck of k-means: every random selection gets a single run.

budgets = np.array([1, 2, 5, 10, 20, 50, 100])
figure, axes = plt.subplots(1, 2, figsize=(8.6, 3.8), sharey=True)
for ax, scores, title in (
    (axes[0], by_chance, "noise, random classes"),
    (axes[1], pixels, "digits, 20 pixels"),
):
    best = [expected_best(scores, budget) for budget in budgets]
    ax.plot(budgets, best, "o-", color="C6", label="best of random selections, by labels")
    ax.set_xscale("log")
    ax.set_xticks(budgets, budgets)
    ax.minorticks_off()
    ax.set(title=title, xlabel="selections tried", ylim=(0.3, 0.9))
    ax.grid(axis="y")
axes[0].axhline(1 / 3, color="black", linewidth=1, linestyle=":", label="one class guessed for all")
axes[1].axhline(honest, color="C1", label="JASFS, nothing chosen by labels")
axes[0].set_ylabel("clustering accuracy")
axes[0].legend(loc="upper left")
axes[1].legend(loc="upper left")
plt.show()

# %%
print(
    f"noise: one random selection {by_chance.mean():.2f}, best of 100 "
    f"{expected_best(by_chance, 100):.2f}"
)
print(
    f"digits: one random selection {pixels.mean():.2f}, best of 100 "
    f"{expected_best(pixels, 100):.2f}, JASFS {honest:.2f}"
)

# %%
# The benchmark of this library therefore gives its random control the same number of tries as the
# methods, and never mixes results that were chosen by labels with those that were not.
