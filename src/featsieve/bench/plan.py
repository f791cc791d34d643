"""A plan: which methods, with which grids, on which data sets. It is a small TOML file.

::

    extends = "paper"                            # optional: a shipped plan, changed below
    title = "..."                                # shown in the report
    datasets = [
        "iris", "wine",                          # see featsieve.datasets.dataset_names
        { file = "mine.csv", labels = "kind" },  # a table, and its column with the classes
    ]
    experiments = ["default", "grid"]            # see featsieve.bench.cells
    counts = [10, 20]                            # features at which a ranking is evaluated
    curve_counts = [5, 10]                       # the same for the curves
    kmeans_seeds = 10                            # runs of k-means per evaluation
    seeds = [0]                                  # random_state of the methods
    cell_seconds = 300                           # time limit of one fit with its evaluations

    [scatter]                                    # who gets a scatter plot
    datasets = ["iris"]
    methods = ["NDFS"]

    [grids]                                      # lists that grids refer to
    weights = [0.01, 1.0]

    [[methods]]
    name = "NDFS"                                # as shown in tables
    selector = "NDFS"                            # class of featsieve, or "AllFeatures"
    params = { scale = "none" }                  # what differs from the defaults
    grid = { alpha = "weights", beta = [1.0] }   # all combinations
    counts = "own"                               # evaluate where the method stops, not at `counts`
    per_count = true                             # a fit for each count; by default where the
                                                 # first k of a longer selection are another one
    control = true                               # not a method but what to beat
    rankings = "largest grid"                    # RandomSelector: as many tries as anybody has
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

from featsieve.bench.cells import Cell

# RandomSelector is given as many selections to choose from as the method with the most.
LARGEST_GRID = "largest grid"
OWN = "own"

# Of the files of the data sets.
Checksums = Mapping[str, str | None]


@dataclass(frozen=True)
class Method:
    """A selector with its settings.

    Attributes
    ----------
    name : str
        As shown in tables.
    selector : str
        Class of featsieve, or "AllFeatures".
    params : mapping
        What differs from the constructor's defaults in all experiments.
    grid : mapping of str to tuple
        Values to try; all combinations.
    own_count : bool
        Whether a point of the grid is evaluated at the number of features it selects.
    per_count : bool
        Whether each number of features is a fit of its own.
    control : bool
    rankings : str or int
        Number of rankings of a RandomSelector, or "largest grid"; 0 for other selectors.
    """

    name: str
    selector: str
    params: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    own_count: bool = False
    per_count: bool = False
    control: bool = False
    rankings: str | int = 0

    def points(self) -> list[dict[str, Any]]:
        """Return the parameters at every point of the grid, the first name varying slowest."""
        names = list(self.grid)
        values = product(*self.grid.values())
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
    counts, curve_counts, seeds : tuple of int
    kmeans_seeds : int
    cell_seconds : float
    scatter_datasets, scatter_methods : tuple of str
    text : str
        The TOML file.
    resolved : str
        What it says, as JSON, with the plan that it extends filled in; empty if made by hand.

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
    curve_counts: tuple[int, ...] = ()
    seeds: tuple[int, ...] = (0,)
    kmeans_seeds: int = 10
    cell_seconds: float = 600.0
    scatter_datasets: tuple[str, ...] = ()
    scatter_methods: tuple[str, ...] = ()
    text: str = ""
    resolved: str = ""

    def method(self, name: str) -> Method:
        """Return a method by its name."""
        return next(method for method in self.methods if method.name == name)

    def cells(
        self, shapes: Mapping[str, Sequence[int]], checksums: Checksums | None = None
    ) -> list[Cell]:
        """Return the cells that depend on no other.

        Parameters
        ----------
        shapes : mapping of str to (n_samples, n_columns, ...)
            Of the data sets; those that are not in it are left out.
        checksums : mapping of str to str or None, optional
            Of the files of the data sets, as `featsieve.datasets.Dataset` has them: another file
            is other work. Those of registered files are not needed; they cannot change.

        Returns
        -------
        list of Cell
        """
        from featsieve.bench.expand import independent_cells

        n_columns = {name: shape[1] for name, shape in shapes.items()}
        return independent_cells(self, n_columns, checksums or {})

    def dependent_cells(self, rows: Any, checksums: Checksums | None = None) -> list[Cell]:
        """Return the cells that follow from finished grid cells.

        "label-free" ones are chosen by the criterion and nothing else; "curve" ones by accuracy.

        Parameters
        ----------
        rows : DataFrame
            Rows of the finished cells.
        checksums : mapping of str to str or None, optional
            The same as for ``cells``; by default those of the rows that were started last.

        Returns
        -------
        list of Cell
            Of those data sets and methods of which every grid cell is finished.
        """
        from featsieve.bench.expand import dependent_cells

        return dependent_cells(self, rows, checksums)


def plan_names() -> list[str]:
    """Return the names of the plans that come with the library.

    Examples
    --------
    >>> from featsieve.bench import plan_names
    >>> plan_names()
    ['open', 'paper', 'paper_thin', 'planted', 'smoke']
    """
    folder = files("featsieve.bench") / "plans"
    return sorted(
        item.name.removesuffix(".toml") for item in folder.iterdir() if item.name.endswith(".toml")
    )


def shipped_text(name: str) -> str:
    """Return the TOML file of a plan that comes with the library."""
    return (files("featsieve.bench") / "plans" / f"{name}.toml").read_text(encoding="utf-8")


def load_plan(name_or_path: str | os.PathLike[str]) -> Plan:
    """Return a plan that comes with the library, or that of a TOML file.

    Parameters
    ----------
    name_or_path : str or path

    Returns
    -------
    Plan

    Raises
    ------
    ValueError
        If there is no such plan, or something in it is unknown or of the wrong kind.

    Examples
    --------
    >>> from featsieve.bench import load_plan
    >>> load_plan("paper").experiments
    ('default', 'grid', 'label-free', 'curve', 'time', 'scatter')
    """
    from featsieve.bench.parse import parse_plan  # which makes plans of this module
    from featsieve.io.guard import read_small

    given = os.fspath(name_or_path)
    if given in plan_names():
        return parse_plan(shipped_text(given), name=given)
    path = Path(given)
    if not path.is_file():
        raise ValueError(
            f"There is no plan {given!r}: it must be one of {', '.join(plan_names())}, or the path "
            "of a TOML file."
        )
    return parse_plan(read_small(path, what="plan"), name=path.stem)
