"""Several methods on one table: do they agree, do they repeat themselves, how long do they take."""

import time
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from featsieve.criteria.batches import within_batches
from featsieve.criteria.structure import WHAT_TO_DO
from featsieve.datasets import Dataset
from featsieve.evaluation.judging import Judge, too_many_classes
from featsieve.workflow.messages import ProgressCallback, silent
from featsieve.workflow.methods import (
    DEFAULT_METHOD,
    find_method,
    make_selector,
    repeat_selection,
)
from featsieve.workflow.prepare import prepare_table

STABILITY = ("stability", "stability_low", "stability_high")


def compare_methods(
    table: Dataset,
    methods: Iterable[str],
    *,
    progress: ProgressCallback = silent,
    **settings: Any,
) -> dict[str, Any]:
    """Let several methods select as many features of one table, and compare what they select."""
    chosen = {kind.__name__: kind for kind in map(find_method, methods)}
    priced = [part for part in ("groups", "costs", "budget") if settings.get(part) is not None]
    if priced:
        raise ValueError(
            f"Methods are compared by selections of one size, which {priced[0]} would change: "
            f"leave {' and '.join(priced)} out, or select with one method at a time."
        )
    prepared = prepare_table(table, **settings)
    in_batches = prepared.in_batches
    inside = within_batches(prepared.X, in_batches.get("batch"))[0]
    X, names, random_state = prepared.X, prepared.table.names, prepared.random_state
    n_clusters, n_features = prepared.n_clusters, prepared.n_features
    n, d, owner = X.shape[0], len(names), prepared.owner
    notes: list[str] = list(prepared.notes)
    y = prepared.table.complete_y
    judge = None if y is None else Judge(inside, y, prepared.owner)
    n_classes = prepared.table.n_classes or 0
    if judge is not None and (not judge.can or too_many_classes(n_classes, n)):
        judge = None
        notes.append(f"The classes judge nothing: there are {n_classes:,} for {n:,} samples.")
    rows, supports, bought = [], [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of several methods about one table
        shared = {"random_state": random_state, **prepared.constraints}
        if isinstance(n_clusters, str) or isinstance(n_features, str):
            progress("counting clusters and features")
            finder = make_selector(
                find_method(DEFAULT_METHOD), n_clusters=n_clusters, n_features=n_features, **shared
            ).fit(X, **in_batches)
            structure = getattr(finder, "structure_", None)
            if structure is not None and structure.verdict != "clusters":
                notes.append(f"{structure.sentence} {WHAT_TO_DO}")
            if isinstance(n_clusters, str):
                n_clusters = finder.n_clusters_
                notes.append(f"{n_clusters} clusters: found, right within a factor of about two.")
            if isinstance(n_features, str):
                n_features = finder._count_units(np.flatnonzero(finder.support_))
                notes.append(f"{n_features} features for every method: as many as JASFS finds.")
        for name, kind in chosen.items():
            progress(name)
            selector = make_selector(kind, n_clusters=n_clusters, n_features=n_features, **shared)
            row, support = _fit(selector, X, **in_batches)
            columns = support
            if owner is not None:
                support = np.bincount(owner, weights=support) > 0.0
                row["n_features"] = int(support.sum())
            if support.any():
                repeats = repeat_selection(selector, prepared, progress)
                notes += [f"{name}: {note}" for note in repeats.notes]
                if (stable := repeats.stability) is not None:
                    row |= zip(STABILITY, (stable.value, *stable.interval), strict=True)
            row["selected"] = ";".join(names[j] for j in np.flatnonzero(support))
            rows.append(row)
            supports.append(support)
            bought.append(columns)
        if judge is not None:
            rows.append(_row("all features", status="reference", n_features=d))
            for row, support in zip(rows, [*bought, np.ones(X.shape[1], dtype=bool)], strict=True):
                row |= {"accuracy": None, "nmi": None}
                if support.any():
                    accuracy, nmi, _ = judge.scores(np.flatnonzero(support)).mean()
                    row |= {"accuracy": float(accuracy), "nmi": float(nmi)}
    for name, support in zip(chosen, supports, strict=True):
        for row, other in zip(rows, [*supports, np.zeros(d, dtype=bool)], strict=False):
            both = support.any() and other.any()
            alike = (support & other).sum() / (support | other).sum() if both else None
            row[f"jaccard_{name}"] = alike if alike is None else float(alike)
    k = int(n_features)
    kept = (np.asarray(prepared.constraints.get(part, ()), int) for part in ("keep", "exclude"))
    n_kept, n_left = (len(one if owner is None else np.unique(owner[one])) for one in kept)
    by_chance = n_kept + (k - n_kept) ** 2 / max(1, d - n_kept - n_left)
    return {
        "table": prepared.table.name,
        "n_samples": n,
        "n_features": d,
        "n_selected": k,
        "n_clusters": int(n_clusters),
        "n_subsamples": prepared.n_subsamples,
        "methods": rows,
        "jaccard_by_chance": by_chance / (2 * k - by_chance),
        "notes": notes,
    }


def _row(method: str, **known: Any) -> dict[str, Any]:
    """Return the row of a method; what is not known is None."""
    unknown = dict.fromkeys(("seconds", "n_features", *STABILITY))
    return {"method": method, "status": "done", **unknown, "selected": "", "reason": ""} | known


def _fit(selector: Any, X: Any, **in_batches: Any) -> tuple[dict[str, Any], np.ndarray]:
    """Return the row of a method and what it selects: nothing if it fails."""
    start, support, failed = time.perf_counter(), np.zeros(X.shape[1], dtype=bool), {}
    try:
        support = selector.fit(X, **in_batches).support_
    except (ValueError, ArithmeticError, MemoryError) as error:
        failed = {"status": "failed", "reason": str(error) or type(error).__name__}
    seconds = time.perf_counter() - start
    name = type(selector).__name__
    return _row(name, seconds=seconds, n_features=int(support.sum()), **failed), support
