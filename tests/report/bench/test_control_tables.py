# ruff: noqa: RUF001 - the minus sign is meant
from featsieve.report.bench import control_tables
from featsieve.report.bench.summary import summarise_bench
from tests.report.synthetic_rows import frame, row


def grid(method, acc, dataset="breast3", **given):
    return row(experiment="grid", method=method, dataset=dataset, acc_mean=acc, n_features=50,
               **given)  # fmt: skip


def random_rows(dataset="breast3"):
    return [
        grid("Random", acc, dataset, selector="RandomSelector", control=True,
             params=f'{{"ranking": {i}}}')
        for i, acc in enumerate((0.4, 0.6, 0.5))
    ]  # fmt: skip


def texts(table):
    return {line.header: [entry.text for entry in line.entries] for line in table.rows}


def test_margin_over_the_random_control():
    rows = [*random_rows(), *random_rows("palm"), grid("NDFS", 0.65), grid("NDFS", 0.6, "palm"),
            grid("UDFS", 0.5)]  # fmt: skip
    summary = summarise_bench(frame(rows))
    table = control_tables.margin_table(summary, largest=True)
    assert table.head == ("Method", "breast3", "palm", "above on", "own selections")
    assert texts(table) == {
        "UDFS": ["−10.0", "–", "0 of 1", "1"],
        "NDFS": ["+5.0", "0.0", "1 of 2", "1"],
    }
    ndfs = table.rows[1].entries
    assert [entry.best for entry in ndfs[:2]] == [True, False]
    # with its own budget of one selection the rival is the mean, 0.5
    own = control_tables.margin_table(summary)
    assert texts(own) == {
        "UDFS": ["0.0", "–", "0 of 1", "1"],
        "NDFS": ["+15.0", "+10.0", "2 of 2", "1"],
    }


def test_survival_names_the_budget_and_who_is_not_above():
    rows = [*random_rows(), grid("NDFS", 0.65), grid("UDFS", 0.6)]
    table = control_tables.survival_table(summarise_bench(frame(rows)))
    cells = texts(table)["breast3"]
    assert cells[:4] == ["60.00", "3 rankings, 3 selections", "1: NDFS", "1: UDFS"]
    # 60.00 of random rankings: seven rows of the paper's table are at most that
    assert cells[4].startswith("7: Baseline, MCFS, UDFS, NDFS")
    assert "294 selections for JASFS" in table.note
    assert "at most 3 selections" in table.note


def test_survival_without_the_paper_has_no_column_for_it():
    rows = [*random_rows("zebra"), grid("NDFS", 0.65, "zebra")]
    table = control_tables.survival_table(summarise_bench(frame(rows)))
    assert table.head[-1] == "not above it"
    assert all(len(line.entries) == 4 for line in table.rows)


def test_budget_of_controls_and_methods():
    rows = [*random_rows(), grid("JASFS", 0.5, stands_for=49, own_count=True)]
    table = control_tables.budget_table(summarise_bench(frame(rows)))
    assert texts(table) == {"Random": ["3", "3", "3"], "JASFS": ["49", "1", "1"]}


def test_palm_shows_the_papers_number_of_features():
    table = control_tables.dataset_table(summarise_bench(frame([grid("NDFS", 0.5, "palm")])))
    features = table.rows[0].entries[1]
    assert (features.text, features.note, table.note_label) == ("256", "4096", "published")
    assert table.note == "Palm: 256 features (16 x 16), the paper used 4096."


def test_planted_precision_with_recall_below():
    about = {"planted_precision": 0.8, "planted_recall": 0.4}
    summary = summarise_bench(frame([grid("NDFS", 0.5, **about)]))
    table = control_tables.planted_table(summary, summary.tracks[0])
    entry = table.rows[0].entries[0]
    assert (entry.text, entry.note, table.note_label) == ("80.0", "40.0", "recall")


def test_failures_keep_their_reasons():
    bad = row(status="failed", reason="LinAlgError: singular")
    table = control_tables.failure_table(summarise_bench(frame([bad])))
    assert texts(table) == {"breast3": ["NDFS", "grid", "failed", "LinAlgError: singular", "1"]}
