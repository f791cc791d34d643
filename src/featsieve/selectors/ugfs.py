"""UGFS: the group of exactly k features that predicts smooth pseudo-labels best."""

import numpy as np

from featsieve.base import estimator
from featsieve.graphs.affinity import laplacian
from featsieve.selectors.common import Start
from featsieve.selectors.label_support import LabelSupportSelector
from featsieve.solvers.label_support import SupportProblem
from featsieve.solvers.row_sparse import mean_column_norm


@estimator
class UGFS(LabelSupportSelector):
    """Unsupervised group feature selection: exactly k features, chosen together.

    Pseudo-labels F that are smooth on the neighbour graph, non-negative and orthonormal, and a
    regression W on exactly k features that predicts them [1]_:

        min  ||XW - F||² + α tr(F'LF)   subject to  ||W||_{2,0} = k,  F'F = I,  F ≥ 0.

    An intercept and a ridge are added, and F'F = I is a penalty: see ``objective_``. k features are
    judged as a group: one of them is replaced as soon as another fits better to the rest.

    Parameters
    ----------
    %(n_clusters, n_features_to_select)s
        It is k.
    alpha : float, default=0.01
        α, weight of the graph. With large values F follows the graph of all features, noise
        included, and the regression cannot correct it; with very large ones all samples get the
        same labels, and a warning says so.
    ridge : float, default=10.0
        μ of a term μ ||W||², in units of the mean squared column norm. Without it few columns
        interpolate the pseudo-labels when there are more features than samples.
    %(rising_orthogonality)s
        It is ν below.
    %(init, affinity, n_neighbors, scale)s
        The authors' driver has "unit". There is an intercept: "raw" is "none".
    %(max_iter)s
        (At every value of ν.)
    %(tol, path_length, last_callback, verbose, random_state)s
    %(constraints)s

    Attributes
    ----------
    %(sparse_coef_, intercept_, labels_, label_matrix_)s
    scores_ : ndarray of shape (`n_features_in_`,)
        Along ``path_`` by how much the feature lowers the objective (at most as much as those
        before it), behind it what the feature would add; 0 for columns that do not vary.
    %(selected_first, support_, n_features_selected_)s
    path_ : SelectionPath
        Nested selections of every size for the final labels, so that no size needs another run:
        ``path_.order[:m]`` are m features. It passes through the selected ones.
    objective_ : ndarray of shape (`n_iter_`,)
        ||XW + 1b' - F||² + ``ridge_`` ||W||² + α tr(F'LF) + ½ν ||F'F - I||² after every iteration
        at the last ν, with W for columns scaled as ``scale`` says. It never rises by more than
        rounding. (Values at different ν belong to different functions; those of smaller ν are not
        kept.)
    ridge_ : float
        ``ridge`` in units of the objective: times the mean squared norm of the centred columns that
        vary.
    n_iter_ : int
        Number of iterations at the last ν.
    %(status_, n_clusters_, equivalent_range_, input)s

    See Also
    --------
    AUFS : A price for every feature and a loss that forgives outlying samples.
    JASFS : Labels that are exactly feasible, a graph that adapts.

    Notes
    -----
    Deviations from the released program, and why. It is a method of multipliers with three copies
    of variables; every one of its steps minimises the augmented Lagrangian, but it stops while its
    constraints are far from met (the penalty has grown from 1e-4 to 1e-3 by then), and what it
    selects follows from its random start; rows of W are kept by their l1 norm, which is not the
    projection on row-sparse matrices. Here both blocks descend: k features by forward selection,
    then exchanges (with the 512 features that would add most) while they lower the objective, from
    the features of the iteration before and, when the labels have moved, anew; F by projected
    Newton steps with a line search. A multiplicative rule with a penalty of 1e8 would not move F.

    Cost per iteration: O(nd min(n, k) + k²n) for every exchange and O(knd) for a fresh search, for
    d ≤ n O(k²d) and O(nd² + k²d); plus at most O(nc (neighbours + c)) for each of some hundred
    products of the label step. Memory O(nd + min(n, d)²).

    When not to use it: to learn how many features matter (JASFS and AUFS decide); or with a small
    ridge when features are many and redundant, because the group then fits noise.

    References
    ----------
    .. [1] X. Du, F. Nie, W. Wang, Y. Yang and X. Zhou, "Exploiting combination effect for
       unsupervised feature selection by l2,0 norm", IEEE Transactions on Neural Networks and
       Learning Systems 30(1), 2019.

    Examples
    --------
    %(example)s
    """

    max_iter: int = 500

    def _problem(self, start: Start, F: np.ndarray, n_features: int | None) -> SupportProblem:
        """Return what is minimised."""
        return SupportProblem(
            start.operator,
            laplacian(start.graph),
            self.alpha,
            ridge=self.ridge * mean_column_norm(start.operator),
            n_features=n_features,
            exchanges=True,
        )
