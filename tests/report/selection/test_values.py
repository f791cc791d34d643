import json

import numpy as np
import pytest

from featsieve.report.selection.values import listed, plain, plains, readable


@pytest.mark.parametrize("value", [0.0, -0.0, 1e-300, 123456789.123, np.float32(0.1), np.int64(7)])
def test_plain_numbers_keep_six_digits_and_pass_through_json(value):
    number = plain(value)
    assert type(number) is float
    assert json.loads(json.dumps(number, allow_nan=False)) == number
    assert number == pytest.approx(float(value), rel=5e-6)


def test_what_json_cannot_hold_is_told_apart():
    assert plains([np.nan, np.inf, -np.inf]) == [None, "inf", "-inf"]
    assert [float(end) for end in plains([np.inf, -np.inf])] == [np.inf, -np.inf]


@pytest.mark.parametrize(
    ("value", "text"),
    [(1234.5, "1234"), (0.012345, "0.0123"), (0.0, "0"), ("inf", "∞"), (None, ""), (1e9, "1e+09")],
)
def test_readable_numbers_are_short(value, text):
    assert readable(value) == text


def test_long_lists_are_cut():
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(map(str, range(100)), most=2) == "0, 1 and 98 more"
    assert listed([]) == ""
