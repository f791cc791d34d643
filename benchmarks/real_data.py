"""The real data sets of the benchmarks: files in the folder named by FEATSIEVE_DATA."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.datasets import dataset_info, dataset_names, load_dataset

PAPER = tuple(dataset_names("paper"))
SKFEATURE = tuple(name for name in dataset_names("skfeature") if dataset_info(name).sha256)
MORE = tuple(dataset_names("more"))
SCALE = tuple(dataset_names("scale"))
# What is measured alike: sets of one family are not independent of each other.
FAMILIES = {
    "genes": (  # and the mass spectra of arcene
        *("brain", "breast3", "lung", "nci", "ALLAML", "Prostate-GE", "arcene", "colon"),
        *("lung_small", "lymphoma", "9_Tumor", "Brain_Tumor_1", "DLBCL", "GLIOMA", "Leukemia_1"),
        "nci9",
    ),
    "faces": (  # and the palms of palm
        *("jaffe", "ORL", "palm", "Yale", "pixraw10P", "warpAR10P", "warpPIE10P", "AR", "umist"),
    ),
    "digits": ("mnist", "binalpha", "semeion"),
    "text": ("BASEHOCK", "tr11", "tr45"),
    "speech and handwriting": ("lsvt", "alzheimer"),
    "single cells": ("sc_baron_mouse1", "sc_camp", "sc_mix5_celseq2", "sc_pollen"),
    "categories": ("SCADI", "audiology", "zoo"),
    "made": ("madelon",),
}
RAW_COUNTS = ("sc_baron_mouse1", "sc_camp", "sc_mix5_celseq2")


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
    return dataset.X.astype(np.float64, copy=False), dataset.y


def prepared(name: str) -> tuple[Any, np.ndarray]:
    """Return a data set as `load`; raw counts by the total of the cell, log1p."""
    X, y = load(name)
    if name in RAW_COUNTS:
        total = X.sum(axis=1, keepdims=True)
        X = np.log1p(X / total * np.median(total))
    return X, y
