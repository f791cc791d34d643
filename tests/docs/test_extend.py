"""The worked example of docs/extend.md passes what every selector of the library must pass."""

import doctest
import importlib.util
import inspect
import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest

import featsieve
from featsieve.bench import load_results
from featsieve.datasets import make_planted
from tests.docs.pages import blocks_of, run_command
from tests.selectors import test_every_selector as shared

FILE = Path(__file__).parents[2] / "docs" / "between_clusters.py"
NAME = "BetweenClusters"
# Checks of some methods only: iterations, labels that are handed in, graphs of raw columns.
NOT_FOR_IT = {
    "test_a_callback_sees_every_iteration_and_can_stop",
    "test_equal_distances_are_not_decided_by_the_memory_order",
    "test_more_parts_of_the_graph_than_clusters_are_joined_for_a_reason",
    "test_renaming_the_labels_changes_no_score",
    "test_ties_are_broken_by_the_lower_index",
    "test_too_few_iterations_are_reported",
}
pytestmark = shared.pytestmark


def shared_checks():
    """Return the tests of every selector that ask for a name, and at most for a planted table."""
    tests = [
        test
        for name, test in inspect.getmembers(shared, inspect.isfunction)
        if name.startswith("test_")
        and {"name"} <= set(inspect.signature(test).parameters) <= {"name", "small_planted"}
    ]
    return [test for test in tests if test.__name__ not in NOT_FOR_IT]


@pytest.mark.slow
def test_a_method_and_a_table_of_ones_own_go_into_the_benchmark_as_the_page_says(tmp_path):
    (plan,) = [
        block for block in blocks_of(FILE.with_name("extend.md")) if block.language == "toml"
    ]
    text = plan.text.replace('"iris", "wine", ', "")  # one table is enough here
    tmp_path.joinpath("mine.toml").write_text(text, encoding="utf-8")
    shutil.copy(FILE, tmp_path)
    planted = make_planted(60, 12, n_informative=4, n_clusters=2, random_state=0)
    table = pd.DataFrame(planted.X).assign(kind=planted.labels)
    table.to_csv(tmp_path / "mine.csv", index=False)
    commands = [
        line
        for block in blocks_of(FILE.with_name("extend.md"))
        if block.language == "sh"
        for line in block.commands
    ]
    for line in commands:
        run_command(line.replace("PYTHONPATH=.", 'PYTHONPATH=".:${PYTHONPATH:-}"'), tmp_path)
    rows = load_results(tmp_path / "rows.csv")
    assert set(rows["status"]) == {"done"}
    found = rows[(rows["metric"] == "acc_mean") & (rows["method"] == "Mine")]
    assert found.groupby("dataset")["params"].nunique().to_dict() == {"mine.csv#kind": 2}


@pytest.fixture
def module(monkeypatch):
    """Return the example, in its place among the selectors."""
    spec = importlib.util.spec_from_file_location("between_clusters", FILE)
    loaded = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "between_clusters", loaded)  # for pickle
    spec.loader.exec_module(loaded)
    monkeypatch.setattr(featsieve, NAME, loaded.BetweenClusters, raising=False)
    return loaded


@pytest.mark.slow
@pytest.mark.parametrize("check", shared_checks(), ids=lambda check: check.__name__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_it_passes_the_shared_checks(check, module, small_planted):
    settings = {"name": NAME, "small_planted": small_planted}
    check(**{key: settings[key] for key in inspect.signature(check).parameters})


def test_enough_checks_are_shared():
    names = {check.__name__ for check in shared_checks()}
    assert len(names) >= 15
    assert "test_scikit_learn_checks_pass" in names


def test_its_docstring_is_true(module):
    found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted >= 4
    assert found.failed == 0
