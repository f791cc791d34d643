"""The benchmarks of large tables run, and their committed pages are what they printed."""

import csv
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"


def run_script(name, *arguments):
    environment = {key: value for key, value in os.environ.items() if key != "FEATSIEVE_DATA"}
    command = [sys.executable, str(ROOT / "benchmarks" / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def read(name):
    with (RESULTS / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def lines_of(name):
    return (RESULTS / f"{name}.md").read_text().splitlines()


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_scaling_measures_every_size_in_its_own_process(tmp_path):
    output = tmp_path / "scaling"
    arguments = ("--series", "mnist", "features", "--largest", "4000", "--output", str(output))
    done = run_script("scaling.py", *arguments)
    assert done.returncode == 0, done.stderr
    assert "MNIST is left out" in done.stdout
    with (tmp_path / "scaling.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["size"] for row in rows] == ["1000", "4000"]
    assert all(float(row["seconds"]) > 0 for row in rows)
    assert all(float(row["peak_mib"]) > float(row["table_mib"]) for row in rows)


@pytest.mark.parametrize("name", ["sparse_forms.py", "landmarks.py"])
def test_scripts_that_need_data_say_so(name):
    done = run_script(name)
    assert done.returncode != 0
    assert "FEATSIEVE_DATA" in done.stderr


@pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")
def test_the_script_for_devices_runs_on_the_processor_too(tmp_path):
    arguments = ["--device", "cpu", "--rows", "21000", "--columns", "60", "--no-tests"]
    output = tmp_path / "gpu"
    done = run_script("gpu.py", *arguments, "--repeat", "1", "--output", str(output))
    assert done.returncode == 0, done.stderr
    with (tmp_path / "gpu.csv").open() as file:
        found = {row["what"]: float(row["value"]) for row in csv.DictReader(file)}
    assert found["informative columns found"] == 50
    assert found["features on which both agree, share"] == 1.0
    assert found["whole fit, seconds"] > 0


def test_the_page_on_scaling_shows_the_rows_of_its_table():
    rows, page = read("scaling"), lines_of("scaling")
    for row in rows:
        cells = (
            f"| {int(row['size']):,} | {row['seconds']} | {row['table_mib']} | {row['peak_mib']}"
        )
        assert any(cells in line for line in page), cells
    assert {row["series"] for row in rows} == {"mnist", "samples", "features"}


def test_growth_is_as_the_page_says_it_is():
    rows, page = read("scaling"), lines_of("scaling")
    units = {"mnist": "images", "samples": "rows", "features": "columns"}
    for series, unit in units.items():
        own = [row for row in rows if row["series"] == series]
        sizes = np.log([float(row["size"]) for row in own])
        for column in ("seconds", "peak_mib"):
            slope = np.polyfit(sizes, np.log([float(row[column]) for row in own]), 1)[0]
            assert slope <= 1.15, (series, column)
            assert any(line.startswith(f"| {unit}") and f" {slope:.2f} |" in line for line in page)
    large = [row for row in rows if float(row["table_mib"]) >= 100.0]
    assert "1000000" in {row["size"] for row in large}
    assert all(float(row["peak_over_table"]) <= 2.5 for row in large)
    (mnist,) = [row for row in rows if (row["series"], row["size"]) == ("mnist", "70000")]
    assert float(mnist["seconds"]) < 60.0
    assert float(mnist["peak_mib"]) - float(mnist["table_mib"]) < 1536.0


@pytest.mark.parametrize("name", ["sparse", "gpu"])
def test_the_other_pages_show_their_tables(name):
    page = "\n".join(lines_of(name))
    for row in read(name):
        first, second = list(row.values())[:2]
        assert f"| {first} | {float(second):.4g}" in page
