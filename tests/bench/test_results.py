"""The tidy table: what is in it, and that files give it back."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from featsieve.bench import load_results
from featsieve.bench.cells import Cell, blank_row
from featsieve.bench.plan import Method, Plan
from featsieve.bench.results import COLUMNS, KEYS, METRICS, export_results
from featsieve.bench.store import Store

ROOT = Path(__file__).parents[2]
PLAN = Plan("p", "P", ("iris", "wine"), ("grid",), (Method("N", "NDFS"),), (2,))
CELL = Cell("grid", "iris", "N", "NDFS", params={"alpha": 0.5}, counts=(2, 4))
OTHER = Cell("default", "wine", "N", "NDFS")


@pytest.fixture
def folder(tmp_path):
    done = blank_row(CELL) | {"status": "done", "acc_mean": 0.5, "acc_std": 0.1, "n_iter": 3}
    store = Store(tmp_path / "out")
    with store.writing():
        store.write([done | {"n_features": k, "redundancy": 0.25} for k in (2, 4)])
        store.write([blank_row(OTHER) | {"status": "failed", "reason": "why"}])
        store.adopt(PLAN, [CELL, OTHER])
    return store.folder


def test_a_row_for_every_score_and_one_for_a_failure(folder):
    rows = load_results(folder)
    assert tuple(rows.columns) == COLUMNS
    assert not rows.duplicated([*KEYS, "metric"]).any()
    failed, *done = rows.to_dict("records")
    assert (failed["metric"], failed["status"], failed["reason"]) == ("", "failed", "why")
    found = {(row["n_features"], row["metric"]): (row["value"], row["std"]) for row in done}
    assert len(found) == len(done) == 2 * 3
    assert found[4, "acc_mean"] == (0.5, 0.1)
    assert found[2, "n_iter"][0] == 3
    assert pd.isna(found[2, "redundancy"][1])
    assert json.loads(done[0]["params"]) == {"alpha": 0.5}
    assert done[0]["source"] == json.loads(blank_row(CELL)["versions"])["source"]


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_a_file_gives_back_the_same_table(folder, tmp_path, name):
    assert export_results(folder, tmp_path / name) == 7
    pd.testing.assert_frame_equal(load_results(tmp_path / name), load_results(folder))


def test_the_committed_rows_can_be_read():
    rows = load_results(ROOT / "docs" / "results" / "paper.parquet")
    assert rows["dataset"].nunique() == 8
    chosen = (rows["dataset"] == "ORL") & (rows["method"] == "AUFS")
    chosen &= (rows["experiment"] == "default") & (rows["metric"] == "acc_mean")
    found = rows.loc[chosen, ["value", "std"]].to_numpy()
    np.testing.assert_allclose(found, [[0.56525, 0.0421546]], rtol=1e-5)


def test_other_files_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    with pytest.raises(ValueError, match=r"a.csv is no table of results: write one with"):
        load_results(tmp_path / "a.csv")
    with pytest.raises(FileNotFoundError, match="Name a folder that `featsieve bench run` wrote"):
        load_results(tmp_path / "b.csv")


def test_the_schema_is_documented():
    page = (ROOT / "docs" / "benchmark.md").read_text(encoding="utf-8")
    table = page[page.index("## The table of results") :]
    missing = [name for name in (*COLUMNS, *METRICS) if f"`{name}`" not in table]
    assert missing == []
