import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from featsieve.evaluation import compare_ranks

# The worked example of Demšar (JMLR 7, 2006): ranks of four variants of C4.5 on 14 data sets.
VARIANTS = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
EXAMPLE = np.array([
    [4, 3, 2, 1], [1, 2, 3, 4], [4, 1, 2, 3], [4, 1, 3, 2], [4, 2, 3, 1], [1, 2.5, 4, 2.5],
    [3, 2, 4, 1], [2.5, 2.5, 4, 1], [4, 3, 2, 1], [2.5, 2.5, 2.5, 2.5], [4, 2.5, 1, 2.5],
    [3, 2, 4, 1], [4, 1, 2, 3], [3, 1, 4, 2],
])  # fmt: skip

tables = st.tuples(st.integers(2, 9), st.integers(3, 6), st.integers(0, 10**6))


def random_table(n_datasets, n_methods, seed, *, levels=None):
    rng = np.random.default_rng(seed)
    table = rng.random((n_datasets, n_methods)) + 0.2 * rng.random(n_methods)
    return table if levels is None else np.floor(levels * table)


def test_worked_example():
    found = compare_ranks(-EXAMPLE, names=VARIANTS)
    np.testing.assert_allclose(found.average_ranks, [3.143, 2.0, 2.893, 1.964], atol=5e-4)
    # the example leaves ties uncorrected: three of two methods, one of all four
    tied = sum(t**3 - t for t in (2, 2, 4, 2))
    chi2 = found.friedman * (1.0 - tied / (14 * (4**3 - 4)))
    assert chi2 == pytest.approx(9.28, abs=5e-3)
    assert 13 * chi2 / (14 * 3 - chi2) == pytest.approx(3.69, abs=5e-3)
    assert found.friedman > chi2
    assert found.iman_davenport > 3.69
    assert found.critical_difference == pytest.approx(1.25, abs=5e-3)
    assert found.significant
    assert found.groups == (("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"),)
    at_ten_percent = compare_ranks(-EXAMPLE, names=VARIANTS, alpha=0.1)
    assert at_ten_percent.critical_difference == pytest.approx(1.12, abs=5e-3)
    assert at_ten_percent.groups == (
        ("C4.5+m+cf", "C4.5+m", "C4.5+cf"),
        ("C4.5+cf", "C4.5"),
    )


