"""Results of a benchmark as one tidy table: a row for every score, for analysis elsewhere."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from featsieve.bench.store import Store
from featsieve.io.files import whole_file
from featsieve.io.optional import load_optional

if TYPE_CHECKING:
    import pandas as pd

# With ``metric``, no two rows have the same.
KEYS = ("plan", "experiment", "dataset", "method", "params", "seed", "n_features", "cell")
ABOUT = (
    *KEYS,
    *("n_samples", "n_columns", "n_classes", "selector", "control", "own_count", "support"),
    *("status", "reason", "source"),
)
METRICS = (
    *(f"{name}_{how}" for how in ("mean", "practical", "own") for name in ("acc", "nmi", "ari")),
    *("redundancy", "planted_precision", "planted_recall", "criterion"),
    *("fit_seconds", "evaluate_seconds", "n_iter"),
)
COLUMNS = (*ABOUT, "metric", "value", "std")


def load_results(path: str | os.PathLike[str]) -> "pd.DataFrame":
    """Return the results of a benchmark as one tidy table.

    Parameters
    ----------
    path : str or path
        A folder that ``featsieve bench run`` wrote, or a file of ``featsieve bench export``: CSV or
        Parquet.

    Returns
    -------
    DataFrame
        One row per data set, method, setting, number of features and metric. A fit that failed has
        one row without a metric. docs/benchmark.md explains every column.

    Examples
    --------
    >>> from featsieve.bench import load_results
    >>> rows = load_results("results")  # doctest: +SKIP
    >>> acc = rows[(rows["experiment"] == "default") & (rows["metric"] == "acc_mean")]
    ... # doctest: +SKIP
    >>> acc.pivot_table("value", "dataset", "method")  # doctest: +SKIP
    """
    path = Path(path)
    pd = load_optional("pandas", "Reading results", extra="bench")
    if path.is_dir():
        return tidy(Store(path).read())
    if not path.exists():
        raise FileNotFoundError(
            f"There is no {path}. Name a folder that `featsieve bench run` wrote, or a file of "
            "`featsieve bench export`."
        )
    parquet = path.suffix == ".parquet"
    rows = pd.read_parquet(path) if parquet else pd.read_csv(path, low_memory=False)
    if {"acc_mean", "versions", *KEYS} <= set(rows.columns):  # a row per selection, as once written
        return tidy(rows)
    if set(rows.columns) == set(COLUMNS) - {"support"}:  # as once written
        rows.insert(ABOUT.index("support"), "support", "")
    if tuple(rows.columns) != COLUMNS:
        raise ValueError(
            f"{path} is no table of results: write one with `featsieve bench export FOLDER`."
        )
    return rows.fillna(dict.fromkeys(("params", "reason", "source", "metric", "support"), ""))


def tidy(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return one row per score of rows with the columns of ``featsieve.bench.cells.SCHEMA``."""
    pd = load_optional("pandas", "A table of results", extra="bench")
    rows = rows.assign(
        source=[json.loads(text).get("source", "") if text else "" for text in rows["versions"]],
        **{name: rows[name].fillna("") for name in ("params", "reason", "support")},
    )
    about = rows[[*ABOUT]]
    rows["n_iter"] = rows["n_iter"].where(rows["n_iter"] > 0)  # 0: the method does not iterate
    none = pd.Series(np.nan, rows.index)
    parts = [
        about.assign(metric=name, value=rows[name], std=rows.get(f"{name[:-5]}_std", none))
        for name in METRICS  # acc_mean and acc_std; there is no such column for other metrics
    ]
    scores = pd.concat(parts).dropna(subset="value")
    failed = about[about["status"] != "done"].assign(metric="", value=np.nan, std=np.nan)
    both = pd.concat([scores, failed]) if len(failed) else scores
    return both.sort_index(kind="stable").reset_index(drop=True)


def export_results(folder: str | os.PathLike[str], path: str | os.PathLike[str]) -> int:
    """Write the tidy table of a folder as CSV, or Parquet by the name; return its rows."""
    rows = tidy(Store(folder).read())
    with whole_file(path) as unfinished:
        if Path(path).suffix == ".parquet":
            load_optional("pyarrow", "Writing Parquet", extra="bench")
            rows.to_parquet(unfinished, index=False)
        else:
            rows.to_csv(unfinished, index=False, lineterminator="\n")
    return len(rows)
