"""Columns chosen one by one against the same columns of the explicit table."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.arrays import as_operator
from featsieve.arrays.chosen_columns import ChosenColumns


@pytest.mark.parametrize("scale", ["unit", "sqrt", "none"])
@settings(max_examples=40, deadline=None)
@given(moves=st.lists(st.integers(0, 14), min_size=1, max_size=40), seed=st.integers(0, 999))
def test_products_are_those_of_the_explicit_columns(scale, moves, seed):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.4, (12, 15)) * 1.5
    operator = as_operator(sp.csr_array(X), scale=scale)
    Z = operator.rows(0, 12)
    chosen = ChosenColumns(operator)
    for j in moves:  # a column that is there goes, one that is not comes
        (chosen.remove if j in chosen.features else chosen.append)(j)
        np.testing.assert_allclose(chosen.column(j), Z[:, j], atol=1e-12)
        if len(chosen) == 0:
            continue
        Z_S, r = Z[:, chosen.features], rng.standard_normal(12)
        w = rng.standard_normal(len(chosen))
        np.testing.assert_allclose(chosen.matmul(w), Z_S @ w, atol=1e-11)
        np.testing.assert_allclose(chosen.rmatmul(r), Z_S.T @ r, atol=1e-11)
    odd = {j for j in moves if moves.count(j) % 2}
    assert set(chosen.features) == odd
