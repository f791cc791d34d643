"""What every estimator promises, whatever table and parameters it is given.

A fit ends. It gives a fitted estimator whose answer is complete, finite and the same the next time,
or a ``ValueError`` or ``TypeError`` that we wrote. The table is left as it was.
"""

import pickle
import signal
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning, NotFittedError
from sklearn.utils.validation import check_is_fitted

import featsieve
from featsieve.arrays.namespace import is_dask_array, is_foreign_array
from featsieve.tuning import NoStructureWarning
from tests.fuzz.relations import check_relatives
from tests.fuzz.tables import Recipe
from tests.fuzz.walk import fitted_values, not_finite, same

SECONDS = 30.0  # of processor time: a fit of these small tables takes a fraction of one
DOCUMENTED = (UserWarning, ConvergenceWarning, NoStructureWarning)
# Attributes that may hold NaN: their docstrings say so.
MAY_BE_NAN = ("stability_", "stability_interval_", "cv_results_", "best_score_", "init_")
MAY_BE_NAN += ("p_rotated", "value_rotated")  # not asked where columns are independent
# What a search measures with a clock.
TIMES = "_time"
# Words of NumPy, SciPy and LAPACK about themselves: no help to anybody who passed a table.
INTERNAL = (
    "array must not contain", "zero-size array", "did not converge", "out of bounds", "singular",
    "broadcast", "setting an array element", "cannot convert float", "eigenvalue", "on entry",
    "unpack", "subscriptable", "NoneType", "ufunc", "invalid value", "could not convert",
    "must be non-empty", "mismatch in its core dimension", "Maximum allowed size exceeded",
)  # fmt: skip
SOURCE = str(Path(featsieve.__file__).parent)
OWN_FILES = (SOURCE, "sklearn/utils/validation.py", "sklearn/utils/_set_output.py")
# Where a search says that none of its candidates could be fitted, and why.
OWN_FILES += ("sklearn/model_selection/_validation.py",)

# How often each estimator was fitted or refused; the plugin adds it up.
OUTCOMES: Counter[tuple[str, str]] = Counter()


class TookTooLongError(BaseException):
    """A fit did not end."""


def check(estimator: Any, recipe: Recipe, *, used_before: bool = False) -> None:
    """Fit the estimator to the table; raise AssertionError where it breaks its word."""
    if used_before:  # a fit that fails must not leave the answer of an earlier one
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with suppress(ValueError, TypeError):
                estimator.fit(np.random.default_rng(0).standard_normal((12, recipe.n_features)))
    name = type(estimator).__name__
    outcome = check_answer(name, estimator, recipe, clone, MAY_BE_NAN)
    if outcome == "fitted":
        check_selection(estimator, recipe)
        for compared in check_relatives(estimator, recipe, fit):
            OUTCOMES[name, compared] += 1
    else:
        assert not hasattr(estimator, "support_")
        with pytest.raises(NotFittedError):
            check_is_fitted(estimator)
    OUTCOMES[name, outcome] += 1


def check_answer(
    name: str, estimator: Any, recipe: Recipe, copy: Callable[[Any], Any], may_be_nan: Iterable[str]
) -> str:
    """Fit twice: the answers are finite and equal ("fitted"), or the table is "refused"."""
    OUTCOMES[name, "examples"] += 1
    table = recipe.build()
    before = frozen(table)
    error = fit(estimator, table)
    assert frozen(table) == before, "the table was modified"
    if error is not None:
        check_words(error)
        return "refused"
    again = copy(estimator)
    assert fit(again, table) is None, "the same fit failed the second time"
    first, second = fitted_values(estimator), fitted_values(again)
    assert first.keys() == second.keys()
    for path, value in first.items():
        allowed = any(part in path for part in may_be_nan)
        assert allowed or not not_finite(value), f"{path} is not finite: {value!r}"
        assert TIMES in path or same(value, second[path]), (
            f"{path}: {value!r} then {second[path]!r}"
        )
    return "fitted"


def fit(estimator: Any, table: Any) -> Exception | None:
    """Fit, in time and without a warning that is not ours; return what was refused."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with time_limit(SECONDS):
                estimator.fit(table)
        except (ValueError, TypeError) as error:
            refused: Exception | None = error
        else:
            refused = None
    search = isinstance(estimator, featsieve.LabelFreeSearchCV)
    for warning in caught:
        about = f"{warning.category.__name__} from {warning.filename}: {warning.message}"
        allowed = (*DOCUMENTED, FitFailedWarning) if search else DOCUMENTED
        assert warning.category in allowed, f"not a warning of ours: {about}"
        # ours point at the caller's line, which is in this folder (or in GridSearchCV)
        here = Path(warning.filename).parent == Path(__file__).parent
        assert search or here, f"not a warning of ours: {about}"
        assert len(str(warning.message)) > 20, about
    return refused


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise in the block once it has used so much processor time."""

    def ring(*_: Any) -> None:
        raise TookTooLongError(f"no end after {seconds:g} s of processor time")

    previous = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, previous)


def frozen(table: Any) -> bytes:
    """Return all that a table holds, as bytes."""
    if sp.issparse(table):
        names = ("row", "col") if table.format == "coo" else ("indices", "indptr")
        parts = [np.asarray(getattr(table, name)).tobytes() for name in (*names, "data")]
        return b"|".join([table.format.encode(), *parts])
    if isinstance(table, np.ndarray) and table.dtype != object:
        return np.ascontiguousarray(table).tobytes()
    if is_foreign_array(table) or is_dask_array(table):
        return np.asarray(table).tobytes()
    return pickle.dumps(table)


def check_words(error: Exception) -> None:
    """The words of a refusal are ours, and in the user's language."""
    words = f"{type(error).__name__}: {error}"
    assert type(error) in (ValueError, TypeError), words
    where = traceback.extract_tb(error.__traceback__)[-1].filename
    assert any(own in where for own in OWN_FILES), f"an error from {where}: {words}"
    assert len(str(error)) > 20, words
    assert not any(internal in str(error) for internal in INTERNAL), words


def check_selection(estimator: Any, recipe: Recipe) -> None:
    """The selection has the size that was asked for, agrees with the ranking, and is given out."""
    selector = getattr(estimator, "best_estimator_", estimator)
    support, ranking, d = selector.support_, selector.ranking_, recipe.n_features
    assert support.shape == ranking.shape == selector.scores_.shape == (d,)
    assert support.dtype == bool
    assert sorted(ranking) == list(range(1, d + 1))
    count = int(support.sum())
    assert count == selector.n_features_selected_ >= 1
    assert (support == (ranking <= count)).all()
    wanted = getattr(selector, "n_features_to_select", None)
    if isinstance(wanted, float):
        assert count == max(1, round(wanted * d))
    elif isinstance(wanted, int):
        assert count == wanted
    if hasattr(selector, "labels_"):
        assert selector.labels_.shape == (recipe.n_samples,)
        assert selector.labels_.dtype.kind == "i"
        assert selector.labels_.min() >= 0

    table = recipe.build()
    before = frozen(table)
    selected = estimator.transform(table)
    assert frozen(table) == before, "transform modified the table"
    values = np.asarray(table) if recipe.layout == "list" else recipe.values()
    expected = values[:, support]
    assert sp.issparse(selected) == recipe.is_sparse
    selected = selected.toarray() if recipe.is_sparse else np.asarray(selected)
    assert selected.dtype == expected.dtype
    assert np.array_equal(selected, expected)
