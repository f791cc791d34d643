"""Local models: how well samples are told apart, or predicted, among their nearest neighbours.

The local discriminant matrix of UDFS. For sample i with its k nearest neighbours, kappa = k + 1
rows Z_i of the table, and the centring matrix H = I - 11'/kappa,

    A_i = H (H Z_i Z_i' H + lambda I)^(-1) H,      Lu = sum_i R_i' A_i R_i,

R_i picking the rows. Lu is sparse, positive semidefinite, and Lu 1 = 0. lambda A_i is the share
of the local scatter that the local directions leave unexplained, H - Y(Y'Y + lambda I)^(-1)Y' with
Y = H Z_i; public programs leave out the factor lambda, and so does this one.

Local learning, of RUFS. A kernel ridge regression predicts sample i from its k nearest samples,

    a_i = k_i' (K_i + lam I)^(-1),   K_i = (kernel of the neighbours),   k_i = (kernel to i),

and the regulariser is  sum_i ||g_i - a_i G||^2 = tr(G'LG),  L = (I - A)'(I - A). The kernel is
exp(-d^2/(2 t^2)) with t the mean distance between samples.
"""

import numpy as np
import scipy.sparse as sp

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.graphs.distances import (
    EuclideanDistances,
    SummedDistances,
    entries_by_blocks,
    nearest_neighbours,
)

# A local scatter below this share of the squared lengths that it is the difference of is zero.
ROUNDING = 1e-13


def neighbourhoods(operator: DataOperator, n_neighbors: int) -> np.ndarray:
    """Return every sample's index followed by those of its nearest neighbours, shape (n, k+1)."""
    indices, _ = nearest_neighbours(EuclideanDistances(operator), n_neighbors)
    return np.column_stack([np.arange(len(indices)), indices])


def local_grams(operator: DataOperator, members: np.ndarray) -> np.ndarray:
    """Return H Z_i Z_i' H of every neighbourhood, shape (n, k+1, k+1).

    The products of rows are computed in blocks of rows, and what is needed is picked: no n x n
    array, no copies of rows.
    """
    operator = operator.centred()  # H removes any origin, and an origin costs digits
    n, kappa = members.shape
    pairs = np.repeat(members, kappa, axis=1).ravel(), np.tile(members, (1, kappa)).ravel()
    products = entries_by_blocks(operator, operator.row_products, pairs).reshape(n, kappa, kappa)
    grams = centre_both(products)
    length, scatter = _traces(products), _traces(grams)
    grams[scatter <= ROUNDING * length] = 0.0  # copies of one sample
    return grams


def mean_scatter(grams: np.ndarray) -> float:
    """Return the mean eigenvalue of the local scatters (k per neighbourhood); 1 if all are zero."""
    n, kappa = grams.shape[:2]
    return float(_traces(grams).sum()) / (n * max(kappa - 1, 1)) or 1.0


def local_discriminant_matrix(
    members: np.ndarray, grams: np.ndarray, *, ridge: float
) -> sp.csr_array:
    """Return Lu for a local ridge lambda > 0."""
    n, kappa = members.shape
    # 1 is an eigenvector that H will remove; raised to the level of the others it costs no digits.
    constant = (ridge + _traces(grams) / kappa)[:, None, None] / kappa
    energy, basis = np.linalg.eigh(grams + constant)
    scaled = basis / (np.maximum(energy, 0.0) + ridge)[:, None, :]
    A = centre_both(scaled @ basis.transpose(0, 2, 1))
    row = np.repeat(members, kappa, axis=1).ravel()
    column = np.tile(members, (1, kappa)).ravel()
    Lu = sp.csr_array(sp.coo_array((A.ravel(), (row, column)), shape=(n, n)))
    return sp.csr_array(0.5 * (Lu + Lu.T))


def _traces(A: np.ndarray) -> np.ndarray:
    """Return the traces of a stack of matrices."""
    return np.trace(A, axis1=1, axis2=2)


def centre_both(A: np.ndarray) -> np.ndarray:
    """Return H A H for a stack of symmetric matrices."""
    mean = A.mean(axis=1, keepdims=True)
    return A - mean - mean.transpose(0, 2, 1) + mean.mean(axis=2, keepdims=True)


def local_learning_laplacian(
    operator: DataOperator, *, n_neighbors: int = 5, ridge: float = defaults.LOCAL_RIDGE
) -> sp.csr_array:
    """Return L = (I - A)'(I - A): positive semidefinite, with at most n (k + 1)^2 entries."""
    A = local_predictors(operator, n_neighbors=n_neighbors, ridge=ridge)
    error = sp.csr_array(sp.eye_array(A.shape[0]) - A)
    return sp.csr_array(error.T @ error)


def local_predictors(
    operator: DataOperator, *, n_neighbors: int = 5, ridge: float = defaults.LOCAL_RIDGE
) -> sp.csr_array:
    """Return A: row i holds the weights with which the neighbours of i predict it.

    Two passes over blocks of the distance matrix: one finds the neighbours and the mean distance,
    one the distances of the neighbours among themselves.
    """
    n = operator.shape[0]
    distances = SummedDistances(operator)
    indices, to_sample = nearest_neighbours(distances, n_neighbors)
    t = distances.mean
    k = indices.shape[1]
    pairs = np.repeat(indices, k, axis=1).ravel(), np.tile(indices, k).ravel()
    among = entries_by_blocks(operator, EuclideanDistances(operator), pairs)
    among[pairs[0] == pairs[1]] = 0.0  # exactly: the kernel of a sample with itself is 1
    among = among.reshape(n, k, k)
    K = np.exp(-among / (2.0 * t * t)) + ridge * np.eye(k)
    weights = np.linalg.solve(K, np.exp(-to_sample / (2.0 * t * t))[:, :, None])
    rows = np.repeat(np.arange(n), k)
    return sp.csr_array((weights.ravel(), (rows, indices.ravel())), shape=(n, n))
