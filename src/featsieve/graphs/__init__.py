"""Neighbour graphs of the samples, and the first pseudo-labels that come from them.

- :mod:`~featsieve.graphs.coordinates`, :mod:`~featsieve.graphs.distances`: the samples in
  principal or hat coordinates, their distances and nearest neighbours
- :mod:`~featsieve.graphs.affinity`: weights of the edges (``self_tuning_graph`` is the prior of the
  graph S of JASFS), Laplacians, modularity
- :mod:`~featsieve.graphs.landmarks`: the nearest of some rows of a long table, for all its rows
- :mod:`~featsieve.graphs.views`: which metric shows clusters, and whether they are chance
- :mod:`~featsieve.graphs.spectral_labels`, :mod:`~featsieve.graphs.initial_labels`: first labels
- :mod:`~featsieve.graphs.embedding`, :mod:`~featsieve.graphs.local_models`,
  :mod:`~featsieve.graphs.adaptive_neighbours`: what MCFS and SPEC, UDFS and RUFS, SOGFS need
"""

from featsieve.graphs.affinity import heat_kernel_graph, self_tuning_graph
from featsieve.graphs.coordinates import hat_coordinates, principal_coordinates
from featsieve.graphs.distances import nearest_neighbours
from featsieve.graphs.spectral_labels import kmeans_labels, laplacian_labels, spectral_labels

__all__ = [
    "hat_coordinates",
    "heat_kernel_graph",
    "kmeans_labels",
    "laplacian_labels",
    "nearest_neighbours",
    "principal_coordinates",
    "self_tuning_graph",
    "spectral_labels",
]
