"""How the scores of JASFS depend on its weights: cuts through the grid."""

# ruff: noqa: RUF001 - mathematical signs are meant

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING

from featsieve.report.bench.scores import Key, by_method, finished, params_of

if TYPE_CHECKING:
    import pandas as pd

# The weights of JASFS with the paper's letters.
WEIGHTS = {"sparsity": "λ", "alpha": "α", "beta": "β"}
COUNT = "n_features"


@dataclass(frozen=True)
class Surface:
    """Mean scores over a pair of parameters, everything else fixed."""

    dataset: str
    method: str
    x: str
    y: str
    fixed: str  # what the rest was
    scores: dict[str, "pd.DataFrame"]  # by metric: a row per value of y, NaN where nothing was run


def surfaces(rows: "pd.DataFrame") -> list[Surface]:
    """Cut the grids of JASFS along each pair of weights, through the point of the best accuracy.

    With a single weight the number of features is the other axis. A weight without effect, of
    which one value was fitted for all, is no axis.
    """
    done = finished(rows)
    grid = done[(done["experiment"] == "grid") & (done["selector"] == "JASFS")]
    return [surface for key, group in by_method(grid) for surface in _cuts(key, group)]


def _cuts(key: Key, group: "pd.DataFrame") -> Iterator[Surface]:
    """Cut the grid of one method on one data set."""
    import pandas as pd

    from featsieve import JASFS

    defaults = signature(JASFS).parameters
    points = group.copy()
    for name in WEIGHTS:  # rows name only what differs from the default, which may be a word
        values = [params_of(text).get(name, defaults[name].default) for text in group["params"]]
        points[name] = pd.to_numeric(pd.Series(values, points.index), errors="coerce")
    axes = [name for name in WEIGHTS if points[name].nunique() > 1]
    pairs = list(itertools.combinations(axes, 2))
    if not points["own_count"].any() and points[COUNT].nunique() > 1:
        pairs = pairs or [(COUNT, name) for name in axes]
        axes.append(COUNT)
    best = points.loc[points["acc_mean"].idxmax()]
    for x, y in pairs:
        cut, fixed = points, []
        for name in axes:
            if name not in (x, y):
                cut = cut[cut[name] == best[name]]
                fixed.append(f"{label(name)} = {tick(best[name])}")
        scores = {
            metric: cut.pivot_table(index=y, columns=x, values=f"{metric}_mean")
            for metric in ("acc", "nmi")
        }
        yield Surface(*key, label(x), label(y), ", ".join(fixed), scores)


def label(name: str) -> str:
    """Write an axis as the paper does."""
    return WEIGHTS.get(name, "number of features")


def tick(value: float) -> str:
    """Write a value of a weight: 1e-06 becomes 1e-6, 0.01 becomes 1e-2."""
    if value and not 0.1 <= abs(value) < 1e4:
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{float(mantissa):g}e{int(exponent)}"
    return f"{value:g}"
