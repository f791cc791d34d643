"""Every product of an operator, beside the same from the explicit table Z in plain NumPy."""

from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp

# Name -> (the operator's answer, the same from Z, power of ||Z|| in its size, its other factor).
# W, R: arguments of products; J: columns; p, e: weights of samples and columns; S: a graph.
PRODUCTS = {
    "matmul": (lambda A, a: A.matmul(a.W), lambda Z, a: Z @ a.W, 1, "W"),
    "matmul, live rows": (lambda A, a: A.matmul(a.W, live=a.live), lambda Z, a: Z @ a.W, 1, "W"),
    "rmatmul": (lambda A, a: A.rmatmul(a.R), lambda Z, a: Z.T @ a.R, 1, "R"),
    "columns": (lambda A, a: A.columns(a.J), lambda Z, a: Z[:, a.J], 1, None),
    "columns_gram": (
        lambda A, a: A.columns_gram(a.J),
        lambda Z, a: Z[:, a.J].T @ Z[:, a.J],
        2,
        None,
    ),
    "columns_matmul": (
        lambda A, a: A.columns_matmul(a.J, A.xp.take(a.W, a.J, axis=0)),
        lambda Z, a: Z[:, a.J] @ a.W[a.J],
        1,
        "W",
    ),
    "columns_rmatmul": (
        lambda A, a: A.columns_rmatmul(a.J, a.R),
        lambda Z, a: Z[:, a.J].T @ a.R,
        1,
        "R",
    ),
    "gram_columns": (lambda A, a: A.gram_columns(a.J), lambda Z, a: Z.T @ Z[:, a.J], 2, None),
    "rows": (lambda A, a: A.rows(1, A.shape[0]), lambda Z, a: Z[1:], 1, None),
    "row_blocks": (lambda A, a: A.xp.concat(list(A.row_blocks())), lambda Z, a: Z, 1, None),
    "row_products": (lambda A, a: A.row_products(1, 2), lambda Z, a: Z[1:2] @ Z.T, 2, None),
    "gram": (lambda A, a: A.gram(), lambda Z, a: Z.T @ Z, 2, None),
    "weighted_gram": (lambda A, a: A.weighted_gram(a.p), lambda Z, a: (Z.T * a.p) @ Z, 2, None),
    "sample_gram": (lambda A, a: A.sample_gram(), lambda Z, a: Z @ Z.T, 2, None),
    "sample_gram(e)": (lambda A, a: A.sample_gram(a.e), lambda Z, a: (Z * a.e) @ Z.T, 2, None),
    "column_norms": (lambda A, a: A.column_norms(), lambda Z, a: (Z**2).sum(axis=0), 2, None),
    "row_norms": (lambda A, a: A.row_norms(), lambda Z, a: (Z**2).sum(axis=1), 2, None),
    "column_forms": (
        lambda A, a: A.column_forms(a.S),
        lambda Z, a: np.sum(Z * (a.S @ Z), axis=0),
        2,
        "S",
    ),
    "column_forms(p)": (lambda A, a: A.column_forms(a.p), lambda Z, a: a.p @ Z**2, 2, None),
    "quadratic": (lambda A, a: A.quadratic(a.S), lambda Z, a: Z.T @ (a.S @ Z), 2, "S"),
}


def explicit(X, *, scale="none", center=True):
    """Return Z by the definition: the scale is that of the centred column in either case."""
    X = np.asarray(X, dtype=np.longdouble if X.dtype == np.longdouble else np.float64)
    varies = np.ptp(X, axis=0) > 0
    length = {
        "none": np.ones(X.shape[1]),
        "std": X.std(axis=0),
        "unit": np.sqrt(len(X)) * X.std(axis=0),
        "sqrt": np.sqrt(np.sqrt(len(X)) * X.std(axis=0)),
    }[scale]
    Z = (X - X.mean(axis=0) if center else X) / np.where(varies, length, 1.0)
    return np.where(varies, Z, 0.0).astype(np.float64)


def arguments(shape, *, seed=0, alive=0.2):
    """Return the arguments of all products; a share of the rows of W is alive."""
    rng = np.random.default_rng(seed)
    n, d = shape
    W = rng.standard_normal((d, 3)) * (rng.random(d) < alive)[:, None]
    p, e = (rng.random(size) * (rng.random(size) < 0.8) for size in (n, d))
    S = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.3)
    return SimpleNamespace(
        W=W,
        live=np.flatnonzero(W.any(axis=1)),
        R=rng.standard_normal((n, 2)),
        J=rng.integers(0, d, rng.integers(1, d + 2)),
        p=p,
        e=e,
        S=sp.csr_array(S + S.T),
    )


def converted(args, convert):
    """Return the arguments as arrays of another library; the graph stays what it is."""
    plain = vars(args).items()
    return SimpleNamespace(**{k: v if sp.issparse(v) else convert(v) for k, v in plain})


def assert_products(operator, Z, *, tolerance, names=PRODUCTS, args=None, convert=None):
    """Compare products; the tolerance is relative to the norms of the factors."""
    args = arguments(Z.shape) if args is None else args
    given = args if convert is None else converted(args, convert)
    for name in names:
        ours, theirs, power, factor = PRODUCTS[name]
        found, expected = ours(operator, given), theirs(Z, args)
        if convert is not None:
            assert type(found) is type(given.W)
        found = np.asarray(found)
        assert found.dtype == np.float64
        size = np.linalg.norm(Z) ** power
        if factor == "S":
            size *= max(1.0, float(np.abs(args.S.data).max(initial=0.0)))
        elif factor is not None:
            size *= max(1.0, float(np.linalg.norm(getattr(args, factor))))
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * size, err_msg=name)
