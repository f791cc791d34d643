"""
Words that carry topics
=======================

Text becomes a sparse table: one column per word, nearly all entries zero. It stays sparse from
beginning to end.
"""

# %%
# A made-up collection of 300 documents on three topics. Each topic has twelve words of its own; the
# rest of the vocabulary is used by all, a few words often and most of them seldom.

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

from featsieve import JASFS, LaplacianScore, MaxVariance

rng = np.random.default_rng(0)
n_documents, n_words = 300, 2000
topic = np.arange(n_documents) % 3
usage = 1.0 / np.arange(1, n_words + 1)  # Zipf's law
own = rng.choice(np.arange(50, n_words), (3, 12), replace=False)
counts = np.zeros((n_documents, n_words))
for document in range(n_documents):
    weights = usage.copy()
    weights[own[topic[document]]] += 0.04
    counts[document] = rng.multinomial(120, weights / weights.sum())

# %%
# tf-idf, in compressed rows. Words that occur in fewer than five documents are dropped, which is
# good practice: a column that is hardly ever non-zero can explain only the documents it occurs in.

often = (counts > 0).sum(axis=0) >= 5
X = TfidfTransformer().fit_transform(sp.csr_array(counts[:, often]))
topical = np.isin(np.flatnonzero(often), own)
print(f"{X.shape[0]} documents, {X.shape[1]} words, {X.nnz / np.prod(X.shape):.1%} not zero")

# %%
# How many of the words selected belong to a topic?

methods = {
    "JASFS": JASFS(n_clusters=3, n_features_to_select=36, random_state=0),
    "Laplacian score": LaplacianScore(n_features_to_select=36),
    "largest variance": MaxVariance(n_features_to_select=36),
}
figure, ax = plt.subplots(figsize=(6.4, 4.2))
for (name, sieve), marker in zip(methods.items(), "osv", strict=True):
    order = np.argsort(sieve.fit(X).ranking_)[:100]
    found = np.cumsum(topical[order])
    print(f"{name}: {found[35]} of the first 36 words belong to a topic")
    ax.plot(np.arange(1, 101), found, label=name, marker=marker, markevery=9, markersize=5)
ax.plot([0, 36, 100], [0, 36, 36], color="black", linewidth=1, linestyle=":", label="all of them")
ax.set(xlabel="words selected", ylabel="of them, words of a topic")
ax.grid()
ax.legend()
plt.show()

# %%
# The result is sparse as well. On real collections the choice of words is an open problem: see the
# guide on text for what to expect.

print(type(methods["JASFS"].transform(X)).__name__)
