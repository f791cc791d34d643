"""The methods by name, and what each of them takes."""

from dataclasses import dataclass
from difflib import get_close_matches
from inspect import signature
from typing import Any

from featsieve import selectors

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

    @property
    def seeded(self) -> bool:
        """Whether it draws random numbers."""
        return "random_state" in self.defaults

    def make(self, *, n_clusters: Any, n_features: Any, random_state: Any = 0) -> Any:
        """Return the selector, ready to be fitted; what it does not take is left out."""
        given: dict[str, Any] = {"n_features_to_select": n_features}
        if self.takes_clusters:
            given["n_clusters"] = n_clusters
        if self.seeded:
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
    known = {_key(known): known for known in method_names()}
    found = known.get(_key(name))
    if found is None:
        alike = [known[key] for key in get_close_matches(_key(name), known, n=3, cutoff=0.75)]
        hint = f"did you mean {' or '.join(alike)}? " if alike else ""
        raise ValueError(
            f"There is no method {name!r}: {hint}The methods are {', '.join(known.values())}."
        )
    kind = getattr(selectors, found)
    defaults = {key: value.default for key, value in signature(kind).parameters.items()}
    return Method(found, (kind.__doc__ or "").strip().partition("\n")[0], defaults)


def _key(name: str) -> str:
    """Return a name as it is compared."""
    return "".join(name.lower().replace("-", "").replace("_", "").split())
