"""The numbers printed in the paper, to stand beside ours."""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

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
    """What the paper's tables say; ``tables`` by "acc", "nmi" (mean, std) and "n_features"."""

    shapes: Mapping[str, tuple[int, ...]]  # by data set, in the paper's order
    tables: Mapping[str, Mapping[tuple[str, str], Any]]  # then by data set and method


@functools.cache
def load_published() -> Published:
    """Read the paper's tables of ACC, NMI and No.fea."""
    text = resources.files("featsieve.report.bench").joinpath("published.toml").read_text("utf-8")
    content = tomllib.loads(text)
    shapes = {name: tuple(shape) for name, shape in content["shapes"].items()}
    tables = {
        key: {
            (name, method): entry
            for method, row in content[key].items()
            for name, entry in zip(shapes, row, strict=True)
        }
        for key in ("acc", "nmi", "n_features")
    }
    return Published(shapes, tables)
