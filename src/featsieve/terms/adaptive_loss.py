"""The adaptive loss of a residual of length u:  phi(u) = (1 + sigma) u^2 / (u + sigma).

Between the two usual losses: u for sigma -> 0, u^2 for sigma -> infinity; for residuals short
against sigma it behaves like the square, for long ones like the length. phi is concave in u^2, so

    phi(v) <= phi(u) + w (v^2 - u^2),   w = (1 + sigma)(u + 2 sigma) / (2 (u + sigma)^2):

lowering the weighted square lowers the loss. The weight falls with u, from (1 + sigma)/sigma on.
"""

import numpy as np


def adaptive_loss(u: np.ndarray, sigma: float) -> np.ndarray:
    """Return phi(u) of every residual length."""
    return (1.0 + sigma) * u * (u / (u + sigma))


def adaptive_weights(u: np.ndarray, sigma: float) -> np.ndarray:
    """Return the weight w of every sample's squared residual at residual lengths u."""
    # Quotients, not powers: sigma may be 1e200.
    return 0.5 * ((1.0 + sigma) / (u + sigma)) * ((u + 2.0 * sigma) / (u + sigma))
