"""Figures: what is drawn is where it should be, without a display, and without pyplot."""

import sys
from io import BytesIO

import numpy as np
import pytest
from matplotlib.figure import Figure

from featsieve import LaplacianScore
from featsieve.criteria.plots import new_axes, plot_frequencies
from featsieve.datasets import make_planted
from featsieve.tuning import CriterionCurve, sparsity_path


def saved(ax):
    """Return the figure as PNG: everything in it is drawn."""
    target = BytesIO()
    ax.figure.savefig(target, format="png")
    return target.getvalue()


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


def test_every_feature_has_a_line_from_where_it_enters():
    X = make_planted(60, 30, n_informative=8, random_state=0).X
    path = sparsity_path(X, LaplacianScore(5), sizes=[2, 5, 9])
    ax = path.plot()
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert len(names) == len(ax.lines) == 9
    for height, (name, line) in enumerate(zip(names, ax.lines, strict=True)):
        selected = path.n_features[path.supports[:, int(name[1:])]]
        assert line.get_xdata().tolist() == selected.tolist()
        assert set(line.get_ydata().tolist()) == {height}
    assert set(names[:2]) == {f"x{j}" for j in path.support_at(2)}
    assert saved(ax).startswith(b"\x89PNG")


def test_frequencies_are_drawn_in_order_with_the_threshold():
    ax = plot_frequencies(np.array([0.1, 1.0, 0.4, 0.9]), threshold=0.6)
    ((ranks, heights), (_, level)) = points_of(ax.lines)
    assert (ranks, heights) == ([1, 2, 3, 4], [1.0, 0.9, 0.4, 0.1])
    assert level == [0.6, 0.6]
    assert texts(ax) == ["threshold 0.6"]
    assert saved(ax).startswith(b"\x89PNG")


def test_a_missing_matplotlib_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"featsieve\[plot\]"):
        new_axes(None)
