import hashlib
import math
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from featsieve import JASFS, MaxVariance, RandomSelector
from featsieve.bench.cells import SCHEMA, Cell
from featsieve.bench.worker import run_cell, workbench
from featsieve.datasets import load_dataset, make_planted
from featsieve.evaluation import ClusteringScores, paper_protocol, practical_protocol, redundancy


@pytest.fixture(scope="module")
def planted():
    return load_dataset("planted_small")


def cell(experiment="grid", dataset="planted_small", selector="MaxVariance", **more):
    more = {"counts": (2, 5), "kmeans_seeds": 3, **more}
    return Cell(experiment, dataset, selector, selector, **more)


def support_hash(support):
    return hashlib.sha256(np.sort(support).astype(np.int64).tobytes()).hexdigest()[:16]


def test_rows_are_what_the_parts_say(planted):
    rows = run_cell(cell())
    order = np.argsort(MaxVariance(5).fit(planted.X).ranking_)
    assert [row["n_features"] for row in rows] == [2, 5]
    for row in rows:
        chosen = np.sort(order[: row["n_features"]])
        scores = paper_protocol(planted.X[:, chosen], planted.y, n_seeds=3)
        assert (row["acc_mean"], row["nmi_mean"], row["ari_mean"]) == scores.mean()
        assert (row["acc_std"], row["nmi_std"], row["ari_std"]) == scores.std()
        assert row["acc_runs"] == scores.accuracy.tolist()
        assert row["nmi_runs"] == scores.nmi.tolist()
        assert row["criterion"] == workbench("planted_small").criterion(chosen)
        assert row["redundancy"] == pytest.approx(redundancy(planted.X, chosen), abs=1e-12)
        assert row["support"] == support_hash(chosen)
        either = planted.informative | planted.redundant
        assert row["planted_precision"] == either[chosen].mean()
        assert row["planted_recall"] == planted.informative[chosen].sum() / 5
        assert (row["n_samples"], row["n_columns"], row["n_classes"]) == (80, 30, 3)
        assert (row["status"], row["reason"]) == ("done", "")
        assert not row["own_count"]
        assert math.isnan(row["acc_practical"])


def test_defaults_with_the_selectors_own_labels_and_the_practical_protocol(planted):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sieve = JASFS(3, random_state=4).fit(planted.X)
    (row,) = run_cell(cell("default", selector="JASFS", counts=None, seed=4))
    assert row["n_features"] == sieve.n_features_selected_
    assert row["own_count"]
    assert row["support"] == support_hash(np.flatnonzero(sieve.support_))
    own = ClusteringScores.of_labels(planted.y, sieve.labels_).mean()
    assert (row["acc_own"], row["nmi_own"], row["ari_own"]) == own
    practical = practical_protocol(planted.X[:, sieve.support_], planted.y).mean()
    assert (row["acc_practical"], row["nmi_practical"], row["ari_practical"]) == practical
    assert row["n_iter"] == sieve.n_iter_


def test_a_random_ranking_is_that_of_its_number_and_seed(planted):
    def supports(seed, ranking):
        rows = run_cell(cell(selector="RandomSelector", seed=seed, params={"ranking": ranking}))
        return [row["support"] for row in rows]

    order = np.argsort(RandomSelector(5, random_state=7).fit(planted.X).ranking_)
    assert supports(0, 7) == [support_hash(order[:2]), support_hash(order[:5])]
    assert len({tuple(supports(seed, i)) for seed in (0, 1) for i in (0, 1)}) == 4


def test_what_is_timed_is_not_judged():
    timed = cell("time", selector="NDFS", counts=(4,), params={"max_iter": 6, "tol": 0.0})
    (row,) = run_cell(timed)
    assert row["n_iter"] == 6
    assert row["fit_seconds"] > 0.0
    assert math.isnan(row["acc_mean"])
    assert math.isnan(row["criterion"])
    assert "max_iter=6" in row["reason"]


# What goes wrong -------------------------------------------------------------------------------


def test_an_error_is_a_row():
    bad = cell(selector="NDFS", params={"alpha": -1.0})
    (row,) = run_cell(bad)
    assert row["status"] == "failed"
    assert row["reason"].startswith("ValueError: alpha must be a number above 0")
    assert (row["n_samples"], row["n_columns"], row["n_features"]) == (80, 30, 0)
    assert list(row) == list(SCHEMA)


