"""SVG by hand: a frame with axes and marks inside it, and the markers of clusters.

Colours are classes, so that the page's style decides them in light and in dark. Every text is
escaped, every coordinate is a number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

# A cluster has a colour (a class of the page's style) and a shape; both repeat after 24 clusters.
N_COLOURS = 8
RADIUS = 9
# The shape drawn from its first corner, that corner, whether it is filled, a stroke or a round dot.
Marker = tuple[str, int, int, str]
WIDTH, HEIGHT = 480.0, 270.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 16.0, 18.0, 46.0
N_TICKS = 5


@dataclass(frozen=True)
class Frame:
    """The area in which a chart is drawn."""

    x: tuple[float, float]
    y: tuple[float, float]
    log: bool = False

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point is drawn."""
        low, high = self.x
        if self.log:
            x, low, high = log10(x), log10(low), log10(high)
        across = (x - low) / ((high - low) or 1.0)
        up = (y - self.y[0]) / ((self.y[1] - self.y[0]) or 1.0)
        left = LEFT + across * (WIDTH - LEFT - RIGHT)
        return round(left, 1), round(HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM), 1)

    def axes(self, xlabel: str, ylabel: str) -> str:
        """Return grid lines, numbers and names of the axes."""
        floor_y = HEIGHT - BOTTOM
        parts = []
        for value in ticks(*self.y):
            y = self.at(self.x[0], value)[1]
            parts.append(f'<path class="grid" d="M{LEFT:g} {y:g}H{WIDTH - RIGHT:g}"/>')
            parts.append(_text(LEFT - 8, y + 4, tick_label(value), "tick end"))
        for value in self._x_ticks():
            x = self.at(value, self.y[0])[0]
            parts.append(_text(x, floor_y + 18, tick_label(value), "tick"))
        parts.append(f'<path class="axis" d="M{LEFT:g} {floor_y:g}H{WIDTH - RIGHT:g}"/>')
        parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, xlabel, "label"))
        parts.append(_text(2.0, TOP - 6, ylabel, "label start"))
        return "".join(parts)

    def line(self, xs: Sequence[float], ys: Sequence[float], style: str = "line") -> str:
        """Return a line through the points."""
        points = [self.at(x, y) for x, y in zip(xs, ys, strict=True)]
        return f'<path class="{style}" d="M{" ".join(f"{x:g},{y:g}" for x, y in points)}"/>'

    def bars(self, xs: Sequence[float], ys: Sequence[float], style: str) -> str:
        """Return bars of width one around whole numbers, as one shape."""
        base = f"{self.at(self.x[0], max(self.y[0], 0.0))[1]:g}"
        parts = []
        for x, y in zip(xs, ys, strict=True):
            left, top = self.at(x - 0.42, y)
            right = self.at(x + 0.42, y)[0]
            parts.append(f"M{left:g} {base}V{top:g}H{right:g}V{base}z")
        return f'<path class="{style}" d="{"".join(parts)}"/>' if parts else ""

    def band(self, low: float, high: float) -> str:
        """Return a shaded range of x; a narrow one is widened to be seen."""
        left, right = self.at(low, self.y[0])[0], self.at(high, self.y[0])[0]
        if right - left < 10.0:
            left, right = left - 5.0, right + 5.0
        height = HEIGHT - TOP - BOTTOM
        box = f'x="{left:g}" y="{TOP:g}" width="{right - left:g}" height="{height:g}"'
        return f'<rect class="band" {box} rx="4"/>'

    def upright(self, x: float, text: str) -> str:
        """Return a vertical line with a word at its head."""
        left = self.at(x, self.y[0])[0]
        side = "start" if left < (LEFT + WIDTH - RIGHT) / 2 else "end"
        shift = 6 if side == "start" else -6
        line = f'<path class="chosen" d="M{left:g} {HEIGHT - BOTTOM:g}V{TOP:g}"/>'
        return line + _text(left + shift, TOP + 10, text, f"chosen-label {side}")

    def _x_ticks(self) -> list[float]:
        """Return numbers for the x axis."""
        low, high = self.x
        if not self.log:
            whole = {float(round(value)) for value in ticks(low, high, 6)}
            return sorted(value for value in whole if low <= value <= high)
        powers = range(floor(log10(low)), ceil(log10(high)) + 1)
        values = [m * 10.0**p for p in powers for m in (1, 2, 5)]
        return [value for value in values if low <= value <= high]


def ticks(low: float, high: float, count: int = N_TICKS) -> list[float]:
    """Return round numbers between two ends."""
    if not high > low:
        return [low]
    raw = (high - low) / count
    unit = 10.0 ** floor(log10(raw))
    step = next(unit * m for m in (1, 2, 2.5, 5, 10) if unit * m >= raw * 0.999)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


def tick_label(value: float) -> str:
    """Write the number of a tick."""
    return f"{value:.10g}" if abs(value) < 1e7 else f"{value:.3g}"


def padded(values: Sequence[float], *, zero: bool = False) -> tuple[float, float]:
    """Return a range that holds the values with some room."""
    low, high = min(values), max(values)
    if zero and low >= 0.0:
        return 0.0, 1.12 * high or 1.0
    room = (high - low) or abs(high) or 1.0
    return low - 0.1 * room, high + 0.12 * room


def svg(content: str, label: str, *, box: str = "", style: str = "") -> str:
    """Return an SVG picture that says what it shows."""
    named = f' class="{style}"' if style else ""
    view = box or f"0 0 {WIDTH:g} {HEIGHT:g}"
    return f'<svg viewBox="{view}" role="img" aria-label="{escape(label)}"{named}>{content}</svg>'


def markers(radius: int = RADIUS) -> list[Marker]:
    """Return the markers of a size."""
    a, b, c = round(1.25 * radius), round(1.05 * radius), round(0.9 * radius)
    return [
        ("h0", 0, 0, "round"),
        (f"l{a} {2 * b}h-{2 * a}z", 0, -a, "fill"),
        (f"h{2 * c}v{2 * c}h-{2 * c}z", -c, -c, "fill"),
        (f"l{a} {a}-{a} {a}-{a}-{a}z", 0, -a, "fill"),
        (f"l{2 * c} {2 * c}m0-{2 * c}l-{2 * c} {2 * c}", -c, -c, "stroke"),
        (f"h{2 * b}m-{b}-{b}v{2 * b}", -b, 0, "stroke"),
    ]


def marks(
    xs: Sequence[int],
    ys: Sequence[int],
    codes: Sequence[int],
    n_groups: int,
    *,
    markers: Sequence[Marker] = tuple(markers()),
) -> str:
    """Return one shape per group of samples, made of all its markers."""
    parts = []
    for group in range(n_groups):
        shape, dx, dy, kind = markers[group % len(markers)]
        path = "".join(
            f"M{x + dx} {y + dy}{shape}"
            for x, y, code in zip(xs, ys, codes, strict=True)
            if code == group
        )
        style = f"m {kind} c{group % N_COLOURS}"
        parts.append(f'<path class="{style}" data-group="{group}" d="{path}"/>')
    return "".join(parts)


def key_mark(group: int) -> str:
    """Return a small picture of the marker of a group, for keys."""
    content = marks([0], [0], [group], group + 1).rsplit("<path", 1)[1]
    return f'<svg class="key-mark" viewBox="-16 -16 32 32" aria-hidden="true"><path{content}</svg>'


def _text(x: float, y: float, text: str, style: str) -> str:
    """Return a piece of text."""
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
