import json

import pytest

from featsieve.report.bench.page import bench_page, write_bench_report
from featsieve.report.bench.sections import TRACK_MEANING
from featsieve.report.bench.summary import summarise_bench
from tests.report.synthetic_rows import frame, paper_like, row


@pytest.fixture(scope="module")
def page():
    rows = paper_like(("breast3", "palm", "planted_small"))
    return bench_page(summarise_bench(rows), title="All of it")


def words(section):
    return " ".join(section.paragraphs)


@pytest.mark.slow
def test_every_experiment_has_its_section(page):
    assert [section.anchor for section in page.sections] == [
        "overview", "default", "label-free", "oracle", "survival", "curves", "time", "objective",
        "sensitivity", "scatter", "planted", "origin",
    ]  # fmt: skip
    assert page.title == "All of it"


@pytest.mark.slow
def test_tracks_are_explained_and_not_mixed(page):
    tracks = {section.anchor: section for section in page.sections}
    for name, meaning in TRACK_MEANING.items():
        assert words(tracks[name]).startswith(meaning)
        captions = [block.caption for block in tracks[name].blocks if block.kind == "table"]
        assert f"ACC (%), {name} track" in captions[0]
        others = {*TRACK_MEANING} - {name}
        assert not any(f"{other} track" in text for text in captions for other in others)


@pytest.mark.slow
def test_palm_and_the_papers_equal_rows_are_noted(page):
    sections = {section.anchor: section for section in page.sections}
    assert (
        "Palm: 256 features (16 x 16), the paper used 4096." in sections["overview"].blocks[1].note
    )
    assert "UDFS and RUFS are equal" in words(sections["oracle"])


@pytest.mark.slow
def test_the_command_to_do_it_again_is_there(page):
    code = page.sections[-1].blocks[-1]
    # into results/report.html, which a second run replaces without --force
    assert code.text == (
        "featsieve bench run made-up --out results && featsieve bench report results"
    )


def test_little_gives_a_short_page():
    rows = frame([row(experiment="default", acc_mean=0.5, acc_std=0.1, n_features=3)])
    page = bench_page(summarise_bench(rows))
    assert [section.anchor for section in page.sections] == ["overview", "default", "origin"]


def small(n_sets=3, best=(0.7, 0.6, 0.5)):
    names = ("UDFS", "NDFS", "RUFS")
    return [
        row(experiment="default", dataset=d, method=m, acc_mean=v, nmi_mean=v, n_features=3)
        for d in ("brain", "nci", "ORL")[:n_sets]
        for m, v in zip(names, best, strict=True)
    ]


def found_in(rows, **given):
    page = bench_page(summarise_bench(frame(rows), **given))
    return page, page.sections[0].blocks[0].items


def test_the_leader_of_a_track_is_named():
    _, points = found_in(small())
    assert points[0].startswith("Default track: UDFS has the best average rank by ACC (1.00 of 3")


def test_an_unfinished_run_says_so_first():
    rows = small()
    about = {"dataset": "nci", "method": "UDFS", "experiment": "default"}
    planned = dict.fromkeys((r["cell"] for r in rows), about)
    page, points = found_in(rows, planned=planned | {"to come": about})
    assert page.facts[-2:] == ("9 of 10 cells done", "unfinished: do not quote")
    assert points[0].startswith("This run is unfinished: 9 of 10 cells have ended. Do not quote")
    page, points = found_in(rows, planned=planned)
    assert page.facts[-1] == "9 of 9 cells done"
    assert points[0].startswith("Default track")
    assert found_in(rows)[0].facts[-1] == "9 cells done"


def test_grids_that_are_not_complete_are_named():
    rows = [row(dataset="brain", method=m, acc_mean=0.5, n_features=5) for m in ("UDFS", "NDFS")]
    about = {"dataset": "brain", "method": "UDFS", "experiment": "grid"}
    planned = dict.fromkeys((*(r["cell"] for r in rows), "to come"), about)
    page, points = found_in(rows, planned=planned)
    assert "Left out of the oracle track and its ranks: UDFS on brain." in points[0]
    oracle = next(section for section in page.sections if section.anchor == "oracle")
    assert "their grids are not complete: UDFS on brain." in words(oracle)


