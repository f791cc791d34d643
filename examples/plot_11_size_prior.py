"""
The adaptive graph is a prior on cluster sizes
==============================================

JASFS learns a graph of the samples together with their labels. In the published model the graph
sees the labels only, and for a partition all it does is to prefer some cluster sizes to others.
"""

# %%
# For fixed labels F the best graph S is known in closed form, and what is left of the graph term is
# minus β times the sum of log z over the samples. Here are random partitions of 100 samples into
# two clusters, five for each pair of sizes. The data do not enter at all.

import matplotlib.pyplot as plt
import numpy as np

from featsieve.arrays import as_operator
from featsieve.datasets import make_planted
from featsieve.graphs import hat_coordinates, self_tuning_graph
from featsieve.graphs.distances import hat_distances
from featsieve.terms import NeighbourGraph, UniformGraph, normalised_indicator

rng = np.random.default_rng(0)
n, beta = 100, 1.0
sizes = np.arange(5, 100, 5)


def published_term(size, alpha):
    """Return the graph term, at the best graph, of a random partition with a cluster of a size."""
    labels = rng.permutation((np.arange(n) < size).astype(int))
    graph = UniformGraph(normalised_indicator(labels, 2), alpha / (2.0 * beta))
    return -beta * graph.log_partition()


figure, ax = plt.subplots()
for alpha, style in ((10.0, "o-"), (100.0, "s-"), (1000.0, "^-")):
    values = np.array([[published_term(size, alpha) for _ in range(5)] for size in sizes])
    spread = np.ptp(values, axis=1).max()
    print(f"alpha/beta = {alpha:g}: partitions of the same sizes differ by {spread:.0e}")
    ax.plot(sizes, values.mean(axis=1), style, markersize=5, label=f"alpha/beta = {alpha:g}")
ax.set(xlabel="size of the first cluster, of 100 samples", ylabel="graph term, lower is better")
ax.grid(axis="y")
ax.legend(loc="upper right")
plt.show()

# %%
# The five partitions of a point cannot be told apart. Unequal clusters are cheaper; that is all the
# term says. With ``refine_labels`` the joint solver compares the graph with the nearest neighbours
# of the data instead, so that the term asks whether neighbours have the same label.

planted = make_planted(n, 200, n_informative=20, n_clusters=2, random_state=0)
E = hat_coordinates(as_operator(planted.X, scale="std"))
prior = self_tuning_graph(hat_distances(E), n_neighbors=5)
neighbours = NeighbourGraph(prior, alpha=1.0, beta=beta)
truth = neighbours.value(normalised_indicator(planted.labels, 2))
shuffled = neighbours.value(normalised_indicator(rng.permutation(planted.labels), 2))
print(f"joint solver: the true clusters {truth:.3f}, the same sizes shuffled {shuffled:.3f}")
