"""Tables as people have them: `inspect`, `select` with the options that it proposes, `apply`."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

from featsieve.datasets import read_table
from tests.cli.ugly_tables import MARKERS, TABLES, plain

# Numbers are given, so that no time goes into finding them.
FAST = ("--clusters", 3, "--features", MARKERS, "--subsamples", 0)


def listed_changes(path, gaps):
    """Return the repaired cells that a file lists; all gaps (of columns) are listed as filled."""
    found = pd.read_csv(path, keep_default_na=False)
    cells, filled = found[found["how"] == "repaired"], found[found["how"] != "repaired"]
    assert dict(zip(filled["column"], filled["cells"], strict=True)) == gaps
    assert set(filled["how"]) <= {"median", "most frequent word", "level of its own"}
    rows, now = cells["row"].astype(int), pd.to_numeric(cells["now"])
    return list(zip(rows, cells["column"], cells["was"], now, strict=True))


def gaps_of(truth):
    """Return how many gaps every column has that has any, but for empty ones."""
    counts = truth.isna().sum()
    return counts[(counts > 0) & (counts < len(truth))].to_dict()


def assert_same_changes(found, expected):
    """Compare changes; NaN equals NaN, and the order does not matter."""
    found, expected = (sorted(cells, key=lambda cell: cell[1::-1]) for cells in (found, expected))
    assert [cell[:3] for cell in found] == [cell[:3] for cell in expected]
    np.testing.assert_allclose([cell[3] for cell in found], [cell[3] for cell in expected])


@pytest.mark.slow
@pytest.mark.parametrize("make", TABLES, ids=lambda make: make.__name__)
def test_the_proposed_options_lead_to_the_right_features(call, make, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ugly = make(tmp_path, plain(0, 90))
    code, shown, told = call("inspect", ugly.path.name, "--json")
    assert code == 0, told
    look = json.loads(shown)
    said = " ".join(
        [note["text"] for note in look["notes"]] + [f"column {n!r}" for n in look["text"]]
    )
    assert all(note in said for note in ugly.notes), said

    words = shlex.split(look["next"])
    code, shown, told = call(*words[1:], *FAST)
    assert code == 0, told
    results = tmp_path / words[4]
    for note in look["notes"]:  # the same words after the selection, but for what is done by now
        if note["kind"] not in (
            "scales",
            "constant",
            "names",
            "row-numbers",
            "transposed",
            "categories",
        ):
            text = note["text"].partition(" With --repair")[0]  # which was proposed, and is done
            assert " ".join(text.split()) in " ".join(shown.split())
    facts = pd.read_csv(results / "features.csv")
    assert set(facts["feature"]) == set(ugly.features)
    assert set(facts["feature"][facts["selected"]]) == set(ugly.markers)
    assert len(pd.read_csv(results / "samples.csv")) == 90
    gaps = {} if ugly.truth is None else gaps_of(ugly.truth)
    assert (results / "changes.csv").exists() == bool(ugly.changes or gaps)
    if ugly.changes or gaps:
        assert_same_changes(listed_changes(results / "changes.csv", gaps), ugly.changes)

    # other rows, as ugly as the first
    (tmp_path / "new").mkdir()
    new = make(tmp_path / "new", plain(90, 110))
    outputs = ("-o", "reduced.csv", "--clusters", "clusters.csv", "--changes", "changes.csv")
    code, _, told = call("apply", results, new.path, *outputs)
    assert code == 0, told
    truth = (plain(90, 110) if new.truth is None else new.truth)[ugly.markers]
    reduced = read_table(tmp_path / "reduced.csv", columns=ugly.markers, trusted=True).X
    gaps = truth.isna().to_numpy()
    np.testing.assert_allclose(reduced[~gaps], truth.to_numpy()[~gaps])
    assert np.isfinite(reduced).all()
    chosen = [change for change in new.changes if change[1] in ugly.markers]
    assert_same_changes(listed_changes(tmp_path / "changes.csv", gaps_of(truth)), chosen)
    assert len(pd.read_csv(tmp_path / "clusters.csv")) == 20
