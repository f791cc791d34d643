"""DUFS: stochastic gates on the features, opened where the graph of what passes is smooth."""

from dataclasses import field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.stats import norm
from sklearn.utils import check_random_state

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import to_numpy
from featsieve.base import ConstrainedSelector, estimator
from featsieve.validation import positive, positive_integer


@estimator
class DUFS(ConstrainedSelector):
    """Differentiable unsupervised feature selection with a gated Laplacian.

    Every feature j has a gate z_j = min(max(μ_j + ε_j, 0), 1), ε_j normal with deviation 1/2. Of
    the gated table Y = X diag(z), with P the matrix of the random walk on the graph of its samples,

        min_μ  -E tr(Y'P^t Y) / (n sum_j P(z_j > 0))

    opens the gates of features that vary slowly on the graph of the open features [1]_: the form
    without a parameter. Noise drops out of the graph as its gates close.

    Parameters
    ----------
    %(n_features_to_select)s
    power : int, default=2
        t, steps of the random walk: more of them follow the slowest functions alone.
    n_neighbors : int, default=2
        The kernel is exp(-||y_i - y_j||² / (2h)), h the median over the samples of the squared
        distance to this neighbour.
    %(scale)s
        Published is "unit". Distances know no origin: "raw" is "none".
    learning_rate : float, default=0.01
        Length of a step, as the root mean square of the changes of μ.
    n_steps : int, default=200
        Steps: there is no other stopping rule, as the gates are drawn anew in each.
    random_state : int, RandomState instance or None, default=None
        Seeds the gates.
    %(constraints)s

    Attributes
    ----------
    scores_ : ndarray of shape (`n_features_in_`,)
        P(z_j > 0) in the end; 0 for columns that do not vary.
    %(selection)s
    objective_ : ndarray of shape (`n_steps`,)
        What is minimised, for the gates drawn in each step.
    %(automatic, input)s

    See Also
    --------
    LaplacianScore : The graph of all features, and no gates.
    SOGFS : Learns a graph, too.

    Notes
    -----
    Deviations from the paper and its program, and why. The gradient is written down instead of
    left to a library (tests compare it with finite differences): no other library is needed, and
    tables of any array library stay where they are. Steps have one length, whatever the gradient's:
    that depends on the table. Every step sees all samples up to 500, so many drawn at random of
    more. Length and number of steps, and the neighbour, were chosen on four planted tables. Gates
    are drawn in the order of the smoothness of the columns, so that the order in which they stand
    in the table does not matter.

    Cost per step: O(n²d + n³), n at most 500. Memory O(n²).

    When not to use it: where an answer must not depend on a number of steps. A single feature, of
    noise too, is smooth on its own graph, and the objective falls until few gates are open: the
    features that count are those that rise first.

    References
    ----------
    .. [1] O. Lindenbaum, U. Shaham, E. Peterfreund, J. Svirsky, N. Casey and Y. Kluger,
       "Differentiable unsupervised feature selection based on a gated Laplacian", NeurIPS 2021.

    Examples
    --------
    %(example)s
    """

    n_features_to_select: int | float | str = field(default=0.1, kw_only=False)
    power: int = 2
    n_neighbors: int = 2
    scale: str = "unit"
    learning_rate: float = 0.01
    n_steps: int = 200
    random_state: Any = None

    _checks: ClassVar = {
        "power": positive_integer,
        "learning_rate": positive,
        "n_steps": positive_integer,
    }

    def _fit(self, X: Any) -> None:
        """Draw gates and follow the gradient."""
        operator = self._operator(X).centred()
        n_selected = self._n_to_select()
        rng = check_random_state(self.random_state)
        varies = to_numpy(operator.varies)
        kind = {"power": self.power, "n_neighbors": self.n_neighbors}
        smooth = gated_smoothness(some_rows(operator, rng), varies.astype(np.float64), **kind)
        draws, history = np.argsort(smooth.gradient), []
        mu = np.full(len(varies), defaults.DUFS_START)
        for _ in range(self.n_steps):
            noise = np.empty_like(mu)
            noise[draws] = defaults.DUFS_NOISE * rng.standard_normal(len(mu))
            value, gradient = objective(some_rows(operator, rng), mu, noise, varies, **kind)
            length = float(np.sqrt(np.mean(gradient[varies] ** 2)))
            mu = mu - self.learning_rate * gradient / (length or 1.0)
            history.append(value)
        self.objective_ = np.array(history)
        opened = norm.cdf(mu, scale=defaults.DUFS_NOISE)
        self._set_selection(np.where(varies, opened, 0.0), n_selected)


