"""JASFS: joint adaptive graph and structured sparsity regularised feature selection."""

from dataclasses import asdict, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from featsieve import defaults
from featsieve.arrays import DataOperator, as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.arrays.threads import n_threads
from featsieve.base import estimator
from featsieve.constraints import CONSTRAINTS
from featsieve.criteria.automatic import RankedPath
from featsieve.criteria.curve import CriterionCurve, default_sizes, judge
from featsieve.criteria.measures import Modularity
from featsieve.graphs import hat_coordinates, self_tuning_graph
from featsieve.graphs.distances import hat_distances
from featsieve.graphs.initial_labels import authors_labels, labels_from_user
from featsieve.hypotheses.pool import Pool
from featsieve.jasfs.cluster_model import ClusterModel
from featsieve.jasfs.joint import feature_certainty, solve_joint
from featsieve.jasfs.labels import Found, Settings, find_labels
from featsieve.jasfs.paper import (
    PaperProblem,
    cluster_means,
    largest_sparsity,
    rank_rows,
    solve_paper,
)
from featsieve.jasfs.problem import Problem, cluster_sums, too_large
from featsieve.solvers import supports
from featsieve.solvers.forward_selection import ForwardSelection, ForwardState
from featsieve.solvers.protocol import run
from featsieve.solvers.row_sparse import mean_column_norm
from featsieve.terms import NeighbourGraph
from featsieve.validation import (
    BOTH_SET,
    Check,
    nonnegative,
    nonnegative_integer,
    one_of,
    positive,
    positive_integer_or_auto,
    positive_or_auto,
    resolve_n_features,
)

# Fewer samples than this make hypotheses that are not worth a thread.
FEWEST_THREADED = 500


class Start(NamedTuple):
    """The scaled table, the user's labels (or None), the number of clusters, the generator."""

    operator: DataOperator
    given: np.ndarray | None
    n_clusters: int
    random_state: np.random.RandomState


