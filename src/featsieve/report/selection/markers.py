"""Markers of clusters: a colour and a shape, as one path for all samples of a cluster."""

from collections.abc import Sequence

# A cluster has a colour (a class of the page's style) and a shape; both repeat after 24 clusters.
N_COLOURS = 8
# The shape drawn from its first corner, that corner, whether it is filled, a stroke or a round dot.
Marker = tuple[str, int, int, str]
RADIUS = 9


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
