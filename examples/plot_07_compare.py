"""
Do the methods agree?
=====================

Nineteen methods with one interface, one table, and three questions: what do they select, do they
agree, and is it right?
"""

# %%
# Thirty planted columns, ten that repeat some of them, 160 of noise.

import matplotlib.pyplot as plt
import numpy as np

import featsieve
from featsieve.datasets import make_planted

planted = make_planted(120, 200, n_informative=30, n_redundant=10, signal=0.8, random_state=0)
structure = planted.informative | planted.redundant

names = ["JASFS", "AUFS", "UGFS", "NDFS", "RSFS", "RUFS", "URAFS", "USFS", "SOGFS", "UDFS", "MCFS"]
names += ["SPEC", "LaplacianScore", "SparseKMeans", "SKFR", "IFPCA", "DUFS"]
names += ["MaxVariance", "RandomSelector"]
supports = []
for name in names:
    selector = getattr(featsieve, name)(n_features_to_select=30)
    wanted = {"n_clusters": 4, "random_state": 0, "max_iter": 200}
    selector.set_params(**{key: wanted[key] for key in wanted if key in selector.get_params()})
    supports.append(selector.fit(planted.X).support_)
supports = np.array(supports)

# %%
# The Jaccard index of two selections: columns in both over columns in either. Two random selections
# of 30 of 200 columns share about 4 or 5.

both = supports.astype(int) @ supports.T
either = 30 + 30 - both
jaccard = both / either
right = supports[:, structure].sum(axis=1)

figure, (left, ax) = plt.subplots(1, 2, figsize=(9.6, 4.8), sharey=True)
place = np.arange(len(names))
left.barh(place, right, color=["C1" if name == "JASFS" else "C0" for name in names])
left.axvline(30 * structure.mean(), color="black", linewidth=1, linestyle=":")
left.text(30 * structure.mean() + 0.4, len(names) - 0.9, "chance")
left.set_yticks(place, names)
left.set(xlabel="of 30 selected columns: with structure", xlim=(0, 30))
picture = ax.imshow(jaccard, vmin=0, vmax=1, aspect="auto")
ax.set_xticks(place, names, rotation=60, ha="right", rotation_mode="anchor")
ax.tick_params(left=False)
ax.spines[:].set_visible(False)
figure.colorbar(picture, ax=ax, label="Jaccard index")
ax.set_title("agreement of the selections")
plt.show()

# %%
# Agreement is no proof: methods that make the same mistake agree as well. Here the truth is known;
# where it is not, compare with the two controls at the end of the list.

print(f"{'method':15} with structure  Jaccard with JASFS")
for name, count, share in zip(names, right, jaccard[0], strict=True):
    print(f"{name:15} {count:14d}  {share:18.2f}")
