"""The figures of the paper: scores against the number of features, times, objectives."""

from collections.abc import Iterable, Sequence

import numpy as np

from featsieve.report.bench.series import Curve, Timing
from featsieve.report.figure_style import METRIC_WORDS, PANEL, Style, drawing, new_figure, to_svg
from featsieve.report.page import Figure


def key_images(styles: dict[str, Style], names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Draw the line and marker of each method, for a key beside the figures."""
    found = []
    with drawing():
        for name in names:
            figure = new_figure(0.5, 0.2)
            axes = figure.add_axes((0, 0, 1, 1))
            axes.axis("off")
            axes.plot([0, 1, 2], [0, 0, 0], markevery=[1], **styles[name].line())
            axes.set(xlim=(0, 2), ylim=(-1, 1))
            figure.set_layout_engine("none")
            found.append((name, to_svg(figure)))
    return tuple(found)


def curve_figure(curves: Sequence[Curve], metric: str, *, styles: dict[str, Style]) -> Figure:
    """Draw a score against the number of features, on one data set."""
    word, name = METRIC_WORDS[metric], curves[0].dataset
    with drawing():
        figure = new_figure(*PANEL)
        axes = figure.add_subplot()
        for curve in curves:
            axes.plot(curve.counts, 100 * getattr(curve, metric), **styles[curve.method].line())
        axes.set(xlabel="number of features", ylabel=f"{word} (%)", title=name)
        ticks = sorted({int(count) for curve in curves for count in curve.counts})
        axes.set_xticks(ticks if len(ticks) <= 10 else ticks[:: len(ticks) // 8])
        svg = to_svg(figure)
    few = {c.method: 100 * float(getattr(c, metric)[0]) for c in curves}
    most = {c.method: 100 * float(getattr(c, metric).max()) for c in curves}
    caption = f"With the fewest features {_highest(few)}. Over all numbers {_highest(most)}."
    return Figure(f"{word} against the number of features, {name}", caption, svg)


def time_figure(timings: Sequence[Timing], *, styles: dict[str, Style]) -> Figure:
    """Draw the running time so far against the iteration, on one data set."""
    name = timings[0].dataset
    with drawing():
        figure = new_figure(*PANEL)
        axes = figure.add_subplot()
        for timing in timings:
            steps = np.arange(1, len(timing.seconds) + 1)
            # The clock of a fast step can stand still; a logarithm cannot show zero.
            axes.plot(
                steps,
                np.maximum(timing.seconds, 1e-6),
                markevery=max(1, len(steps) // 5),
                **styles[timing.method].line(),
            )
        axes.set_yscale("log")
        axes.set(xlabel="iteration", ylabel="seconds so far", title=name)
        axes.xaxis.get_major_locator().set_params(integer=True)
        svg = to_svg(figure)
    last = {timing.method: float(timing.seconds[-1]) for timing in timings}
    quick, slow = min(last, key=last.__getitem__), max(last, key=last.__getitem__)
    caption = f"{quick} ends first ({last[quick]:.3g} s), {slow} last ({last[slow]:.3g} s)."
    return Figure(f"Seconds so far against the iteration, {name}", caption, svg)


def objective_figure(timing: Timing, *, styles: dict[str, Style]) -> Figure:
    """Draw the objective against the iteration."""
    values = timing.objective
    with drawing():
        figure = new_figure(*PANEL)
        axes = figure.add_subplot()
        axes.plot(np.arange(1, len(values) + 1), values, **styles[timing.method].line())
        axes.set(xlabel="iteration", ylabel="objective", title=f"{timing.dataset}: {timing.method}")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.ticklabel_format(axis="y", useOffset=False)
        svg = to_svg(figure)
    finite = values[np.isfinite(values)]
    rises = int(np.sum(np.diff(finite) > 1e-9 * np.maximum(1.0, np.abs(finite[1:]))))
    course = "never rises" if not rises else "rises once" if rises == 1 else f"rises {rises} times"
    caption = (
        f"From {finite[0]:.4g} to {finite[-1]:.4g} in {len(values)} iterations; it {course}."
        if len(finite)
        else "Never finite."
    )
    return Figure(f"Objective of {timing.method}, {timing.dataset}", caption, svg)


def _highest(values: dict[str, float]) -> str:
    """Say who is highest; values that look equal in print are equal."""
    top = max(round(value, 1) for value in values.values())
    names = [name for name, value in values.items() if round(value, 1) == top]
    if len(names) == len(values):
        return f"all are at {top:.1f} %"
    if len(names) > 3:
        return f"{len(names)} of {len(values)} share the highest value, {top:.1f} %"
    verb = "is" if len(names) == 1 else "are"
    return f"{' and '.join(names)} {verb} highest, {top:.1f} %"
