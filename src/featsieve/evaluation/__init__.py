"""How good a selection is, judged by classes that no selector has seen, and by itself."""

from featsieve.evaluation.differences import Difference, compare_with_reference
from featsieve.evaluation.metrics import clustering_accuracy
from featsieve.evaluation.protocol import ClusteringScores, paper_protocol, practical_protocol
from featsieve.evaluation.ranks import RankComparison, compare_ranks
from featsieve.evaluation.redundancy import redundancy
from featsieve.evaluation.stability import Stability, selection_stability

__all__ = [
    "ClusteringScores",
    "Difference",
    "RankComparison",
    "Stability",
    "clustering_accuracy",
    "compare_ranks",
    "compare_with_reference",
    "paper_protocol",
    "practical_protocol",
    "redundancy",
    "selection_stability",
]
