"""RUFS: features that predict cluster labels, with losses that outlying samples cannot dominate."""

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from featsieve.arrays import DataOperator
from featsieve.arrays.derived import shifted_to_zero, unshifted
from featsieve.arrays.namespace import is_sparse
from featsieve.docstrings import fill_doc
from featsieve.graphs.affinity import laplacian
from featsieve.graphs.local_models import local_learning_laplacian
from featsieve.selectors.label_regression import LabelRegressionSelector, Start
from featsieve.selectors.rufs_paper import PublishedRUFS
from featsieve.selectors.rufs_problem import RUFSProblem
from featsieve.solvers.nonnegative_labels import unit_columns
from featsieve.validation import check_option, nonnegative, one_of, positive, positive_or_auto

LAPLACIANS = ("local_learning", "graph")


@fill_doc
class RUFS(LabelRegressionSelector):
    """Robust unsupervised feature selection.

    Non-negative labels G that (nearly) orthonormal clusters and their basis F reconstruct the table
    with, that neighbours predict, and that a row-sparse regression W predicts from the features,
    found in turn [1]_:

        min  ||X - GF||_{2,1} + ν tr(G'LG) + α ||XW - G||_{2,1} + β ||W||_{2,1}
             + ¼ζ ||G'G - I||² + μ ||G||_1 + φ Σ_j ||F_.j||,      G ≥ 0, F ≥ 0.

    The l2,1 norm sums the lengths of rows, of samples in both losses: a sample that fits badly
    counts with its distance, not with its square. The score of a feature is the length of its row
    of W.

    Parameters
    ----------
    %(n_clusters, n_features_to_select)s
    nu : float, default=1.0
        ν, weight of the neighbours. While ζ freezes G it acts through the
        stopping rule alone.
    alpha : float, default=1.0
        α, weight of the regression. Only β/α matters while ζ freezes G.
    beta : float or "auto", default="auto"
        β, row sparsity. From α max_j ||x_j'U|| on, U being G with rows of unit length, all weights
        vanish (there is a warning); "auto" is half of that, for the first labels.
    orthogonality : float, default=1e7
        ζ. The published value practically freezes the labels at their start. With values up to 1e6
        the first G is softened, and labels do move once ζ is of the order of the other terms.
    label_penalty : float, default=0.1
        μ, not in the paper's problem but in its program.
    basis_penalty : float, default=1e-4
        φ, likewise.
    laplacian : {"local_learning", "graph"} or array-like of shape (n_samples, n_samples), \
default="local_learning"
        L: the error of predicting a label from the neighbours' by kernel ridge regression, the
        Laplacian of the graph, or a symmetric matrix (positive semidefinite, to make sense).
    update : {"safe", "paper"}, default="safe"
        "safe" minimises upper bounds of the objective, which therefore never rises. "paper" is the
        published projected L-BFGS of the blocks.
    %(init)s
    affinity : {"heat", "binary"} or array-like of shape (n_samples, n_samples), default="heat"
        Weights of the edges of the graph that ``init="spectral"`` and ``laplacian="graph"`` use,
        or a symmetric, non-negative affinity matrix.
    n_neighbors : int, default=5
        Neighbours of a sample, in the graph and in local learning, or all others if there are
        fewer.
    scale : {"unit", "none", "raw", "sqrt"}, default="unit"
        Columns that the regression sees: centred with unit variance, centred only, or as they are
        (as published: there is no intercept, and lengths of rows of W depend on units). The
        reconstruction by F ≥ 0 and G ≥ 0 needs non-negative numbers: it sees the same columns
        shifted to minimum 0, or for "raw" as they are, where only positive entries can be fitted.
        "sqrt" is half way from "none" to "unit".
    %(max_iter)s
        (Published: 10.)
    tol : float, default=1e-5
        Relative change of the objective, and of its part with W alone, that ends them. For
        ``update="paper"`` the absolute change of the objective, or the length of its projected
        gradient relative to the start (published: 1e-4).
    %(callback, verbose, random_state)s

    Attributes
    ----------
    %(coef_)s
    beta_ : float
        The β that was used.
    basis_ : ndarray of shape (n_clusters, `n_features_in_`)
        F, for the columns that the reconstruction sees.
    sample_weights_ : ndarray of shape (n_samples,)
        1/||x_i - g_iF||, scaled to at most 1: small for outlying samples.
    %(labels_, scores_, selection)s
    objective_ : ndarray of shape (`n_iter_`,)
        The objective after every iteration, with lengths smoothed to sqrt(||.||² + small).
    %(outcome, n_clusters_, automatic, input)s

    See Also
    --------
    RSFS : Robust in single entries of the labels instead of in samples.
    NDFS : Squared losses.

    Notes
    -----
    Deviations from the paper and public code, and why. The blocks are solved by reweighted least
    squares (W), multiplicative steps that minimise an upper bound (G, without and with the length
    of its columns held) and exact minimisation of one row after the other (F): the objective never
    rises, at the published ζ it ends lower, and the answer does not hang on the order of the
    samples, as it does where line searches decide when to stop. G starts with columns of unit
    length, for both updates: from the 0/1 indicator of the public program the first line searches
    throw the labels away. Residuals are smoothed; there, a sample that is fitted exactly gives 0/0.
    Local learning uses the full kernel of the neighbours, with which the ridge regressions are
    positive definite; public code takes it from the sparse graph with zero diagonal, with which
    they are not.

    ``update="paper"`` keeps the published search directions, step sizes and inner tolerances, but
    repairs what contradicts them: the gradient in F uses the residuals of the current F (not the
    first), one objective is evaluated everywhere (the program mixes row and column norms of F, and
    spectral and Frobenius norms of G'G - I), a small change of it ends the run whether or not
    messages are printed, and curvature pairs with s'y ≤ 0 are left out.

    Cost per iteration: three regressions of O(n²d + n³) for d > n, O(nd² + d³) for d ≤ n, plus
    O(ndc); memory O(nd + min(n, d)²). Sparse tables stay sparse: the shift is a rank-one term.

    When not to use it: if the first clustering is wrong, nothing corrects it (see ζ). Its losses
    forgive samples that fit badly, not samples with extreme features, to which W can bend. And for
    n much larger than d its regressions, whose weights change, cost more than those of NDFS.

    References
    ----------
    .. [1] M. Qian and C. Zhai, "Robust unsupervised feature selection", IJCAI 2013.

    Examples
    --------
    %(example)s
    """

    _checks: ClassVar = {
        "update": one_of("safe", "paper"),
        "nu": nonnegative,
        "alpha": positive,
        "beta": positive_or_auto,
        "orthogonality": nonnegative,
        "label_penalty": nonnegative,
        "basis_penalty": nonnegative,
    }

    nu: float
    label_penalty: float
    basis_penalty: float
    laplacian: Any
    sample_weights_: np.ndarray

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_features_to_select: int | float | str = 0.1,
        nu: float = 1.0,
        alpha: float = 1.0,
        beta: float | str = "auto",
        orthogonality: float = 1e7,
        label_penalty: float = 0.1,
        basis_penalty: float = 1e-4,
        laplacian: Any = "local_learning",
        update: str = "safe",
        init: Any = "spectral",
        affinity: Any = "heat",
        n_neighbors: int = 5,
        scale: str = "unit",
        max_iter: int = 200,
        tol: float = 1e-5,
        callback: Any = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self._store(locals())

    def _check_parameters(self) -> None:
        """Validate the parameters; a Laplacian may be a matrix."""
        super()._check_parameters()
        if isinstance(self.laplacian, str):
            check_option("laplacian", self.laplacian, LAPLACIANS)

    def _graph(self, operator: DataOperator) -> sp.csr_array | None:
        """Return the graph, if first labels or Laplacian need it."""
        wanted = [isinstance(self.init, str) and self.init == "spectral"]
        wanted += [isinstance(self.laplacian, str) and self.laplacian == "graph"]
        return super()._graph(operator) if any(wanted) else None

    def _problem(self, start: Start, F: np.ndarray) -> RUFSProblem:
        """Return the objective."""
        operator, kind = start.operator, RUFSProblem if self.update == "safe" else PublishedRUFS
        raw = self.scale == "raw"
        return kind(
            operator=operator,
            table=unshifted(operator) if raw else shifted_to_zero(operator, start.X),
            laplacian=self._laplacian(start),
            nu=self.nu,
            alpha=self.alpha,
            beta=self._resolve_beta(start),
            orthogonality=self.orthogonality,
            label_penalty=self.label_penalty,
            basis_penalty=self.basis_penalty,
        )

    def _laplacian(self, start: Start) -> sp.csr_array:
        """Return L."""
        if not isinstance(self.laplacian, str):
            return given_laplacian(self.laplacian, start.operator.shape[0])
        if self.laplacian == "graph":
            return laplacian(start.graph)
        return local_learning_laplacian(start.operator, n_neighbors=self.n_neighbors)

    def _slope(self, F: np.ndarray) -> np.ndarray:
        """Return half the slope of the loss at W = 0."""
        return 0.5 * self.alpha * unit_columns(F.T).T

    def _set_labels(self, start: Start, problem: Any, state: Any) -> tuple[Any, bool]:
        """Set the labels, their basis, and how well it fits the samples."""
        self.basis_ = state.basis.T
        lengths = problem.reconstruction_lengths(state.F, state.basis, state.images)
        self.sample_weights_ = lengths.min() / lengths
        return super()._set_labels(start, problem, state)


def given_laplacian(L: Any, n_samples: int) -> sp.csr_array:
    """Return a user's matrix as CSR, or say what is wrong with it."""
    hint = "laplacian must be 'local_learning', 'graph', or a symmetric (n_samples, n_samples)"
    try:
        L = L if is_sparse(L) else np.asarray(L, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{hint} matrix; got {type(L).__name__}.") from error
    if L.ndim != 2 or L.shape != (n_samples, n_samples):
        raise ValueError(f"{hint} matrix, here {(n_samples, n_samples)}; got shape {L.shape}.")
    L = sp.csr_array(L, dtype=np.float64)
    if not np.isfinite(L.data).all():
        raise ValueError(f"{hint} matrix; got non-finite entries.")
    if abs(L - L.T).max() > 1e-10 * np.abs(L.data).max(initial=0.0):
        raise ValueError(f"{hint} matrix; got one that is not symmetric: pass (L + L.T) / 2.")
    return L
