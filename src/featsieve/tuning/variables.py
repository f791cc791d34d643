"""A selection with one row for every variable: the indicators of a category are one feature."""

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from featsieve.constraints import find_groups


def variable_names(selector: Any, names: list[str], variables: np.ndarray) -> list[str]:
    """Return what the variables are called: as their group, or as their only column."""
    own = getattr(selector, "feature_names_in_", None)
    groups = find_groups(
        selector.groups, None if own is None else [str(n) for n in own], len(names)
    )
    called = {int(columns.min()): name for name, columns in groups.items()}
    firsts, sizes = np.unique(variables, return_counts=True)
    pairs = zip(firsts.tolist(), sizes.tolist(), strict=True)
    return [called[j] if size > 1 else names[j] for j, size in pairs]


def by_variable(selector: Any, owner: np.ndarray, names: list[str]) -> Any:
    """Return a copy of a fitted selector that knows variables (``owner``) in place of columns."""
    m = int(owner.max()) + 1
    found = copy.copy(selector)
    firsts = np.unique(owner, return_index=True)[1]
    order = _first_of_each(owner[np.argsort(selector.ranking_)])[0]
    found.ranking_ = np.argsort(order) + 1
    found.support_ = np.bincount(owner, weights=selector.support_) > 0.0
    found.n_features_in_, found.feature_names_in_ = m, np.asarray(names, dtype=object)
    found.n_features_selected_ = int(found.support_.sum())
    for name in ("scores_", "feature_certainty_"):
        if hasattr(selector, name):
            largest = np.full(m, -np.inf)
            np.maximum.at(largest, owner, getattr(selector, name))
            setattr(found, name, largest)
    path = getattr(selector, "path_", None)
    if path is not None:
        found.path_, sizes = _path(path, owner)
        if hasattr(selector, "equivalent_range_"):
            found.equivalent_range_ = tuple(int(sizes[k]) for k in selector.equivalent_range_)
    offer = selector._offer
    if offer is not None:
        found._offer = replace(offer, unit=offer.unit[firsts])
    groups = selector.groups if isinstance(selector.groups, Mapping) else {}
    found.groups = {name: own for name, own in groups.items() if name not in names} or None
    found._variables = None
    return found


def _first_of_each(owners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct entries in the order of their first places, and these."""
    places = np.sort(np.unique(owners, return_index=True)[1])
    return owners[places], places


def _path(path: Any, owner: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return a path of variables, and how many of them its first 0, 1, ... columns are."""
    owners = owner[path.order]
    order, places = _first_of_each(owners)
    new = np.isin(np.arange(len(owners)), places)
    sizes = np.concatenate([[0], np.cumsum(new)])
    changes: dict[str, Any] = {"order": order}
    if path.curve is not None:
        changes["curve"] = replace(path.curve, sizes=sizes[path.curve.sizes])
    if hasattr(path, "half_gains"):
        ends = np.append(places[1:], len(owners))
        changes |= {"half_gains": path.half_gains[places], "loss": path.loss[np.append(0, ends)]}
        changes["n_kept"] = int(sizes[path.n_kept])
    return replace(path, **changes), sizes
