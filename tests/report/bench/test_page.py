import pytest

from featsieve.report.bench.page import bench_page, write_bench_report
from featsieve.report.bench.summary import summarise_bench
from tests.report.synthetic_rows import frame, row


@pytest.mark.parametrize(
    ("only", "section"),
    [
        (row(experiment="default", acc_mean=0.5, acc_std=0.1, n_features=3), "default"),
        (row(status="failed", reason="no data", n_samples=0), "failures"),
    ],
)
def test_a_single_row_gives_a_short_page(only, section):
    page = bench_page(summarise_bench(frame([only])))
    assert [part.name for part in page.sections] == ["overview", section, "origin"]


def small(n_sets=3, best=(0.7, 0.6, 0.5)):
    names = ("UDFS", "NDFS", "RUFS")
    return [
        row(experiment="default", dataset=d, method=m, acc_mean=v, nmi_mean=v, n_features=3)
        for d in ("brain", "nci", "ORL")[:n_sets]
        for m, v in zip(names, best, strict=True)
    ]


def found_in(rows, **given):
    page = bench_page(summarise_bench(frame(rows), **given))
    return page, page.sections[0].points


def test_an_unfinished_run_says_so_first():
    rows = small()
    cells = [r["cell"] for r in rows]
    page, points = found_in(rows, planned=[*cells, "to come"])
    assert page.facts[-2:] == ("9 of 10 cells done", "unfinished: do not quote")
    assert points[0].startswith("This run is unfinished: 9 of 10 cells have ended. Do not quote")
    page, points = found_in(rows, planned=cells)
    assert page.facts[-1] == "9 of 9 cells done"
    assert points[0].startswith("Default track")
    assert found_in(rows)[0].facts[-1] == "9 cells done"


def test_chance_is_counted_with_the_budget_of_each_method():
    random = [
        row(method="Random", selector="RandomSelector", control=True, acc_mean=v, n_features=5,
            params=f'{{"ranking": {i}}}')
        for i, v in enumerate((0.4, 0.5, 0.6))
    ]  # fmt: skip
    methods = [row(method=m, acc_mean=v, n_features=5) for m, v in (("UDFS", 0.55), ("NDFS", 0.5))]
    _, points = found_in(random + methods)
    assert any(p.startswith("Chance with the same search: 1 of 2 oracle results") for p in points)


def test_the_page_is_the_same_for_the_same_rows(tmp_path):
    rows = frame(small())
    for name in ("one", "two"):
        write_bench_report(rows, tmp_path / f"{name}.md")
    text = (tmp_path / "one.md").read_text(encoding="utf-8")
    assert text == (tmp_path / "two.md").read_text(encoding="utf-8")
    assert "\n- Average ranks by ACC, default track: Best first: UDFS 1.00, NDFS 2.00" in text


def with_ceiling(top=0.9):
    """Rows of three methods, all features and the ceiling, which is far above them."""
    more = (("All", "AllFeatures", 0.5), ("Top", "TrueLabels", top))
    return small() + [
        row(experiment="default", dataset=d, method=m, selector=s, control=True, acc_mean=v,
            nmi_mean=v, n_features=3)
        for d in ("brain", "nci", "ORL")
        for m, s, v in more
    ]  # fmt: skip


def test_the_ceiling_is_no_competitor():
    summary = summarise_bench(frame(with_ceiling()))
    track = summary.tracks["default"]
    assert "Top" not in {*track.ranks["acc"].names, *track.unranked}
    _, default, *_ = bench_page(summary).sections
    table = default.blocks[0]
    bold = {line.header for line in table.rows if any(entry.best for entry in line.entries)}
    assert bold == {"UDFS"}
    assert "Top" in {line.header for line in table.rows}


def test_the_share_of_the_gap_is_listed():
    overview, default, *_ = bench_page(summarise_bench(frame(with_ceiling()))).sections
    (line,) = overview.blocks[0].lines
    assert line.endswith("Best first: Top 100, UDFS 50, NDFS 25, RUFS 0.")
    (table,) = [
        b for b in default.blocks if b.kind == "table" and "Differences in ACC" in b.caption
    ]
    assert table.head == ("Method", "points to All", "wins/ties/losses", "% of the gap closed")
    (udfs,) = [line for line in table.rows if line.header == "UDFS"]
    assert [e.text for e in udfs.entries] == ["+20.0 [+20.0, +20.0]", "3/0/0", "50 [50, 50]"]
    # a ceiling that is no higher than all features leaves no gap
    low = bench_page(summarise_bench(frame(with_ceiling(top=0.5))))
    assert [block.kind for block in low.sections[0].blocks] == ["table", "table"]
    gaps = [any("“Gap closed”" in t for t in s.paragraphs) for s in (default, low.sections[1])]
    assert gaps == [True, False]


def test_the_page_says_which_sets_were_looked_at():
    _, points = found_in(small())
    assert any(p.startswith("Development sets: brain, nci, ORL were looked at") for p in points)
    _, points = found_in([{**row, "dataset": f"{row['dataset']}.csv#kind"} for row in small()])
    assert not any("Development sets" in point for point in points)


def test_settings_are_on_the_page():
    rows = small(1)
    rows[0]["params"], rows[1]["params"] = '{"gamma": 100.0}', '{"gamma": 9.0, "scale": "none"}'
    rows[1]["method"] = rows[0]["method"]
    table = bench_page(summarise_bench(frame(rows))).sections[0].blocks[-1]
    found = {row.header: [entry.text for entry in row.entries][1] for row in table.rows}
    assert found["UDFS"] == 'gamma = 9.0, 100.0; scale = "none", its default'
    assert found["RUFS"] == "the defaults"


def test_intervals_over_few_data_sets_are_no_evidence():
    few = "Of so few data sets (3) an interval"
    _, default, *_ = bench_page(summarise_bench(frame(with_ceiling()))).sections
    assert any(few in text for text in default.paragraphs)
    more = [{**r, "dataset": f"{r['dataset']} 2", "cell": r["cell"] + "2"} for r in with_ceiling()]
    rows = with_ceiling() + more
    _, default, *_ = bench_page(summarise_bench(frame(rows))).sections
    assert not any("Of so few" in text for text in default.paragraphs)


@pytest.mark.parametrize(("plan", "named"), [("smoke", "smoke"), ("mine", "mine.toml")])
def test_the_command_that_runs_it_again_names_a_plan_that_is_there(plan, named):
    page, _ = found_in([{**r, "plan": plan} for r in small()])
    assert page.sections[-1].code.startswith(f"featsieve bench run {named} --out")


def test_searches_of_different_lengths_are_not_told_apart_by_a_test():
    sections = bench_page(summarise_bench(frame([{**r, "experiment": "grid"} for r in small()])))
    overview, oracle, *_ = sections.sections
    assert any("more tries rank better" in point for point in overview.points)
    (ranks,) = [block for block in oracle.blocks if block.kind == "notes"]
    assert ranks.lines[0].startswith("Average ranks by ACC, oracle track: Best first: UDFS 1.00")
    assert not any("Friedman" in line for line in ranks.lines)
