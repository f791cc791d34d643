"""The indicators of a category are one variable: it counts once, whatever its number of levels."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import adjusted_rand_score

from featsieve import JASFS, LaplacianScore, defaults
from featsieve.arrays import ColumnScale, as_operator
from featsieve.arrays.scale import find_variables, one_column_each
from featsieve.criteria.n_clusters import count_clusters
from featsieve.hypotheses.lone import lone_columns
from featsieve.tuning import feature_qvalues

WINE = load_wine(as_frame=True)


def dummies(name, words):
    """Return the indicators of a category, and the group that they are."""
    table = pd.get_dummies(pd.Series(words).astype(str), prefix=name, dtype=float)
    return table, {name: list(table.columns)}


def test_groups_of_indicators_are_found_and_groups_of_measurements_are_not():
    rng = np.random.default_rng(0)
    table, _ = dummies("c", rng.integers(0, 3, 40))
    X = np.hstack([rng.standard_normal((40, 3)), 2.0 * table.to_numpy()])
    groups = [np.array([0, 1]), np.array([3, 4, 5])]
    assert find_variables(X, groups).tolist() == [0, 1, 2, 3, 3, 3]
    assert find_variables(X, groups[:1]) is None
    assert find_variables(np.abs(np.sign(X)), groups[:1]) is None  # rows with two non-zeros


def test_a_category_becomes_codes_by_frequency():
    words = ["b"] * 5 + ["a"] * 3 + ["c"] * 4
    table, _ = dummies("w", words)
    X = np.column_stack([np.arange(12.0), table])
    codes = one_column_each(X, np.array([0, 1, 1, 1]))
    assert codes[:, 0].tolist() == list(range(12))
    assert codes[:, 1].tolist() == [0] * 5 + [2] * 3 + [1] * 4


@pytest.mark.parametrize("kind", ["coin", "category"])
@pytest.mark.parametrize("seed", range(3))
def test_a_random_category_beside_wine_decides_nothing(kind, seed):
    n = len(WINE.data)
    rng = np.random.default_rng(seed)
    if kind == "coin":
        X, groups, columns = WINE.data.assign(coin=rng.integers(0, 2, n) * 1.0), None, ["coin"]
    else:
        extra, groups = dummies("five", rng.integers(0, 5, n))
        X, columns = pd.concat([WINE.data, extra], axis=1), list(extra)
    sieve = JASFS(3, n_features_to_select=3, groups=groups, random_state=0).fit(X)
    assert not sieve.support_[X.columns.isin(columns)].any()
    assert adjusted_rand_score(WINE.target, sieve.labels_) > 0.75
    count = count_clusters(X.to_numpy(), variables=sieve._variables)
    assert count.n_clusters == 3


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("load", [load_wine, load_iris])
def test_a_random_column_of_two_values_decides_no_cluster(load, share):
    X, y = load(return_X_y=True)
    mark = np.random.default_rng(0).permutation(np.arange(len(X)) < share * len(X))
    sieve = JASFS(3, n_features_to_select=2, random_state=0).fit(np.column_stack([X, mark]))
    assert adjusted_rand_score(y, sieve.labels_) > 0.8
    assert abs(adjusted_rand_score(mark, sieve.labels_)) < 0.05
    assert not sieve.support_[-1]


@pytest.mark.parametrize("load", [load_wine, load_iris])
def test_a_random_column_of_two_values_decides_no_cluster_inside_of_batches(load):
    X, _ = load(return_X_y=True)
    rng = np.random.default_rng(2)
    mark = rng.permutation(np.arange(len(X)) < 0.3 * len(X))
    batch = rng.integers(0, 3, len(X))
    sieve = JASFS(3, n_features_to_select=2, random_state=0)
    sieve.fit(np.column_stack([X + batch[:, None], mark]), batch=batch)
    assert sieve.lone_features_.tolist() == [X.shape[1]]
    assert abs(adjusted_rand_score(mark, sieve.labels_)) < 0.05
    assert not sieve.support_[-1]


@pytest.mark.parametrize("seed", [2, 3])
def test_a_random_column_of_two_values_beside_landmarks(seed, monkeypatch):
    monkeypatch.setattr(defaults, "N_LANDMARKS", 100)
    X, y = load_iris(return_X_y=True)
    mark = np.random.default_rng(seed).permutation(np.arange(len(X)) < 45)
    sieve = JASFS(3, n_features_to_select=2, random_state=0).fit(np.column_stack([X, mark]))
    assert sieve.n_landmarks_ == 100
    assert adjusted_rand_score(y, sieve.labels_) > 0.8


def test_a_tie_does_not_make_few_values():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 8))
    X[:, 0] += np.where(np.arange(150) % 2, 6.0, -6.0)
    X[1, 0] = X[3, 0]
    rounded = np.column_stack([X[:, 0].round(1), X[:, 1:]])
    for table in (X, rounded):
        operator = as_operator(table, scale="unit")
        assert lone_columns(operator, [np.arange(150) % 2], np.random.default_rng(0)) == []


def test_few_columns_that_go_along_are_company_among_thousands():
    rng = np.random.default_rng(0)
    coin = rng.permutation(np.arange(100) % 2)
    X = rng.standard_normal((100, 5000))
    X[:, 0], follows = coin, [coin]
    assert lone_columns(as_operator(X, scale="unit"), follows, np.random.default_rng(0)) == [0]
    X[:, 1:4] += 2.0 * coin[:, None]
    assert lone_columns(as_operator(X, scale="unit"), follows, np.random.default_rng(0)) == []


def test_hypotheses_that_explain_nothing_follow_no_constant_column():
    design = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    X = np.column_stack([np.ones(8), np.repeat(design, 2, axis=0)])
    assert len(JASFS(2, n_features_to_select=1, random_state=0).fit(X).labels_) == 8


def test_a_lone_category_is_left_out_as_a_whole():
    rng = np.random.default_rng(0)
    town, groups = rng.permutation(np.arange(150) % 3), np.arange(150) % 2
    answers = rng.integers(1, 6, (150, 5)) + 0.0  # five values each
    answers[:, 0] += groups

    def lone(labels, *columns, variables=(0, 1, 2, 3, 4, 5, 5, 5)):
        X = np.column_stack([answers, *columns])
        scale = ColumnScale("unit", np.array(variables))
        return lone_columns(as_operator(X, scale=scale), [labels], np.random.default_rng(0))

    assert lone(town, np.eye(3)[town]) == [5, 6, 7]
    assert lone(groups, np.eye(3)[town]) == []  # not followed
    answers[:, 1] += 2.0 * town
    assert lone(town, np.eye(3)[town]) == []  # an answer goes along
    mostly = rng.integers(0, 3, (150, 8))  # others have as few values
    assert lone(town, np.eye(3)[town], mostly, variables=(*range(6), 5, 5, *range(6, 14))) == []


def test_lone_columns_have_few_values_in_a_minority_and_no_company():
    rng = np.random.default_rng(0)
    coin, groups = rng.permutation(np.arange(120) % 2), np.arange(120) % 3
    noise = rng.standard_normal((120, 6))

    def lone(labels, *columns):
        X = np.column_stack([noise, *columns])
        return lone_columns(
            as_operator(X, scale="unit"), (labels, groups), np.random.default_rng(0)
        )

    follows = np.where(coin == 1, 1, 2 * (groups == 2))  # the coin decides it
    assert lone(follows, coin) == [6]
    assert lone(follows, coin) == lone(follows, coin, *np.zeros((9, 120)))  # constant ones
    assert lone(groups, coin) == []  # not followed
    assert lone(follows, coin, coin + rng.standard_normal(120)) == []  # another goes along
    assert lone(follows, coin + 0.01 * rng.standard_normal(120)) == []  # many values
    assert lone(follows, coin, *(noise > 0).T) == []  # as most of the columns


def test_company_that_only_batches_explain_is_none():
    rng = np.random.default_rng(0)
    batch = np.repeat([0, 1], 60)
    coin = (rng.random(120) < np.where(batch == 1, 0.8, 0.2)).astype(float)
    X = np.column_stack([rng.standard_normal((120, 6)) + 3.0 * batch[:, None], coin])
    X -= np.stack([X[batch == b].mean(axis=0) for b in (0, 1)])[batch]
    labels = [(X[:, -1] > 0).astype(int)]

    def lone(codes):
        return lone_columns(as_operator(X, scale="unit"), labels, np.random.default_rng(0), codes)

    assert lone(batch) == [6]
    assert lone(None) == [6]  # four values, which are as few among columns of many
    X[:, 0] = X[:, 1] + 0.1 * X[:, 0] + 3.0 * (X[:, -1] > 0)
    assert lone(batch) == []  # a column goes along


def test_without_the_group_the_same_category_decides_all():
    rng = np.random.default_rng(0)
    extra, _ = dummies("five", rng.integers(0, 5, len(WINE.data)))
    sieve = JASFS(5, n_features_to_select=3, random_state=0).fit(
        pd.concat([WINE.data, extra], axis=1)
    )
    assert sieve.support_[13:].any()


def planted(n=120, seed=0):
    """Return a table of categories of which three tell three groups, like the animals of a zoo."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    columns = {}
    for j in range(9):
        levels = 3 + j % 3
        own = (truth + j) % levels if j < 3 else rng.integers(0, levels, n)
        noise = rng.random(n) < 0.1
        columns[f"c{j}"] = np.where(noise, rng.integers(0, levels, n), own)
    parts = [dummies(name, words) for name, words in columns.items()]
    X = pd.concat([part for part, _ in parts], axis=1)
    return X, {name: own for _, group in parts for name, own in group.items()}, truth


