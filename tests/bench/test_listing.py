"""What a folder belongs to, and its results as a plain table."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from featsieve.bench.cells import SCHEMA
from featsieve.bench.listing import csv_text, planned_cells, read_listing, write_listing
from tests.bench.test_store import CELL, row_of

ABOUT = {"plan": "tiny", "title": "Tiny", "resolved": "{}"}


def test_the_cells_of_a_plan_are_listed_with_what_they_are(tmp_path):
    write_listing(tmp_path / "new", [replace(CELL, inert={"beta": [1, 2]})], **ABOUT)
    about = read_listing(tmp_path / "new")
    assert {key: about[key] for key in ABOUT} == ABOUT
    assert planned_cells(about) == {
        CELL.id: {
            "experiment": "grid",
            "dataset": "iris",
            "method": "NDFS",
            "stands_for": 1,
            "inert": '{"beta": [1, 2]}',
            "control": False,
        }
    }


def test_cells_that_are_not_known_yet_count_as_planned(tmp_path):
    write_listing(tmp_path, [CELL], whole=False, **ABOUT)
    assert len(planned_cells(read_listing(tmp_path))) == 2


def test_cells_of_data_sets_that_are_away_stay_for_the_same_plan_only(tmp_path):
    away = replace(CELL, dataset="away")
    write_listing(tmp_path, [CELL, away], **ABOUT)
    write_listing(tmp_path, [CELL], keep=["away"], **ABOUT)
    assert set(read_listing(tmp_path)["cells"]) == {CELL.id, away.id}
    write_listing(tmp_path, [CELL], keep=["away"], **(ABOUT | {"resolved": '{"counts": [2]}'}))
    assert set(read_listing(tmp_path)["cells"]) == {CELL.id}


def test_a_folder_without_results_or_of_another_version_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="featsieve bench run PLAN --out"):
        read_listing(tmp_path)
    (tmp_path / "plan.json").write_text(json.dumps({"plan": "tiny", "cells": {}}))
    with pytest.raises(ValueError, match="another version of featsieve"):
        read_listing(tmp_path)
    write_listing(tmp_path, [CELL], **ABOUT)  # and is taken over
    assert set(read_listing(tmp_path)["cells"]) == {CELL.id}


def test_the_table_holds_single_runs_so_that_means_can_be_computed_again():
    runs = np.random.default_rng(0).uniform(size=10)
    rows = pd.DataFrame(
        [
            row_of(acc_mean=runs.mean(), acc_runs=runs, reason='a "b", c', fit_seconds=1234.56789),
            row_of(acc_runs=[]),
        ]
    )
    text = csv_text(rows)
    assert text == csv_text(rows.copy())
    first, second = csv.DictReader(io.StringIO(text))
    lists = {name for name, kind in SCHEMA.items() if kind.startswith("list")}
    assert set(SCHEMA) - set(first) == lists - {"acc_runs", "nmi_runs"}
    found = [float(value) for value in first["acc_runs"].split(" ")]
    np.testing.assert_allclose(found, runs, rtol=0.0, atol=0.5e-4)
    assert float(first["acc_mean"]) == pytest.approx(np.mean(found), abs=1e-4)
    assert first["fit_seconds"] == "1234.57"
    assert first["nmi_mean"] == ""  # NaN
    assert first["reason"] == 'a "b", c'
    assert second["acc_runs"] == ""
