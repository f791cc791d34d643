"""What every selector shares: tables of any array library, ranking, scikit-learn's contract."""

import inspect
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, dataclass_transform

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from featsieve.arrays import ColumnScale, DataOperator, as_operator
from featsieve.arrays.namespace import (
    is_dask_array,
    is_foreign_array,
    like,
    pick_columns,
    to_numpy,
)
from featsieve.arrays.scale import find_variables
from featsieve.arrays.threads import LARGEST_UNTHREADED, one_thread
from featsieve.choices import Choices
from featsieve.constraints import CONSTRAINTS, find_groups, make_offer
from featsieve.criteria.batches import within_batches
from featsieve.docstrings import fill_doc
from featsieve.progress import reporting
from featsieve.solvers.protocol import Solution, Status
from featsieve.terms.norms import row_norms
from featsieve.validation import (
    Check,
    callable_or_none,
    check_dask_rows,
    check_foreign_table,
    check_option,
    check_table,
    in_native_type,
    nonnegative,
    positive_integer,
    refuse_dask_frame,
    warn,
)

# Weights below this, of the order of the smoothing of the l2,1 norm (its root), get a warning.
NEGLIGIBLE_WEIGHT = 1e-7
# What ``scale`` of a selector means: (scale, center) of the operator.
COLUMN_SCALES = {
    "unit": ("std", True),
    "none": ("none", True),
    "raw": ("none", False),
    "sqrt": ("sqrt", True),
}
# Parameters that mean the same in every selector that has them; ``_checks`` has those of a method.
COMMON_CHECKS: dict[str, Check] = {
    "n_neighbors": positive_integer,
    "max_iter": positive_integer,
    "tol": nonnegative,
    "callback": callable_or_none,
}

Selector = TypeVar("Selector", bound="UnsupervisedSelector")


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def estimator(cls: type[Selector]) -> type[Selector]:
    """Make the annotated attributes of a class the parameters of its ``__init__``.

    Shared entries of its docstring are filled in as well, and its signature has the order of the
    docstring: a dataclass lists inherited parameters first.
    """
    cls = fill_doc(dataclass(eq=False, repr=False, kw_only=True)(cls))
    documented = re.findall(r"^ *(\w+) :", cls.__doc__ or "", re.MULTILINE)

    def place(parameter: inspect.Parameter) -> tuple[int, int]:
        moves = parameter.kind is parameter.KEYWORD_ONLY and parameter.name in documented
        return parameter.kind, documented.index(parameter.name) if moves else len(documented)

    # That of __init__: one of the class would hide the __init__ of a subclass.
    init: Any = vars(cls)["__init__"]
    signature = inspect.signature(init)
    ordered = sorted(signature.parameters.values(), key=place)
    init.__signature__ = signature.replace(parameters=ordered)
    return cls


@contextmanager
def whole_fit(estimator: Any) -> Iterator[Any]:
    """Forget an earlier fit, and lend a copy of the estimator on which the new one is made.

    What the copy was given becomes the estimator's when the block ends, in one step. So whatever
    ends the block before (an error, Ctrl-C at any moment, lack of memory) leaves the estimator
    unfitted, without a mixture of two fits: there is nothing to clean up, which could be
    interrupted as well.
    """
    # A new dict in one step, too: attributes deleted one by one could be interrupted in between.
    estimator.__dict__ = {
        name: value for name, value in vars(estimator).items() if not name.endswith("_")
    }
    fresh = object.__new__(type(estimator))  # a copy could be changed by __getstate__
    fresh.__dict__ = dict(vars(estimator))
    yield fresh
    vars(estimator).update(vars(fresh))


class ReportLine:
    """Names the call that makes the report below the diagram of a fitted estimator in notebooks."""

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + self._report_line  # type: ignore[misc]

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._report_line
        return bundle

    @property
    def _report_line(self) -> str:
        """The call, if there is a selection to report on."""
        call = 'featsieve.report.write_selection_report(selector, X, "report.html")'
        line = f"<p>What was selected, and why, as one page: <code>{call}</code></p>"
        return line if hasattr(getattr(self, "best_estimator_", self), "support_") else ""


