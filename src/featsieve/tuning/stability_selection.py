"""Which features are selected again and again when the samples change."""

from dataclasses import field
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import _safe_indexing, check_random_state, get_tags
from sklearn.utils.parallel import Parallel, delayed

from featsieve.arrays.batch_table import SparseInBatches
from featsieve.arrays.namespace import is_foreign_array, take_rows
from featsieve.base import UnsupervisedSelector, estimator
from featsieve.criteria.batches import fit_corrected
from featsieve.criteria.structure import untested
from featsieve.evaluation.stability import selection_stability
from featsieve.validation import check_number, resolve_n_features, warn


@estimator
class StabilitySelection(MetaEstimatorMixin, UnsupervisedSelector):
    """Select the features that a selector chooses again and again on subsamples of the rows.

    The selector is fitted anew to random subsets of the rows, drawn without replacement. Each fit
    finds its own pseudo-labels, so that their uncertainty counts as well as that of the selection.
    Data frames reach the selector as data frames.

    Parameters
    ----------
    selector : estimator
        An unsupervised feature selector with ``get_support``, such as JASFS. It is only cloned.
    n_subsamples : int, default=50
        Number of subsamples, at least 2.
    subsample_size : float, default=0.8
        Share of the rows in each subsample, above 0 and below 1. Large ones keep the clusters of
        small tables: with half of the rows, the classical choice, clusters of a few samples vanish,
        and methods that look for clusters hardly repeat their selection even where it is right. On
        noise they do not repeat it with either share. Methods that score each column by itself
        (LaplacianScore, SPEC, MaxVariance) do: two large subsamples are nearly the same table, so
        use 0.5 for these, and compare stabilities of the same share only.
    threshold : float, default=0.6
        Features are selected whose share of the subsamples is at least this, above 0 and at most
        1. Not used if ``n_features_to_select`` is given.
    n_features_to_select : int, float, "auto" or None, default=None
        Select so many of the most frequent features instead: a count, a fraction of the features,
        or "auto": as many as are needed to show the clusters (see ``path_``).
        (How many each fit selects is the selector's own parameter.)
    n_jobs : int or None, default=None
        Fits that run at a time, through joblib: None is 1 unless ``joblib.parallel_config`` says
        otherwise, -1 is all processors. The answer does not depend on it.
    verbose : int, default=0
        Whether to print progress: 1 counts the finished fits, at most once a second; 2 prints a
        line for each. (The selector has its own ``verbose``, if it iterates.)
    random_state : int, RandomState instance or None, default=None
        Draws the subsamples, and a seed of its own for every fit to one of them (instead of the
        selector's ``random_state``). The fit to all rows keeps the selector's seed if it has one.
        An integer gives the same answer every time.

    Attributes
    ----------
    selection_frequency_ : ndarray of shape (`n_features_in_`,)
        Share of the subsamples in which each feature was selected.
    selections_ : ndarray of shape (n_subsamples, `n_features_in_`), dtype bool
        What was selected in each subsample.
    stability_ : float
        How far the selections agree beyond chance: 1 if all are the same, about 0 for random ones
        (see :func:`featsieve.evaluation.selection_stability`). NaN if every fit selected all
        features.
    stability_interval_ : tuple of two floats
        95 % confidence interval of ``stability_`` for other subsamples of this table (not others).
    selector_ : estimator
        The selector, fitted to all rows.
    labels_ : ndarray of shape (n_samples,)
        Clusters found by ``selector_``, if it has any.
    scores_ : ndarray of shape (`n_features_in_`,)
        The selection frequency.
    ranking_ : ndarray of shape (`n_features_in_`,)
        Rank of every feature, 1 is the best: by frequency, equal ones in the order of
        ``selector_``.
    support_ : ndarray of shape (`n_features_in_`,), dtype bool
        The selected features. If no feature reaches the threshold, the first of the ranking (there
        is a warning).
    n_features_selected_ : int
        Their number.
    %(automatic)s
    %(input)s

    See Also
    --------
    featsieve.evaluation.selection_stability : The measure, for selections of any origin.

    Notes
    -----
    Repeatability is not truth. A structure of no interest (a batch effect, a few outliers) is found
    again in every subsample, and so are mistakes; and subsamples share rows, so that even on noise
    selections can agree more than chance would have it. A low stability need not be bad news
    either: where many features can stand for each other, as in gene expression, every subsample
    may select other ones, all of them good, and each stays below the threshold.

    A frequency is no p-value, and there is no false-discovery rate here: the pseudo-labels come
    from the same table as the features that are judged by them. The error bounds of the literature
    on stability selection [1]_ do not apply.

    When not to use it: if rows depend on each other (repeated measurements, time series), copies of
    a row end up in all subsamples, and everything looks stable. Cost: a fit of the selector to all
    rows, and ``n_subsamples`` to fewer. (Warnings are those of the fit to all rows.)

    References
    ----------
    .. [1] N. Meinshausen and P. Bühlmann, "Stability selection", Journal of the Royal Statistical
       Society B 72 (4), 2010.

    Examples
    --------
    >>> from featsieve import JASFS
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.tuning.stability_selection import StabilitySelection
    >>> planted = make_planted(n_samples=120, n_features=50, n_informative=8, random_state=0)
    >>> selector = JASFS(n_clusters=4, n_features_to_select=8)
    >>> sieve = StabilitySelection(selector, n_subsamples=10, random_state=0).fit(planted.X)
    >>> bool((sieve.support_ == planted.informative).all())
    True
    """

    selector: Any = field(kw_only=False)
    n_subsamples: int = 50
    subsample_size: float = 0.8
    threshold: float = 0.6
    n_features_to_select: int | float | str | None = None
    n_jobs: int | None = None
    verbose: int = 0
    random_state: Any = None

    @property
    def _is_tested(self) -> bool:
        """Whether a number is to be found, here or by the selector."""
        return self._automatic or getattr(self.selector_, "_is_tested", False)

    def _fit_all(self, X: Any, *, batch: Any = None, **corrected: Any) -> None:
        if hasattr(X, "columns") and batch is None:
            self._frame = X  # the selector may want to know the names
        super()._fit_all(X, batch=batch, **corrected)

    def _fit(self, X: Any) -> None:
        """Fit the selector to all rows and to each subsample."""
        table = self.__dict__.pop("_frame", X)
        n_selected: int | None = 1  # for now
        if not self._automatic:
            n_selected = resolve_n_features(self.n_features_to_select, self.n_features_in_)
        if X.shape[0] < 3:
            raise ValueError(f"Subsamples need at least 3 rows to draw from; X has {X.shape[0]}.")
        rng = check_random_state(self.random_state)
        # First all rows: what is wrong with parameters or table is said without subsamples.
        self._progress.step(f"fitting {type(self.selector).__name__} to all rows")
        with untested():
            full = fit_corrected(_seeded(self.selector, rng, keep=True), table, self._codes)
        self._set_fits(full, self._fit_subsamples(full, table, rng), n_selected)

    def _fit_subsamples(self, full: Any, table: Any, rng: np.random.RandomState) -> np.ndarray:
        """Return what is selected from every subsample."""
        n_samples = table.shape[0]
        n_rows = min(max(round(self.subsample_size * n_samples), 2), n_samples - 1)
        # Drawn here, one after the other, so that n_jobs does not matter.
        draws = [
            (
                _seeded(self.selector, rng),
                np.sort(rng.permutation(n_samples)[:n_rows]),
            )
            for _ in range(self.n_subsamples)
        ]
        progress, count = self._progress, self.n_subsamples
        progress.step(f"fitting {type(full).__name__} to {count} subsamples of {n_rows} rows")
        parallel = Parallel(self.n_jobs, return_as="generator" if progress.verbose else "list")
        with catch_warnings():
            simplefilter("ignore")  # the fit to all rows has given the same
            supports = parallel(
                delayed(_fit_subsample)(selector, table, rows, self._codes, name=f"{i} of {count}")
                for i, (selector, rows) in enumerate(draws, start=1)
            )
            return np.array(list(progress.counted(supports, count, what="fits")))

    def _check_parameters(self) -> None:
        if not hasattr(self.selector, "fit") or not hasattr(self.selector, "get_support"):
            raise TypeError(
                "selector must be a feature selector with fit and get_support, such as "
                f"featsieve.JASFS(); got {self.selector!r}. Other steps go before it in a Pipeline."
            )
        check_number("n_subsamples", self.n_subsamples, low=2, integer=True)
        check_number("subsample_size", self.subsample_size, low=0.0, strict=True, below=1.0)
        check_number("threshold", self.threshold, low=0.0, strict=True)
        if self.threshold > 1.0:
            raise ValueError(f"threshold is a share, at most 1; got {self.threshold!r}.")

    def _set_fits(self, full: Any, selections: np.ndarray, n_selected: int | None) -> None:
        """Set what follows from the fit to all rows and the selections of the subsamples."""
        frequency = selections.mean(axis=0)
        if n_selected is None:
            n_selected = int((frequency >= self.threshold).sum())
            if n_selected == 0:
                warn(
                    f"No feature was selected in {self.threshold:.0%} of the subsamples. Only the "
                    f"most frequent one ({frequency.max():.0%}) is kept. There may be no clusters, "
                    "or many features that can stand for each other. Lower threshold, set "
                    "n_features_to_select, or let the selector select more features.",
                    UserWarning,
                )
                n_selected = 1
        order_of_full = getattr(full, "ranking_", ~full.get_support())
        order = np.lexsort((order_of_full, -frequency))  # the last key is the first criterion
        stability = selection_stability(selections)

        self.selector_ = full
        if hasattr(full, "labels_"):
            self.labels_ = full.labels_
        self.selections_ = selections
        self.selection_frequency_ = frequency
        self.stability_ = stability.value
        self.stability_interval_ = stability.interval
        self._set_selection(frequency.copy(), n_selected, order=order)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.selector, "__sklearn_tags__"):  # if not, fit says what is missing
            tags.input_tags.sparse = get_tags(self.selector).input_tags.sparse
        return tags


