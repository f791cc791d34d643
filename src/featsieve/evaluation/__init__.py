"""How good a clustering is, judged by labels that no selector has seen."""

from featsieve.evaluation.metrics import clustering_accuracy, normalized_mutual_information
from featsieve.evaluation.protocol import paper_protocol

__all__ = ["clustering_accuracy", "normalized_mutual_information", "paper_protocol"]
