"""The unit of work of a benchmark: one fit of one selector on one data set, and what is kept of it.

A plan expands to cells; a finished cell becomes rows, one for every number of features at which its
ranking was evaluated. Everything else (running, storing, reporting) speaks of these two.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from featsieve.bench.environment import machine, versions

# Increased when rows of an older version cannot stand beside new ones.
SCHEMA_VERSION = 2

# What is asked of a selector; the order is that in which a run goes through them.
EXPERIMENTS = ("default", "grid", "label-free", "curve", "time", "scatter")
# Cells of these are made from finished grid cells of the same data set and method.
DEPENDENT = ("label-free", "curve")
# Cells of these are run with nothing beside them, so that their times can be compared.
ALONE = ("time",)

# Columns of a row and their types; lists are per k-means seed, per iteration, or per sample.
SCHEMA: dict[str, str] = {
    # what was run
    "cell": "string",
    "plan": "string",
    "experiment": "string",
    "dataset": "string",
    "n_samples": "int64",
    "n_columns": "int64",
    "n_classes": "int64",
    "method": "string",
    "selector": "string",
    "control": "bool",
    "params": "string",  # JSON of what differs from the constructor's defaults
    "stands_for": "int64",  # grid points that differ in parameters without any effect only
    "inert": "string",  # JSON of these parameters and their values
    "data_checksum": "string",
    "seed": "int64",
    "status": "string",  # done, failed or timeout
    "reason": "string",
    # what was selected
    "n_features": "int64",
    "own_count": "bool",  # whether the method chose this number itself
    "support": "string",  # a hash: equal supports are evaluated once
    "redundancy": "float64",
    "planted_precision": "float64",  # share of the selection that was planted (NaN without truth)
    "planted_recall": "float64",  # share of the informative columns that were selected
    "criterion": "float64",  # label-free: never sees the classes
    # protocol "paper": k-means from random starts, one run per seed
    "acc_mean": "float64",
    "acc_std": "float64",
    "nmi_mean": "float64",
    "nmi_std": "float64",
    "ari_mean": "float64",
    "ari_std": "float64",
    "acc_runs": "list<float64>",
    "nmi_runs": "list<float64>",
    # protocol "practical": the best inertia of 20 k-means++ starts; and the selector's own labels
    "acc_practical": "float64",
    "nmi_practical": "float64",
    "ari_practical": "float64",
    "acc_own": "float64",
    "nmi_own": "float64",
    "ari_own": "float64",
    # what it took
    "fit_seconds": "float64",
    "evaluate_seconds": "float64",
    "peak_mib": "float64",
    "n_iter": "int64",
    "objective": "list<float64>",
    "iteration_seconds": "list<float64>",
    # experiment "scatter"
    "points": "list<float64>",
    "classes": "list<int64>",
    # where and with what
    "started": "string",
    "machine": "string",
    "jobs": "int64",  # cells that ran at the same time
    "versions": "string",  # JSON; "source" is a hash of the library's files
    "schema_version": "int64",
}


@dataclass(frozen=True)
class Cell:
    """One fit of one selector on one data set.

    Attributes
    ----------
    experiment : str
        One of ``EXPERIMENTS``.
    dataset : str
    method : str
        Name in the plan, as shown in tables.
    selector : str
        Class of featsieve, or "AllFeatures".
    params : mapping
        Parameters that differ from the constructor's defaults; JSON types only. ``n_clusters`` and
        ``random_state`` are not among them: the data set and ``seed`` give these.
    seed : int
    counts : tuple of int, or None
        Numbers of features at which the ranking is evaluated; None: the method's own.
    kmeans_seeds : int
        Runs of the protocol "paper".
    practical : bool
        Whether the protocol "practical" is run as well.
    stands_for : int
        Grid points that this one answers for; see ``SCHEMA``.
    inert : mapping
        The parameters in which those differ, and their values; not part of the identity.
    data_checksum : str
        Of the file, where the data set is not one of the registry (whose files are checked when
        they are loaded): other data are other work.
    control : bool
    seconds : float
        Time limit; not part of the identity.
    """

    experiment: str
    dataset: str
    method: str
    selector: str
    params: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    counts: tuple[int, ...] | None = None
    kmeans_seeds: int = 10
    practical: bool = False
    stands_for: int = 1
    inert: Mapping[str, Any] = field(default_factory=dict)
    data_checksum: str = ""
    control: bool = False
    seconds: float = 600.0

    @property
    def id(self) -> str:
        """Identity of the work: the same whatever the plan is called and wherever it runs."""
        content = {
            "schema": SCHEMA_VERSION,
            "experiment": self.experiment,
            "dataset": self.dataset,
            "data": self.data_checksum,
            "method": self.method,
            "selector": self.selector,
            "params": self.params_json,
            "seed": self.seed,
            "counts": self.counts,
            "kmeans_seeds": self.kmeans_seeds,
            "practical": self.practical,
        }
        text = json.dumps(content, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    @property
    def params_json(self) -> str:
        """The parameters as canonical JSON."""
        return json.dumps(dict(self.params), sort_keys=True)


_MISSING: dict[str, Any] = {"string": "", "int64": 0, "bool": False, "float64": float("nan")}


def blank_row(cell: Cell, *, plan: str = "", jobs: int = 1) -> dict[str, Any]:
    """Return a row with what is known before a cell is run, and with nothing else."""
    row = {name: [] if kind.startswith("list") else _MISSING[kind] for name, kind in SCHEMA.items()}
    copied = ("experiment", "dataset", "method", "selector", "control", "stands_for", "seed")
    return (
        row
        | {name: getattr(cell, name) for name in (*copied, "data_checksum")}
        | {
            "cell": cell.id,
            "plan": plan,
            "params": cell.params_json,
            "inert": json.dumps(dict(cell.inert), sort_keys=True),
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": machine(),
            "jobs": jobs,
            "versions": versions(),
            "schema_version": SCHEMA_VERSION,
        }
    )
