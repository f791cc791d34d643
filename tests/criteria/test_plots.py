"""Figures: what is drawn is where it should be, without a display, and without pyplot."""

import subprocess
import sys
from io import BytesIO

import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

from featsieve import LaplacianScore
from featsieve.criteria.plots import new_axes, plot_curve, plot_frequencies
from featsieve.datasets import make_planted
from featsieve.tuning import CriterionCurve, sparsity_path


def curve(sizes=(5, 10, 20, 30, 50), values=(0.2, 0.78, 0.8, 0.5, 0.795), **settings):
    errors = np.linspace(0.0, 0.01, len(sizes))
    return CriterionCurve("full_silhouette", np.array(sizes), np.array(values), errors, **settings)


def saved(ax):
    """Return the figure as PNG: everything in it is drawn."""
    target = BytesIO()
    ax.figure.savefig(target, format="png")
    return target.getvalue()


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def points_of(lines):
    return [(list(line.get_xdata()), list(line.get_ydata())) for line in lines]


# plot_curve -------------------------------------------------------------------------------------


def test_the_curve_is_drawn_with_its_errors():
    drawn = curve()
    ax = drawn.plot()
    (bars,) = [c for c in ax.containers if isinstance(c, ErrorbarContainer)]
    line, _, (segments,) = bars
    assert points_of([line]) == [(drawn.sizes.tolist(), drawn.values.tolist())]
    half = [np.ptp(segment[:, 1]) / 2 for segment in segments.get_segments()]
    np.testing.assert_allclose(half, drawn.errors, atol=1e-12)
    assert ax.get_xlabel() == "number of features"
    assert ax.get_ylabel() == "full silhouette"
    assert ax.get_xscale() == "log"
    assert [t.get_text() for t in ax.get_xticklabels()] == ["5", "10", "20", "30", "50"]
    assert ax.get_xticks().tolist() == drawn.sizes.tolist()


@pytest.mark.parametrize(("tolerance", "chosen", "at"), [(0.0, 20, 0.8), (0.03, 10, 0.78)])
def test_the_chosen_point_is_drawn_where_it_is(tolerance, chosen, at):
    drawn = curve(tolerance=tolerance)
    ax = plot_curve(drawn)
    assert ([chosen], [at]) in points_of(ax.lines)
    low, high = drawn.equivalent_range
    assert texts(ax) == [f"nearly equal: {low} to {high}", f"chosen: {chosen}"]
    (span,) = ax.patches
    box = span.get_extents().transformed(ax.transData.inverted())
    assert (box.x0, box.x1) == pytest.approx((low, high))


# plot_path --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def path():
    X = make_planted(60, 30, n_informative=8, random_state=0).X
    return sparsity_path(X, LaplacianScore(5), sizes=[2, 5, 9])


def test_every_feature_has_a_line_from_where_it_enters(path):
    ax = path.plot()
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert len(names) == len(ax.lines) == 9
    for height, (name, line) in enumerate(zip(names, ax.lines, strict=True)):
        selected = path.n_features[path.supports[:, int(name[1:])]]
        assert line.get_xdata().tolist() == selected.tolist()
        assert set(line.get_ydata().tolist()) == {height}
    first = {f"x{j}" for j in path.support_at(2)}
    assert set(names[:2]) == first
    assert ax.get_xlabel() == "number of features"
    assert ax.get_ylabel() == "feature, in order of entry"
    assert saved(ax).startswith(b"\x89PNG")


# plot_frequencies -------------------------------------------------------------------------------


def test_frequencies_are_drawn_in_order_with_the_threshold():
    ax = plot_frequencies(np.array([0.1, 1.0, 0.4, 0.9]), threshold=0.6)
    ((ranks, heights), (_, level)) = points_of(ax.lines)
    assert (ranks, heights) == ([1, 2, 3, 4], [1.0, 0.9, 0.4, 0.1])
    assert level == [0.6, 0.6]
    assert texts(ax) == ["threshold 0.6"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("rank of the feature", "selection frequency")
    assert saved(ax).startswith(b"\x89PNG")


# Axes -------------------------------------------------------------------------------------------


def test_given_axes_are_drawn_into(path):
    axes = Figure(layout="constrained").subplots(1, 3)
    assert curve().plot(axes[0]) is axes[0]
    assert curve().plot(ax=axes[0]) is axes[0]
    assert path.plot(axes[1]) is axes[1]
    assert plot_frequencies(np.array([0.5, 0.2]), threshold=0.3, ax=axes[2]) is axes[2]
    assert saved(axes[0]).startswith(b"\x89PNG")


def test_every_figure_is_new_and_none_is_pyplots():
    assert new_axes(None).figure is not new_axes(None).figure
    code = (
        "import sys, numpy as np\n"
        "from featsieve.tuning import CriterionCurve\n"
        "assert 'matplotlib' not in sys.modules\n"
        "a = np.array([1, 2])\n"
        "CriterionCurve('x', a, 1.0 * a, 0.0 * a).plot()\n"
        "assert 'matplotlib.figure' in sys.modules and 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_given_axes_need_no_import(monkeypatch):
    ax = new_axes(None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"featsieve\[plot\]"):
        new_axes(None)
    assert new_axes(ax) is ax
