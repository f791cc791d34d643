"""Which features carry the clusters, with an error rate: q-values by refits (the jackstraw)."""

from dataclasses import dataclass
from math import ceil
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import scipy.sparse as sp
from scipy.stats import false_discovery_control, rankdata
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from featsieve import defaults
from featsieve.arrays.batch_table import SparseInBatches
from featsieve.arrays.namespace import is_sparse, namespace_of, pick_columns, to_numpy
from featsieve.constraints import CONSTRAINTS
from featsieve.criteria.automatic import innermost, with_found_numbers
from featsieve.criteria.batches import fit_corrected, within_batches_of_fit
from featsieve.criteria.clusterings import sample_rows
from featsieve.criteria.selected_clusters import layers
from featsieve.hypotheses.tables import permuted, repeated
from featsieve.progress import FitProgress
from featsieve.tables import Table
from featsieve.validation import check_number, check_selector, check_table, check_varying

FEWEST_SAMPLES = 10
# Entries of the columns whose ranks are formed in one step.
BLOCK_ELEMENTS = 2**20
# Statistics that differ by less are equal: what sums of ranks may leave.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class FeatureQValues:
    """How certain it is that each feature goes with the clusters that were found.

    Attributes
    ----------
    qvalues : ndarray of shape (n_features,)
        The smallest false discovery rate at which the feature is called; 1 for constant columns.
    pvalues : ndarray of shape (n_features,)
        Share of permuted columns that follow the clusters of their refit at least as closely.
    statistics : ndarray of shape (n_features,)
        Kruskal-Wallis statistic of the feature against the clusters; 0 for constant columns.
    null_sizes : int ndarray of shape (n_features,)
        Permuted columns that the p-value was compared with: those with about as many ties.
    n_refits : int
        Refits that these came from.
    n_clusters : int
        Clusters that were found, and looked for in every refit.
    n_samples : int
        Rows that were looked at: at most 5000, a random choice of more.
    feature_names : ndarray of str, or None
    """

    qvalues: np.ndarray
    pvalues: np.ndarray
    statistics: np.ndarray
    null_sizes: np.ndarray
    n_refits: int
    n_clusters: int
    n_samples: int
    feature_names: np.ndarray | None = None

    def significant(self, level: float = defaults.QVALUE_LEVEL) -> np.ndarray:
        """Return the mask of the features with a q-value of at most ``level``."""
        check_number("level", level, low=0.0, strict=True, below=1.0)
        return self.qvalues <= level

    @property
    def sentence(self) -> str:
        """What the q-values say, and what they do not."""
        level = defaults.QVALUE_LEVEL
        count, d = int(self.significant(level).sum()), len(self.qvalues)
        return (
            f"{count} of {d} features go with the {self.n_clusters} clusters at q <= {level:g}: of "
            f"features called so, at most about {level:.0%} are expected to have nothing to do "
            "with them. A q-value does not tell groups from gradients."
        )

    def table(self) -> Table:
        """Return one row per feature, in the order of the columns."""
        names = self.feature_names
        return Table(
            {
                "feature": [f"x{j}" for j in range(len(self.qvalues))] if names is None else names,
                "q_value": self.qvalues,
                "p_value": self.pvalues,
                "statistic": self.statistics,
                "null_size": self.null_sizes,
            }
        )

    def __repr__(self) -> str:
        return f"<FeatureQValues: {self.sentence}>"


