"""How it is minimised: every solver is init / step / terminate, driven by one loop."""

from featsieve.solvers.alternate import Alternation, Block
from featsieve.solvers.certificate import Certificate, certify
from featsieve.solvers.forward_selection import ForwardSelection, SelectionPath
from featsieve.solvers.homotopy_iht import HomotopyIHT
from featsieve.solvers.labels import MultiplicativeLabels
from featsieve.solvers.local_search import LocalSearch
from featsieve.solvers.partition_moves import PartitionMoves, PartitionProblem
from featsieve.solvers.protocol import Solution, Solver, Status, run
from featsieve.solvers.reweighted_ridge import ReweightedRidge
from featsieve.solvers.row_sparse import RowSparseRegression

__all__ = [
    "Alternation",
    "Block",
    "Certificate",
    "ForwardSelection",
    "HomotopyIHT",
    "LocalSearch",
    "MultiplicativeLabels",
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
