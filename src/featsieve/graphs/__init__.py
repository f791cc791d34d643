"""Neighbour graphs of the samples, and the first pseudo-labels that come from them."""

from featsieve.graphs.coordinates import hat_coordinates, principal_coordinates
from featsieve.graphs.knn import heat_kernel_graph, nearest_neighbours, self_tuning_graph
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
