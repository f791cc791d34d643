"""Constraints of a selection, as users say them: names, masks, patterns, groups, prices."""

from collections.abc import Mapping, Sequence, Set
from fnmatch import fnmatchcase
from numbers import Integral, Real
from typing import Any

import numpy as np

from featsieve.names import did_you_mean, first_few, shown
from featsieve.solvers.offer import ROUNDING, Offer
from featsieve.validation import check_number, warn

CONSTRAINTS = ("keep", "exclude", "groups", "costs", "budget")
WILD = "*?["
# Groups of columns that are in none, as lists and data frames write them.
NOT_GIVEN = ("", "None", "nan", "<NA>")


class UnmatchedPatternWarning(UserWarning):
    """A pattern of names fits no column."""


def make_offer(
    n_features: int,
    names: Any = None,
    *,
    keep: Any = None,
    exclude: Any = None,
    groups: Any = None,
    costs: Any = None,
    budget: float | None = None,
) -> Offer | None:
    """Return what may be bought; None where nothing is constrained."""
    if all(given is None for given in (keep, exclude, groups, costs, budget)):
        return None
    names = None if names is None else [str(name) for name in names]
    kept = find_columns("keep", keep, names, n_features)
    left_out = find_columns("exclude", exclude, names, n_features)
    named_groups = find_groups(groups, names, n_features)
    both = np.intersect1d(kept, left_out)
    if len(both):
        raise ValueError(
            f"keep and exclude both name {_listed(both, names)}: a column is kept or left out. "
            "Take it out of one of them."
        )
    owner = np.arange(n_features)  # first column of the unit
    for name, columns in named_groups.items():
        out = np.isin(columns, left_out)
        if out.any() and not out.all():
            raise ValueError(
                f"Group {name!r} is bought as a whole, but exclude names "
                f"{_listed(columns[out], names)} of it: exclude all of its columns, or take these "
                "out of the group."
            )
        owner[columns] = columns.min()
    owner[left_out] = -1
    firsts = np.unique(owner[owner >= 0])
    if len(firsts) == 0:
        raise ValueError("exclude leaves no column to select: it names all of them.")
    unit = np.where(owner >= 0, np.searchsorted(firsts, owner), -1)
    price = find_prices(costs, names, named_groups, n_features)
    offer = Offer(unit, price[firsts], np.unique(unit[kept]), None)
    if budget is None:
        return offer
    check_number("budget", budget, low=0.0, strict=True)
    spent = offer.cost(kept)
    if spent > budget * (1.0 + ROUNDING):
        raise ValueError(
            f"The columns to keep cost {spent:g}, more than the budget of {budget:g}: raise the "
            "budget, or keep fewer."
        )
    if offer.price.min() > budget * (1.0 + ROUNDING):
        raise ValueError(
            f"A budget of {budget:g} buys nothing: the cheapest costs {offer.price.min():g}."
        )
    return Offer(unit, offer.price, offer.kept, float(budget))


def in_positions(
    names: Any, given: Mapping[str, Any], *, flags: Mapping[str, np.ndarray] | None = None
) -> dict[str, Any]:
    """Return constraints with positions in the place of names, for a table without names."""
    names, d = [str(name) for name in names], len(names)
    found = {name: value for name, value in given.items() if value is not None}
    for part in {"keep", "exclude"} & found.keys():
        chosen = [found[part]] if isinstance(found[part], str) else found[part]
        if flags and all(isinstance(one, str) for one in chosen):
            masks = {name: mask for name, mask in flags.items() if name not in names}
            chosen = [
                name
                for one in chosen
                for name in (np.array(names)[masks[one]] if one in masks else [one])
            ]
        found[part] = find_columns(part, chosen, names, d)
    if "groups" in found:
        found["groups"] = find_groups(found["groups"], names, d)
    if isinstance(found.get("costs"), Mapping):
        places = {name: j for j, name in enumerate(names)}
        groups = found.get("groups", {})
        for name, price in found["costs"].items():
            _check_known("costs", name, {*places, *groups})
            _check_price(name, price)
        found["costs"] = {
            name if name in groups else places.get(name, name): price
            for name, price in found["costs"].items()
        }
    return found


def find_columns(what: str, chosen: Any, names: list[str] | None, n_features: int) -> np.ndarray:
    """Return the positions of columns given by names, patterns, positions or a mask."""
    if chosen is None:
        return np.zeros(0, dtype=np.intp)
    chosen = list(chosen) if isinstance(chosen, Set) else chosen
    given = np.atleast_1d(np.asarray(chosen, dtype=None if len(np.shape(chosen)) else object))
    if given.ndim != 1:
        raise ValueError(f"{what} must list columns; got an array of shape {given.shape}.")
    if given.dtype == bool or (len(given) and all(isinstance(one, bool) for one in given)):
        if len(given) != n_features:
            raise ValueError(
                f"{what} is a mask of {len(given)} values, but the table has {n_features} columns."
            )
        return np.flatnonzero(given.astype(bool))
    if given.dtype.kind in "iu" or all(isinstance(one, Integral) for one in given):
        numbers = given.astype(np.intp)
        outside = numbers[(numbers < 0) | (numbers >= n_features)]
        if len(outside):
            raise ValueError(
                f"{what} names column {outside[0]}, but columns are 0 to {n_features - 1}."
            )
        return np.unique(numbers)
    if not all(isinstance(one, str) for one in given):
        raise TypeError(f"{what} must hold names, positions or True and False; got {chosen!r}.")
    if names is None:
        raise ValueError(
            f"{what} names columns, but the table has no names: pass a data frame, or give the "
            "positions of the columns (0 is the first)."
        )
    places = {name: j for j, name in enumerate(names)}
    found: list[int] = []
    for name in map(str, given):
        if name in places:
            found.append(places[name])
            continue
        if not any(sign in name for sign in WILD):
            _check_known(what, name, names)
        matching = _matching(name, names)
        if not matching and what == "keep":
            raise ValueError(f"keep: no column is like {name!r}.")
        if not matching:
            warn(f"{what}: no column is like {name!r}.", UnmatchedPatternWarning)
        found += matching
    return np.unique(np.array(found, dtype=np.intp))


