import pytest

from featsieve.report.bench_page import bench_page
from featsieve.report.bench_summary import summarise_bench
from featsieve.report.track_sections import TRACK_MEANING
from tests.report.synthetic_rows import frame, paper_like, row


@pytest.fixture(scope="module")
def page():
    rows = paper_like(("breast3", "palm", "planted_small"))
    return bench_page(summarise_bench(rows), title="All of it")


def words(section):
    return " ".join(section.paragraphs)


def test_every_experiment_has_its_section(page):
    assert [section.anchor for section in page.sections] == [
        "overview", "default", "label-free", "oracle", "survival", "curves", "time", "objective",
        "sensitivity", "scatter", "planted", "origin",
    ]  # fmt: skip
    assert page.title == "All of it"


def test_tracks_are_explained_in_two_sentences_and_not_mixed(page):
    tracks = {section.anchor: section for section in page.sections}
    for name, meaning in TRACK_MEANING.items():
        assert len(meaning) == 2
        assert words(tracks[name]).startswith(" ".join(meaning))
        captions = [block.caption for block in tracks[name].blocks if block.kind == "table"]
        assert f"ACC (%), {name} track" in captions[0]
        others = {*TRACK_MEANING} - {name}
        assert not any(f"{other} track" in text for text in captions for other in others)


def test_palm_and_the_papers_equal_rows_are_noted(page):
    sections = {section.anchor: section for section in page.sections}
    points = sections["overview"].blocks[0].items
    assert any("palm has 256 features here" in p and "4096" in p for p in points)
    assert "UDFS and RUFS are equal" in words(sections["oracle"])


def test_the_command_to_do_it_again_is_there(page):
    code = page.sections[-1].blocks[-1]
    assert code.text.startswith("featsieve bench run made-up --out results && featsieve bench")


def test_little_gives_a_short_page():
    rows = frame([row(experiment="default", acc_mean=0.5, acc_std=0.1, n_features=3)])
    page = bench_page(summarise_bench(rows))
    assert [section.anchor for section in page.sections] == ["overview", "default", "origin"]


def test_nothing_but_failures_is_a_page_too():
    rows = frame([row(status="failed", reason="no data", n_samples=0)])
    page = bench_page(summarise_bench(rows))
    assert [section.anchor for section in page.sections] == ["overview", "failures", "origin"]
