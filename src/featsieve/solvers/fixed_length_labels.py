"""A multiplicative step for non-negative labels G whose columns keep their length.

A large penalty on ||G'G - I||^2 allows a majorised step to move an entry by about 1/penalty only,
although entries of one column may trade length without touching the penalty. Here the same upper
bound of the other terms,

    sum_i g_i (b_i u_i^2 - 2 a_i log u_i),    u = (new g)/g,

is minimised exactly under the condition that the column keeps its length, sum_i g_i^2 u_i^2 = same:

    u_i^2 = a_i/(b_i + lam g_i),   lam such that the condition holds.
"""

import numpy as np

# Most halvings of the interval that holds lam; two neighbouring numbers end them earlier.
BISECTIONS = 200
# An entry below this share of its column's largest is zero.
NEGLIGIBLE = 1e-200


def fixed_length_step(G: np.ndarray, attraction: np.ndarray, repulsion: np.ndarray) -> np.ndarray:
    """Return the minimiser of the bound among the G with columns of the same length.

    Where the supports of the columns do not overlap, G'G stays what it was.
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
