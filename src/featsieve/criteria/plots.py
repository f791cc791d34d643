"""Figures of what tuning found. They need matplotlib (the extra "plot")."""

from typing import Any

import numpy as np


def new_axes(ax: Any) -> Any:
    """Return the given axes, or new ones."""
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("Plots need matplotlib: pip install 'featsieve[plot]'.") from error
    # A figure of its own, not pyplot's: nothing stays open, and no display is needed.
    return Figure(figsize=(6.4, 4.0), layout="constrained").add_subplot()


def plot_curve(curve: Any, *, ax: Any = None) -> Any:
    """Draw a criterion against the number of features, with the chosen and nearly equal ones."""
    ax = new_axes(ax)
    low, high = curve.equivalent_range
    ax.axvspan(low, high, alpha=0.15, label=f"nearly equal: {low} to {high}")
    ax.errorbar(curve.sizes, curve.values, yerr=curve.errors, marker="o", markersize=4, capsize=2)
    at = float(curve.values[curve.sizes == curve.chosen][0])
    ax.plot([curve.chosen], [at], "o", markersize=10, label=f"chosen: {curve.chosen}")
    _count_axis(ax, curve.sizes)
    ax.set_ylabel(curve.criterion.replace("_", " "))
    ax.legend()
    return ax


def plot_path(path: Any, *, ax: Any = None, most: int = 40) -> Any:
    """Draw which features are selected at which size: one line per feature, from where it enters.

    At most ``most`` features are drawn, those that enter first.
    """
    ax = new_axes(ax)
    enters = np.where(path.supports.any(axis=0), path.supports.argmax(axis=0), len(path))
    shown = np.argsort(enters, kind="stable")[: min(most, int((enters < len(path)).sum()))]
    for height, j in enumerate(shown):
        at = path.n_features[path.supports[:, j]]
        ax.plot(at, np.full(len(at), height), marker=".", linewidth=1)
    ax.set_yticks(range(len(shown)), [f"x{j}" for j in shown], fontsize=6)
    _count_axis(ax, path.n_features)
    ax.set_ylabel("feature, in order of entry")
    return ax


def plot_frequencies(frequencies: np.ndarray, *, threshold: float, ax: Any = None) -> Any:
    """Draw selection frequencies, sorted, and the threshold."""
    ax = new_axes(ax)
    ordered = np.sort(frequencies)[::-1]
    ax.step(np.arange(1, len(ordered) + 1), ordered, where="mid")
    ax.axhline(threshold, linestyle="--", linewidth=1, label=f"threshold {threshold:g}")
    ax.set_xscale("log")
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlabel("rank of the feature")
    ax.set_ylabel("selection frequency")
    ax.legend()
    return ax


def _count_axis(ax: Any, sizes: np.ndarray) -> None:
    """Label the axis of the number of features, in logarithms and at the sizes themselves."""
    ax.set_xscale("log")
    ax.set_xticks(sizes, [str(size) for size in sizes], rotation=60, fontsize=8)
    ax.minorticks_off()
    ax.set_xlabel("number of features")
