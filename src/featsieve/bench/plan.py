"""A plan: which methods, with which grids, on which data sets. It is a small TOML file.

::

    extends = "paper"                            # optional: a shipped plan, changed below
    title = "..."                                # shown in the report
    datasets = [
        "iris", "wine",                          # see featsieve.datasets.dataset_names
        "mine.csv#kind",                         # a table, and its column with the classes
    ]
    experiments = ["default", "grid"]            # and label-free, time: docs/benchmark.md
    counts = [10, 20]                            # numbers of features, for all but "default"
    kmeans_seeds = 10                            # runs of k-means per evaluation
    seeds = [0]                                  # random_state of the methods
    cell_seconds = 300                           # time limit of one fit with its evaluations

    [grids]                                      # lists that grids refer to
    weights = [0.01, 1.0]

    [[methods]]
    name = "NDFS"                                # as shown in tables
    selector = "NDFS"                            # class of featsieve, "module:Class",
                                                 # "AllFeatures", or "TrueLabels" (the ceiling)
    params = { scale = "none" }                  # what differs from the defaults
    grid = { alpha = "weights", beta = [1.0] }   # all combinations
    counts = "own"                               # evaluate where the method stops, not at `counts`
    per_count = true                             # a fit for each count; by default where the
                                                 # first k of a longer selection are another one
    control = true                               # not a method but what to beat

A RandomSelector has as many rankings as the method with the most selections needs.
"""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from featsieve import defaults
from featsieve.bench.cells import Cell
from featsieve.bench.methods import (
    ALL_FEATURES,
    RANDOM,
    TRUE_LABELS,
    code_of,
    defaults_of,
    distinct_params,
)
from featsieve.criteria.measures import Modularity
from featsieve.datasets.registry import registry

# Parameter of a RandomSelector in the grid: which of its rankings.
RANKING = "ranking"
# All that the label-free choice may see.
WITHOUT_LABELS = ["cell", "params", "seed", "n_features", "criterion"]

# Of the files of the data sets.
Checksums = Mapping[str, str | None]


@dataclass(frozen=True)
class Method:
    """A selector with its settings."""

    name: str  # as shown in tables
    selector: str  # a class of featsieve, or "AllFeatures"
    params: Mapping[str, Any] = field(default_factory=dict)  # in all experiments
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)  # all combinations
    own_count: bool = False  # whether a point is evaluated at the number of features it selects
    per_count: bool = False  # whether each number of features is a fit of its own
    control: bool = False

    def points(self) -> list[dict[str, Any]]:
        """Return the parameters at every point of the grid, the first name varying slowest."""
        names = list(self.grid)
        values = itertools.product(*self.grid.values())
        return [{**self.params, **dict(zip(names, point, strict=True))} for point in values]


@dataclass(frozen=True)
class Plan:
    """What a benchmark consists of; see the module for the file it comes from.

    Attributes
    ----------
    name : str
        Of the shipped plan, or of the file.
    title : str
    datasets, experiments : tuple of str
        A data set that is a file is named by its path, with the column of the classes behind a
        "#": see `featsieve.datasets.load_dataset`.
    methods : tuple of Method
    counts, seeds : tuple of int
    kmeans_seeds : int
    cell_seconds : float

    Examples
    --------
    >>> from featsieve.bench import load_plan
    >>> plan = load_plan("smoke")
    >>> plan.datasets
    ('iris', 'wine', 'planted_small')
    >>> cells = plan.cells({"iris": (150, 4, 3)})
    >>> cells[0].experiment, cells[0].method
    ('default', 'AllFeatures')
    """

    name: str
    title: str
    datasets: tuple[str, ...]
    experiments: tuple[str, ...]
    methods: tuple[Method, ...]
    counts: tuple[int, ...]
    seeds: tuple[int, ...] = (0,)
    kmeans_seeds: int = 10
    cell_seconds: float = 600.0

    def cells(
        self, shapes: Mapping[str, Sequence[int]], checksums: Checksums | None = None
    ) -> list[Cell]:
        """Return the cells that depend on no other, of data sets whose (n, d, ...) are given."""
        expansions = self._expansions(shapes, checksums)
        return [
            cell
            for experiment in ("default", "grid", "time")
            if experiment in self.experiments
            for expansion in expansions
            for cell in getattr(expansion, experiment)()
        ]

    def dependent_cells(
        self, rows: Any, shapes: Mapping[str, Sequence[int]], checksums: Checksums | None = None
    ) -> list[Cell]:
        """Return the cells that the criterion chooses from ``rows``, where the grid is finished."""
        found: list[Cell] = []
        for expansion in (
            self._expansions(shapes, checksums) if "label-free" in self.experiments else ()
        ):
            expected = {cell.id for cell in expansion.grid()}
            own = rows[rows["cell"].isin(expected)]
            if set(own["cell"]) != expected:
                continue
            done = own[own["status"] == "done"]
            # The choice is handed a table in which no column was made with labels.
            found += expansion.label_free(done[WITHOUT_LABELS])
        return found

    def _expansions(
        self, shapes: Mapping[str, Sequence[int]], checksums: Checksums | None
    ) -> "list[_Expansion]":
        """Pair every data set that is there with every method."""
        # another file is other work; those of the registry are always alike
        fixed = {name for name, entry in registry().items() if entry.sha256 is not None}
        files = {name: text for name, text in (checksums or {}).items() if name not in fixed}
        return [
            _Expansion(self, method, name, shapes[name][1], files.get(name) or "")
            for name in self.datasets
            if name in shapes
            for method in self.methods
        ]


