"""What a selector finds out by itself: how many features and clusters, structure, batches."""

from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.stats import false_discovery_control

from featsieve import defaults
from featsieve.arrays.batches import Batches
from featsieve.arrays.namespace import stable_order
from featsieve.criteria.automatic import RankedPath, choose_count
from featsieve.criteria.batches import BatchReport, batch_report
from featsieve.criteria.curve import default_sizes
from featsieve.criteria.n_clusters import count_clusters
from featsieve.criteria.qvalues import feature_qvalues
from featsieve.criteria.structure import is_testing, warn_without_structure
from featsieve.progress import SILENT, FitProgress
from featsieve.solvers.forward_selection import SelectionPath
from featsieve.solvers.offer import Offer
from featsieve.validation import (
    check_n_clusters,
    check_option,
    check_varying,
    refuse_constant,
    resolve_n_features,
    warn,
)

# Scores that differ by less, relative to themselves, are equal: the order in which a table lies in
# memory, the BLAS library or the number of its threads may have made the difference.
ROUNDING = 1e-12


class Choices:
    """The part of a selector that finds numbers, within what may be selected (``_offer``)."""

    # Whether the ranking depends on n_features_to_select: a number found needs a second fit then.
    _follows_count: ClassVar[bool] = False

    # What ``verbose`` prints; a fit has one of its own.
    _progress: FitProgress = SILENT

    # What may be selected, where that is constrained: a feature is one of its units then. Whether
    # the method itself spends the budget, or has it spent from the best feature on.
    _offer: Offer | None = None
    _spends: ClassVar[bool] = False

    # The variable of every column, where the indicators of a category are one.
    _variables: np.ndarray | None = None

    # The batch of every row, during a fit.
    _codes: np.ndarray | None = None

    n_features_to_select: Any
    n_clusters: Any
    path_: SelectionPath | RankedPath
    scores_: np.ndarray
    ranking_: np.ndarray
    support_: np.ndarray
    n_features_selected_: int
    n_features_in_: int
    batches_: Batches
    batch_report_: BatchReport
    n_jobs: int | None
    verbose: int
    random_state: Any

    def _fit(self, X: Any) -> None:
        """Rank the features of a checked table."""
        raise NotImplementedError

    @property
    def _automatic(self) -> bool:
        """Whether the number of features is to be found."""
        return isinstance(self.n_features_to_select, str) and self.n_features_to_select == "auto"

    @property
    def _n_units(self) -> int:
        """How many features there are to choose from."""
        return self.n_features_in_ if self._offer is None else self._offer.n_units

    def _count_units(self, columns: np.ndarray) -> int:
        """Return how many features some columns are: those that are bought together are one."""
        return len(columns) if self._offer is None else self._offer.count(columns)

    def _n_to_select(self) -> int:
        """Return n_features_to_select as a count; the method cannot decide it."""
        if self._automatic:
            found = getattr(self, "path_", None)
            if found is not None and found.curve is not None:
                return self._count_units(found.order[: found.curve.chosen])
            return int(default_sizes(self._n_units)[-1])
        if self._offer is not None and self._offer.budget is not None:  # decides in the end
            affordable = self._offer.budget / self._offer.price.mean()
            return int(np.clip(affordable, 1, self._n_units))
        count = resolve_n_features(self.n_features_to_select, self._n_units)
        self._check_kept(count)
        if count is None:
            raise ValueError(
                f"{type(self).__name__} ranks the features and does not decide how many to keep: "
                "set n_features_to_select to a count, a fraction of the features, or 'auto'."
            )
        return count

    def _at_least_kept(self, count: int) -> int:
        """Return a number of features that a method has found, or how many are kept in any case."""
        return max(count, 1, 0 if self._offer is None else len(self._offer.kept))

    def _check_kept(self, count: int | None) -> None:
        """Refuse fewer features than are kept in any case."""
        n_kept = 0 if self._offer is None else len(self._offer.kept)
        if count is not None and count < n_kept:
            raise ValueError(
                f"keep names {n_kept} features, more than n_features_to_select="
                f"{self.n_features_to_select!r} allows: they count, too. Raise it, or keep fewer."
            )

    def _count_clusters(self, X: Any, *, low: int = 1) -> int:
        """Return n_clusters as a number; "auto" is found, once per fit."""
        if not isinstance(self.n_clusters, str):
            self.n_clusters_ = check_n_clusters(self.n_clusters, X.shape[0], low=low)
        elif not hasattr(self, "n_clusters_"):
            check_option("n_clusters", self.n_clusters, ("auto",))
            check_varying(X)
            self._progress.step("counting the clusters")
            self.cluster_count_ = count_clusters(X, codes=self._codes, variables=self._variables)
            self.n_clusters_ = self.cluster_count_.n_clusters
        return self.n_clusters_

    @property
    def _is_tested(self) -> bool:
        """Whether a number is to be found, which means little where there are no clusters."""
        return self._automatic or isinstance(getattr(self, "n_clusters", None), str)

    def _test_structure(self, X: Any) -> None:
        """Test whether there are clusters, unless somebody else does."""
        if is_testing():
            self._progress.step("testing whether there is structure")
            seed = getattr(self, "random_state", None)
            self.structure_ = warn_without_structure(
                X,
                random_state=seed if isinstance(seed, Integral) else 0,
                codes=self._codes,
                variables=self._variables,
                n_jobs=getattr(self, "n_jobs", None),
                progress=self._progress,
            )

    def _set_batches(self, X: Any, batches: Batches, batch: Any) -> None:
        """Keep what new rows need to be told apart inside of batches; X is the table as given."""
        self.batches_ = batches.columns(self.support_)
        if hasattr(self, "labels_"):
            self._progress.step("comparing clusters with batches")
            self.batch_report_ = batch_report(self, X, batch)

    def _choose_count(self, X: Any) -> None:
        """Find how many features of the ranking to keep, by a criterion that needs no labels."""
        curve = choose_count(self, X, progress=self._progress)
        self.path_ = RankedPath(np.argsort(self.ranking_), curve)
        count = self._n_to_select()
        if self._follows_count:
            self._progress.step(f"fitting again, for {curve.chosen} features")
            self._fit(X)
        order = np.argsort(self.ranking_)
        own = isinstance(self.path_, SelectionPath)
        self.path_ = replace(self.path_, curve=curve) if own else RankedPath(order, curve)
        self._set_selection(self.scores_, count, order=order)
        self.equivalent_range_ = curve.equivalent_range

    @property
    def _significant(self) -> bool:
        """Whether all features that go with the clusters are to be kept."""
        asked = self.n_features_to_select
        return isinstance(asked, str) and asked == "significant"

    def _keep_significant(self, X: Any) -> None:
        """Select the significant features instead, if that was asked for and there are any."""
        if not self._significant:
            return
        self._progress.step("testing the features")
        found = feature_qvalues(
            self, X, n_jobs=self.n_jobs, verbose=self.verbose, random_state=self.random_state
        )
        self.qvalues_, chosen = found.qvalues, found.significant()
        if self._offer is not None:
            chosen = significant_units(self._offer, found.pvalues)
            chosen[self._offer.kept_columns] |= chosen.any()
        if chosen.any():
            order = np.lexsort((self.ranking_, ~chosen))
            self._set_selection(
                self.scores_, self._count_units(np.flatnonzero(chosen)), order=order
            )
            return
        warn(
            f"No feature goes with the clusters at q <= {defaults.QVALUE_LEVEL:g} (the smallest "
            f"q-value is {found.qvalues.min():.2g}): the {self.n_features_selected_} that show "
            "them best were kept, without an error rate. There may be no structure, or too few "
            'rows to prove it. n_features_to_select="auto" asks for no proof.'
        )

    def _check_varies(self, varies: np.ndarray) -> None:
        """Refuse a table without any column that varies; remember which do."""
        self._varies = varies
        refuse_constant(varies)

    def _set_selection(
        self, scores: np.ndarray, n_selected: int, *, order: np.ndarray | None = None
    ) -> None:
        """Set scores, ranking and support; ``order`` lists the features best first.

        By default: by score, ties by the lower index, columns that do not vary behind all others.
        Where columns are bought together, ``n_selected`` is the number of their units.
        """
        if order is None:
            varies = getattr(self, "_varies", None)
            if varies is None:
                raise ValueError(f"{type(self).__name__}: _fit must call self._operator(X) first.")
            expected = f"one number for each of the {len(varies)} columns, and not NaN"
            if np.shape(scores) != varies.shape or np.isnan(scores)[varies].any():
                raise ValueError(f"{type(self).__name__}: scores must be {expected}.")
            order = stable_order(np.where(varies, scores, -np.inf), rounding=ROUNDING)
            scores = np.where(varies, scores, 0.0)
        if self._offer is not None:
            if self._offer.budget is not None and not self._spends:
                order, affordable = self._offer.arranged(order, None)
                most = self._offer.count(order[:affordable])
                n_selected = min(n_selected, most) if self._automatic else most
            order, n_selected = self._offer.arranged(order, n_selected)
        self.scores_ = scores
        self.ranking_ = np.empty(len(order), dtype=np.intp)
        self.ranking_[order] = np.arange(1, len(order) + 1)
        self.support_ = self.ranking_ <= n_selected
        self.n_features_selected_ = int(n_selected)


def significant_units(offer: Offer, pvalues: np.ndarray) -> np.ndarray:
    """Return the columns of what is for sale and significant as a whole."""
    # a group has the p-value of Simes: the smallest that is adjusted among its own columns
    own = [false_discovery_control(pvalues[offer.unit == u]).min() for u in range(offer.n_units)]
    called = np.flatnonzero(false_discovery_control(own) <= defaults.QVALUE_LEVEL)
    return np.isin(offer.unit, called)
