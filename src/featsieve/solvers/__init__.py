"""How it is minimised: every solver is init / step / terminate, driven by one loop.

========================================  ==========================================================
the loop and what every solver follows    protocol, alternate, block_problem
the W-step: problem, support, ranking     row_sparse, supports
the price of a feature: adding it         forward_selection (its products: forward_forms)
... exchanging it for another             exchanges
... and what no support can do better     certificate
the paper's W-step                        homotopy_iht
labels as a partition                     partition_moves
non-negative labels                       nonnegative_labels, projected_labels
labels and their features in turn         label_support, weighted_kmeans
l2,1 regression and projection            reweighted_ridge, sparse_projection
the lasso                                 lars
general tools                             conjugate_gradients, inverse_factor
========================================  ==========================================================
"""

from featsieve.solvers.alternate import Alternation
from featsieve.solvers.certificate import Certificate, certify
from featsieve.solvers.forward_selection import ForwardSelection, SelectionPath
from featsieve.solvers.homotopy_iht import HomotopyIHT
from featsieve.solvers.partition_moves import PartitionMoves, PartitionProblem
from featsieve.solvers.protocol import Solution, Solver, Status, run
from featsieve.solvers.reweighted_ridge import ReweightedRidge
from featsieve.solvers.row_sparse import RowSparseRegression

__all__ = [
    "Alternation",
    "Certificate",
    "ForwardSelection",
    "HomotopyIHT",
    "PartitionMoves",
    "PartitionProblem",
    "ReweightedRidge",
    "RowSparseRegression",
    "SelectionPath",
    "Solution",
    "Solver",
    "Status",
    "certify",
    "run",
]
