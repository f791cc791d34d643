import json
import math

from featsieve.bench.cells import SCHEMA, SCHEMA_VERSION, Cell
from featsieve.bench.rows import blank_row, failed_rows

CELL = Cell(
    "grid",
    "iris",
    "N",
    "NDFS",
    params={"beta": 2.0},
    seed=3,
    stands_for=2,
    inert={"alpha": [0.1, 1.0]},
    data_checksum="abc",
    control=True,
)


def test_a_blank_row_has_every_column_and_knows_its_cell():
    row = blank_row(CELL, plan="mine")
    assert list(row) == list(SCHEMA)
    assert row["cell"] == CELL.id
    assert json.loads(row["params"]) == {"beta": 2.0}
    assert (row["plan"], row["seed"], row["stands_for"], row["control"]) == ("mine", 3, 2, True)
    assert row["schema_version"] == SCHEMA_VERSION
    assert (row["data_checksum"], row["jobs"]) == ("abc", 1)
    assert json.loads(row["inert"]) == {"alpha": [0.1, 1.0]}
    assert row["machine"]
    assert "numpy" in json.loads(row["versions"])
    assert math.isnan(row["acc_mean"])
    assert row["n_features"] == 0


def test_lists_of_rows_are_not_the_same_list():
    assert blank_row(CELL)["objective"] is not blank_row(CELL)["objective"]


def test_a_failed_cell_has_one_row():
    (row,) = failed_rows(CELL, "why", status="timeout", jobs=3, n_samples=150)
    assert row["jobs"] == 3
    assert (row["status"], row["reason"], row["n_samples"]) == ("timeout", "why", 150)
    assert list(row) == list(SCHEMA)
