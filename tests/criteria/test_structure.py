"""The test of structure: clusters, a gradient or nothing, by exact ranks among copies."""

import json
from functools import partial

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import chisquare

from featsieve import (
    JASFS,
    AutoSelector,
    LaplacianScore,
    MaxVariance,
    StabilitySelection,
    defaults,
)
from featsieve.criteria import structure
from featsieve.criteria.structure import (
    WHAT_TO_DO,
    NoStructureWarning,
    beyond_others,
    find_structure,
    scores_of,
    structure_test,
    untested,
)
from featsieve.criteria.valleys import valley_depth
from featsieve.datasets import make_catalogue_table, make_planted
from featsieve.hypotheses.tables import (
    RotatedCopies,
    dense_columns,
    normal_scores,
    smoothed_scores,
    without_skew,
)


def factors(rng, n, d, rank, share=0.5):
    """Return columns with some of their variance in common."""
    common = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d)) / np.sqrt(rank)
    return np.sqrt(share) * common + np.sqrt(1.0 - share) * rng.standard_normal((n, d))


def neighbours(rng, n, d, r=0.9):
    """Return columns of which each follows the one before it."""
    X = rng.standard_normal((n, d))
    for j in range(1, d):
        X[:, j] = r * X[:, j - 1] + np.sqrt(1.0 - r**2) * X[:, j]
    return X


WITHOUT_CLUSTERS = {
    "normal": lambda rng, n, d: rng.standard_normal((n, d)),
    "heavy tails": lambda rng, n, d: rng.standard_t(3, (n, d)),
    "one factor": lambda rng, n, d: factors(rng, n, d, 1),
    "rank 5": lambda rng, n, d: factors(rng, n, d, 5),
    "neighbouring columns": neighbours,
    "correlated binary": lambda rng, n, d: (factors(rng, n, d, 2) > rng.uniform(-1, 1, d)) * 1.0,
    "counts": lambda rng, n, d: (
        rng.poisson(np.exp(0.5 * rng.standard_normal((n, 1))) * rng.gamma(2.0, 2.0, d)) * 1.0
    ),
}
CORRELATED = {"one factor", "rank 5", "neighbouring columns", "correlated binary", "counts"}


@pytest.fixture(scope="module")
def planted():
    return make_planted(80, 30, n_informative=10, n_clusters=3, random_state=0)


@pytest.fixture(scope="module")
def clear(planted):
    return structure_test(planted.X)


# Where only the way to the answer counts: few copies.
quick = partial(structure_test, n_tables=3, level=0.3)


@pytest.fixture(scope="module")
def rough(planted):
    return quick(planted.X)


def same(one, other):
    """Say whether two tests give the same answer with the same p-values."""
    return (one.verdict, one.p_permuted, one.p_rotated) == (
        other.verdict, other.p_permuted, other.p_rotated
    )  # fmt: skip


# Verdicts -----------------------------------------------------------------------------------------


@pytest.mark.whole_structure_test
@pytest.mark.parametrize(
    ("n", "d", "m", "c", "signal"),
    [
        (120, 50, 20, 4, 2.0),
        pytest.param(150, 200, 40, 5, 2.0, marks=pytest.mark.slow),
        pytest.param(60, 300, 20, 3, 2.0, marks=pytest.mark.slow),
        (100, 12, 4, 2, 4.0),
    ],
)
def test_planted_clusters_are_clusters(n, d, m, c, signal):
    X = make_planted(n, d, n_informative=m, n_clusters=c, signal=signal, random_state=0).X
    found = structure_test(X)
    assert found.verdict == found.answer == "clusters"
    assert max(found.p_permuted, found.p_rotated) <= 0.05
    assert found.value_rotated > np.quantile(found.null_rotated, 0.95)
    assert (found.n_samples, found.n_features) == (n, d)


