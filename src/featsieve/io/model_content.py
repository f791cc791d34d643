"""Whether the parts of a loaded model fit together: a file can hold any numbers in known types."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from featsieve.arrays.namespace import is_sparse
from featsieve.base import UnsupervisedSelector
from featsieve.io.dataset import checked_sparse
from featsieve.io.selection_model import SelectionModel

# Fitted attributes with an entry for every feature, and the kinds of numbers they hold.
PER_FEATURE = {"support_": "b", "scores_": "f", "ranking_": "iu", "feature_names_in_": "OU"}
# The last place in the state of numpy.random.RandomState; numpy itself does not look.
STATE_LENGTH = 624
FORGED = "it is damaged or forged"


class ContentError(ValueError):
    """A model whose parts do not fit together."""


def check_content(model: Any) -> None:
    """Raise unless all that a loaded model holds fits together."""
    if isinstance(model, type) or not hasattr(model, "transform"):
        raise ContentError(f"it holds a {type(model).__name__}, which is no model")
    for part in _parts(model):
        if is_sparse(part):
            checked_sparse(part)
        elif isinstance(part, np.random.RandomState):
            _check_state(part)
        elif isinstance(part, SelectionModel):
            _check_selection(part)
        elif isinstance(part, UnsupervisedSelector) and hasattr(part, "support_"):
            _check_selector(part)
    if hasattr(model, "fit"):
        check_is_fitted(model)


def _parts(model: Any) -> Iterator[Any]:
    """Yield all that a model holds, however deep, each object once."""
    waiting, seen = [model], set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list | tuple):
            waiting += part
        elif isinstance(part, np.ndarray):
            waiting += part.ravel().tolist() if part.dtype == object else []
        elif type(part).__module__.partition(".")[0] in ("featsieve", "sklearn"):
            waiting += vars(part).values() if hasattr(part, "__dict__") else []


def _check_state(state: np.random.RandomState) -> None:
    """Raise unless the next number of a random state lies inside of it."""
    place = state.get_state(legacy=False)["state"]["pos"]
    if not 0 <= place <= STATE_LENGTH:
        raise ContentError(f"its random state stands at {place} of {STATE_LENGTH}: {FORGED}")


def _check_selector(selector: UnsupervisedSelector) -> None:
    """Raise unless the fitted attributes have an entry for every feature."""
    name = type(selector).__name__
    n = getattr(selector, "n_features_in_", None)
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise ContentError(f"n_features_in_ of {name} is no number of features: {FORGED}")
    for attribute, kinds in PER_FEATURE.items():
        value = getattr(selector, attribute, None)
        if value is None and attribute != "support_":
            continue
        if not isinstance(value, np.ndarray) or value.dtype.kind not in kinds:
            raise ContentError(f"{attribute} of {name} is of another kind than a fit's: {FORGED}")
        if value.shape != (n,):
            raise ContentError(
                f"{attribute} of {name} has shape {value.shape}, and it was fitted to {n} "
                f"features: {FORGED}"
            )
    coef = getattr(selector, "coef_", None)
    if coef is not None and np.shape(coef)[:1] != (n,):
        raise ContentError(f"coef_ of {name} does not have {n} rows: {FORGED}")


def _check_selection(model: SelectionModel) -> None:
    """Raise unless names and selector of a selection say the same."""
    selector = model.selector
    if not isinstance(selector, UnsupervisedSelector):
        return
    check_is_fitted(selector)
    _check_selector(selector)
    support = selector.support_
    if len(support) != len(model.feature_names):
        raise ContentError(
            f"its selector was fitted to {len(support)} features, and it names "
            f"{len(model.feature_names)}: {FORGED}"
        )
    chosen = tuple(model.feature_names[int(j)] for j in np.flatnonzero(support))
    if chosen != tuple(model.selected):
        raise ContentError(
            f"the columns that it names as selected are not its selector's: {FORGED}"
        )
