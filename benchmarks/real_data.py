"""The real data sets of the benchmarks: .mat files in the folder named by FEATSIEVE_DATA."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.io import loadmat

PAPER = ("brain", "breast3", "jaffe", "lung", "mnist", "nci", "ORL", "palm")
SKFEATURE = (
    "ALLAML",
    "BASEHOCK",
    "Prostate-GE",
    "Yale",
    "arcene",
    "colon",
    "lung_small",
    "lymphoma",
    "madelon",
    "pixraw10P",
    "warpAR10P",
    "warpPIE10P",
)
SCALE = ("mnist_70000x784", "news20_15935x62061")


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
    if name in SCALE:
        with np.load(root / "scale" / f"{name}.npz") as stored:
            y = np.unique(stored["y"].ravel(), return_inverse=True)[1]
            if "X" in stored:
                return stored["X"].astype(np.float64), y
            parts = (stored["data"].astype(np.float64), stored["indices"], stored["indptr"])
            return sp.csr_array(parts, shape=tuple(stored["shape"])), y
    path = root / ("paper" if name in PAPER else "skfeature") / f"{name}.mat"
    content = loadmat(path, mat_dtype=True)
    X = content["fea"] if "fea" in content else content["X"]
    y = content["gnd"] if "gnd" in content else content["Y"]
    return np.asarray(X, dtype=np.float64), np.unique(y.ravel(), return_inverse=True)[1]