def verdicts_on(kinds):
    """Return two answers for every kind of tables without clusters."""
    return {
        kind: [
            structure_test(WITHOUT_CLUSTERS[kind](np.random.default_rng(seed), 50, 15))
            for seed in range(2)
        ]
        for kind in kinds
    }


@pytest.fixture(scope="module")
def verdicts():
    return verdicts_on(["normal", "rank 5", "correlated binary"])


def check_verdicts(verdicts, most):
    """Few may be called clusters; correlated columns are told from independent ones."""
    alarms = [kind for kind, found in verdicts.items() for f in found if f.verdict == "clusters"]
    assert len(alarms) <= most, alarms
    assert all(alarms.count(kind) <= 1 for kind in alarms), alarms
    for kind, answers in verdicts.items():
        correlated = [found.p_permuted <= found.level for found in answers]
        assert sum(correlated) == 2 if kind in CORRELATED else sum(correlated) <= 1
        for found in answers:
            assert np.isnan(found.p_rotated) == (found.verdict == "nothing")
            assert np.isnan(found.value_rotated) == (len(found.null_rotated) == 0)


def test_tables_without_clusters_are_not_called_clusters(verdicts):
    check_verdicts(verdicts, 1)


@pytest.mark.slow
def test_every_kind_of_table_without_clusters():
    """At a level of 0.05, of 14 one may be; more than two have a probability of 0.03."""
    check_verdicts(verdicts_on(WITHOUT_CLUSTERS), 2)


def three_on_a_line(seed, n=150, apart=2.8):
    """Return three groups along one line of three columns, beside three of noise."""
    rng = np.random.default_rng(seed)
    X, labels = rng.standard_normal((n, 6)), np.arange(n) % 3
    X[:, :3] += apart * labels[:, None] * [1.0, -1.0, 0.8]
    return X


@pytest.mark.whole_structure_test
def test_clear_groups_of_a_narrow_table_are_clusters_in_any_random_state():
    answers = [structure_test(three_on_a_line(1), random_state=s).verdict for s in range(3)]
    assert answers == ["clusters"] * 3


@pytest.mark.whole_structure_test
def test_groups_beside_a_block_of_columns_that_go_together_are_clusters():
    """Eight columns share a factor, which varies most and tells no group."""
    rng = np.random.default_rng(0)
    noise, centres = rng.standard_normal((200, 6)), 2.5 * rng.standard_normal((4, 6))
    block = rng.standard_normal((200, 1)) + 0.3 * rng.standard_normal((200, 8))
    groups = noise + centres[np.arange(200) % 4]
    assert structure_test(np.hstack([groups, block])).verdict == "clusters"
    assert structure_test(np.hstack([noise, block])).verdict == "gradient"


@pytest.mark.whole_structure_test
def test_groups_beside_strong_factors_in_many_columns_are_clusters():
    """Three factors move 28 of 40 columns, more than the groups move the other twelve."""
    rng = np.random.default_rng(0)
    noise, centres = rng.standard_normal((250, 40)), 1.6 * rng.standard_normal((4, 12))
    noise[:, 12:] += rng.standard_normal((250, 3)) @ (2.0 * rng.standard_normal((3, 28)))
    groups = noise.copy()
    groups[:, :12] += centres[np.arange(250) % 4]
    assert [structure_test(groups, random_state=s).verdict for s in range(3)] == ["clusters"] * 3
    assert structure_test(noise).verdict == "gradient"


@pytest.mark.whole_structure_test
def test_a_gradient_that_somebody_cut_into_words_is_no_clusters():
    """Three levels of the leading gradient, the middle one the most frequent, as indicators."""
    verdicts = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        t = rng.standard_normal((160, 2))
        X = t @ rng.standard_normal((2, 24)) + 0.8 * rng.standard_normal((160, 24))
        level = np.digitize(t[:, 0] + 0.25 * rng.standard_normal(160), [-0.6, 0.6])
        variables = np.r_[np.arange(24), 24, 24, 24]
        words = np.eye(3)[level]
        verdicts.append(find_structure(np.hstack([X, words]), variables=variables).verdict)
    assert verdicts == ["gradient"] * 4


