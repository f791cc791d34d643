"""The demo, as a user runs it."""

import re
import subprocess
import sys

import pytest


@pytest.mark.slow  # 20 seconds of one core
def test_planted_columns_are_told_from_noise(tmp_path):
    folder = tmp_path / "out"
    command = [sys.executable, "-m", "featsieve", "demo", "-o", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "\x1b" not in done.stdout  # a pipe is no terminal
    told = " ".join(done.stdout.split())
    count, clusters, right, structure = re.search(
        r"called signal_\): (\d+) of 1000 columns for (\d+) clusters, (\d+) of them planted; "
        r"structure: (\w+)",
        told,
    ).groups()
    assert count == right  # every column that it took was planted
    assert 2 <= int(clusters) <= 8  # within a factor of two
    assert structure == "clusters"
    assert re.search(r"truth: nothing\): .*; structure: nothing digits", told)
    assert f"Open {folder}" in told
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["digits.html", "noise.html", "planted.html"]
    planted = (folder / "planted.html").read_text(encoding="utf-8")
    assert planted.count("signal_") >= 20  # the columns carry their truth in their names
