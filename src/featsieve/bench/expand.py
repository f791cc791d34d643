"""Plan to cells: what is to be fitted, each thing once."""

from collections.abc import Iterator, Mapping
from typing import Any

from featsieve.bench.cells import Cell
from featsieve.bench.methods import ALL_FEATURES, distinct_params, selector_facts
from featsieve.bench.plan import Method, Plan

# How the running times are taken (the paper's setting).
TIMED = {"max_iter": 20, "tol": 1e-5}
SCATTERED = 3
# Parameter of a RandomSelector in the grid: which of its rankings.
RANKING = "ranking"


def independent_cells(plan: Plan, n_columns: Mapping[str, int]) -> list[Cell]:
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
        for cell in make(plan, method, dataset, n_columns=n_columns[dataset])
    ]


def default_cells(plan: Plan, method: Method, dataset: str, *, n_columns: int) -> Iterator[Cell]:
    """Yield the method as it comes, once per seed."""
    for seed in seeds(plan, method):
        yield make_cell(plan, method, dataset, experiment="default", seed=seed, practical=True)


def grid_cells(plan: Plan, method: Method, dataset: str, *, n_columns: int) -> Iterator[Cell]:
    """Yield the points of the grid that differ, at all counts together or one by one."""
    for seed in seeds(plan, method):
        for params, stands_for in distinct_points(plan, method, n_columns=n_columns):
            for counts in fitted_counts(plan, method, n_columns=n_columns):
                yield make_cell(
                    plan,
                    method,
                    dataset,
                    experiment="grid",
                    seed=seed,
                    params=params,
                    counts=counts,
                    stands_for=stands_for,
                )


def time_cells(plan: Plan, method: Method, dataset: str, *, n_columns: int) -> Iterator[Cell]:
    """Yield the method with the paper's stopping rule, at the count in the middle of the plan's."""
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
        counts=None if method.own_count else (possible[len(possible) // 2],),
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


def distinct_points(
    plan: Plan, method: Method, *, n_columns: int
) -> list[tuple[dict[str, Any], int]]:
    """Return the settings of the grid that differ in their effect, and how many each stands for."""
    if method.rankings:
        return [({RANKING: i}, 1) for i in range(n_rankings(plan, method, n_columns))]
    found: dict[str, tuple[dict[str, Any], int]] = {}
    for point in method.points():
        params = distinct_params(method.selector, point)
        key = repr(sorted(params.items()))
        found[key] = (params, found.get(key, (params, 0))[1] + 1)
    return list(found.values())


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
