"""Structure inside of batches: what every selector sees of a table, and what new rows become."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import rankdata
from sklearn import config_context
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from featsieve import JASFS, AutoSelector, LabelFreeSearchCV, LaplacianScore, StabilitySelection
from featsieve.arrays import as_operator
from featsieve.criteria.batches import BatchReport, fit_corrected, within_batches
from featsieve.criteria.n_clusters import count_clusters
from featsieve.criteria.structure import find_structure
from featsieve.datasets import make_cells
from featsieve.graphs.kmeans import kmeans
from featsieve.hypotheses.families import components
from featsieve.hypotheses.tables import dense_columns, normal_scores, permuted
from featsieve.io.models import load_model, save_model
from featsieve.io.selection_model import SelectionModel
from featsieve.report import summarize_selection, write_selection_report
from featsieve.tuning import explain, feature_qvalues

from .array_library_checks import SELECTORS
from .arrays.products import assert_products, explicit

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning"  # of few iterations
)

FEW = 12  # informative columns, the first of the table


def two_batches(n=160, d=60, *, n_types=4, shift=4.0, counts=False, seed=0):
    """Return a table of types in two batches that shift half of the columns; types and batches."""
    rng = np.random.default_rng(seed)
    types, batch = np.arange(n) % n_types, rng.integers(2, size=n)
    means = np.zeros((n_types, d))
    means[:, :FEW] = 2.0 * rng.standard_normal((n_types, FEW))
    effect = shift * rng.standard_normal((2, d)) * (rng.random(d) < 0.5)
    X = rng.standard_normal((n, d)) + means[types] + effect[batch]
    if counts:
        rates = np.exp(0.8 * means[types] + 0.4 * effect[batch] - 0.5)
        X = np.log1p(rng.poisson(np.minimum(rates, 50.0)))
    return X, types, np.array(["plate a", "plate b"])[batch]


def by_hand(X, batch):
    """Return the table inside of its batches, with pandas."""
    frame = pd.DataFrame(np.asarray(X, dtype=np.float64))
    inside = frame.groupby(batch)
    centred = frame - inside.transform("mean")
    deviation = np.sqrt((centred**2).groupby(batch).transform("mean"))
    pooled = np.sqrt((centred**2).mean())
    return (centred / deviation.where(deviation > 0.0, 1.0) * pooled + frame.mean()).to_numpy()


def sieve(**settings):
    return JASFS(**{"n_clusters": 4, "n_features_to_select": FEW, "random_state": 0, **settings})


def quick():
    """Return JASFS with one hypothesis."""
    return sieve(init="k-means")


def same_fit(one, other):
    np.testing.assert_array_equal(one.ranking_, other.ranking_)
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_allclose(one.scores_, other.scores_, rtol=1e-6, atol=1e-9)


def same_selection(one, other):
    """Compare scores, and the order of the features that are selected (others may tie)."""
    np.testing.assert_allclose(one.scores_, other.scores_, rtol=1e-5, atol=1e-8)
    count = one.n_features_selected_
    first, second = (np.argsort(fit.ranking_)[:count] for fit in (one, other))
    np.testing.assert_array_equal(first, second)


def permuted_as_a_whole(X, rng, variables):
    return permuted(X.toarray() if hasattr(X, "toarray") else X, rng, variables)


# What is fitted -----------------------------------------------------------------------------------


@pytest.mark.parametrize("counts", [False, True], ids=["normal", "counts"])
def test_plain_selection_finds_the_batch_and_batches_the_types(counts):
    X, types, batch = two_batches(counts=counts)
    plain, inside = sieve().fit(X), sieve().fit(X, batch=batch)
    assert adjusted_rand_score(types, plain.labels_) < 0.6
    assert normalized_mutual_info_score(batch, plain.labels_) > 0.4
    assert adjusted_rand_score(types, inside.labels_) >= 0.9
    assert inside.support_[:FEW].sum() > plain.support_[:FEW].sum()


@pytest.mark.parametrize("name", SELECTORS)
def test_every_selector_fits_the_table_that_pandas_corrects(name):
    X, _, batch = two_batches(60, 40)
    X[batch == "plate b", 7] = 3.0  # constant in one batch
    X[:, 9] = np.where(batch == "plate b", 1.0, 2.0)  # in both
    own = clone(SELECTORS[name]).fit(X, batch=batch)
    other = fit_corrected(clone(SELECTORS[name]), by_hand(X, batch), 1 * (batch == "plate b"))
    same_selection(own, other)
    if hasattr(own, "labels_"):
        np.testing.assert_array_equal(own.labels_, other.labels_)
    assert own.ranking_[9] == 40


@pytest.mark.parametrize("name", SELECTORS)
def test_every_selector_fits_a_sparse_table_as_a_dense_one(name, monkeypatch):
    # sparse columns are permuted within batches, others as a whole: how far labels agree by chance
    monkeypatch.setattr("featsieve.hypotheses.families.permuted", permuted_as_a_whole)
    X, _, batch = two_batches(60, 40, counts=True)
    one = clone(SELECTORS[name]).fit(sp.csr_array(X), batch=batch)
    other = clone(SELECTORS[name]).fit(X, batch=batch)
    same_selection(one, other)


@pytest.mark.parametrize("name", SELECTORS)
def test_one_batch_is_as_good_as_none(name):
    X = two_batches(60, 40)[0]
    one = clone(SELECTORS[name]).fit(X, batch=np.zeros(len(X)))
    none = clone(SELECTORS[name]).fit(X)
    np.testing.assert_array_equal(one.ranking_, none.ranking_)
    np.testing.assert_array_equal(one.scores_, none.scores_)


def test_names_of_batches_may_be_of_any_kind():
    X, _, batch = two_batches(80, 40)
    codes = (batch == "plate b").astype(int)
    numbers = [codes, 0.5 * codes, codes > 0, codes.tolist(), codes.astype(object)]
    names = [batch, batch.astype(object), batch.tolist(), pd.Series(batch), pd.Categorical(batch)]
    expected = by_hand(X, batch)
    for given in numbers + names:
        inside, codes, batches = within_batches(X, given)
        np.testing.assert_allclose(inside, expected, atol=1e-12)
        assert batches.names.tolist() == np.unique(np.asarray(given)).tolist()
        np.testing.assert_array_equal(codes, batch == "plate b")


def test_numbers_are_found_in_the_corrected_table():
    X, _, batch = two_batches(80, 30, counts=True)
    found = JASFS("auto", random_state=0, init="k-means").fit(sp.csr_array(X), batch=batch)
    count = count_clusters(by_hand(X, batch), codes=(batch == "plate b").astype(int))
    assert found.n_clusters_ == count.n_clusters
    assert found.structure_.verdict == "clusters"


def test_a_gradient_of_batches_is_no_structure():
    rng = np.random.default_rng(0)
    batch = np.arange(60) % 2
    X = rng.standard_normal((60, 20)) + 3.0 * rng.standard_normal((2, 20))[batch]
    inside, codes, _ = within_batches(X, batch)
    assert find_structure(inside, codes=codes).verdict == "nothing"


def test_ranks_of_counts_do_not_tell_batches_apart():
    cells = make_cells(240, 400, n_markers=10, random_state=0)
    batch = np.random.default_rng(0).integers(2, size=240)  # of no effect at all
    X = np.log1p(cells.X)
    dense, codes, _ = within_batches(X, batch)

    def told(scores):
        points = components(dense_columns(scores)[0], np.random.default_rng(0))[:, :10]
        return normalized_mutual_info_score(batch, kmeans(points, 7, np.random.default_rng(0)))

    assert told(normal_scores(dense)) > 0.3  # zeros of the two lie a little apart
    assert told(normal_scores(dense, codes)) < 0.05
    assert told(normal_scores(within_batches(sp.csr_array(X), batch)[0])) < 0.05


def test_qvalues_inside_of_batches():
    X, _, batch = two_batches(80, 40, counts=True)
    fitted = quick().fit(X, batch=batch)
    found = feature_qvalues(fitted, X, batch=batch, random_state=0)
    assert found.significant()[:FEW].sum() > found.significant()[FEW:].sum()
    other = feature_qvalues(quick(), by_hand(X, batch), random_state=0)
    np.testing.assert_array_equal(found.statistics.round(6), other.statistics.round(6))
    sparse = feature_qvalues(fitted, sp.csr_array(X), batch=batch, random_state=0)
    np.testing.assert_allclose(sparse.statistics, found.statistics)
    assert (sparse.significant() == found.significant()).mean() > 0.9
    with pytest.raises(ValueError, match="pass batch="):
        feature_qvalues(fitted, X)


@pytest.mark.slow
def test_significant_features_are_those_inside_of_batches():
    X, _, batch = two_batches(80, 40)
    fitted = quick().set_params(n_features_to_select="significant").fit(X, batch=batch)
    assert fitted.support_[:FEW].sum() >= FEW - 2
    assert fitted.batches_.mean.shape == (2, fitted.n_features_selected_)


@pytest.mark.usefixtures("untested_fits")
@pytest.mark.parametrize("sparse", [False, True])
def test_estimators_around_selectors(sparse):
    X, _, batch = two_batches(60, 40, counts=True)
    table = sp.csr_array(X) if sparse else X
    auto = AutoSelector(LaplacianScore(), sizes=[4, FEW])
    same_selection(clone(auto).fit(table, batch=batch), auto.fit(by_hand(X, batch)))
    stable = StabilitySelection(LaplacianScore(FEW), n_subsamples=3, random_state=0)
    by_rows = clone(stable).fit(table, batch=batch)
    np.testing.assert_array_equal(by_rows.ranking_, stable.fit(by_hand(X, batch)).ranking_)
    with pytest.raises(ValueError, match="leave batch out"):
        LabelFreeSearchCV(LaplacianScore(4), {"n_neighbors": [3]}).fit(X, batch=batch)


# Kinds of tables ----------------------------------------------------------------------------------


def test_the_corrected_table_is_that_of_pandas():
    X, _, batch = two_batches()
    np.testing.assert_allclose(within_batches(X, batch)[0], by_hand(X, batch), atol=1e-12)
    single = within_batches(X.astype(np.float32), batch)[0]
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, by_hand(X, batch), atol=1e-4)
    whole = np.round(X).astype(np.int8)
    np.testing.assert_allclose(within_batches(whole, batch)[0], by_hand(whole, batch), atol=1e-12)


def test_columns_far_from_zero_keep_their_digits():
    X, _, batch = two_batches()
    far = within_batches(X + 1e9, batch)[0] - 1e9
    np.testing.assert_allclose(far, by_hand(X, batch), atol=1e-5)


def test_torch_fits_what_numpy_does():
    torch = pytest.importorskip("torch")
    X, _, batch = two_batches(80, 40)
    one, other = quick().fit(torch.from_numpy(X), batch=batch), quick().fit(X, batch=batch)
    same_fit(one, other)
    found = one.predict(torch.from_numpy(X), batch=batch)
    np.testing.assert_array_equal(found.numpy(), other.predict(X, batch=batch))
    codes = torch.from_numpy((batch == "plate b").astype(int))
    same_fit(quick().fit(torch.from_numpy(X), batch=codes), other)


def test_a_strict_array_library_is_corrected():
    xp = pytest.importorskip("array_api_strict")
    X, _, batch = two_batches()
    inside = within_batches(xp.asarray(X), batch)[0]
    np.testing.assert_allclose(np.from_dlpack(inside), by_hand(X, batch), atol=1e-12)


def test_dask_arrays_are_refused():
    da = pytest.importorskip("dask.array")
    X, _, batch = two_batches()
    with pytest.raises(TypeError, match=r"pass X\.compute\(\)"):
        quick().fit(da.from_array(X, chunks=(50, -1)), batch=batch)


def sparse_in_batches(seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random_array((50, 30), density=0.2, rng=rng, format="csr")
    X.data -= 0.3
    X.data[:4] = 0.0  # stored zeros
    codes = rng.integers(3, size=50)
    return within_batches(X, codes)[0], by_hand(X.toarray(), codes), codes


@pytest.mark.parametrize("scale", ["unit", "std", "sqrt", "none"])
@pytest.mark.parametrize("center", [True, False])
def test_products_with_a_sparse_table_in_batches(scale, center):
    X, dense, _ = sparse_in_batches()
    operator = as_operator(X, scale=scale, center=center)
    assert_products(operator, explicit(dense, scale=scale, center=center), tolerance=1e-12)
    rows = operator.part(10, 30).at_rows(np.array([3, 1]))
    Z = explicit(dense, scale=scale, center=center)
    np.testing.assert_allclose(rows.rows(0, 2), Z[[13, 11]], atol=1e-12)


def test_forms_of_a_sparse_table_in_batches():
    X, dense, codes = sparse_in_batches()
    np.testing.assert_allclose(X.toarray(), dense, atol=1e-12)
    scores = normal_scores(X).toarray()
    other = normal_scores(dense.round(12), codes)
    scores, other = (each - each.mean(axis=0) for each in (scores, other))
    np.testing.assert_allclose(scores, other, atol=1e-5)  # but for what zeros have become
    for b in range(3):  # the order inside of every batch, and no other
        np.testing.assert_array_equal(
            rankdata(scores[codes == b].round(6), axis=0),
            rankdata(dense[codes == b].round(6), axis=0),
        )
        np.testing.assert_allclose(scores[codes == b].mean(axis=0), 0.0, atol=1e-6)
    Z, units, _ = dense_columns(X)
    np.testing.assert_allclose(Z, dense_columns(dense)[0], atol=1e-6)
    assert units.max() == 1.0
    moved = permuted(X, np.random.default_rng(0)).toarray()
    for b in range(3):
        one, other = (np.sort(table[codes == b], axis=0) for table in (moved, dense))
        np.testing.assert_allclose(one, other, atol=1e-12)
    assert np.abs(moved - dense).max() > 0.1


def test_a_sparse_table_does_not_become_dense(monkeypatch):
    X, _, batch = two_batches(400, 600, counts=True)
    table, largest = sp.csr_array(X), []
    real = sp.csr_array.toarray

    def watched(self, *args, **kwargs):
        largest.append(np.prod(self.shape))
        return real(self, *args, **kwargs)

    monkeypatch.setattr("featsieve.arrays.operator.BLOCK_ELEMENTS", 2**12)
    monkeypatch.setattr("featsieve.defaults.N_LANDMARKS", 60)
    monkeypatch.setattr("featsieve.defaults.COUNT_SAMPLES", 60)
    monkeypatch.setattr("featsieve.defaults.LANDMARKS_PER_CLUSTER", 5)
    for kind in (sp.csr_array, sp.csc_array):
        monkeypatch.setattr(kind, "toarray", watched)
    sieve().fit(table, batch=batch)
    assert max(largest) < table.shape[0] * table.shape[1] / 2


# New rows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, pd.DataFrame])
def test_new_rows_of_known_batches_are_put_into_their_clusters(convert):
    X, types, batch = two_batches(320)
    fitted = sieve().fit(convert(X[:160]), batch=batch[:160])
    found = fitted.predict(convert(X[160:]), batch=batch[160:])
    assert adjusted_rand_score(types[160:], found) > 0.95
    first = fitted.predict(convert(X[160:161]), batch=batch[160:161])  # one row will do
    assert first[0] == found[0]


def test_rows_of_a_new_batch_count_by_their_own_means():
    X, types, batch = two_batches(320)
    fitted = sieve().fit(X[:160], batch=batch[:160])
    found = fitted.predict(X[160:] + 100.0, batch=np.char.add(batch[160:], ", new"))
    assert adjusted_rand_score(types[160:], found) > 0.95
    with pytest.raises(ValueError, match=r"does not know the batch 'c'.*more rows"):
        fitted.predict(X[:3], batch=["plate a", "c", "plate b"])


def test_a_model_with_batches_asks_for_them():
    X, _, batch = two_batches(80, 40)
    inside, plain = quick().fit(X, batch=batch), quick().fit(X)
    with pytest.raises(ValueError, match=r"fitted with 2 batches: pass batch="):
        inside.predict(X)
    with pytest.raises(ValueError, match="fitted without batches"):
        plain.predict(X, batch=batch)
    assert not hasattr(plain, "batches_")
    inside.fit(X)
    assert not hasattr(inside, "batches_")
    assert not hasattr(inside, "batch_report_")


def test_transform_returns_columns_as_they_are():
    X, _, batch = two_batches(80, 40)
    fitted = quick()
    found = fitted.fit_transform(X, batch=batch)
    np.testing.assert_array_equal(found, X[:, fitted.support_])
    labels = quick().fit_predict(X, batch=batch)
    np.testing.assert_array_equal(labels, fitted.labels_)


def test_a_certificate_is_of_the_table_that_was_fitted():
    X, _, batch = two_batches(80, 40)
    fitted = quick().fit(X, batch=batch)
    own = fitted.certify(X, batch=batch)
    other = quick().fit(by_hand(X, batch)).certify(by_hand(X, batch))
    assert own.value == pytest.approx(other.value)


def test_a_model_with_batches_is_saved_and_loaded(tmp_path):
    pytest.importorskip("skops")
    X, _, batch = two_batches(80, 40)
    fitted = quick().fit(X, batch=batch)
    names = [f"x{j}" for j in range(40)]
    save_model(SelectionModel.from_selector(fitted, names), tmp_path / "model.skops")
    model = load_model(tmp_path / "model.skops")
    found = model.predict(pd.DataFrame(X, columns=names), batch=batch)
    np.testing.assert_array_equal(found, fitted.predict(X, batch=batch))
    assert model.selector.batch_report_ == fitted.batch_report_


# scikit-learn -------------------------------------------------------------------------------------


def test_batches_reach_a_selector_through_a_pipeline():
    X, _, batch = two_batches(80, 40)
    with config_context(enable_metadata_routing=True):
        step = quick().set_fit_request(batch=True).set_predict_request(batch=True)
        pipeline = make_pipeline(StandardScaler(), step).fit(X, batch=batch)
        same_fit(pipeline[-1], quick().fit(StandardScaler().fit_transform(X), batch=batch))
        assert pipeline.predict(X, batch=batch).shape == (80,)
        first = make_pipeline(clone(step), FunctionTransformer())
        assert first.fit_transform(X, batch=batch).shape == (80, FEW)


# What is said -------------------------------------------------------------------------------------


def test_the_report_says_how_far_batches_tell_the_clusters():
    X, _, batch = two_batches()
    report = sieve().fit(X, batch=batch).batch_report_
    assert report.before > 0.4
    assert report.after < 0.1
    assert "with the 2 batches" in report.sentence
    assert "the 4 clusters that were found share" in report.sentence
    assert report.summary()["sentence"] in repr(report)
    one = quick().fit(X, batch=np.zeros(len(X))).batch_report_
    assert one.sentence.startswith("All rows are of one batch")
    told, untold = (BatchReport(share, 0.0, n_batches=2, n_clusters=3) for share in (0.3, 0.001))
    assert told.sentence.endswith("these groups were taken out.")
    assert untold.sentence.endswith("the 3 clusters that were found share 0%.")
    assert not hasattr(LaplacianScore(4).fit(X, batch=batch), "batch_report_")


MISTAKES = {
    "too short": (lambda b: b[:-1], ValueError, "one value for each of the 40 rows"),
    "a column": (lambda b: b[:, None], ValueError, r"shape \(40,\); got \(40, 1\)"),
    "one name": (lambda b: "plate a", ValueError, r"got \(\)"),
    "missing": (lambda b: [None, *b[1:]], ValueError, "missing for 1 of 40 rows: leave these"),
    "NaN": (lambda b: np.r_[np.nan, np.zeros(39)], ValueError, "missing for 1 of 40 rows"),
    "NA": (lambda b: pd.Series([pd.NA, *b[1:]]), ValueError, "missing for 1 of 40 rows"),
    "one row": (lambda b: ["x", *b[1:]], ValueError, r"one row only \('x'\).*merge it .*drop the"),
    "two rows": (lambda b: ["x", "y", *b[2:]], ValueError, r"'x', 'y'\).*merge it"),
    "each its own": (lambda b: np.arange(40), ValueError, "40 different values for 40 rows"),
    "of several kinds": (lambda b: [1, *b[1:]], TypeError, r"astype\(str\)"),
    "NaN among text": (lambda b: [np.nan, *b[1:]], ValueError, "missing for 1 of 40 rows"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_told_with_the_fix(name):
    change, kind, message = MISTAKES[name]
    X, _, batch = two_batches(40, 20)
    with pytest.raises(kind, match=re.compile(message, re.DOTALL)):
        LaplacianScore(4).fit(X, batch=change(batch.astype(object)))


def test_columns_that_are_constant_in_every_batch_cannot_be_selected_from():
    batch = np.arange(40) % 2
    with pytest.raises(ValueError, match="No column of X varies inside of a batch"):
        LaplacianScore(1).fit(np.outer(batch, [1.0, 2.0]), batch=batch)


def test_a_callable_start_needs_a_dense_table():
    X, types, batch = two_batches(80, 40)
    start = sieve(init=lambda X, n_clusters, random_state: types)
    assert adjusted_rand_score(start.fit(X, batch=batch).labels_, types) == 1.0
    with pytest.raises(ValueError, match="dense table"):
        start.fit(sp.csr_array(X), batch=batch)


def test_small_batches_of_noise_are_nothing():
    """Corrected rows of a batch mirror each other, in the copies of the structure test as well."""
    for seed in range(3):
        X = np.random.default_rng(seed).standard_normal((40, 12))
        inside, codes, _ = within_batches(X, np.arange(40) // 2)
        assert find_structure(inside, codes=codes, random_state=seed).p_permuted > 0.05


def test_what_was_fitted_with_batches_is_asked_about_with_them(tmp_path):
    X, _, batch = two_batches(60, 12)
    sieve = JASFS(3, n_features_to_select=4, random_state=0).fit(X, batch=batch)
    for ask in (
        lambda **given: explain(sieve, X, **given),
        lambda **given: write_selection_report(sieve, X, tmp_path / "page.html", **given),
    ):
        with pytest.raises(ValueError, match="was fitted with batches: pass batch="):
            ask()
        ask(batch=batch)
    summary = summarize_selection(sieve, X, batch=batch)
    chosen = within_batches(X, batch)[0][:, sieve.support_]
    r = np.abs(np.corrcoef(chosen, rowvar=False)[np.triu_indices(4, 1)])
    assert summary["redundancy"]["mean"] == pytest.approx(r.mean(), abs=1e-3)
    assert np.abs(np.corrcoef(X[:, sieve.support_], rowvar=False)).mean() > r.mean() + 0.01


def test_a_column_that_varies_between_batches_only_is_left_out_by_the_structure_test():
    X = np.random.default_rng(0).standard_normal((40, 6))
    batch = np.arange(40) % 2
    X[:, 2] = batch
    X[0, 2] = 3.0  # a rank of its own in one batch
    inside, codes, _ = within_batches(X, batch)
    inside[:, 3] = codes
    found = find_structure(inside, codes=codes)
    assert (found.n_features, found.table_shape[1]) == (5, 6)
