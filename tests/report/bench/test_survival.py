import itertools
import math

import numpy as np
import pytest

from featsieve.report.bench.summary import summarise_bench
from featsieve.report.bench.survival import expected_best
from tests.report.synthetic_rows import frame, row


def score(method, acc, **given):
    given = {"n_features": 50} | given
    return row(experiment="grid", method=method, acc_mean=acc, nmi_mean=acc, **given)


def random_rows(best, dataset="breast3", n=294, **given):
    about = {"selector": "RandomSelector", "control": True, "dataset": dataset} | given
    values = [best if i == 17 else 0.3 for i in range(n)]
    return [score("Random", v, params=f'{{"ranking": {i}}}', **about) for i, v in enumerate(values)]


@pytest.mark.parametrize("m", range(1, 9))
def test_expected_best_is_the_mean_over_all_subsets(m):
    values = np.random.default_rng(m).random(7).round(1)  # with ties
    subsets = itertools.combinations(values, min(m, len(values)))
    assert expected_best(values, m) == pytest.approx(np.mean([max(s) for s in subsets]))


def test_expected_best_of_many_agrees_with_binomial_coefficients():
    values = np.sort(np.random.default_rng(0).random(400))
    for m in (1, 8, 56, 392, 400):
        exact = sum(
            float(v) * (math.comb(i, m - 1) / math.comb(400, m)) for i, v in enumerate(values)
        )
        assert expected_best(values, m) == pytest.approx(exact, rel=1e-12)


def test_expected_best_of_nothing_is_an_error():
    with pytest.raises(ValueError, match="at least 1"):
        expected_best([0.5], 0)


def test_who_exceeds_random_selections_with_its_own_budget():
    few = [score("UDFS", v, n_features=k) for v, k in ((0.32, 50), (0.301, 100))]
    rows = frame([*random_rows(0.633), *few, score("NDFS", 0.64), score("RUFS", 0.3)])
    (entry,) = summarise_bench(rows).survival
    assert entry.allowed == {"NDFS": 1, "UDFS": 2, "RUFS": 1}
    # one selection: the mean of all; two: the only good one is among them with 2/294
    assert entry.expected["NDFS"] == pytest.approx(0.3 + 0.333 / 294)
    assert entry.expected["UDFS"] == pytest.approx(0.3 + 0.333 * 2 / 294)
    assert entry.above == ("UDFS", "NDFS")
    assert entry.not_above == ("RUFS",)


def test_who_exceeds_the_best_of_all_random_selections():
    rows = frame([*random_rows(0.633), score("NDFS", 0.64), score("UDFS", 0.633),
                  score("RUFS", 0.5)])  # fmt: skip
    (entry,) = summarise_bench(rows).survival
    assert entry.accuracy == 0.633
    assert entry.budget.rankings == 294
    assert entry.above_all == ("NDFS",)
    assert entry.not_above_all == ("UDFS", "RUFS")  # equal is not above
    # the paper's own table: only JASFS (63.37) exceeds 63.30
    assert len(entry.published_not_above) == 10
    assert "JASFS" not in entry.published_not_above


def test_seeds_of_the_control_are_averaged_like_those_of_the_oracle():
    random = random_rows(0.7, n=20, seed=0) + random_rows(0.5, n=20, seed=1)
    methods = [score("NDFS", 0.6, n_features=k) for k in range(1, 21)]
    (entry,) = summarise_bench(frame(random + methods)).survival
    assert entry.expected["NDFS"] == pytest.approx(0.6)  # all of both: 0.7 and 0.5
    assert entry.accuracy == pytest.approx(0.6)


def test_all_features_are_one_selection():
    every = row(experiment="default", method="Baseline", selector="AllFeatures", control=True,
                acc_mean=0.5, n_features=4869)  # fmt: skip
    (entry,) = summarise_bench(frame([*random_rows(0.633), every])).survival
    assert entry.allowed == {"Baseline": 1}
    assert entry.above == entry.not_above == ()  # a control is nobody's rival


@pytest.mark.parametrize("name", ["palm", "lung"])
def test_published_numbers_are_not_compared_where_the_data_differ(name):
    rows = frame([*random_rows(0.6, name), score("NDFS", 0.64, dataset=name)])
    (entry,) = summarise_bench(rows).survival
    assert entry.published_not_above is None


def test_without_a_random_control_nothing_is_said():
    assert summarise_bench(frame([score("NDFS", 0.64)])).survival == ()


def test_an_unfinished_control_is_no_control():
    rows = frame([*random_rows(0.6), score("NDFS", 0.64)])
    about = {"dataset": "breast3", "method": "Random", "experiment": "grid"}
    planned = dict.fromkeys([*rows["cell"], "to come"], about)
    assert summarise_bench(rows, planned=planned).survival == ()