@pytest.mark.whole_structure_test
@pytest.mark.parametrize("form", [np.exp, np.round], ids=["skewed", "rounded"])
def test_clear_groups_of_skewed_and_rounded_columns(form):
    rng = np.random.default_rng(0)
    centres = np.array([[0, 0, 0, 0], [4, 0, 4, 0], [0, 4, 4, 4]]) * 0.9
    X = rng.standard_normal((120, 6))
    X[:, :4] += centres[np.arange(120) % 3]
    assert structure_test(form(X)).verdict == "clusters"


def test_no_valleys_are_sought_in_batches(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("valleys are for tables without batches")

    monkeypatch.setattr("featsieve.criteria.structure.valleys", refuse)
    X, codes = three_on_a_line(1, n=90), np.repeat([0, 1, 2], 30)
    found = find_structure(X, 3, 0.25, 0, codes=codes)
    assert found.n_features == 6
    assert len(found.null_rotated) == 3
    with pytest.raises(AssertionError, match="valleys"):
        find_structure(X, 3, 0.25, 0)


def test_the_valley_between_clusters():
    rng = np.random.default_rng(0)
    halves, points = np.arange(400) % 2, rng.standard_normal((400, 3))
    far = points + 8.0 * halves[:, None]
    assert valley_depth(far, halves) == pytest.approx(1.0, abs=1e-3)
    assert valley_depth(far * 1e-6, halves) == pytest.approx(valley_depth(far, halves))
    strip = rng.random((400, 1))
    assert valley_depth(strip, (strip[:, 0] > 0.5) * 1) < 0.3
    # of three the neighbour counts: the third lies far from a group that is cut in two
    cut = np.where(halves == 1, 2, (points[:, 0] > 0.0) * 1)
    assert valley_depth(far, cut) == pytest.approx(0.5, abs=0.15)
    assert valley_depth(np.zeros((6, 2)), np.arange(6) % 2) == 0.0


def test_smoothed_scores_keep_order_ties_and_gaps_in_any_unit():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal(80) + 12.0 * (np.arange(80) < 30), rng.poisson(2, 80)])
    found = smoothed_scores(X)
    for j in range(2):
        _, own = np.unique(X[:, j], return_inverse=True)
        _, there = np.unique(found[:, j], return_inverse=True)
        np.testing.assert_array_equal(own, there)
    np.testing.assert_allclose(smoothed_scores(1e4 * X - 7.0), found, atol=1e-4)

    def gap(x):
        return np.diff(np.sort(x))[49]

    assert gap(found[:, 0]) > 4.0 * gap(scores(X)[:, 0])


def test_skew_goes_and_order_stays():
    z = np.sort(np.random.default_rng(0).standard_normal(400))
    for x in (np.exp(1.5 * z) + 3.0, -np.exp(1.5 * z), 5.0 * z):
        found = without_skew(x)
        np.testing.assert_array_equal(np.argsort(found), np.argsort(x))
        assert abs(np.corrcoef(found, z)[0, 1]) > 0.99
    bounded = without_skew(np.r_[-50.0, np.exp(z)])  # beyond the end of the curve
    assert np.isfinite(bounded).all()
    assert bounded[0] < bounded[1]
    counts = np.repeat([0.0, 1.0], [390, 10])  # deciles that coincide
    np.testing.assert_array_equal(without_skew(counts), counts)


