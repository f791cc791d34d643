"""The same selection on subsamples of the rows: how often each feature comes back."""

from dataclasses import dataclass
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.base import clone

from featsieve import defaults
from featsieve.evaluation import Stability, selection_stability
from featsieve.validation import check_number
from featsieve.workflow.messages import Note, Steps


@dataclass(frozen=True, eq=False)
class Repeats:
    """Selections from subsamples, and why others failed."""

    selections: np.ndarray
    failures: tuple[str, ...] = ()

    @property
    def frequency(self) -> np.ndarray | None:
        """Share of the subsamples in which each feature was selected; None without any."""
        return self.selections.mean(axis=0) if len(self.selections) else None

    @property
    def stability(self) -> Stability | None:
        """How far the selections agree beyond chance; None for fewer than two."""
        return selection_stability(self.selections) if len(self.selections) > 1 else None

    @property
    def notes(self) -> tuple[Note, ...]:
        """What there is to say about fits that failed."""
        if not self.failures:
            return ()
        total = len(self.failures) + len(self.selections)
        text = (
            f"{len(self.failures)} of the {total} fits to subsamples failed and do not count "
            f"({self.failures[0]})."
        )
        return (Note(text, "subsamples"),)


def check_subsamples(n_subsamples: int | None, X: Any) -> int:
    """Return the number of subsamples; None is 10, or 0 for a large table, and 1 is an error."""
    if n_subsamples is None:
        large = X.shape[0] * X.shape[1] > defaults.SUBSAMPLED_ELEMENTS
        return 0 if large else defaults.SUBSAMPLES
    check_number("n_subsamples", n_subsamples, low=0, integer=True)
    if n_subsamples == 1:
        raise ValueError("Stability compares selections: take 0 subsamples (none), or at least 2.")
    return int(n_subsamples)


def repeat_selection(
    selector: Any, X: Any, n_subsamples: int, *, random_state: int = 0, steps: Steps
) -> Repeats:
    """Fit a selector again to random subsets of the rows.

    The numbers of clusters and of features are those of the selector, as it was fitted: what is
    asked is whether the same features come back, not whether the same numbers do.
    """
    rng = np.random.RandomState(random_state)
    n = X.shape[0]
    n_rows = min(max(round(defaults.SUBSAMPLE_SHARE * n), 2), n - 1)
    selections, failures = [], []
    for i in range(n_subsamples):
        rows = np.sort(rng.permutation(n)[:n_rows])
        again = with_found_numbers(selector, random_state=rng.randint(np.iinfo(np.int32).max))
        steps.next(f"subsample {i + 1} of {n_subsamples}")
        try:
            with catch_warnings():
                simplefilter("ignore")  # the fit to all rows has reported the same
                selections.append(again.fit(X[rows]).get_support())
        except (ValueError, FloatingPointError, np.linalg.LinAlgError) as error:
            failures.append(str(error).rstrip("."))
    return Repeats(np.array(selections, dtype=bool).reshape(-1, X.shape[1]), tuple(failures))


def with_found_numbers(selector: Any, *, random_state: int) -> Any:
    """Return an unfitted copy that looks for as many clusters and features as were found."""
    values = {"n_features_to_select": selector.n_features_selected_}
    parameters = selector.get_params(deep=False)
    if parameters.get("n_clusters") is not None:
        values["n_clusters"] = selector.n_clusters_
    if "random_state" in parameters:
        values["random_state"] = random_state
    return clone(selector).set_params(**values)
