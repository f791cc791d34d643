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


def test_planted_columns_are_told_from_noise(demo):
    page = (demo[1] / "report.md").read_text(encoding="utf-8").split("## Digits")[0]
    table = [line for line in page.splitlines() if line.startswith("|")][2:]
    *signal, noise = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    assert noise[0] == "noise"
    assert noise[-1] == "nothing"
    assert [row[-1] for row in signal] == ["clusters"] * 3
    for row in signal:
        assert row[1] == "4"
        assert 2 <= int(row[2]) <= 8  # clusters within a factor of two
        assert int(row[4]) == int(row[3])  # every column that it took was planted


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
        "digits.html", "planted.html", "report.md",
    ]  # fmt: skip
    planted = (folder / "planted.html").read_text(encoding="utf-8")
    assert planted.count("signal_") >= 20  # the columns carry their truth in their names
