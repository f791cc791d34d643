"""keep, exclude, groups, costs and budget: what users say, and what every selector makes of it."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import featsieve
from featsieve import (
    JASFS,
    AutoSelector,
    MaxVariance,
    StabilitySelection,
    load_model,
    save_model,
    selectors,
)
from featsieve.choices import significant_units
from featsieve.constraints import in_positions, make_offer
from featsieve.criteria.structure import untested
from featsieve.datasets import make_planted
from featsieve.report import write_selection_report
from featsieve.tuning import LabelFreeSearchCV, explain, feature_qvalues

PLANTED = make_planted(n_samples=90, n_features=30, n_informative=6, n_clusters=3, random_state=0)
NAMES = [f"g{j}" for j in range(30)]
X = pd.DataFrame(PLANTED.X, columns=NAMES)
GROUPS = {"pair": ["g0", "g1"], "trio": ["g7", "g8", "g9"]}


def chosen(sieve) -> set[str]:
    return set(np.array(NAMES)[sieve.get_support()])


def jasfs(**settings) -> JASFS:
    """Return JASFS with one hypothesis: what may be selected is the same for one and many."""
    return JASFS(3, random_state=0, **{"init": "k-means", **settings})


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", selectors.__all__)
def test_every_selector_keeps_leaves_out_and_buys_together(name):
    kind = getattr(featsieve, name)
    sieve = kind(n_features_to_select=5, keep=["g29"], exclude="g2[0-4]", groups=GROUPS).fit(X)
    names = chosen(sieve)
    units = {next((g for g, m in GROUPS.items() if one in m), one) for one in names}
    assert len(units) == 5
    assert "g29" in names
    assert not names & {"g20", "g21", "g22", "g23", "g24"}
    for members in GROUPS.values():
        assert set(members) <= names or not set(members) & names
    assert sieve.ranking_[29] == 1
    assert sorted(sieve.ranking_) == list(range(1, 31))
    assert sieve.n_features_selected_ == len(names)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", selectors.__all__)
def test_every_selector_spends_the_budget(name):
    costs = dict(zip(NAMES, np.linspace(0.5, 4.0, 30), strict=True))
    kind = getattr(featsieve, name)
    settings = {} if name != "JASFS" else {"n_clusters": 3}
    sieve = kind(budget=6.0, costs=costs, keep=["g28"], **settings).fit(X)
    spent = sum(costs[one] for one in chosen(sieve))
    assert "g28" in chosen(sieve)
    assert spent <= 6.0
    assert 6.0 - spent < min(costs[one] for one in set(NAMES) - chosen(sieve))


def test_without_constraints_nothing_changes():
    plain = jasfs(n_features_to_select=6).fit(X)
    same = jasfs(n_features_to_select=6, groups={}, costs=np.ones(30)).fit(X)
    assert np.array_equal(plain.ranking_, same.ranking_)
    assert np.allclose(plain.scores_, same.scores_)
    assert np.array_equal(plain.labels_, same.labels_)
    budget = jasfs(budget=6).fit(X)
    assert np.array_equal(plain.support_, budget.support_)


def test_clusters_do_not_depend_on_constraints():
    plain = jasfs(n_features_to_select=4).fit(X)
    other = jasfs(n_features_to_select=4, keep="g2?", exclude=["g0"]).set_params(
        n_features_to_select=12
    )
    assert np.array_equal(plain.labels_, other.fit(X).labels_)


def test_the_others_complement_what_is_kept():
    twin = X.assign(copy=X["g0"] + 1e-3 * np.random.default_rng(0).standard_normal(len(X)))
    best = NAMES[int(np.argmin(jasfs(n_features_to_select=2).fit(X).ranking_))]
    twin["copy"] = X[best] * 2.0 + 1.0
    sieve = jasfs(n_features_to_select=2, keep=["copy"], ridge=0.01).fit(twin)
    assert best not in sieve.get_feature_names_out()


def test_ways_to_name_columns_agree():
    by_name = jasfs(n_features_to_select=5, keep=["g3", "g5"], exclude=["g1"]).fit(X)
    mask = np.isin(NAMES, ["g3", "g5"])
    for keep, exclude in (([3, 5], [1]), (mask, np.array([1])), (pd.Index(["g3", "g5"]), "g1")):
        same = jasfs(n_features_to_select=5, keep=keep, exclude=exclude).fit(X)
        assert np.array_equal(same.ranking_, by_name.ranking_)
    positions = in_positions(NAMES, {"keep": ["g3", "g5"], "exclude": "g1", "budget": None})
    same = jasfs(n_features_to_select=5, **positions).fit(PLANTED.X)
    assert np.array_equal(same.ranking_, by_name.ranking_)
    groups = in_positions(NAMES, {"groups": GROUPS, "costs": {"pair": 2.0, "g4": 3.0}})
    assert groups["costs"] == {"pair": 2.0, 4: 3.0}


def test_automatic_numbers_honour_constraints():
    with untested():
        sieve = jasfs(keep=["g29"], groups=GROUPS, exclude=["g2"]).fit(X)
    names = chosen(sieve)
    assert "g29" in names
    assert "g2" not in names
    ends = sieve._offer.ends(sieve.path_.order)
    assert set(sieve.path_.curve.sizes) <= set(ends)
    with untested():
        few = jasfs(n_features_to_select="auto", budget=3, keep=["g29"]).fit(X)
        auto = AutoSelector(MaxVariance(keep=["g29"], groups=GROUPS)).fit(X)
    assert few.n_features_selected_ <= 3
    assert "g29" in chosen(auto)


def test_meta_estimators_honour_constraints():
    stable = StabilitySelection(
        jasfs(n_features_to_select=4, keep=["g29"], exclude=["g0"]), n_subsamples=4, random_state=0
    ).fit(X)
    assert "g29" in chosen(stable)
    assert stable.selection_frequency_[0] == 0.0
    search = LabelFreeSearchCV(
        jasfs(n_features_to_select=4, keep=["g29"]), {"ridge": [1.0, 10.0]}, cv=2
    ).fit(X)
    assert search.best_estimator_.get_support()[29]


def test_q_values_and_significant_features():
    sieve = jasfs(n_features_to_select=3, keep=["g29"]).fit(X)
    plain = jasfs(n_features_to_select=3).fit(X)
    with_it, without = (
        feature_qvalues(one, X, n_refits=2, random_state=0) for one in (sieve, plain)
    )
    assert np.array_equal(with_it.qvalues, without.qvalues)  # the same clusters
    strong = make_planted(80, 60, n_informative=12, n_clusters=3, signal=3.0, random_state=1)
    left_out, *others = np.flatnonzero(strong.informative)
    noise = np.flatnonzero(~strong.informative)[0]
    settings = {"init": "k-means", "keep": [noise], "exclude": [left_out]}
    found = jasfs(n_features_to_select="significant", **settings).fit(strong.X)
    assert set(np.flatnonzero(found.support_)) == {noise, *others}


def test_other_forms_of_tables_agree():
    torch = pytest.importorskip("torch")
    settings = {"n_features_to_select": 5, "keep": [29], "exclude": [1], "groups": {"t": [7, 8]}}
    dense = jasfs(**settings).fit(PLANTED.X)
    for table in (sp.csr_array(PLANTED.X), torch.asarray(PLANTED.X)):
        assert np.array_equal(jasfs(**settings).fit(table).support_, dense.support_)


def test_models_are_saved_with_their_constraints(tmp_path):
    sieve = jasfs(n_features_to_select=5, keep=["g29"], groups=GROUPS, costs={"g3": 2.0}).fit(X)
    save_model(sieve, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    assert np.array_equal(again.transform(X), sieve.transform(X))
    assert again.certify(X) == sieve.certify(X)
    assert clone(again).fit(X).get_support()[29]


def test_a_pattern_without_columns_is_said():
    with pytest.warns(UserWarning, match=r"no column is like 'MT-\*'"):
        jasfs(n_features_to_select=3, exclude="MT-*").fit(X)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"keep": ["g1"], "exclude": ["g1", "g2"]}, "keep and exclude both name 'g1'"),
        ({"keep": ["G1"]}, r"no column 'G1' \(did you mean 'g1'"),
        ({"exclude": ["gene"]}, "no column 'gene'"),
        ({"keep": "zz*"}, "no column is like"),
        ({"keep": [30]}, "columns are 0 to 29"),
        ({"keep": [True, False]}, "mask of 2 values"),
        ({"keep": [1.5]}, "names, positions"),
        ({"keep": [[1, 2]]}, "must list columns"),
        ({"exclude": np.ones(30, dtype=bool)}, "leaves no column"),
        ({"groups": {"a": ["g1", "g2"], "b": ["g2", "g3"]}}, "'a' and 'b' both have 'g2'"),
        ({"groups": {"a": []}}, "has no columns"),
        ({"groups": [None]}, "a group .or None. for each"),
        ({"groups": {"a": ["g1", "g2"]}, "exclude": ["g1"]}, "bought as a whole"),
        ({"costs": [1.0]}, "1 prices for 30 columns"),
        ({"costs": {"g1": -1.0}}, "positive numbers"),
        ({"costs": {"g1": "a"}}, "positive numbers"),
        ({"costs": {"h1": 1.0}}, "no column 'h1'"),
        ({"keep": [f"g{j}" for j in range(7)]}, "keep names 7 features"),
        ({"budget": 3.0}, "in place of a number"),
        ({"budget": 2.0, "keep": ["g1", "g2", "g3"], "n_features_to_select": None}, "cost 3"),
        ({"budget": 0.5, "n_features_to_select": None}, "buys nothing"),
        ({"budget": -1.0, "n_features_to_select": None}, "budget"),
        ({"keep": ["g1"], "solver": "paper"}, "solver='joint'"),
        ({"exclude": "g[1-9]*", "n_features_to_select": 5}, "between 1 and 1"),
    ],
)
def test_contradictions_are_refused_with_the_reason(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        jasfs(**{"n_features_to_select": 6, **settings}).fit(X)


def test_names_need_a_table_that_has_them():
    with pytest.raises(ValueError, match="the table has no names"):
        jasfs(n_features_to_select=3, keep=["g1"]).fit(PLANTED.X)


def test_a_kept_column_may_be_constant():
    table = X.assign(g4=0.0)
    sieve = jasfs(n_features_to_select=3, keep=["g4"]).fit(table)
    assert sieve.get_support()[4]
    assert np.isfinite(sieve.scores_).all()


def test_explain_and_the_report_say_what_was_constrained(tmp_path):
    sieve = jasfs(n_features_to_select=4, keep=["g29"], exclude=["g2"], groups=GROUPS).fit(X)
    facts = explain(sieve, X)
    by_name = dict(zip(facts["feature"], facts["reason"], strict=True))
    assert by_name["g29"] == "selected: to be kept"
    assert facts["status"][2] == "excluded"
    assert facts["bought_with"][7] == "g8, g9"
    assert np.isnan(facts["price"][2])
    page = tmp_path / "report.html"
    with untested():
        write_selection_report(sieve, X, page)
    text = page.read_text(encoding="utf-8")
    assert "to be kept" in text
    assert "g8, g9" in text
    plain = explain(jasfs(n_features_to_select=4, keep=["g29"]).fit(X), X)
    assert "price" not in plain


# What a reviewer has tried ------------------------------------------------------------------------


def test_a_series_is_read_by_its_names_in_any_order():
    names = [f"g{j}" for j in range(6)]
    prices = pd.Series([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], index=names)
    groups = pd.Series(["a", "a", pd.NA, "b", "b", pd.NA], index=names, dtype="string")
    one = make_offer(6, names, costs=prices, groups=groups)
    other = make_offer(6, names, costs=prices[::-1], groups=groups[::-1])
    np.testing.assert_array_equal(one.unit, [0, 0, 1, 2, 2, 3])
    np.testing.assert_array_equal(one.price, [3.0, 3.0, 9.0, 6.0])
    np.testing.assert_array_equal(other.unit, one.unit)
    np.testing.assert_array_equal(other.price, one.price)


def test_true_and_false_are_a_mask_whatever_holds_them():
    mask = np.array([True, False, False, True], dtype=object)
    np.testing.assert_array_equal(make_offer(4, keep=mask).kept_columns, [0, 3])
    with pytest.raises(ValueError, match="keep is a mask of 1 values"):
        make_offer(4, keep=True)


def test_a_group_costs_what_is_given_for_it_or_for_its_columns():
    assert make_offer(4, groups={"pair": [0, 1, 2]}, costs={0: 5.0}).price.tolist() == [5.0, 1.0]
    with pytest.raises(ValueError, match="costs has a price for 1, which is a group and a column"):
        make_offer(4, groups={1: [0, 1, 2]}, costs={1: 5.0})


def test_a_group_is_significant_as_a_whole_and_what_is_not_for_sale_takes_no_part():
    offer = make_offer(12, groups={"wide": list(range(10))}, exclude=[11])
    p = np.full(12, 0.5)
    p[0] = 0.02  # one of ten is that small by chance
    assert not significant_units(offer, p).any()
    p[:3] = 0.004
    assert np.flatnonzero(significant_units(offer, p)).tolist() == list(range(10))
    p[:], p[10], p[11] = 0.5, 0.04, 1e-6
    assert not significant_units(offer, p).any()
