import numpy as np
import pytest
from scipy.stats import rankdata

from featsieve.report.bench.summary import (
    datasets_of,
    methods_of,
    summarise_bench,
)
from tests.report.synthetic_rows import frame, row


def default(method, dataset, acc, **given):
    return row(experiment="default", method=method, dataset=dataset, acc_mean=acc, nmi_mean=acc,
               n_features=5, own_count=True, **given)  # fmt: skip


def test_ranks_agree_with_scipy():
    names, sets = ("UDFS", "NDFS", "RUFS", "AUFS"), ("brain", "lung", "nci", "ORL")
    table = np.random.default_rng(0).random((4, 4))
    rows = frame([default(m, d, table[i, j]) for i, d in enumerate(sets)
                  for j, m in enumerate(names)])  # fmt: skip
    ranks = summarise_bench(rows).tracks["default"].ranks["acc"]
    expected = rankdata(-table, axis=1).mean(axis=0)
    found = dict(zip(ranks.names, ranks.average_ranks, strict=True))
    assert [found[name] for name in names] == pytest.approx(expected)


def test_a_failure_is_ranked_last_and_what_was_not_run_is_not_ranked():
    sets = ("brain", "lung", "nci")
    rows = [default(m, d, 0.5 + 0.1 * i) for i, m in enumerate(("UDFS", "NDFS", "RUFS"))
            for d in sets]  # fmt: skip
    rows += [default("AUFS", d, 0.9) for d in sets[:2]]
    rows += [row(experiment="default", method="AUFS", dataset="nci", status="failed", reason="no")]
    rows += [default("USFS", "brain", 0.95)]
    track = summarise_bench(frame(rows)).tracks["default"]
    ranks = track.ranks["acc"]
    found = dict(zip(ranks.names, ranks.average_ranks, strict=True))
    assert found["AUFS"] == pytest.approx((1 + 1 + 4) / 3)
    assert "USFS" not in found
    assert track.unranked == ("USFS",)


def test_all_features_alone_are_no_track():
    rows = [default("AllFeatures", "brain", 0.5), default("UDFS", "brain", 0.6)]
    assert list(summarise_bench(frame(rows)).tracks) == ["default"]
    assert list(summarise_bench(frame(rows[:1])).tracks) == ["default"]


def test_a_method_whose_whole_grid_fails_is_last_without_labels_too():
    sets, names = ("brain", "lung", "nci"), ("UDFS", "NDFS", "RUFS")
    rows = [
        row(experiment=e, method=m, dataset=d, acc_mean=0.5 + 0.1 * i, nmi_mean=0.5, n_features=5)
        for e in ("grid", "label-free") for i, m in enumerate(names) for d in sets
    ]  # fmt: skip
    gone = [r["dataset"] == "nci" and r["method"] == "RUFS" for r in rows]
    rows = [r for r, drop in zip(rows, gone, strict=True) if not drop]
    rows.append(row(method="RUFS", dataset="nci", status="timeout", reason="slow"))
    summary = summarise_bench(frame(rows))
    for name in ("label-free", "oracle"):
        track = summary.tracks[name]
        assert track.unranked == ()
        assert track.missing == {("nci", "RUFS"): "timeout"}
        ranks = dict(zip(track.ranks["acc"].names, track.ranks["acc"].average_ranks, strict=True))
        assert ranks["RUFS"] == pytest.approx((1 + 1 + 3) / 3)


def test_planted_shares_of_the_oracle_are_those_of_its_choice():
    rows = frame(
        [
            row(acc_mean=acc, planted_precision=p, planted_recall=p / 2, n_features=5,
                params=f'{{"alpha": {p}}}')
            for acc, p in ((0.5, 1.0), (0.9, 0.25), (0.7, 0.5))
        ]
    )  # fmt: skip
    track = summarise_bench(rows).tracks["oracle"]
    assert track.means("planted_precision") == {("breast3", "NDFS"): 0.25}
    assert track.means("planted_recall") == {("breast3", "NDFS"): 0.125}


def test_no_rows_is_an_error_that_names_the_command():
    with pytest.raises(ValueError, match="featsieve bench run"):
        summarise_bench(frame([]))


def test_methods_in_order_controls_first_then_the_papers():
    selectors = {
        "Baseline": "AllFeatures", "JASFS": "JASFS", "JASFS (published)": "JASFS",
        "L-score": "LaplacianScore", "MCFS": "MCFS", "MaxVariance": "MaxVariance",
        "Random": "RandomSelector", "UDFS": "UDFS",
    }  # fmt: skip
    controls = ("Baseline", "MaxVariance", "Random")
    rows = frame(
        [row(method=name, selector=selector, control=name in controls,
             params='{"solver": "paper"}' if "published" in name else "{}")
         for name, selector in selectors.items()]
    )  # fmt: skip
    facts = methods_of(rows)
    names = [fact.name for fact in facts]
    assert names[:3] == ["Baseline", "MaxVariance", "Random"]
    assert names[3:6] == ["L-score", "MCFS", "UDFS"]
    assert names[-2:] == ["JASFS (published)", "JASFS"]
    published = {fact.name: fact.published for fact in facts}
    assert published["JASFS (published)"] == "JASFS"
    assert published["JASFS"] is None
    assert published["Baseline"] == "Baseline"


def test_datasets_in_the_papers_order_with_its_shapes():
    rows = frame([row(dataset=name) for name in ("zebra", "palm", "brain", "apple")])
    facts = datasets_of(rows)
    assert [fact.name for fact in facts] == ["brain", "palm", "apple", "zebra"]
    assert [fact.published == fact.shape for fact in facts] == [True, False, False, False]


def test_notes_of_the_registry_make_published_numbers_doubtful():
    facts = datasets_of(frame([row(dataset=name) for name in ("brain", "lung", "palm", "my.csv")]))
    assert [fact.comparable for fact in facts] == [True, False, False, False]
    assert [bool(fact.note) for fact in facts] == [False, True, True, False]
    assert facts[1].note.startswith("Lung: from another source")
