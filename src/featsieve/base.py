"""What every selector shares: checks of the input, ranking, support, scikit-learn's contract."""

from typing import Any
from warnings import warn

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from featsieve.arrays import DataOperator, as_operator
from featsieve.arrays.namespace import is_sparse, stable_order, to_numpy
from featsieve.solvers.protocol import Solution, Status
from featsieve.terms.row_sparsity import row_norms
from featsieve.validation import check_finite, check_option, refuse_text, resolve_n_features

# Weights below this are of the order of the smoothing of the l2,1 norm (its square root).
TINY_WEIGHT = 1e-7
# What ``scale`` means: (scale, center) of the operator.
SCALES = {"unit": ("std", True), "none": ("none", True), "raw": ("none", False)}


class UnsupervisedSelector(SelectorMixin, BaseEstimator):
    """Base class of the selectors.

    A subclass calls :meth:`_check_input` at the start of ``fit`` and :meth:`_set_selection` at its
    end; the rest of scikit-learn's transformer contract (``transform``, ``get_support``,
    ``get_feature_names_out``, ``set_output``, ``inverse_transform``) follows.

    Attributes
    ----------
    scores_ : ndarray of shape (`n_features_in_`,)
        Importance of every feature, larger is better; 0 for a column that does not vary.
    ranking_ : ndarray of shape (`n_features_in_`,)
        Rank of every feature: 1 is the best. All ranks differ; ties in the scores are broken by
        the lower index.
    support_ : ndarray of shape (`n_features_in_`,), dtype bool
        The selected features.
    n_features_selected_ : int
        Their number.
    """

    n_features_to_select: Any
    scale: str
    max_iter: int
    scores_: np.ndarray
    ranking_: np.ndarray
    support_: np.ndarray
    n_features_selected_: int

    def _check_input(self, X: Any) -> Any:
        """Return X as a numeric array or CSR matrix; refuse what no selector can use.

        Forgets an earlier fit first, so that a fit that fails leaves no mixture of two tables.
        """
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        refuse_text(X)
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype="numeric",
            ensure_min_samples=2,
            ensure_all_finite=False,
        )
        if not is_sparse(X) and X.dtype.kind == "f" and X.dtype.itemsize > 8:
            X = X.astype(np.float64)  # extended precision: no fast products, nothing gained
        names = getattr(self, "feature_names_in_", None)
        check_finite(X, owner=type(self).__name__, names=names)
        return X

    def _prepare(self, X: Any) -> tuple[Any, DataOperator]:
        """Check X; return it, and the operator that ``scale`` asks for."""
        check_option("scale", self.scale, tuple(SCALES))
        X = self._check_input(X)
        scale, center = SCALES[self.scale]
        operator = as_operator(X, scale=scale, center=center)
        self._check_varies(to_numpy(operator.varies))
        return X, operator

    def _n_to_select(self) -> int:
        """Return n_features_to_select as a count; the method cannot decide it."""
        count = resolve_n_features(self.n_features_to_select, self.n_features_in_)
        if count is None:
            raise ValueError(
                f"{type(self).__name__} ranks the features and does not decide how many to keep: "
                "set n_features_to_select to a count or a fraction of the features."
            )
        return count

    def _check_varies(self, varies: np.ndarray) -> None:
        """Refuse a table without any column that varies; remember which do."""
        self._varies = varies
        if not varies.any():
            raise ValueError(
                f"All {varies.size} columns of X are constant, so there is nothing to select. "
                "Check that X was read correctly (rows are samples, columns are features)."
            )

    def _set_selection(
        self, scores: np.ndarray, n_selected: int, *, order: np.ndarray | None = None
    ) -> None:
        """Set scores, ranking and support; ``order`` lists the features best first.

        By default: by score, ties by the lower index, columns that do not vary behind all others.
        """
        if order is None:
            order = stable_order(np.where(self._varies, scores, -np.inf))
        self.scores_ = scores
        self.ranking_ = np.empty(len(order), dtype=np.intp)
        self.ranking_[order] = np.arange(1, len(order) + 1)
        self.support_ = self.ranking_ <= n_selected
        self.n_features_selected_ = int(n_selected)

    def _set_weights(
        self, operator: DataOperator, W: Any, n_selected: int, *, warned: bool = False
    ) -> None:
        """Score the features by the lengths of their rows of W; keep W in the units of X.

        ``warned``: the user knows already that the weights have vanished.
        """
        W = to_numpy(W)
        single = getattr(self, "n_clusters", None) == 1  # there is another warning for that
        if float(np.abs(W).max()) < TINY_WEIGHT and not (warned or single):
            warn(
                f"All weights are so small that the ranking means little: {type(self).__name__}'s "
                "row penalty is too large, or the columns are in very large units. Decrease the "
                "penalty, or scale the columns (scale='unit').",
                UserWarning,
                stacklevel=3,
            )
        self.coef_ = to_numpy(operator.inverse_scale)[:, None] * W
        largest = float(np.abs(W).max()) or 1.0  # squares of tiny weights would underflow
        self._set_selection(largest * np.sqrt(row_norms(W / largest)), n_selected)

    def _set_outcome(self, solution: Solution[Any]) -> None:
        """Set what the solver reports; warn where the iterations were too few."""
        self.objective_ = np.asarray(solution.objective[1:])
        self.n_iter_ = solution.n_iter
        self.status_ = solution.status
        if solution.status is Status.ITERATION_LIMIT:
            warn(
                f"{type(self).__name__} stopped at max_iter={self.max_iter}: "
                f"{Status.ITERATION_LIMIT.value}. Increase max_iter, or tol if a rougher answer "
                "will do.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def transform(self, X: Any) -> Any:
        """Return the selected columns of X.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix of shape (n_samples, n_features)
            The same columns as in ``fit``, in the same order.

        Returns
        -------
        array, sparse matrix or data frame of shape (n_samples, `n_features_selected_`)
        """
        check_is_fitted(self, "support_")
        return super().transform(X)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = False
        return tags
