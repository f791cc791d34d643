"""From the command line to a page, as a user would do it."""

import os
import re
import subprocess
import sys

import pytest

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
        ("bench", "report", "results", "-o", "report.md"),
    ):
        ended = featsieve(*arguments, cwd=folder)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert "Traceback" not in ended.stderr
    return folder


def test_the_page_says_that_everything_was_run(folder):
    text = (folder / "report.md").read_text(encoding="utf-8")
    done, planned = map(int, re.search(r"(\d+) of (\d+) cells done", text).groups())
    assert done == planned > 50
    assert "unfinished" not in text
    assert "Every cell of this section ran alone." in text
    assert str(folder) not in text  # no paths of this machine
    titles = [line.split(":")[0].removeprefix("## ") for line in text.splitlines() if "## " in line]
    assert titles[:4] == ["What was found", "Default track", "Label-free track", "Oracle track"]
