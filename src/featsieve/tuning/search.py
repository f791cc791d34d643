"""LabelFreeSearchCV: scikit-learn's parameter search, scored without labels."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import TransformerMixin
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from featsieve.base import ReportLine, whole_fit
from featsieve.criteria.automatic import labels_of_table
from featsieve.criteria.clusterings import sample_rows
from featsieve.criteria.measures import Criterion, Modularity, as_criterion
from featsieve.criteria.n_clusters import ClusterCount, suggest_n_clusters
from featsieve.criteria.structure import untested
from featsieve.graphs.views import sample_view
from featsieve.progress import FitProgress
from featsieve.validation import check_selector, check_table, check_varying


class LabelFreeSearchCV(ReportLine, TransformerMixin, GridSearchCV):
    """Search any parameters of a selector without labels, in scikit-learn's conventions.

    ``GridSearchCV`` with a label-free criterion in the place of a score: every candidate is fitted,
    and its selection is judged by what it says about the whole table.

    Parameters
    ----------
    estimator : UnsupervisedSelector or Pipeline
        A selector, or a pipeline that ends with one.
    param_grid : dict or list of dict
        Names of parameters and the values to try, as in ``GridSearchCV``.
    criterion : str or Criterion, default="modularity"
        How to judge a selection: "modularity", "agreement", a function of (X, mask, labels), or
        an object (see :class:`~featsieve.tuning.Criterion`).
    cv : int, splitter, iterable or None, default=None
        None fits and judges every candidate on all rows: there are no labels to overfit. With
        folds, candidates are fitted on the training rows, and their selections judged on the rest.
    refit : bool, default=True
        Whether to fit the best candidate on all rows.
    n_jobs : int or None, default=None
        Candidates that are fitted at the same time, by joblib.
    verbose : int, default=0
        Whether to print progress, as in ``GridSearchCV``: 1 how many fits there are, 2 the time of
        each, 3 and more also their scores.
    error_score : "raise" or number, default=np.nan
        The score of a candidate that cannot be fitted.

    Attributes
    ----------
    best_params_, best_score_, best_index_, best_estimator_, cv_results_, n_splits_, refit_time_
        As in ``GridSearchCV``; the score is the criterion.

    See Also
    --------
    AutoSelector : Finds the number of features, at the cost of one or two fits.

    Notes
    -----
    "modularity" compares all candidates on one neighbour graph: that of X, also where a pipeline
    transforms it first. "agreement" compares every candidate with its OWN pseudo-labels: easy
    labels win, so do not search ``n_clusters`` or ``init`` with it. No criterion knows which
    clusters matter to you: the best score is not a truth.

    Examples
    --------
    >>> from featsieve import LabelFreeSearchCV, LaplacianScore
    >>> from featsieve.datasets import make_planted
    >>> planted = make_planted(n_samples=120, n_features=50, n_informative=10, random_state=0)
    >>> search = LabelFreeSearchCV(LaplacianScore(10), {"n_neighbors": [3, 5, 10]})
    >>> search.fit(planted.X).transform(planted.X).shape
    (120, 10)
    >>> sorted(search.best_params_)
    ['n_neighbors']
    """

    cv: Any  # scikit-learn declares none of its own

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        criterion: Any = "modularity",
        cv: Any = None,
        refit: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
        error_score: Any = np.nan,
    ) -> None:
        self.criterion = criterion
        super().__init__(
            estimator,
            param_grid,
            cv=cv,
            refit=refit,
            n_jobs=n_jobs,
            verbose=verbose,
            error_score=error_score,
        )

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit and judge every candidate, then fit the best one.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix of shape (n_samples, n_features)
            The table: rows are samples.
        y : ignored
            Present for the scikit-learn convention. Labels are never used.
        **params : dict
            Passed on to ``fit`` of the estimator.

        Returns
        -------
        self
        """
        with whole_fit(self) as fresh:
            fresh._search(X, params)
        return self

    def _search(self, X: Any, params: dict[str, Any]) -> None:
        """Fit and judge every candidate on one graph, then fit the best one."""
        last = self.estimator[-1] if isinstance(self.estimator, Pipeline) else self.estimator
        check_selector(last)
        if "batch" in params:
            raise ValueError(
                "LabelFreeSearchCV judges the table as it is, not inside of batches: leave batch "
                "out, or fit the selector itself with batch and n_features_to_select='auto'."
            )
        criterion = as_criterion(self.criterion)
        table = check_table(X, owner=type(self).__name__)
        FitProgress(type(self).__name__, self.verbose).step("counting the clusters")
        count = suggest_n_clusters(table, random_state=0)
        if isinstance(criterion, Modularity) and criterion.graph is None and self.cv is None:
            criterion = replace(criterion, graph=_graph(table, count, criterion))
        self._scorer = LabelFreeScorer(criterion, count.n_clusters, fitted_rows=self.cv is None)
        given = self.cv
        if given is None:  # fit and judge on all rows: without labels nothing leaks
            rows = np.arange(table.shape[0])
            self.cv = [(rows, rows)]
        try:
            with untested():  # (workers of other processes test on their own)
                super().fit(X, None, **params)
        finally:
            self.cv = given
            del self._scorer

    @property
    def scoring(self) -> Any:
        """The criterion as a scikit-learn scorer."""
        return getattr(self, "_scorer", None) or LabelFreeScorer(as_criterion(self.criterion))

    @scoring.setter
    def scoring(self, value: Any) -> None:
        """Ignore what GridSearchCV sets: the criterion decides."""

    def transform(self, X: Any) -> Any:
        """Return the columns that the best candidate selects."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns that the best candidate selects."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.get_feature_names_out(input_features)


def _graph(table: Any, count: ClusterCount, criterion: Modularity) -> sp.csr_array:
    """Return the one graph on which all candidates are judged."""
    table, _ = sample_rows(table, check_random_state(criterion.random_state))
    view, c = count.view or "hat", count.n_clusters
    return sample_view(table, view, n_clusters=c, n_neighbors=criterion.n_neighbors).graph


@dataclass(frozen=True)
class LabelFreeScorer:
    """scorer(estimator, X): the criterion of the selection of a fitted selector."""

    criterion: Criterion
    n_clusters: int | None = None  # of selectors that have none
    fitted_rows: bool = False  # whether X will be the rows that were fitted

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        """Return the criterion; X are the fitted rows or others."""
        selector = estimator
        if isinstance(estimator, Pipeline):
            selector = estimator[-1]
            X = estimator[:-1].transform(X) if len(estimator) > 1 else X
        X = selector._check_rows(X)
        check_varying(X)
        labels = getattr(selector, "labels_", None) if self.fitted_rows else None
        if labels is None:
            labels = labels_of_table(selector, X, n_clusters=self.n_clusters)
        return self.criterion(X, selector.support_, labels)
