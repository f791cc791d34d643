from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from featsieve.report.selection.drawing import Frame, padded, svg, tick_label, ticks
from tests.report.selection.cases import EVIL


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
    assert len({tick_label(value) for value in values}) == len(values)


def test_a_range_without_length_has_one_tick():
    assert ticks(2.0, 2.0) == [2.0]


@pytest.mark.parametrize("values", [[0.0, 0.0], [3.0], [-1.0, 1.0], [5.0, 9.0]])
@pytest.mark.parametrize("zero", [False, True])
def test_ranges_hold_their_values(values, zero):
    low, high = padded(values, zero=zero)
    assert low < high
    assert low <= min(values) <= max(values) <= high
    if zero and min(values) >= 0.0:
        assert low == 0.0


def test_points_lie_where_they_should():
    frame = Frame((1.0, 100.0), (0.0, 1.0), log=True)
    left, middle, right = (frame.at(x, 0.5)[0] for x in (1.0, 10.0, 100.0))
    assert middle == pytest.approx((left + right) / 2, abs=0.1)
    assert frame.at(1.0, 1.0)[1] < frame.at(1.0, 0.0)[1]  # up is small in SVG


def test_a_narrow_range_can_be_seen():
    frame = Frame((0.0, 1000.0), (0.0, 1.0))
    band = ET.fromstring(frame.band(500.0, 500.0))
    assert float(band.get("width")) == pytest.approx(10.0)


def test_text_is_escaped():
    frame = Frame((0.0, 1.0), (0.0, 1.0))
    drawn = svg(frame.axes(EVIL, EVIL) + frame.upright(0.2, EVIL), EVIL)
    root = ET.fromstring(drawn)
    assert root.get("aria-label") == EVIL
    texts = [element.text for element in root.iter("text")]
    assert texts.count(EVIL) == 3
    assert "<script" not in drawn


def test_bars_stand_on_the_axis():
    frame = Frame((0.0, 3.0), (0.0, 2.0))
    path = ET.fromstring(frame.bars([1, 2], [1.0, 2.0], "bar")).get("d")
    base = f"{frame.at(0.0, 0.0)[1]:g}"
    assert path.count("M") == 2
    assert path.count(base) == 4
    assert frame.bars([], [], "bar") == ""
