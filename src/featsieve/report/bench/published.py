"""The numbers printed in the paper, to stand beside ours."""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

# The paper's grid of JASFS: six values of lambda, seven of alpha, seven of beta.
JASFS_POINTS = 294
# Class of featsieve -> name in the paper's tables. The row of JASFS belongs to the published
# algorithm, ``solver="paper"``, only.
NAMES = {
    "AllFeatures": "Baseline",
    "LaplacianScore": "L-score",
    **{name: name for name in ("MCFS", "UDFS", "NDFS", "RUFS", "AUFS", "URAFS", "USFS", "UGFS")},
    "JASFS": "JASFS",
}


@dataclass(frozen=True)
class Published:
    """What the paper's tables say; scores and counts by (data set, method)."""

    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    shapes: Mapping[str, tuple[int, int, int]]
    scores: Mapping[str, Mapping[tuple[str, str], tuple[float, float]]]  # by metric: mean, std
    n_features: Mapping[tuple[str, str], int]


@functools.cache
def load_published() -> Published:
    """Read the paper's tables of ACC, NMI and No.fea."""
    text = resources.files("featsieve.report.bench").joinpath("published.toml").read_text("utf-8")
    content = tomllib.loads(text)
    names = tuple(content["datasets"])
    tables: dict[str, Any] = {
        key: {
            (name, method): tuple(entry) if isinstance(entry, list) else entry
            for method, row in content[key].items()
            for name, entry in zip(names, row, strict=True)
        }
        for key in ("acc", "nmi", "n_features")
    }
    counts = tables.pop("n_features")
    shapes = {name: tuple(shape) for name, shape in content["shapes"].items()}
    return Published(names, tuple(content["acc"]), shapes, tables, counts)
