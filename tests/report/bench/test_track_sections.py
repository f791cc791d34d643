import pytest

from featsieve.report.bench.summary import summarise_bench
from featsieve.report.bench.track_sections import (
    TRACK_MEANING,
    and_list,
    planted_section,
    survival_section,
    track_section,
)
from featsieve.report.figure_style import method_styles
from tests.report.synthetic_rows import frame, row


def section_of(rows, name):
    summary = summarise_bench(frame(rows))
    return track_section(summary, method_styles(summary.methods), track=summary.track(name))


def captions(section):
    return [block.caption for block in section.blocks if block.kind == "table"]


def published(points, *, counts=(7,)):
    return [
        row(method="JASFS (published)", selector="JASFS", params=f'{{"solver": "paper", "a": {i}}}',
            acc_mean=0.5, nmi_mean=0.5, n_features=count, own_count=True)
        for i in range(points)
        for count in counts
    ]  # fmt: skip


def test_the_default_track_says_how_many_features_and_shows_redundancy():
    about = {"experiment": "default", "acc_mean": 0.5, "n_features": 5}
    section = section_of([row(redundancy=0.25, **about)], "default")
    assert "at 10 % of the columns unless the method decides" in section.paragraphs[0]
    (table,) = [b for b in section.blocks if getattr(b, "caption", "").startswith("Redundancy")]
    assert table.rows[0].entries[0].text == "0.250"
    assert not any("Redundancy" in c for c in captions(section_of([row(**about)], "default")))


def test_redundancy_is_not_shown_where_labels_chose():
    section = section_of([row(redundancy=0.25, acc_mean=0.5, n_features=5)], "oracle")
    assert not any("Redundancy" in caption for caption in captions(section))


def test_the_label_free_track_names_its_criterion_and_what_is_given():
    text = " ".join(TRACK_MEANING["label-free"])
    for words in ("modularity", "neighbour graph of the whole table", "pseudo-labels", "JASFS",
                  "true number of classes"):  # fmt: skip
        assert words in text
    assert "the best that a user" not in text


def test_budgets_are_compared_with_those_of_the_paper():
    rows = published(54) + [
        row(method="NDFS", params=f'{{"alpha": {i}}}', acc_mean=0.5, n_features=n)
        for i in range(9)
        for n in (50, 100, 200, 400)
    ]
    text = " ".join(section_of(rows, "oracle").paragraphs)
    assert "294 points for JASFS" in text
    assert "here there are 54 grid points for JASFS (published) and at most 9 for any other" in text
    assert "each at up to 4 numbers of features" in text
    assert "same protocol" not in text


def test_without_the_papers_methods_nothing_is_said_about_the_paper():
    rows = [row(method="Mine", dataset="mine", acc_mean=0.5, n_features=5)]
    assert "published" not in " ".join(section_of(rows, "oracle").paragraphs).lower()


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


def test_survival_shows_the_own_budget_before_the_largest():
    rows = [
        row(method="Random", selector="RandomSelector", control=True, acc_mean=v, n_features=5,
            params=f'{{"ranking": {i}}}')
        for i, v in enumerate((0.4, 0.5, 0.6))
    ] + [row(acc_mean=0.55, n_features=5)]  # fmt: skip
    summary = summarise_bench(frame(rows))
    section = survival_section(summary, method_styles(summary.methods))
    assert "3 random selections" in section.paragraphs[0]
    first, second = captions(section)
    assert "the method's own budget" in first
    assert "the largest budget" in second
    margin = next(block for block in section.blocks if block.kind == "table")
    assert margin.rows[0].entries[0].text == "+5.0"
    folded = section.blocks[-1].blocks[0]
    assert "the largest budget" in folded.caption
    assert folded.rows[0].entries[0].text.endswith("5.0")
    assert folded.rows[0].entries[0].best is False


def test_sections_without_content_are_none():
    summary = summarise_bench(frame([row(acc_mean=0.5, n_features=5)]))
    styles = method_styles(summary.methods)
    assert survival_section(summary, styles) is None
    assert planted_section(summary, styles) is None


@pytest.mark.parametrize(
    ("names", "text"), [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_names_are_joined_as_in_a_sentence(names, text):
    assert and_list(names) == text
