"""Adaptive neighbours: exact weights, ties, and the smooth vectors of a graph."""

import numpy as np
import pytest
import scipy.sparse as sp

from featsieve.graphs import adaptive_neighbours
from featsieve.graphs.adaptive_neighbours import (
    first_weights,
    join_parts,
    smooth_vectors,
)
from featsieve.graphs.affinity import laplacian
from featsieve.terms.simplex import project_rows


def test_first_weights_solve_the_problem_they_claim_to():
    squares = np.sort(np.random.default_rng(0).random((12, 30)), axis=1)
    weights, a = first_weights(squares[:, :6])
    each = []
    for row, expected in zip(squares, weights, strict=True):
        a_i = 0.5 * (5 * row[5] - row[:5].sum())
        s = project_rows(-row[None, :] / (2.0 * a_i))[0]  # over all thirty, not only the five
        np.testing.assert_allclose(s[:5], expected, atol=1e-12)
        np.testing.assert_allclose(s[5:], 0.0, atol=1e-12)
        each.append(a_i)
    assert a == pytest.approx(np.mean(each))
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert (weights > 0.0).all()


def test_equally_distant_neighbours_share_equally():
    weights, a = first_weights(np.full((3, 5), 2.0))
    np.testing.assert_array_equal(weights, 0.25)
    assert a == 2.0
    weights, a = first_weights(np.zeros((3, 5)))  # copies of one sample
    np.testing.assert_array_equal(weights, 0.25)
    assert a == 1.0
    weights, _ = first_weights(np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 2.0]]))
    np.testing.assert_allclose(weights, [[0.5, 0.5], [2.0 / 3.0, 1.0 / 3.0]])


def within_squares(points, labels):
    """Return the sum of squares about the means of the groups."""
    return sum(
        ((points[labels == g] - points[labels == g].mean(axis=0)) ** 2).sum() for g in set(labels)
    )


def joined_by_hand(component, points, count):
    """Return the groups of Ward's rule, every possible join computed from the points."""
    groups = component.copy()
    while len(set(groups)) > count:
        pairs = [(a, b) for a in set(groups) for b in set(groups) if a < b]
        a, b = min(
            pairs, key=lambda p: within_squares(points, np.where(groups == p[1], p[0], groups))
        )
        groups[groups == b] = a
    return groups


@pytest.mark.parametrize("seed", range(2))
def test_joined_parts_follow_wards_rule(seed):
    rng = np.random.default_rng(seed)
    component = rng.permutation(np.repeat(np.arange(8), rng.integers(2, 12, 8)))
    points = 3.0 * rng.standard_normal((8, 2))[component] + rng.standard_normal((len(component), 2))
    key = rng.standard_normal(len(component))
    for count in (1, 3, 5, 8):
        groups = join_parts(component, points, count, key=key)
        expected = joined_by_hand(component, points, count)
        assert set(groups) == set(range(count))
        assert len({*zip(groups, expected, strict=True)}) == count  # the same partition


def test_a_few_distant_samples_do_not_take_a_group_for_themselves():
    centres, sizes = [0.0, 10.0, 24.0], [50, 50, 2]  # two clusters, and two samples far off
    component = np.repeat([0, 1, 2], sizes)
    points = np.repeat(centres, sizes)[:, None]
    groups = join_parts(component, points, 2, key=points[:, 0])
    np.testing.assert_array_equal(groups, np.repeat([0, 1, 1], sizes))


def test_the_order_of_samples_does_not_decide_between_equal_joins():
    rng = np.random.default_rng(0)
    component = np.repeat(np.arange(6), 4)
    points = np.repeat(np.arange(6.0), 4)[:, None] * np.full(3, 1e3 / 7.0)  # equal distances
    points += np.tile(rng.standard_normal((4, 3)), (6, 1))
    straight = join_parts(component, points, 3, key=points.sum(axis=1))
    np.testing.assert_array_equal(straight, np.repeat([0, 0, 1, 1, 2, 2], 4))
    for _ in range(20):
        rows, names = rng.permutation(24), rng.permutation(6)
        rotation = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        groups = join_parts(
            names[component][rows],
            points[rows] @ rotation,
            3,
            key=points[rows].sum(axis=1),
        )
        assert len({*zip(groups, straight[rows], strict=True)}) == 3


def ring(sizes, seed=0):
    """Return a graph of rings with random weights."""
    rng = np.random.default_rng(seed)
    blocks = []
    for size in sizes:
        A = sp.diags_array([rng.random(size - 1) + 0.5], offsets=[1], shape=(size, size)).tolil()
        A[0, size - 1] = 1.0
        blocks.append(A)
    A = sp.block_diag(blocks, format="csr")
    return sp.csr_array(A + A.T)


@pytest.mark.parametrize("sizes", [(60,), (30, 17, 13), (20, 15, 10, 8, 7)])
def test_smooth_vectors_by_lanczos_are_those_of_the_dense_solver(sizes, monkeypatch):
    S = ring(sizes)
    for count in (3, 5):
        if count < len(sizes):
            continue
        dense = smooth_vectors(S, count)
        with monkeypatch.context() as patch:
            patch.setattr(adaptive_neighbours, "LARGEST_DENSE", 10)
            patch.setattr(adaptive_neighbours, "TOLERANCE", 1e-13)
            found = smooth_vectors(S, count)
        np.testing.assert_allclose(found.T @ found, np.eye(count), atol=1e-10)
        L = laplacian(S).toarray()
        energy = np.linalg.eigvalsh(L)[:count]
        np.testing.assert_allclose(np.linalg.eigvalsh(found.T @ L @ found), energy, atol=1e-10)
        np.testing.assert_allclose(found @ found.T, dense @ dense.T, atol=1e-6)
