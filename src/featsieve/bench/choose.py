"""Finished grid cells to the cells that follow from them.

What is chosen without labels is chosen from a table that does not hold what labels were used for:
the columns are taken before anything is compared.
"""

import json
from collections.abc import Iterator
from typing import Any

from featsieve.bench.cells import Cell
from featsieve.bench.expand import (
    file_identity,
    grid_cells,
    make_cell,
    of_file,
    possible_counts,
)
from featsieve.bench.methods import ALL_FEATURES
from featsieve.bench.plan import Checksums, Method, Plan

# Loss of the criterion that is given up for fewer features, as the library does.
TOLERANCE = 0.01
FINISHED = ("done", "failed", "timeout")
# All that the label-free choice may see, and what the choice by labels sees.
WITHOUT_LABELS = ["cell", "params", "seed", "n_features", "criterion"]
WITH_LABELS = ["cell", "params", "seed", "n_features", "acc_mean"]


def dependent_cells(plan: Plan, rows: Any, checksums: Checksums | None = None) -> list[Cell]:
    """Return the label-free and curve cells of those methods whose grid is finished."""
    found: list[Cell] = []
    tables = known_tables(rows, checksums)
    for dataset in plan.datasets:
        for method in plan.methods if dataset in tables else ():
            n_columns, checksum = tables[dataset]
            grid = grid_cells(plan, method, dataset, n_columns=n_columns)
            expected = {cell.id for cell in of_file(grid, checksum)}
            own = rows[rows["cell"].isin(expected) & rows["status"].isin(FINISHED)]
            if set(own["cell"]) != expected:
                continue
            done = own[own["status"] == "done"]
            if "label-free" in plan.experiments:
                chosen = label_free_cells(plan, method, dataset, done[WITHOUT_LABELS])
                found += of_file(chosen, checksum)
            if "curve" in plan.experiments and method.selector != ALL_FEATURES:
                chosen = curve_cells(plan, method, dataset, done[WITH_LABELS], n_columns=n_columns)
                found += of_file(chosen, checksum)
    return sorted(found, key=lambda cell: plan.experiments.index(cell.experiment))


def known_tables(rows: Any, checksums: Checksums | None = None) -> dict[str, tuple[int, str]]:
    """Return the number of columns and the checksum of the data sets that have rows.

    Without checksums, of several files the one that was worked on last.
    """
    known = rows[rows["n_columns"] > 0].sort_values("started", kind="stable")
    found = {}
    for name, some in known.groupby("dataset"):
        if checksums is not None:
            some = some[some["data_checksum"] == file_identity(str(name), checksums)]
        if len(some):
            last = some.iloc[-1]
            found[str(name)] = int(last["n_columns"]), str(last["data_checksum"])
    return found


def label_free_cells(plan: Plan, method: Method, dataset: str, rows: Any) -> Iterator[Cell]:
    """Yield the choice by the criterion for every seed.

    The fewest features within the tolerance of the best value; of equally few, the best value.
    """
    rows = rows.dropna(subset="criterion")
    for seed, some in rows.groupby("seed"):
        enough = some[some["criterion"] >= some["criterion"].max() - TOLERANCE]
        chosen = enough.sort_values(
            ["n_features", "criterion", "cell"], ascending=[True, False, True]
        ).iloc[0]
        yield make_cell(
            plan,
            method,
            dataset,
            experiment="label-free",
            seed=int(seed),
            params=json.loads(chosen["params"]),
            counts=None if method.own_count else (int(chosen["n_features"]),),
            practical=True,
        )


def curve_cells(
    plan: Plan, method: Method, dataset: str, rows: Any, *, n_columns: int
) -> Iterator[Cell]:
    """Yield the setting of the best accuracy at all counts of the curve: it uses labels."""
    rows = rows.dropna(subset="acc_mean")
    counts = possible_counts(plan.curve_counts, n_columns)
    for seed, some in rows.groupby("seed"):
        best = some.sort_values(
            ["acc_mean", "n_features", "cell"], ascending=[False, True, True]
        ).iloc[0]
        for fitted in [(count,) for count in counts] if method.per_count else [counts]:
            yield make_cell(
                plan,
                method,
                dataset,
                experiment="curve",
                seed=int(seed),
                params=json.loads(best["params"]),
                counts=fitted,
            )
