"""Data sets that need no file: those of scikit-learn, and planted tables with fixed seeds."""

from typing import Any

import numpy as np
import sklearn.datasets

from featsieve.datasets.synthetic import make_planted
from featsieve.io.dataset import Dataset

BUNDLED = ("iris", "wine", "breast_cancer", "digits")

# Shape, then keywords of make_planted where they are not its defaults (20 informative features,
# 4 clusters, signal 2).
PLANTED: dict[str, tuple[tuple[int, int], dict[str, Any]]] = {
    "planted_small": ((80, 30), {"n_informative": 5, "n_redundant": 3, "n_clusters": 3}),
    "planted_wide": ((150, 1000), {}),
    "planted_tall": ((2000, 200), {}),
    "planted_redundant": ((150, 1000), {"n_redundant": 60}),
    "planted_weak": ((150, 1000), {"signal": 1.0}),
    "planted_many": ((200, 500), {"n_informative": 40, "n_clusters": 12}),
}
SEED = 0


def load_embedded(name: str) -> Dataset:
    """Return a data set that comes with scikit-learn or is made up with a fixed seed."""
    if name in PLANTED:
        shape, keywords = PLANTED[name]
        planted = make_planted(*shape, **keywords, random_state=SEED)
        truth: dict[str, Any] = {"informative": planted.informative, "redundant": planted.redundant}
        return Dataset(name, planted.X, planted.labels, **truth)
    bunch = getattr(sklearn.datasets, f"load_{name}")()
    return Dataset(
        name,
        np.asarray(bunch.data, dtype=np.float64),
        np.asarray(bunch.target),
        feature_names=[str(feature) for feature in bunch.feature_names],
        class_names=[str(name) for name in bunch.target_names],
    )
