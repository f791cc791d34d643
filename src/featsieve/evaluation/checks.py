"""Checks of what is handed to the evaluation. Every message names the fix."""

from typing import Any

import numpy as np

from featsieve.arrays.namespace import as_numpy


def as_classes(name: str, values: Any, *, n_samples: int | None = None) -> np.ndarray:
    """Return the classes (or clusters) of the samples as integers 0, 1, ... in sorted order."""
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0 or n_samples not in (None, array.size):
        raise ValueError(
            f"{name} must be a list with one class for every sample (use .ravel() on a single "
            f"column); got the shape {array.shape} for {n_samples or 'some'} samples."
        )
    try:
        classes, codes = np.unique(array, return_inverse=True)
        if array.dtype.kind != "f" or np.array_equal(classes, np.floor(classes)):
            return codes
    except TypeError:  # text beside missing values cannot be sorted
        pass
    raise ValueError(
        f"{name} must hold classes, all text or all integers, but has fractions, missing values or "
        "several kinds of values. Leave out samples without a class; cut a measured quantity into "
        "classes first, for example with np.digitize."
    )


def as_feature_indices(support: Any, n_features: int) -> np.ndarray:
    """Return the selected columns as indices, whether a mask or indices are given."""
    chosen = as_numpy(support)
    try:
        indices = np.arange(n_features)[chosen]
    except IndexError:
        indices = np.empty(0)
    if indices.ndim != 1 or not len(indices) or len(np.unique(indices)) < len(indices):
        raise ValueError(
            f"support must be a mask of bool for the {n_features} columns of X, or the indices of "
            "the selected ones, each once (for zeros and ones pass support.astype(bool)); got "
            f"{chosen.dtype} of shape {chosen.shape}."
        )
    return indices
