"""The real data sets of the benchmarks: files in the folder named by FEATSIEVE_DATA."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.datasets import dataset_info, dataset_names, load_dataset

PAPER = tuple(dataset_names("paper"))
SKFEATURE = tuple(name for name in dataset_names("skfeature") if dataset_info(name).sha256)
SCALE = tuple(dataset_names("scale"))


def folder() -> Path | None:
    """Return the folder of the data sets, None where there is none."""
    named = os.environ.get("FEATSIEVE_DATA")
    path = Path(named) if named else None
    return path if path is not None and (path / "paper").is_dir() else None


def load(name: str) -> tuple[Any, np.ndarray]:
    """Return a data set as float64 table (news20: sparse) and classes 0, 1, ..."""
    root = folder()
    if root is None:
        raise SystemExit("Set FEATSIEVE_DATA to the folder that holds paper/ and skfeature/.")
    dataset = load_dataset(name, data=root)
    return dataset.X, dataset.y
