"""Plan to cells: what is to be fitted, each thing once."""

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from featsieve import defaults
from featsieve.bench.cells import Cell
from featsieve.bench.methods import ALL_FEATURES, RANDOM, distinct_params, selector_facts
from featsieve.bench.plan import Checksums, Method, Plan
from featsieve.criteria.measures import Modularity
from featsieve.datasets.registry import registry

SCATTERED = 3
# Parameter of a RandomSelector in the grid: which of its rankings.
RANKING = "ranking"
FINISHED = ("done", "failed", "timeout")
# All that the label-free choice may see, and what the choice by labels sees.
WITHOUT_LABELS = ["cell", "params", "seed", "n_features", "criterion"]
WITH_LABELS = ["cell", "params", "seed", "n_features", "acc_mean"]


def independent_cells(plan: Plan, n_columns: Mapping[str, int], checksums: Checksums) -> list[Cell]:
    """Return the cells of a plan that depend on no other, experiment by experiment."""
    return [
        cell
        for experiment in ("default", "grid", "time", "scatter")
        if experiment in plan.experiments
        for dataset in plan.datasets
        if dataset in n_columns
        for method in plan.methods
        for cell in getattr(
            Expansion(plan, method, dataset, n_columns[dataset], identity(dataset, checksums)),
            experiment,
        )()
    ]


def dependent_cells(plan: Plan, rows: Any, checksums: Checksums | None = None) -> list[Cell]:
    """Return the label-free and curve cells of those methods whose grid is finished.

    What is chosen without labels is chosen from a table that does not hold what labels were used
    for: the columns are taken before anything is compared.
    """
    found: list[Cell] = []
    tables = known_tables(rows, checksums)
    for dataset in plan.datasets:
        for method in plan.methods if dataset in tables else ():
            expansion = Expansion(plan, method, dataset, *tables[dataset])
            expected = {cell.id for cell in expansion.grid()}
            own = rows[rows["cell"].isin(expected) & rows["status"].isin(FINISHED)]
            if set(own["cell"]) != expected:
                continue
            done = own[own["status"] == "done"]
            if "label-free" in plan.experiments:
                found += expansion.label_free(done[WITHOUT_LABELS])
            if "curve" in plan.experiments and method.selector != ALL_FEATURES:
                found += expansion.curve(done[WITH_LABELS])
    return sorted(found, key=lambda cell: plan.experiments.index(cell.experiment))


def known_tables(rows: Any, checksums: Checksums | None = None) -> dict[str, tuple[int, str]]:
    """Return the number of columns and the checksum of the data sets that have rows.

    Without checksums, of several files the one that was worked on last.
    """
    known = rows[rows["n_columns"] > 0].sort_values("started", kind="stable")
    found = {}
    for name, some in known.groupby("dataset"):
        if checksums is not None:
            some = some[some["data_checksum"] == identity(str(name), checksums)]
        if len(some):
            last = some.iloc[-1]
            found[str(name)] = int(last["n_columns"]), str(last["data_checksum"])
    return found


def identity(dataset: str, checksums: Checksums) -> str:
    """Return the checksum of a file that may change: registered files with one are always alike."""
    entry = registry().get(dataset)
    return "" if entry is not None and entry.sha256 is not None else checksums.get(dataset) or ""


