"""The pure functions of the comparison with other packages, and its committed results."""

import importlib.util
import math
import sys
import time
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"


def load(name):
    """Import a file of the benchmarks folder, which is no package."""
    path = str(ROOT / "benchmarks")
    sys.path.insert(0, path)
    try:
        spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(name, module)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(path)
    return module


peer_table = load("peer_table")
peers = load("peers")
peer_measure = load("peer_measure")
peer_cases = load("peer_cases")


def row(**changes):
    values = {
        "method": "NDFS",
        "peer": "skfeature",
        "data": "brain",
        "n": 42,
        "d": 5597,
        "iterations": 5,
        "seconds_ours": 0.25,
        "seconds_peer": 50.0,
        "ratio": 200.0,
        "mib_ours": 4.0,
        "mib_peer": 1400.0,
        "mib_ratio": 350.0,
        "spearman": 0.9996,
        "spearman_repaired": None,
        "bound": False,
        "remark": "shim",
    }
    return peer_table.Row(**{**values, **changes})


def test_geometric_mean():
    assert peer_table.geometric_mean([2.0, 8.0]) == pytest.approx(4.0)
    assert peer_table.geometric_mean(iter([5.0])) == pytest.approx(5.0)
    assert math.isnan(peer_table.geometric_mean([]))


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (None, 3, "-"),
        (0.0, 3, "0"),
        (1.0, 3, "1.00"),
        (0.0013215, 3, "0.00132"),
        (123.456, 2, "123"),
        (9.96, 2, "10.0"),
        (495.4, 2, "495"),
        (0.87, 2, "0.87"),
    ],
)
def test_numbers_have_significant_digits_and_no_exponent(value, digits, text):
    assert peer_table.number(value, digits) == text


def test_a_stopped_peer_gives_lower_bounds():
    found = peer_table.cells(row(bound=True, seconds_peer=120.0, ratio=480.0, mib_peer=None))
    assert found[6] == "> 120"
    assert found[7] == "> 480"
    assert found[9] == found[10] == "-"


def test_memory_below_the_resolution_is_not_divided():
    found = peer_table.cells(row(mib_ours=0.1, mib_peer=0.4, mib_ratio=4.0))
    assert found[8:11] == ["< 1", "< 1", "-"]
    found = peer_table.cells(row(mib_ours=0.1, mib_peer=30.0, mib_ratio=300.0))
    assert found[8:11] == ["< 1", "30", "300"]


def test_a_failed_peer_shows_the_error_in_place_of_the_agreement():
    failed = row(seconds_peer=None, ratio=None, spearman=None, remark="fails: MemoryError: x")
    assert peer_table.cells(failed)[11] == "fails: MemoryError: x"
    assert peer_table.cells(failed)[7] == "-"


def test_summary_counts_the_slower_ones_and_averages_the_large_tables():
    rows = [
        row(ratio=4.0),
        row(ratio=100.0, data="lung"),
        row(ratio=0.5, d=64, data="digits", method="SPEC"),
        row(ratio=None, data="ORL"),
    ]
    text = "\n".join(peer_table.summary(rows))
    assert "3 of 4" in text
    assert "slower than the peer: 1; SPEC against skfeature on digits." in text
    assert "| **all** |  | 2 | **20.0** |" in text


def test_notes_say_everything_once():
    rows = [row(), row(data="lung"), row(method="UDFS", remark="")]
    assert peer_table.notes(rows) == ["- NDFS, skfeature: shim."]


def test_csv_round_trip(tmp_path):
    rows = [row(), row(iterations=None, spearman=None, bound=True, remark='a, "b"')]
    peer_table.write_rows(tmp_path / "x.csv", rows)
    assert peer_table.read_rows(tmp_path / "x.csv") == rows
    product = peer_table.ProductRow("RSFS", "brain", 42, 5597, 0.02, 0.01, 2.0, "ZEZ'")
    peer_table.write_rows(tmp_path / "y.csv", [product])
    assert peer_table.read_rows(tmp_path / "y.csv", peer_table.ProductRow) == [product]


def test_a_page_has_the_command_and_no_path(monkeypatch):
    monkeypatch.setenv("FEATSIEVE_DATA", "/somewhere/private")
    arguments = peers.parse(["--keep-env", "/tmp/e", "--output", "/tmp/x.md", "--sets", "ORL"])
    page = peers.document([row()], [], peers.shown_command(arguments), "machine")
    assert "FEATSIEVE_DATA=folder python benchmarks/peers.py --iterations 5" in page
    assert '--sets "ORL"' in page
    assert "private" not in page
    assert "/tmp" not in page


