"""Parts on disk: whole or not at all, the same rows back, nothing foreign counted."""

import csv
import math
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.bench.cells import SCHEMA, SCHEMA_VERSION, Cell
from featsieve.bench.listing import write_listing
from featsieve.bench.store import Store
from featsieve.io.processes import Process, this_machine
from tests.io.test_temporary import elsewhere, left_by_the_dead

CELL = Cell("grid", "iris", "NDFS", "NDFS", {"alpha": 0.1}, counts=(2, 3))

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
WHOLE = st.integers(-(2**63), 2**63 - 1)
REAL = st.floats(allow_nan=True, allow_infinity=True)
VALUES = {
    "string": TEXT,
    "int64": WHOLE,
    "float64": REAL,
    "bool": st.booleans(),
    "list<float64>": st.lists(REAL, max_size=4),
    "list<int64>": st.lists(WHOLE, max_size=4),
}
EMPTY = {
    "string": "",
    "int64": 0,
    "float64": math.nan,
    "bool": False,
    "list<float64>": [],
    "list<int64>": [],
}


def row_of(cell=CELL, /, **values):
    row = {name: EMPTY[kind] for name, kind in SCHEMA.items()}
    row |= {
        "cell": cell.id,
        "experiment": cell.experiment,
        "dataset": cell.dataset,
        "method": cell.method,
        "params": cell.params_json,
        "status": "done",
    }
    return row | values


def adopted(folder, *cells):
    write_listing(folder, cells, plan="tiny", title="Tiny", resolved="{}")
    return Store(folder)


@st.composite
def rows(draw):
    fixed = {"cell", "plan", "experiment", "status", "stands_for", "inert", "control"}
    given_ones = {name: draw(VALUES[kind]) for name, kind in SCHEMA.items() if name not in fixed}
    return row_of(**given_ones)


@settings(max_examples=30)
@given(st.lists(rows(), min_size=1, max_size=3))
def test_rows_come_back_exactly(tmp_path_factory, written):
    store = adopted(tmp_path_factory.mktemp("store"), CELL)
    store.write(CELL, written)
    read = store.read()
    assert list(read.columns) == list(SCHEMA)
    expected = [row | {"plan": "tiny", "stands_for": 1, "inert": "{}"} for row in written]
    found = [
        {name: list(value) if SCHEMA[name].startswith("list") else value for name, value in row}
        for row in (zip(SCHEMA, values, strict=True) for values in read.itertuples(index=False))
    ]
    # repr tells NaN, -0.0 and infinities apart and gives every digit
    assert sorted(map(_exact, found)) == sorted(map(_exact, expected))


def _exact(row):
    plain = {
        name: [_plain(entry) for entry in value] if isinstance(value, list) else _plain(value)
        for name, value in row.items()
    }
    return repr(plain)


def _plain(value):
    return value.item() if hasattr(value, "item") else value


def test_a_part_has_the_types_of_the_schema(tmp_path):
    store = Store(tmp_path)
    store.write(CELL, [row_of()])
    schema = pq.read_schema(tmp_path / "cells" / f"{CELL.id}.parquet")
    assert schema.names == list(SCHEMA)
    for name, kind in SCHEMA.items():
        expected = {
            "string": pa.string(),
            "int64": pa.int64(),
            "float64": pa.float64(),
            "bool": pa.bool_(),
            "list<float64>": pa.list_(pa.float64()),
            "list<int64>": pa.list_(pa.int64()),
        }[kind]
        assert schema.field(name).type == expected


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no rows"),
        ([row_of(extra=1)], "unknown: .'extra'"),
        ([{name: value for name, value in row_of().items() if name != "seed"}], "missing: .'seed'"),
        ([row_of(seed=None)], "No value may be None.*seed"),
        ([row_of(seed=1.5)], "'seed' must be int64"),
        ([row_of(seed=True)], "'seed' must be int64"),
        ([row_of(control=1)], "'control' must be bool"),
        ([row_of(seed=2**63)], "'seed' must be int64"),
        ([row_of(classes=[0.5])], "'classes' must be list<int64>"),
        ([row_of(acc_runs=["a"])], "'acc_runs' must be list<float64>"),
        ([row_of(reason=3)], "'reason' must be string"),
        ([row_of(cell="other")], "cannot go into the part"),
        ([row_of(status="fine")], "status must be one of"),
    ],
)
def test_rows_that_do_not_fit_are_refused_and_leave_nothing(tmp_path, rows, message):
    store = Store(tmp_path)
    with pytest.raises(ValueError, match=message):
        store.write(CELL, rows)
    assert list(tmp_path.rglob("*.*")) == []


def test_the_status_of_a_cell_is_the_first_that_is_not_done(tmp_path):
    store = Store(tmp_path)
    store.write(CELL, [row_of(), row_of(status="timeout", n_features=3)])
    assert store.status(CELL.id) == "timeout"
    assert store.statuses() == {CELL.id: "timeout"}
    assert store.status("nothing") is None


