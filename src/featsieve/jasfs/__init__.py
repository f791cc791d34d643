"""JASFS: joint adaptive graph and structured sparsity regularised feature selection."""

from featsieve.jasfs.estimator import JASFS

__all__ = ["JASFS"]
