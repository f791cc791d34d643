"""Linear algebra that the array API does not name, on whatever array library holds the matrix."""

from inspect import signature
from typing import Any

import numpy as np
import scipy.linalg
from scipy.linalg import lapack
from scipy.sparse.linalg import LinearOperator, eigsh

from featsieve.arrays.namespace import Array, device_of, namespace_of

# Columns are independent if the eigenvalues of their Gram matrix differ by no more than this.
INDEPENDENT = 1e-11
# ... and nothing is lost by it where they differ by no more than this.
WELL_CONDITIONED = 1e-2
# Eigenvectors that are fewer than one in so many are found alone, on the host.
FEW_EIGENVECTORS = 6


def solve_shifted(A: Array, shift: Array, B: Array) -> Array:
    """Return (A + diag(shift))^(-1) B for a positive semidefinite A and shift > 0.

    A shift that rounding of A would swallow is raised to what keeps the sum invertible. The solver
    is the array library's own: NumPy and SciPy bring a BLAS each, whose threads, used in turn,
    wait for one another (measured: 20 times slower for 150 x 150).
    """
    xp = namespace_of(A, B)
    floor = A.shape[0] * xp.finfo(A.dtype).eps * float(xp.max(xp.linalg.diagonal(A)))
    eye = xp.eye(A.shape[0], dtype=A.dtype, device=device_of(A))
    return xp.linalg.solve(A + eye * xp.clip(shift, min=floor), B)


def inverse_shifted(A: Array, shift: float) -> Array:
    """Return (A + shift I)^(-1) of a positive semidefinite A."""
    xp = namespace_of(A)
    eye = xp.eye(A.shape[0], dtype=xp.float64, device=device_of(A))
    shifted = xp.astype(A, xp.float64) + shift * eye
    if not isinstance(shifted, np.ndarray):
        return xp.linalg.inv(shifted)
    factor, failed = lapack.dpotrf(shifted, lower=True)  # half of the time of a general inverse
    if failed:
        return np.linalg.inv(shifted)
    inverse = np.tril(lapack.dpotri(factor, lower=True, overwrite_c=True)[0])
    return inverse + np.tril(inverse, -1).T


def largest_eigenpairs(A: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the ``count`` largest eigenvalues of a dense symmetric matrix, in rising order.

    LAPACK's search for a part of the spectrum can give up where an eigenvalue repeats very often
    (graphs of coinciding samples), or find fewer than were asked for and call that a success
    (graphs that link all samples alike): then all of it is computed.
    """
    try:
        n = A.shape[0]
        values, vectors = scipy.linalg.eigh(A, subset_by_index=[n - count, n - 1])
        if len(values) == count:
            return values, vectors
    except scipy.linalg.LinAlgError:
        pass
    values, vectors = scipy.linalg.eigh(A, driver="evd")
    return values[n - count :], vectors[:, n - count :]


def leading_eigenpairs(A: Array, count: int) -> tuple[Array, Array]:
    """Return the ``count`` largest eigenvalues of a symmetric matrix, largest first."""
    if isinstance(A, np.ndarray) and FEW_EIGENVECTORS * count < len(A):
        energy, V = largest_eigenpairs(A, count)
        return energy[::-1], V[:, ::-1]
    xp, count = namespace_of(A), min(count, A.shape[0])
    energy, V = xp.linalg.eigh(A)
    return xp.flip(energy)[:count], xp.flip(V, axis=1)[:, :count]


def largest_by_lanczos(
    operator: LinearOperator, count: int, start: np.ndarray, **settings: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest eigenpairs of a symmetric operator; the same for the same start.

    Where the Krylov space closes early (a graph in many parts), newer versions of SciPy go on from
    random vectors, which have a seed of their own.
    """
    if "rng" in signature(eigsh).parameters:
        settings["rng"] = np.random.default_rng(0)
    return eigsh(operator, k=count, which="LA", v0=start, **settings)


def polar(A: np.ndarray) -> np.ndarray:
    """Return U V' of the thin SVD A = U diag(s) V': the nearest orthonormal columns.

    Of a well conditioned A it is A (A'A)^(-1/2), without an SVD.
    """
    energy, V = np.linalg.eigh(A.T @ A)
    if energy.size and energy[0] > WELL_CONDITIONED * energy[-1]:
        return A @ ((V / np.sqrt(energy)) @ V.T)
    U, _, Vt = np.linalg.svd(A, full_matrices=False)
    return U @ Vt


def orthonormal_columns(A: Array) -> Array:
    """Return an orthonormal basis of the columns of a tall array.

    Twice Q = A L^(-T), A'A = L L': matrix products, several times faster than a QR decomposition.
    Where the columns are nearly dependent it is one.
    """
    xp = namespace_of(A)
    for _ in range(2):  # the second time for the digits that the first has lost
        energy, V = xp.linalg.eigh(A.T @ A)
        if not float(energy[0]) > INDEPENDENT * float(energy[-1]):
            return xp.linalg.qr(A)[0]
        A = A @ (V / xp.sqrt(energy)[None, :])
    return A