def test_an_arch_is_called_clusters():
    """No test of this kind tells bends from groups: documented."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0.0, 2.0 * np.pi, 150)
    arch = np.column_stack([np.sin(k * angle + shift) for k in (1, 2, 3) for shift in range(8)])
    assert structure_test(arch + 0.3 * rng.standard_normal(arch.shape)).verdict == "clusters"


def test_every_verdict_has_its_words(clear, verdicts):
    some = [clear, *(found for kind in verdicts.values() for found in kind)]
    by_verdict = {found.verdict: found for found in some}
    assert set(by_verdict) == {"clusters", "gradient", "nothing"}
    for verdict, start in (
        ("clusters", "The samples form clusters: "),
        ("gradient", "A gradient, not groups: "),
        ("nothing", "Nothing that chance would not give: "),
    ):
        found = by_verdict[verdict]
        assert found.sentence.startswith(start)
        assert f"(p = {found.p_permuted:.2g})" in found.sentence
        last = "permuted" if verdict == "nothing" else "rotated"
        p, null = getattr(found, f"p_{last}"), getattr(found, f"null_{last}")
        least = f" With {len(null)} copies, p cannot be less than {p:.2g}." in found.sentence
        assert least == (p <= 1 / (1 + len(null)))
        assert repr(found) == f"<StructureTest: {found.sentence}>"
        summary = found.summary()
        assert json.loads(json.dumps(summary, allow_nan=False)) == summary
        assert summary["sentence"] == found.sentence
        assert summary["null_rotated"] == found.null_rotated.tolist()
        assert (summary["p_rotated"] is None) == (verdict == "nothing")


# Exact ranks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, size: rng.standard_normal(size),
        lambda rng, size: rng.standard_t(2, size),
        lambda rng, size: np.exp(2.0 * rng.standard_normal(size)),
        # statistics that hang together
        lambda rng, size: rng.standard_normal(size) + 3.0 * rng.standard_normal((*size[:2], 1)),
    ],
)
def test_ranks_among_exchangeable_tables_are_uniform(draw):
    values = draw(np.random.default_rng(0), (3000, 20, 6))
    beyond = np.stack([beyond_others(tables) for tables in values])
    ranks = (beyond[:, 1:] >= beyond[:, :1]).sum(axis=1)
    counts = np.bincount(ranks, minlength=20)
    assert chisquare(counts).pvalue > 1e-3, counts


def test_equal_values_make_the_ranks_cautious():
    values = np.random.default_rng(0).integers(0, 3, (3000, 20, 2)).astype(float)
    beyond = np.stack([beyond_others(tables) for tables in values])
    p = (1 + (beyond[:, 1:] >= beyond[:, :1]).sum(axis=1)) / 20
    for level in (0.05, 0.1, 0.25, 0.5):
        assert np.mean(p <= level) <= level + 4.0 * np.sqrt(level * (1.0 - level) / 3000)


def test_a_table_is_beside_all_others_by_the_formula():
    values = np.random.default_rng(0).standard_normal((6, 4))
    expected = []
    for i in range(6):
        others = np.delete(values, i, axis=0)
        expected.append(((values[i] - others.mean(axis=0)) / others.std(axis=0)).max())
    np.testing.assert_allclose(beyond_others(values), expected)
    assert np.isfinite(beyond_others(np.ones((6, 4)))).all()


# Copies -------------------------------------------------------------------------------------------


def scores(X):
    return dense_columns(normal_scores(X))[0]


@pytest.mark.parametrize("shape", [(60, 20), (40, 90)])
def test_rotated_copies_keep_means_and_covariance(shape):
    rng = np.random.default_rng(0)
    Z = scores(factors(rng, *shape, 3))
    copy = RotatedCopies(Z, rng).draw(rng)
    np.testing.assert_allclose(copy.mean(axis=0), Z.mean(axis=0), atol=1e-4)
    np.testing.assert_allclose(copy.T @ copy / len(Z), Z.T @ Z / len(Z), atol=1e-4)
    assert np.abs(copy - Z).max() > 1.0


@pytest.mark.parametrize("shape", [(150, 30), (60, 200)])
def test_rotated_copies_keep_ties_and_the_leading_variances(shape):
    rng = np.random.default_rng(0)
    X = factors(rng, *shape, 2, share=0.7)
    tied = np.arange(shape[1]) % 3 > 0
    X[:, tied] = np.round(X[:, tied])
    Z = scores(X)
    copies = RotatedCopies(Z, rng)
    np.testing.assert_array_equal(copies.tied, np.flatnonzero(tied))
    drawn = [copies.draw(rng) for _ in range(20)]
    for copy in drawn:
        ordered = np.sort(copy, axis=0)
        np.testing.assert_array_equal(ordered[:, tied], np.sort(Z, axis=0)[:, tied])
    leading = np.linalg.svd(Z, compute_uv=False)[:2] ** 2
    found = np.mean([np.linalg.svd(copy, compute_uv=False)[:2] ** 2 for copy in drawn], axis=0)
    np.testing.assert_allclose(found, leading, rtol=0.05)


# The same table in other forms --------------------------------------------------------------------


def test_units_do_not_matter_at_all_and_tails_for_the_choice_of_columns_only(planted, rough):
    X = planted.X.copy()
    X[:, ::3], X[:, 1::3] = 1e6 * X[:, ::3] - 5.0, 1e-4 * X[:, 1::3]
    found = quick(X)
    assert same(found, rough)
    np.testing.assert_array_equal(found.null_rotated, rough.null_rotated)
    scores, modal, _ = scores_of(X, np.random.default_rng(0))
    X[:, ::3] = np.exp(planted.X[:, ::3])
    stretched, other, _ = scores_of(X, np.random.default_rng(0))
    np.testing.assert_array_equal(stretched, scores)
    assert (np.sort(other) == np.sort(modal)).all()
    assert (other != modal).any()


def test_columns_of_few_values_do_not_fall_into_parts():
    rng = np.random.default_rng(0)
    two, many = (rng.random((60, 20)) < 0.4) * 1.0, rng.standard_normal((60, 9))
    zeros = np.maximum(rng.standard_normal((60, 9)) - 0.5, 0.0)
    apart = np.append(-np.ones(30), np.ones(30))[:, None] + 0.1 * rng.standard_normal((60, 1))
    _, modal, _ = scores_of(np.hstack([two, zeros, many, apart]), rng)
    assert modal[0] == 38
    assert set(modal) == set(range(29, 39))


@pytest.mark.whole_structure_test
@pytest.mark.parametrize("kind", ["60x2000", "blocks2"])
def test_few_columns_that_fall_into_parts_show_clusters_beside_many_others(kind):
    assert structure_test(make_catalogue_table(kind, random_state=1).X).verdict == "clusters"


def test_any_kind_of_table_has_the_same_answer(planted):
    X = np.where(np.abs(planted.X) > 0.5, planted.X, 0.0)
    dense = quick(X)
    for table in (sp.csc_array(X), pd.DataFrame(X)):
        found = quick(table)
        assert same(found, dense)
        assert found.value_permuted == pytest.approx(dense.value_permuted, rel=1e-3)


@pytest.mark.whole_structure_test  # other processes have it
def test_more_processes_give_the_same(planted):
    one, two = (quick(planted.X, n_jobs=jobs) for jobs in (1, 2))
    assert two.summary() == one.summary()
    assert len(two.null_rotated) == 3


def test_the_random_state_decides(planted, rough):
    assert same(quick(planted.X, random_state=np.random.RandomState(0)), rough)
    other = quick(planted.X, random_state=1)
    assert (other.null_permuted != rough.null_permuted).any()


def test_more_copies_and_another_level(planted):
    found = structure_test(planted.X, n_tables=7, level=0.125)
    assert (found.verdict, found.p_rotated, len(found.null_rotated)) == ("clusters", 0.125, 7)
    with pytest.raises(ValueError, match=r"no p-value is below 0.17.*n_tables=19"):
        structure_test(planted.X, n_tables=5)
    with pytest.raises(ValueError, match="level must be a number above 0 and below 1"):
        structure_test(planted.X, level=1.5)


def test_repeated_rows_are_no_groups_and_prototypes_are():
    rng = np.random.default_rng(3)
    twice = np.repeat(rng.standard_normal((40, 20)), 2, axis=0)
    found = structure_test(twice)
    assert (found.verdict, found.n_samples) == ("nothing", 40)
    prototypes = np.repeat(rng.standard_normal((5, 20)), 12, axis=0)
    assert structure_test(prototypes).verdict == "clusters"
    classes = np.repeat(rng.random((4, 20)) < 0.5, 20, axis=0) ^ (rng.random((80, 20)) < 0.005)
    assert structure_test(classes * 1.0).verdict == "clusters"


def test_columns_that_vary_in_other_rows_only():
    rows = np.random.RandomState(0).permutation(400)
    X = np.zeros((400, 4))
    X[rows[300:304], np.arange(4)] = 1.0
    with pytest.raises(ValueError, match="two columns that vary"):
        structure_test(X)
    assert find_structure(X) is None


def test_backends_that_cannot_count(planted, rough):
    with joblib.parallel_config(backend="multiprocessing", n_jobs=2):
        assert same(quick(planted.X), rough)


def test_long_and_wide_tables_are_looked_at_in_part(monkeypatch, planted):
    monkeypatch.setattr("featsieve.defaults.STRUCTURE_SAMPLES", 50)
    monkeypatch.setattr("featsieve.defaults.STRUCTURE_ENTRIES", 1000)
    found = quick(planted.X)
    assert (found.n_samples, found.n_features) == (50, 20)
    assert "50 of 80 rows and 20 of 30 columns were looked at" in found.sentence


def test_progress_is_told(planted, capsys):
    quick(planted.X, verbose=1)
    told = capsys.readouterr().out.splitlines()
    steps = [line for line in told if "copies with" in line]
    assert len(steps) == 2
    assert "3 copies with permuted columns, of 80 x 30" in steps[0]
    assert "3 copies with the same correlations, of 80 x 30" in steps[1]
    assert sum(" of 3 copies" in line for line in told) >= 2


# Fits ---------------------------------------------------------------------------------------------


def test_a_fit_that_looks_for_a_number_tests_once_and_warns():
    noise = np.random.default_rng(1).standard_normal((60, 20))
    for sieve in (JASFS(3, random_state=0), AutoSelector(MaxVariance()), LaplacianScore("auto")):
        with pytest.warns(NoStructureWarning) as caught:
            sieve.fit(noise)
        assert [str(w.message) for w in caught] == [f"{sieve.structure_.sentence} {WHAT_TO_DO}"]
        assert caught[0].filename == __file__
        assert same(sieve.structure_, structure_test(noise, n_tables=3, level=0.25))


def test_a_fit_with_given_numbers_does_not_test(planted):
    assert not hasattr(JASFS(3, n_features_to_select=5).fit(planted.X), "structure_")
    known = JASFS(3, init=planted.labels).fit(planted.X)  # clusters of the user
    assert not hasattr(known, "structure_")
    with untested():
        assert not hasattr(LaplacianScore("auto").fit(planted.X), "structure_")


def test_only_one_of_many_fits_tests(planted, monkeypatch):
    asked, answer = [], structure_test(planted.X, random_state=0)

    def ask(X, **_):
        asked.append(X.shape)
        return answer

    monkeypatch.setattr("featsieve.criteria.structure.find_structure", ask)
    StabilitySelection(LaplacianScore("auto"), n_subsamples=3, random_state=0).fit(planted.X)
    assert asked == [(80, 30)]
    AutoSelector(JASFS(3, random_state=0)).fit(planted.X)
    assert asked == 2 * [(80, 30)]


def test_small_tables_are_fitted_without_a_test_and_that_is_said():
    X = np.random.default_rng(0).standard_normal((9, 4))
    with pytest.warns(NoStructureWarning, match="fewer than 10 rows, or than two columns"):
        assert LaplacianScore("auto").fit(X).structure_ is None
    assert find_structure(X) is None


# Mistakes -----------------------------------------------------------------------------------------


def test_mistakes_get_an_answer(planted):
    X = planted.X
    with pytest.raises(ValueError, match="All 3 columns of X are constant"):
        structure_test(np.ones((80, 3)))
    for small, got in ((X[:9], "9 rows and 30"), (X[:, :1], "80 rows and 1")):
        with pytest.raises(ValueError, match=f"at least 10 rows and two columns .* X has {got}"):
            structure_test(small)
    with pytest.raises(ValueError, match=r"structure_test does not accept missing.*[Ii]mpute"):
        structure_test(np.where(X > 2.0, np.nan, X))
    for wrong in ({"n_tables": 0}, {"n_tables": 2.5}, {"level": 0.0}, {"level": "low"}):
        with pytest.raises((ValueError, TypeError), match=next(iter(wrong))):
            structure_test(X, **wrong)


def test_what_is_clear_needs_no_more_comparisons(monkeypatch):
    """Components alone tell columns from permuted ones, valleys from rotated ones."""
    X = make_planted(100, 40, n_informative=20, n_clusters=4, signal=3.0, random_state=0).X
    quickly, taken = measured(X, monkeypatch)
    assert taken == ["energies", "valleys"]
    assert min(quickly.value_permuted, quickly.value_rotated) > defaults.CLEARLY_BEYOND
    monkeypatch.setattr(defaults, "CLEARLY_BEYOND", np.inf)
    whole, taken = measured(X, monkeypatch)
    groupings = ["agreements", "agreements", "agreements_in_parts"]
    assert taken == ["energies", *groupings, "valleys", *groupings]
    for found in (quickly, whole):
        assert (found.verdict, found.p_permuted, found.p_rotated) == ("clusters", 0.05, 0.05)
    # one of the measures is at most as far beyond the copies, which are the same ones
    assert whole.value_permuted >= quickly.value_permuted


@pytest.mark.whole_structure_test
def test_what_is_close_is_decided_by_more_copies(monkeypatch):
    """The p-value is that of 99 copies, unless more than three of the first 19 reach the table."""
    tables = [three_on_a_line(seed, n=60, apart=1.8) for seed in (0, 1)]
    close, far = (find_structure(X) for X in tables)
    monkeypatch.setattr(defaults, "CLOSE_LEVELS", 0)
    first, again = (find_structure(X) for X in tables)
    assert first.p_rotated <= 0.2 < again.p_rotated
    assert (len(first.null_rotated), len(close.null_rotated)) == (19, 99)
    n_beyond = np.count_nonzero(close.null_rotated >= close.value_rotated)
    assert close.p_rotated == pytest.approx((1 + n_beyond) / 100)
    assert far.summary() == again.summary()


def measured(X, monkeypatch):
    """Return the test of a table, and which measures it took of the table itself."""
    taken = []
    with monkeypatch.context() as patched:
        for name in ("energies", "valleys", "agreements", "agreements_in_parts"):
            plain = getattr(structure, name)

            def counted(R, rng, *, name=name, plain=plain, **settings):
                taken.append(name)
                return plain(R, rng, **settings)

            patched.setattr(structure, name, counted)
        found = find_structure(X, n_tables=19)
    assert len(taken) % 20 == 0
    return found, taken[::20]


def test_the_random_state_of_a_fit_is_that_of_its_test():
    X = make_planted(60, 20, n_informative=8, n_clusters=3, signal=3.0, random_state=0).X
    fitted = {seed: JASFS(3, random_state=seed).fit(X).structure_ for seed in (0, 1, None)}
    of = {seed: one.null_rotated.tolist() for seed, one in fitted.items()}
    assert of[1] == find_structure(X, random_state=1).null_rotated.tolist()
    assert of[0] == of[None] != of[1]
