"""What is minimised: each term knows its value, its gradient or its proximal step."""

from featsieve.terms.entropy_graph import NeighbourGraph, UniformGraph
from featsieve.terms.orthogonality import indicator, is_feasible, normalised_indicator

__all__ = [
    "NeighbourGraph",
    "UniformGraph",
    "indicator",
    "is_feasible",
    "normalised_indicator",
]
