"""From the command line to a page in a browser, as a user would do it."""

import os
import re
import subprocess
import sys

import pytest

from tests.report.browsing import show

pytestmark = pytest.mark.slow


def featsieve(*arguments, cwd):
    command = [sys.executable, "-m", "featsieve", *map(str, arguments)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("smoke")
    for arguments in (
        ("bench", "run", "smoke", "--out", "results", "--jobs", "2"),
        ("bench", "report", "results", "-o", "report.html", "--markdown", "report.md"),
    ):
        ended = featsieve(*arguments, cwd=folder)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert "Traceback" not in ended.stderr
    return folder


def test_the_page_of_the_smoke_plan_opens(browser, folder):
    show(browser, folder / "report.html", scheme="light", width=1280)
    assert browser.title == "Smoke test"
    assert browser.get_log("browser") == []
    anchors = browser.execute_script(
        "return [...document.querySelectorAll('main > section')].map(s => s.id)"
    )
    assert anchors == [
        "overview", "default", "label-free", "oracle", "survival", "curves", "time",
        "planted", "origin",
    ]  # fmt: skip
    images = browser.execute_script("return [...document.images].map(i => i.naturalWidth)")
    assert len(images) > 10
    assert all(width > 0 for width in images)


def test_the_page_says_that_everything_was_run(folder):
    text = (folder / "report.md").read_text(encoding="utf-8")
    done, planned = map(int, re.search(r"(\d+) of (\d+) cells done", text).groups())
    assert done == planned > 50
    assert "unfinished" not in text
    assert "Every cell of this section ran alone." in text
    html = (folder / "report.html").read_text(encoding="utf-8")
    assert str(folder) not in html  # no paths of this machine


def test_the_page_of_a_part_says_that_it_is_one(folder, tmp_path):
    import pandas as pd

    from featsieve.bench.store import Store
    from featsieve.report import write_bench_report

    store = Store(folder / "results")
    rows = store.read()
    planned = store.about()["cells"]
    # as if the run had been killed: half of the grid, and nothing that follows from it
    grid = rows[rows["experiment"] == "grid"]
    some = grid["cell"].drop_duplicates().iloc[::2]
    part = pd.concat([rows[rows["experiment"] == "default"], grid[grid["cell"].isin(some)]])
    write_bench_report(part, tmp_path / "part.html", markdown=tmp_path / "part.md", planned=planned)
    text = (tmp_path / "part.md").read_text(encoding="utf-8")
    assert "unfinished: do not quote" in text
