"""Choosing without labels: how many features, how many clusters, how certain."""

from featsieve.criteria.curve import CriterionCurve
from featsieve.criteria.measures import Criterion, LabelAgreement, Modularity
from featsieve.criteria.n_clusters import ClusterCount, suggest_n_clusters
from featsieve.criteria.qvalues import FeatureQValues, feature_qvalues
from featsieve.criteria.structure import NoStructureWarning, StructureTest, structure_test
from featsieve.tuning.auto_selector import AutoSelector
from featsieve.tuning.explanation import explain
from featsieve.tuning.search import LabelFreeSearchCV
from featsieve.tuning.stability_selection import StabilitySelection

__all__ = [
    "AutoSelector",
    "ClusterCount",
    "Criterion",
    "CriterionCurve",
    "FeatureQValues",
    "LabelAgreement",
    "LabelFreeSearchCV",
    "Modularity",
    "NoStructureWarning",
    "StabilitySelection",
    "StructureTest",
    "explain",
    "feature_qvalues",
    "structure_test",
    "suggest_n_clusters",
]
