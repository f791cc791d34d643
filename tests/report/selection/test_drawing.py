import copy
import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from featsieve import LaplacianScore
from featsieve.report import render_selection, summarize_selection
from featsieve.report.selection.drawing import charts, structure_chart, ticks
from featsieve.report.selection.pictures import fields, sample_views, sparklines, strips
from featsieve.report.selection.values import readable
from tests.report.selection.cases import CLEAR, GRADIENT, NOTHING, automatic, planted, stable


def by_name(summary):
    return {chart["name"]: chart for chart in charts(summary)}


def test_every_chart_is_a_picture_that_says_what_it_shows():
    drawn = by_name(automatic()[1])
    assert list(drawn) == ["criterion", "gains"]
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


def test_each_strip_has_as_many_copies_as_there_are():
    found = replace(CLEAR, null_rotated=np.linspace(-2.0, 2.0, 99))
    root = ET.fromstring(structure_chart(found.summary())["svg"])
    marks = [circle.get("class") for circle in root.iter("circle")]
    table, copy = "dot chosen-dot", "dot hollow"
    assert marks == [*[copy] * 19, table, *[copy] * 99, table]


def test_gains_that_are_all_zero_can_be_drawn():
    summary = copy.deepcopy(automatic()[1])
    summary["path"]["value"] = [0.0] * len(summary["path"]["name"])
    ET.fromstring(by_name(summary)["gains"]["svg"])


def test_a_ranking_alone_has_no_chart_and_no_section_for_it():
    X = planted().X
    summary = summarize_selection(LaplacianScore(4).fit(X), X, structure=CLEAR)
    assert summary["path"] is None
    assert charts(summary) == []
    assert "#number" not in render_selection(summary)


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


def test_distributions_have_a_row_for_every_cluster_and_say_their_medians():
    summary = stable()[1]
    drawn, found = strips(summary), summary["distribution"]
    assert [strip["name"] for strip in drawn] == found["feature"]
    for i, strip in enumerate(drawn):
        root = ET.fromstring(strip["svg"])
        assert root.get("role") == "img"
        rows = [group for group in root if group.tag == "g"]
        low, high = found["range"][i]
        for k, (name, row) in enumerate(zip(summary["clusters"]["names"], rows, strict=True)):
            median = found["median"][i][k]
            assert f"cluster {name}: median {readable(median, 4)}" in root.get("aria-label")
            bars, line = row.findall("path")
            assert bars.get("d").count("M") == np.count_nonzero(found["counts"][i][k])
            x = float(line.get("d")[1:].split()[0])
            assert (x - 34) / (32 * 6) == pytest.approx((median - low) / (high - low), abs=0.01)


def test_a_cluster_that_is_not_drawn_has_no_median():
    summary = copy.deepcopy(stable()[1])
    found = summary["distribution"]
    found["median"][0][1], found["counts"][0][1] = None, [0] * 32
    found["range"][1] = [3.0, 3.0]
    drawn = strips(summary)
    assert drawn[0]["svg"].count('class="median"') == len(summary["clusters"]["names"]) - 1
    ET.fromstring(drawn[1]["svg"])


def test_bars_above_the_heat_map_are_those_of_its_samples():
    summary = stable()[1]
    field = fields(summary)["heat"]
    assert [name for name, _ in field["bars"]] == ["cluster", "class", "certainty"]
    for name, bar in field["bars"][:2]:
        codes = [summary["map"][name][i] for i in field["samples"]]
        painted = [None] * len(codes)
        for group, d in re.findall(r'class="g c(\d)" d="([^"]+)"', bar):
            for start, length in re.findall(r"M(\d+) 0h(\d+)v1h-\2z", d):
                painted[int(start) : int(start) + int(length)] = [int(group)] * int(length)
        assert painted == codes
    heights = re.findall(r"V([\d.]+)h1", field["bars"][2][1])
    expected = [1.0 - summary["map"]["certainty"][i] for i in field["samples"]]
    np.testing.assert_allclose(np.array(heights, dtype=float), expected, atol=0.01)


def test_sparklines_go_up_where_a_feature_is_high():
    summary = stable()[1]
    drawn = sparklines(summary)
    assert len(drawn) == len(summary["selected"])
    for svg, means in zip(drawn, summary["features"]["mean"], strict=True):
        steps = [float(v) for v in re.findall(r"M\d+ 8v(-?[\d.]+)", svg)]
        np.testing.assert_allclose(steps, np.clip(-4.0 * np.array(means), -8.0, 8.0), atol=0.06)


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