def test_the_categories_that_tell_groups_are_found_and_bought_as_a_whole():
    X, groups, truth = planted()
    sieve = JASFS(3, n_features_to_select=3, groups=groups, random_state=0).fit(X)
    assert set(X.columns[sieve.support_]) == {c for g in ("c0", "c1", "c2") for c in groups[g]}
    assert adjusted_rand_score(truth, sieve.labels_) > 0.8
    scores = LaplacianScore(3, groups=groups, scale="unit").fit(X)
    assert scores._variables is not None


def test_columns_of_a_category_have_one_q_value():
    X, groups, _ = planted(60)
    sieve = JASFS(3, n_features_to_select=3, groups=groups, init="k-means", random_state=0).fit(X)
    found = feature_qvalues(sieve, X, n_refits=3, random_state=0)
    for columns in groups.values():
        assert len(set(found.qvalues[X.columns.isin(columns)])) == 1


def test_variables_may_be_numbered_one_after_the_other():
    """As those of an encoded table are; a fit numbers them by their first columns."""
    table, _ = dummies("w", ["b", "a", "c"] * 4)
    X = np.column_stack([table, np.arange(12.0), -np.arange(12.0)])
    by_first = one_column_each(X, np.array([0, 0, 0, 3, 4]))
    np.testing.assert_array_equal(one_column_each(X, np.array([0, 0, 0, 1, 2])), by_first)
    assert by_first[:, 2].tolist() == (-np.arange(12.0)).tolist()


def test_with_one_lone_column_all_others_are_left_out():
    """They would be followed one after another, each in a search of its own."""
    rng = np.random.default_rng(1)
    coins = rng.integers(2, size=(120, 3)).astype(float)
    X = np.column_stack([rng.standard_normal((120, 8)), coins])
    X[:, 0] += 2.0 * coins[:, 2]  # one has company

    def lone(labels):
        return lone_columns(as_operator(X, scale="unit"), [labels], np.random.default_rng(0))

    assert lone(coins[:, 0].astype(int)) == [8, 9]
    assert lone(coins[:, 2].astype(int)) == []


def test_groups_of_people_who_give_the_same_answers_are_joined():
    """A sixth of them answer all questions alike: neighbours of such rows are copies alone."""
    found = []
    for seed in range(4):
        rng = np.random.default_rng([16, seed])
        group, usual = rng.integers(0, 3, 300), rng.random((3, 16)) < 0.5
        X = (usual[group] ^ (rng.random((300, 16)) < 0.1)).astype(float)
        sieve = JASFS(3, n_features_to_select=8, random_state=0).fit(X)
        found.append(adjusted_rand_score(group, sieve.labels_))
    assert np.mean(found) > 0.8  # 0.71 where pieces are not joined
