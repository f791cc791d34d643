"""The estimators, one method per file."""

from featsieve.selectors.jasfs import JASFS
from featsieve.selectors.laplacian_score import LaplacianScore
from featsieve.selectors.ndfs import NDFS

__all__ = [
    "JASFS",
    "NDFS",
    "LaplacianScore",
]
