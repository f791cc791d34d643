import itertools
import math

import numpy as np
import pytest

from featsieve.report.bench.scores import (
    expected_best,
    pooled_std,
    search_budgets,
    track_rows,
    track_scores,
)
from featsieve.report.bench.summary import summarise_bench
from tests.report.synthetic_rows import frame, row

KEY = ("breast3", "NDFS")


def grid_row(acc, nmi, **given):
    given = {"support": str(given)} | given  # each setting selects something else
    return row(experiment="grid", acc_mean=acc, acc_std=0.01, nmi_mean=nmi, nmi_std=0.02,
               **given)  # fmt: skip


def test_the_oracle_picks_by_acc_for_acc_and_by_nmi_for_nmi():
    rows = frame(
        [
            grid_row(0.7, 0.2, params='{"alpha": 1.0}', n_features=50),
            grid_row(0.6, 0.5, params='{"alpha": 2.0}', n_features=100),
            grid_row(0.5, 0.4, params='{"alpha": 1.0}', n_features=100),
        ]
    )
    acc = track_scores(rows, "oracle", metric="acc")[KEY]
    nmi = track_scores(rows, "oracle", metric="nmi")[KEY]
    assert (acc.mean, acc.std, acc.n_features) == (0.7, 0.01, 50)
    assert (nmi.mean, nmi.std, nmi.n_features) == (0.5, 0.02, 100)


def test_every_seed_searches_for_itself():
    rows = frame(
        [
            grid_row(0.9, 0.1, params='{"ranking": 0}', seed=0),
            grid_row(0.1, 0.1, params='{"ranking": 1}', seed=0),
            grid_row(0.2, 0.1, params='{"ranking": 0}', seed=1),
            grid_row(0.5, 0.1, params='{"ranking": 1}', seed=1),
        ]
    )
    score = track_scores(rows, "oracle")[KEY]
    assert score.mean == pytest.approx(0.7)  # of 0.9 and 0.5, not 0.9
    assert sorted(track_rows(rows, "oracle")["acc_mean"]) == [0.5, 0.9]


def test_label_free_and_default_never_look_at_scores():
    # Two candidates cannot be there; what is there is taken, however bad it is.
    rows = [
        row(experiment="label-free", acc_mean=0.1, acc_std=0.0, n_features=7, criterion=0.9),
        row(experiment="default", acc_mean=0.2, acc_std=0.0, n_features=9, criterion=0.1),
        grid_row(0.99, 0.99, n_features=50),
    ]
    table = frame(rows)
    assert track_scores(table, "label-free")[KEY].mean == 0.1
    assert track_scores(table, "default")[KEY].mean == 0.2
    # Scores of other tracks can be anything, or missing.
    table.loc[table["experiment"] == "grid", ["acc_mean", "nmi_mean"]] = np.nan
    assert track_scores(table, "label-free")[KEY].n_features == 7
    assert KEY not in track_scores(table, "oracle")


def test_failed_cells_and_missing_scores_are_left_out():
    rows = frame(
        [
            grid_row(0.4, 0.4, n_features=50),
            row(experiment="grid", status="failed", reason="no", params='{"alpha": 3}'),
            row(experiment="grid", status="done", params='{"alpha": 4}', n_features=50),
            row(experiment="grid", dataset="lung", status="timeout", acc_mean=0.9),
        ]
    )
    scores = track_scores(rows, "oracle")
    assert set(scores) == {KEY}
    assert scores[KEY].mean == 0.4
    assert search_budgets(rows) == {KEY: 1}


def test_all_features_have_the_same_score_in_every_track():
    rows = frame(
        [
            row(experiment="default", method="Baseline", selector="AllFeatures", control=True,
                acc_mean=0.3, acc_std=0.1, n_features=4869),
            grid_row(0.5, 0.5),
        ]
    )  # fmt: skip
    for track in ("default", "label-free", "oracle"):
        assert track_scores(rows, track)["breast3", "Baseline"].mean == 0.3


def test_the_budget_of_a_search_are_the_selections_of_one_seed():
    random = [
        grid_row(0.1, 0.1, method="Random", selector="RandomSelector", params=f'{{"ranking": {i}}}',
                 n_features=count, seed=seed)
        for seed in (0, 1) for i in range(9) for count in (50, 100, 200)
    ]  # fmt: skip
    published = [
        grid_row(0.1, 0.1, method="JASFS", params=f'{{"sparsity": {v}}}',
                 n_features=i, own_count=True)
        for i, v in enumerate((1e-3, 1e-2))
    ]  # fmt: skip
    budgets = search_budgets(frame(random + published))
    assert budgets == {("breast3", "Random"): 27, ("breast3", "JASFS"): 2}
    same = [{**one, "support": "the same"} for one in published]
    assert search_budgets(frame(same)) == {("breast3", "JASFS"): 1}  # settings that change nothing


def test_seeds_are_averaged_with_their_deviations():
    first, second = np.array([0.5, 0.6, 0.7]), np.array([0.7, 0.9, 0.8])
    rows = frame(
        [
            # deviations as the protocol writes them: those of a sample
            row(experiment="default", seed=i, acc_mean=runs.mean(), acc_std=runs.std(ddof=1),
                acc_runs=runs, n_features=10 + i)
            for i, runs in enumerate((first, second))
        ]
    )  # fmt: skip
    score = track_scores(rows, "default")[KEY]
    pooled = np.concatenate([first, second])
    assert score.mean == pytest.approx(pooled.mean())
    assert score.std == pytest.approx(pooled.std(ddof=1))
    assert (score.n_runs, score.n_features) == (3, 10.5)


@pytest.mark.parametrize("shape", [(1, 10), (3, 1), (4, 7)])
def test_pooled_deviation_is_that_of_all_runs(shape):
    runs = np.random.default_rng(3).random(shape)
    stds = runs.std(axis=1, ddof=1) if shape[1] > 1 else np.zeros(shape[0])
    found = pooled_std(runs.mean(axis=1), stds, n_runs=shape[1])
    assert found == pytest.approx(runs.std(ddof=1))


# What chance reaches -----------------------------------------------------------------------------


def score(method, acc, **given):
    given = {"n_features": 50, "support": str(given)} | given
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


def survival_of(rows):
    return summarise_bench(frame(rows)).survival.set_index("method")


def test_who_exceeds_random_selections_with_its_own_budget():
    few = [score("UDFS", v, n_features=k) for v, k in ((0.32, 50), (0.301, 100))]
    found = survival_of([*random_rows(0.633), *few, score("NDFS", 0.64), score("RUFS", 0.3)])
    assert found["allowed"].to_dict() == {"NDFS": 1, "UDFS": 2, "RUFS": 1}
    # one selection: the mean of all; two: the only good one is among them with 2/294
    assert found["margin"]["NDFS"] == pytest.approx(0.64 - (0.3 + 0.333 / 294))
    assert found["margin"]["UDFS"] == pytest.approx(0.32 - (0.3 + 0.333 * 2 / 294))
    assert list(found.index[found["margin"] <= 0]) == ["RUFS"]


def test_seeds_of_the_control_are_averaged_like_those_of_the_oracle():
    random = random_rows(0.7, n=20, seed=0) + random_rows(0.5, n=20, seed=1)
    methods = [score("NDFS", 0.6, n_features=k) for k in range(1, 21)]
    found = survival_of(random + methods)
    assert found["margin"]["NDFS"] == pytest.approx(0.0)  # all of both: 0.7 and 0.5


def test_without_a_random_control_nothing_is_compared_with_chance():
    assert len(survival_of([score("NDFS", 0.64)])) == 0
