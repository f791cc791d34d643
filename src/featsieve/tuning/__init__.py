"""Choosing without labels: how many features, how many clusters, how certain."""

from featsieve.tuning.auto_selector import AutoSelector
from featsieve.tuning.criteria import (
    CentroidAccuracy,
    Criterion,
    FullSilhouette,
    LabelAgreement,
    Modularity,
)
from featsieve.tuning.curve import CriterionCurve
from featsieve.tuning.explanation import explain
from featsieve.tuning.n_clusters import ClusterCount, suggest_n_clusters
from featsieve.tuning.path import SparsityPath, sparsity_path
from featsieve.tuning.search import LabelFreeSearchCV
from featsieve.tuning.sensitivity import cluster_sensitivity
from featsieve.tuning.stability_selection import StabilitySelection
from featsieve.tuning.structure import NoStructureWarning, structure_score

__all__ = [
    "AutoSelector",
    "CentroidAccuracy",
    "ClusterCount",
    "Criterion",
    "CriterionCurve",
    "FullSilhouette",
    "LabelAgreement",
    "LabelFreeSearchCV",
    "Modularity",
    "NoStructureWarning",
    "SparsityPath",
    "StabilitySelection",
    "cluster_sensitivity",
    "explain",
    "sparsity_path",
    "structure_score",
    "suggest_n_clusters",
]
