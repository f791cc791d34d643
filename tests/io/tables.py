"""A table with everything that a file may hold."""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from featsieve.datasets import Dataset
from featsieve.io.formats import FORMATS

WRITTEN = [ending for ending, about in FORMATS.items() if about.writes]
RNG = np.random.default_rng(0)
FEATURES = ["age", "größe, cm", 'a "b"', "x;y", " z "]
SAMPLES = ["001", "NA", "two words", "1.50", "a,b", "größe", "7"]


def make_table(dtype=np.float64, *, sparse=False, **changes):
    X = RNG.standard_normal((7, 5)).astype(dtype)
    X[:, 2] = np.arange(7) - 3  # whole numbers
    X[RNG.random((7, 5)) < 0.4] = 0.0
    X[3, 4] = 1e-300 if dtype == np.float64 else 1e-40
    X[2, 1] = np.nan
    table = Dataset(
        name="toy",
        X=sp.csr_array(X) if sparse else X,
        y=np.array([0, 2, 1, 1, 0, 2, 2]),
        feature_names=list(FEATURES),
        sample_names=list(SAMPLES),
        class_names=["aster", "rose", "tulip"],
        id_name="who",
        label_name="kind",
    )
    return replace(table, **changes)