def _seeded(selector: Any, rng: np.random.RandomState, *, keep: bool = False) -> Any:
    """Return a clone with a seed for every random_state, nested ones too (keep: if it is None)."""
    selector = clone(selector)
    seeds = {}
    for name, value in sorted(selector.get_params(deep=True).items(), key=lambda item: item[0]):
        if name == "random_state" or name.endswith("__random_state"):
            seed = rng.randint(np.iinfo(np.int32).max)  # drawn whether it is used or not
            if value is None or not keep:
                seeds[name] = seed
    return selector.set_params(**seeds)


def _fit_subsample(
    selector: Any, table: Any, rows: np.ndarray, codes: np.ndarray | None, *, name: str
) -> np.ndarray:
    """Fit the selector to some rows; return what it selects. Runs in a worker."""
    own = is_foreign_array(table) or isinstance(table, SparseInBatches)  # scikit-learn cannot
    some = take_rows(table, rows) if own else _safe_indexing(table, rows)
    try:
        with untested():
            own_codes = None if codes is None else codes[rows]
            return fit_corrected(selector, some, own_codes).get_support()
    except Exception as error:
        kind = ValueError if isinstance(error, ValueError) else RuntimeError
        reason = f"{type(error).__name__}: {str(error).rstrip('.')}"
        raise kind(
            f"{type(selector).__name__} failed on subsample {name} ({len(rows)} of "
            f"{table.shape[0]} rows) with {reason}. It could be fitted to all rows: if the "
            "subsamples are too small for it, increase subsample_size."
        ) from error