def unmatched_patterns(exclude: Any, names: Sequence[str]) -> list[str]:
    """Return the patterns of ``exclude`` that fit no name: nothing was left out for them."""
    given = [exclude] if isinstance(exclude, str) else [] if exclude is None else list(exclude)
    patterns = [str(one) for one in given if isinstance(one, str) and any(s in one for s in WILD)]
    return [one for one in patterns if not _matching(one, names)]


def _matching(pattern: str, names: Sequence[str]) -> list[int]:
    """Return the positions of the names that a pattern fits."""
    return [j for j, name in enumerate(names) if fnmatchcase(name, pattern)]


def find_groups(groups: Any, names: list[str] | None, n_features: int) -> dict[str, np.ndarray]:
    """Return the columns of every group: a mapping to columns, or a group for every column."""
    if groups is None:
        return {}
    if not isinstance(groups, Mapping):
        labels = _by_name(groups, names)
        if len(labels) != n_features:
            raise ValueError(
                "groups must map names of groups to columns, or hold a group (or None) for each "
                f"of the {n_features} columns; got {len(labels)} values."
            )
        own: dict[str, list[int]] = {}
        for j, label in enumerate(labels):
            if str(label) not in NOT_GIVEN:
                own.setdefault(str(label), []).append(j)
        groups = own
    found = {
        str(name): find_columns(f"group {str(name)!r}", columns, names, n_features)
        for name, columns in groups.items()
    }
    taken: dict[int, str] = {}
    for name, columns in found.items():
        if len(columns) == 0:
            raise ValueError(f"Group {name!r} has no columns: leave it out.")
        for j in columns.tolist():
            if j in taken:
                raise ValueError(
                    f"Groups {taken[j]!r} and {name!r} both have {_listed(np.array([j]), names)}: "
                    "a column can be bought with one group only."
                )
            taken[j] = name
    return found


def find_prices(
    costs: Any, names: list[str] | None, groups: Mapping[str, np.ndarray], n_features: int
) -> np.ndarray:
    """Return the price of every column, that of its group for columns of a group.

    A group costs what is given under its name, else the sum of what is given for its columns, or 1
    where nothing is given for them.
    """
    price, given = np.ones(n_features), np.zeros(n_features, dtype=bool)
    of_group: dict[str, float] = {}
    by_name = isinstance(costs, Mapping)
    if costs is not None and not by_name:
        values = _by_name(costs, names)
        if len(values) != n_features:
            raise ValueError(
                f"costs has {len(values)} prices for {n_features} columns: give one for each, or "
                "map names to prices (others cost 1)."
            )
        costs = dict(enumerate(values))
    places = {name: j for j, name in enumerate(names or [])}
    for name, one in (costs or {}).items():
        _check_price(name, one)
        if by_name and str(name) in groups and (name in places or isinstance(name, Integral)):
            raise ValueError(
                f"costs has a price for {name!r}, which is a group and a column: give the group "
                "another name."
            )
        if name in groups:
            of_group[name] = float(one)
            continue
        known = range(n_features) if isinstance(name, Integral) else {*places, *groups}
        _check_known("costs", name, known)
        j = places.get(name, name)
        price[j], given[j] = one, True
    for name, columns in groups.items():
        own = float(price[columns][given[columns]].sum()) if given[columns].any() else 1.0
        price[columns] = of_group.get(name, own)
    return price


def _by_name(values: Any, names: list[str] | None) -> list[Any]:
    """Return a value for every column in their order, which that of a named series need not be."""
    index = getattr(values, "index", None)
    if names is None or index is None or callable(index) or set(map(str, index)) != {*names}:
        return list(values)
    found = dict(zip(map(str, index), values, strict=True))
    return [found[name] for name in names]


def _check_price(name: Any, price: Any) -> None:
    """Refuse a price that is none."""
    number = isinstance(price, Real) and not isinstance(price, bool)
    if not number or not 0.0 < float(price) < np.inf:
        raise ValueError(f"costs must be positive numbers; that of {name} is {price!r}.")


def _check_known(what: str, name: Any, known: Any) -> None:
    """Refuse a name that no column has."""
    if name not in known:
        hint = did_you_mean(str(name), list(map(str, known)))
        raise ValueError(f"{what}: there is no column {shown(str(name))}{hint}.")


def _listed(columns: np.ndarray, names: list[str] | None) -> str:
    """Return the first few of some columns, by name or position."""
    return first_few([repr(names[j]) if names else f"column {j}" for j in columns])
