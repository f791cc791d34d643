"""How many clusters and features: what a user may ask for."""

from numbers import Integral
from typing import Any

from featsieve.validation import resolve_n_features


def check_counts(n_clusters: Any, n_features: Any, shape: tuple[int, int]) -> tuple[Any, Any]:
    """Return the numbers of clusters and features, each a count or "auto", if they can be meant."""
    n_samples, n_columns = shape
    if not (isinstance(n_clusters, str) and n_clusters == "auto"):
        whole = isinstance(n_clusters, Integral) and not isinstance(n_clusters, bool)
        if not whole or not 2 <= n_clusters <= n_samples:
            raise ValueError(
                f"The number of clusters must be 'auto' or from 2 to {n_samples} (the number of "
                f"rows); got {n_clusters!r}."
            )
        n_clusters = int(n_clusters)
    if not (isinstance(n_features, str) and n_features == "auto"):
        try:
            n_features = resolve_n_features(n_features, n_columns)
        except (TypeError, ValueError):
            n_features = None if n_features is None else repr(n_features)
        if not isinstance(n_features, int):
            raise ValueError(
                f"The number of features must be a count from 1 to {n_columns}, a fraction such as "
                f"0.1, or 'auto'; got {n_features}."
            )
    return n_clusters, n_features
