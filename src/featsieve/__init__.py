"""featsieve: the small group of features that carries the cluster structure of a table.

>>> from featsieve import JASFS
>>> from featsieve.datasets import make_planted
>>> X = make_planted(random_state=0).X
>>> JASFS(n_clusters=4, n_features_to_select=20, random_state=0).fit_transform(X).shape
(150, 20)
"""

from featsieve import selectors
from featsieve.selectors import *  # noqa: F403  (exactly the estimators of selectors.__all__)
from featsieve.tuning import (
    AutoSelector,
    LabelFreeSearchCV,
    StabilitySelection,
    cluster_sensitivity,
    explain,
    sparsity_path,
    structure_score,
    suggest_n_clusters,
)

__version__ = "0.1.0.dev0"

__all__ = [
    *selectors.__all__,
    "AutoSelector",
    "LabelFreeSearchCV",
    "StabilitySelection",
    "__version__",
    "cluster_sensitivity",
    "explain",
    "sparsity_path",
    "structure_score",
    "suggest_n_clusters",
]
