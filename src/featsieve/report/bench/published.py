"""The numbers printed in the paper, to stand beside ours."""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

# The paper's grid of JASFS: six values of lambda, seven of alpha, seven of beta.
JASFS_POINTS = 294
# The other methods were asked for 50, 100, ..., 400 features.
PAPER_COUNTS = 8

# Class of featsieve -> name in the paper's tables.
NAMES = {
    "AllFeatures": "Baseline",
    "LaplacianScore": "L-score",
    "MCFS": "MCFS",
    "UDFS": "UDFS",
    "NDFS": "NDFS",
    "RUFS": "RUFS",
    "AUFS": "AUFS",
    "URAFS": "URAFS",
    "USFS": "USFS",
    "UGFS": "UGFS",
    "JASFS": "JASFS",
}


@dataclass(frozen=True)
class Published:
    """What the paper's tables say."""

    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    shapes: Mapping[str, tuple[int, int, int]]
    scores: Mapping[str, Mapping[tuple[str, str], tuple[float, float]]]
    n_features: Mapping[tuple[str, str], int]

    def repeated_rows(self) -> list[tuple[str, str, str, list[str]]]:
        """List pairs of methods with the same mean and deviation on more than one data set."""
        found = []
        for metric, scores in self.scores.items():
            for i, first in enumerate(self.methods):
                for second in self.methods[i + 1 :]:
                    same = [k for k in self.datasets if scores[k, first] == scores[k, second]]
                    if len(same) > 1:
                        found.append((metric, first, second, same))
        return found


@functools.cache
def load_published() -> Published:
    """Read the paper's tables of ACC, NMI and No.fea."""
    text = resources.files("featsieve.report.bench").joinpath("published.toml").read_text("utf-8")
    content = tomllib.loads(text)
    names = tuple(content["datasets"])
    scores = {
        metric: {
            (name, method): (float(mean), float(std))
            for method, row in content[metric].items()
            for name, (mean, std) in zip(names, row, strict=True)
        }
        for metric in ("acc", "nmi")
    }
    counts = {
        (name, method): int(count)
        for method, row in content["n_features"].items()
        for name, count in zip(names, row, strict=True)
    }
    shapes = {name: (shape[0], shape[1], shape[2]) for name, shape in content["shapes"].items()}
    return Published(names, tuple(content["acc"]), shapes, scores, counts)


def published_name(selector: str, params: Mapping[str, Any]) -> str | None:
    """Name of the row of the paper's tables that a selector stands beside.

    The paper's row of JASFS belongs to its own algorithm, ``solver="paper"``, only.
    """
    if selector == "JASFS" and params.get("solver") != "paper":
        return None
    return NAMES.get(selector)
