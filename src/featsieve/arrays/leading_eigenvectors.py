"""Lanczos with thick restarts: the largest eigenvalues of a symmetric operator, by products alone.

Every product, also those of the orthogonalisation, runs in the array library of the operator:
ARPACK would put SciPy's BLAS and NumPy's to work in turn, whose threads wait for one another.
"""

from collections.abc import Callable

import numpy as np

from featsieve.arrays.namespace import Array, device_of, namespace_of, to_numpy

# Vectors of the basis beyond the wanted ones: at least as many, and this share of them.
EXTRA, SHARE = 26, 0.5
# The basis is tried for the first time when it has as many vectors beyond the wanted ones.
EARLY = 8
# A residual below this share of its eigenvalue is converged; one below this share of the largest
# eigenvalue is rounding.
TOLERANCE = 1e-13
EPSILON = 2.2e-16
# A remainder below this share of the product is rounding: the basis is an invariant subspace.
BREAKDOWN = 1e-14
MAX_RESTARTS = 100
MAX_PASSES = 3
MAX_DRAWS = 3


def leading_eigenvectors(
    apply: Callable[[Array], Array],
    start: Array,
    count: int,
    *,
    n_guards: int = 0,
    tolerance: float = TOLERANCE,
) -> tuple[np.ndarray, Array]:
    """Return the ``count`` largest eigenvalues (falling) and their eigenvectors."""
    xp = namespace_of(start)
    d = start.shape[0]
    size = basis_size(count, d)
    kept = count + (size - count) // 3
    rng = np.random.default_rng(0)
    V = xp.zeros((size, d), dtype=xp.float64, device=device_of(start))  # rows: orthonormal basis
    H = np.zeros((size, size))  # V A V', upper triangle
    following, used = start / xp.linalg.vector_norm(start), 0
    targets: tuple[int, ...] = (min(count + EARLY, size), size)
    for _ in range(MAX_RESTARTS):
        for target in targets:
            while used < target:
                V[used, :] = following
                used += 1
                image = apply(following[:, None])[:, 0]
                following, beta, h = _continue(V[:used, :], image, rng)
                H[:used, used - 1] = to_numpy(h)
            theta, U = np.linalg.eigh(H[:used, :used], UPLO="U")
            theta, U = theta[::-1], np.ascontiguousarray(U[:, ::-1])
            # A (V'u) - theta V'u = beta u_last (next vector of the basis)
            residual = beta * np.abs(U[-1, : count - n_guards])
            enough = np.maximum(tolerance * theta[: count - n_guards], EPSILON * theta[0])
            done = used == d or bool(np.all(residual <= enough))
            if done:
                break
        if done:
            break
        V[:kept, :] = xp.asarray(U[:, :kept].T, device=device_of(start)) @ V
        H[:] = np.diag(np.concatenate([theta[:kept], np.zeros(size - kept)]))
        used, targets, U = kept, (size,), np.eye(kept)
    vectors = xp.asarray(U[:, :count], device=device_of(start))
    return theta[:count], V[:used, :].T @ vectors


def basis_size(count: int, d: int) -> int:
    """Return the vectors of a full basis for ``count`` eigenvectors: about as many products."""
    return min(d, count + max(EXTRA, int(SHARE * count)))


def _continue(V: Array, image: Array, rng: np.random.Generator) -> tuple[Array, float, Array]:
    """Return the unit vector v, orthogonal to the rows of V, and beta, h: image = V'h + beta v."""
    xp = namespace_of(image)
    rest, h = _orthogonalise(V, image)
    beta = float(xp.linalg.vector_norm(rest))
    if beta > BREAKDOWN * float(xp.linalg.vector_norm(image)):
        return rest / beta, beta, h
    if V.shape[0] == V.shape[1]:  # the basis is complete: nothing follows
        return rest, 0.0, h
    # The basis is invariant: go on in a new direction. The first draw may be the caller's start
    # (drawn with the same seed), and lie in the basis.
    for _ in range(MAX_DRAWS):
        drawn = xp.asarray(rng.standard_normal(image.shape[0]), device=device_of(image))
        fresh, _ = _orthogonalise(V, drawn)
        length = float(xp.linalg.vector_norm(fresh))
        if length > BREAKDOWN * float(xp.linalg.vector_norm(drawn)):
            break
    return fresh / length, 0.0, h


def _orthogonalise(V: Array, v: Array) -> tuple[Array, Array]:
    """Return what v leaves outside the rows of V, and its coefficients in them.

    A product of Lanczos lies in the last two rows and beyond, but for rounding: these first, then
    all rows, and again if much of v went. (A basis that loses orthogonality finds the same
    eigenvector again and again.)
    """
    xp = namespace_of(v)
    last = max(0, V.shape[0] - 2)
    h = xp.zeros(V.shape[0], dtype=xp.float64, device=device_of(v))
    h[last:] = V[last:, :] @ v
    v = v - h[last:] @ V[last:, :]
    length = float(xp.linalg.vector_norm(v))
    for _ in range(MAX_PASSES):
        correction = V @ v
        v = v - correction @ V
        h = h + correction
        before, length = length, float(xp.linalg.vector_norm(v))
        if length > 0.5 * before:
            break
    return v, h
