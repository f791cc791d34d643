"""Fixtures shared by the tests."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

from featsieve import defaults
from featsieve.criteria.structure import find_structure, untested
from featsieve.datasets import Planted, make_planted
from featsieve.io import child

# The same examples on every machine, and no limit that a slow one could trip over.
settings.register_profile("featsieve", deadline=None, derandomize=True)
settings.load_profile("featsieve")

# The problems are small: more than one BLAS thread would only compete with the others.
threadpool_limits(limits=1)

# Most tests of fits need an answer of the structure test, not the best: two numbers of groups and
# three copies of each kind, however close that is.
WHOLE = {name: getattr(defaults, name) for name in ("STRUCTURE_NUMBERS", "CLOSE_LEVELS")}
STRUCTURE_DEFAULTS = find_structure.__defaults__
defaults.STRUCTURE_NUMBERS, defaults.CLOSE_LEVELS = defaults.STRUCTURE_NUMBERS[:2], 0
find_structure.__defaults__ = (3, 0.25, 0)  # n_tables, level, random_state

REFERENCE = Path(__file__).parent / "reference"
PROBLEMS = ("wide", "tall", "pixel")


def load_reference(problem: str) -> dict[str, np.ndarray]:
    """Return the frozen inputs and outputs of the authors' program on one problem."""
    with np.load(REFERENCE / f"{problem}.npz", allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


@pytest.fixture(scope="session")
def small_planted() -> Planted:
    """Return a table whose clusters are easy to find: 80 samples, 60 features, 8 informative."""
    return make_planted(80, 60, n_informative=8, n_clusters=3, signal=3.0, random_state=0)


@pytest.fixture(autouse=True)
def files_are_trusted(monkeypatch):
    """Read files in this process: a child for each would take half of the time of the tests.

    Those of the child itself, and of hostile files, set it to True again.
    """
    monkeypatch.setattr(child, "isolated", False)


@pytest.fixture(autouse=True)
def whole_structure_test(monkeypatch, request):
    """Look at all that users' fits do where a test is about the structure test, or about a page."""
    if request.node.get_closest_marker("whole_structure_test"):
        for name, value in WHOLE.items():
            monkeypatch.setattr(defaults, name, value)
        monkeypatch.setattr(find_structure, "__defaults__", STRUCTURE_DEFAULTS)


@pytest.fixture
def untested_fits():
    """Fit without tests of structure, which take most of the time of small fits."""
    with untested():
        yield