def test_damaged_and_foreign_files_are_named_and_neither_counted_nor_removed(tmp_path):
    store = adopted(tmp_path, CELL)
    store.write(CELL, [row_of()])
    parts = tmp_path / "cells"
    whole = (parts / f"{CELL.id}.parquet").read_bytes()
    (parts / "truncated.parquet").write_bytes(whole[:-100])
    (parts / "empty.parquet").write_bytes(b"")
    (parts / "copy.parquet").write_bytes(whole)
    (parts / "notes.txt").write_text("mine")
    (parts / "folder.parquet").mkdir()
    pq.write_table(pa.table({"x": [1]}), parts / "foreign.parquet")
    older = pq.read_table(parts / f"{CELL.id}.parquet")
    older = older.replace_schema_metadata({"featsieve": f"0 older {'done'}"})
    pq.write_table(older, parts / "older.parquet")

    assert store.finished() == {CELL.id}
    wrong = store.unreadable()
    assert set(wrong) == {
        "truncated.parquet",
        "empty.parquet",
        "copy.parquet",
        "notes.txt",
        "folder.parquet",
        "foreign.parquet",
        "older.parquet",
    }
    assert "damaged" in wrong["truncated.parquet"]
    assert "another cell" in wrong["copy.parquet"]
    assert "not written by featsieve" in wrong["foreign.parquet"]
    assert f"version 0 of the columns, not {SCHEMA_VERSION}" in wrong["older.parquet"]
    assert len(store.read()) == 1
    assert all((parts / name).exists() for name in wrong)


def test_a_part_damaged_inside_is_named_when_it_is_read(tmp_path):
    store = adopted(tmp_path, CELL)
    store.write(CELL, [row_of()])
    path = tmp_path / "cells" / f"{CELL.id}.parquet"
    content = path.read_bytes()
    path.write_bytes(content[:4] + b"\xff" * 200 + content[204:])
    with pytest.raises(ValueError, match=f"{CELL.id}.parquet is damaged: remove it"):
        store.read()


def test_only_cells_of_the_present_plan_are_read_and_as_it_has_them(tmp_path):
    other = replace(CELL, params={"alpha": 10.0})
    store = adopted(tmp_path, CELL, other)
    store.write(CELL, [row_of(plan="earlier", stands_for=9)])
    store.write(other, [row_of(other)])
    assert set(store.read()["cell"]) == {CELL.id, other.id}

    seven = replace(CELL, stands_for=7, inert={"beta": [1, 2]}, control=True)
    write_listing(tmp_path, [seven], plan="new", title="N", resolved="new")
    read = store.read()
    assert read[["cell", "plan", "stands_for", "inert", "control"]].values.tolist() == [
        [CELL.id, "new", 7, '{"beta": [1, 2]}', True]
    ]
    assert store.finished() == {CELL.id, other.id}  # nothing is lost
    # a run looks at its own cells, whatever is listed meanwhile, and as they were written
    own = store.rows_of([CELL.id, other.id, "not there"])
    assert set(own["cell"]) == {CELL.id, other.id}
    assert 9 in set(own["stands_for"])


def test_the_order_of_rows_does_not_depend_on_the_order_of_writing(tmp_path):
    cells = [
        replace(CELL, experiment=experiment, dataset=dataset, seed=seed)
        for experiment in ("time", "default", "grid")
        for dataset in ("wine", "iris")
        for seed in (10, 2)
    ]
    frames = []
    for name, order in (("a", cells), ("b", cells[::-1])):
        store = adopted(tmp_path / name, *cells)
        for cell in order:
            counts = [row_of(cell, seed=cell.seed, n_features=count) for count in (10, 2)]
            store.write(cell, counts)
        frames.append(store.read())
    pd.testing.assert_frame_equal(*frames)
    first = frames[0].iloc[:4]
    assert first[["experiment", "dataset", "seed", "n_features"]].values.tolist() == [
        ["default", "iris", 2, 2],
        ["default", "iris", 2, 10],
        ["default", "iris", 10, 2],
        ["default", "iris", 10, 10],
    ]


