"""
A panel with genes already bought, a budget and two batches
===========================================================

Thirty probes are in the freezer, others have prices, and half of the cells were measured with
another kit.
"""

# %%
# Simulated counts of seven types. The second kit catches a third of the genes three times less
# often, so that some clusters of cells are clusters of the kit.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.metrics import normalized_mutual_info_score

import anndata
from featsieve.anndata import select_genes
from featsieve.datasets import make_cells

cells = make_cells(400, 600, n_markers=20, smallest_marker_mean=0.3, random_state=1)
rng = np.random.default_rng(0)
batch = np.where(rng.random(400) < 0.5, "kit A", "kit B")
hard = rng.random(600) < 0.33
counts = cells.X.copy()
where = np.ix_(batch == "kit B", hard)
counts[where] = rng.binomial(counts[where].astype(int), 1 / 3)
adata = anndata.AnnData(sp.csr_matrix(counts))
adata.var_names = [f"gene{j}" for j in range(600)]
adata.obs["kit"] = pd.Categorical(batch)

# %%
# Thirty genes are there already and cost nothing worth counting; new probes cost 1, long ones 3.
# The budget buys up to 50 more.

bought = [f"gene{j}" for j in rng.choice(600, 30, replace=False)]
costs = {f"gene{j}": 3.0 for j in np.flatnonzero(rng.random(600) < 0.2)}
costs |= dict.fromkeys(bought, 0.01)
settings = {"n_clusters": 7, "keep": bought, "costs": costs, "budget": 50.3}
select_genes(adata, **settings, key_added="naive")
select_genes(adata, **settings, batch_key="kit", key_added="inside")
print(adata.uns["inside"]["batch"]["sentence"])

# %%
# How far do the clusters follow the kit, and how far the types (which judge only)?

truths = {"kit": batch, "type": cells.labels}
figure, ax = plt.subplots(figsize=(6.0, 3.8))
for i, key in enumerate(("naive", "inside")):
    found = adata.obs[f"{key}_cluster"]
    values = [normalized_mutual_info_score(truth, found) for truth in truths.values()]
    print(f"{key}: NMI {values[0]:.2f} with the kit, {values[1]:.2f} with the types")
    ax.bar(np.arange(2) + 0.38 * i, values, width=0.36, label=key)
ax.set_xticks(np.arange(2) + 0.19, [f"agreement with the {name}" for name in truths])
ax.set(ylabel="NMI of the clusters", ylim=(0, 1))
ax.legend()
plt.show()

# %%
# What is to be ordered: the genes of the panel that are not in the freezer, best first.

panel = adata.var[adata.var["inside_selected"]].sort_values("inside_rank")
order = [gene for gene in panel.index if gene not in bought]
print(f"{len(order)} genes for {sum(costs.get(gene, 1.0) for gene in order):g}: {order[:8]} ...")
