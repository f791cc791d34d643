"""The factor of an inverse Gram matrix follows features that come and go."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.solvers.inverse_factor import InverseFactor


def append(factor, members, new, Z, ridge):
    """Append column ``new`` of Z; return whether it was accepted."""
    return factor.append(Z[:, members].T @ Z[:, new], Z[:, new] @ Z[:, new] + ridge)


@settings(max_examples=25)
@given(data=st.data(), seed=st.integers(0, 2**16), ridge=st.sampled_from([1e-3, 1.0]))
def test_the_factor_is_that_of_the_inverse_after_any_appends_and_removals(data, seed, ridge):
    Z = np.random.default_rng(seed).standard_normal((6, 12))
    factor, members = InverseFactor(12), []
    for _ in range(data.draw(st.integers(1, 25))):
        if members and data.draw(st.booleans()):
            slot = data.draw(st.integers(0, len(members) - 1))
            factor.remove(slot)
            members[slot] = members[-1]
            members.pop()
        else:
            outside = [j for j in range(12) if j not in members]
            if not outside:
                continue
            new = data.draw(st.sampled_from(outside))
            assert append(factor, members, new, Z, ridge)
            members.append(new)
        assert factor.size == len(members)
        K = Z[:, members].T @ Z[:, members] + ridge * np.eye(len(members))
        np.testing.assert_allclose(factor.M.T @ factor.M @ K, np.eye(len(members)), atol=1e-9)
        right = np.arange(1.0, len(members) + 1.0)
        np.testing.assert_allclose(factor.solve(right), np.linalg.solve(K, right), rtol=1e-8)


@pytest.mark.parametrize("weights", [(1.0,), (2.0, -1.0), (1e-3, 1.0, 1e3)])
def test_a_dependent_feature_is_refused_and_changes_nothing(weights):
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((20, len(weights)))
    Z = np.column_stack([Z, Z @ weights])
    factor = InverseFactor(4)
    for j in range(len(weights)):
        assert append(factor, list(range(j)), j, Z, 0.0)
    before = factor.M.copy()
    assert not append(factor, list(range(len(weights))), len(weights), Z, 0.0)
    np.testing.assert_array_equal(factor.M, before)
    # A ridge term makes it independent.
    factor = InverseFactor(4)
    assert all(append(factor, list(range(j)), j, Z, 1e-3) for j in range(len(weights) + 1))
