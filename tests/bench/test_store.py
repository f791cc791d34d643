"""Parts that are there whole or not at all, and the plan they belong to."""

import json
import os

import pandas as pd
import pytest

from featsieve.bench.cells import SCHEMA, Cell, blank_row
from featsieve.bench.plan import Method, Plan
from featsieve.bench.store import Store, arrow_schema

PLAN = Plan("p", "P", ("iris", "wine"), ("grid",), (Method("N", "NDFS"),), (2,), resolved="{}")
CELL = Cell("grid", "iris", "N", "NDFS", params={"alpha": 0.5}, counts=(2,))
OTHER = Cell("default", "wine", "N", "NDFS", stands_for=3, inert={"alpha": [1.0]}, control=True)


def row_of(cell=CELL, **more):
    return blank_row(cell) | {"status": "done", "n_features": 2, "acc_runs": [0.5, 0.25]} | more


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "out")
    with store.writing():
        store.write(CELL, [row_of(), row_of(n_features=4)])
        store.write(OTHER, [row_of(OTHER, status="failed", reason="why")])
        store.adopt(PLAN, [CELL, OTHER])
    return store


def test_what_is_written_is_read_in_the_one_order(store):
    rows = store.read()
    assert list(rows.columns) == list(SCHEMA)
    assert rows["experiment"].tolist() == ["default", "grid", "grid"]
    assert rows["n_features"].tolist() == [2, 2, 4]
    assert rows.loc[1, "acc_runs"].tolist() == [0.5, 0.25]
    assert set(rows["plan"]) == {"p"}
    assert store.statuses() == {CELL.id: "done", OTHER.id: "failed"}
    assert sorted(os.listdir(store.folder)) == ["cells", "plan.json"]
    assert arrow_schema().names == list(SCHEMA)


def test_cells_of_other_plans_stay_and_are_not_read(store):
    store.adopt(PLAN, [CELL])
    assert set(store.read()["cell"]) == {CELL.id}
    assert OTHER.id in store.statuses()
    # what a cell stands for is as the present plan has it
    store.adopt(PLAN, [Cell(**{**vars(CELL), "stands_for": 7, "control": True})])
    rows = store.read()
    assert set(rows["stands_for"]) == {7}
    assert rows["control"].all()


def test_data_sets_that_are_away_keep_their_cells_in_the_same_plan(store):
    store.adopt(PLAN, [CELL], keep=["wine"])
    assert set(store.about()["cells"]) == {CELL.id, OTHER.id}
    changed = Plan(**{**vars(PLAN), "resolved": '{"changed": 1}'})
    store.adopt(changed, [CELL], keep=["wine"], whole=False)
    assert set(store.about()["cells"]) == {CELL.id}
    assert not store.about()["whole"]


def test_parts_that_cannot_be_used_are_named_and_replaced(store):
    part = store.parts / f"{CELL.id}.parquet"
    part.write_bytes(part.read_bytes()[:-10])
    pd.DataFrame({"a": [1]}).to_parquet(store.parts / "mine.parquet")
    (store.parts / "notes.txt").write_text("mine")
    good, bad = store.look()
    assert set(good) == {OTHER.id}
    assert set(bad) == {part.name, "mine.parquet"}
    assert "damaged" in bad[part.name]
    assert "not written by" in bad["mine.parquet"]
    store.write(CELL, [row_of()])
    assert set(store.statuses()) == {CELL.id, OTHER.id}


def test_a_damaged_body_is_told(store):
    part = store.parts / f"{CELL.id}.parquet"
    content = bytearray(part.read_bytes())
    content[4:200] = bytes(196)
    part.write_bytes(content)
    with pytest.raises(ValueError, match=rf"{CELL.id}.parquet is damaged: remove it and run"):
        store.read()


def test_what_a_killed_run_has_left_is_removed_by_the_next(store):
    (store.parts / f".{CELL.id}.parquet.tmp").write_text("half")
    (store.parts / ".somebody").mkdir()
    with store.writing():
        pass
    hidden = [path.name for path in store.folder.rglob("*") if path.name.startswith(".")]
    assert hidden == [".somebody"]


def test_without_a_plan_there_are_no_results(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"holds no results. Write some: featsieve bench"):
        Store(tmp_path).read()


@pytest.mark.parametrize(
    ("text", "message"),
    [("[1]", "is damaged"), ("{", "is damaged"), ('{"version": 0}', "another version")],
)
def test_a_plan_that_cannot_be_used_is_told(store, text, message):
    (store.folder / "plan.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        store.read()


def test_the_plain_table(store, tmp_path):
    assert store.export_csv(tmp_path / "rows.csv") == 3
    rows = pd.read_csv(tmp_path / "rows.csv")
    lists = [name for name, kind in SCHEMA.items() if kind.startswith("list")]
    assert set(SCHEMA) - set(rows.columns) == set(lists) - {"acc_runs", "nmi_runs"}
    assert rows["acc_runs"].iloc[1] == "0.5000 0.2500"
    assert json.loads(rows["inert"].iloc[0]) == {"alpha": [1.0]}
