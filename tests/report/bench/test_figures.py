import re

import numpy as np
import pytest

from featsieve.report.bench.facts import MethodFact
from featsieve.report.bench.figures import (
    curve_figure,
    key_images,
    objective_figure,
    time_figure,
)
from featsieve.report.bench.series import Curve, Timing
from featsieve.report.figure_style import method_styles

STYLES = method_styles([MethodFact(n, n, False, None) for n in ("NDFS", "UDFS", "JASFS", "MCFS")])


def curve(method, *acc):
    counts = 30 * np.arange(1, len(acc) + 1)
    return Curve("nci", method, counts, np.array(acc), np.array(acc) / 2)


def timing(method, seconds, objective=()):
    return Timing("nci", method, method, 1.0, len(seconds), 1.0, np.array(seconds),
                  np.array(objective))  # fmt: skip


def drawn(svg, method):
    return svg.count(f"stroke: {STYLES[method].color}")


def test_curves_show_every_method_in_its_colour_and_say_who_leads():
    figure = curve_figure([curve("NDFS", 0.5, 0.6), curve("UDFS", 0.4, 0.7)], "acc", styles=STYLES)
    assert drawn(figure.svg, "NDFS")
    assert drawn(figure.svg, "UDFS")
    assert not drawn(figure.svg, "MCFS")
    assert figure.title == "ACC against the number of features, nci"
    assert figure.caption == (
        "With the fewest features NDFS is highest, 50.0 %. "
        "Over all numbers UDFS is highest, 70.0 %."
    )
    for label in ("number of features", "ACC (%)", "nci", ">30<", ">60<"):
        assert label in figure.svg


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((0.5, 0.5, 0.5, 0.5), "all are at 50.0 %"),
        ((0.5, 0.5, 0.4, 0.3), "NDFS and UDFS are highest, 50.0 %"),
    ],
)
def test_equals_are_named_together(values, words):
    names = ("NDFS", "UDFS", "JASFS", "MCFS")
    lines = [curve(n, v) for n, v in zip(names, values, strict=True)]
    assert words in curve_figure(lines, "acc", styles=STYLES).caption


def test_times_are_logarithmic_and_survive_a_clock_that_stands_still():
    figure = time_figure([timing("NDFS", [0.0, 0.0]), timing("UDFS", [0.1, 0.3])], styles=STYLES)
    assert figure.caption == "NDFS ends first (0 s), UDFS last (0.3 s)."
    assert "seconds so far" in figure.svg


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([3.0, 2.0, 1.5], "From 3 to 1.5 in 3 iterations; it never rises."),
        ([3.0, 2.0, 2.5], "it rises once."),
        ([np.nan, np.nan], "Never finite."),
    ],
)
def test_objectives_say_whether_they_rise(values, words):
    figure = objective_figure(timing("JASFS", [1.0] * len(values), values), styles=STYLES)
    assert words in figure.caption


def test_the_key_shows_each_method_as_in_the_figures():
    ((name, svg),) = key_images(STYLES, ["NDFS"])
    assert name == "NDFS"
    assert re.search(STYLES["NDFS"].color, svg)
