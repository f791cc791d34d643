import pytest

from featsieve.report.bench.scores import NAMES, load_published

PAPER = load_published()
METHODS, COUNTS = tuple(NAMES.values()), PAPER["n_features"]
# Sums of means and of deviations, taken from the printed tables with another program (awk).
ROW_SUMS = {
    "acc": {
        "Baseline": (477.63, 45.65), "L-score": (506.06, 44.54), "MCFS": (519.40, 49.55),
        "UDFS": (509.32, 42.32), "NDFS": (532.64, 38.68), "RUFS": (523.50, 40.29),
        "AUFS": (509.73, 38.86), "URAFS": (497.53, 37.76), "USFS": (528.35, 37.20),
        "UGFS": (508.19, 39.60), "JASFS": (549.13, 34.63),
    },
    "nmi": {
        "Baseline": (477.21, 31.10), "L-score": (495.60, 25.21), "MCFS": (507.82, 29.95),
        "UDFS": (483.84, 24.01), "NDFS": (508.09, 23.29), "RUFS": (500.94, 28.67),
        "AUFS": (491.27, 24.26), "URAFS": (477.88, 31.03), "USFS": (503.87, 22.71),
        "UGFS": (490.17, 28.83), "JASFS": (522.21, 18.04),
    },
}  # fmt: skip
COLUMN_SUMS = {
    "acc": [(758.81, 78.60), (658.00, 32.66), (848.31, 93.25), (823.80, 89.08), (589.33, 33.09),
            (657.71, 61.40), (565.96, 36.19), (759.56, 24.81)],
    "nmi": [(643.55, 79.04), (244.08, 23.05), (906.59, 45.60), (682.53, 51.79), (523.69, 16.41),
            (667.15, 46.12), (806.50, 17.92), (984.81, 7.17)],
}  # fmt: skip
COUNT_SUMS = [2580, 1110, 1990, 2582, 3300, 2538, 2917, 2650]


@pytest.mark.parametrize("metric", ["acc", "nmi"])
def test_rows_and_columns_add_up_to_the_printed_tables(metric):
    scores = PAPER[metric]
    assert len(scores) == 88
    for method, sums in ROW_SUMS[metric].items():
        for part in (0, 1):
            total = sum(scores[name, method][part] for name in PAPER["shapes"])
            assert total == pytest.approx(sums[part], abs=1e-6)
    for name, sums in zip(PAPER["shapes"], COLUMN_SUMS[metric], strict=True):
        for part in (0, 1):
            total = sum(scores[name, method][part] for method in METHODS)
            assert total == pytest.approx(sums[part], abs=1e-6)


def test_numbers_of_features():
    assert len(COUNTS) == 80
    for name, total in zip(PAPER["shapes"], COUNT_SUMS, strict=True):
        assert total == sum(v for key, v in COUNTS.items() if key[0] == name)
    assert COUNTS["ORL", "JASFS"] == 267
    assert ("brain", "Baseline") not in COUNTS


def test_printed_accuracies_can_be_means_of_ten_runs():
    # A mean of ten accuracies over n samples is a multiple of 1 / (10 n); a slip of a digit in the
    # transcription would rarely be one.
    for (name, method), (mean, _) in PAPER["acc"].items():
        runs = 10 * PAPER["shapes"][name][0]
        nearest = round(mean / 100 * runs) / runs
        assert abs(100 * nearest - mean) < 0.00501, (name, method)


def test_every_row_of_the_paper_has_a_selector():
    assert {method for _, method in PAPER["acc"]} == set(NAMES.values())
