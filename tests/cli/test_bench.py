"""The command line as a user meets it: in a process of its own."""

import csv
import subprocess
import sys

import pytest

from featsieve.cli.bench import run_and_report
from tests.bench.test_run import TINY, write_plan

ONE = TINY.replace('"iris", "planted_small"', '"iris"')


def featsieve(*arguments):
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "featsieve", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", ["run", "report", "paper", "export", "list"])
def test_every_command_teaches_by_example(call, name):
    code, shown, _ = call("bench", name, "--help")
    assert code == 0
    assert f"Example: featsieve bench {name}" in shown


def test_the_options_of_a_run_are_explained(call):
    _, shown, _ = call("bench", "run", "--help")
    assert all(option in shown for option in ("--out", "--data", "--jobs", "--retry"))


def test_from_plan_to_report_and_table(call, tmp_path):
    out = tmp_path / "out"
    ran = featsieve("bench", "run", write_plan(tmp_path, ONE), "--out", out)
    assert ran.returncode == 0, ran.stderr
    assert "cells (100 %)" in ran.stderr
    assert f"featsieve bench report {out}" in ran.stdout

    page, text = tmp_path / "new" / "report.html", tmp_path / "new" / "report.md"
    code, told, _ = call("bench", "report", out, "-o", page, "--markdown", text)
    assert code == 0
    assert told == f"Wrote {page} and {text}\n"
    assert "Tiny" in page.read_text(encoding="utf-8")
    assert "Tiny" in text.read_text(encoding="utf-8")

    table = tmp_path / "rows.csv"
    _, told, _ = call("bench", "export", out, "-o", table)
    with table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert told == f"Wrote {table}: {len(rows)} rows\n"
    assert {row["method"] for row in rows} == {"MaxVariance", "NDFS"}


def test_everything_at_once(tmp_path):
    out = tmp_path / "out"
    plan = str(write_plan(tmp_path, ONE))
    run_and_report(plan, out, data=None, jobs=1, retry=False)
    for name in ("report.html", "report.md"):
        assert "Tiny" in (out / name).read_text(encoding="utf-8")
    with (out / "results.csv").open(newline="", encoding="utf-8") as file:
        assert {row["dataset"] for row in csv.DictReader(file)} == {"iris"}


def test_the_paper_without_its_data_says_where_to_get_them(call, tmp_path):
    code, _, told = call("bench", "paper", "--out", tmp_path / "out", "--data", tmp_path)
    assert code == 2
    assert "None of the data sets can be loaded" in told
    assert "github.com" in told


def test_the_plans_are_listed(call):
    code, shown, _ = call("bench", "list")
    assert code == 0
    for name, dataset in (("paper", "breast3"), ("smoke", "iris"), ("open", "colon")):
        assert f"{name}: " in shown
        assert dataset in shown
    assert "that follow from them" in shown


def test_data_sets_that_are_away_are_told_and_the_rest_is_run(call, tmp_path):
    plan = write_plan(tmp_path, TINY.replace('"planted_small"', '"ORL"'))
    (tmp_path / "data").mkdir()
    code, told, shown = call(
        "bench", "run", plan, "--out", tmp_path / "out", "--data", tmp_path / "data"
    )
    assert code == 0
    assert "The data set ORL is left out." in shown  # at the start
    assert "Left out: ORL." in told  # and at the end
    assert "Run the same command again when they are there." in told


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


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run", "nothing"], "There is no plan 'nothing'"),
        (["run", "smoke", "--jobs", "0"], "jobs must be"),
        (["run", "smoke", "--data", "nowhere"], "'nowhere' is not a folder"),
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
