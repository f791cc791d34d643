"""The same numbers give the same selection, whatever holds them and however they lie in memory."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import featsieve
from featsieve import AutoSelector, LabelFreeSearchCV, LaplacianScore, StabilitySelection
from featsieve.datasets import make_planted
from tests.array_library_checks import quick

ESTIMATORS = {
    name: quick(name, n_features_to_select=6, max_iter=3) for name in featsieve.selectors.__all__
}
for name in ("AUFS", "UGFS"):
    ESTIMATORS[name].orthogonality = 100.0  # one penalty instead of four
# They find clusters of their own, which takes time, and hand the table on as it is.
META = {
    "AutoSelector": AutoSelector(LaplacianScore(), sizes=[4, 8]),
    "StabilitySelection": StabilitySelection(LaplacianScore(8), n_subsamples=3, random_state=0),
    "LabelFreeSearchCV": LabelFreeSearchCV(LaplacianScore(8), {"n_neighbors": [3, 5]}),
}


def strided(X):
    wide = np.full((2 * X.shape[0], 3 * X.shape[1]), 7, dtype=X.dtype)
    wide[::2, 1::3] = X
    return wide[::2, 1::3]


def reversed_strides(X):
    return X[::-1, ::-1].copy()[::-1, ::-1]


WAYS = {
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "longdouble": lambda X: X.astype(np.longdouble),
    "int64": lambda X: X.astype(np.int64),
    "int16": lambda X: X.astype(np.int16),
    "uint8": lambda X: X.astype(np.uint8),
    "big-endian": lambda X: X.astype(">f8"),
    "Fortran": np.asfortranarray,
    "strided": strided,
    "reversed": reversed_strides,
    "CSR": sp.csr_array,
    "CSC, float32": lambda X: sp.csc_array(X.astype(np.float32)),
    "COO, uint8": lambda X: sp.coo_array(X.astype(np.uint8)),
}
YES_OR_NO = {
    "bool": lambda X: X.astype(bool),
    "bool, Fortran": lambda X: np.asfortranarray(X.astype(bool)),
    "bool, CSR": lambda X: sp.csr_array(X.astype(bool)),
}


def counts():
    """Return whole numbers from 0 to 255, about half of them 0, with clusters far apart."""
    made = make_planted(45, 18, n_informative=6, n_clusters=3, signal=4.0, random_state=0)
    return np.clip(np.round(20.0 * made.X), 0.0, 255.0)


def answers():
    """Return answers yes and no: eight questions tell three groups apart, the others nothing."""
    rng = np.random.default_rng(0)
    likely = np.full((3, 18), 0.5)
    likely[:, :8] = [[0.95] * 3 + [0.05] * 5, [0.05] * 3 + [0.95] * 5, [0.95, 0.05] * 4]
    return (rng.random((45, 18)) < np.repeat(likely, 15, axis=0)).astype(np.float64)


def support(name, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone({**ESTIMATORS, **META}[name]).fit(X)
    return getattr(fitted, "best_estimator_", fitted).support_


@pytest.mark.parametrize(
    ("table", "ways"), [(counts, WAYS), (answers, YES_OR_NO)], ids=["counts", "answers"]
)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_selection_depends_on_the_numbers_alone(name, table, ways):
    X = table()
    expected = support(name, X)
    for way, convert in ways.items():
        made = convert(X)
        np.testing.assert_array_equal(made.toarray() if sp.issparse(made) else made, X)
        np.testing.assert_array_equal(support(name, made), expected, err_msg=way)


@pytest.mark.slow
@pytest.mark.parametrize("name", META)
def test_meta_estimators_do_so_too(name):
    X = counts()
    expected = support(name, X)
    for way in ("uint8", "reversed", "CSC, float32"):
        np.testing.assert_array_equal(support(name, WAYS[way](X)), expected, err_msg=way)
