"""The page that compares the methods says what the code does."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import featsieve
from featsieve.datasets import make_planted

ROOT = Path(__file__).parents[1]
COLUMNS = [
    "method", "keeps features that", "parameters that matter", "decides how many", "labels",
    "sparse", "GPU", "cost", "memory", "random",
]  # fmt: skip


def rows_of_the_table():
    """Return {method: {column: cell}} of the one big table of docs/choose.md."""
    page = (ROOT / "docs" / "choose.md").read_text(encoding="utf-8")
    lines = page[page.index("## All methods in one table") :].splitlines()
    table = [line.strip("|").split("|") for line in lines if line.startswith("| ")]
    cells = [[cell.strip() for cell in line] for line in table if len(line) == len(COLUMNS)]
    assert cells[0] == COLUMNS
    rows = [dict(zip(COLUMNS, line, strict=True)) for line in cells[1:]]
    return {re.search(r"\w+", row["method"]).group(): row for row in rows}


TABLE = rows_of_the_table()


def test_every_method_has_a_row():
    assert sorted(TABLE) == sorted(featsieve.selectors.__all__)


@pytest.mark.parametrize("name", featsieve.selectors.__all__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::featsieve.tuning.NoStructureWarning")  # half of it is zeros
def test_a_row_says_what_the_estimator_does(name):
    row, cls = TABLE[name], getattr(featsieve, name)
    parameters = inspect.signature(cls).parameters
    assert (row["random"] == "yes") == ("random_state" in parameters)
    for named in re.findall(r"`(\w+)`", row["parameters that matter"]):
        assert named in parameters, named
    settings = {"n_clusters": 3, "n_features_to_select": 5, "random_state": 0}
    settings = {key: value for key, value in settings.items() if key in parameters}
    X = make_planted(40, 20, n_informative=6, n_clusters=3, signal=3.0, random_state=0).X
    X = np.where(X > 0.5, X, 0.0)
    sieve = cls(**settings).fit(sp.csr_array(X))
    assert row["sparse"] == "yes"
    assert (row["labels"] == "yes") == hasattr(sieve, "labels_")
    sieve.set_params(n_features_to_select=None)
    if row["decides how many"] == "yes":
        assert sieve.fit(X).n_features_selected_ >= 1
    else:
        with pytest.raises(ValueError, match="n_features_to_select"):
            sieve.fit(X)
