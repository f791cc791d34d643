"""Rows as a benchmark writes them, made up: no selector is run."""

import json
from copy import deepcopy
from typing import Any

import pandas as pd

from featsieve.bench.cells import SCHEMA

SHAPES = {
    "brain": (42, 5597, 5),
    "breast3": (95, 4869, 3),
    "jaffe": (213, 676, 10),
    "lung": (203, 3312, 5),
    "mnist": (4000, 784, 10),
    "nci": (61, 5244, 8),
    "ORL": (400, 1024, 40),
    "palm": (2000, 256, 100),
    "planted_small": (90, 40, 3),
}


def row(**given: Any) -> dict[str, Any]:
    """One row of SCHEMA; what is not given is empty."""
    assert set(given) <= set(SCHEMA)
    base: dict[str, Any] = deepcopy(SCHEMA)
    base |= {
        "plan": "made-up",
        "experiment": "grid",
        "dataset": "breast3",
        "method": "NDFS",
        "params": "{}",
        "status": "done",
        "machine": "a machine, 2 cores",
        "versions": json.dumps({"python": "3.11", "numpy": "2.0"}),
        "schema_version": 2,
        "jobs": 1,
        "started": "2026-01-01T00:00:00",
    }
    base |= given
    shape = SHAPES.get(base["dataset"], (10, 20, 2))
    for name, size in zip(("n_samples", "n_columns", "n_classes"), shape, strict=True):
        base[name] = given.get(name, size)
    base["selector"] = given.get("selector") or base["method"]
    parts = [base[k] for k in ("experiment", "dataset", "method", "params", "seed")]
    base["cell"] = given.get("cell") or "|".join(map(str, parts))
    return base


def frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(SCHEMA))
