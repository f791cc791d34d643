"""What is known of a fitted JASFS: outcome, regression, centres, prediction, certificate, units."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from featsieve import defaults
from featsieve.arrays import ColumnScale, DataOperator, as_operator
from featsieve.arrays.namespace import (
    in_double,
    is_dask_array,
    is_foreign_array,
    like,
    namespace_of,
    pick_columns,
    to_numpy,
)
from featsieve.base import ConstrainedSelector
from featsieve.criteria.batches import within_batches
from featsieve.hypotheses.pool import Pool
from featsieve.solvers.certificate import Certificate, certify
from featsieve.solvers.protocol import Solution, Status
from featsieve.solvers.row_sparse import RowSparseRegression, mean_column_norm
from featsieve.validation import check_batch, warn


class ClusterModel(ClusterMixin, ConstrainedSelector):
    """A selector that regresses clusters on its features, and tells the cluster of new rows."""

    solver: str
    ridge: float
    intercept_: np.ndarray
    cluster_centers_: np.ndarray
    labels_: np.ndarray
    sparsity_: float
    hypotheses_: np.ndarray
    hypothesis_weights_: np.ndarray
    _selected_scale: np.ndarray  # 1/s of the selected columns

    def predict(self, X: Any, *, batch: Any = None) -> np.ndarray:
        """Return the cluster of new rows: that of the nearest centre.

        Distances are those of the selected columns, scaled as in the fit. (The regression that
        selects the features is shrunk by its ridge, so that it cannot tell clusters of unequal
        sizes, or one between two others.)

        Parameters
        ----------
        X : array-like or scipy.sparse matrix of shape (n_samples, n_features)
            The same columns as in ``fit``.
        batch : array-like of shape (n_samples,), default=None
            Batch of every row, if the model was fitted with batches. Rows of a batch that it knows
            are compared inside of that; another batch counts by its own means and deviations, and
            needs two rows at least.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "cluster_centers_")
        centers = self.cluster_centers_ * self._selected_scale
        mean = np.average(centers, axis=0)  # any origin will do
        centers = centers - mean
        # |x - c|^2 = |x|^2 - 2 x'c + |c|^2, and |x|^2 is the same for all clusters.
        weights = (centers * self._selected_scale).T
        offset = centers @ mean + 0.5 * np.sum(centers**2, axis=1)
        selected = pick_columns(self._check_rows(X), np.flatnonzero(self.support_))
        selected = self._inside_batches(selected, batch)
        if is_dask_array(X):
            nearest = partial(_nearest_center, weights=weights, offset=offset)
            meta = np.zeros(0, dtype=np.intp)
            return selected.map_blocks(nearest, drop_axis=1, dtype=np.intp, meta=meta)
        return _nearest_center(selected, weights, offset)

    def _inside_batches(self, selected: Any, batch: Any) -> Any:
        """Return the selected columns of new rows inside of their batches, if there are any."""
        known = getattr(self, "batches_", None)
        if known is None and batch is None:
            return selected
        if known is None:
            raise ValueError("The model was fitted without batches: fit it with batch=... as well.")
        if batch is None:
            raise ValueError(
                f"The model was fitted with {len(known.names)} batches: pass batch=..., the batch "
                "of every row."
            )
        names, codes = check_batch(batch, selected)
        new = set(names[np.bincount(codes) == 1].tolist()) - set(known.names.tolist())
        if new:
            raise ValueError(
                f"The model does not know the batch {new.pop()!r}, and one row has no "
                "mean and deviation of its own: pass more rows of it, or fit with some."
            )
        return known.extended(selected, names, codes).inside(selected, codes)

    def certify(self, X: Any, *, batch: Any = None) -> Certificate:
        """Bound how far the selection is from the best one for the fitted labels.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix
            The table that was fitted (joint solver).
        batch : array-like of shape (n_samples,), default=None
            The batches that it was fitted with.

        Returns
        -------
        Certificate
            The objective of the W-step at the selection, and a lower bound for every selection.
        """
        check_is_fitted(self, "support_")
        if self.solver != "joint":
            raise ValueError("A certificate needs the ridge of solver='joint'.")
        # a bound is a proof: in double precision, whatever that of the table
        table = within_batches(in_double(self._check_rows(X)), batch)[0]
        operator = as_operator(table, scale=self._column_scale)
        pool = Pool(self.hypotheses_, self.hypothesis_weights_, self.coef_.shape[1])
        n_features = None
        if self.sparsity_ == 0.0 and (self._offer is None or self._offer.budget is None):
            n_features = self._count_units(np.flatnonzero(self.support_))
        problem = RowSparseRegression(
            operator,
            operator.place(pool.target()),
            ridge=self.ridge * mean_column_norm(operator),
            sparsity=self.sparsity_,
            n_features=n_features,
            offer=self._offer,
        )
        return certify(problem, np.flatnonzero(self.support_))

    @property
    def _column_scale(self) -> ColumnScale:
        """What scale="auto" means, and which columns are one variable."""
        default = "unit" if self.solver == "joint" else "none"
        rule = default if self.scale == "auto" else self.scale
        return ColumnScale(rule, self._variables)

    def _set_outcome(self, solution: Solution[Any]) -> None:
        """Set what the solver reports; warn where the iterations were too few."""
        if self.solver == "paper":
            super()._set_outcome(solution)
            return
        if self.max_iter == 1:  # the fast mode: the start is all that is asked for
            self.n_iter_, self.status_ = solution.n_iter, solution.status
        else:
            super()._set_outcome(solution)
        self.objective_ = np.asarray(solution.objective)  # the start is the first iteration
        if solution.state.limited and solution.status is not Status.ITERATION_LIMIT:
            warn(
                f"A label step of JASFS stopped at its limit of {defaults.MAX_SWEEPS} sweeps: the "
                "clusters are not settled. Try another n_clusters or init.",
                ConvergenceWarning,
            )

    def _set_model(
        self, operator: DataOperator, W: np.ndarray, *, mean: np.ndarray, moments: np.ndarray
    ) -> None:
        """Set W, b (eq. solutionofb) and the clusters' centres in the units of X.

        ``mean`` is that of the rows of F, ``moments`` are the clusters' means of Z (d x c).
        """
        inverse_scale = to_numpy(operator.inverse_scale)
        original_mean = to_numpy(operator.original_mean)
        self.coef_ = inverse_scale[:, None] * W
        self.intercept_ = mean - original_mean @ self.coef_
        scale = self._selected_scale = inverse_scale[self.support_]
        centers = moments[self.support_].T / np.where(scale > 0.0, scale, 1.0)
        self.cluster_centers_ = original_mean[self.support_] + centers


def _nearest_center(columns: Any, weights: np.ndarray, offset: np.ndarray) -> Any:
    """Return the clusters with the largest x'c - |c|^2/2, all of them scaled."""
    if is_foreign_array(columns):
        xp = namespace_of(columns)
        along = xp.astype(columns, xp.float64, copy=False) @ like(weights, columns)
        return xp.argmax(along - like(offset, columns)[None, :], axis=1)
    return (safe_sparse_dot(columns, weights, dense_output=True) - offset).argmax(axis=1)