@estimator
class JASFS(ClusterModel):
    """Select the features that carry the cluster structure of a table, without labels.

    Parameters to touch; everything else can stay as it is:

    - ``n_clusters``: about how many groups to expect, or "auto";
    - ``n_features_to_select``: how many features to keep; left out, the fewest that show the groups
      are found, and "significant" keeps all that go with them;
    - ``random_state``: a number, for the same answer every time.

    Many hypotheses about the clusters (partitions F_1..F_m of the samples) share one row-sparse
    regression W = [W_1 .. W_m] on the features:

        J = Σ_v w_v [½ ||H(Z W_v - F_v)||² + ½ μ ||W_v||²] + λ ||W||_{2,0},   Σ_v w_v = 1

    A feature is selected if it explains many of them; the clusters are their consensus. With one
    hypothesis this is the published model [1]_, whose graph term α tr(F'L_S F) + β Σ s_ij
    log(s_ij/a_ij) (S is the graph of the samples, its rows are on the simplex) counts where labels
    may move: with ``refine_labels`` and in the authors' program.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters c to look for, at least 2, or "auto": the number on which views of the
        table agree, right within a factor of about two
        (:func:`~featsieve.tuning.suggest_n_clusters`). It need not be exact: halving it costs more
        than doubling it.
    n_features_to_select : int, float, "auto", "significant" or None, default=None
        How many features to select (k): a count, or a fraction of the features. None leaves it to
        ``sparsity``; "auto" is the same as ``sparsity="auto"``. "significant" keeps all features
        that go with the clusters at q <= 0.05, by some forty refits
        (:func:`~featsieve.tuning.feature_qvalues`, as many at a time as ``n_jobs`` says); where
        there are none, it warns, and keeps what "auto" would. Columns that do not vary come last,
        and are selected only if k asks for all.
    sparsity : float or "auto", default="auto"
        λ, the price of a feature. With the joint solver a feature is selected while it lowers the
        loss by at least this much. "auto" takes the smallest selection that shows the clusters as
        well as any: of up to 400 features, the fewest whose k-means labels have a modularity within
        0.01 (or its standard error) of the best, on the neighbour graph of all features
        (``path_.curve``). That is often fewer than all that carry the structure: for these, set
        ``n_features_to_select="significant"``. It warns
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
    n_hypotheses : int or "auto", default="auto"
        How many clusterings of the whole table are compared: 4 by random halves of the columns,
        one by all and one by their ranks for "auto". Where these agree no better than on permuted
        columns, families of plain distances, principal components and chosen columns join them,
        each as far as its members agree beyond chance (``init_``). A second stage has 12 more, of
        the first selected columns (6 where two columns are all it can look at), and up to two
        further stages as many where the first one was not enough. A number is at least 4 and even
        (others are rounded); tables with more than 2000 rows have no clustering by ranks. 1: one
        clustering, and no second stage.
    init : {None, "spectral", "k-means"}, labels or callable, default=None
        None: hypotheses. Otherwise the one clustering that counts: "spectral" (joint solver: of the
        neighbour graph in the hat metric; the only hypothesis of ``n_hypotheses=1``), "k-means",
        an array of labels, or ``init(X, n_clusters, random_state)``.
    refine_labels : bool, default=False
        Whether the clusters move after that, sample by sample, in turn with the features, while J
        falls (the alternation of the paper; up to 5000 samples). It is off because it makes correct
        labels worse: from the true labels of planted tables, it moves away (``docs/method.md``).
    scale : {"auto", "unit", "sqrt", "none"}, default="auto"
        Column scaling: "unit" variance, so that units do not matter (but for one family of
        hypotheses, that of the columns as given), "none", or "sqrt", half way between the two.
        "auto" is "unit" for the joint solver, "none" for "paper".
    n_neighbors : int, default=5
        Neighbours of a sample in the graphs of the hypotheses (some take twice as many), but at
        most a third of the other samples (half of them).
    ridge : float, default=10.0
        μ, in units of the mean squared column norm (joint solver). Large values keep groups of
        correlated features, small ones avoid redundancy.
    shrinkage : float, default=1.0
        ρ: ridge of the hat metric in which labels are sought, in units of the mean eigenvalue of
        the data (joint solver).
    orthogonality : float, default=1e8
        ν, penalty for labels that are not orthonormal (``solver="paper"``).
    max_iter : int, default=20
        Most iterations of the alternation (``solver="paper"``, or ``refine_labels``).
    tol : float, default=1e-5
        Relative change of the objective that ends the alternation.
    path_length : int, default=300
        Length of ``path_`` (at least the number of selected features).
    n_jobs : int or None, default=None
        Threads that form hypotheses at the same time. None: as many as matrix products may take
        (``OMP_NUM_THREADS``), or one for fewer than 500 samples, where threads cost more than they
        save. The result does not depend on it.
    %(callback, verbose)s
    random_state : int, RandomState instance or None, default=None
        Seeds the random halves of the columns, the tables without clusters and k-means. An integer
        gives the same answer every time.
    %(constraints)s

    Attributes
    ----------
    coef_ : ndarray of shape (`n_features_in_`, n_clusters)
        W, in the units of X; zero for features that are not selected.
    intercept_ : ndarray of shape (n_clusters,)
        b: F is approximated by ``X @ coef_ + intercept_``.
    cluster_centers_ : ndarray of shape (n_clusters, `n_features_selected_`)
        Means of the selected columns in each cluster.
    labels_ : ndarray of shape (n_samples,)
        Cluster of every sample: the consensus of all hypotheses, numbered by the first sample
        (labels that were given keep their order).
    sample_certainty_ : ndarray of shape (n_samples,)
        How often the hypotheses put a sample together with the others of its cluster, 0 to 1
        (joint solver; 1 for labels that were given; ``refine_labels``: before samples move).
    feature_certainty_ : ndarray of shape (`n_features_in_`,)
        The weight of the hypotheses that would select the feature by themselves, 0 to 1, among
        twice as many candidates as are selected (joint solver).
    hypotheses_, hypothesis_weights_ : ndarrays of shape (m, n_samples) and (m,)
        The hypotheses that the features were selected for, and w (joint solver): those of the
        families of ``init_`` in their order (ranks behind the hat family), then those of the
        second stage and further ones.
    scores_ : ndarray of shape (`n_features_in_`,)
        What each feature is worth; larger is better, 0 for columns that do not vary. Prices, not
        probabilities, and not comparable between tables. Joint solver: along ``path_`` the
        largest λ that still selects the feature, behind it what the feature would add. Paper:
        length of its row of W.
    %(selection)s
    qvalues_ : ndarray of shape (`n_features_in_`,)
        q-values of the features (``n_features_to_select="significant"``), which come first in
        ``ranking_`` if they are significant.
    path_ : SelectionPath
        The nested selections of every size up to ``path_length`` (joint solver):
        ``path_.order[:k]`` are the k best features for ``hypotheses_``. Where the number was to be
        found, ``path_.curve`` holds the criterion for every number that was looked at, with
        ``table()``.
    objective_ : ndarray of shape (`n_iter_`,)
        J after every iteration (one where labels do not move; terms that do not depend on the
        features are left out then). It never rises with the joint solver.
    %(outcome)s
    init_ : dict of lists
        The families of hypotheses (joint solver): name, members, how far they agree (mean mutual
        information), how far the same family agrees on a table with permuted columns and with
        rotated samples (NaN: not looked at), and its weight among the hypotheses of the whole
        table. ``pandas.DataFrame(init_)``.
    lone_features_ : ndarray of int
        Columns of variables of few values (a yes/no answer, a category) that the hypotheses were
        formed without: one of these followed such a variable, and no other column goes along with
        it (joint solver).
    n_landmarks_ : int
        The rows (or means of many rows) among which the hypotheses were formed, where the table has
        more than 5000 rows, which follow the nearest of them; 0 where all rows form them (joint
        solver).
    sparsity_ : float
        The λ that was used (joint solver: 0 where a number of features decided; the largest λ that
        selects as many where it was found, which is not part of ``objective_``).
    n_clusters_ : int
        The number of clusters that was used; ``cluster_count_`` says how "auto" found it.
    equivalent_range_ : tuple of int
        The smallest and the largest number of features that are nearly as good as the one that was
        found (where it was to be found).
    structure_ : StructureTest or None
        Whether there are clusters (where a number of clusters or features was to be found); None
        for fewer than 10 rows or two columns.
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

    Cost of the joint solver: a hypothesis costs O(n²d) for n ≤ d, O(nd²) for n > d, and O(n²r)
    for its neighbours (time, not memory; in the second stage those of 2000 samples at most),
    r ≤ max(100, 2c) for tall tables; k features cost O(k n d) (n ≤ d) or O(k²d). Of more than 5000
    samples, 5000 rows (or 2000 means of rows) form the hypotheses and everything else is linear in
    n. Finding the number of features costs a path of 400 and ten k-means runs for each of about
    eleven numbers, on 5000 samples at most.

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
    n_hypotheses: int | str = "auto"
    init: Any = None
    refine_labels: bool = False
    scale: str = "auto"
    n_neighbors: int = 5
    ridge: float = 10.0
    shrinkage: float = 1.0
    orthogonality: float = 1e8
    max_iter: int = 20
    tol: float = 1e-5
    path_length: int = 300
    n_jobs: int | None = None
    callback: Any = None
    verbose: int = 0
    random_state: Any = None

    _follows_count = True
    _spends = True
    _price = "sparsity"
    _criterion = Modularity.name
    _checks: ClassVar[dict[str, Check]] = {
        "solver": one_of("joint", "paper"),
        "scale": one_of("auto", "unit", "sqrt", "none"),
        "sparsity": positive_or_auto,
        "n_hypotheses": positive_integer_or_auto,
        "alpha": nonnegative,
        "beta": positive,
        "ridge": positive,
        "shrinkage": positive,
        "orthogonality": positive,
        "path_length": nonnegative_integer,
    }

    def _fit(self, X: Any) -> None:
        """Find clusters and the features that carry them."""
        asked = None if self._automatic else self.n_features_to_select
        k = resolve_n_features(asked, self._n_units)
        self._check_kept(k)
        n_clusters = self._count_clusters(X, low=2)
        operator = as_operator(X, scale=self._column_scale)
        self._check_varies(to_numpy(operator.varies))
        random_state = check_random_state(self.random_state)
        given = None
        if self.init is not None:
            given = labels_from_user(self.init, X, n_clusters, random_state=random_state)
        fit = self._fit_joint if self.solver == "joint" else self._fit_paper
        fit(X, Start(operator, given, n_clusters, random_state), k)

    # The default solver (Algorithm 2 over feasible labels) ---------------------------------------

    def _fit_joint(self, X: Any, start: Start, k: int | None) -> None:
        """Fit by ``jasfs/joint.py``."""
        # Algorithm 2, line 1: the first labels F
        problem, found = self._find_labels(X, start)
        # the price λ of a feature, or their number
        problem, path, curve = self._limit(X, problem, found, k)
        # Algorithm 2, lines 2 to 8: features for the labels, and labels again where they may move
        self._progress.step("choosing the features")
        solution = solve_joint(
            problem,
            found.pool,
            path=path,
            max_iter=self.max_iter,
            tol=self.tol,
            callback=self._progress.watch(self.callback),
        )
        state = solution.state
        if len(state.support) == 0:
            largest = supports.largest_sparsity(problem.regression(found.pool))
            raise ValueError(too_large(problem.sparsity, largest))
        # Algorithm 2, line 9: the selected features (non-zero rows of W), and the order of all
        self._progress.step("ranking the features")
        ranking = supports.rank_features(
            problem.regression(state.pool),
            state.support,
            length=self.path_length,
            path=state.path,
            keep_order=True,
        )
        count = self._count_units(state.support) if k is None else k
        self._set_selection(ranking.scores, count, order=ranking.order)
        self.path_ = replace(ranking.path, curve=curve)
        self.sparsity_ = problem.sparsity
        if curve is not None:
            self.sparsity_ = float(ranking.path.sparsity[len(state.support) - 1])
        self._set_outcome(solution)
        self.hypotheses_, self.hypothesis_weights_ = state.pool.labels, state.pool.weights
        order = np.argsort(self.ranking_)
        n_selected = self.n_features_selected_
        self.feature_certainty_ = feature_certainty(problem, state.pool, order, n_selected)
        self.labels_ = found.labels if problem.graph is None else state.pool.labels[0]
        self.sample_certainty_ = found.certainty
        self._keep_significant(X)
        self._set_clusters(start.operator, problem, Pool.of([self.labels_], start.n_clusters))

    def _find_labels(self, X: Any, start: Start) -> tuple[Problem, Found]:
        """Return the problem without sparsity, and the label hypotheses with their consensus."""
        self._progress.step("finding label hypotheses")
        operator, n_clusters, graph = start.operator, start.n_clusters, None
        if self.refine_labels:
            graph = NeighbourGraph(self._graph(operator), alpha=self.alpha, beta=self.beta)
        named = None
        if self.init is not None or self.n_hypotheses == 1:
            named = "given" if start.given is not None else self.init or "spectral"
        settings = Settings(
            n_hypotheses=self.n_hypotheses,
            start=named,
            labels=start.given,
            n_clusters=n_clusters,
            n_neighbors=self.n_neighbors,
            ridge=self.ridge,
            shrinkage=self.shrinkage,
            n_jobs=self._n_threads(operator),
            codes=self._codes,
        )
        rng = np.random.default_rng(start.random_state.randint(np.iinfo(np.int32).max))
        found = find_labels(X, operator, settings, rng)
        self.init_, self.n_landmarks_ = asdict(found.belief), found.n_landmarks
        self.lone_features_ = np.array(found.lone, dtype=np.intp)
        if graph is not None:
            found = replace(found, pool=Pool.of([found.labels], n_clusters))
        ridge = self.ridge * mean_column_norm(operator)
        return Problem(operator, ridge, graph, offer=self._offer), found

    def _n_threads(self, operator: DataOperator) -> int:
        """Return how many hypotheses are formed at once: small ones are not worth a thread."""
        if self.n_jobs is not None:
            return int(effective_n_jobs(self.n_jobs))
        return n_threads() if operator.shape[0] >= FEWEST_THREADED else 1

    def _graph(self, operator: DataOperator) -> Any:
        """Return the neighbour graph of the samples in the hat metric, the prior a of S."""
        n = operator.shape[0]
        if n > defaults.LARGEST_EXACT_GRAPH:
            raise ValueError(
                f"refine_labels=True compares all samples, at most {defaults.LARGEST_EXACT_GRAPH} "
                f"of them; the table has {n}. Set refine_labels=False, or fit a sample of the rows."
            )
        E = hat_coordinates(operator, shrinkage=self.shrinkage, n_directions=2 * self.n_clusters_)
        return self_tuning_graph(hat_distances(E), n_neighbors=self.n_neighbors)

    def _limit(
        self, X: Any, problem: Problem, found: Found, k: int | None
    ) -> tuple[Problem, ForwardState | None, CriterionCurve | None]:
        """Return the problem with λ or a number of features, and how the number was found."""
        if k is not None:
            return problem.priced(n_features=k), None, None
        if not self._automatic:
            price = 0.0 if isinstance(self.sparsity, str) else float(self.sparsity)
            return problem.priced(sparsity=price), None, None
        self._progress.step("choosing the number of features")
        most = int(default_sizes(self._n_units)[-1])
        regression = problem.priced(n_features=most).regression(found.pool)
        path = run(ForwardSelection(), regression, max_iter=most).state
        curve = self._curve(X, np.asarray(path.order), found.labels)
        count = self._count_units(np.asarray(path.order)[: curve.chosen])
        return problem.priced(n_features=count), path, curve

    def _set_clusters(self, operator: DataOperator, problem: Problem, pool: Pool) -> None:
        """Set the clusters, and the regression and the centres that belong to them."""
        self.labels_ = pool.labels[0]
        sums, sizes = cluster_sums(operator, pool)
        W = problem.regression(pool).weights(np.flatnonzero(self.support_))
        mean = np.sqrt(sizes[0]) / operator.shape[0]
        self._set_model(operator, W, mean=mean, moments=sums / sizes[0])

    # The authors' program (Algorithm 2 to the letter) --------------------------------------------

    def _fit_paper(self, X: Any, start: Start, k: int | None) -> None:
        """Fit by ``jasfs/paper.py``."""
        # Algorithm 2, line 1: the first labels F
        self._progress.step("finding the first labels")
        operator, labels, n_clusters, random_state = start
        if labels is None:
            labels = authors_labels(
                operator,
                self.init or "spectral",
                n_clusters,
                n_neighbors=self.n_neighbors,
                random_state=random_state,
            )
        unset = isinstance(self.sparsity, str)
        problem = PaperProblem(
            operator,
            labels,
            n_clusters=n_clusters,
            alpha=self.alpha,
            beta=self.beta,
            sparsity=defaults.PAPER_SPARSITY if unset else float(self.sparsity),
            orthogonality=self.orthogonality,
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
        self._keep_significant(X)
        self._set_model(
            operator,
            np.where(self.support_[:, None], to_numpy(state.W), 0.0),
            mean=state.F.mean(axis=0),
            moments=cluster_means(operator, self.labels_, n_clusters),
        )

    # How many features --------------------------------------------------------------------------

    @property
    def _automatic(self) -> bool:
        """Whether the number of features is to be found."""
        unset = self.n_features_to_select is None and isinstance(self.sparsity, str)
        unset = unset and self.budget is None
        return unset or self._significant or super()._automatic

    def _curve(self, X: Any, order: np.ndarray, labels: np.ndarray) -> CriterionCurve:
        """Return the modularity of every size of a nested selection."""
        sizes = np.unique(np.minimum(default_sizes(self._n_units), len(order)))
        if self._offer is not None:
            sizes = self._offer.sizes(order, sizes)
        criterion = Modularity(n_neighbors=self.n_neighbors)
        criterion.see_variables(self._variables)
        return judge(criterion, X, labels, order=order, sizes=sizes, progress=self._progress)

    def _choose_count(self, X: Any) -> None:
        """Say what there is to say about the number of features, which ``_fit`` has found."""
        self.equivalent_range_ = self.path_.curve.equivalent_range

    @property
    def _is_tested(self) -> bool:
        """Whether a number is to be found, for clusters that are not the user's."""
        return super()._is_tested and (self.init is None or isinstance(self.init, str))

    def _check_parameters(self) -> None:
        """Validate the parameters."""
        super()._check_parameters()
        counted, priced = self.n_features_to_select is not None, not isinstance(self.sparsity, str)
        if counted and priced and self.solver == "joint":
            raise ValueError(BOTH_SET)
        if self.budget is not None and (priced or (counted and not super()._automatic)):
            raise ValueError(
                "budget is there in place of a number of features or a sparsity: leave "
                "n_features_to_select and sparsity out (or 'auto': the fewest within the budget)."
            )
        constrained = any(getattr(self, name) is not None for name in CONSTRAINTS)
        if constrained and self.solver == "paper":
            raise ValueError(
                f"{', '.join(CONSTRAINTS)} need solver='joint': the authors' program has none."
            )
