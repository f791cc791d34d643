"""
The number of features as an accident
=====================================

The published program reports how many features it found. That number depends on how many gradient
steps its schedule allows, not on an optimum of what it minimises.
"""

# %%
# Its inner problem, for fixed labels F: regress them on the columns, and pay λ for every column
# that is used. The labels are the planted ones with every fourth wrong, as a clustering may well
# give them.

import matplotlib.pyplot as plt
import numpy as np

from featsieve.arrays import as_operator
from featsieve.datasets import make_planted
from featsieve.solvers import ForwardSelection, HomotopyIHT, RowSparseRegression, run
from featsieve.terms import normalised_indicator

planted = make_planted(120, 300, n_informative=15, signal=2.0, random_state=0)
X = as_operator(planted.X)
labels, rng = planted.labels.copy(), np.random.default_rng(0)
wrong = rng.choice(120, 30, replace=False)
labels[wrong] = (labels[wrong] + rng.integers(1, 4, 30)) % 4
F = normalised_indicator(labels, 4)

# %%
# Two ways to solve it: the published schedule, which takes one gradient step for each of a few
# falling values of λ and then stops; and forward selection, which adds the column with the largest
# exact gain while it is worth λ.

penalties = 10.0 ** np.linspace(-4, -1, 10)
solvers = {
    "published schedule": HomotopyIHT(),
    "forward selection": ForwardSelection(),
}
count = {name: [] for name in solvers}
value = {name: [] for name in solvers}
for penalty in penalties:
    problem = RowSparseRegression(X, F - F.mean(axis=0), sparsity=penalty)
    for name, solver in solvers.items():
        state = run(solver, problem, max_iter=2000).state
        if name == "forward selection":
            columns = np.array(state.order, dtype=int)
            value[name].append(problem.value(columns))
        else:
            columns = np.flatnonzero(np.any(state.W != 0, axis=1))
            misfit = X.matmul(state.W) - problem.target
            value[name].append(0.5 * np.sum(misfit**2) + penalty * len(columns))
        count[name].append(len(columns))

# %%
# At a true minimum the selected columns are linearly independent, so there are at most n - 1. The
# published schedule selects more for a small λ: it stopped long before. On the right is what both
# minimise; lower is better.

figure, axes = plt.subplots(1, 2, figsize=(8.6, 3.7))
for name, marker in zip(solvers, "s^", strict=True):
    axes[0].plot(penalties, count[name], marker + "-", label=name, markersize=5)
    axes[1].plot(penalties, value[name], marker + "-", markersize=5)
axes[0].axhline(119, color="black", linewidth=1, linestyle=":", label="n - 1")
axes[0].set(xscale="log", xlabel="λ", ylabel="columns selected")
axes[1].set(xscale="log", yscale="log", xlabel="λ", ylabel="objective")
axes[0].legend()
plt.show()

# %%
for name in solvers:
    print(f"λ = 1e-4, {name}: {count[name][0]} columns, objective {value[name][0]:.3f}")

# %%
# The optimum is not the goal either. With so small a λ it spends its columns on the noise in the
# labels. The default solver adds a ridge, which keeps groups of columns together, and chooses their
# number by what the selection says about the whole table.
