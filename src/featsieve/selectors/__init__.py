"""The estimators, one method per file."""

from featsieve.selectors.jasfs import JASFS

__all__ = ["JASFS"]