@dataclass(frozen=True)
class Expansion:
    """The cells of one method on one data set; a method for every experiment."""

    plan: Plan
    method: Method
    dataset: str
    n_columns: int
    checksum: str

    def default(self) -> Iterator[Cell]:
        """Yield the method as it comes, once per seed; what is drawn at random, often enough."""
        chosen = self.seeds
        if self.method.selector == RANDOM:
            further = (seed for seed in itertools.count() if seed not in chosen)
            chosen += tuple(
                itertools.islice(further, max(0, defaults.BENCH_RANDOM_DRAWS - len(chosen)))
            )
        for seed in chosen:
            yield self.cell("default", seed=seed, practical=True)

    def grid(self) -> Iterator[Cell]:
        """Yield the points of the grid that differ, at all counts together or one by one."""
        own = self.method.own_count
        for seed in self.seeds:
            for point in self.distinct_points():
                for counts in [None] if own else self.fitted_counts(self.plan.counts):
                    yield self.cell("grid", seed=seed, counts=counts, **point)

    def label_free(self, rows: Any) -> Iterator[Cell]:
        """Yield the choice by the criterion for every seed.

        The fewest features within the tolerance of the best value; of equally few, the best value.
        """
        tolerance = Modularity().tolerance
        for seed, some in rows.dropna(subset="criterion").groupby("seed"):
            enough = some[some["criterion"] >= some["criterion"].max() - tolerance]
            chosen = enough.sort_values(
                ["n_features", "criterion", "cell"], ascending=[True, False, True]
            ).iloc[0]
            counts = None if self.method.own_count else (int(chosen["n_features"]),)
            params = json.loads(chosen["params"])
            yield self.cell(
                "label-free", seed=int(seed), params=params, counts=counts, practical=True
            )

    def curve(self, rows: Any) -> Iterator[Cell]:
        """Yield the setting of the best accuracy at all counts of the curve: it uses labels."""
        for seed, some in rows.dropna(subset="acc_mean").groupby("seed"):
            best = some.sort_values(
                ["acc_mean", "n_features", "cell"], ascending=[False, True, True]
            ).iloc[0]
            for counts in self.fitted_counts(self.plan.curve_counts):
                params = json.loads(best["params"])
                yield self.cell("curve", seed=int(seed), params=params, counts=counts)

    def time(self) -> Iterator[Cell]:
        """Yield the method with the paper's stopping rule, at the middle one of the plan's counts.

        Also where it could find the number of features itself: that is not what is timed.
        """
        if self.method.selector == ALL_FEATURES:
            return
        possible = possible_counts(self.plan.counts, self.n_columns)
        iterates = selector_facts(self.method.selector).iterates
        params = {**self.method.params, **(defaults.BENCH_TIMED if iterates else {})}
        yield self.cell(
            "time",
            seed=self.plan.seeds[0],
            params=distinct_params(self.method.selector, params),
            counts=(possible[len(possible) // 2],),
        )

    def scatter(self) -> Iterator[Cell]:
        """Yield the method asked for three features, where the plan wants to see them."""
        plan = self.plan
        wanted = self.dataset in plan.scatter_datasets and self.method.name in plan.scatter_methods
        if wanted and self.n_columns >= SCATTERED:
            yield self.cell("scatter", seed=plan.seeds[0], counts=(SCATTERED,))

    def cell(
        self, experiment: str, *, seed: int, params: Mapping[str, Any] | None = None, **more: Any
    ) -> Cell:
        """Return a cell; by default with the parameters that the method has everywhere."""
        method = self.method
        if params is None:
            params = distinct_params(method.selector, method.params)
        return Cell(
            experiment,
            self.dataset,
            method.name,
            method.selector,
            params=params,
            seed=seed,
            kmeans_seeds=self.plan.kmeans_seeds,
            control=method.control,
            seconds=self.plan.cell_seconds,
            data_checksum=self.checksum,
            **more,
        )

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the method: one is enough for those that draw nothing."""
        seeded = selector_facts(self.method.selector).seeded
        return self.plan.seeds if seeded else self.plan.seeds[:1]

    def fitted_counts(self, counts: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Return the counts that one fit each answers for."""
        possible = possible_counts(counts, self.n_columns)
        return [(count,) for count in possible] if self.method.per_count else [possible]

    def distinct_points(self) -> list[dict[str, Any]]:
        """Return the settings of the grid that differ in their effect: ``params`` of a cell.

        With each come the number of points it stands for, and the parameters in which these differ.
        """
        method = self.method
        if method.rankings:
            rankings = n_rankings(self.plan, method, self.n_columns)
            return [{"params": {RANKING: i}} for i in range(rankings)]
        alike: dict[str, list[dict[str, Any]]] = {}
        for point in method.points():
            key = repr(sorted(distinct_params(method.selector, point).items()))
            alike.setdefault(key, []).append(point)
        return [
            {
                "params": distinct_params(method.selector, points[0]),
                "stands_for": len(points),
                "inert": _differences(method, points),
            }
            for points in alike.values()
        ]


def possible_counts(counts: tuple[int, ...], n_columns: int) -> tuple[int, ...]:
    """Return the counts that a table allows; all its columns if these are fewer than any."""
    return tuple(count for count in counts if count <= n_columns) or (n_columns,)


def n_rankings(plan: Plan, method: Method, n_columns: int) -> int:
    """Return how many random rankings are tried: at least as many selections as anybody has."""
    if isinstance(method.rankings, int):
        return method.rankings
    n_counts = len(possible_counts(plan.counts, n_columns))
    sizes = [
        len(other.points()) * (1 if other.own_count else n_counts)
        for other in plan.methods
        if not other.rankings
    ]
    return -(-max(sizes, default=1) // n_counts)


def _differences(method: Method, points: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return the parameters in which points without a difference differ, and their values."""
    found = {}
    for key in method.grid:
        values = {repr(point[key]): point[key] for point in points}
        if len(values) > 1:
            found[key] = list(values.values())
    return found
