"""How the scores of JASFS depend on its weights: cuts through the grid."""

# ruff: noqa: RUF001 - mathematical signs are meant

import itertools
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING

import numpy as np

from featsieve.report.bench.scores import by_method, finished, params_of

if TYPE_CHECKING:
    import pandas as pd

# The weights of JASFS: parameter -> the paper's letter, and where the paper fixes it.
WEIGHTS = {"sparsity": ("λ", 1e-3), "alpha": ("α", 1.0), "beta": ("β", 1.0)}
COUNT = "n_features"


@dataclass(frozen=True)
class Surface:
    """Scores over a pair of parameters, everything else fixed; NaN where nothing was run."""

    dataset: str
    method: str
    x: str
    y: str
    x_values: tuple[str, ...]
    y_values: tuple[str, ...]
    fixed: str  # what the rest was
    inert: tuple[str, ...]  # axes without any effect
    acc: np.ndarray  # one row per value of y, one column per value of x
    nmi: np.ndarray


def surfaces(rows: "pd.DataFrame") -> list[Surface]:
    """Sensitivity to each pair of weights, from grid rows.

    A weight without effect is not among the parameters: one fit stands for all its values, which
    the column "inert" holds, and the surface is flat along it. With a single weight the number of
    features is the other axis.
    """
    done = finished(rows)
    grid = done[(done["experiment"] == "grid") & (done["selector"] == "JASFS")]
    found = []
    for key, group in by_method(grid):
        points, inert = _points(group)
        axes = [name for name in WEIGHTS if name in points and points[name].nunique() > 1]
        pairs = list(itertools.combinations(axes, 2))
        if not pairs and axes:
            pairs = [(COUNT, axes[0])]
        found += [_cut(key, points, pair, axes=axes, inert=inert) for pair in pairs]
    return found


def _points(group: "pd.DataFrame") -> tuple["pd.DataFrame", tuple[str, ...]]:
    """Return the points of a grid with their weights and scores, and the weights without effect.

    The constructor's default stands where a varied weight is not named.
    """
    import pandas as pd

    from featsieve import JASFS

    usual = {name: signature(JASFS).parameters[name].default for name in WEIGHTS}
    points, inert = [], set()
    for row in group.itertuples():
        named, flat = params_of(row.params), params_of(str(row.inert))
        inert |= set(flat)
        values = [flat.get(name, [named.get(name, usual[name])]) for name in WEIGHTS]
        points += [
            (*point, row.n_features, row.own_count, row.acc_mean, row.nmi_mean)
            for point in itertools.product(*values)
        ]
    table = pd.DataFrame(points, columns=[*WEIGHTS, COUNT, "own_count", "acc", "nmi"])
    for name in WEIGHTS:  # a default may be a word
        table[name] = pd.to_numeric(table[name], errors="coerce")
    return table, tuple(name for name in WEIGHTS if name in inert)


def _cut(
    key: tuple[str, str],
    points: "pd.DataFrame",
    pair: tuple[str, str],
    *,
    axes: list[str],
    inert: tuple[str, ...],
) -> Surface:
    """Average what is left when everything but a pair of axes is fixed.

    A weight is fixed where the paper does, or at the best point.
    """
    x, y = pair
    best = points.loc[points["acc"].idxmax()]
    fixed = {}
    for name in axes:
        if name not in (*pair, *inert):
            usual = WEIGHTS[name][1]
            fixed[name] = usual if usual in set(points[name]) else best[name]
    if COUNT not in pair and points[COUNT].nunique() > 1 and not best["own_count"]:
        fixed[COUNT] = best[COUNT]
    places = {name: sorted(points[name].dropna().unique()) for name in pair}
    for name, value in fixed.items():
        points = points[points[name] == value]
    table = points.pivot_table(index=y, columns=x, values=["acc", "nmi"], aggfunc="mean")
    scores = {
        metric: table[metric].reindex(index=places[y], columns=places[x]).to_numpy(dtype=float)
        for metric in ("acc", "nmi")
    }
    return Surface(
        *key,
        x=label(x),
        y=label(y),
        x_values=tuple(tick(value) for value in places[x]),
        y_values=tuple(tick(value) for value in places[y]),
        fixed=", ".join(f"{label(name)} = {tick(value)}" for name, value in fixed.items()),
        inert=tuple(label(name) for name in inert if name in pair),
        **scores,
    )


def label(name: str) -> str:
    """Write an axis as the paper does."""
    return "number of features" if name == COUNT else WEIGHTS[name][0]


def tick(value: float) -> str:
    """Write a value of a weight: 1e-06 becomes 1e-6, 0.01 becomes 1e-2."""
    if value and not 0.1 <= abs(value) < 1e4:
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{float(mantissa):g}e{int(exponent)}"
    return f"{value:g}"
