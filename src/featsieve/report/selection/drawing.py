"""The charts of a selection as SVG: is there structure, how many features.

Colours are classes of the page's style, which decides them in light and in dark. Every text is
escaped, every coordinate is a number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import asinh, ceil, floor, log10, sinh
from typing import Any

import numpy as np

from featsieve.names import counted
from featsieve.report.selection.values import readable
from featsieve.report.selection.words import CRITERIA

# The area of a chart inside its picture.
WIDTH, HEIGHT = 480.0, 270.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 464.0, 18.0, 224.0
MOST_TICKS = 8


@dataclass(frozen=True)
class Axes:
    """The ranges of a chart, and what is drawn in them."""

    x: tuple[float, float]
    y: tuple[float, float]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point is drawn."""
        across = (x - self.x[0]) / ((self.x[1] - self.x[0]) or 1.0)
        up = (y - self.y[0]) / ((self.y[1] - self.y[0]) or 1.0)
        return round(LEFT + across * (RIGHT - LEFT), 1), round(BOTTOM - up * (BOTTOM - TOP), 1)

    def frame(
        self,
        names: tuple[str, str],
        ticks_x: Mapping[float, str],
        ticks_y: Mapping[float, str] | None = None,
    ) -> str:
        """Return grid lines, numbers and names of the axes."""
        parts = [f'<path class="axis" d="M{LEFT:g} {BOTTOM:g}H{RIGHT:g}"/>']
        if ticks_y is None:
            ticks_y = {value: f"{value:.10g}" for value in ticks(*self.y)}
        for value, label in ticks_y.items():
            y = self.at(self.x[0], value)[1]
            parts.append(f'<path class="grid" d="M{LEFT:g} {y:g}H{RIGHT:g}"/>')
            parts.append(_text(LEFT - 8, y + 4, label, "tick end"))
        for value, label in ticks_x.items():
            parts.append(_text(self.at(value, self.y[0])[0], BOTTOM + 18, label, "tick"))
        parts.append(_text((LEFT + RIGHT) / 2, HEIGHT - 6, names[0], "label"))
        parts.append(_text(2.0, TOP - 6, names[1], "label start"))
        return "".join(parts)

    def upright(self, x: float, text: str) -> str:
        """Return a vertical line with a word at its head."""
        left = self.at(x, self.y[0])[0]
        side, shift = ("start", 6) if left < (LEFT + RIGHT) / 2 else ("end", -6)
        line = f'<path class="chosen" d="M{left:g} {BOTTOM:g}V{TOP:g}"/>'
        return line + _text(left + shift, TOP + 10, text, f"chosen-label {side}")