@dataclass(frozen=True)
class _Expansion:
    """The cells of one method on one data set; a method for each experiment."""

    plan: Plan
    method: Method
    dataset: str
    n_columns: int
    checksum: str

    def default(self) -> Iterator[Cell]:
        """Yield the method as it comes, once per seed; what is drawn at random, often enough."""
        chosen = self.seeds
        if self.method.selector == RANDOM:
            further = [seed for seed in range(defaults.BENCH_RANDOM_DRAWS) if seed not in chosen]
            chosen += tuple(further[: max(0, defaults.BENCH_RANDOM_DRAWS - len(chosen))])
        for seed in chosen:
            yield self.cell("default", seed=seed)

    def grid(self) -> Iterator[Cell]:
        """Yield the points of the grid, at all counts together or one by one."""
        own = self.method.own_count
        for seed in self.seeds:
            for point in self.points():
                for counts in [None] if own else self.fitted_counts():
                    yield self.cell("grid", seed=seed, counts=counts, params=point)

    def label_free(self, rows: Any) -> Iterator[Cell]:
        """Yield, for every seed, the fewest features within the tolerance of the best criterion."""
        tolerance = Modularity().tolerance
        for seed, some in rows.dropna(subset="criterion").groupby("seed"):
            enough = some[some["criterion"] >= some["criterion"].max() - tolerance]
            chosen = enough.sort_values(
                ["n_features", "criterion", "cell"], ascending=[True, False, True]
            ).iloc[0]
            counts = None if self.method.own_count else (int(chosen["n_features"]),)
            params = json.loads(chosen["params"])
            yield self.cell("label-free", seed=int(seed), params=params, counts=counts)

    def time(self) -> Iterator[Cell]:
        """Yield the method with the paper's stopping rule, at the middle of the plan's counts."""
        if self.method.selector in (ALL_FEATURES, TRUE_LABELS):
            return
        possible = self.possible_counts()
        iterates = {"max_iter", "tol", "callback"} <= defaults_of(self.method.selector).keys()
        params = {**self.method.params, **(defaults.BENCH_TIMED if iterates else {})}
        yield self.cell(
            "time",
            seed=self.plan.seeds[0],
            params=params,
            counts=(possible[len(possible) // 2],),
        )

    def cell(
        self, experiment: str, *, seed: int, params: Mapping[str, Any] | None = None, **more: Any
    ) -> Cell:
        """Return a cell; by default with the parameters that the method has everywhere."""
        method = self.method
        return Cell(
            experiment,
            self.dataset,
            method.name,
            method.selector,
            params=distinct_params(method.selector, method.params if params is None else params),
            seed=seed,
            kmeans_seeds=self.plan.kmeans_seeds,
            control=method.control,
            seconds=self.plan.cell_seconds,
            data_checksum=self.checksum,
            code=code_of(method.selector),
            **more,
        )

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the method: one is enough for those that draw nothing."""
        seeded = "random_state" in defaults_of(self.method.selector)
        return self.plan.seeds if seeded else self.plan.seeds[:1]

    def fitted_counts(self) -> list[tuple[int, ...]]:
        """Return the counts that one fit each answers for."""
        possible = self.possible_counts()
        return [(count,) for count in possible] if self.method.per_count else [possible]

    def points(self) -> list[dict[str, Any]]:
        """Return the settings that the grid tries; of a RandomSelector, the numbers of rankings."""
        if self.method.selector != RANDOM:
            return self.method.points()
        n_counts = len(self.possible_counts())
        sizes = [
            len(other.points()) * (1 if other.own_count else n_counts)
            for other in self.plan.methods
            if other.selector != RANDOM
        ]
        return [{RANKING: i} for i in range(-(-max(sizes, default=1) // n_counts))]

    def possible_counts(self) -> tuple[int, ...]:
        """Return the counts that the table allows."""
        return tuple(count for count in self.plan.counts if count <= self.n_columns)
