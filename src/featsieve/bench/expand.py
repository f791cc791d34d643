"""Plan to cells: what is to be fitted, each thing once."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count, islice
from typing import Any

from featsieve.bench.cells import Cell
from featsieve.bench.methods import ALL_FEATURES, RANDOM, distinct_params, selector_facts
from featsieve.bench.plan import Checksums, Method, Plan
from featsieve.datasets.registry import registry

# How the running times are taken (the paper's setting).
TIMED = {"max_iter": 20, "tol": 1e-5}
SCATTERED = 3
# Parameter of a RandomSelector in the grid: which of its rankings.
RANKING = "ranking"
# One draw says nothing about drawing: the defaults of a RandomSelector have so many seeds at least.
DRAWS = 10


def independent_cells(plan: Plan, n_columns: Mapping[str, int], checksums: Checksums) -> list[Cell]:
    """Return the cells of a plan that depend on no other, experiment by experiment."""
    makers = {
        "default": default_cells,
        "grid": grid_cells,
        "time": time_cells,
        "scatter": scatter_cells,
    }
    return [
        cell
        for experiment, make in makers.items()
        if experiment in plan.experiments
        for dataset in plan.datasets
        if dataset in n_columns
        for method in plan.methods
        for cell in of_file(
            make(plan, method, dataset, n_columns=n_columns[dataset]),
            file_identity(dataset, checksums),
        )
    ]


def of_file(cells: Iterable[Cell], checksum: str) -> Iterator[Cell]:
    """Yield cells with the checksum of their data."""
    return (replace(cell, data_checksum=checksum) for cell in cells)


def file_identity(dataset: str, checksums: Checksums) -> str:
    """Return the checksum of a file that may change: registered files with one are always alike."""
    checksum = checksums.get(dataset)
    if not checksum:
        return ""
    entry = registry().get(dataset)
    return "" if entry is not None and entry.sha256 is not None else checksum


def default_cells(plan: Plan, method: Method, dataset: str, *, n_columns: int) -> Iterator[Cell]:
    """Yield the method as it comes, once per seed; what is drawn at random, often enough."""
    chosen = seeds(plan, method)
    if method.selector == RANDOM:
        further = (seed for seed in count() if seed not in chosen)
        chosen += tuple(islice(further, max(0, DRAWS - len(chosen))))
    for seed in chosen:
        yield make_cell(plan, method, dataset, experiment="default", seed=seed, practical=True)


def grid_cells(plan: Plan, method: Method, dataset: str, *, n_columns: int) -> Iterator[Cell]:
    """Yield the points of the grid that differ, at all counts together or one by one."""
    for seed in seeds(plan, method):
        for point in distinct_points(plan, method, n_columns=n_columns):
            for counts in fitted_counts(plan, method, n_columns=n_columns):
                yield make_cell(
                    plan,
                    method,
                    dataset,
                    experiment="grid",
                    seed=seed,
                    counts=counts,
                    **point,
                )


def time_cells(plan: Plan, method: Method, dataset: str, *, n_columns: int) -> Iterator[Cell]:
    """Yield the method with the paper's stopping rule, at the count in the middle of the plan's.

    Also where it could find the number of features itself: that is not what is timed.
    """
    facts = selector_facts(method.selector)
    if method.selector == ALL_FEATURES:
        return
    possible = possible_counts(plan.counts, n_columns)
    limits = TIMED if facts.iterates else {}
    yield make_cell(
        plan,
        method,
        dataset,
        experiment="time",
        seed=plan.seeds[0],
        params=distinct_params(method.selector, {**method.params, **limits}),
        counts=(possible[len(possible) // 2],),
    )


def scatter_cells(plan: Plan, method: Method, dataset: str, *, n_columns: int) -> Iterator[Cell]:
    """Yield the method asked for three features, where the plan wants to see them."""
    wanted = dataset in plan.scatter_datasets and method.name in plan.scatter_methods
    if wanted and n_columns >= SCATTERED:
        yield make_cell(
            plan,
            method,
            dataset,
            experiment="scatter",
            seed=plan.seeds[0],
            counts=(SCATTERED,),
        )


def make_cell(
    plan: Plan,
    method: Method,
    dataset: str,
    *,
    experiment: str,
    seed: int,
    params: Mapping[str, Any] | None = None,
    **more: Any,
) -> Cell:
    """Return a cell of a method; by default with the parameters it has everywhere."""
    if params is None:
        params = distinct_params(method.selector, method.params)
    return Cell(
        experiment,
        dataset,
        method.name,
        method.selector,
        params=params,
        seed=seed,
        kmeans_seeds=plan.kmeans_seeds,
        control=method.control,
        seconds=plan.cell_seconds,
        **more,
    )


def seeds(plan: Plan, method: Method) -> tuple[int, ...]:
    """Return the seeds of a method: one is enough for those that draw nothing."""
    return plan.seeds if selector_facts(method.selector).seeded else plan.seeds[:1]


def possible_counts(counts: tuple[int, ...], n_columns: int) -> tuple[int, ...]:
    """Return the counts that a table allows; all its columns if these are fewer than any."""
    return tuple(count for count in counts if count <= n_columns) or (n_columns,)


def fitted_counts(plan: Plan, method: Method, *, n_columns: int) -> list[tuple[int, ...] | None]:
    """Return the counts that one fit each answers for; None: the method's own."""
    if method.own_count:
        return [None]
    possible = possible_counts(plan.counts, n_columns)
    return [(count,) for count in possible] if method.per_count else [possible]


def distinct_points(plan: Plan, method: Method, *, n_columns: int) -> list[dict[str, Any]]:
    """Return the settings of the grid that differ in their effect: ``params`` of a cell.

    With each come the number of points it stands for, and the parameters in which these differ.
    """
    if method.rankings:
        return [{"params": {RANKING: i}} for i in range(n_rankings(plan, method, n_columns))]
    alike: dict[str, list[dict[str, Any]]] = {}
    for point in method.points():
        key = repr(sorted(distinct_params(method.selector, point).items()))
        alike.setdefault(key, []).append(point)
    return [
        {
            "params": distinct_params(method.selector, points[0]),
            "stands_for": len(points),
            "inert": inert_values(method, points),
        }
        for points in alike.values()
    ]


def inert_values(method: Method, points: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return the parameters in which points without a difference differ, and their values."""
    found = {}
    for key in method.grid:
        values = {repr(point[key]): point[key] for point in points}
        if len(values) > 1:
            found[key] = list(values.values())
    return found


def budgets(plan: Plan, n_columns: int) -> dict[str, int]:
    """Return the number of (ranking, count) pairs among which each method may choose."""
    n_counts = len(possible_counts(plan.counts, n_columns))
    return {
        method.name: n_counts * n_rankings(plan, method, n_columns)
        if method.rankings
        else len(method.points()) * (1 if method.own_count else n_counts)
        for method in plan.methods
    }


def n_rankings(plan: Plan, method: Method, n_columns: int) -> int:
    """Return how many random rankings are tried: at least as many selections as anybody has."""
    if isinstance(method.rankings, int):
        return method.rankings
    n_counts = len(possible_counts(plan.counts, n_columns))
    largest = max(
        (
            len(other.points()) * (1 if other.own_count else n_counts)
            for other in plan.methods
            if not other.rankings
        ),
        default=1,
    )
    return -(-largest // n_counts)
