"""``featsieve compare``: agreement, stability and time of several methods."""

import json

import numpy as np
import pandas as pd
import pytest

FAST = ("--clusters", "3", "--features", "6", "--subsamples", "2")
ROLES = ("--id-column", "who", "--label-column", "kind")


def test_as_a_table_and_in_a_file(call, table, tmp_path):
    out = tmp_path / "c.csv"
    methods = ("--methods", "jasfs, laplacianscore,MCFS")
    code, shown, _ = call("compare", table, *ROLES, *FAST, *methods, "-o", out)
    assert code == 0
    assert "6 of 50 features of 90 samples, 3 clusters" in shown
    assert "Two random choices share 0.06." in " ".join(shown.split())
    assert f"Wrote {out}" in shown
    frame = pd.read_csv(out)
    assert frame["method"].tolist() == ["JASFS", "LaplacianScore", "MCFS", "all features"]
    assert frame["jaccard_JASFS"][0] == 1.0
    assert frame["accuracy"].between(0.3, 1.0).all()
    assert frame["selected"][0].count(";") == 5
    assert "Labels used to judge only." in " ".join(shown.split())
    (reference,) = [line.split() for line in shown.splitlines() if "all features" in line]
    assert reference == ["all", "features", *(f"{frame[s][3]:.2f}" for s in ("accuracy", "nmi"))]
    shared = [f"{value:.2f}" for value in frame["jaccard_MCFS"][:3]]
    assert ["3", *shared] in [line.split() for line in shown.splitlines()]


def test_for_machines(call, table):
    methods = "maxvariance,mcfs"
    code, shown, told = call("compare", table, *ROLES, *FAST, "--methods", methods, "--json")
    assert (code, told) == (0, "")
    found = json.loads(shown)
    one, other, everything = found["methods"]
    assert [row["method"] for row in found["methods"]] == ["MaxVariance", "MCFS", "all features"]
    assert one["selected"].count(";") == other["selected"].count(";") == 5
    assert one["jaccard_MCFS"] == other["jaccard_MaxVariance"]
    assert all(0 <= row["nmi"] <= 1 for row in found["methods"])
    assert everything["stability"] is None


def test_all_methods_failing_is_a_failed_check(call, tmp_path):
    np.savez(tmp_path / "t.npz", X=np.ones((20, 5)))
    arguments = ("--methods", "maxvariance,mcfs", "--clusters", 2, "--features", 2)
    code, shown, _ = call("compare", tmp_path / "t.npz", *arguments)
    assert code == 1
    assert "MCFS failed: All 5 columns of X are constant" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["people.csv", "--methods", "jasfs,mcsf"], "no method 'mcsf' (did you mean 'mcfs'"),
        (["people.csv", "--methods", ","], "it takes names separated by commas"),
        (["gone.csv"], "gone.csv: there is no such file"),
        (["people.csv", "-o", "people.csv"], "would be written over"),
    ],
)
def test_a_mistake_is_told(call, table, tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    code, shown, told = call("compare", *arguments)
    assert (code, shown) == (2, "")
    assert sentence in told
