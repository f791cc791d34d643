"""What is minimised: each term knows its value, its gradient or its proximal step."""

from featsieve.terms.entropy_graph import NeighbourGraph, UniformGraph
from featsieve.terms.orthogonality import indicator, normalised_indicator

__all__ = [
    "NeighbourGraph",
    "UniformGraph",
    "indicator",
    "normalised_indicator",
]
