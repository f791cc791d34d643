"""A method by its name, with the numbers that are asked for, and its fits to subsamples."""

from inspect import signature
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np

from featsieve import defaults, selectors
from featsieve.criteria.automatic import with_found_numbers
from featsieve.evaluation import Stability, selection_stability
from featsieve.names import did_you_mean
from featsieve.validation import check_number, resolve_n_features
from featsieve.workflow.messages import Note, ProgressCallback, silent

if TYPE_CHECKING:
    from featsieve.workflow.prepare import Prepared

DEFAULT_METHOD = "JASFS"


def method_names() -> tuple[str, ...]:
    """Return the names of the methods, the default one first."""
    others = sorted(set(selectors.__all__) - {DEFAULT_METHOD}, key=str.lower)
    return (DEFAULT_METHOD, *others)


def find_method(name: str) -> Any:
    """Return the class of a method; upper and lower case, "-" and "_" do not matter."""
    known = {known.lower(): known for known in method_names()}
    key = "".join(name.lower().replace("-", "").replace("_", "").split())
    found = known.get(key)
    if found is None:
        hint, names = did_you_mean(key, list(known)), ", ".join(known.values())
        raise ValueError(f"There is no method {name!r}{hint}: the methods are {names}.")
    return getattr(selectors, found)


def make_selector(kind: Any, *, n_clusters: Any, n_features: Any, **settings: Any) -> Any:
    """Return a selector, ready to be fitted; what its class does not take is left out."""
    parameters = signature(kind).parameters
    if isinstance(n_features, str) and n_features == "significant" and kind is not selectors.JASFS:
        raise ValueError(
            f"{kind.__name__} has no n_features_to_select='significant', which JASFS has: give a "
            "number of features, and look at their q-values (--qvalues; in Python qvalues=True)."
        )
    given = {"n_features_to_select": n_features, **settings}
    # one criterion of SPEC uses a number of clusters: None by default, and left alone
    if "n_clusters" in parameters and parameters["n_clusters"].default is not None:
        given["n_clusters"] = n_clusters
    return kind(**{name: value for name, value in given.items() if name in parameters})


def check_counts(
    n_clusters: Any, n_features: Any, shape: tuple[int, int], *, what: str = "feature"
) -> tuple[Any, Any]:
    """Validate the numbers of clusters and features, each a count or "auto", and return them."""
    n_samples, n_columns = shape
    if not (isinstance(n_clusters, str) and n_clusters == "auto"):
        whole = isinstance(n_clusters, Integral) and not isinstance(n_clusters, bool)
        if not whole or not 2 <= n_clusters <= n_samples:
            raise ValueError(
                f"The number of clusters must be 'auto' or from 2 to {n_samples} (the number of "
                f"rows); got {n_clusters!r}."
            )
    if not (isinstance(n_features, str) and n_features in ("auto", "significant")):
        n_features = resolve_n_features(n_features, n_columns, name=f"n_{what}s")
    return n_clusters, n_features


def check_subsamples(n_subsamples: int | None, X: Any) -> int:
    """Return the number of subsamples; None is 10, or 0 for a large table, and 1 is an error."""
    if n_subsamples is None:
        large = X.shape[0] * X.shape[1] > defaults.SUBSAMPLED_ELEMENTS
        return 0 if large else defaults.SUBSAMPLES
    check_number("n_subsamples", n_subsamples, low=0, integer=True)
    if n_subsamples == 1:
        raise ValueError("Stability compares selections: take 0 subsamples (none), or at least 2.")
    return int(n_subsamples)


class Repeats(NamedTuple):
    """What selections from subsamples have in common."""

    frequency: np.ndarray | None  # share of the subsamples in which each feature was selected
    stability: Stability | None  # how far the selections agree beyond chance
    notes: tuple[Note, ...]  # about fits that failed


def repeat_selection(
    selector: Any, prepared: "Prepared", progress: ProgressCallback = silent
) -> Repeats:
    """Fit a selector again to random subsets of the rows, with the numbers that it has found."""
    X, n_subsamples = prepared.X, prepared.n_subsamples
    rng, n = np.random.RandomState(prepared.random_state), X.shape[0]
    n_rows = min(max(round(defaults.SUBSAMPLE_SHARE * n), 2), n - 1)
    selections, failures, variables = [], [], selector._variables
    if variables is not None:  # the indicators of a category are one feature
        variables = np.unique(variables, return_inverse=True)[1]
    for i in range(n_subsamples):
        rows = np.sort(rng.permutation(n)[:n_rows])
        again = with_found_numbers(selector, random_state=rng.randint(np.iinfo(np.int32).max))
        progress(f"{type(selector).__name__}: subsample {i + 1} of {n_subsamples}")
        try:
            with catch_warnings():
                simplefilter("ignore")  # the fit to all rows has reported the same
                inside = {name: batch[rows] for name, batch in prepared.in_batches.items()}
                support = np.asarray(again.fit(X[rows], **inside).get_support())
                if variables is not None:
                    support = np.bincount(variables, support) > 0.0
                selections.append(support)
        except (ValueError, FloatingPointError, np.linalg.LinAlgError) as error:
            failures.append(str(error).rstrip("."))
    text = f"{len(failures)} of the {n_subsamples} fits to subsamples failed and do not count"
    return Repeats(
        np.mean(selections, axis=0) if selections else None,
        selection_stability(np.array(selections)) if len(selections) > 1 else None,
        (Note(f"{text} ({failures[0]}).", "subsamples"),) if failures else (),
    )
