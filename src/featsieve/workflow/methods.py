"""What a user may ask for: a method by its name, numbers of clusters and of features."""

from difflib import get_close_matches
from inspect import signature
from numbers import Integral
from typing import Any

from featsieve import selectors
from featsieve.validation import resolve_n_features

DEFAULT_METHOD = "JASFS"


def method_names() -> tuple[str, ...]:
    """Return the names of the methods, the default one first."""
    others = sorted(set(selectors.__all__) - {DEFAULT_METHOD}, key=str.lower)
    return (DEFAULT_METHOD, *others)


def find_method(name: str) -> Any:
    """Return the class of a method; upper and lower case, "-" and "_" do not matter."""
    if not isinstance(name, str):
        raise TypeError(f"method must be the name of a method, such as 'jasfs'; got {name!r}.")
    known = {known.lower(): known for known in method_names()}
    key = "".join(name.lower().replace("-", "").replace("_", "").split())
    found = known.get(key)
    if found is None:
        alike = [known[close] for close in get_close_matches(key, known, n=3, cutoff=0.75)]
        hint = f"did you mean {' or '.join(alike)}? " if alike else ""
        raise ValueError(
            f"There is no method {name!r}: {hint}The methods are {', '.join(known.values())}."
        )
    return getattr(selectors, found)


def make_selector(kind: Any, *, n_clusters: Any, n_features: Any, random_state: int) -> Any:
    """Return a selector, ready to be fitted; what its class does not take is left out."""
    parameters = signature(kind).parameters
    given = {"n_features_to_select": n_features}
    # one criterion of SPEC uses a number of clusters: None by default, and left alone
    if "n_clusters" in parameters and parameters["n_clusters"].default is not None:
        given["n_clusters"] = n_clusters
    if "random_state" in parameters:
        given["random_state"] = random_state
    return kind(**given)


def check_counts(n_clusters: Any, n_features: Any, shape: tuple[int, int]) -> tuple[Any, Any]:
    """Validate the numbers of clusters and features, each a count or "auto", and return them."""
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
            count = resolve_n_features(n_features, n_columns)
        except (TypeError, ValueError):
            count = None
        if count is None:
            raise ValueError(
                f"The number of features must be a count from 1 to {n_columns}, a fraction such as "
                f"0.1, or 'auto'; got {n_features!r}."
            )
        n_features = count
    return n_clusters, n_features
