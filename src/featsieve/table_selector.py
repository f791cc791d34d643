"""What a selector takes and gives back: tables of any array library, checked, on their device."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from featsieve.arrays.namespace import (
    is_dask_array,
    is_foreign_array,
    namespace_of,
    pick_columns,
    to_numpy,
)
from featsieve.deprecation import by_new_names
from featsieve.validation import (
    check_finite,
    check_foreign_table,
    in_native_type,
    refuse_dask_frame,
    refuse_text,
)


class TableSelector(SelectorMixin, BaseEstimator):
    """Base class of selectors as far as tables are concerned: which they accept and return.

    A table may be a NumPy array, a data frame, a scipy.sparse matrix, or an array of another
    library. The last stays in its library and on its device, and so does what is made from it;
    fitted attributes are NumPy arrays always.
    """

    support_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray

    if TYPE_CHECKING:  # scikit-learn's own methods come without types

        def get_support(self, indices: bool = False) -> np.ndarray: ...  # noqa: D102
        def get_feature_names_out(self, input_features: Any = None) -> np.ndarray: ...  # noqa: D102
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...  # noqa: D102
        def set_output(self, *, transform: str | None = None) -> Self: ...  # noqa: D102

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the selector, or of one inside of it.

        Parameters
        ----------
        **params : dict
            Values by name; ``selector__name`` for a parameter of the selector inside. A name that
            has changed lately is taken, with a warning that says the new one.

        Returns
        -------
        self
        """
        super().set_params(**by_new_names(self, params))
        return self

    def _check_input(self, X: Any) -> Any:
        """Return X as a numeric array or CSR matrix; refuse what no selector can use.

        Arrays of other libraries than NumPy stay what, and where, they are.
        """
        if is_dask_array(X):
            from featsieve.arrays.dask import check_dask_table

            return check_dask_table(self, X)
        if is_foreign_array(X):
            X = check_foreign_table(X, owner=type(self).__name__)
            return validate_data(self, X, skip_check_array=True)
        refuse_text(X)
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype="numeric",
            ensure_min_samples=2,
            ensure_all_finite=False,
        )
        X = in_native_type(X)
        names = getattr(self, "feature_names_in_", None)
        check_finite(X, owner=type(self).__name__, names=names)
        return X

    def _check_rows(self, X: Any) -> Any:
        """Return rows to which a finished fit is to be applied, as :meth:`_check_input` does."""
        if is_dask_array(X):
            from featsieve.arrays.dask_table import check_dask_rows

            return check_dask_rows(self, X)
        refuse_dask_frame(X)
        if is_foreign_array(X):
            names = getattr(self, "feature_names_in_", None)
            X = check_foreign_table(X, owner=type(self).__name__, names=names, min_samples=1)
            return validate_data(self, X, skip_check_array=True, reset=False)
        with np.errstate(invalid="ignore"):  # as in transform
            X = validate_data(self, X, accept_sparse="csr", dtype="numeric", reset=False)
        return in_native_type(X)

    def transform(self, X: Any) -> Any:
        """Return the selected columns of X.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix of shape (n_samples, n_features)
            The same columns as in ``fit``, in the same order.

        Returns
        -------
        array, sparse matrix or data frame of shape (n_samples, `n_features_selected_`)
            In the array library of X, and on its device; lazy, if X is a Dask array.
        """
        check_is_fitted(self, "support_")
        if is_dask_array(X):
            from featsieve.arrays.dask_table import select_columns

            wanted = _get_output_config("transform", estimator=self)["dense"]
            if wanted != "default":
                raise ValueError(
                    f"A Dask array cannot be returned as a {wanted} data frame without gathering "
                    'it: set_output(transform="default") keeps it lazy, or pass X.compute().'
                )
            return select_columns(self._check_rows(X), np.flatnonzero(self.support_))
        refuse_dask_frame(X)
        if not is_foreign_array(X):
            with np.errstate(invalid="ignore"):  # scikit-learn adds up numbers near the largest
                return super().transform(X)
        selected = pick_columns(self._check_rows(X), np.flatnonzero(self.support_))
        wanted = _get_output_config("transform", estimator=self)["dense"]
        return selected if wanted == "default" else to_numpy(selected)

    def inverse_transform(self, X: Any) -> Any:
        """Return the selected columns in their places, zeros in those of the others.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix of shape (n_samples, `n_features_selected_`)
            What :meth:`transform` returns.

        Returns
        -------
        array or sparse matrix of shape (n_samples, `n_features_in_`)
            In the array library of X, and on its device; lazy, if X is a Dask array.
        """
        check_is_fitted(self, "support_")
        if is_dask_array(X):
            from featsieve.arrays.dask_table import place_columns

            return place_columns(X, self.support_)
        refuse_dask_frame(X)
        if not is_foreign_array(X):
            with np.errstate(invalid="ignore"):  # as in transform
                return super().inverse_transform(X)
        xp = namespace_of(X)
        n_selected = int(self.support_.sum())
        if X.ndim != 2 or X.shape[1] != n_selected:
            raise ValueError(
                f"X must have the {n_selected} selected columns; got shape {tuple(X.shape)}: pass "
                "what transform returns."
            )
        place = np.where(self.support_, np.cumsum(self.support_) - 1, n_selected)
        padded = xp.concat([X, xp.zeros_like(X[:, :1])], axis=1)
        return pick_columns(padded, place)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_is_fitted__(self) -> bool:
        """Say whether a fit has come to its end."""
        return hasattr(self, "support_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = False
        return tags
