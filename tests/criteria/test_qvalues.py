"""Which features go with the clusters, and at what error rate."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import binom, chi2, false_discovery_control, kruskal
from sklearn.cluster import KMeans

from featsieve import JASFS, MaxVariance, StabilitySelection
from featsieve.criteria.qvalues import _null_statistics, kruskal_wallis
from featsieve.datasets import make_planted
from featsieve.selectors import NDFS
from featsieve.tuning import feature_qvalues


def quick(n_clusters=3, **settings):
    return JASFS(n_clusters, n_features_to_select=3, init="k-means", **settings)


@pytest.fixture(scope="module")
def planted():
    return make_planted(80, 60, n_informative=12, n_clusters=3, signal=3.0, random_state=0)


@pytest.fixture(scope="module")
def found(planted):
    return feature_qvalues(quick(random_state=0).fit(planted.X), planted.X, random_state=0)


# The statistic -----------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_array, np.asfortranarray])
def test_the_statistic_is_that_of_kruskal_and_wallis(make, monkeypatch):
    monkeypatch.setattr("featsieve.criteria.qvalues.BLOCK_ELEMENTS", 100)  # many blocks
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 9))
    X[:, 3:6] = rng.integers(-2, 3, (40, 3))
    X[:, 6] = rng.random(40) < 0.2
    X[:, 7] = 7.0
    labels = np.array([4, 7, 9])[rng.integers(0, 3, 40)]
    statistics, spread = kruskal_wallis(make(X), labels)
    for j in set(range(9)) - {7}:
        assert statistics[j] == pytest.approx(kruskal(*(X[labels == k, j] for k in (4, 7, 9)))[0])
    assert statistics[7] == spread[7] == 0.0
    np.testing.assert_allclose(spread[:3], 1.0)
    n, ones = 40, X[:, 6].sum()
    tied = sum(t**3 - t for t in (ones, n - ones))
    assert spread[6] == pytest.approx(1.0 - tied / (n**3 - n))


# What comes back ---------------------------------------------------------------------------------


def test_planted_features_are_significant(planted, found):
    called = found.significant()
    assert called[planted.informative].sum() >= 11
    assert called[~planted.informative].sum() <= 2
    assert not found.significant(1e-6).any()
    assert f"{called.sum()} of 60 features go with the 3 clusters" in found.sentence
    assert "gradients" in found.sentence
    assert found.sentence in repr(found)


def test_p_values_are_counted_among_the_permuted_columns(planted, found):
    # 12 of 60 columns at the smallest p: enough refits for 5 of them to reach the level
    assert found.n_refits * 6 == found.null_sizes[0] >= 60 / (0.05 * 5) - 1
    assert found.pvalues.min() == pytest.approx(1.0 / (1.0 + found.null_sizes[0]))
    best, worst = found.statistics.argmax(), found.statistics.argmin()
    assert found.pvalues[best] < found.pvalues[worst]
    np.testing.assert_allclose(found.qvalues, false_discovery_control(found.pvalues))


def test_a_table_of_them(planted, found):
    pandas = pytest.importorskip("pandas")
    table = found.table()
    assert list(table) == ["feature", "q_value", "p_value", "statistic", "null_size"]
    assert table["feature"][:2].tolist() == ["x0", "x1"]
    frame = pandas.DataFrame(planted.X, columns=[f"gene {j}" for j in range(60)])
    named = feature_qvalues(quick(random_state=0).fit(frame), frame, n_refits=2, random_state=0)
    assert named.table()["feature"][:2].tolist() == ["gene 0", "gene 1"]


def test_constant_columns_have_a_p_value_of_one(planted):
    X = planted.X.copy()
    X[:, [0, 5]] = 3.0
    found = feature_qvalues(quick(random_state=0), X, n_refits=5, random_state=0)
    assert (found.pvalues[[0, 5]] == 1.0).all()
    assert (found.qvalues[[0, 5]] == 1.0).all()
    assert (found.null_sizes == 0).sum() == 2
    tested = found.null_sizes > 0
    expected = false_discovery_control(found.pvalues[tested])
    np.testing.assert_allclose(found.qvalues[tested], expected)


def test_columns_are_compared_with_columns_of_like_ties(planted):
    X = planted.X.copy()
    X[:, :20] = X[:, :20] > np.median(X[:, :20], axis=0)
    X[:, 20:30] = np.maximum(X[:, 20:30], np.median(X[:, 20:30], axis=0))
    found = feature_qvalues(quick(random_state=0), X, n_refits=4, random_state=0)
    assert set(found.null_sizes[:20]) == {8}
    assert set(found.null_sizes[20:30]) == {4}
    assert set(found.null_sizes[30:]) == {12}


# Estimators and tables ---------------------------------------------------------------------------


def test_fitted_or_not_the_answer_is_the_same(planted):
    X = planted.X
    fitted = feature_qvalues(quick(random_state=0).fit(X), X, n_refits=3, random_state=1)
    fresh = feature_qvalues(quick(random_state=0), X, n_refits=3, random_state=1)
    np.testing.assert_array_equal(fitted.qvalues, fresh.qvalues)
    again = feature_qvalues(quick(random_state=0), X, n_refits=3, n_jobs=2, random_state=1)
    np.testing.assert_array_equal(again.qvalues, fresh.qvalues)
    other = feature_qvalues(quick(random_state=0), X, n_refits=3, random_state=2)
    assert (other.pvalues != fresh.pvalues).any()


def test_the_number_of_clusters_is_found_once(planted, monkeypatch):
    from featsieve import choices

    calls = []

    def count(*args, **settings):
        calls.append(1)
        return suggest(*args, **settings)

    suggest = choices.count_clusters
    monkeypatch.setattr(choices, "count_clusters", count)
    found = feature_qvalues(quick("auto", random_state=0), planted.X, n_refits=3, random_state=0)
    assert len(calls) == 1
    assert found.n_clusters >= 2


def test_the_selector_inside_of_another_is_refitted(planted):
    X = planted.X
    sieve = StabilitySelection(quick(random_state=0), n_subsamples=2, random_state=0)
    of_unfitted = feature_qvalues(sieve, X, n_refits=2, random_state=0)
    of_fitted = feature_qvalues(sieve.fit(X), X, n_refits=2, random_state=0)
    np.testing.assert_array_equal(of_unfitted.statistics, of_fitted.statistics)


def test_other_selectors_with_labels(planted):
    found = feature_qvalues(NDFS(3, n_features_to_select=5), planted.X, n_refits=2, random_state=0)
    assert found.statistics[planted.informative].min() > np.median(found.statistics)


def test_a_price_gives_way_to_the_number_of_features(planted):
    sieve = JASFS(3, sparsity=1e-3, init="k-means", random_state=0).fit(planted.X)
    assert feature_qvalues(sieve, planted.X, n_refits=2, random_state=0).n_refits == 2


def test_sparse_tables(planted):
    X = np.where(planted.X > 1.0, planted.X, 0.0)
    dense = feature_qvalues(quick(random_state=0), X, n_refits=3, random_state=0)
    sparse = feature_qvalues(quick(random_state=0), sp.csr_array(X), n_refits=3, random_state=0)
    np.testing.assert_allclose(sparse.statistics, dense.statistics)
    np.testing.assert_array_equal(sparse.null_sizes, dense.null_sizes)


def test_a_refit_sees_permuted_columns_only_where_it_should(planted):
    seen = []

    class Keeping(JASFS):
        def fit(self, X, y=None):
            seen.append(X)
            return super().fit(X)

    for table in (planted.X, sp.csr_array(planted.X)):
        columns = np.array([7, 3])
        keeping = Keeping(3, n_features_to_select=2, init="k-means")
        _null_statistics(keeping, table, None, columns, 0)
        X = seen[-1].toarray() if sp.issparse(seen[-1]) else seen[-1]
        changed = (X != planted.X).any(axis=0)
        np.testing.assert_array_equal(np.flatnonzero(changed), [3, 7])
        np.testing.assert_allclose(np.sort(X, axis=0), np.sort(planted.X, axis=0))


def test_torch_and_dask(planted):
    torch, da = pytest.importorskip("torch"), pytest.importorskip("dask.array")
    expected = feature_qvalues(quick(random_state=0), planted.X, n_refits=2, random_state=0)
    for table in (torch.asarray(planted.X), da.from_array(planted.X, chunks=(40, -1))):
        found = feature_qvalues(quick(random_state=0), table, n_refits=2, random_state=0)
        np.testing.assert_allclose(found.statistics, expected.statistics)
        np.testing.assert_allclose(found.pvalues, expected.pvalues)


def test_of_many_rows_some_are_looked_at(planted, monkeypatch):
    monkeypatch.setattr("featsieve.defaults.CRITERION_SAMPLES", 60)
    given = JASFS(3, n_features_to_select=3, init=planted.labels).fit(planted.X)
    found = feature_qvalues(given, planted.X, n_refits=4, random_state=0)
    assert found.n_samples == 60
    assert np.median(found.statistics[planted.informative]) > 10.0


def test_a_category_is_one_test(planted):
    """Refits are as many as the variables need, however many levels one has."""
    level = np.random.default_rng(0).integers(20, size=80)
    X = np.hstack([planted.X, np.eye(20)[level]])
    groups = {"category": np.arange(60, 80)}
    one = feature_qvalues(quick(groups=groups, random_state=0), X, random_state=0)
    assert one.n_refits == np.ceil((61 / (0.05 * 5) - 1) / 6)
    assert len(set(one.qvalues[60:])) == 1


def test_progress(planted, capsys):
    feature_qvalues(quick(random_state=0), planted.X, n_refits=3, verbose=2, random_state=0)
    printed = capsys.readouterr().out
    assert "fitting JASFS again, 3 times" in printed
    assert "3 of 3 refits" in printed


# Mistakes ----------------------------------------------------------------------------------------


def test_mistakes_get_a_sentence(planted):
    X = planted.X
    with pytest.raises(ValueError, match=r"at least 10 rows.*X has 9"):
        feature_qvalues(quick(), X[:9])
    with pytest.raises(ValueError, match="NaN"):
        feature_qvalues(quick(), np.where(X > 3.0, np.nan, X))
    with pytest.raises(ValueError, match="MaxVariance finds no clusters"):
        feature_qvalues(MaxVariance(3), X)
    with pytest.raises(TypeError, match="selector of featsieve"):
        feature_qvalues(KMeans(3), X)
    sieve = quick().fit(X)
    sieve.labels_ = np.zeros(80, dtype=int)
    with pytest.raises(ValueError, match="one cluster"):
        feature_qvalues(sieve, X)
    with pytest.raises(ValueError, match="constant"):
        feature_qvalues(quick(), np.ones((20, 4)))
    for settings in ({"level": 0.0}, {"n_refits": 0}):
        with pytest.raises(ValueError, match=next(iter(settings))):
            feature_qvalues(quick(), X, **settings)


# Validity ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("binary", [False, True])
def test_noise_is_not_called(binary):
    n_tables, called, naive = 40, 0, 0
    for seed in range(n_tables):
        X = np.random.default_rng(seed).normal(size=(60, 100))
        X = np.where(X > 0.5, 1.0, 0.0) if binary else X
        sieve = quick(random_state=0).fit(X)
        called += feature_qvalues(sieve, X, random_state=seed).significant(0.1).any()
        p_values = chi2.sf(kruskal_wallis(X, sieve.labels_)[0], 2)
        naive += (false_discovery_control(p_values) <= 0.1).any()
    assert called <= binom.ppf(0.99, n_tables, 0.1)
    assert naive > n_tables / 2  # what it is needed for


@pytest.mark.slow
def test_the_false_discovery_rate_is_kept_with_power():
    rates, power = [], []
    for seed in range(20):
        table = make_planted(90, 150, n_informative=15, n_clusters=3, signal=2.0, random_state=seed)
        sieve = quick(random_state=0).fit(table.X)
        called = feature_qvalues(sieve, table.X, level=0.1, random_state=seed).significant(0.1)
        rates.append((called & ~table.informative).sum() / max(1, called.sum()))
        power.append(called[table.informative].mean())
    assert np.mean(rates) <= 0.1 + 2.0 * np.std(rates) / np.sqrt(len(rates))
    assert np.mean(power) > 0.8
