"""Sample coordinates: principal, and those in which the ridge hat matrix is the inner product."""

import numpy as np

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.linalg import leading_eigenpairs, orthonormal_columns
from featsieve.arrays.namespace import Array, namespace_of, to_numpy


def principal_coordinates(
    operator: DataOperator, *, n_directions: int = defaults.N_DIRECTIONS
) -> tuple[Array, Array]:
    """Return (U diag(s), s^2) of Z = U diag(s) V', largest first; zero directions are left out.

    All directions for wide tables (n <= d): truncation loses clusters there. The leading 100, or
    ``n_directions`` if that is more, for tall ones, and for tables whose smaller side exceeds
    ``LARGEST_EXACT_DIRECTIONS``.
    """
    xp = operator.xp
    n, d = operator.shape
    n_directions = max(n_directions, defaults.N_DIRECTIONS)
    if min(n, d) > defaults.LARGEST_EXACT_DIRECTIONS:
        return _subspace_iteration(operator, n_directions)
    if n <= d:
        energy, U = leading_eigenpairs(operator.sample_gram(), n)
        keep = _n_nonzero(operator, energy)
        energy = energy[:keep]
        return U[:, :keep] * xp.sqrt(energy)[None, :], energy
    energy, V = leading_eigenpairs(operator.gram(), n_directions)
    keep = _n_nonzero(operator, energy)
    return operator.matmul(V[:, :keep]), energy[:keep]


def hat_coordinates(
    operator: DataOperator, *, shrinkage: float = 1.0, n_directions: int = defaults.N_DIRECTIONS
) -> Array:
    """Return E with E E' = Z (Z'Z + mI)^(-1) Z', the ridge hat matrix of all features.

    (Of the leading directions only, where :func:`principal_coordinates` truncates.)

    m = shrinkage * tr(ZZ')/min(n, d): the mean non-zero eigenvalue. (Dividing by n when n >> d
    would let m vanish and turn the metric into Mahalanobis distance, which fails.) E holds the
    principal coordinates divided by sqrt(s^2 + m): partly whitened.
    """
    xp = operator.xp
    coordinates, energy = principal_coordinates(operator, n_directions=n_directions)
    return coordinates / xp.sqrt(energy + shrinkage * mean_energy(operator))[None, :]


def hat_directions(
    operator: DataOperator,
    *,
    shrinkage: float = 1.0,
    n_directions: int = defaults.N_DIRECTIONS,
    columns: np.ndarray | None = None,
) -> np.ndarray:
    """Return A (d x r, on the host) with E = Z A, the hat coordinates of a tall table.

    Of some ``columns`` only, if they are given: the other rows of A are zero. Nothing with a row
    per sample is kept: only the Gram matrix of the columns.
    """
    xp, d = operator.xp, operator.shape[1]
    n_directions = max(n_directions, defaults.N_DIRECTIONS)
    mean = mean_energy(operator)
    gram = operator.gram()
    if columns is not None:
        chosen = operator.place(columns)
        gram = xp.take(xp.take(gram, chosen, axis=0), chosen, axis=1)
        mean = float(xp.sum(xp.linalg.diagonal(gram))) / operator.scale.count(columns)
    energy, V = leading_eigenpairs(gram, n_directions)
    keep = _n_nonzero(operator, energy)
    found = to_numpy(V[:, :keep] / xp.sqrt(energy[:keep] + shrinkage * mean)[None, :])
    if columns is None:
        return found
    A = np.zeros((d, keep))
    A[columns] = found
    return A


def mean_energy(operator: DataOperator) -> float:
    """Return tr(ZZ')/min(n, d): the mean non-zero eigenvalue; d counts variables that vary."""
    total = float(operator.xp.sum(operator.column_norms()))
    return total / min(operator.shape[0], operator.n_variables)


def _n_nonzero(operator: DataOperator, energy: Array) -> int:
    """Return how many eigenvalues (largest first) are not rounding."""
    xp = operator.xp
    precision = 1e-5 if operator.dtype == xp.float32 else 1e-10
    return max(1, int(xp.sum(xp.astype(energy > precision * energy[0], xp.int64))))


def _subspace_iteration(operator: DataOperator, n_directions: int) -> tuple[Array, Array]:
    """Return the leading principal coordinates by randomised subspace iteration."""
    xp = operator.xp
    d = operator.shape[1]
    start = np.random.default_rng(0).standard_normal((d, n_directions + 20))
    Q = xp.asarray(start, device=operator.device)
    for _ in range(6):
        Q = orthonormal_columns(operator.matmul(Q))
        Q = orthonormal_columns(operator.rmatmul(Q))
    image = operator.matmul(Q)
    energy, V = xp.linalg.eigh(image.T @ image)
    energy, V = xp.flip(energy)[:n_directions], xp.flip(V, axis=1)[:, :n_directions]
    keep = _n_nonzero(operator, energy)
    return image @ V[:, :keep], energy[:keep]


def unit_rows(points: Array) -> Array:
    """Return the rows scaled to unit length; rows of zeros stay."""
    xp = namespace_of(points)
    length = xp.sqrt(xp.sum(points * points, axis=1))
    return points / xp.where(length > 0.0, length, xp.ones_like(length))[:, None]