def test_the_rows_are_exported_as_a_table(tmp_path):
    store = adopted(tmp_path / "results", CELL)
    store.write(CELL, [row_of(acc_runs=[0.5, 1.0])])
    target = tmp_path / "new" / "rows.csv"
    assert store.export_csv(target) == 1
    first = target.read_bytes()
    assert store.export_csv(target) == 1
    assert target.read_bytes() == first
    with target.open(newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert row["acc_runs"] == "0.5000 1.0000"
    assert [path.name for path in target.parent.iterdir()] == ["rows.csv"]


def test_a_part_tells_which_version_of_the_code_computed_it(tmp_path):
    store = Store(tmp_path)
    store.write(CELL, [row_of(versions='{"source": "abc"}')])
    other = replace(CELL, seed=1)
    store.write(other, [row_of(other)])
    assert store.sources() == {CELL.id: "abc", other.id: "unknown"}


def test_a_folder_that_cannot_be_is_refused_with_what_to_do(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"cannot be written to .*file/out \(.+\): name another"):
        Store(tmp_path / "file" / "out").make()
    Store(tmp_path / "out").make()
    assert list((tmp_path / "out" / "cells").iterdir()) == []


def test_a_folder_without_results_says_how_to_get_some(tmp_path):
    with pytest.raises(FileNotFoundError, match="featsieve bench run PLAN --out"):
        Store(tmp_path / "nowhere").read()
    empty = adopted(tmp_path / "empty", CELL).read()
    assert list(empty.columns) == list(SCHEMA)
    assert len(empty) == 0


def test_what_was_begun_is_known_and_only_that_of_dead_processes_is_removed(tmp_path):
    store = Store(tmp_path)
    store.begin(CELL)
    parts = tmp_path / "cells"
    left, theirs = left_by_the_dead(parts / "gone"), elsewhere(parts / "theirs")
    left.touch()
    theirs.touch()
    assert store.begun() == {CELL.id, "gone", "theirs"}
    assert store.deserted() == {"gone"}
    assert store.others(CELL) == set()  # but for this process
    assert store.clean() == [left.name]
    assert store.begun() == {CELL.id, "theirs"}
    theirs.unlink()
    assert store.finished() == set()
    assert store.unreadable() == {}
    store.write(CELL, [row_of()])
    assert os.listdir(parts) == [f"{CELL.id}.parquet"]
    store.begin(CELL)
    store.abandon(CELL)
    assert store.begun() == set()


@pytest.mark.skipif(os.name != "posix", reason="processes of Unix")
def test_a_hidden_folder_that_was_left_is_removed(tmp_path):
    left = left_by_the_dead(tmp_path / "results")
    (left / "deep").mkdir(parents=True)
    assert Store(tmp_path).clean() == [left.name]
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="processes of Unix")
def test_a_cell_of_a_living_process_is_known_until_it_is_killed(tmp_path):
    store = Store(tmp_path)
    with sleeper_at_work(tmp_path, CELL) as sleeper:
        assert {process.number for process in store.others(CELL)} == {sleeper.pid}
        assert store.deserted() == set()
        assert store.clean() == []
    assert store.others(CELL) == set()
    assert store.deserted() == {CELL.id}
    assert len(store.clean()) == 1


def test_nobody_waits_for_other_machines(tmp_path):
    """They may have gone, and nobody would ever know; both write the same part."""
    store = Store(tmp_path)
    store.make()
    theirs = elsewhere(tmp_path / "cells" / CELL.id)
    theirs.touch()
    assert store.others(CELL) == set()
    assert store.deserted() == set()
    store.write(CELL, [row_of()])
    assert theirs.exists()


def test_stores_of_two_threads_take_nothing_from_each_other(tmp_path):
    stores = Store(tmp_path), Store(tmp_path)
    for store in stores:
        store.begin(CELL)
    stores[0].abandon(CELL)
    assert stores[1].begun() == {CELL.id}
    stores[1].write(CELL, [row_of()])
    assert os.listdir(tmp_path / "cells") == [f"{CELL.id}.parquet"]


@contextmanager
def sleeper_at_work(folder, cell):
    """Have another process that works on a cell, as far as one can see."""
    (folder / "cells").mkdir(parents=True, exist_ok=True)
    sleeper = subprocess.Popen(["sleep", "60"])
    process = Process(this_machine(), sleeper.pid, 0)
    (folder / "cells" / f".{cell.id}.{process}-01234567.tmp").touch()
    try:
        yield sleeper
    finally:
        sleeper.kill()
        sleeper.wait()


WRITER = """
import sys
from pathlib import Path
from tests.bench.test_store import write_all
write_all(Path(sys.argv[1]))
"""


def write_all(folder):
    store = Store(folder)
    for number in range(15):
        cell = Cell("grid", "iris", "NDFS", "NDFS", seed=number)
        store.begin(cell)
        store.write(cell, [row_of(cell, seed=number)])
        store.clean()


def test_two_processes_in_one_folder_do_not_harm_each_other(tmp_path):
    root = Path(__file__).parents[2]
    other = subprocess.Popen([sys.executable, "-c", WRITER, tmp_path], cwd=root)
    while other.poll() is None:  # this one writes the same parts for as long as the other lives
        write_all(tmp_path)
    assert other.returncode == 0
    cells = [Cell("grid", "iris", "NDFS", "NDFS", seed=number) for number in range(15)]
    store = adopted(tmp_path, *cells)
    assert store.read()["seed"].tolist() == list(range(15))
    assert store.unreadable() == {}
    assert store.begun() == set()
