"""The demo, as a user runs it."""

import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow  # 20 seconds of one core


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Return the finished process and its folder."""
    folder = tmp_path_factory.mktemp("demo") / "out"
    command = [sys.executable, "-m", "featsieve", "demo", "-o", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done, folder


def rows_of(page, caption):
    """Return the cells of a table of the Markdown page."""
    lines = page.split(f"**{caption}")[1].splitlines()
    table = [line for line in lines if line.startswith("|")][2:]
    return [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in table]


def test_planted_columns_are_found(demo):
    page = (demo[1] / "report.md").read_text(encoding="utf-8")
    rows = rows_of(page.split("## Nothing given")[0], "Planted columns")
    assert len(rows) == 6
    for _, planted, found, published, *_, before, after in rows:
        assert int(found) >= 0.9 * int(planted)
        assert int(found) >= int(published)
        assert float(after) > float(before)


def test_noise_is_told_from_signal(demo):
    page = (demo[1] / "report.md").read_text(encoding="utf-8")
    *signal, noise = rows_of(page.split("## Digits")[0], "Found by itself")
    assert noise[0] == "noise"
    assert noise[-1].endswith("(nothing there)")
    assert len(signal) == 3
    for row in signal:
        assert row[1] == "4"
        assert 2 <= int(row[2]) <= 8  # clusters within a factor of two
        assert int(row[4]) == int(row[3])  # every column that it took was planted
        assert float(row[-1]) > 0.2


def test_it_prints_short_tables_and_pixels(demo):
    printed = demo[0].stdout
    assert "JASFS's own clusters" in printed
    assert demo[0].stderr == ""
    assert max(map(len, printed.splitlines())) <= 100 + len(str(demo[1]))
    assert "\x1b" not in printed  # a pipe is no terminal
    assert len(re.findall(r"^ [·█▓▒░][·█▓▒░ ]+$", printed, re.M)) == 8
    assert f"{demo[1]}" in printed.replace("\n", "")


def test_its_reports_stand_beside_each_other(demo):
    folder = demo[1]
    assert sorted(path.name for path in folder.iterdir()) == [
        "digits.html", "planted.html", "report.html", "report.md",
    ]  # fmt: skip
    start = (folder / "report.html").read_text(encoding="utf-8")
    for name in ("planted.html", "digits.html"):
        assert f'href="{name}"' in start
    planted = (folder / "planted.html").read_text(encoding="utf-8")
    assert planted.count("signal_") >= 20  # the columns carry their truth in their names
