"""The estimators, one method per file."""

from featsieve.jasfs.estimator import JASFS
from featsieve.selectors.aufs import AUFS
from featsieve.selectors.dufs import DUFS
from featsieve.selectors.ifpca import IFPCA
from featsieve.selectors.laplacian_score import LaplacianScore
from featsieve.selectors.max_variance import MaxVariance
from featsieve.selectors.mcfs import MCFS
from featsieve.selectors.ndfs import NDFS
from featsieve.selectors.random_selector import RandomSelector
from featsieve.selectors.rsfs import RSFS
from featsieve.selectors.rufs import RUFS
from featsieve.selectors.skfr import SKFR
from featsieve.selectors.sogfs import SOGFS
from featsieve.selectors.sparse_kmeans import SparseKMeans
from featsieve.selectors.spec import SPEC
from featsieve.selectors.udfs import UDFS
from featsieve.selectors.ugfs import UGFS
from featsieve.selectors.urafs import URAFS
from featsieve.selectors.usfs import USFS

__all__ = [
    "AUFS",
    "DUFS",
    "IFPCA",
    "JASFS",
    "MCFS",
    "NDFS",
    "RSFS",
    "RUFS",
    "SKFR",
    "SOGFS",
    "SPEC",
    "UDFS",
    "UGFS",
    "URAFS",
    "USFS",
    "LaplacianScore",
    "MaxVariance",
    "RandomSelector",
    "SparseKMeans",
]
