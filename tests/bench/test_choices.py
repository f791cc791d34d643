"""Cells that follow from finished ones: what the label-free choice sees, and what it does not."""

import json

import numpy as np
import pandas as pd
import pytest

from featsieve.bench import Plan
from featsieve.bench.cells import blank_row
from featsieve.bench.plan import Method

NDFS = Method("NDFS", "NDFS", grid={"beta": (1.0, 2.0)})
EVERYTHING = Method("All", "AllFeatures", own_count=True)
MCFS = Method("MCFS", "MCFS", per_count=True)
OWN = Method("JASFS", "JASFS", grid={"sparsity": (0.1, 0.2)}, own_count=True)
WINE = {"wine": (178, 13, 3)}


def plan_of(*methods, experiments=("grid", "label-free"), **more):
    return Plan("p", "P", ("wine",), experiments, methods, counts=(2, 4, 8), **more)


def finished(plan, values, status="done", *, checksum=None):
    """Rows of the grid cells; values(cell, count) gives criterion and accuracy."""
    rows = []
    for cell in plan.cells(WINE, {"wine": checksum}):
        for count in cell.counts or (values(cell, None)[2],):
            criterion, accuracy = values(cell, count)[:2]
            found = {"n_features": count, "criterion": criterion, "acc_mean": accuracy}
            rows.append(blank_row(cell) | {"n_columns": 13, "status": status} | found)
    return pd.DataFrame(rows)


def label_free(plan, rows):
    return plan.dependent_cells(rows, WINE)


def test_the_fewest_features_within_the_tolerance_of_the_best():
    table = {(1.0, 2): 0.3, (1.0, 4): 0.495, (1.0, 8): 0.5, (2.0, 2): 0.2, (2.0, 4): 0.498}
    plan = plan_of(NDFS)
    rows = finished(plan, lambda c, k: (table.get((c.params["beta"], k), 0.0), 0.0))
    (cell,) = label_free(plan, rows)
    assert cell.params == {"beta": 2.0}  # of the two with 4 features the better one
    assert cell.counts == (4,)
    assert cell.practical


def test_the_label_free_choice_does_not_see_what_labels_were_used_for():
    random = np.random.default_rng(0)
    plan = plan_of(NDFS, MCFS, EVERYTHING, OWN)
    rows = finished(plan, lambda c, k: (random.random(), random.random(), random.integers(1, 9)))
    chosen = label_free(plan, rows)
    assert {cell.method for cell in chosen} == {"NDFS", "MCFS", "All", "JASFS"}
    for _ in range(5):
        rows["acc_mean"] = random.permutation(rows["acc_mean"])
        assert label_free(plan, rows) == chosen
    assert label_free(plan, rows.drop(columns=["acc_mean", "nmi_mean"])) == chosen


def test_nothing_is_chosen_before_the_grid_is_finished():
    plan = plan_of(NDFS, MCFS)
    rows = finished(plan, lambda c, k: (0.5, 0.5))
    assert len(label_free(plan, rows)) == 2
    late = rows[~((rows["method"] == "MCFS") & (rows["n_features"] == 8))]
    assert {cell.method for cell in plan.dependent_cells(late, WINE)} == {"NDFS"}
    assert plan.dependent_cells(rows.iloc[:0], WINE) == []


@pytest.mark.parametrize("status", ["failed", "timeout"])
def test_cells_without_a_result_count_as_finished_and_are_not_chosen(status):
    plan = plan_of(NDFS)
    rows = finished(plan, lambda c, k: (c.params["beta"], c.params["beta"]))
    rows.loc[rows["params"] == json.dumps({"beta": 2.0}), ["status", "criterion"]] = status, np.nan
    assert {cell.params["beta"] for cell in plan.dependent_cells(rows, WINE)} == {1.0}
    rows["status"] = status
    assert plan.dependent_cells(rows, WINE) == []


def test_every_seed_chooses_for_itself():
    plan = plan_of(NDFS, seeds=(0, 1))
    rows = finished(plan, lambda c, k: (float(c.params["beta"] == 1.0 + c.seed), 0.5))
    assert [(cell.seed, cell.params["beta"]) for cell in label_free(plan, rows)] == [
        (0, 1.0),
        (1, 2.0),
    ]


def test_choices_are_made_among_rows_of_one_file():
    plan = plan_of(NDFS)
    old, new = (
        finished(
            plan, lambda c, k, best=best: (float(c.params["beta"] == best), 0.5), checksum=checksum
        )
        for best, checksum in ((1.0, "old"), (2.0, "new"))
    )

    def chosen(rows, checksum):
        cells = plan.dependent_cells(rows, WINE, {"wine": checksum})
        return [(c.params["beta"], c.data_checksum) for c in cells]

    both = pd.concat([new, old])
    assert chosen(both, "new") == [(2.0, "new")]
    assert chosen(both, "old") == [(1.0, "old")]
    assert chosen(old, "new") == []
    # The new grid is not finished: that of the old file does not stand in for it.
    assert chosen(pd.concat([new.iloc[:1], old]), "new") == []
