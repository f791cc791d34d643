"""A row for every cell, also for one without a result."""

import json
from datetime import UTC, datetime
from typing import Any

from featsieve.bench.cells import SCHEMA, SCHEMA_VERSION, Cell
from featsieve.bench.environment import machine, versions

MISSING: dict[str, Any] = {"string": "", "int64": 0, "bool": False, "float64": float("nan")}


def blank_row(cell: Cell, *, plan: str = "", jobs: int = 1) -> dict[str, Any]:
    """Return a row with what is known before a cell is run, and with nothing else."""
    row = {name: [] if kind.startswith("list") else MISSING[kind] for name, kind in SCHEMA.items()}
    return row | {
        "cell": cell.id,
        "plan": plan,
        "experiment": cell.experiment,
        "dataset": cell.dataset,
        "method": cell.method,
        "selector": cell.selector,
        "control": cell.control,
        "params": cell.params_json,
        "stands_for": cell.stands_for,
        "inert": json.dumps(dict(cell.inert), sort_keys=True),
        "data_checksum": cell.data_checksum,
        "seed": cell.seed,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "jobs": jobs,
        "versions": versions(),
        "schema_version": SCHEMA_VERSION,
    }


def failed_rows(
    cell: Cell,
    reason: str,
    *,
    status: str = "failed",
    plan: str = "",
    jobs: int = 1,
    **known: Any,
) -> list[dict[str, Any]]:
    """Return the one row of a cell that has no result."""
    return [blank_row(cell, plan=plan, jobs=jobs) | {"status": status, "reason": reason} | known]
