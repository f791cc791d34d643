"""Which pixels of handwritten digits carry their clusters."""

import numpy as np
from sklearn.datasets import load_digits

from featsieve import JASFS

X, _ = load_digits(return_X_y=True)
sieve = JASFS(n_clusters=10, random_state=0).fit(X)

print(f"{sieve.n_features_selected_} of {X.shape[1]} pixels; ranks, best first:")
for row in np.where(sieve.support_, sieve.ranking_, 0).reshape(8, 8):
    print(" ".join(f"{rank:2d}" if rank else " ." for rank in row))

print("\nhow many pixels a price per pixel (sparsity) buys:")
for share in (0.5, 0.2, 0.1, 0.05):
    price = share * sieve.path_.half_gains[0]
    print(f"{price:.4f} ({share:3.0%} of the best pixel): {sieve.path_.n_features_at(price)}")