def charts(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the charts that a selection has."""
    curve, path = summary["curve"], summary["path"]
    drawn = curve is not None and all(isinstance(value, float) for value in curve["values"])
    return [*([_criterion(curve)] if drawn else ()), *([_gains(path)] if path else ())]


def structure_chart(structure: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the value of the table among those of its copies, a strip for each kind of them."""
    asked = [
        (words, structure[f"value_{kind}"], structure[f"null_{kind}"], structure[f"p_{kind}"])
        for kind, words in (("permuted", "permuted columns"), ("rotated", "same correlations"))
        if structure[f"p_{kind}"] is not None
    ]
    # far values beside near ones: as they are near 0, their logarithms far from it
    spread = [asinh(v) for _, value, null, _ in asked for v in (value, *null)]
    axes = Axes((min(spread) - 0.2, max(spread) + 0.2), (0.0, float(len(asked))))
    low, high = map(sinh, axes.x)
    round_numbers = (sign * v for v in (0, 1, 3, 10, 30, 100, 300, 1000, 3000) for sign in (1, -1))
    labels = {asinh(v): f"{v:g}" for v in round_numbers if low <= v <= high}
    content = axes.frame(
        ("standard deviations beyond the others", "this table (large) and its copies"), labels, {}
    )
    points: list[tuple[float, float, str]] = []
    said = []
    for row, (words, value, null, p) in enumerate(asked):
        height = len(asked) - row - 0.5
        left, y = axes.at(axes.x[0], height)
        content += f'<path class="grid" d="M{LEFT:g} {y:g}H{RIGHT:g}"/>'
        content += _text(left, y - 22, f"copies with {words}: p = {p:.2g}", "label start")
        marks = [(v, f"a copy with {words}", "dot hollow", 4) for v in null]
        for v, what, style, radius in [*marks, (value, "this table", "dot chosen-dot", 7)]:
            x, y = axes.at(asinh(v), height)
            content += f'<circle class="{style}" cx="{x:g}" cy="{y:g}" r="{radius}"/>'
            points.append((x, y, f"{what}: {readable(v)}"))
        said.append(
            f"{readable(value)} among {len(null)} copies with {words}, of which the largest has "
            f"{readable(max(null))}"
        )
    caption = (
        "How far groups of samples stand out beyond what they do in the other tables, in "
        "standard deviations: the large mark is this table, hollow ones are its copies without "
        f"clusters. {structure['n_samples']:,} samples and {structure['n_features']:,} features "
        "were looked at."
    )
    label = f"The value of this table is {'; '.join(said)}."
    picture = {"svg": svg(content, label), "points": points}
    title = "The table among its copies without clusters"
    return {"name": "structure", "title": title, "caption": caption} | picture


def _criterion(curve: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the label-free criterion against the number of features, at equal distances."""
    sizes, values, errors = curve["sizes"], curve["values"], curve["errors"]
    low, high = curve["equivalent"]
    ends = [v + side * e for side in (-2, 2) for v, e in zip(values, errors, strict=True)]
    axes = Axes((-0.5, len(sizes) - 0.5), padded(ends))
    step = ceil(len(sizes) / MOST_TICKS)
    left, right, place = np.interp([low, high, curve["chosen"]], sizes, range(len(sizes)))
    (left, _), (right, _) = axes.at(left - 0.3, 0.0), axes.at(right + 0.3, 0.0)
    content = (
        f'<rect class="band" x="{left:g}" y="{TOP:g}" width="{right - left:g}" '
        f'height="{BOTTOM - TOP:g}" rx="4"/>'
    )
    name = curve["criterion"].replace("_", " ")
    labels = {float(i): str(sizes[i]) for i in range(0, len(sizes), step)}
    content += axes.frame(("number of features", name), labels)
    marks, points = "", []
    for i, (size, value, error) in enumerate(zip(sizes, values, errors, strict=True)):
        x, y = axes.at(i, value)
        spread = ""
        if error > 0.0:
            (_, top), (_, bottom) = axes.at(i, value + 2 * error), axes.at(i, value - 2 * error)
            marks += f'<path class="error" d="M{x:g} {bottom:g}V{top:g}"/>'
            spread = f" ± {readable(2 * error, 2)}"
        style, radius, word = (
            ("dot chosen-dot", 6.5, "chosen") if size == curve["chosen"]
            else ("dot", 4, "nearly as good") if curve["nearly_equal"][i]
            else ("dot hollow", 4, "worse")
        )  # fmt: skip
        marks += f'<circle class="{style}" cx="{x:g}" cy="{y:g}" r="{radius}"/>'
        points.append((x, y, f"{counted(size, 'feature')}: {readable(value)}{spread} ({word})"))
    line = " ".join(f"{x:g},{y:g}" for x, y, _ in points)
    content += f'<path class="line" d="M{line}"/>{marks}'
    content += axes.upright(float(place), f"chosen: {curve['chosen']}")
    inner = " It chose for the fit to all rows, not for the final selection."
    caption = (
        f"Higher is better: {CRITERIA.get(curve['criterion'], f'the criterion {name}')}. Upright "
        f"lines are two standard errors. The shaded numbers, {low} to {high}, are nearly as good "
        f"as the best: they lose less than that, or than {readable(curve['tolerance'])}."
        f"{inner if curve['inner'] else ''}"
    )
    label = (
        f"{name} for {len(sizes)} numbers of features from {sizes[0]} to {sizes[-1]}; "
        f"{curve['chosen']} was chosen, {low} to {high} are nearly as good."
    )
    picture = {"svg": svg(content, label), "points": points}
    return {"name": "criterion", "title": "The label-free criterion", "caption": caption} | picture


def _gains(path: Mapping[str, Any]) -> dict[str, Any]:
    """Draw a bar for every feature along the ranking, those that are not selected faint."""
    values = [float(value or 0.0) for value in path["value"]]
    chosen, title = min(path["chosen"], len(values)), "What each next feature adds"
    axes = Axes((0.0, len(values) + 1.0), padded(values))
    base = axes.at(0.0, max(axes.y[0], 0.0))[1]
    bars, points = [], []
    for rank, (name, value) in enumerate(zip(path["name"], values, strict=True), start=1):
        (left, top), (right, _) = axes.at(rank - 0.42, value), axes.at(rank + 0.42, value)
        bars.append(f"M{left:g} {base:g}V{top:g}H{right:g}V{base:g}z")
        points.append((*axes.at(rank, value), f"{rank}. {name} adds {readable(value, 4)}"))
    whole = {v: f"{v:.10g}" for v in ticks(*axes.x, 6) if v == round(v)}
    content = axes.frame(("features so far", "gain"), whole)
    content += f'<path class="bar" d="{"".join(bars[:chosen])}"/>'
    if chosen < len(values):
        content += f'<path class="bar faint" d="{"".join(bars[chosen:])}"/>'
        content += axes.upright(chosen + 0.5, f"selected: {chosen}")
    inner = " (of the fit to all rows)" if path["inner"] else ""
    caption = (
        f"By how much the objective falls when the next feature enters{inner}. Bars up to the "
    )
    caption += "dashed line are selected."
    if path["length"] > len(values):
        caption += f" Only the first {len(values)} of {path['length']:,} are drawn."
    label = f"{title}: {len(values)} features in the order of their ranks; {chosen} are selected."
    picture = {"svg": svg(content, label), "points": points}
    return {"name": "gains", "title": title, "caption": caption} | picture


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Return round numbers between two ends."""
    if not high > low:
        return [low]
    raw = (high - low) / count
    unit = 10.0 ** floor(log10(raw))
    step = next(unit * m for m in (1, 2, 2.5, 5, 10) if unit * m >= raw * 0.999)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


def padded(values: Sequence[float]) -> tuple[float, float]:
    """Return a range that holds the values with some room; from 0 on if that is near."""
    low, high = min(values), max(values)
    if 0.0 <= low <= 0.25 * high:
        return 0.0, 1.12 * high
    room = (high - low) or abs(high) or 1.0
    return low - 0.1 * room, high + 0.12 * room


def svg(
    content: str,
    label: str,
    *,
    box: str = f"0 0 {WIDTH:g} {HEIGHT:g}",
    style: str = "",
    stretch: bool = False,
) -> str:
    """Return an SVG picture that says what it shows."""
    named = f'class="{style}" viewBox="{box}" role="img" aria-label="{escape(label)}"'
    named += ' preserveAspectRatio="none"' if stretch else ""
    return f"<svg {named}>{content}</svg>"


def _text(x: float, y: float, text: str, style: str) -> str:
    """Return a piece of text."""
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
