# ruff: noqa: RUF001 - mathematical signs are meant
from featsieve.report.bench import tables as bench_tables
from featsieve.report.bench.summary import summarise_bench
from tests.report.synthetic_rows import frame, row


def grid(method, acc, dataset="breast3", **given):
    return row(experiment="grid", method=method, dataset=dataset, acc_mean=acc, acc_std=0.02,
               nmi_mean=acc, nmi_std=0.01, **given)  # fmt: skip


def entries(table):
    return {line.header: line.entries for line in table.rows}


def test_best_is_bold_also_where_it_is_a_control_and_ties_share_it():
    rows = frame(
        [
            grid("Random", 0.70001, selector="RandomSelector", control=True, n_features=50),
            grid("NDFS", 0.70004, n_features=50),
            grid("UDFS", 0.6, n_features=50),
        ]
    )
    summary = summarise_bench(rows)
    table = bench_tables.score_table(summary, summary.tracks["oracle"], "acc", caption="c")
    found = entries(table)
    assert found["Random"][0].text == "70.00 ± 2.00"
    assert [found[name][0].best for name in ("Random", "NDFS", "UDFS")] == [True, True, False]
    assert [line.tag for line in table.rows] == ["control", "", ""]


def test_published_numbers_stand_beside_the_oracle_only():
    rows = frame(
        [
            grid("NDFS", 0.5, n_features=50),
            grid("JASFS", 0.5, n_features=50),
            grid("JASFS (published)", 0.5, selector="JASFS", params='{"solver": "paper"}',
                 n_features=12),
            row(experiment="default", acc_mean=0.4, acc_std=0.1, n_features=9),
        ]
    )  # fmt: skip
    summary = summarise_bench(rows)
    default, oracle = summary.tracks.values()
    found = entries(bench_tables.score_table(summary, oracle, "acc", caption="c"))
    assert found["NDFS"][0].note == "60.00 ± 2.67"
    assert found["JASFS (published)"][0].note == "63.37 ± 1.20"
    assert found["JASFS"][0].note == ""
    counts = entries(bench_tables.count_table(summary, oracle, caption="c"))
    assert (counts["NDFS"][0].text, counts["NDFS"][0].note) == ("50", "350")
    found = entries(bench_tables.score_table(summary, default, "acc", caption="c"))
    assert found["NDFS"][0].note == ""


def test_published_numbers_of_other_data_have_a_dagger():
    rows = frame([grid("NDFS", 0.5, name, n_features=50) for name in ("breast3", "lung", "palm")])
    summary = summarise_bench(rows)
    for table in (
        bench_tables.score_table(summary, summary.tracks["oracle"], "acc", caption="c"),
        bench_tables.count_table(summary, summary.tracks["oracle"], caption="c"),
    ):
        notes = [entry.note for entry in entries(table)["NDFS"][:3]]
        assert [note.endswith(" †") for note in notes] == [False, True, True]
        assert table.note.startswith("†")
    same = summarise_bench(rows[rows["dataset"] == "breast3"])
    assert bench_tables.score_table(same, same.tracks["oracle"], "acc", caption="c").note == ""


def test_what_failed_says_so():
    rows = frame(
        [
            grid("NDFS", 0.5),
            grid("UDFS", 0.5),
            grid("NDFS", 0.5, "lung"),
            row(method="UDFS", dataset="lung", status="timeout", reason="slow"),
        ]
    )
    summary = summarise_bench(rows)
    table = bench_tables.score_table(summary, summary.tracks["oracle"], "acc", caption="c")
    assert table.head == ("Method", "breast3", "lung")
    missing = entries(table)["UDFS"][1]
    assert missing.text == "timeout"


def random_rows(dataset="breast3"):
    return [
        grid("Random", acc, dataset, n_features=50, selector="RandomSelector", control=True,
             params=f'{{"ranking": {i}}}')
        for i, acc in enumerate((0.4, 0.6, 0.5))
    ]  # fmt: skip


def texts(table):
    return {line.header: [entry.text for entry in line.entries] for line in table.rows}


def test_margin_over_the_random_control():
    rows = [*random_rows(), *random_rows("palm"), grid("NDFS", 0.65), grid("NDFS", 0.6, "palm"),
            grid("UDFS", 0.5)]  # fmt: skip
    summary = summarise_bench(frame(rows))
    # with a budget of one selection the rival is the mean, 0.5
    table = bench_tables.margin_table(summary)
    assert table.head == ("Method", "breast3", "palm", "above on", "own selections")
    assert texts(table) == {
        "UDFS": ["0.0", "–", "0 of 1", "1"],
        "NDFS": ["+15.0", "+10.0", "2 of 2", "1"],
    }
    assert [entry.best for entry in table.rows[0].entries[:2]] == [False, False]
