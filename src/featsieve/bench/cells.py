"""The unit of work of a benchmark: one fit of one selector on one data set, and what is kept of it.

A plan expands to cells; a finished cell becomes rows, one for every number of features at which its
ranking was evaluated. Everything else (running, storing, reporting) speaks of these two.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from featsieve.bench.environment import machine, versions

# Increased when rows of an older version cannot stand beside new ones.
SCHEMA_VERSION = 2

# What is asked of a selector; the order is that in which a run goes through them.
EXPERIMENTS = ("default", "grid", "label-free", "time")
# Cells of these are run with nothing beside them, so that their times can be compared.
ALONE = ("time",)

# Columns of a row, each with what it holds where nothing is known; lists are per k-means seed.
SCHEMA: dict[str, Any] = {
    # what was run
    "cell": "",
    "plan": "",  # the one that was run last
    "experiment": "",
    "dataset": "",
    "n_samples": 0,
    "n_columns": 0,
    "n_classes": 0,
    "method": "",
    "selector": "",
    "control": False,
    "params": "",  # JSON of what differs from the constructor's defaults
    "data_checksum": "",
    "seed": 0,
    "status": "",  # done, failed or timeout
    "reason": "",
    # what was selected
    "n_features": 0,
    "own_count": False,  # whether the method chose this number itself
    "support": "",  # a hash: equal supports are evaluated once
    "redundancy": math.nan,
    "planted_precision": math.nan,  # share of the selection that was planted (NaN without truth)
    "planted_recall": math.nan,  # share of the informative columns that were selected
    "criterion": math.nan,  # label-free: never sees the classes
    # protocol "paper": k-means from random starts, one run per seed
    **{f"{score}_{what}": math.nan for score in ("acc", "nmi", "ari") for what in ("mean", "std")},
    "acc_runs": [],
    "nmi_runs": [],
    # protocol "practical": the best inertia of 20 k-means++ starts; and the selector's own labels
    **{f"{s}_{what}": math.nan for what in ("practical", "own") for s in ("acc", "nmi", "ari")},
    # what it took
    "fit_seconds": math.nan,
    "evaluate_seconds": math.nan,
    "n_iter": 0,
    # where and with what
    "started": "",
    "machine": "",
    "jobs": 0,  # cells that ran at the same time
    "versions": "",  # JSON; "source" is a hash of the library's files
    "schema_version": 0,
}


@dataclass(frozen=True)
class Cell:
    """One fit of one selector on one data set."""

    experiment: str  # one of ``EXPERIMENTS``
    dataset: str
    method: str  # its name in the plan, as shown in tables
    selector: str  # a class of featsieve, or "AllFeatures"
    # What differs from the constructor's defaults; JSON types only. ``n_clusters`` and
    # ``random_state`` are not among them: the data set and ``seed`` give these.
    params: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    counts: tuple[int, ...] | None = None  # at which the ranking is evaluated; None: its own
    kmeans_seeds: int = 10  # runs of the protocol "paper"
    # Of a file that is not one of the registry (those are checked when they are loaded): other
    # data are other work.
    data_checksum: str = ""
    code: str = ""  # a hash of that of a selector from outside: other code is other work
    control: bool = False
    seconds: float = 600.0  # time limit; not part of the identity

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
            **({"code": self.code} if self.code else {}),
        }
        text = json.dumps(content, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    @property
    def practical(self) -> bool:
        """Whether the protocol "practical" is run as well: where a user could have chosen so."""
        return self.experiment in ("default", "label-free")

    @property
    def params_json(self) -> str:
        """The parameters as canonical JSON."""
        return json.dumps(dict(self.params), sort_keys=True)


def blank_row(cell: Cell, *, jobs: int = 1) -> dict[str, Any]:
    """Return a row with what is known before a cell is run, and with nothing else."""
    copied = ("experiment", "dataset", "method", "selector", "control", "seed", "data_checksum")
    return (
        {name: copy(nothing) for name, nothing in SCHEMA.items()}
        | {name: getattr(cell, name) for name in copied}
        | {
            "cell": cell.id,
            "params": cell.params_json,
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": machine(),
            "jobs": jobs,
            "versions": versions(),
            "schema_version": SCHEMA_VERSION,
        }
    )
