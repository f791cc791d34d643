"""Every selector and meta-estimator, with parameters drawn by hypothesis."""

import inspect
from typing import Any

from hypothesis import strategies as st

import featsieve
from featsieve.criteria.measures import CRITERIA

SELECTORS = tuple(featsieve.selectors.__all__)
META_ESTIMATORS = ("AutoSelector", "StabilitySelection", "LabelFreeSearchCV")
# Selectors inside of a meta-estimator: cheap ones, one that finds clusters, one that counts itself.
INNER = ("LaplacianScore", "MaxVariance", "RandomSelector", "MCFS", "JASFS")

SCALES = ("unit", "unit", "none", "raw", "sqrt")
STARTS = ("spectral", "k-means", "given")
# Options of each selector; the first is the default.
OPTIONS: dict[str, dict[str, tuple[Any, ...]]] = {
    "JASFS": {
        "solver": ("joint", "joint", "paper"),
        "init": (None, None, "spectral", "k-means", "given"),
        "n_hypotheses": ("auto", "auto", 1, 2, 9),
        "refine_labels": (False, False, True),
        "scale": ("auto", "unit", "sqrt", "none"),
        "sparsity": ("auto", "auto", 1e-3, 1e6),
        "alpha": (0.3, 0.0, 1e3),
        "ridge": (10.0, 1e-6, 1e6),
        "shrinkage": (1.0, 1e-6, 1e6),
        "path_length": (300, 0, 1),
    },
    "AUFS": {
        "init": STARTS,
        "sparsity": ("auto", "auto", 1e-3, 1e6),
        "sigma": ("auto", 0.1),
    },
    "MCFS": {"ridge": (1e-3, 1e-9, 1.0)},
    "NDFS": {"init": STARTS, "beta": ("auto", 1e-3, 1e3)},
    "RSFS": {"init": STARTS, "nu": ("auto", 1e-3)},
    "RUFS": {"init": STARTS, "beta": ("auto", 1e-3, 1e3)},
    "SOGFS": {
        "init": ("roughness", "identity"),
        "gamma": ("auto", 1e-3, 1e3),
        "n_components": (None, 1, 2),
    },
    "SPEC": {"criterion": ("normalized", "plain", "leading")},
    "UDFS": {"init": ("roughness", "identity"), "gamma": ("auto", 1e-3, 1e3)},
    "UGFS": {"init": STARTS, "alpha": (0.01, 0.0, 10.0)},
    "URAFS": {"init": ("k-means", "spectral", "given"), "sparsity": (10.0, 0.1, 1e3)},
    "USFS": {
        "init": ("k-means", "spectral", "given"),
        "beta": ("auto", 0.1),
        "gamma": ("auto", 0.1),
    },
}
COMMON = {
    "scale": SCALES,
    "affinity": ("heat", "heat", "binary"),
    "n_neighbors": (5, 1, 2, 100),
    "max_iter": (5, 1, 2, 20),
    "max_inner_iter": (5,),
    "random_state": (0, 1, 2**32 - 1),
}


def parameters_of(name: str) -> frozenset[str]:
    """Return the names of an estimator's parameters."""
    return frozenset(inspect.signature(getattr(featsieve, name)).parameters)


def cluster_counts(n_samples: int) -> st.SearchStrategy[Any]:
    """Draw a number of clusters: most are valid, some are not."""
    usual = (2, 2, 3, 3, max(2, n_samples // 2), n_samples)
    return st.sampled_from((*(usual * 3), 1, 0, n_samples + 1, "auto"))


def feature_counts(n_features: int) -> st.SearchStrategy[Any]:
    """Draw a number of features: most are valid, some are not."""
    usual = (1, min(2, n_features), (n_features + 1) // 2, n_features, 0.5, 1e-9, 1.0)
    return st.sampled_from((*(usual * 3), 0, n_features + 1, 1.5, "auto", None))


@st.composite
def selectors(draw: st.DrawFn, name: str, shape: tuple[int, int]) -> Any:
    """Draw a selector for a table of that shape."""
    n, d = shape
    known = parameters_of(name)
    chosen: dict[str, Any] = {}
    if "n_clusters" in known:
        chosen["n_clusters"] = draw(cluster_counts(n))
    chosen["n_features_to_select"] = draw(feature_counts(d))
    for parameter, options in {**COMMON, **OPTIONS.get(name, {})}.items():
        if parameter in known:
            chosen[parameter] = draw(st.sampled_from(options))
    if chosen.get("init") == "given":
        count = chosen["n_clusters"] if isinstance(chosen["n_clusters"], int) else 2
        chosen["init"] = [i % max(count, 1) for i in range(n)]
    if name == "JASFS" and chosen["sparsity"] != "auto" and draw(st.booleans()):
        chosen["n_features_to_select"] = None  # both at once are refused
    return getattr(featsieve, name)(**chosen)


@st.composite
def meta_estimators(draw: st.DrawFn, name: str, shape: tuple[int, int]) -> Any:
    """Draw a meta-estimator, and the selector inside of it, for a table of that shape."""
    inner = draw(selectors(draw(st.sampled_from(INNER)), shape))
    criterion = draw(st.sampled_from(("modularity", "modularity", *CRITERIA)))
    d = shape[1]
    if name == "AutoSelector":
        sizes = draw(st.sampled_from((None, None, (1,), range(1, d + 1), (d, d + 1), ())))
        return featsieve.AutoSelector(
            inner,
            criterion=draw(st.sampled_from((None, criterion))),
            sizes=sizes,
        )
    if name == "StabilitySelection":
        return featsieve.StabilitySelection(
            inner,
            n_subsamples=draw(st.sampled_from((2, 3, 1))),
            subsample_size=draw(st.sampled_from((0.8, 0.8, 0.5, 0.1, 0.99, 1.0))),
            threshold=draw(st.sampled_from((0.6, 1.0, 0.01))),
            n_features_to_select=draw(st.none() | feature_counts(d)),
            random_state=draw(st.sampled_from(COMMON["random_state"])),
        )
    return featsieve.LabelFreeSearchCV(
        inner,
        {"n_features_to_select": draw(st.lists(feature_counts(d), min_size=1, max_size=2))},
        criterion=criterion,
        cv=draw(st.sampled_from((None, None, 2))),
        error_score=draw(st.sampled_from(("raise", "raise", float("nan")))),
    )
