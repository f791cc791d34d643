"""Constraints of a selection: checked, from files, and a budget in place of a number."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.constraints import in_positions, make_offer
from featsieve.io.formats.layout import find_separator
from featsieve.io.guard import read_small
from featsieve.io.names import find_columns, is_number


def place_constraints(
    names: Sequence[str], given: Mapping[str, Any], *, flags: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return constraints in positions, and refuse what cannot be met: here errors name columns."""
    found = in_positions(names, given, flags=flags)
    make_offer(len(names), names, **found)
    return found


def spread_constraints(
    placed: Mapping[str, Any], owner: np.ndarray, names: Sequence[str]
) -> dict[str, Any]:
    """Return constraints of features as those of their columns; features of several are groups."""

    def columns(features: Any) -> np.ndarray:
        return np.flatnonzero(np.isin(owner, features))

    found = dict(placed)
    found |= {part: columns(found[part]) for part in ("keep", "exclude") if part in found}
    given = placed.get("groups", {})
    groups = {name: columns(own) for name, own in given.items()}
    alone = np.setdiff1d(np.arange(len(names)), [j for own in given.values() for j in own])
    called = {}
    for j in alone[np.bincount(owner)[alone] > 1].tolist():
        called[j] = names[j] + "_" * (names[j] in groups)
        groups[called[j]] = columns([j])
    if "costs" in found:
        prices = found["costs"]
        prices = dict(prices if isinstance(prices, Mapping) else enumerate(prices))
        first = np.searchsorted(owner, np.arange(len(names)))
        found["costs"] = {
            one if isinstance(one, str) else called.get(one, int(first[one])): price
            for one, price in prices.items()
        }
    return found | {"groups": groups}


def count_or_budget(n_features: Any, budget: float | None, *, what: str = "feature") -> Any:
    """Return the number of features to ask for: none beside a budget, which is spent."""
    if budget is None:
        return n_features
    if not (isinstance(n_features, str) and n_features == "auto"):
        raise ValueError(
            f"A budget is there in place of a number of {what}s: leave one of the two out "
            f"(n_{what}s or budget; on the command line --{what}s or --budget)."
        )
    return None


def split_names(words: Iterable[str] | None) -> list[str] | None:
    """Return the names in words: several, separated by commas, or @FILE with one in each line."""
    names = []
    for word in words or ():
        if word.startswith("@"):
            names += read_small(Path(word[1:]), what="list of names, one in each line").splitlines()
        else:
            names += word.split(",")
    return [name.strip("\ufeff \t") for name in names if name.strip("\ufeff \t")] or None


def read_groups(path: Path) -> dict[str, list[str]]:
    """Return the features of every group in a file with the columns feature and group."""
    groups: dict[str, list[str]] = {}
    for _, feature, group in _pairs(path, ("feature", "group"))[0]:
        if group:
            groups.setdefault(group, []).append(feature)
    return groups


def read_costs(path: Path) -> dict[str, float]:
    """Return the prices in a file with the columns feature (or the name of a group) and price."""
    prices: dict[str, float] = {}
    lines, decimal = _pairs(path, ("feature", "price"))
    for line, feature, price in lines:
        if not is_number(price, decimal=decimal):
            fault = f"no number: {price!r}" if price else "missing: leave the line out"
            raise ValueError(f"{path}, line {line}: the price of {feature!r} is {fault}.")
        number = float(price.replace(",", "."))
        if prices.setdefault(feature, number) != number:
            raise ValueError(f"{path}: {feature!r} has two prices: leave one of them out.")
    return prices


def _pairs(path: Path, columns: tuple[str, str]) -> tuple[list[tuple[int, str, str]], str]:
    """Return the number and two cells of every line of a small text file, and its decimal mark."""
    text = read_small(path, what=f"table with the columns {' and '.join(columns)}")
    text = text.lstrip("\ufeff")
    separator = find_separator(text.strip().partition("\n")[0])
    reader = csv.reader(io.StringIO(text), delimiter=separator)
    lines = [(reader.line_num, row) for row in reader if any(row)]
    rows = [row for _, row in lines]
    try:
        first, second = find_columns(columns, [name.strip() for name in rows[0]] if rows else [])
    except ValueError as error:
        raise ValueError(
            f"{path}: {error}; it needs a first line '{','.join(columns)}' and a line for each."
        ) from error
    short = next((row for row in rows if len(row) <= max(first, second)), None)
    if short is not None:
        raise ValueError(f"{path}: the line {','.join(short)!r} has too few cells.")
    pairs = [(line, row[first].strip(), row[second].strip()) for line, row in lines[1:]]
    return pairs, "." if separator == "," else ","
