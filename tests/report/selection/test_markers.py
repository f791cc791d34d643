import re
from xml.etree import ElementTree as ET

import pytest

from featsieve.report.selection.markers import key_mark, markers, marks


@pytest.mark.parametrize("radius", [6, 9])
def test_markers_surround_their_sample(radius):
    for shape, dx, dy, kind in markers(radius):
        x, y = dx, dy
        xs, ys = [x], [y]
        for command, numbers in re.findall(r"([lhvmz])([^lhvmz]*)", shape):
            values = [int(n) for n in re.findall(r"-?\d+", numbers)]
            if command in "lm":
                steps = list(zip(values[::2], values[1::2], strict=True))
            else:
                steps = [(v, 0) if command == "h" else (0, v) for v in values]
            for step in steps:
                x, y = x + step[0], y + step[1]
                xs.append(x)
                ys.append(y)
        assert abs(max(xs) + min(xs)) <= 2, kind
        assert abs(max(ys) + min(ys)) <= 6, kind


def test_groups_differ_in_colour_or_marker():
    styles = set()
    for group in range(24):
        path = re.search(r'class="m (\w+) (c\d)".*? d="M0 0|class="m (\w+) (c\d)"', key_mark(group))
        shape = re.search(r' d="([^"]+)"', key_mark(group)).group(1)
        styles.add((path.group(2) or path.group(4), shape))
    assert len(styles) == 24


def test_empty_groups_are_kept_in_their_place():
    drawn = marks([1], [2], [2], 3)
    assert [path.get("d") for path in ET.fromstring(f"<g>{drawn}</g>")][:2] == ["", ""]
