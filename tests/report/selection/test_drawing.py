from itertools import pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from featsieve import LaplacianScore
from featsieve.report import summarize_selection
from featsieve.report.selection.drawing import charts, sample_views, structure_chart, ticks
from featsieve.report.selection.values import readable
from tests.report.selection.cases import CLEAR, GRADIENT, NOTHING, automatic, planted


def by_name(summary):
    return {chart["name"]: chart for chart in charts(summary)}


def test_every_chart_is_a_picture_that_says_what_it_shows():
    drawn = by_name(automatic()[1])
    assert list(drawn) == ["criterion", "ranking"]
    for chart in drawn.values():
        root = ET.fromstring(chart["svg"])
        assert root.get("role") == "img"
        assert len(root.get("aria-label")) > 20
        left, top, width, height = map(float, root.get("viewBox").split())
        for x, y, text in chart["points"]:
            assert left <= x <= width
            assert top <= y <= height
            assert text


def test_the_criterion_shows_every_size_and_the_choice():
    sieve, summary = automatic()
    chart = by_name(summary)["criterion"]
    root = ET.fromstring(chart["svg"])
    assert len(chart["points"]) == len(sieve.path_.curve.sizes)
    assert len([c for c in root.iter("circle") if "chosen-dot" in c.get("class")]) == 1
    assert f"chosen: {sieve.n_features_selected_}" in "".join(root.itertext())
    band = next(root.iter("rect"))
    xs = dict(zip(summary["curve"]["sizes"], chart["points"], strict=True))
    low, high = sieve.equivalent_range_
    left = float(band.get("x"))
    assert left <= xs[low][0] + 0.1
    assert xs[high][0] <= left + float(band.get("width")) + 0.1
    higher, lower = (
        max(chart["points"], key=lambda p: -p[1]),
        min(chart["points"], key=lambda p: -p[1]),
    )
    values = dict(zip(summary["curve"]["sizes"], summary["curve"]["values"], strict=True))
    assert higher[2].startswith(f"{max(values, key=values.get)} feature")
    assert lower[2].startswith(f"{min(values, key=values.get)} feature")


@pytest.mark.parametrize("found", [CLEAR, GRADIENT, NOTHING])
def test_the_table_is_drawn_among_its_copies(found):
    chart = structure_chart(found.summary())
    root = ET.fromstring(chart["svg"])
    marks = [circle.get("class") for circle in root.iter("circle")]
    strips = 1 if found.verdict == "nothing" else 2
    assert marks == strips * [*["dot hollow"] * 19, "dot chosen-dot"]
    assert len(chart["points"]) == len(marks)
    for i in range(strips):
        value = (found.value_permuted, found.value_rotated)[i]
        xs = [x for x, _, _ in chart["points"][20 * i : 20 * i + 20]]
        assert np.argsort(xs[:-1]).tolist() == list(range(19))
        assert (np.array(xs[:-1]) < xs[-1]).sum() == (found.null_permuted < value).sum()
        assert all(58.0 <= x <= 464.0 for x in xs)
        p = (found.p_permuted, found.p_rotated)[i]
        assert any(f"p = {p:.2g}" in text.text for text in root.iter("text"))
        assert f"{readable(value)} among 19 copies" in root.get("aria-label")
    assert "60 samples and 40 features were looked at" in chart["caption"]


def test_scores_that_are_all_zero_can_be_drawn():
    X = planted().X
    summary = summarize_selection(LaplacianScore(4).fit(X), X, structure=CLEAR)
    summary["path"]["value"] = [0.0] * 40
    ET.fromstring(by_name(summary)["ranking"]["svg"])


def test_every_sample_is_drawn_once_in_both_views():
    summary = automatic()[1]
    views = sample_views(summary)
    assert [view["name"] for view in views] == ["selected", "all"]
    for view in views:
        root = ET.fromstring(view["svg"])
        paths = [path for path in root.iter("path") if path.get("data-group") is not None]
        counts = [path.get("d").count("M") for path in paths]
        assert counts == [row["size"] for row in summary["clusters"]["rows"]]
        names = [text.text for text in root.iter("text")]
        assert names == summary["clusters"]["names"]


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.0, 1.0), (-3.0, 7.0), (0.0, 1e-9), (0.0, 1e-13), (1e6, 1e6 + 5), (0.123, 0.129)],
)
def test_ticks_are_few_round_numbers_inside(low, high):
    values = ticks(low, high)
    assert 2 <= len(values) <= 8
    assert all(low - 1e-9 * (high - low) <= value <= high + 1e-9 * (high - low) for value in values)
    steps = [b - a for a, b in pairwise(values)]
    assert max(steps) == pytest.approx(min(steps))
    assert len({f"{value:.10g}" for value in values}) == len(values)