def test_what_a_method_cannot_do_with_the_tiny_table_of_the_warm_up_is_no_failure(monkeypatch):
    class Needy(MaxVariance):
        def _fit(self, X):
            if len(X) < 30:
                raise IndexError("too few rows")
            super()._fit(X)

    monkeypatch.setitem(sys.modules, "needy", SimpleNamespace(Needy=Needy))
    rows = run_cell(cell(selector="needy:Needy"))
    assert {row["status"] for row in rows} == {"done"}


def test_too_slow_is_a_row():
    slow = cell("grid", selector="NDFS", params={"max_iter": 10**7, "tol": 0.0}, seconds=0.3)
    (row,) = run_cell(slow)
    assert (row["status"], row["reason"]) == ("timeout", "more than 0.3 s")
    assert row["n_columns"] == 30


def test_more_features_than_columns():
    (row,) = run_cell(cell(counts=(2, 99)))
    assert row["n_features"] == 2
    (row,) = run_cell(cell(counts=(99,)))
    assert row["status"] == "failed"
    assert "30" in row["reason"]


def test_warnings_are_kept_once_and_not_shown(recwarn):
    rows = run_cell(cell(selector="NDFS", params={"beta": 1e6}))
    assert all(row["status"] == "done" for row in rows)
    assert rows[0]["reason"].startswith("warned: UserWarning: beta is so large")
    assert rows[0]["reason"].count("beta is so large") == 1
    assert len(recwarn) == 0


# Tables in files -------------------------------------------------------------------------------


def write_table(path, seed):
    made = make_planted(40, 8, n_informative=4, n_clusters=2, signal=4.0, random_state=seed)
    frame = pd.DataFrame(made.X, columns=[f"g{i}" for i in range(8)])
    frame.assign(kind=np.array(["a", "b"])[made.labels]).to_csv(path, index=False)
    return made


def test_a_table_with_a_column_of_classes(tmp_path):
    made = write_table(tmp_path / "mine.csv", 0)
    checksum = load_dataset("mine.csv#kind", data=tmp_path).checksum
    with (tmp_path / "mine.csv").open("a") as file:
        file.write("\n")  # the numbers are what they were
    mine = cell(dataset="mine.csv#kind", counts=(3,), data_checksum=checksum)
    (row,) = run_cell(mine, data=str(tmp_path))
    assert (row["status"], row["dataset"]) == ("done", "mine.csv#kind")
    assert (row["n_samples"], row["n_columns"], row["n_classes"]) == (40, 8, 2)
    assert row["data_checksum"] == checksum
    chosen = np.flatnonzero(MaxVariance(3).fit(made.X).support_)
    expected = paper_protocol(made.X[:, chosen], made.labels, n_seeds=3)
    assert row["acc_mean"] == pytest.approx(expected.mean()[0])


def test_a_table_that_changed_is_neither_used_nor_mixed_up_with_the_old_one(tmp_path):
    cells = []
    for seed in (0, 1):
        write_table(tmp_path / "mine.csv", seed)
        checksum = load_dataset("mine.csv#kind", data=tmp_path).checksum
        cells.append(cell(dataset="mine.csv#kind", counts=(3,), data_checksum=checksum))
    (late,) = run_cell(cells[0], data=str(tmp_path))
    assert late["status"] == "skipped"
    assert "changed during the run: start the run again" in late["reason"]
    (new,) = run_cell(cells[1], data=str(tmp_path))
    write_table(tmp_path / "mine.csv", 0)  # the same process, the first file again
    (old,) = run_cell(cells[0], data=str(tmp_path))
    assert (old["status"], new["status"]) == ("done", "done")
    assert old["criterion"] != new["criterion"]


def test_the_ceiling_is_given_the_classes_and_nothing_else_is(planted):
    (row,) = run_cell(cell(selector="TrueLabels", counts=(5,)))
    sieve = JASFS(3, n_features_to_select=5, init=planted.y, random_state=0).fit(planted.X)
    assert row["support"] == support_hash(np.flatnonzero(sieve.support_))
    assert math.isnan(row["acc_own"])  # its labels are the classes
    (other,) = run_cell(cell(selector="JASFS", counts=(5,)))
    assert not math.isnan(other["acc_own"])
