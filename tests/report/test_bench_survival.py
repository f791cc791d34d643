from featsieve.report.bench_summary import summarise_bench
from tests.report.synthetic_rows import frame, row


def score(method, acc, **given):
    return row(experiment="grid", method=method, acc_mean=acc, nmi_mean=acc, n_features=50, **given)


def random_rows(best, dataset="breast3", n=294):
    about = {"selector": "RandomSelector", "control": True, "dataset": dataset}
    values = [best if i == 17 else 0.3 for i in range(n)]
    return [score("Random", v, params=f'{{"ranking": {i}}}', **about) for i, v in enumerate(values)]


def test_who_exceeds_random_rankings_with_the_same_budget():
    rows = frame([*random_rows(0.633), score("NDFS", 0.64), score("UDFS", 0.633),
                  score("RUFS", 0.5)])  # fmt: skip
    (entry,) = summarise_bench(rows).survival
    assert entry.accuracy == 0.633
    assert entry.budget.rankings == 294
    assert entry.above == ("NDFS",)
    assert entry.not_above == ("UDFS", "RUFS")  # equal is not above
    # the paper's own table: only JASFS (63.37) exceeds 63.30
    assert len(entry.published_not_above) == 10
    assert "JASFS" not in entry.published_not_above


def test_published_numbers_are_not_compared_where_the_data_differ():
    rows = frame([*random_rows(0.6, "palm"), score("NDFS", 0.64, dataset="palm")])
    (entry,) = summarise_bench(rows).survival
    assert entry.published_not_above is None


def test_without_a_random_control_nothing_is_said():
    assert summarise_bench(frame([score("NDFS", 0.64)])).survival == ()
