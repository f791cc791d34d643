"""JASFS: joint adaptive graph and structured sparsity regularised feature selection."""

from dataclasses import field, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from featsieve import defaults
from featsieve.arrays import DataOperator, as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.base import estimator
from featsieve.criteria.automatic import RankedPath
from featsieve.criteria.curve import CriterionCurve, default_sizes, judge
from featsieve.criteria.measures import Modularity
from featsieve.criteria.structure import warn_without_structure
from featsieve.graphs import initial_labels
from featsieve.graphs.spectral_labels import order_of_appearance
from featsieve.jasfs.cluster_model import ClusterModel
from featsieve.jasfs.joint import JointState, nothing_selected, rank, solve_joint
from featsieve.jasfs.paper import (
    PaperProblem,
    cluster_means,
    largest_sparsity,
    rank_rows,
    solve_paper,
)
from featsieve.jasfs.problem import Problem, too_large
from featsieve.jasfs.start import Settings, Start, authors_start, start
from featsieve.solvers.forward_selection import ForwardState
from featsieve.solvers.labels import FORMULAS
from featsieve.solvers.row_sparse import mean_column_norm
from featsieve.solvers.supports import NONE, path_through
from featsieve.validation import (
    BOTH_SET,
    Check,
    nonnegative,
    nonnegative_integer,
    one_of,
    positive,
    positive_or_auto,
    resolve_n_features,
)


