"""The committed results of the paper's experiments: the page says what the rows say."""

from pathlib import Path

import pandas as pd
import pytest

RESULTS = Path(__file__).parents[1] / "docs" / "results"
METHODS = ("L-score", "MCFS", "UDFS", "NDFS", "RUFS", "AUFS", "URAFS", "USFS", "UGFS", "JASFS")
CONTROLS = ("Baseline", "MaxVariance", "Random")


@pytest.fixture(scope="module")
def rows():
    return pd.read_csv(RESULTS / "paper.csv")


@pytest.fixture(scope="module")
def page():
    return (RESULTS / "paper.md").read_text(encoding="utf-8")


def table(page, section, caption):
    """Return {method: {data set: entry}} of a table on the page."""
    part = page.split(f"## {section}")[1].split(f"**{caption}")[1]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    names = [cell.strip() for cell in lines[0].strip("|").split("|")][1:]
    found = {}
    for line in lines[2 : 2 + len(METHODS) + len(CONTROLS) + 1]:
        method, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        found[method.removesuffix(" (control)")] = dict(zip(names, cells, strict=True))
    return found


def test_every_method_and_control_was_run_on_every_data_set(rows):
    done = rows[rows["status"] == "done"]
    expected = {*METHODS, *CONTROLS, "JASFS (published)"}
    for track in ("default", "grid", "label-free"):
        found = done[done["experiment"] == track].groupby("dataset")["method"].agg(set)
        assert len(found) == 8
        assert all(methods == expected for methods in found)


@pytest.mark.parametrize("metric", ["acc", "nmi"])
def test_the_oracle_table_is_the_best_of_the_grid(rows, page, metric):
    grid = rows[(rows["experiment"] == "grid") & (rows["status"] == "done")]
    best = grid.groupby(["method", "dataset"])[f"{metric}_mean"].max()
    shown = table(page, "Oracle track", f"{metric.upper()} (%), oracle track")
    for (method, dataset), value in best.items():
        entry = shown[method][dataset].replace("*", "")
        assert float(entry.split(" ")[0]) == pytest.approx(100 * value, abs=0.0051)


@pytest.mark.parametrize(
    ("track", "section"), [("default", "Default track"), ("label-free", "Label-free track")]
)
def test_the_other_tables_are_means_over_seeds(rows, page, track, section):
    kept = rows[(rows["experiment"] == track) & (rows["status"] == "done")]
    means = kept.groupby(["method", "dataset"])["acc_mean"].mean()
    shown = table(page, section, f"ACC (%), {track} track")
    for (method, dataset), value in means.items():
        entry = shown[method][dataset].replace("*", "")
        assert float(entry.split(" ")[0]) == pytest.approx(100 * value, abs=0.0051)


def test_the_label_free_choice_is_the_best_by_the_criterion_alone(rows):
    done = rows[rows["status"] == "done"]
    grid = done[done["experiment"] == "grid"]
    for chosen in done[done["experiment"] == "label-free"].itertuples():
        same = (grid["method"] == chosen.method) & (grid["dataset"] == chosen.dataset)
        best = grid.loc[same, "criterion"].max()
        near = grid[same & (grid["criterion"] >= best - 0.01 - 1e-5)]  # six digits are kept
        assert chosen.n_features == near["n_features"].min()
