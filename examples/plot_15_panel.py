"""
From raw counts to a panel of 100 genes
=======================================

Targeted and spatial methods measure a hundred genes or so. Which ones show the cell types best, if
nobody knows the types yet?
"""

# %%
# Simulated counts of 400 cells of seven types, 600 genes; each type has 20 markers. The cells are
# read to different depths. The types are used to judge only.

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

import anndata
from featsieve.anndata import select_genes
from featsieve.datasets import make_cells

cells = make_cells(400, 600, n_markers=20, smallest_marker_mean=0.3, random_state=0)
adata = anndata.AnnData(sp.csr_matrix(cells.X))
adata.var_names = [f"gene{j}" for j in range(600)]

# %%
# The counts go in as they are. What was done to them is recorded.

select_genes(adata, n_genes=100, n_clusters=7)
about = adata.uns["featsieve"]
print(about["normalisation"])
print(about["structure"]["sentence"])
print(f"{cells.informative[adata.var['featsieve_selected']].sum()} of 100 genes are markers")

# %%
# The order is a path: the first k genes are a panel of k. How many does it take? Beside it, the
# genes of largest variance of the logarithms.

totals = cells.X.sum(axis=1, keepdims=True)
logs = np.log1p(cells.X * about["library_size"] / totals)
orders = {
    "panel": np.argsort(adata.var["featsieve_rank"].to_numpy()),
    "largest variance": np.argsort(-logs.var(axis=0)),
}
sizes = [5, 10, 15, 20, 30, 50, 100]


def agreement(genes):
    """Return how well k-means on some genes finds the types."""
    found = KMeans(7, n_init=10, random_state=0).fit_predict(logs[:, genes])
    return normalized_mutual_info_score(cells.labels, found)


figure, ax = plt.subplots(figsize=(6.4, 4.2))
for (name, order), marker in zip(orders.items(), "ov", strict=True):
    ax.plot(sizes, [agreement(order[:k]) for k in sizes], marker=marker, label=name)
ax.axhline(agreement(np.arange(600)), color="black", linewidth=1, linestyle=":", label="all genes")
ax.set(xlabel="genes", ylabel="NMI of k-means with the types", xscale="log")
ax.set_xticks(sizes, [str(k) for k in sizes], minor=False)
ax.grid()
ax.legend()
plt.show()

# %%
# ``featsieve panel cells.h5ad --genes 100 -o panel`` writes the same as a folder for the bench.
