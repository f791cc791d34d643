"""Structure inside of batches: the table in which it shows, and what the batches tell of it."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score
from sklearn.utils import check_random_state

from featsieve import defaults
from featsieve.arrays.batches import Batches
from featsieve.criteria.clusterings import sample_rows
from featsieve.criteria.selected_clusters import fitted_attribute
from featsieve.hypotheses.families import table_labels
from featsieve.validation import check_batch, check_batch_sizes


def within_batches(X: Any, batch: Any) -> tuple[Any, np.ndarray | None, Batches | None]:
    """Return a checked table with the same mean and deviation of a column in all batches.

    See :meth:`featsieve.arrays.batches.Batches.inside`; without a batch it is the table as it is.
    Then the number of every row's batch, and what is known of the batches.
    """
    if batch is None:
        return X, None, None
    names, codes = check_batch(batch, X)
    check_batch_sizes(names, codes)
    batches = Batches.of(X, names, codes)
    if not batches.pooled_deviation.any():
        raise ValueError(
            "No column of X varies inside of a batch, so there is nothing to select there. Check "
            "that batch names groups of rows, each with rows that differ."
        )
    if len(names) == 1:
        return X, codes, batches
    return batches.inside(X, codes), codes, batches


def within_batches_of_fit(selector: Any, X: Any, batch: Any) -> tuple[Any, np.ndarray | None]:
    """Return a table, and the batches of its rows, as a fitted selector has seen it."""
    if batch is None and fitted_attribute(selector, "batches_") is not None:
        raise ValueError(
            f"{type(selector).__name__} was fitted with batches: pass batch=..., as in fit."
        )
    return within_batches(X, batch)[:2]


def fit_corrected(
    selector: Any, X: Any, codes: np.ndarray | None, variables: np.ndarray | None = None
) -> Any:
    """Fit a selector to a table that was corrected for the batches ``codes``, if there are any."""
    if codes is None or not hasattr(selector, "_fit_anew"):
        return selector.fit(X)
    return selector._fit_anew(X, codes=codes, variables=variables)


@dataclass(frozen=True)
class BatchReport:
    """How far the batches of the rows tell their clusters: normalised mutual information, 0 to 1.

    Attributes
    ----------
    before : float
        Of the clusters of the table as it was given: the consensus of the first label hypotheses
        of up to 600 rows, for the same number of clusters.
    after : float
        Of the clusters that were found inside of the batches (``labels_``).
    n_batches, n_clusters : int
    """

    before: float
    after: float
    n_batches: int
    n_clusters: int

    @property
    def sentence(self) -> str:
        """Both numbers in words."""
        if self.n_batches == 1:
            return "All rows are of one batch, which tells nothing about their clusters."
        said = (
            "Columns were centred and scaled within batches. Clusters of the table as it was would "
            f"share {self.before:.0%} of their information with the {self.n_batches} batches "
            f"(normalised mutual information); the {self.n_clusters} clusters that were found "
            f"share {self.after:.0%}."
        )
        if round(100 * self.before) == 0:  # there was nothing to take out
            return said
        return (
            f"{said} If batches are themselves the groups that you look for, these groups were "
            "taken out."
        )

    def summary(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it."""
        return asdict(self) | {"sentence": self.sentence}

    def __repr__(self) -> str:
        return f"<BatchReport: {self.sentence}>"


def batch_report(selector: Any, X: Any, batch: Any) -> BatchReport:
    """Return how far batches tell the clusters of a fitted selector; X is the table as given."""
    names, codes = check_batch(batch, X)
    labels = np.unique(selector.labels_, return_inverse=True)[1]
    n_clusters = int(labels.max()) + 1
    some, rows = sample_rows(X, check_random_state(0), most=defaults.COUNT_SAMPLES)
    before = table_labels(some, max(2, n_clusters), random_state=check_random_state(0))
    return BatchReport(
        float(normalized_mutual_info_score(codes if rows is None else codes[rows], before)),
        float(normalized_mutual_info_score(codes, labels)),
        n_batches=len(names),
        n_clusters=n_clusters,
    )