@estimator
class JASFS(ClusterModel):
    """Select the features that carry the cluster structure of a table, without labels.

    Pseudo-labels F (a partition of the samples), a row-sparse regression W of F on the features
    and a graph S of the samples are found together [1]_:

        J = ½ ||H(ZW - F)||² + α tr(F'L_S F) + β Σ s_ij log(s_ij/a_ij) + λ ||W||_{2,0} + ½ μ ||W||²

    with F ≥ 0, F'F = I and the rows of S on the simplex; the selected features are the non-zero
    rows of W.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters c to look for, at least 2, or "auto": the number that the neighbour graph
        supports best, right within a factor of about two
        (:func:`~featsieve.tuning.suggest_n_clusters`). It need not be exact: halving it costs more
        than doubling it.
    n_features_to_select : int, float, "auto" or None, default=None
        How many features to select (k): a count, or a fraction of the features. None leaves it to
        ``sparsity``; "auto" is the same as ``sparsity="auto"``. Columns that do not vary come last,
        and are selected only if k asks for all.
    sparsity : float or "auto", default="auto"
        λ, the price of a feature. With the joint solver a feature is selected while it lowers the
        loss by at least this much. "auto" takes the smallest selection that shows the clusters as
        well as any: of up to 400 features, the fewest whose k-means labels have a modularity within
        0.01 of the best, on the neighbour graph of all features (``path_.curve``). That is often
        fewer than all that carry the structure: for these, set ``n_features_to_select``. It warns
        where the table shows no structure (:class:`~featsieve.tuning.NoStructureWarning`). With
        ``solver="paper"`` λ is 1e-3 then, and the number of its features is found likewise.
    alpha : float, default=0.3
        α, weight of the graph.
    beta : float, default=1.0
        β, weight of the graph's entropy: how freely S departs from its prior. Measured effect on
        the selection: none that could be told from noise (large β is a fixed graph).
    solver : {"joint", "paper"}, default="joint"
        "joint" descends J over exactly feasible labels, on standardised columns, with the
        nearest-neighbour graph of the data as prior a. "paper" follows the authors' program to the
        letter: raw columns, no ridge, uniform prior, labels frozen by a penalty of 1e8 (so that α
        and β act through the stopping rule alone), 2 to 15 gradient steps.
    init : {"auto", "spectral", "landmarks", "k-means", "best"}, labels or callable, default="auto"
        First pseudo-labels. "spectral": spectral clustering (joint solver: of the neighbour graph
        in the hat metric). "landmarks": the same through up to 2000 points among the samples, in
        time and memory linear in their number. "auto": "landmarks" above 20,000 samples; else
        "spectral", unless its labels are hardly predictable from the other samples and those of
        plain distances show more structure than permuted columns do. "best": the better predicted
        of "spectral" and plain distances. "k-means". Or an array of labels, or
        ``init(X, n_clusters, random_state)``.
    scale : {"auto", "unit", "sqrt", "none"}, default="auto"
        Column scaling: "unit" variance, so that units do not matter (unless ``init="auto"`` turns
        to distances of the columns as given), "none", or "sqrt", half way between the two. "auto"
        is "unit" for the joint solver, "none" for "paper".
    n_neighbors : int, default=5
        Neighbours of a sample in the graph, or all others if there are fewer.
    ridge : float, default=10.0
        μ, in units of the mean squared column norm (joint solver). Large values keep groups of
        correlated features, small ones avoid redundancy.
    shrinkage : float, default=1.0
        ρ: ridge of the metric in which the first labels are sought, in units of the mean
        eigenvalue of the data (joint solver).
    formula : {"code", "paper"}, default="code"
        For ``solver="paper"``: whether to follow the authors' code or the printed equations, where
        the two differ.
    orthogonality : float, default=1e8
        ν, penalty for labels that are not orthonormal (``solver="paper"``).
    max_iter : int, default=20
        Most iterations of the alternation. With the joint solver, 1 is the fast mode: one selection
        for the first labels.
    tol : float, default=1e-5
        Relative change of the objective that ends the alternation.
    path_length : int, default=300
        Length of ``path_`` (at least the number of selected features).
    %(callback, verbose)s
    random_state : int, RandomState instance or None, default=None
        Seeds the k-means runs of the first labels. An integer gives the same answer every time.

    Attributes
    ----------
    coef_ : ndarray of shape (`n_features_in_`, n_clusters)
        W, in the units of X; zero for features that are not selected.
    intercept_ : ndarray of shape (n_clusters,)
        b: F is approximated by ``X @ coef_ + intercept_``.
    cluster_centers_ : ndarray of shape (n_clusters, `n_features_selected_`)
        Means of the selected columns in each cluster.
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample: the pseudo-labels, numbered by their first sample (labels that
        were given keep their order).
    scores_ : ndarray of shape (`n_features_in_`,)
        What each feature is worth; larger is better, 0 for columns that do not vary. Prices, not
        probabilities, and not comparable between tables. Joint solver: along ``path_`` the
        largest λ that still selects the feature, behind it what the feature would add. Paper:
        length of its row of W.
    %(selection)s
    path_ : SelectionPath
        The nested selections of every size up to ``path_length`` (joint solver):
        ``path_.order[:k]`` are the k best features for ``labels_``. Where the number was to be
        found, ``path_.curve`` holds the criterion for every number that was looked at, with
        ``table()`` and ``plot()``; it belongs to the first labels.
    objective_ : ndarray of shape (`n_iter_`,)
        J after every iteration. It never rises with the joint solver.
    %(outcome)s
    label_accuracy_ : float
        How well the labels of the samples are predicted from the other samples (joint solver;
        leave-one-out balanced accuracy of ridge regression). Near 1 for clear clusters. A low value
        is bad news; a high one is not proof, as noise cut into two halves is predictable too:
        :func:`~featsieve.tuning.structure_score` tells them apart.
    init_ : str
        Where the first labels came from: "spectral", "landmarks", "raw" or "scaled" (plain
        distances of the columns as given, or scaled), "k-means", "given".
    n_landmarks_ : int
        The landmarks that the graph of the samples goes through; 0 where it joins them directly
        (joint solver).
    sparsity_ : float
        The λ that was used (joint solver: 0 where a number of features decided; the largest λ that
        selects as many where it was found, which is not part of ``objective_``).
    n_clusters_ : int
        The number of clusters that was used; ``cluster_count_`` says how "auto" found it.
    equivalent_range_ : tuple of int
        The smallest and the largest number of features that are nearly as good as the one that was
        found (where it was to be found).
    %(input)s

    See Also
    --------
    sklearn.feature_selection.VarianceThreshold : Drops columns of small variance.
    sklearn.feature_selection.SelectKBest : Selection when there are labels.

    Notes
    -----
    When not to use it: if there are labels, use them; if the table has no cluster structure, no
    selection can find it (compare ``labels_`` with what is known of the samples). Selected features
    reproduce the clusters of the whole table from few columns; they do not promise better clusters.

    ``predict`` on the fitted rows need not give ``labels_``: these come from a graph of the
    samples, not from centres.

    Cost of the joint solver: O(n²d) for n ≤ d, O(nd²) for n > d, plus O(k n d) (n ≤ d) or O(k²d)
    for k features. Up to 20,000 samples the neighbours cost O(n²r) time (not memory), r ≤
    max(100, 2c) for tall tables; a doubtful start of up to 5000 samples costs four more searches.
    Above, or with ``init="landmarks"``, everything is linear in n, and the graph of the samples is
    the one through the landmarks: the same model with another prior a. Finding the number of
    features costs a path of 400 and ten k-means runs for each of about eleven numbers, on 5000
    samples at most.

    Tables of other array libraries (torch, CuPy, ...) are worked on where they are, Dask arrays by
    the workers that hold their chunks. Fitted attributes are NumPy arrays always.

    The paper's program is kept for comparison: because its labels do not move, it is a regression
    on the first clustering, and because its inner solver stops after a few steps, the number of
    features depends on the schedule, not on an optimum (an optimum never has more than n - 1).

    References
    ----------
    .. [1] Z. Sun and Y. Yu, "Joint adaptive graph and structured sparsity regularization for
       unsupervised feature selection".

    Examples
    --------
    >>> from featsieve import JASFS
    >>> from featsieve.datasets import make_planted
    >>> planted = make_planted(n_samples=120, n_features=200, n_informative=10, random_state=0)
    >>> sieve = JASFS(n_clusters=4, n_features_to_select=10, random_state=0).fit(planted.X)
    >>> int((sieve.support_ & planted.informative).sum())
    10
    >>> sieve.transform(planted.X).shape
    (120, 10)
    """

    n_clusters: int | str = field(default=8, kw_only=False)
    n_features_to_select: int | float | str | None = None
    sparsity: float | str = "auto"
    alpha: float = 0.3
    beta: float = 1.0
    solver: str = "joint"
    init: Any = "auto"
    scale: str = "auto"
    n_neighbors: int = 5
    ridge: float = 10.0
    shrinkage: float = 1.0
    formula: str = "code"
    orthogonality: float = 1e8
    max_iter: int = 20
    tol: float = 1e-5
    path_length: int = 300
    callback: Any = None
    verbose: int = 0
    random_state: Any = None

    _follows_count = True
    _price = "sparsity"
    _criterion = Modularity.name
    _checks: ClassVar[dict[str, Check]] = {
        "solver": one_of("joint", "paper"),
        "scale": one_of("auto", "unit", "sqrt", "none"),
        "formula": one_of(*FORMULAS),
        "sparsity": positive_or_auto,
        "alpha": nonnegative,
        "beta": positive,
        "ridge": positive,
        "shrinkage": positive,
        "orthogonality": positive,
        "path_length": nonnegative_integer,
    }

    def _fit(self, X: Any) -> None:
        """Find clusters and the features that carry them."""
        operator, settings = self._prepare(X)
        k = None if self._automatic else resolve_n_features(self.n_features_to_select, X.shape[1])
        fit = self._fit_joint if self.solver == "joint" else self._fit_paper
        fit(X, operator, settings, k=k)

    def _prepare(self, X: Any) -> tuple[DataOperator, Settings]:
        """Return the scaled table, and what the first labels depend on."""
        n_clusters = self._count_clusters(X, low=2)
        random_state = check_random_state(self.random_state)
        operator = as_operator(X, scale=self._column_scale)
        self._check_varies(to_numpy(operator.varies))
        settings = Settings(
            init=self.init,
            labels=initial_labels.labels_from_user(
                self.init, X, n_clusters, random_state=random_state
            ),
            n_clusters=n_clusters,
            n_neighbors=self.n_neighbors,
            alpha=self.alpha,
            beta=self.beta,
            ridge=self.ridge * mean_column_norm(operator),
            shrinkage=self.shrinkage,
            random_state=random_state,
        )
        return operator, settings

    # The default solver (Algorithm 2 over feasible labels) ---------------------------------------

    def _fit_joint(
        self, X: Any, operator: DataOperator, settings: Settings, *, k: int | None
    ) -> None:
        """Fit by ``jasfs/joint.py``."""
        # Algorithm 2, line 1: the first labels F
        begun = self._first_labels(X, operator, settings)
        # the price λ of a feature, or their number
        problem, path, curve = self._limit(X, begun, k)
        # Algorithm 2, lines 2 to 8: labels and features in turn
        self._progress.step(f"labels and features in turn, at most {self.max_iter} times")
        solution = solve_joint(
            problem,
            begun.labels,
            path=path,
            max_iter=self.max_iter,
            tol=self.tol,
            callback=self._progress.watch(self.callback),
        )
        state = solution.state
        if len(state.support) == 0:
            raise ValueError(nothing_selected(problem, begun.labels))
        # Algorithm 2, line 9: the selected features, and the order of all
        self._progress.step("ranking the features")
        ranking = rank(problem, state, path_length=self.path_length)
        self._set_selection(
            ranking.scores, len(state.support) if k is None else k, order=ranking.order
        )
        self.path_ = replace(ranking.path, curve=curve)
        self.sparsity_ = problem.sparsity
        if curve is not None:
            self.sparsity_ = float(ranking.path.sparsity[len(state.support) - 1])
        self._set_outcome(solution)
        self._set_clusters(operator, problem, state)

    def _first_labels(self, X: Any, operator: DataOperator, settings: Settings) -> Start:
        """Return the problem without sparsity, the first labels, and where they came from."""
        self._progress.step("finding the first labels")
        begun = start(X, operator, settings)
        self.init_, self.n_landmarks_ = begun.source, begun.n_landmarks
        return begun

    def _begin(self, X: Any) -> tuple[Start, int]:
        """Return the start of a fit that has yet to check X, and how many columns vary."""
        self._check_parameters()
        X = self._check_input(X)
        return self._first_labels(X, *self._prepare(X)), int(self._varies.sum())

    def _limit(
        self, X: Any, begun: Start, k: int | None
    ) -> tuple[Problem, ForwardState | None, CriterionCurve | None]:
        """Return the problem with λ or a number of features, and how the number was found."""
        problem = begun.problem
        if k is not None:
            return problem.priced(n_features=k), None, None
        if not self._automatic:
            return problem.priced(sparsity=float(self.sparsity)), None, None
        self._progress.step("choosing the number of features")
        most = int(default_sizes(X.shape[1])[-1])
        path = path_through(problem.regression(begun.labels), NONE, length=most)
        labels = problem.host_labels(begun.labels)
        curve = self._curve(X, np.asarray(path.order), labels, graph=begun.graph)
        return problem.priced(n_features=curve.chosen), path, curve

    def _set_clusters(self, operator: DataOperator, problem: Problem, state: JointState) -> None:
        """Set the labels, and the regression and the centres that belong to them."""
        self.label_accuracy_ = problem.accuracy(state.labels)
        self.labels_ = problem.host_labels(state.labels)
        W = problem.regression(state.labels).weights(np.flatnonzero(self.support_))
        sizes = problem.cluster_sizes(state.labels)
        moments = problem.cluster_moments(state.labels)
        if self.init_ != "given":  # the user's keep their order
            order = order_of_appearance(self.labels_, problem.n_clusters)
            self.labels_ = np.argsort(order)[self.labels_]
            W, moments, sizes = W[:, order], moments[:, order], sizes[order]
        self._set_model(operator, W, mean=np.sqrt(sizes) / operator.shape[0], moments=moments)

    # The authors' program (Algorithm 2 to the letter) --------------------------------------------

    def _fit_paper(
        self, X: Any, operator: DataOperator, settings: Settings, *, k: int | None
    ) -> None:
        """Fit by ``jasfs/paper.py``."""
        # Algorithm 2, line 1: the first labels F
        self._progress.step("finding the first labels")
        labels, self.init_ = authors_start(operator, settings)
        unset = isinstance(self.sparsity, str)
        problem = PaperProblem(
            operator,
            labels,
            n_clusters=settings.n_clusters,
            alpha=self.alpha,
            beta=self.beta,
            sparsity=defaults.PAPER_SPARSITY if unset else float(self.sparsity),
            orthogonality=self.orthogonality,
            formula=self.formula,
        )
        # Algorithm 2, lines 2 to 8: graph, features and labels in turn
        self._progress.step(f"labels and features in turn, at most {self.max_iter} times")
        solution = solve_paper(
            problem,
            max_iter=self.max_iter,
            tol=self.tol,
            callback=self._progress.watch(self.callback),
        )
        state = solution.state
        # Algorithm 2, line 9: the selected features, and the order of all
        scores, order, n_selected = rank_rows(problem, state)
        if k is None and n_selected == 0:
            largest = largest_sparsity(problem, max_iter=self.max_iter, tol=self.tol)
            raise ValueError(too_large(problem.sparsity, largest))
        if self._automatic:
            self._progress.step("choosing the number of features")
            curve = self._curve(X, order[:n_selected], labels)
            self.path_, k = RankedPath(order, curve), curve.chosen
        self._set_selection(scores, n_selected if k is None else k, order=order)
        self.sparsity_ = problem.sparsity
        self._set_outcome(solution)
        self.labels_ = state.labels
        self._set_model(
            operator,
            np.where(self.support_[:, None], to_numpy(state.W), 0.0),
            mean=state.F.mean(axis=0),
            moments=cluster_means(operator, self.labels_, settings.n_clusters),
        )

    # How many features --------------------------------------------------------------------------

    @property
    def _automatic(self) -> bool:
        """Whether the number of features is to be found."""
        unset = self.n_features_to_select is None and isinstance(self.sparsity, str)
        return unset or super()._automatic

    def _curve(
        self, X: Any, order: np.ndarray, labels: np.ndarray, *, graph: Any = None
    ) -> CriterionCurve:
        """Return the modularity of every size of a nested selection."""
        sizes = np.unique(np.minimum(default_sizes(X.shape[1]), len(order)))
        if X.shape[0] > defaults.CRITERION_SAMPLES:
            graph = None  # some samples are looked at, in a graph of their own
        criterion = Modularity(n_neighbors=self.n_neighbors, graph=graph)
        return judge(criterion, X, labels, order=order, sizes=sizes, progress=self._progress)

    def _choose_count(self, X: Any) -> None:
        """Say what there is to say about the number of features, which ``_fit`` has found."""
        self.equivalent_range_ = self.path_.curve.equivalent_range
        if isinstance(self.init, str):  # or the labels are the user's
            self._progress.step("checking that there is structure")
            accuracy = getattr(self, "label_accuracy_", None)
            warn_without_structure(X, self.labels_, accuracy=accuracy)

    def _check_parameters(self) -> None:
        """Validate the parameters."""
        super()._check_parameters()
        both = self.n_features_to_select is not None and not isinstance(self.sparsity, str)
        if both and self.solver == "joint":
            raise ValueError(BOTH_SET)
