"""How a public name changes: the old one works for a while, and says what to write instead.

``docs/policy.md`` says for how long.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from featsieve.validation import warn

# Where a function keeps the old names of its parameters.
OLD_NAMES = "_featsieve_old_names"

P = ParamSpec("P")
R = TypeVar("R")


def renamed_parameter(
    old: str, new: str, *, removed_in: str
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function (or an ``__init__``) take a parameter under its old name too.

    Only the new name is in the signature, so ``get_params``, ``clone`` and the documentation know
    nothing of the old one. It is passed by keyword; a call with both names is refused. Selectors
    take it in ``set_params``, too, and so in the grid of a search.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        name = _spoken_name(function)

        @wraps(function)
        def accept_both(*args: P.args, **kwargs: P.kwargs) -> R:
            renamed = _by_new_name(kwargs, old, new, owner=name, removed_in=removed_in)
            return function(*args, **renamed)

        known = getattr(function, OLD_NAMES, {})
        setattr(accept_both, OLD_NAMES, {**known, old: (new, removed_in)})
        return accept_both

    return decorate


def by_new_names(estimator: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters of an estimator, for ``set_params``, under their present names."""
    kind = type(estimator)
    # from the outermost decorator inwards, as in a call: a name may have changed twice
    for old, (new, removed_in) in reversed(getattr(kind.__init__, OLD_NAMES, {}).items()):
        params = _by_new_name(params, old, new, owner=kind.__name__, removed_in=removed_in)
    return params


def _by_new_name(
    given: dict[str, Any], old: str, new: str, *, owner: str, removed_in: str
) -> dict[str, Any]:
    """Return what was given by keyword, the old name replaced by the new one, with a warning."""
    if old not in given:
        return given
    if new in given:
        raise TypeError(
            f"{owner}: {old!r} is the old name of {new!r}, and both were given. Leave {old!r} out."
        )
    warn(
        f"{owner}: the parameter {old!r} is now called {new!r}. Write {new}=... instead; {old!r} "
        f"will be refused from featsieve {removed_in} on.",
        FutureWarning,
    )
    return {new if name == old else name: value for name, value in given.items()}


def renamed_function(old: str, new: Callable[P, R], *, removed_in: str) -> Callable[P, R]:
    """Return a function that can be kept under its old name for a while."""
    name = _spoken_name(new)

    @wraps(new)
    def call_new(*args: P.args, **kwargs: P.kwargs) -> R:
        warn(
            f"{old} is now called {name}. Write {name} instead; {old} will be removed in "
            f"featsieve {removed_in}.",
            FutureWarning,
        )
        return new(*args, **kwargs)

    call_new.__name__ = call_new.__qualname__ = old
    call_new.__doc__ = f"Call :func:`{name}`, the new name of this function."
    return call_new


def _spoken_name(function: Callable[..., Any]) -> str:
    """Return the name as users write it: the class instead of its ``__init__``."""
    return function.__qualname__.removesuffix(".__init__").rpartition("<locals>.")[2]
