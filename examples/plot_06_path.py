"""
The regularisation path
=======================

λ is the price of a feature. As it falls, features enter, best first. One fit gives the nested
selections of every size, so trying another number costs nothing.
"""

# %%
# Fifteen columns are planted, and ten more repeat them.

import matplotlib.pyplot as plt
import numpy as np

from featsieve import JASFS
from featsieve.datasets import make_planted

planted = make_planted(150, 300, n_informative=15, n_redundant=10, signal=1.5, random_state=0)
sieve = JASFS(n_clusters=4, n_features_to_select=15, path_length=60, random_state=0).fit(planted.X)
path = sieve.path_
print("the five best columns:", path.order[:5])
print("the price at which ten columns are bought:", round(float(path.sparsity[9]), 4))

# %%
# The price falls steeply while columns bring something new, and levels off when only noise is left.

kind = np.where(planted.informative, 0, np.where(planted.redundant, 1, 2))[path.order]
rank = np.arange(1, len(path.order) + 1)
figure, ax = plt.subplots()
for which, (name, color) in enumerate((("planted", "C1"), ("repeats", "C0"), ("noise", "C6"))):
    ax.plot(rank[kind == which], path.sparsity[kind == which], "o", color=color, label=name)
ax.set_yscale("log")
ax.set(xlabel="columns selected", ylabel="λ at which the column enters")
ax.grid(axis="y")
ax.legend()
plt.show()
