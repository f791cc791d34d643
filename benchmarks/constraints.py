"""Selections under constraints: forward selection against every selection that is allowed.

Tables of 60 x 12 with three clusters in five columns, the clusters given, the ridge that of JASFS.
"Optimal" is the share of the tables on which forward selection finds the best of all selections
(under a budget: the better of two runs, by gain per price and by gain). "Gap" is how much more of
the loss the best one explains, as a share of that: mean and largest. "Proven" is the gap that the
certificate proves without trying them, which is at least as large.

Usage: python benchmarks/constraints.py [--tables 40] [--output benchmarks/results/constraints.md]
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from common import finish, options, table
from featsieve.arrays import as_operator
from featsieve.constraints import make_offer
from featsieve.datasets import make_planted
from featsieve.solvers import RowSparseRegression, certify
from featsieve.solvers.offer import Offer
from featsieve.solvers.supports import find_support
from featsieve.terms import normalised_indicator

D, RIDGE = 12, 10.0


def constraints(rng: np.random.Generator) -> dict[str, dict[str, Any]]:
    """Return the kinds of constraints, drawn at random."""
    columns = rng.permutation(D)
    pairs = {f"pair {i}": columns[2 * i : 2 * i + 2] for i in range(3)}
    costs = rng.uniform(0.5, 3.0, D)
    return {
        "none, 4 features": {"k": 4, "exclude": np.zeros(D, dtype=bool)},
        "2 kept of 4": {"k": 4, "keep": columns[:2]},
        "3 left out, 4 features": {"k": 4, "exclude": columns[:3]},
        "3 pairs, 4 features": {"k": 4, "groups": pairs},
        "prices 0.5 to 3, budget 5": {"costs": costs, "budget": 5.0},
        "all of it, budget 5": {
            "keep": columns[-1:],
            "exclude": columns[-2:-1],
            "groups": pairs,
            "costs": {int(j): float(costs[j]) for j in columns[6:]},
            "budget": 5.0,
        },
    }


def allowed(offer: Offer, k: int | None) -> Iterator[np.ndarray]:
    """Yield every selection that is allowed."""
    free = [unit for unit in range(offer.n_units) if unit not in offer.kept]
    for size in range(len(free) + 1 if k is None else min(len(free), k - len(offer.kept)) + 1):
        for some in combinations(free, size):
            units = [*offer.kept, *some]
            if units and (offer.budget is None or offer.price[units].sum() <= offer.budget):
                yield np.concatenate([offer.members[unit] for unit in units])


def gaps(seed: int) -> dict[str, tuple[float, float]]:
    """Return the gap to the best selection, and the one that is proven, for each kind."""
    rng = np.random.default_rng(seed)
    planted = make_planted(60, D, n_informative=5, n_clusters=3, random_state=seed)
    operator = as_operator(planted.X, scale="unit")
    F = normalised_indicator(planted.labels, 3)
    found = {}
    for name, given in constraints(rng).items():
        k = given.pop("k", None)
        offer = make_offer(D, **given)
        target = F - F.mean(axis=0)
        problem = RowSparseRegression(operator, target, ridge=RIDGE, n_features=k, offer=offer)
        support, _ = find_support(problem)
        none = 0.5 * problem.energy()
        explained = none - problem.value(support)
        best = none - min(problem.value(some) for some in allowed(offer, k))
        proven = none - certify(problem, support).lower_bound
        found[name] = ((best - explained) / best, (proven - explained) / proven)
    return found


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--tables", type=int, default=40)
    arguments = parser.parse_args()
    found = [gaps(seed) for seed in range(arguments.tables)]
    rows = []
    for name in found[0]:
        own, proven = np.array([one[name] for one in found]).T
        shares = [
            f"{100 * max(value, 0.0):.2f} %" for value in (own.mean(), own.max(), proven.mean())
        ]
        rows.append([name, f"{np.mean(own < 1e-9):.2f}", *shares])
    head = ["constraints", "optimal", "gap, mean", "gap, largest", "proven, mean"]
    finish(arguments.output, "Selections under constraints", __doc__, table(head, rows))


if __name__ == "__main__":
    main()
