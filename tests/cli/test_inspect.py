"""``featsieve inspect``: what it sees, and the command it recommends."""

import json
import shlex

import numpy as np
import pytest

from featsieve import defaults
from featsieve.cli.inspect import _facts
from featsieve.datasets import Dataset
from featsieve.workflow.inspect import inspect_table


@pytest.fixture
def table(people, tmp_path):
    frame = people.copy()
    frame.insert(1, "row", np.arange(90))
    frame["noise_copy"], frame["fixed"] = frame["marker_13"], 2.5
    frame.loc[[3, 4], "marker_13"] = np.nan
    frame.to_csv(tmp_path / "my people.csv", index=False)
    return tmp_path / "my people.csv"


@pytest.mark.slow
@pytest.mark.whole_structure_test
def test_everything_is_told_and_the_next_command_works(call, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, shown, told = call("inspect", table.name)
    assert (code, told) == (0, "")
    assert "90 rows (samples), 54 columns (features)" in shown
    assert "2 values, in column 'marker_13'" in shown
    assert "Encoded as categories (--encode): 'kind' (3 words)." in shown
    assert "A different word in every row: column 'who'." in shown
    assert "column 'fixed'" in shown
    assert "Numbers of rows would be taken as features: column 'row'." in shown
    assert "clusters (p = 0.05 and 0.01; 90 rows and" in shown
    assert "\x1b" not in shown
    command = shlex.split(shown.splitlines()[-1])
    assert command[:2] == ["featsieve", "select"]
    names = ("--id-column", "who", "--drop", "row")
    assert command[5:] == ["--encode", *names, "--impute", "median"]
    code, _, told = call(*command[1:], "--clusters", 3, "--features", 4, "--subsamples", 0)
    assert code == 0, told


def test_for_machines(call, table):
    arguments = ("--id-column", "who", "--label-column", "kind", "--drop", "row")
    code, shown, told = call("inspect", table, *arguments, "--json")
    assert (code, told) == (0, "")
    found = json.loads(shown)
    assert found["n_samples"] == 90
    assert found["text"] == []
    assert found["row_numbers"] == []
    assert found["missing"] == {"marker_13": 2}
    assert found["structure"]["verdict"] == "clusters"
    assert found["structure"]["sentence"].startswith("The samples form clusters: ")
    assert shlex.split(found["next"])[5:] == [*arguments, "--impute", "median"]


def test_classes_and_names_are_shown(call, table):
    arguments = ("--id-column", "who", "--label-column", "kind")
    _, shown, _ = call("inspect", table, *arguments)
    assert "'kind': 3 (cold, flu, none) (never used to select)" in shown
    assert "'p00', ..." in shown


def test_a_number_of_clusters_is_as_certain_as_it_sounds(monkeypatch):
    rng = np.random.default_rng(0)
    table = Dataset("t", rng.standard_normal((90, 1)) + rng.standard_normal((90, 8)))
    look = inspect_table(table)
    assert look["structure"]["verdict"] == "gradient"
    said = dict(_facts(table, look))["clusters"]
    assert said.partition(" ")[2].startswith("would be looked for all the same, ")
    look["structure"]["verdict"] = "clusters"
    assert dict(_facts(table, look))["clusters"].partition(" ")[2].startswith("suggested, ")
    monkeypatch.setattr(defaults, "INSPECTED_ELEMENTS", 400)
    said = dict(_facts(table, inspect_table(table))).get("clusters", "")
    assert "in this part of the table: select, which looks at all, may find another number" in said
