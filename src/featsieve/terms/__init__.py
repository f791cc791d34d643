"""What is minimised: each term knows its value, its gradient or its proximal step."""

from featsieve.terms.entropy_graph import NeighbourGraph, UniformGraph
from featsieve.terms.orthogonality import indicator, is_feasible, normalised_indicator
from featsieve.terms.regression import GramLeastSquares, LeastSquares, least_squares
from featsieve.terms.row_sparsity import RowSparsityConstraint, RowSparsityPenalty

__all__ = [
    "GramLeastSquares",
    "LeastSquares",
    "NeighbourGraph",
    "RowSparsityConstraint",
    "RowSparsityPenalty",
    "UniformGraph",
    "indicator",
    "is_feasible",
    "least_squares",
    "normalised_indicator",
]
