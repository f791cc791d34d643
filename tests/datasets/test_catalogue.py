"""The catalogue: sizes as stated, and the planted columns are those that differ."""

import numpy as np
import pytest
from scipy.stats import kurtosis
from sklearn.feature_selection import f_classif
from sklearn.preprocessing import StandardScaler

from featsieve.datasets import make_catalogue_table, make_cells, planted_kinds

# rows, columns, informative, sizes of the clusters
SIZES = {
    "iid40": (150, 300, 40, [37, 37, 38, 38]),
    "units40": (150, 300, 40, [37, 37, 38, 38]),
    "rare": (300, 300, 15, [9, 51, 90, 150]),
    "tall": (600, 60, 8, [150] * 4),
    "wide20of1000": (150, 1000, 20, [37, 37, 38, 38]),
    "60x2000": (60, 2000, 15, [20] * 3),
}


@pytest.mark.parametrize("kind", planted_kinds())
def test_sizes_are_those_of_the_kind(kind):
    planted = make_catalogue_table(kind, random_state=1)
    n, d, m, clusters = SIZES.get(kind, (150, 300, 15, [37, 37, 38, 38]))
    assert planted.X.shape == (n, d)
    assert np.isfinite(planted.X).all()
    assert planted.informative.shape == planted.redundant.shape == (d,)
    assert planted.informative.sum() == m
    assert not planted.redundant.any()
    assert sorted(np.bincount(planted.labels)) == clusters
    assert np.flatnonzero(planted.informative).max() > m, "the columns are permuted"


@pytest.mark.parametrize("kind", planted_kinds())
def test_planted_columns_and_no_others_differ_between_the_clusters(kind):
    found, other = [], []
    for seed in range(3):
        planted = make_catalogue_table(kind, random_state=seed)
        p = f_classif(StandardScaler().fit_transform(planted.X), planted.labels)[1]
        found.append(np.mean(p[planted.informative] < 1e-3))
        other.append(np.mean(p[~planted.informative] < 1e-3))
    assert np.mean(found) > 0.9
    assert np.mean(other) < 0.02


@pytest.mark.parametrize("kind", [*planted_kinds(), "cells"])
def test_the_seed_decides_the_table(kind):
    def make(seed):
        if kind == "cells":
            return make_cells(100, 400, random_state=seed)
        return make_catalogue_table(kind, random_state=seed)

    first, again, other = make(3), make(3), make(4)
    for name in ("X", "labels", "informative"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
        assert np.any(getattr(first, name) != getattr(other, name))


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match=r"must be one of iid15, .*; got 'iid'"):
        make_catalogue_table("iid")


# What makes a kind ------------------------------------------------------------------------------


def noise(kind):
    """Return the columns of a table that are not informative."""
    planted = make_catalogue_table(kind, random_state=0)
    return planted.X[:, ~planted.informative]


@pytest.mark.parametrize(("kind", "count"), [("iid15", 0), ("blocks2", 2), ("blocks5", 5)])
def test_blocks_of_correlated_columns(kind, count):
    linked = np.abs(np.corrcoef(noise(kind), rowvar=False)) > 0.6
    np.testing.assert_array_equal(np.sort(linked.sum(axis=0))[::-1][: 15 * count], 15)
    assert (linked.sum(axis=0) > 1).sum() == 15 * count


def test_neighbours_of_an_autoregression_correlate():
    strongest = np.sort(np.abs(np.corrcoef(noise("ar1"), rowvar=False)), axis=0)[-2]
    assert np.median(strongest) == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize("kind", ["t1.5", "lognormal"])
def test_half_of_the_columns_have_heavy_tails(kind):
    assert np.mean(kurtosis(noise(kind)) > 3.0) == pytest.approx(150 / 285, abs=0.03)


def test_units_differ_by_orders_of_magnitude():
    spread = np.log10(noise("units15").std(axis=0))
    assert spread.min() < -2.5
    assert spread.max() > 2.5


def test_binary_columns_hold_ten_one_hot_groups():
    X = noise("binary")
    assert set(np.unique(X)) == {0.0, 1.0}
    # two columns of a group are never 1 together, and 1 in a fifth of the rows each
    apart = (X.T @ X == 0.0) & np.outer(*(2 * [np.abs(X.mean(axis=0) - 0.2) < 0.15]))
    assert np.sum(apart.sum(axis=0) >= 4) >= 50


# Cells ------------------------------------------------------------------------------------------


def test_cells_are_counts_with_markers_of_one_type_each():
    cells = make_cells(1500, 800, n_markers=10, smallest_marker_mean=0.2, random_state=0)
    X, types = cells.X, cells.labels
    assert X.shape == (1500, 800)
    assert np.all(X >= 0.0)
    np.testing.assert_array_equal(X, np.round(X))
    assert cells.informative.sum() == 70
    share = np.bincount(types) / len(types)
    np.testing.assert_allclose(share, [0.30, 0.25, 0.18, 0.12, 0.08, 0.04, 0.03], atol=0.03)
    rates = X / X.sum(axis=1, keepdims=True)
    means = np.stack([rates[types == k].mean(axis=0) for k in range(7)])[:, cells.informative]
    change = np.log(means.max(axis=0) / np.median(means, axis=0))
    assert np.median(change) == pytest.approx(2.1, abs=0.3)  # uniform between 1.2 and 3
    assert np.all(np.bincount(means.argmax(axis=0)) >= 8)


def test_counts_vary_more_than_poisson():
    cells = make_cells(2000, 300, fold_changes=(0.0, 0.0), random_state=0)
    mean, variance = cells.X.mean(axis=0), cells.X.var(axis=0)
    common = mean > 1.0
    assert np.all(variance[common] > mean[common])


def test_markers_are_expressed_where_that_is_asked():
    few, many = (
        make_cells(500, 2000, fold_changes=(0.0, 0.0), smallest_marker_mean=least, random_state=0)
        for least in (0.0, 0.5)
    )
    assert few.X[:, few.informative].mean(axis=0).min() < 0.1
    assert many.X[:, many.informative].mean(axis=0).min() > 0.3
    with pytest.raises(ValueError, match="need 280 genes; only"):
        make_cells(50, 300, smallest_marker_mean=1.0, random_state=0)
