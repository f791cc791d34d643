"""
What the published algorithm really does
========================================

JASFS promises to learn pseudo-labels, a graph and a selection together. In the published program
the labels never move. This page shows it, and what follows.
"""

# %%
# A table with four planted clusters. The first labels are the true ones, of which a quarter is
# spoiled on purpose. An algorithm that learns its labels should repair some of them.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from featsieve import JASFS
from featsieve.datasets import make_planted

planted = make_planted(120, 300, n_informative=15, signal=2.0, random_state=0)
X, rng = planted.X, np.random.default_rng(0)
start = planted.labels.copy()
wrong = rng.choice(120, 30, replace=False)
start[wrong] = (start[wrong] + rng.integers(1, 4, 30)) % 4


class Watch:
    """Note what the labels do in every iteration."""

    def __init__(self):
        self.moved, self.agreement, self.change, self.first = [], [], 0.0, None

    def __call__(self, iteration, objective, state):
        """Look at one iteration."""
        published = hasattr(state, "F")
        labels = state.F.argmax(axis=1) if published else state.pool.labels[0]
        self.moved.append(int((labels != start).sum()))
        self.agreement.append(adjusted_rand_score(planted.labels, labels))
        if published:
            self.first = state.F if self.first is None else self.first
            self.change = np.abs(state.F - self.first).max()


# %%
# Both solvers start from these labels and select 15 columns. The joint solver moves labels if it is
# told to (``refine_labels``).

paper, joint = Watch(), Watch()
published = JASFS(4, solver="paper", init=start, n_features_to_select=15, callback=paper).fit(X)
learned = JASFS(4, init=start, refine_labels=True, n_features_to_select=15, callback=joint).fit(X)

for name, watch, sieve in (("published", paper, published), ("joint", joint, learned)):
    print(
        f"{name}: {watch.moved[-1]} labels changed, agreement with the truth "
        f"{watch.agreement[0]:.2f} -> {watch.agreement[-1]:.2f}, "
        f"{planted.informative[sieve.support_].sum()} of the 15 planted columns"
    )

# %%
# The reason is the penalty for labels that are not orthonormal, ν = 10⁸. It dwarfs everything else
# in the multiplicative update, so that its factor is 1 up to about 10⁻⁸; and a zero stays zero.

print(f"largest change of an entry of F in {len(paper.moved)} iterations: {paper.change:.1e}")

figure, axes = plt.subplots(1, 2, figsize=(8.6, 3.6))
axes[0].plot(range(1, len(paper.moved) + 1), paper.moved, "s-", label="published", color="C0")
axes[0].plot(range(1, len(joint.moved) + 1), joint.moved, "o-", label="joint", color="C1")
axes[0].axhline(30, color="C6", linestyle=":", label="spoiled")
axes[0].set(xlabel="iteration", ylabel="labels changed since the start", ylim=(-2, 45))
axes[1].plot(range(1, len(paper.moved) + 1), paper.agreement, "s-", color="C0")
axes[1].plot(range(1, len(joint.moved) + 1), joint.agreement, "o-", color="C1")
axes[1].set(xlabel="iteration", ylabel="adjusted Rand index with the truth", ylim=(0, 1.02))
for ax in axes:
    ax.set_xticks(range(1, len(paper.moved) + 1))
    ax.grid(axis="y")
axes[0].legend()
plt.show()

# %%
# If the labels never move, α and β cannot matter, except that they weigh the objective whose change
# ends the iterations. With the number of iterations fixed (``tol=0``) every α and β gives the same
# selection.

supports = set()
for alpha in (1e-6, 1e-2, 1.0, 1e2, 1e6):
    for beta in (1e-6, 1.0, 1e6):
        sieve = JASFS(
            4, solver="paper", init=start, sparsity=1e-3, alpha=alpha, beta=beta, tol=0, max_iter=10
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # ten iterations are asked for
            supports.add(sieve.fit(X).support_.tobytes())
print(f"15 settings of alpha and beta, {len(supports)} selection")
