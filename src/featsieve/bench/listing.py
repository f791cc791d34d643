"""What a folder of results belongs to: the plan that was run last and its cells, ``plan.json``.

And the results of that plan as a plain table for other tools.
"""

import json
import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from featsieve.bench.cells import SCHEMA, SCHEMA_VERSION, Cell
from featsieve.io.files import write_text
from featsieve.io.readers.guard import read_small

FILE = "plan.json"
# Columns of the listing: not part of a cell's identity, and as the present plan has them.
OF_THE_PLAN = ("stands_for", "inert", "control")
# In the plain table single runs are text with so many decimals; other lists are left out.
RUNS = ("acc_runs", "nmi_runs")
RUN_DECIMALS = 4
SIGNIFICANT_DIGITS = 6


def write_listing(
    folder: str | os.PathLike[str],
    cells: Iterable[Cell],
    *,
    plan: str,
    title: str,
    resolved: str,
    whole: bool = True,
    keep: Collection[str] = (),
) -> None:
    """Make a folder of results that of a plan."""
    members = {
        cell.id: {
            "experiment": cell.experiment,
            "dataset": cell.dataset,
            "method": cell.method,
            "stands_for": cell.stands_for,
            "inert": json.dumps(dict(cell.inert), sort_keys=True),
            "control": cell.control,
        }
        for cell in cells
    }
    try:
        earlier = read_listing(folder)
    except (FileNotFoundError, ValueError):
        earlier = {}
    if earlier.get("resolved") == resolved:
        kept = earlier["cells"].items()
        members = {key: cell for key, cell in kept if cell["dataset"] in keep} | members
    about = {
        "version": SCHEMA_VERSION,
        "plan": plan,
        "title": title,
        "cells": members,
        "whole": whole,
        "resolved": resolved,
    }
    write_text(Path(folder) / FILE, json.dumps(about, indent=1, sort_keys=True))


def read_listing(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the plan that a folder belongs to."""
    path = Path(folder) / FILE
    if not path.exists():
        raise FileNotFoundError(
            f"{folder} holds no results. Write some: featsieve bench run PLAN --out {folder}"
        )
    try:
        about = json.loads(read_small(path, what="list of a benchmark's cells"))
        version = about.get("version")
    except (json.JSONDecodeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: remove it and run the plan again.") from error
    if version != SCHEMA_VERSION:
        raise ValueError(f"{folder} was written by another version of featsieve: run again.")
    return about


def planned_cells(about: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the cells of a plan, with one more for all of those that are not known yet."""
    unknown = {"experiment": "label-free", "dataset": "", "method": ""}
    more = {} if about["whole"] else {"those that follow from others": unknown}
    return {**about["cells"], **more}


def csv_text(rows: Any) -> str:
    """Return rows as the text of a tidy CSV file: the same for the same rows."""
    lists = [name for name, kind in SCHEMA.items() if kind.startswith("list")]
    runs = {
        name: [" ".join(f"{value:.{RUN_DECIMALS}f}" for value in values) for values in rows[name]]
        for name in RUNS
    }
    table = rows.assign(**runs).drop(columns=[name for name in lists if name not in RUNS])
    return table.to_csv(index=False, lineterminator="\n", float_format=f"%.{SIGNIFICANT_DIGITS}g")
