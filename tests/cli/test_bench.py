"""The commands of the benchmarks: what they write, say and return."""

import csv
import json

import pytest

from featsieve.bench import plan_names
from featsieve.bench import run as run_module
from featsieve.cli.bench import PLANS
from tests.bench.test_run import TINY, run_here, write_plan

ONE = TINY.replace('"iris", "planted_small"', '"iris"')


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """Run cells without worker processes, which tests/bench and the smoke page have."""
    monkeypatch.setattr(run_module, "run_cells", run_here)


@pytest.mark.slow
def test_from_plan_to_report_and_table(call, tmp_path):
    out = tmp_path / "out"
    code, told, shown = call("bench", "run", write_plan(tmp_path, ONE), "--out", out)
    assert code == 0
    assert "cells (100 %)" in shown
    assert f"featsieve bench report {out}" in told

    text = tmp_path / "new" / "report.md"
    code, told, _ = call("bench", "report", out, "-o", text)
    assert code == 0
    assert told == f"Wrote {text}\n"
    assert "Tiny" in text.read_text(encoding="utf-8")
    assert "unfinished" not in text.read_text(encoding="utf-8")

    table = tmp_path / "rows.csv"
    _, told, _ = call("bench", "export", out, "-o", table)
    with table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert told == f"Wrote {table}: {len(rows)} rows\n"
    assert {row["method"] for row in rows} == {"MaxVariance", "NDFS"}

    page = tmp_path / "page.md"  # the other command for it
    assert call("report", out, "-o", page) == (0, f"Wrote {page}\n", "")
    assert "Tiny" in page.read_text(encoding="utf-8")

    cells = out / "cells.jsonl"
    cells.write_bytes(b"".join(cells.read_bytes().splitlines(keepends=True)[:-1]))
    call("bench", "report", out, "-o", text, "--force")
    assert "unfinished" in text.read_text(encoding="utf-8")


def test_the_paper_without_its_data_says_where_to_get_them(call, tmp_path, monkeypatch):
    monkeypatch.setenv("FEATSIEVE_CACHE", str(tmp_path / "cache"))
    code, _, told = call("bench", "run", "paper", "--out", tmp_path / "out", "--data", tmp_path)
    assert code == 2
    *lines, last = told.splitlines()
    assert len(lines) > 1
    assert all(" is left out: " in line and "github.com" in line for line in lines)
    assert "No data set could be loaded (" in last
    assert "github.com" not in last
    assert not (tmp_path / "out").exists()


def test_the_plans_are_named(call):
    assert PLANS.split(", ") == plan_names()
    assert PLANS in " ".join(call("bench", "run", "--help")[1].replace("│", "").split())


def test_data_sets_that_are_away_are_told_and_the_rest_is_run(call, tmp_path):
    plan = write_plan(tmp_path, ONE.replace('"iris"', '"iris", "gone.npz"'))
    arguments = ["bench", "run", plan, "--out", tmp_path / "out", "--data", tmp_path]
    code, told, shown = call(*arguments)
    assert code == 0
    assert "gone.npz is left out: " in shown  # at the start
    assert "Left out: gone.npz (" in told  # and at the end
    assert call("bench", "report", tmp_path / "out")[0] == 0
    assert "- Left out: gone.npz (" in (tmp_path / "out" / "report.md").read_text()
    assert call(*arguments, "--strict")[0] == 1


def test_a_table_with_fewer_columns_than_any_count_is_left_out(call, tmp_path):
    text = ONE.replace('"default"', '"default", "grid"').replace("counts", "counts = [9]\n# ")
    plan = write_plan(tmp_path, text)
    code, _, shown = call("bench", "run", plan, "--out", tmp_path / "out")
    assert code != 0
    assert "its 4 columns are fewer than any" in shown
    assert "set counts to smaller ones than 9" in shown
    assert "FEATSIEVE_DATA" not in shown  # no file is missing


def test_cells_without_a_result_are_listed(call, tmp_path):
    broken = '\n[[methods]]\nname = "Broken"\nselector = "NDFS"\nparams = { alpha = -1.0 }\n'
    plan = write_plan(tmp_path, ONE + broken)
    code, told, shown = call("bench", "run", plan, "--out", tmp_path / "out")
    assert code == 0
    assert "failed: Broken on iris" in told
    assert "without a result" in shown
    code, told, _ = call("bench", "run", plan, "--out", tmp_path / "out", "--retry")
    assert "failed: Broken on iris" in told
    code, told, _ = call("bench", "run", plan, "--out", tmp_path / "out")
    assert "0 of them computed now" in told
    assert call("bench", "run", plan, "--out", tmp_path / "out", "--strict")[0] == 1
    fine = write_plan(tmp_path, ONE)
    assert call("bench", "run", fine, "--out", tmp_path / "out", "--strict")[0] == 0


def test_for_machines(call, tmp_path):
    code, shown, _ = call("bench", "run", write_plan(tmp_path, ONE), "--out", tmp_path, "--json")
    summary = json.loads(shown)
    assert code == 0
    assert summary["total"] == summary["computed"] == summary["statuses"]["done"] > 0
    assert summary["flawless"] is True


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run", "nothing"], "There is no plan 'nothing'"),
        (["run", "smoke", "--jobs", "0"], "jobs must be"),
        (["run", "smoke", "--data", "nowhere"], "'nowhere' is not a folder"),
        (["run", "smoke", "--out", "/dev/null/out"], "Results cannot be written to /dev/null/out"),
        (["report", "nowhere"], "nowhere holds no results"),
        (["export", "nowhere", "-o", "rows.csv"], "nowhere holds no results"),
    ],
)
def test_a_mistake_ends_in_one_sentence(call, arguments, sentence):
    code, _, told = call("bench", *arguments)
    assert code == 2
    assert sentence in told
    assert told.startswith("featsieve: ")
    assert len(told.splitlines()) == 1
