"""What makes two cells the same work."""

from dataclasses import fields, replace

from featsieve.bench.cells import Cell

CELL = Cell("grid", "iris", "N", "NDFS", params={"alpha": 0.5, "beta": 2.0}, counts=(2, 3))
OTHER = {
    "experiment": "time",
    "dataset": "wine",
    "method": "M",
    "selector": "MCFS",
    "params": {"alpha": 0.25, "beta": 2.0},
    "seed": 1,
    "counts": (2,),
    "kmeans_seeds": 3,
    "data_checksum": "abc",
    "code": "def",
}
# What is known about the work, or asked of the machine, and not part of it.
ASIDE = {"control": True, "seconds": 1.0}


def test_every_field_is_one_or_the_other():
    assert {field.name for field in fields(Cell)} == {*OTHER, *ASIDE}


def test_other_work_has_another_id_and_the_same_work_the_same():
    for name, value in OTHER.items():
        assert replace(CELL, **{name: value}).id != CELL.id, name
    for name, value in ASIDE.items():
        assert replace(CELL, **{name: value}).id == CELL.id, name
    assert replace(CELL, params={"beta": 2.0, "alpha": 0.5}).id == CELL.id
