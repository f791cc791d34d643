"""Several methods on one table: do they agree, do they repeat themselves, how long do they take."""

import time
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from featsieve.tuning import NoStructureWarning, suggest_n_clusters
from featsieve.workflow.comparison import Comparison, Entry
from featsieve.workflow.counts import check_counts
from featsieve.workflow.judge import Judge, too_many_classes
from featsieve.workflow.methods import DEFAULT_METHOD, find_method
from featsieve.workflow.prepare import prepare_table
from featsieve.workflow.progress import Progress, Steps
from featsieve.workflow.subsamples import check_subsamples, repeat_selection

DEFAULT_METHODS = ("JASFS", "LaplacianScore", "MCFS", "MaxVariance")


def compare_methods(
    table: Any,
    methods: Iterable[str] = DEFAULT_METHODS,
    *,
    n_clusters: int | str = "auto",
    n_features: int | float | str = "auto",
    standardize: bool = False,
    impute: str | None = None,
    n_subsamples: int | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Let several methods select as many features of one table, and compare what they select.

    Parameters
    ----------
    table : Dataset, path, data frame or array
        Rows are samples. Classes that come with it are used to judge, never to select.
    methods : iterable of str, default=("JASFS", "LaplacianScore", "MCFS", "MaxVariance")
        Out of `method_names`.
    n_clusters : int or "auto", default="auto"
        Number of clusters for all methods that want it; "auto" is found once.
    n_features : int, float or "auto", default="auto"
        Number of features for all methods; "auto" is what JASFS finds, once: selections of
        different sizes cannot agree.
    standardize : bool, default=False
        Whether columns are given mean 0 and variance 1 first.
    impute : {"median"}, optional
        Fill missing values, which are refused otherwise.
    n_subsamples : int, optional
        Times that each selection is repeated on 80 % of the rows. By default 10, or 0 for more
        than 2e7 elements.
    random_state : int, default=0
        The same number gives the same selections.
    progress : callable, optional
        ``progress(text, done, total)`` is called at every step.

    Returns
    -------
    Comparison
        A method that fails is part of it, with the reason.

    Examples
    --------
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.workflow import compare_methods
    >>> X = make_planted(90, 40, n_informative=6, n_clusters=3, signal=3.0, random_state=0).X
    >>> compared = compare_methods(X, ["jasfs", "maxvariance"], n_features=6, n_subsamples=0)
    >>> compared.agreement.round(2).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    chosen = {method.name: method for method in map(find_method, methods)}
    if not chosen:
        raise ValueError("Name at least one method to compare, for example jasfs.")
    prepared = prepare_table(table, impute=impute, standardize=standardize)
    X = prepared.X
    n_clusters, n_features = check_counts(n_clusters, n_features, X.shape)
    n_subsamples = check_subsamples(n_subsamples, X)
    judge = Judge(X, prepared.table.complete_y)
    steps = Steps(1 + len(chosen) * (1 + n_subsamples), progress)
    steps.next("counting clusters and features")
    notes: list[str] = list(prepared.notes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of several methods about one table
        if isinstance(n_clusters, str):
            n_clusters = suggest_n_clusters(X, random_state=random_state).n_clusters
            notes.append(f"{n_clusters} clusters: found, right within a factor of about two.")
        if isinstance(n_features, str):
            n_features, told = _find_count(X, n_clusters, random_state)
            notes += told
        entries = []
        for method in chosen.values():
            steps.next(method.name)
            selector = method.make(
                n_clusters=n_clusters, n_features=n_features, random_state=random_state
            )
            start = time.perf_counter()
            reason = _why_not(selector, X)
            seconds = time.perf_counter() - start
            if reason:
                entries.append(Entry(method.name, None, seconds, reason=reason))
                steps.skip(n_subsamples)
                continue
            repeats = repeat_selection(
                selector, X, n_subsamples, random_state=random_state, steps=steps
            )
            notes += [f"{method.name}: {note}" for note in repeats.notes]
            agreement = judge.of(selector.support_)
            entries.append(
                Entry(
                    method.name,
                    selector.support_,
                    seconds,
                    repeats.stability,
                    agreement=agreement,
                )
            )
        all_features = judge.of()
    steps.end()
    if prepared.table.complete_y is not None:
        if judge.why_not:
            notes.append(f"The classes judge nothing: {judge.why_not}.")
        notes += filter(None, [too_many_classes(prepared.table.y)])
    return Comparison(
        prepared,
        tuple(entries),
        int(n_clusters),
        int(n_features),
        n_subsamples,
        notes=tuple(notes),
        all_features=all_features,
    )


def _find_count(X: Any, n_clusters: int, random_state: int) -> tuple[int, list[str]]:
    """Return how many features JASFS finds, and what there is to say about that."""
    selector = find_method(DEFAULT_METHOD).make(
        n_clusters=n_clusters, n_features="auto", random_state=random_state
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", NoStructureWarning)
        count = selector.fit(X).n_features_selected_
    told = [f"{count} features for every method: as many as {DEFAULT_METHOD} finds."]
    return count, told + [str(w.message) for w in caught if w.category is NoStructureWarning]


def _why_not(selector: Any, X: Any) -> str:
    """Fit a selector; return why that failed, or nothing."""
    try:
        selector.fit(X)
    except (ValueError, ArithmeticError, MemoryError, np.linalg.LinAlgError) as error:
        return str(error) or type(error).__name__
    return ""
