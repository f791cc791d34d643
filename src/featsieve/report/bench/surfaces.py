"""How the scores of JASFS depend on its weights: cuts through the grid."""

# ruff: noqa: RUF001 - mathematical signs are meant

import inspect
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from featsieve.report.bench.scores import by_method, finished, params_of

if TYPE_CHECKING:
    import pandas as pd

# The weights of JASFS: parameter -> the paper's letter, and where the paper fixes it.
WEIGHTS = {"sparsity": ("λ", 1e-3), "alpha": ("α", 1.0), "beta": ("β", 1.0)}
COUNT = "n_features"
# Along a weight without effect whose values are not recorded.
ANY = "any"


@dataclass(frozen=True)
class Surface:
    """Scores over a pair of parameters, everything else fixed.

    ``acc`` and ``nmi`` have one row per value of ``y`` and one column per value of ``x``; NaN where
    nothing was run. ``fixed`` says what the rest was; ``inert`` names axes without any effect (with
    the one place ``ANY`` where their values are not recorded).
    """

    dataset: str
    method: str
    x: str
    y: str
    x_values: tuple[str, ...]
    y_values: tuple[str, ...]
    fixed: str
    inert: tuple[str, ...]
    acc: np.ndarray
    nmi: np.ndarray


def surfaces(rows: "pd.DataFrame", *, selector: str = "JASFS") -> list[Surface]:
    """Sensitivity to each pair of weights, from grid rows.

    A weight without effect is not among the parameters: one fit stands for all its values, which
    the column "inert" holds, and the surface is flat along it. With a single weight the number of
    features is the other axis.
    """
    done = finished(rows, "acc")
    done = done[done["selector"] == selector]
    found = []
    for (dataset, method), group in by_method(done, "grid"):
        points = _grid_points(group, selector)
        inert = _inert_values(group, points)
        axes = {name: values for name in WEIGHTS if len(values := _values(points, name)) > 1}
        known = {name for name, values in inert.items() if values != (ANY,)}
        pairs = [
            pair
            for pair in itertools.combinations(axes | inert, 2)
            if any(name in axes or name in known for name in pair)
        ]
        if not pairs and axes:
            axes |= {COUNT: _values(points, COUNT)}
            pairs = [(COUNT, next(iter(axes)))]
        best = max(points, key=lambda point: point["acc"])
        cut = _Cut((dataset, method), points, best, axes | inert, tuple(inert))
        found += [cut.over(x, y) for x, y in pairs]
    return found


@dataclass(frozen=True)
class _Cut:
    """The grid of one method on one data set, to be cut along two of its axes."""

    key: tuple[str, str]
    points: list[dict[str, Any]]
    best: Mapping[str, Any]
    axes: Mapping[str, tuple[float | str, ...]]
    inert: tuple[str, ...]

    def over(self, x: str, y: str) -> Surface:
        """Average what is left when everything but x and y is fixed."""
        fixed = {
            name: _at(name, values, self.best)
            for name, values in self.axes.items()
            if name not in (x, y, *self.inert)
        }
        several = len(_values(self.points, COUNT)) > 1
        if COUNT not in (x, y) and several and not self.best["own_count"]:
            fixed[COUNT] = self.best[COUNT]
        shape = (len(self.axes[y]), len(self.axes[x]))
        acc, nmi, counts = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        for point in self.points:
            if all(point[name] == value for name, value in fixed.items()):
                where = np.ix_(self._places(point, y), self._places(point, x))
                counts[where] += 1
                acc[where] += point["acc"]
                nmi[where] += point["nmi"]
        with np.errstate(invalid="ignore"):  # 0 / 0: not run
            acc, nmi = acc / counts, nmi / counts
        return Surface(
            dataset=self.key[0],
            method=self.key[1],
            x=label(x),
            y=label(y),
            x_values=tuple(tick(value) for value in self.axes[x]),
            y_values=tuple(tick(value) for value in self.axes[y]),
            fixed=", ".join(f"{label(name)} = {tick(value)}" for name, value in fixed.items()),
            inert=tuple(label(name) for name in self.inert if name in (x, y)),
            acc=acc,
            nmi=nmi,
        )

    def _places(self, point: Mapping[str, Any], name: str) -> np.ndarray:
        """Say which places of an axis a point fills: all of them along an inert one."""
        filled = [name in self.inert or value == point[name] for value in self.axes[name]]
        return np.array(filled, dtype=bool)


def _grid_points(group: "pd.DataFrame", selector: str) -> list[dict[str, Any]]:
    """Rows as dictionaries, with the constructor's default where a varied weight is not named."""
    named = [params_of(text) for text in group["params"]]
    varied = [name for name in WEIGHTS if any(name in params for params in named)]
    defaults = _defaults(selector)
    return [
        {name: params.get(name, defaults.get(name)) for name in varied}
        | {COUNT: int(row.n_features), "own_count": bool(row.own_count)}
        | {"acc": float(row.acc_mean), "nmi": float(row.nmi_mean)}
        for params, row in zip(named, group.itertuples(), strict=True)
    ]


def _inert_values(
    group: "pd.DataFrame", points: list[dict[str, Any]]
) -> dict[str, tuple[float | str, ...]]:
    """Values of the weights that one fit stands for; ``ANY`` where the rows do not say which."""
    found: dict[str, set[float]] = {}
    for text in set(group["inert"].astype(str)) - {"", "nan", "None"}:
        for name, values in json.loads(text).items():
            found.setdefault(name, set()).update(v for v in values if isinstance(v, int | float))
    inert: dict[str, tuple[float | str, ...]] = {
        name: tuple(sorted(found[name])) for name in WEIGHTS if found.get(name)
    }
    if not inert and int(group["stands_for"].max()) > 1:
        missing = [name for name in ("alpha", "beta") if len(_values(points, name)) <= 1]
        inert = dict.fromkeys(missing, (ANY,))
    return inert


def _at(name: str, values: Sequence[float | str], best: Mapping[str, Any]) -> float:
    """Fix a weight where the paper does, or at the best point."""
    if name in WEIGHTS and WEIGHTS[name][1] in values:
        return WEIGHTS[name][1]
    return best[name]


def _values(points: list[dict[str, Any]], name: str) -> tuple[float, ...]:
    """Sort the numbers that a parameter takes."""
    found = {point[name] for point in points if name in point}
    return tuple(sorted(value for value in found if isinstance(value, int | float)))


def _defaults(selector: str) -> dict[str, Any]:
    """Constructor's defaults of a class of featsieve."""
    import featsieve

    found = getattr(featsieve, selector, None)
    if found is None:
        return {}
    return {name: item.default for name, item in inspect.signature(found).parameters.items()}


def label(name: str) -> str:
    """Write an axis as the paper does."""
    if name == COUNT:
        return "number of features"
    return WEIGHTS[name][0] if name in WEIGHTS else name


def tick(value: float | str) -> str:
    """Write a value of a weight: 1e-06 becomes 1e-6, 0.01 becomes 1e-2."""
    if isinstance(value, str):
        return value
    if value and not 0.1 <= abs(value) < 1e4:
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{float(mantissa):g}e{int(exponent)}"
    return f"{value:g}"
