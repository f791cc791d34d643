"""What is left of the oracle's scores beside random rankings with the same budget."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from featsieve.report.bench.facts import DatasetFact, MethodFact
from featsieve.report.bench.published import load_published
from featsieve.report.bench.scores import RANDOM, Budget, Key, Score, finished

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Survival:
    """A data set under the oracle: who exceeds random selections chosen in the same way."""

    dataset: str
    control: str
    accuracy: float
    budget: Budget
    allowed: Mapping[str, int]
    expected: Mapping[str, float]
    above: tuple[str, ...]
    not_above: tuple[str, ...]
    above_all: tuple[str, ...]
    not_above_all: tuple[str, ...]
    published_not_above: tuple[str, ...] | None

    @property
    def enough(self) -> bool:
        """Whether the control has as many selections as the largest search, or more."""
        return self.budget.supports >= max(self.allowed.values(), default=0)


def expected_best(values: Any, m: int) -> float:
    """Mean of the largest of m values drawn without replacement.

    Of all subsets of m out of N values, C(i-1, m-1) have the i-th smallest as their largest.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    if m < 1:
        raise ValueError(f"m must be at least 1, got {m}.")
    if m >= n:
        return float(ordered[-1])
    # Shares of the subsets from the largest value down: m/N, then each from the one before.
    i = np.arange(n, m, -1)
    shares = m / n * np.concatenate([[1.0], np.cumprod((i - m) / (i - 1.0))])
    return float(shares @ ordered[::-1][: len(shares)])


def survival_of(
    rows: "pd.DataFrame",
    scores: Mapping[Key, Score],
    budgets: Mapping[Key, Budget],
    *,
    datasets: tuple[DatasetFact, ...],
    methods: tuple[MethodFact, ...],
) -> tuple[Survival, ...]:
    """Compare every oracle accuracy with that of the random control on the same data set."""
    control = next((fact.name for fact in methods if fact.selector == RANDOM), None)
    if control is None:
        return ()
    done = finished(rows, "acc")
    draws = done[(done["experiment"] == "grid") & (done["method"] == control)]
    found = []
    for fact in datasets:
        if (fact.name, control) not in scores:
            continue
        reached = scores[fact.name, control].mean
        others = [m for m in methods if m.name != control and (fact.name, m.name) in scores]
        means = {m.name: scores[fact.name, m.name].mean for m in others}
        # all features are one selection, and there is no search for them
        allowed = {
            m.name: budgets[fact.name, m.name].supports if (fact.name, m.name) in budgets else 1
            for m in others
        }
        own = draws[draws["dataset"] == fact.name]
        expected = {name: _expected(own, m) for name, m in allowed.items()}
        names = [m.name for m in others if not m.control]
        found.append(
            Survival(
                dataset=fact.name,
                control=control,
                accuracy=reached,
                budget=budgets[fact.name, control],
                allowed=allowed,
                expected=expected,
                above=tuple(name for name in names if means[name] > expected[name]),
                not_above=tuple(name for name in names if means[name] <= expected[name]),
                above_all=tuple(name for name in names if means[name] > reached),
                not_above_all=tuple(name for name in names if means[name] <= reached),
                published_not_above=_published_not_above(fact, reached),
            )
        )
    return tuple(found)


def _expected(draws: "pd.DataFrame", m: int) -> float:
    """Average over seeds what each may expect of the best of m random selections."""
    seeds = draws.groupby("seed")["acc_mean"]
    return float(np.mean([expected_best(values, m) for _, values in seeds]))


def _published_not_above(fact: DatasetFact, reached: float) -> tuple[str, ...] | None:
    """Rows of the paper's table that do not exceed an accuracy, where the data are the paper's."""
    if not fact.comparable:
        return None
    paper = load_published()
    # the paper prints two decimals of percent
    return tuple(
        name
        for name in paper.methods
        if paper.scores["acc"][fact.name, name][0] <= round(100 * reached, 2)
    )
