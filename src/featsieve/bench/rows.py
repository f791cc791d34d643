"""A row for every cell, also for one without a result."""

import json
from datetime import UTC, datetime
from typing import Any

from featsieve.bench.cells import SCHEMA, SCHEMA_VERSION, Cell
from featsieve.bench.environment import machine, versions

MISSING: dict[str, Any] = {"string": "", "int64": 0, "bool": False, "float64": float("nan")}


def blank_row(cell: Cell, *, plan: str = "", jobs: int = 1) -> dict[str, Any]:
    """Return a row with what is known before a cell is run, and with nothing else.

    Parameters
    ----------
    cell : Cell
    plan : str
        Name of the plan.
    jobs : int, default=1
        Cells that run at the same time.

    Returns
    -------
    dict
        All columns of ``SCHEMA``: numbers that are not known are NaN, or 0 for integers.

    Examples
    --------
    >>> from featsieve.bench.cells import Cell
    >>> from featsieve.bench.rows import blank_row
    >>> row = blank_row(Cell("grid", "iris", "NDFS", "NDFS", params={"alpha": 0.5}))
    >>> row["params"], row["n_features"], row["acc_runs"]
    ('{"alpha": 0.5}', 0, [])
    """
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
    """Return the one row of a cell that has no result.

    Parameters
    ----------
    cell : Cell
    reason : str
    status : {"failed", "timeout", "skipped"}
    plan : str
    jobs : int, default=1
    **known
        Columns that are known all the same.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> from featsieve.bench.cells import Cell
    >>> from featsieve.bench.rows import failed_rows
    >>> failed_rows(Cell("grid", "iris", "NDFS", "NDFS"), "too large")[0]["status"]
    'failed'
    """
    return [blank_row(cell, plan=plan, jobs=jobs) | {"status": status, "reason": reason} | known]
