"""AutoSelector: any selector, with the number of features found without labels."""

from dataclasses import field
from typing import Any

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone

from featsieve.base import UnsupervisedSelector, estimator
from featsieve.constraints import CONSTRAINTS, in_positions, make_offer
from featsieve.criteria.automatic import RankedPath, choose_count, innermost
from featsieve.criteria.batches import fit_corrected
from featsieve.criteria.curve import check_sizes
from featsieve.criteria.structure import untested
from featsieve.validation import check_selector


@estimator
class AutoSelector(MetaEstimatorMixin, UnsupervisedSelector):
    """Keep as many features of a selector's ranking as a criterion finds best, without labels.

    The selector is fitted once, selections of several sizes are judged by what they say about the
    whole table, and the best size is kept.

    Parameters
    ----------
    selector : UnsupervisedSelector
        Any selector of featsieve. It is cloned; its ``n_features_to_select`` is not used.
    criterion : str, Criterion or None, default=None
        How to judge a selection: "modularity", "agreement", a function of (X, mask, labels), or
        an object (see :class:`~featsieve.tuning.Criterion`). None is "modularity" for JASFS and
        "agreement" for all others.
    sizes : iterable of int or None, default=None
        Numbers of features to look at. None: some from 5 to 400, or up to all of a narrow table.
    verbose : int, default=0
        Whether to print progress: 1 prints the steps and, at most once a second, the sizes that
        were judged; 2 prints all sizes. (The selector has its own ``verbose``, if it iterates.)

    Attributes
    ----------
    path_ : RankedPath
        The features, best first, and the ``curve`` of the criterion: ``path_.curve.table()``.
    equivalent_range_ : tuple of int
        The smallest and the largest number that are nearly as good as the one chosen.
    structure_ : StructureTest or None
        Whether there are clusters; None for fewer than 10 rows or two columns.
    selector_ : UnsupervisedSelector
        The fitted selector, with that number.
    scores_, ranking_, support_, n_features_selected_
        Those of ``selector_``.
    labels_ : ndarray of shape (n_samples,)
        Those of ``selector_``, if it finds clusters.
    %(input)s

    See Also
    --------
    LabelFreeSearchCV : Searches any parameter.
    StabilitySelection : Keeps the features that are selected again and again.

    Notes
    -----
    What ``n_features_to_select="auto"`` of the selector does, with a choice of criterion and
    sizes. (JASFS judges the path before labels are refined, here that of a finished fit.)

    Cost: one fit of the selector (a second one where the selection depends on its size), and for
    each size ten k-means runs on so many columns.

    Examples
    --------
    >>> from featsieve import AutoSelector, LaplacianScore
    >>> from featsieve.datasets import make_planted
    >>> planted = make_planted(n_samples=120, n_features=50, n_informative=10, random_state=0)
    >>> sieve = AutoSelector(LaplacianScore()).fit(planted.X)
    >>> sieve.n_features_selected_ <= 20
    True
    """

    selector: Any = field(kw_only=False)
    criterion: Any = None
    sizes: Any = None
    verbose: int = 0

    _automatic = False

    @property
    def _is_tested(self) -> bool:
        """Whether clusters are tested for: not where the inner selector is given labels."""
        given = getattr(innermost(self.selector), "init", None)
        return given is None or isinstance(given, str)

    def _check_parameters(self) -> None:
        check_selector(self.selector)
        if "n_features_to_select" not in self.selector.get_params(deep=False):
            raise TypeError(
                f"{type(self.selector).__name__} finds the number of features itself: pass the "
                "selector inside of it."
            )

    def _fit(self, X: Any) -> None:
        """Fit the selector, judge the sizes, keep the best."""
        names = getattr(self, "feature_names_in_", None)
        selector = clone(self.selector)
        constraints = {name: getattr(selector, name, None) for name in CONSTRAINTS}
        if names is not None:  # X has none
            selector.set_params(**in_positions(names, constraints))
        offer = make_offer(X.shape[1], names, **constraints)
        sizes = check_sizes(self.sizes, X.shape[1] if offer is None else offer.n_units)
        selector.set_params(n_features_to_select=int(sizes[-1]))
        if selector._price is not None:  # a number of features, not a price of each
            selector.set_params(**{selector._price: "auto"})
        name = type(selector).__name__
        self._progress.step(f"fitting {name}")
        with untested():
            self.selector_ = fit_corrected(selector, X, self._codes)
        curve = choose_count(
            self.selector_, X, criterion=self.criterion, sizes=sizes, progress=self._progress
        )
        order = np.argsort(self.selector_.ranking_)
        count = self.selector_._count_units(order[: curve.chosen])
        self.selector_.set_params(n_features_to_select=count)
        if selector._follows_count:
            self._progress.step(f"fitting {name} again, for {curve.chosen} features")
            with untested():
                fit_corrected(self.selector_, X, self._codes)
        order = np.argsort(self.selector_.ranking_)
        self.selector_._set_selection(self.selector_.scores_, count, order=order)
        n_selected = self.selector_.n_features_selected_
        if names is not None:
            self.selector_.feature_names_in_ = names
        self._set_selection(self.selector_.scores_, n_selected, order=order)
        self.path_ = RankedPath(order, curve)
        self.equivalent_range_ = curve.equivalent_range
        if hasattr(self.selector_, "labels_"):
            self.labels_ = self.selector_.labels_