def feature_qvalues(
    estimator: Any,
    X: Any,
    *,
    batch: Any = None,
    level: float = defaults.QVALUE_LEVEL,
    n_refits: int | None = None,
    n_jobs: int | None = None,
    verbose: int | FitProgress = 0,
    random_state: Any = None,
) -> FeatureQValues:
    """Return for every feature how certain it is that it goes with the clusters that were found.

    A test of a column against clusters that were found with its help is too good to be true: on
    pure noise it calls features in almost every table. Here some columns are permuted, which cuts
    their tie to the samples, everything is fitted again, and columns are compared with what
    permuted ones reach by helping to make the clusters (the jackstraw [1]_, with ranks).

    Parameters
    ----------
    estimator : selector of featsieve that finds clusters (``labels_``)
        If it has been fitted to X, its clusters count. Otherwise a clone is fitted first.
    X : array-like or scipy.sparse matrix of shape (n_samples, n_features)
        The table, of at least 10 rows. Sparse ones are not densified. Of more than 5000 rows (and
        of Dask arrays) a random 5000 are fitted.
    batch : array-like of shape (n_samples,), optional
        Batch of every row, as in ``fit`` of the estimator: columns count inside of batches. Needed
        if the estimator was fitted with it.
    level : float, default=0.05
        The false discovery rate for which the number of refits is chosen.
    n_refits : int, optional
        Refits B. More resolve smaller q-values; see Notes for the default.
    n_jobs : int, optional
        Refits that run at a time, through joblib. The answer does not depend on it.
    verbose : int, default=0
        1 counts the finished refits, at most once a second; 2 prints a line for each.
    random_state : int, RandomState instance or None, default=None
        Draws rows, permutations, and a seed for every refit.

    Returns
    -------
    FeatureQValues

    Notes
    -----
    Each refit permutes s of the d columns, about a tenth, each on its own, and looks for as many
    clusters again. The Kruskal-Wallis statistics of the permuted columns are the null values:
    p = (1 + #{null >= T}) / (1 + B s), among columns with about as many ties; then Benjamini and
    Hochberg. The smallest p is 1 / (1 + B s), so that m features beyond all null values get
    q = d / (m (1 + B s)): B is chosen so that this is ``level`` for the smallest m of interest
    (a quarter of the features, at most 5), 10 / (m level) = 40 refits for wide tables. Where up to
    twice as many would call features that are beyond all null values, these are added. Kinds of
    columns (continuous, many ties, two-valued, rare) of which there are few have few null values,
    and are called only where many features are.

    The p-value answers whether the column is associated with the clusters that were found. A column
    of noise that correlates with what the clusters rest on is associated. Where the clusters rest
    on two or three columns, permuting one changes them, and hardly anything can be called.

    References
    ----------
    .. [1] N. C. Chung and J. D. Storey, "Statistical significance of variables driving systematic
       variation in high-dimensional data", Bioinformatics 31 (4), 2015.

    Examples
    --------
    >>> from featsieve import JASFS
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.tuning import feature_qvalues
    >>> planted = make_planted(80, 60, n_informative=12, n_clusters=3, signal=3.0, random_state=1)
    >>> sieve = JASFS(3, n_features_to_select=3, init="k-means", random_state=0).fit(planted.X)
    >>> found = feature_qvalues(sieve, planted.X, random_state=0)
    >>> int((found.significant() & planted.informative).sum()), int(found.significant().sum())
    (12, 12)
    """
    check_number("level", level, low=0.0, strict=True, below=1.0)
    if n_refits is not None:
        check_number("n_refits", n_refits, low=1, integer=True)
    listener = verbose if isinstance(verbose, FitProgress) else None
    progress = listener or FitProgress("feature_qvalues", verbose)
    names = getattr(X, "columns", None)
    table = check_table(X, owner="feature_qvalues")
    table, codes = within_batches_of_fit(estimator, table, batch)
    codes = getattr(estimator, "_codes", None) if codes is None else codes
    n, d = table.shape
    if n < FEWEST_SAMPLES:
        raise ValueError(
            f"q-values need at least {FEWEST_SAMPLES} rows: ranks of fewer tell nothing apart; X "
            f"has {n}."
        )
    check_varying(table)
    rng = check_random_state(random_state)
    table, rows = sample_rows(table, rng)
    codes = codes if codes is None or rows is None else codes[rows]
    selector, variables, labels = _clusters(estimator, table, codes, rows, n, progress)
    statistics, spread = kruskal_wallis(table, labels)
    kinds = np.digitize(spread, defaults.QVALUE_TIES)
    kinds[spread == 0.0] = -1  # constant: not tested

    columns = [np.flatnonzero(kinds == kind) for kind in np.unique(kinds[kinds >= 0])]
    per_refit = [max(1, round(defaults.QVALUE_SHARE * len(own))) for own in columns]
    more = n_refits is None
    if n_refits is None:
        n_tests = d if variables is None else len(np.unique(variables))
        fewest = max(1, min(defaults.QVALUE_FEWEST, n_tests // 4))
        n_refits = ceil((n_tests / (level * fewest) - 1) / max(per_refit))

    def null_values(count: int) -> np.ndarray:
        """Return the statistics of the permuted columns of some refits."""
        # Every column of a kind is permuted equally often, give or take once.
        drawn = [
            np.resize(rng.permutation(own), (count, each))
            for own, each in zip(columns, per_refit, strict=True)
        ]
        seeds = rng.randint(np.iinfo(np.int32).max, size=count)
        progress.step(f"fitting {type(selector).__name__} again, {count} times")
        refits = Parallel(n_jobs, return_as="generator")(
            delayed(_null_statistics)(selector, table, codes, chosen, int(seed), variables)
            for chosen, seed in zip(np.hstack(drawn), seeds, strict=True)
        )
        return np.array(list(progress.counted(refits, count, what="refits")))

    def judge() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return p-values, q-values, numbers of null values, and which are beyond all of them."""
        pvalues, null_sizes = np.ones(d), np.zeros(d, dtype=np.intp)
        parts = np.split(null, np.cumsum(per_refit)[:-1], axis=1)
        for own, part in zip(columns, parts, strict=True):
            values = np.sort(part, axis=None)
            reach = statistics[own] * (1.0 - ROUNDING) - ROUNDING
            beyond = len(values) - np.searchsorted(values, reach)
            pvalues[own] = (1.0 + beyond) / (1.0 + len(values))
            null_sizes[own] = len(values)
        first = pvalues * (1.0 + null_sizes) < 1.5
        qvalues, tested = np.ones(d), kinds >= 0
        if variables is not None:  # the smallest of several counts as often as there are
            for one in repeated(variables):
                pvalues[one] = min(1.0, pvalues[one].min() * int(tested[one].sum()))  # Bonferroni
            own = np.unique(np.where(tested, variables, -1), return_index=True)[1]
            tested &= np.isin(np.arange(d), own)
        qvalues[tested] = false_discovery_control(pvalues[tested])
        if variables is not None:
            smallest = np.ones(d)
            np.minimum.at(smallest, variables, qvalues)
            qvalues = smallest[variables]
        return pvalues, qvalues, null_sizes, first & (null_sizes > 0)

    null = null_values(n_refits)
    pvalues, qvalues, null_sizes, first = judge()
    close = first & (qvalues > level) & (qvalues <= 2.0 * level)
    if more and close.any():
        added = ceil((qvalues[close].max() / level - 1.0) * n_refits) + 1
        null, n_refits = np.vstack([null, null_values(added)]), n_refits + added
        pvalues, qvalues, null_sizes, _ = judge()
    return FeatureQValues(
        qvalues,
        pvalues,
        statistics,
        null_sizes,
        n_refits=n_refits,
        n_clusters=len(np.unique(labels)),
        n_samples=table.shape[0],
        feature_names=None if names is None else np.asarray(names, dtype=str),
    )


def kruskal_wallis(X: Any, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the statistic of every column, corrected for ties, and the factor of the correction.

    With ranks r, R_k and n_k their sum and number in cluster k, and t the sizes of groups of ties,

        T = [12 / (n(n + 1)) Σ_k R_k² / n_k - 3(n + 1)] / D,   D = 1 - Σ (t³ - t) / (n³ - n)
          = (n - 1) Σ_k n_k (mean_k r - mean r)² / Σ_i (r_i - mean r)².

    D is 1 without ties and 0 for a constant column, of which T is 0.
    """
    X = X.tocsc() if is_sparse(X) else X
    n, d = X.shape
    _, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    member = sp.csr_array((np.ones(n), (codes, np.arange(n))))
    statistics, spread = np.zeros(d), np.zeros(d)
    for start in range(0, d, step := max(1, BLOCK_ELEMENTS // n)):
        block = pick_columns(X, np.arange(start, min(start + step, d)))
        dense = block.toarray() if is_sparse(block) else to_numpy(block)
        ranks = rankdata(dense, axis=0) - 0.5 * (n + 1)
        total = np.einsum("ij,ij->j", ranks, ranks)
        between = np.einsum("ij,ij,i->j", sums := member @ ranks, sums, 1.0 / sizes)
        varies = total > 0.0
        here = slice(start, start + block.shape[1])
        statistics[here] = (n - 1) * between / np.where(varies, total, 1.0)
        spread[here] = 12.0 * total / (n**3 - n)
    return statistics, spread


def _clusters(
    estimator: Any,
    X: Any,
    codes: np.ndarray | None,
    rows: np.ndarray | None,
    n_samples: int,
    progress: FitProgress,
) -> tuple[Any, np.ndarray | None, np.ndarray]:
    """Return the selector to be fitted again, its numbers fixed, its variables and clusters."""
    estimator = getattr(estimator, "best_estimator_", estimator)
    fitted = next((s for s in reversed([*layers(estimator)]) if hasattr(s, "labels_")), None)
    check_selector(selector := innermost(estimator) if fitted is None else fitted)
    if fitted is None or len(fitted.labels_) != X.shape[0]:
        selector = clone(selector) if fitted is None else with_found_numbers(fitted, verbose=0)
        if getattr(selector, "_significant", False):  # it would come to the same question
            selector.set_params(n_features_to_select="auto")
        init: Any = getattr(selector, "init", None)
        if rows is not None and np.shape(init) == (n_samples,):  # labels, one for each row
            selector.set_params(init=np.asarray(init)[rows])
        progress.step(f"fitting {type(selector).__name__} to {X.shape[0]} rows")
        fitted = fit_corrected(selector, X, codes)
    if not hasattr(fitted, "labels_"):
        raise ValueError(
            f"{type(fitted).__name__} finds no clusters (it has no labels_), and q-values say "
            "which features go with clusters: take a selector that finds them, such as JASFS."
        )
    labels = np.asarray(fitted.labels_)
    if len(np.unique(labels)) < 2:
        raise ValueError(
            "All samples are in one cluster, which no feature can tell from others: set n_clusters "
            "to at least 2."
        )
    # clusters do not depend on what may be selected, but on which columns are one variable
    free = dict.fromkeys(CONSTRAINTS)
    again = with_found_numbers(fitted, verbose=0, callback=None, **free)
    if fitted._variables is not None:
        again.set_params(groups={str(one[0]): one for one in repeated(fitted._variables)})
    return again, fitted._variables, labels


def _null_statistics(
    selector: Any,
    X: Any,
    codes: np.ndarray | None,
    chosen: np.ndarray,
    seed: int,
    variables: np.ndarray | None = None,
) -> np.ndarray:
    """Fit the selector with some columns permuted; return their statistics. Runs in a worker.

    Columns of one variable are permuted together.
    """
    d, columns, together = X.shape[1], chosen, None
    if variables is not None:
        columns = np.flatnonzero(np.isin(variables, variables[chosen]))
        together = variables[columns]
    part = permuted(pick_columns(X, columns), np.random.default_rng(seed), together)
    if isinstance(X, SparseInBatches):
        both = X.beside(part)
    elif is_sparse(X):
        both = sp.hstack([X, part], format="csr")
    else:
        both = namespace_of(X).concat([X, part], axis=1)
    place = np.arange(d)
    place[columns] = d + np.arange(len(columns))
    if "random_state" in selector.get_params(deep=False):
        selector = clone(selector).set_params(random_state=seed)
    with catch_warnings():
        simplefilter("ignore")  # the first fit has given the same
        labels = fit_corrected(selector, pick_columns(both, place), codes, variables).labels_
    found = kruskal_wallis(part, labels)[0]
    return found if together is None else found[np.searchsorted(columns, chosen)]
