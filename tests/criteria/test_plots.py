"""Figures: what is drawn is where it should be, without a display, and without pyplot."""

import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

from featsieve.criteria.plots import new_axes
from featsieve.tuning import CriterionCurve


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def points_of(lines):
    return [(list(line.get_xdata()), list(line.get_ydata())) for line in lines]


def test_the_curve_is_drawn_with_its_choice():
    sizes, values = [5, 10, 20, 30, 50], [0.2, 0.78, 0.8, 0.5, 0.795]
    errors = np.linspace(0.0, 0.01, 5)
    curve = CriterionCurve("full_silhouette", np.array(sizes), np.array(values), errors, 0.03)
    ax = curve.plot()
    assert (sizes, values) in points_of(ax.lines)
    assert ([10], [0.78]) in points_of(ax.lines)
    low, high = curve.equivalent_range
    assert texts(ax) == [f"nearly equal: {low} to {high}", "chosen: 10"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("number of features", "full silhouette")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["5", "10", "20", "30", "50"]
    own = Figure(layout="constrained").subplots()
    assert curve.plot(own) is own


def test_a_missing_matplotlib_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"featsieve\[plot\]"):
        new_axes(None)
