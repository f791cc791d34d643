"""Fixtures shared by the tests of the command line."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from featsieve.cli import main
from featsieve.datasets import make_planted


@pytest.fixture
def call(capfd, monkeypatch):
    """Return a function that calls the command in this process, which is faster."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "dumb")

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        return ended.value.code, *capfd.readouterr()

    return run


@pytest.fixture(scope="session")
def spawn():
    """Return a function that runs the command in a process of its own, as users do."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}

    def run(*arguments, wait=True, **options):
        command = [sys.executable, "-m", "featsieve", *map(str, arguments)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        options = {**pipes, "env": environment, **options}
        if wait:
            return subprocess.run(command, check=False, **options)
        return subprocess.Popen(command, **options)

    return run


@pytest.fixture(scope="session")
def people():
    """Return a table as people have them: names, classes, 50 numbers of which 8 matter."""
    planted = make_planted(90, 50, n_informative=8, n_clusters=3, signal=3.0, random_state=3)
    names = [
        f"{'marker' if matters else 'noise'}_{j}" for j, matters in enumerate(planted.informative)
    ]
    frame = pd.DataFrame(planted.X, columns=names)
    frame.insert(0, "who", [f"p{i:02d}" for i in range(90)])
    frame["kind"] = np.array(["flu", "cold", "none"])[planted.labels]
    return frame


@pytest.fixture
def table(people, tmp_path):
    """Return that table in a file."""
    people.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"