@fill_doc
class UnsupervisedSelector(ReportLine, Choices, SelectorMixin, BaseEstimator):
    """Base class of the selectors.

    A subclass lists the checks of its parameters (``_checks``) and ranks the features of a table
    (:meth:`_fit`, which ends with :meth:`_set_selection`). Without an entry in ``_checks``,
    ``n_neighbors``, ``max_iter``, ``tol`` and ``callback`` are checked as in every selector.
    :meth:`fit` checks the table, and sees to what is left to be found: ``n_clusters="auto"`` and
    ``n_features_to_select="auto"``. The rest of scikit-learn's transformer contract
    (``transform``, ``get_support``, ``get_feature_names_out``, ``set_output``,
    ``inverse_transform``) follows.

    A table may be a NumPy array, a data frame, a scipy.sparse matrix, or an array of another
    library. The last stays in its library and on its device, and so does what is made from it;
    fitted attributes are NumPy arrays always.

    Attributes
    ----------
    scores_ : ndarray of shape (`n_features_in_`,)
        Importance of every feature, larger is better; 0 for a column that does not vary.
    %(ranking_)s
        All ranks differ; ties in the scores are broken by the lower index.
    %(support_, n_features_selected_, automatic, n_clusters_, batches_, batch_report_)s
    """

    # How the parameters of the method are checked, beside COMMON_CHECKS.
    _checks: ClassVar[dict[str, Check]] = {}

    # The parameter, if there is one, that decides the number of features by what each costs.
    _price: ClassVar[str | None] = None

    scale: str
    max_iter: int
    coef_: np.ndarray
    feature_names_in_: np.ndarray

    if TYPE_CHECKING:  # scikit-learn's own methods come without types

        def get_support(self, indices: bool = False) -> np.ndarray: ...  # noqa: D102
        def get_feature_names_out(self, input_features: Any = None) -> np.ndarray: ...  # noqa: D102
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...  # noqa: D102
        def set_params(self, **params: Any) -> Self: ...  # noqa: D102
        def set_output(self, *, transform: str | None = None) -> Self: ...  # noqa: D102

    def fit(self, X: Any, y: Any = None, *, batch: Any = None) -> Self:
        """Rank the features and select some.

        Parameters
        ----------
        X : array-like or scipy.sparse matrix of shape (n_samples, n_features)
            The table: rows are samples. Sparse tables are not densified. Arrays of other libraries
            (torch, CuPy, any that follows the array API) stay on their device. Numbers beyond
            1e60, or all below 1e-60, are refused: their squares do not fit.
        y : ignored
            Present for the scikit-learn convention. Labels are never used.
        batch : array-like of shape (n_samples,), default=None
            Batch of every row (text or numbers): a plate, a donor, a species. Structure inside of
            batches counts then: all that is fitted is m_j + (x_ij - m_bj) s_j / s_bj, with m_bj and
            s_bj the mean and the deviation of column j in the batch of row i, m_j and s_j those of
            all rows (s_j about the means of the batches). Columns keep their units; where ranks
            count, they are those inside of the batch.

        Returns
        -------
        self
        """
        return self._fit_anew(X, batch=batch)

    def _fit_anew(self, X: Any, **known: Any) -> Self:
        """Forget an earlier fit, and fit a table with what :meth:`_fit_all` may know of it."""
        with whole_fit(self) as fresh:
            vars(fresh).pop("_variables", None)
            fresh._fit_all(X, **known)
            vars(fresh).pop("_codes", None)
        return self

    def _fit_all(
        self,
        X: Any,
        *,
        batch: Any = None,
        codes: np.ndarray | None = None,
        variables: np.ndarray | None = None,
    ) -> None:
        """Check parameters and table, rank the features, and see to what is left to be found.

        ``codes`` are batches that the table was corrected for before; it shows no ``variables``.
        """
        self._check_parameters()
        with reporting(self):
            given = self._check_input(X)
            self._set_offer(given)
            self._variables = self._variables if variables is None else variables
            with one_thread(if_=given.shape[0] * given.shape[1] <= LARGEST_UNTHREADED):
                X, own, batches = within_batches(given, batch)
                self._codes = codes if own is None else own
                self._fit(X)
                if self._automatic:
                    self._choose_count(X)
                if self._is_tested:
                    self._test_structure(X)
                if batches is not None:
                    self._set_batches(given, batches, batch)

    def _check_parameters(self) -> None:
        """Validate the parameters by the tables of checks; a subclass may add to it."""
        for name, check in {**COMMON_CHECKS, **self._checks}.items():
            if hasattr(self, name):
                check(name, getattr(self, name))

    def _set_offer(self, X: Any) -> None:
        """Find out what may be selected, of a checked table."""

    def _operator(self, X: Any) -> DataOperator:
        """Return the operator of a checked table that ``scale`` asks for ("unit" without it)."""
        name = getattr(self, "scale", "unit")
        check_option("scale", name, tuple(COLUMN_SCALES))
        scale, center = COLUMN_SCALES[name]
        operator = as_operator(X, scale=ColumnScale(scale, self._variables), center=center)
        self._check_varies(to_numpy(operator.varies))
        return operator

    # Tables -------------------------------------------------------------------------------------

    def _check_input(self, X: Any) -> Any:
        """Return the table that is fitted, checked; set ``n_features_in_``."""
        return check_table(X, owner=type(self).__name__, estimator=self)

    def _check_rows(self, X: Any) -> Any:
        """Return rows to which a finished fit is to be applied, checked."""
        if is_dask_array(X):
            return check_dask_rows(self, X)
        refuse_dask_frame(X)
        if is_foreign_array(X):
            names = getattr(self, "feature_names_in_", None)
            X = check_foreign_table(X, owner=type(self).__name__, names=names, min_samples=1)
            return validate_data(self, X, skip_check_array=True, reset=False)
        with np.errstate(invalid="ignore"):  # as in transform
            X = validate_data(self, X, accept_sparse="csr", dtype="numeric", reset=False)
        return in_native_type(X)

    # The selection -----------------------------------------------------------------------------

    def _set_weights(
        self, operator: DataOperator, W: Any, n_selected: int, *, warned: bool = False
    ) -> None:
        """Score the features by the lengths of their rows of W; keep W in the units of X.

        ``warned``: the user knows already that the weights have vanished.
        """
        W = to_numpy(W)
        single = getattr(self, "n_clusters", None) == 1  # there is another warning for that
        if float(np.abs(W).max()) < NEGLIGIBLE_WEIGHT and not (warned or single):
            warn(
                f"All weights are so small that the ranking means little: {type(self).__name__}'s "
                "row penalty is too large, or the columns are in very large units. Decrease the "
                "penalty, or scale the columns (scale='unit').",
                UserWarning,
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
            )

    # scikit-learn's contract --------------------------------------------------------------------

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
        refuse_dask_frame(X)
        if not (is_dask_array(X) or is_foreign_array(X)):
            with np.errstate(invalid="ignore"):  # scikit-learn adds up numbers near the largest
                return super().transform(X)
        wanted = _get_output_config("transform", estimator=self)["dense"]
        if is_dask_array(X) and wanted != "default":
            raise ValueError(
                f"A Dask array cannot be returned as a {wanted} data frame without gathering "
                'it: set_output(transform="default") keeps it lazy, or pass X.compute().'
            )
        selected = pick_columns(self._check_rows(X), np.flatnonzero(self.support_))
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
        refuse_dask_frame(X)
        if is_dask_array(X):
            if X.shape[1] != self.support_.sum():
                raise ValueError("X has a different shape than during fitting.")
            X, d = X.rechunk({1: -1}), len(self.support_)
            place = sp.eye_array(d, dtype=X.dtype, format="csr")[np.flatnonzero(self.support_)]
            settings = {"chunks": (X.chunks[0], (d,)), "dtype": X.dtype, "meta": X._meta}
            return X.map_blocks(partial(_product, place), **settings)
        if is_foreign_array(X):
            return like(self.inverse_transform(to_numpy(X)), X)
        with np.errstate(invalid="ignore"):  # as in transform
            return super().inverse_transform(X)

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


def _product(B: Any, A: Any) -> Any:
    """Return A B, of the same kind as A: this can be sent to a worker."""
    return A @ B


@estimator
class ConstrainedSelector(UnsupervisedSelector):
    """A selector that ranks the features itself, some of which may be kept, left out or priced.

    Methods but JASFS rank them as if there were no constraints: a unit of columns stands where its
    best column does, and the budget is spent from the best on.
    """

    keep: Any = None
    exclude: Any = None
    groups: Any = None
    costs: Any = None
    budget: float | None = None

    def _set_offer(self, X: Any) -> None:
        """Find out what may be selected, of a checked table, and which columns are one variable."""
        d, names = self.n_features_in_, getattr(self, "feature_names_in_", None)
        given = {name: getattr(self, name) for name in CONSTRAINTS}
        self._offer = make_offer(d, names, **given)
        groups = find_groups(self.groups, None if names is None else list(map(str, names)), d)
        self._variables = find_variables(X, groups.values())