class Smoothness(NamedTuple):
    """tr(Y'P^t Y) / n of the gated table, and its gradient by the gates."""

    value: float
    gradient: np.ndarray


def some_rows(operator: DataOperator, rng: np.random.RandomState) -> DataOperator:
    """Return the table, or of many samples some that are drawn."""
    n, most = operator.shape[0], defaults.DUFS_SAMPLES
    if n <= most:
        return operator
    return operator.at_rows(operator.place(np.sort(rng.choice(n, most, replace=False))))


def objective(
    operator: DataOperator,
    mu: np.ndarray,
    noise: np.ndarray,
    varies: np.ndarray,
    *,
    power: int,
    n_neighbors: int,
) -> tuple[float, np.ndarray]:
    """Return -tr(Y'P^t Y) / (n sum_j P(z_j > 0)) for drawn noise, and its gradient by μ."""
    raw = mu + noise
    gates = np.clip(raw, 0.0, 1.0) * varies
    smooth = gated_smoothness(operator, gates, power=power, n_neighbors=n_neighbors)
    is_open = float(norm.cdf(mu[varies], scale=defaults.DUFS_NOISE).sum())
    density = norm.pdf(mu, scale=defaults.DUFS_NOISE) * varies
    inside = (raw > 0.0) & (raw < 1.0) & varies
    gradient = -smooth.gradient * inside / is_open + smooth.value * density / is_open**2
    return -smooth.value / is_open, gradient


def gated_smoothness(
    operator: DataOperator, gates: np.ndarray, *, power: int, n_neighbors: int
) -> Smoothness:
    """Return tr(Y'P^t Y) / n for Y = Z diag(gates), and its gradient by the gates.

    With G = YY', D the squared distances, K = exp(-D/2h) and P = K / row sums, the gradient by G is
    P^t, that by P is M = sum_s (P^s)' G (P^(t-1-s))', and that by D follows from K's; by a gate it
    is z_j x_j'B x_j, B the Laplacian of what D collects plus P^t, symmetric.
    """
    xp, n = operator.xp, operator.shape[0]
    G = operator.sample_gram(operator.place(gates**2))
    lengths = xp.linalg.diagonal(G)
    D = xp.clip(lengths[:, None] + lengths[None, :] - 2.0 * G, min=0.0)
    ordered = xp.sort(D, axis=1)[:, min(n_neighbors, n - 1)]
    middle = float(xp.sort(ordered)[n // 2])
    h = middle if middle > 0.0 else 1.0
    K = xp.exp(-D / (2.0 * h))
    sums = xp.sum(K, axis=1)[:, None]
    P = K / sums
    walk, M = P, G
    for _ in range(power - 1):
        M = M @ P.T + walk.T @ G
        walk = walk @ P
    value = float(xp.sum(walk * G))
    by_kernel = (M - xp.sum(M * P, axis=1)[:, None]) / sums
    by_distance = -by_kernel * K / (2.0 * h)
    if middle > 0.0:  # h is the distance of one pair
        pair = xp.astype(middle == D, P.dtype) / float(xp.sum(xp.astype(middle == D, P.dtype)))
        by_distance = by_distance - pair * float(xp.sum(by_distance * D)) / h
    S = by_distance + by_distance.T
    B = 2.0 * (xp.eye(n, dtype=P.dtype, device=operator.device) * xp.sum(S, axis=1)[None, :] - S)
    B = B + walk + walk.T
    return Smoothness(value / n, gates * to_numpy(operator.dense_forms(B)) / n)
