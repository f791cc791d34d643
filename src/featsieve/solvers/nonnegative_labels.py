"""Multiplicative steps for non-negative, nearly orthonormal pseudo-labels F.

    J(F) = tr(F'AF) - 2 tr(F'B) + (g/2) ||F'F - I||^2,   F >= 0,

with A symmetric and B of any sign. Split by sign, the half-gradient is  b + q - a  with

    a = A^- F + B^+ + g F,    b = A^+ F + B^-,    q = g F (F'F)    (all >= 0),

and every rule here is F <- F * u with u a function of a, b, q that is 1 where they balance.
"""

import numpy as np

from featsieve import defaults
from featsieve.terms.orthogonality import normalised_indicator

# Most halvings of the interval that holds lam; two neighbouring numbers end them earlier.
BISECTIONS = 200
# An entry below this share of its column's largest is zero.
NEGLIGIBLE = 1e-200


def first_label_matrix(labels: np.ndarray, n_clusters: int, *, orthogonality: float) -> np.ndarray:
    """Return the F to start from: the normalised indicator of the labels.

    A multiplicative step never changes a zero. Where the penalty is weak enough for labels to move
    at all, every entry starts with a share of its column's height added.
    """
    F = normalised_indicator(labels, n_clusters)
    frozen = orthogonality > defaults.FROZEN_LABELS
    return F if frozen else F + defaults.LABEL_SOFTENING * F.max(axis=0)


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


def fixed_length_step(G: np.ndarray, attraction: np.ndarray, repulsion: np.ndarray) -> np.ndarray:
    """Return the minimiser of the bound without the penalty among the G with the same lengths.

    A large penalty allows a majorised step to move an entry by about 1/penalty only, although
    entries of one column may trade length without touching it. With u = (new g)/g,

        sum_i g_i (b_i u_i^2 - 2 a_i log u_i)   subject to   sum_i g_i^2 u_i^2 = sum_i g_i^2

    is least at u_i^2 = a_i/(b_i + lam g_i), lam such that the condition holds. Where the supports
    of the columns do not overlap, G'G stays what it was.
    """
    live = (NEGLIGIBLE * G.max(axis=0) < G) & (attraction > 0.0)
    a, b = np.where(live, attraction, 0.0), np.where(live, repulsion, 1.0)
    g = np.where(live, G, 0.0)
    divisor = np.where(live, G, 1.0)
    square = np.einsum("ij,ij->j", G, G)
    # At the least (a - b)/g every u is at least 1, at the largest at most 1; b + lam g > 0 besides.
    # Where entries vanish the others take over their length: these u may have to be larger.
    balance = (a - b) / divisor
    least = np.where(live, balance, np.inf).min(axis=0)
    pole = np.where(live, -b / divisor, -np.inf).max(axis=0)
    low = np.where(np.all(g == G, axis=0), np.maximum(least, pole), pole)
    high = np.where(live, balance, -np.inf).max(axis=0)
    usable = np.isfinite(low) & np.isfinite(high)
    low, high = np.where(usable, low, 0.0), np.where(usable, high, 0.0)
    for _ in range(BISECTIONS):
        lam = low + 0.5 * (high - low)
        if np.all((lam <= low) | (lam >= high)):
            break
        below = b + lam * g
        longer = np.einsum("ij,ij->j", g * g, a / np.where(below > 0.0, below, 1.0)) > square
        low, high = np.where(longer, lam, low), np.where(longer, high, lam)
    below = b + high * g
    stepped = g * np.sqrt(a / np.where(below > 0.0, below, 1.0))
    length = np.einsum("ij,ij->j", stepped, stepped)
    # What rounding has left of the condition; columns that cannot move stay.
    stretch = np.sqrt(square / np.where(length > 0.0, length, 1.0))
    return np.where(usable & (length > 0.0), stepped * stretch, G)


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