def test_a_budget_ends_after_so_many_iterations():
    budget = peer_cases.Budget(4)
    asked = [budget.spent() for _ in range(3)]
    assert asked == [False, False, True]
    assert budget.done == 4


def test_a_budget_ends_when_the_next_iteration_would_be_late():
    budget = peer_cases.Budget(1000, seconds=0.05)
    while not budget.spent():
        time.sleep(0.01)
    assert budget.done < 10


def test_a_tolerance_stands_in_for_a_number():
    tolerance = peer_cases._Tolerance(peer_cases.Budget(3))
    assert not tolerance < 0
    assert [bool(np.float64(0.0) < tolerance), tolerance > 0.0] == [False, True]


def test_scores_of_an_order():
    np.testing.assert_array_equal(peer_cases.of_order(np.array([2, 0, 1])), [2.0, 1.0, 3.0])


def test_the_prepared_table_has_the_graph_of_the_library():
    from featsieve.arrays import as_operator
    from featsieve.graphs.affinity import sample_graph

    X = np.random.default_rng(3).standard_normal((30, 7)) * np.arange(1, 8) + 5.0
    table = peer_cases.prepare("x", X, 3)
    ours = sample_graph(as_operator(table.X, center=False), "heat", n_neighbors=5)
    np.testing.assert_allclose(table.affinity.toarray(), ours.toarray(), rtol=1e-10)
    np.testing.assert_allclose(table.X.std(axis=0), 1.0)
    assert not table.X.flags.writeable


def test_a_child_returns_fails_or_is_stopped():
    assert peer_measure.in_child(lambda: 7, limit=60.0) == 7
    with pytest.raises(RuntimeError, match="ValueError: no"):
        peer_measure.in_child(lambda: (_ for _ in ()).throw(ValueError("no")), limit=60.0)
    with pytest.raises(peer_measure.TimeUpError, match=r"> 0\.2 s"):
        peer_measure.in_child(lambda: time.sleep(60), limit=0.2)


def test_peak_memory_is_that_of_the_call():
    call = peer_measure.Call(lambda: float(np.ones(2**23).sum()), lambda: np.ones(10))
    measured = peer_measure.measure_once(call, limit=60.0)
    assert measured.value == 2**23
    assert 60.0 < measured.peak < 80.0
    assert measured.seconds > 0.0


def test_memory_that_the_parent_has_freed_counts_when_it_is_used_again():
    freed = [np.ones(2**14) for _ in range(200)]
    del freed
    call = peer_measure.Call(lambda: len([np.ones(2**14) for _ in range(64)]), lambda: None)
    assert 6.0 < peer_measure.measure_once(call, limit=60.0).peak < 20.0


def test_the_committed_page_is_that_of_the_committed_rows():
    page = (RESULTS / "peers.md").read_text(encoding="utf-8")
    rows = peer_table.read_rows(RESULTS / "peers.csv")
    products = peer_table.read_rows(RESULTS / "peers_products.csv", peer_table.ProductRow)
    for line in peer_table.table(peer_table.HEAD, map(peer_table.cells, rows)):
        assert line in page
    for line in [*peer_table.summary(rows), *peer_table.notes(rows)]:
        assert line in page
    for line in peer_table.table(peer_table.PRODUCT_HEAD, map(peer_table.product_cells, products)):
        assert line in page


def test_the_committed_ratios_are_those_of_the_committed_times():
    for found in peer_table.read_rows(RESULTS / "peers.csv"):
        if found.ratio is not None:
            expected = found.seconds_peer / found.seconds_ours
            assert found.ratio == pytest.approx(expected, rel=1e-4)


def test_every_committed_disagreement_is_explained():
    for found in peer_table.read_rows(RESULTS / "peers.csv"):
        if found.spearman is None or found.spearman < 0.99:
            assert found.remark, found


def test_the_targets_are_met_and_the_readme_says_what_was_measured():
    page = (RESULTS / "peers.md").read_text(encoding="utf-8")
    assert "70 of 70; slower than the peer: 0." in page
    mean = next(line for line in page.splitlines() if line.startswith("| **all**"))
    factor = mean.split("**")[3]
    assert float(factor) >= 10.0
    readme = (RESULTS.parents[1] / "README.md").read_text(encoding="utf-8")
    assert "None of its 70 comparisons is slower than the peer" in readme
    assert f"the geometric mean is {factor} times faster" in readme