@pytest.mark.parametrize(("n_methods", "q"), [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_critical_values_are_those_of_the_printed_table(n_methods, q):
    n = 12
    found = compare_ranks(random_table(n, n_methods, 0)).critical_difference
    assert found / np.sqrt(n_methods * (n_methods + 1) / (6 * n)) == pytest.approx(q, abs=1e-3)


@settings(max_examples=40)
@given(tables, st.sampled_from([None, 3]))
def test_friedman_is_that_of_scipy_with_and_without_ties(sizes, levels):
    table = random_table(*sizes, levels=levels)
    found = compare_ranks(table)
    if np.all(table == table[:, :1]):
        assert (found.friedman, found.friedman_p) == (0.0, 1.0)
        return
    expected = stats.friedmanchisquare(*table.T)
    assert found.friedman == pytest.approx(expected.statistic, abs=1e-9)
    assert found.friedman_p == pytest.approx(expected.pvalue, abs=1e-9)
    ranks = np.array([stats.rankdata(-row) for row in table])
    np.testing.assert_allclose(found.average_ranks, ranks.mean(axis=0))


@settings(max_examples=40)
@given(tables, st.sampled_from([None, 3]))
def test_iman_davenport_is_the_analysis_of_variance_of_the_ranks(sizes, levels):
    table = random_table(*sizes, levels=levels)
    ranks = stats.rankdata(-table, axis=1)
    N, k = ranks.shape
    fitted = ranks.mean(axis=0)
    explained = N * np.sum((fitted - ranks.mean()) ** 2) / (k - 1)
    # every row has the same mean, so the data sets explain nothing
    left = np.sum((ranks - fitted) ** 2) / ((k - 1) * (N - 1))
    found = compare_ranks(table)
    if explained == 0.0:
        assert (found.iman_davenport, found.iman_davenport_p) == (0.0, 1.0)
    elif left < 1e-12:
        assert (found.iman_davenport, found.iman_davenport_p) == (np.inf, 0.0)
    else:
        assert found.iman_davenport == pytest.approx(explained / left)
        p = stats.f.sf(explained / left, k - 1, (k - 1) * (N - 1))
        assert found.iman_davenport_p == pytest.approx(p, abs=1e-12)


@settings(max_examples=40)
@given(tables, st.floats(0.01, 0.9))
def test_groups_are_the_maximal_cliques_of_methods_that_do_not_differ(sizes, alpha):
    found = compare_ranks(random_table(*sizes), alpha=alpha)
    rank = dict(zip(found.names, found.average_ranks, strict=True))
    cliques = []
    for size in range(2, len(rank) + 1):
        for chosen in combinations(rank, size):
            values = [rank[name] for name in chosen]
            if max(values) - min(values) < found.critical_difference:
                cliques.append(set(chosen))
    maximal = [clique for clique in cliques if not any(clique < other for other in cliques)]
    assert sorted(map(sorted, found.groups)) == sorted(map(sorted, maximal))
    for group in found.groups:
        assert list(group) == sorted(group, key=rank.get)
    assert [found.average_ranks[j] for j in found.order] == sorted(found.average_ranks)


def test_intervals_are_those_of_student():
    table = random_table(12, 4, 5)
    found = compare_ranks(table, alpha=0.1)
    ranks = stats.rankdata(-table, axis=1)
    low, high = stats.t.interval(0.9, 11, loc=ranks.mean(axis=0), scale=stats.sem(ranks))
    np.testing.assert_allclose(found.intervals[:, 0], np.maximum(low, 1.0))
    np.testing.assert_allclose(found.intervals[:, 1], np.minimum(high, 4.0))


def test_full_agreement_and_no_difference():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agreed = compare_ranks(np.tile([3.0, 2.0, 1.0], (8, 1)))
        equal = compare_ranks(np.ones((8, 3)))
    assert agreed.friedman == pytest.approx(16.0)
    assert agreed.iman_davenport == np.inf
    assert agreed.iman_davenport_p == 0.0
    assert agreed.average_ranks.tolist() == [1.0, 2.0, 3.0]
    assert agreed.significant
    assert (equal.friedman_p, equal.iman_davenport_p) == (1.0, 1.0)
    assert equal.average_ranks.tolist() == [2.0, 2.0, 2.0]
    assert not equal.significant
    assert equal.groups == (("method 0", "method 1", "method 2"),)


def test_data_sets_with_a_missing_score_are_left_out():
    table = random_table(9, 4, 1)
    holes = table.copy()
    holes[2, 0] = holes[2, 3] = holes[7, 1] = np.nan
    found = compare_ranks(holes)
    complete = compare_ranks(np.delete(table, [2, 7], axis=0))
    assert found.n_datasets == complete.n_datasets == 7
    np.testing.assert_array_equal(found.average_ranks, complete.average_ranks)
    assert found.friedman == complete.friedman


def test_data_frames_have_names():
    table = random_table(6, 3, 2)
    found = compare_ranks(pd.DataFrame(table, columns=["x", "y", "z"]))
    assert found.names == ("x", "y", "z")
    np.testing.assert_array_equal(found.average_ranks, compare_ranks(table).average_ranks)


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (np.ones(5), {}, "a row for every data set"),
        (np.ones((1, 3)), {}, "got 1 of 1"),
        ([[1, np.nan], [1, 2], [2, np.nan]], {"names": ["a", "slow"]}, r"slow \(2 missing\)"),
        (np.ones((5, 2)), {"names": ["a", "a"]}, "different name"),
        (np.ones((5, 2)), {"names": "ab"}, "different name"),
        (np.ones((5, 2)), {"alpha": 1.0}, "alpha must be a number above 0 and below 1"),
    ],
)
def test_tables_that_cannot_be_compared_are_refused(table, options, message):
    with pytest.raises(ValueError, match=message):
        compare_ranks(table, **options)
