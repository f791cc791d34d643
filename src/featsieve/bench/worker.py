"""Run one cell: fit, evaluate, and write down what came of it, whatever that is."""

import math
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from featsieve.bench.cells import Cell
from featsieve.bench.expand import RANKING, SCATTERED
from featsieve.bench.measure import PeakMemory, TimeUpError, time_limit
from featsieve.bench.methods import make_selector, selector_facts
from featsieve.bench.rows import blank_row, failed_rows
from featsieve.bench.workbench import Workbench, support_hash, workbench

# Fits that are handed what they share; the others are timed as a user would see them.
SHARING = ("grid", "curve")
# Experiments in which the selection is not judged.
NOT_JUDGED = ("time", "scatter")
# Ranking i of a RandomSelector for the seed s has the random_state i + s * STEP.
STEP = 10**6


@dataclass(frozen=True)
class Fit:
    """A fitted selector, and what the fit took."""

    selector: Any
    seconds: float
    peak_mib: float
    iteration_seconds: list[float]


def run_cell(
    cell: Cell, *, data: str | None = None, plan: str = "", jobs: int = 1
) -> list[dict[str, Any]]:
    """Run a cell and return its rows; an error in it becomes a row with the reason."""
    about: dict[str, Any] = {"plan": plan, "jobs": jobs}
    try:
        bench = workbench(cell.dataset, data, checksum=cell.data_checksum)
    except (OSError, ValueError, ImportError) as error:
        return failed_rows(cell, _describe(error), status="skipped", **about)
    shape: dict[str, Any] = {
        "n_samples": bench.n_samples,
        "n_columns": bench.n_columns,
        "n_classes": bench.n_classes,
    }
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        row = blank_row(cell, **about) | shape
        try:
            with time_limit(cell.seconds):
                rows = [row | found for found in _results(cell, bench)]
        except TimeUpError as error:
            return failed_rows(cell, str(error), status="timeout", **about, **shape)
        except Exception as error:  # whatever a method raises is its result
            shape["fit_seconds"] = time.perf_counter() - start
            return failed_rows(cell, _describe(error), **about, **shape)
    heard = "; ".join(dict.fromkeys(_describe(warning.message) for warning in caught))
    reason = f"warned: {heard}" if heard else ""
    return [found | {"status": "done", "reason": reason} for found in rows]


def _results(cell: Cell, bench: Workbench) -> list[dict[str, Any]]:
    """Fit once, and return what is known at every count."""
    counts = cell.counts
    if counts is not None:
        counts = tuple(count for count in counts if count <= bench.n_columns)
        if not counts:
            raise ValueError(f"more features are asked for than the {bench.n_columns} there are")
    fit = fit_cell(cell, bench, n_features=None if counts is None else max(counts))
    selector = fit.selector
    order = np.argsort(selector.ranking_)
    common: dict[str, Any] = {
        "fit_seconds": fit.seconds,
        "peak_mib": fit.peak_mib,
        "n_iter": int(getattr(selector, "n_iter_", 0)),
        "own_count": counts is None and selector_facts(cell.selector).decides,
    }
    if cell.experiment in ("default", "time"):
        common["objective"] = [float(value) for value in getattr(selector, "objective_", ())]
    if cell.experiment == "time":
        common["iteration_seconds"] = fit.iteration_seconds or [fit.seconds]
    if hasattr(selector, "labels_") and cell.experiment not in NOT_JUDGED:
        own = bench.judge_labels(selector.labels_).mean()
        common |= dict(zip(("acc_own", "nmi_own", "ari_own"), own, strict=True))
    if counts is None:
        counts = (int(selector.n_features_selected_),)
    return [common | _at(cell, bench, order[:count]) for count in counts]


def _at(cell: Cell, bench: Workbench, chosen: np.ndarray) -> dict[str, Any]:
    """Return what is known of a selection (indices, best first)."""
    start = time.perf_counter()
    support = np.sort(chosen)
    row: dict[str, Any] = {
        "n_features": len(support),
        "support": support_hash(support),
        "redundancy": bench.redundancy(support),
    }
    if bench.planted is not None:
        either, informative = bench.planted
        row["planted_precision"] = float(np.mean(either[support]))
        row["planted_recall"] = float(informative[support].sum() / informative.sum())
    if cell.experiment == "scatter":
        row["points"], row["classes"] = bench.scatter(chosen[:SCATTERED])
    if cell.experiment not in NOT_JUDGED:
        row["criterion"] = bench.criterion(support)
        scores = bench.judge(support, n_seeds=cell.kmeans_seeds)
        for name, mean, std in zip(("acc", "nmi", "ari"), scores.mean(), scores.std(), strict=True):
            row |= {f"{name}_mean": mean, f"{name}_std": std}
        row |= {"acc_runs": scores.accuracy.tolist(), "nmi_runs": scores.nmi.tolist()}
        if cell.practical:
            best = bench.judge(support, n_seeds=1, practical=True).mean()
            names = ("acc_practical", "nmi_practical", "ari_practical")
            row |= dict(zip(names, best, strict=True))
    return row | {"evaluate_seconds": time.perf_counter() - start}


def fit_cell(cell: Cell, bench: Workbench, *, n_features: int | None) -> Fit:
    """Fit the selector of a cell; only the fit is timed."""
    facts = selector_facts(cell.selector)
    params = dict(cell.params)
    random_state = params.pop(RANKING, 0) + (STEP if RANKING in cell.params else 1) * cell.seed
    if n_features is not None:
        params["n_features_to_select"] = n_features
    selector = make_selector(
        cell.selector, params, n_clusters=bench.n_classes, random_state=random_state
    )
    if cell.experiment in SHARING:
        bench.share(selector)
    else:
        _warm_up(cell.selector)
    seconds: list[float] = []
    start = math.nan
    if cell.experiment == "time" and facts.iterates:

        def record(iteration: int, objective: float, state: Any) -> None:
            seconds.append(time.perf_counter() - start)

        selector.set_params(callback=record)
    with PeakMemory() as peak:
        start = time.perf_counter()
        selector.fit(bench.X)
        took = time.perf_counter() - start
    return Fit(selector, took, peak.mib, seconds)


@cache
def _warm_up(name: str) -> None:
    """Fit a tiny table, so that the first cell of a process does not pay for loading code."""
    X = np.random.default_rng(0).normal(size=(20, 6))
    selector = make_selector(name, {"n_features_to_select": 2}, n_clusters=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            selector.fit(X)
        except ValueError:  # the cell itself will say so
            return


def _describe(error: BaseException | str) -> str:
    """Return type and message on one line."""
    words: Iterable[str] = str(error).split()
    return f"{type(error).__name__}: {' '.join(words)}"