def test_chance_is_counted_with_the_budget_of_each_method_and_with_the_largest():
    random = [
        row(method="Random", selector="RandomSelector", control=True, acc_mean=v, n_features=5,
            params=f'{{"ranking": {i}}}')
        for i, v in enumerate((0.4, 0.5, 0.6))
    ]  # fmt: skip
    methods = [row(method=m, acc_mean=v, n_features=5) for m, v in (("UDFS", 0.55), ("NDFS", 0.5))]
    _, points = found_in(random + methods)
    assert any(p.startswith("Chance with the same search: 1 of 2 oracle results") for p in points)
    second = next(p for p in points if p.startswith("2 of 2 do not exceed the best of all random"))
    assert second.endswith("as many as the largest search had, or more.")
    wide = [row(method="RUFS", acc_mean=0.7, n_features=n) for n in range(1, 9)]
    _, points = found_in(random + methods + wide)
    assert any(p.endswith("these are fewer than the largest search had.") for p in points)


@pytest.mark.parametrize("sources", [("aaa", "aaa"), ("aaa", "bbb")])
def test_rows_of_different_code_are_pointed_out(sources):
    rows = [
        row(experiment="default", seed=i, acc_mean=0.5, n_features=3,
            versions=json.dumps({"source": source}))
        for i, source in enumerate(sources)
    ]  # fmt: skip
    page, _ = found_in(rows)
    warned = "2 different states of the library's code (source aaa and bbb)"
    assert (warned in words(page.sections[-1])) is (len(set(sources)) == 2)


def test_nothing_but_failures_is_a_page_too():
    rows = frame([row(status="failed", reason="no data", n_samples=0)])
    page = bench_page(summarise_bench(rows))
    assert [section.anchor for section in page.sections] == ["overview", "failures", "origin"]


def section_of(rows, name):
    page = bench_page(summarise_bench(frame(rows)))
    return next(section for section in page.sections if section.anchor == name)


def test_what_is_not_ranked_is_named():
    rows = [
        row(experiment="default", method=m, dataset=d, acc_mean=0.5, nmi_mean=0.5, n_features=5)
        for m in ("UDFS", "NDFS", "RUFS")
        for d in ("brain", "nci")
    ]
    rows.append(row(experiment="default", method="AUFS", dataset="nci", acc_mean=0.5, n_features=5))
    section = section_of(rows, "default")
    assert section.paragraphs[-1].startswith("Not ranked")
    assert section.paragraphs[-1].endswith("AUFS.")


@pytest.mark.parametrize(("jobs", "words"), [((1, 1), "ran alone"), ((1, 3), "Up to 3 cells")])
def test_what_ran_beside_timed_cells_is_told(jobs, words):
    rows = [
        row(experiment="time", method=m, fit_seconds=1.0, n_iter=2, jobs=n,
            iteration_seconds=[0.5, 1.0], peak_mib=float("nan"))
        for m, n in zip(("NDFS", "UDFS"), jobs, strict=True)
    ]  # fmt: skip
    section = section_of(rows, "time")
    assert words in section.paragraphs[0]
    assert "UDFS ends first" in section.blocks[0].figures[0].caption


def test_the_page_is_written_whole_and_the_same_for_the_same_rows(tmp_path):
    rows = frame(small())
    for name in ("one", "two"):
        write_bench_report(rows, tmp_path / f"{name}.html", markdown=tmp_path / f"{name}.md")
    for end in ("html", "md"):
        assert (tmp_path / f"one.{end}").read_bytes() == (tmp_path / f"two.{end}").read_bytes()
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(OSError, match=r"folder\.html"):
        write_bench_report(rows, tmp_path / "folder.html", markdown=tmp_path / "three.md")
    assert not (tmp_path / "three.md").exists()  # none of the two
