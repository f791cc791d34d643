"""Multiplicative steps for non-negative, nearly orthonormal pseudo-labels F.

    J(F) = tr(F'AF) - 2 tr(F'B) + (g/2) ||F'F - I||^2,   F >= 0,

with A symmetric and B of any sign. Split by sign, the half-gradient is  b + q - a  with

    a = A^- F + B^+ + g F,    b = A^+ F + B^-,    q = g F (F'F)    (all >= 0),

and every rule here is F <- F * u with u a function of a, b, q that is 1 where they balance.
"""

import numpy as np

from featsieve.terms.orthogonality import normalised_indicator

# With a penalty above this the labels stay at their first value: a step moves them by about 1/g.
FROZEN = 1e6
# What is added to the first F, relative to its largest entry, so that zeros can grow.
SOFTENING = 0.2


def first_label_matrix(labels: np.ndarray, n_clusters: int, *, orthogonality: float) -> np.ndarray:
    """Return the F to start from: the normalised indicator of the labels.

    A multiplicative step never changes a zero. Where the penalty is weak enough for labels to move
    at all, every entry starts with 0.2 of its column's height added.
    """
    F = normalised_indicator(labels, n_clusters)
    return F if orthogonality > FROZEN else F + SOFTENING * F.max(axis=0)


def majorised_step(
    F: np.ndarray, attraction: np.ndarray, repulsion: np.ndarray, orthogonality: float
) -> np.ndarray:
    """Return the minimiser of the separable upper bound of J at F; J never rises.

    Bounds: tr(F'A^+F) by sum (A^+F) F^2 u^2, the quartic by sum q F u^4 / 2, the concave terms by
    their tangents in log u; stationary where  b u^2 + q u^4 = a.
    """
    a = attraction + orthogonality * F
    b = repulsion
    q = orthogonality * (F @ (F.T @ F))
    # u depends on ratios of a, b, q only: of order 1, no square of theirs over- or underflows.
    largest = np.maximum(np.maximum(a, b), q)
    largest = np.where(largest > 0.0, largest, 1.0)
    a, b, q = a / largest, b / largest, q / largest
    below = b + np.sqrt(b * b + 4.0 * q * a)
    # A zero stays zero, also where a/below would overflow.
    return F * np.sqrt(2.0 * a / np.where((F > 0.0) & (below > 0.0), below, 1.0))


def orthogonality_gap(F: np.ndarray) -> float:
    """Return ||F'F - I||_F^2."""
    gap = F.T @ F - np.eye(F.shape[1])
    return float(np.sum(gap * gap))


def unit_columns(F: np.ndarray) -> np.ndarray:
    """Return F with columns of unit length; a zero column stays zero."""
    length = np.sqrt(np.einsum("ij,ij->j", F, F))
    return F / np.where(length > 0.0, length, 1.0)


def label_of_row(F: np.ndarray, fallback: np.ndarray) -> np.ndarray:
    """Return the cluster of every sample: its largest entry of F, of ``fallback`` if F has none."""
    return np.where(np.any(F > 0.0, axis=1, keepdims=True), F, fallback).argmax(axis=1)
