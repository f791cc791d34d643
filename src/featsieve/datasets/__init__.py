"""Data to try selectors on."""

from featsieve.datasets.synthetic import Planted, make_planted

__all__ = ["Planted", "make_planted"]
