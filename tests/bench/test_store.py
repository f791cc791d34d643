"""Lines that are there whole or not at all, and the plan they belong to."""

import gzip
import json
import os

import pytest

from featsieve.bench.cells import SCHEMA, Cell, blank_row
from featsieve.bench.plan import Method, Plan
from featsieve.bench.store import Store

PLAN = Plan("p", "P", ("iris", "wine"), ("grid",), (Method("N", "NDFS"),), (2,))
CELL = Cell("grid", "iris", "N", "NDFS", params={"alpha": 0.5}, counts=(2,))
OTHER = Cell("default", "wine", "N", "NDFS", control=True)


def row_of(cell=CELL, **more):
    return blank_row(cell) | {"status": "done", "n_features": 2, "acc_runs": [0.5, 0.25]} | more


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "out")
    with store.writing():
        store.write([row_of(), row_of(n_features=4)])
        store.write([row_of(OTHER, status="failed", reason="why")])
        store.adopt(PLAN, [CELL, OTHER])
    return store


def test_what_is_written_is_read_in_the_one_order(store):
    rows = store.read()
    assert list(rows.columns) == list(SCHEMA)
    assert rows["experiment"].tolist() == ["default", "grid", "grid"]
    assert rows["n_features"].tolist() == [2, 2, 4]
    assert rows.loc[1, "acc_runs"] == [0.5, 0.25]
    assert rows["acc_mean"].isna().all()
    assert set(rows["plan"]) == {"p"}
    assert store.statuses() == {CELL.id: "done", OTHER.id: "failed"}
    assert sorted(os.listdir(store.folder)) == ["cells.jsonl", "plan.json"]


def test_cells_of_other_plans_stay_and_are_not_read(store):
    store.adopt(PLAN, [CELL])
    assert set(store.read()["cell"]) == {CELL.id}
    assert OTHER.id in store.statuses()
    # what is a control is as the present plan has it
    store.adopt(PLAN, [Cell(**{**vars(CELL), "control": True})])
    assert store.read()["control"].all()


def test_of_a_cell_that_was_run_again_the_last_result_counts(store):
    with store.writing():
        store.write([row_of(OTHER)])
    assert store.statuses() == {CELL.id: "done", OTHER.id: "done"}
    assert len(store.read()) == 3


def test_a_line_without_an_end_is_not_read_and_the_next_run_removes_it(store):
    whole = store.path.read_bytes()
    store.path.write_bytes(whole[:-9])
    assert set(store.statuses()) == {CELL.id}
    with store.writing():
        assert store.path.read_bytes() == whole[: whole.index(b"\n") + 1]
        store.write([row_of(OTHER)])
    assert store.statuses() == {CELL.id: "done", OTHER.id: "done"}


def test_what_a_killed_run_has_left_is_removed_by_the_next(store):
    (store.folder / ".plan.json.0123.tmp").write_text("half")
    with store.writing():
        pass
    assert sorted(os.listdir(store.folder)) == ["cells.jsonl", "plan.json"]


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b"[1]", b"1", b"\xff", b"[" * 100_000])
def test_a_damaged_line_is_told(store, line):
    store.path.write_bytes(line + b"\n" + store.path.read_bytes())
    with pytest.raises(ValueError, match=r"cells.jsonl is damaged: remove its line 1 and run"):
        store.read()


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


def test_what_the_same_code_has_computed_elsewhere_is_taken(store, tmp_path):
    timed = Cell("time", "iris", "N", "NDFS", counts=(2,))
    there = Store(tmp_path / "there")
    with there.writing():
        there.write([row_of(), row_of(n_features=4)])
        there.write([row_of(OTHER)])  # which failed here
        there.write([row_of(timed, machine="another")])
        old = Cell("default", "iris", "N", "NDFS")
        there.write([row_of(old, versions='{"source": "old"}')])
        new = Cell("default", "digits", "N", "NDFS")
        there.write([row_of(new, acc_mean=0.125)])
    with store.writing():  # of another state of the code: replaced
        store.write([row_of(new, versions='{"source": "old"}')])
    assert store.take(there.folder) == 2
    assert store.statuses() == {CELL.id: "done", OTHER.id: "done", new.id: "done"}
    assert store.rows_of([new.id])["acc_mean"].tolist() == [0.125]
    assert store.take(there.path) == 0
    packed = tmp_path / "cells.jsonl.gz"
    packed.write_bytes(gzip.compress(there.path.read_bytes()))
    with Store(tmp_path / "third").writing():
        assert Store(tmp_path / "third").take(packed) == 3
    with pytest.raises(FileNotFoundError, match=r"There is no .*: name a folder that `featsieve"):
        store.take(tmp_path / "nowhere")


def test_what_was_not_done_elsewhere_is_left_to_be_run_here(tmp_path):
    here, there = Store(tmp_path / "here"), Store(tmp_path / "there")
    with there.writing():
        there.write([row_of(), row_of(n_features=4, status="timeout")])
        there.write([row_of(OTHER, status="failed", reason="why")])
    with here.writing():
        assert here.take(there.folder) == 0
    assert here.statuses() == {}


def test_versions_of_other_packages_are_not_compared(store, tmp_path):
    there, new = Store(tmp_path / "there"), Cell("default", "digits", "N", "NDFS")
    about = json.loads(row_of()["versions"]) | {"numpy": "0"}
    with there.writing():
        there.write([row_of(new, versions=json.dumps(about))])
    assert store.take(there.folder) == 1
    assert json.loads(store.cells()[new.id][0]["versions"])["numpy"] == "0"


@pytest.mark.parametrize("versions", ["x", "[]", "null", 5])
def test_damaged_versions_are_told(store, tmp_path, versions):
    there = Store(tmp_path / "there")
    with there.writing():
        there.write([row_of()])
        there.write([row_of(OTHER, versions=versions)])
    with pytest.raises(ValueError, match=r"cells.jsonl is damaged: remove its line 2 and run"):
        store.take(there.folder)


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: whole[:-9],
        lambda whole: whole[:12] + b"\xff" * 9 + whole[21:],
        lambda whole: b"no archive",
    ],
)
def test_a_damaged_archive_is_told(store, tmp_path, damage):
    packed = tmp_path / "cells.jsonl.gz"
    packed.write_bytes(damage(gzip.compress(store.path.read_bytes())))
    with pytest.raises(ValueError, match=r"cells.jsonl.gz is damaged: it cannot be unpacked"):
        store.take(packed)
