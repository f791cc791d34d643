"""How good a clustering is, judged by labels that no selector has seen."""

from featsieve.evaluation.metrics import clustering_accuracy, normalized_mutual_information
from featsieve.evaluation.protocol import paper_protocol
from featsieve.evaluation.stability import Stability, selection_stability

__all__ = [
    "Stability",
    "clustering_accuracy",
    "normalized_mutual_information",
    "paper_protocol",
    "selection_stability",
]
