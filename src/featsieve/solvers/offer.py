"""What a selection may buy: units of columns, their prices, and what is bought in any case."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True, eq=False)
class Offer:
    """Columns in units that are bought as a whole."""

    unit: np.ndarray  # of every column, numbered by their first columns; -1: not for sale
    price: np.ndarray  # of every unit
    kept: np.ndarray  # units that are bought first, whatever they are worth
    budget: float | None = None  # what all units that are bought may cost

    @property
    def n_units(self) -> int:
        """How many units there are."""
        return len(self.price)

    @property
    def for_sale(self) -> np.ndarray:
        """Mask of the columns that may be bought."""
        return self.unit >= 0

    @property
    def column_price(self) -> np.ndarray:
        """The price of every column's unit; 1 for columns not for sale."""
        return np.where(self.for_sale, self.price[self.unit], 1.0)

    @property
    def plain(self) -> bool:
        """Whether every column is bought for itself, at the same price."""
        return self.budget is None and not self.blocks and bool((self.price == 1.0).all())

    @cached_property
    def members(self) -> list[np.ndarray]:
        """The columns of every unit."""
        order = np.argsort(self.unit, kind="stable")
        starts = np.searchsorted(self.unit[order], np.arange(self.n_units))
        return np.split(order, starts)[1:]

    @cached_property
    def blocks(self) -> list[np.ndarray]:
        """Units of several columns, those of one size together: (number x size) columns."""
        sizes = np.array([len(columns) for columns in self.members])
        several = np.unique(sizes[sizes > 1])
        return [np.array([m for m in self.members if len(m) == size]) for size in several]

    @cached_property
    def kept_columns(self) -> np.ndarray:
        """The columns that are bought in any case."""
        return np.concatenate([*(self.members[u] for u in self.kept), np.zeros(0, dtype=np.intp)])

    def cost(self, columns: np.ndarray) -> float:
        """Return what the units of some columns cost together."""
        return float(self.price[np.unique(self.unit[columns])].sum())

    def count(self, columns: np.ndarray) -> int:
        """Return of how many units some columns are."""
        return len(np.unique(self.unit[columns]))

    def ends(self, order: np.ndarray) -> np.ndarray:
        """Return how many columns of an arranged order the first 1, 2, ... units have."""
        unit = self.unit[order]
        unit = unit[: int((unit >= 0).sum())]
        return np.append(np.flatnonzero(np.diff(unit)) + 1, len(unit))

    def sizes(self, order: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return the columns that some numbers of units have, as far as kept units and budget let.

        ``order`` is arranged.
        """
        ends = self.ends(order)
        most = len(ends)
        if self.budget is not None:
            spent = np.cumsum(self.price[self.unit[order[ends - 1]]])
            most = int((spent <= self.budget * (1.0 + ROUNDING)).sum())
        fewest = max(1, len(self.kept))
        return np.unique(ends[np.clip(counts, fewest, max(most, fewest)) - 1])

    def arranged(self, order: np.ndarray, n_units: int | None) -> tuple[np.ndarray, int]:
        """Return an order of the columns that respects the offer, and how many of it are bought.

        Kept units come first, a unit stands where its best column does, columns not for sale come
        last. ``n_units`` is their number; None buys one after the other what the budget still pays.
        """
        unit = self.unit[order]
        _, first = np.unique(unit[unit >= 0], return_index=True)
        ranked = unit[unit >= 0][np.sort(first)]
        ranked = np.concatenate([ranked[np.isin(ranked, self.kept)], ranked])
        ranked = ranked[np.sort(np.unique(ranked, return_index=True)[1])]
        if n_units is None:
            assert self.budget is not None
            left, paid = self.budget * (1.0 + ROUNDING), []
            for u in ranked:
                paid.append(bool(self.price[u] <= left))
                left -= self.price[u] * paid[-1]
            ranked = np.concatenate([ranked[paid], ranked[~np.array(paid)]])
            n_units = sum(paid)
        place = np.empty(self.n_units + 1, dtype=np.intp)
        place[ranked] = np.arange(self.n_units)
        place[-1] = self.n_units  # unit -1: not for sale
        arranged = order[np.argsort(place[unit], kind="stable")]
        return arranged, int(np.isin(self.unit, ranked[:n_units]).sum())


# Prices that add up to a budget but for rounding are within it.
ROUNDING = 1e-9
