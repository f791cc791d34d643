"""What a user may ask for: a method by its name, numbers of clusters and of features."""

from dataclasses import dataclass
from difflib import get_close_matches
from inspect import signature
from numbers import Integral
from typing import Any

from featsieve import selectors
from featsieve.validation import resolve_n_features

DEFAULT_METHOD = "JASFS"


@dataclass(frozen=True)
class Method:
    """A method of selection.

    Attributes
    ----------
    name : str
        As its class is called.
    about : str
        What it does, in one line.
    defaults : dict
        The parameters of its class with their defaults.
    """

    name: str
    about: str
    defaults: dict[str, Any]

    @property
    def takes_clusters(self) -> bool:
        """Whether the number of clusters has a part in the selection."""
        return self.defaults.get("n_clusters") is not None  # one criterion of SPEC uses it

    def make(self, *, n_clusters: Any, n_features: Any, random_state: Any = 0) -> Any:
        """Return the selector, ready to be fitted; what it does not take is left out."""
        given: dict[str, Any] = {"n_features_to_select": n_features}
        if self.takes_clusters:
            given["n_clusters"] = n_clusters
        if "random_state" in self.defaults:
            given["random_state"] = random_state
        return getattr(selectors, self.name)(**given)


def method_names() -> tuple[str, ...]:
    """Return the names of the methods, the default one first.

    Examples
    --------
    >>> from featsieve.workflow import method_names
    >>> method_names()[0], "MCFS" in method_names()
    ('JASFS', True)
    """
    others = sorted(set(selectors.__all__) - {DEFAULT_METHOD}, key=str.lower)
    return (DEFAULT_METHOD, *others)


def find_method(name: str) -> Method:
    """Return a method by its name.

    Parameters
    ----------
    name : str
        One of `method_names`; upper and lower case, "-" and "_" do not matter.

    Returns
    -------
    Method

    Raises
    ------
    ValueError
        If there is none; the message names those that are spelled alike.

    Examples
    --------
    >>> from featsieve.workflow import find_method
    >>> find_method("laplacian-score").name
    'LaplacianScore'
    >>> find_method("jasfs").make(n_clusters=3, n_features="auto")
    JASFS(n_clusters=3, n_features_to_select='auto', random_state=0)
    """
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
    kind = getattr(selectors, found)
    defaults = {key: value.default for key, value in signature(kind).parameters.items()}
    return Method(found, (kind.__doc__ or "").strip().partition("\n")[0], defaults)


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
