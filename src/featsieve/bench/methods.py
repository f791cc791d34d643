"""What the benchmark knows about selectors: it is read off their constructors."""

import hashlib
import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

import featsieve
from featsieve.arrays import as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.base import UnsupervisedSelector
from featsieve.constraints import CONSTRAINTS

ALL_FEATURES = "AllFeatures"
RANDOM = "RandomSelector"
# JASFS with the classes as its labels: a ceiling for what labels found without them can give. It is
# a control that is neither ranked nor called best.
TRUE_LABELS = "TrueLabels"
# What classes from outside may build on: its versions are in the rows.
KNOWN = {"featsieve", "sklearn", *sys.stdlib_module_names}
# Parameters that the benchmark sets itself, from the data set, the cell and its seed (or leaves
# alone: what a fit prints is nobody's result).
COUNTS = ("n_clusters", "n_features_to_select")
RESERVED = (*COUNTS, "random_state", "callback", "verbose", *CONSTRAINTS)


class AllFeatures(UnsupervisedSelector):
    """Keep every feature: the control without any selection."""

    def __init__(self, n_features_to_select: int | float | str = 1.0) -> None:
        self.n_features_to_select = n_features_to_select

    def _fit(self, X: Any) -> None:
        """Score all features alike."""
        self._check_varies(to_numpy(as_operator(X).varies))
        self._set_selection(np.ones(X.shape[1]), X.shape[1])


def selector_names() -> tuple[str, ...]:
    """Return the selectors that a plan may name."""
    return (ALL_FEATURES, TRUE_LABELS, *sorted(featsieve.selectors.__all__))


@cache
def defaults_of(name: str) -> dict[str, Any]:
    """Return the parameters of a selector's constructor and their defaults."""
    return {key: value.default for key, value in signature(class_of(name)).parameters.items()}


def make_selector(
    name: str, params: Mapping[str, Any], *, n_clusters: int, random_state: int
) -> Any:
    """Return a selector, ready to be fitted."""
    given, usual = dict(params), defaults_of(name)
    if usual.get("n_clusters") is not None:  # SPEC may do without
        given["n_clusters"] = n_clusters
    if "random_state" in usual:
        given["random_state"] = random_state
    return class_of(name)(**given)


@cache
def code_of(name: str) -> str:
    """Return a hash of the files that a class from outside and its bases stand in; "" for ours."""
    modules = dict.fromkeys(base.__module__ for base in class_of(name).__mro__)
    paths = [sys.modules[m].__file__ for m in modules if m.partition(".")[0] not in KNOWN]
    code = b"".join(Path(path).read_bytes() for path in paths if path)
    return hashlib.sha256(code).hexdigest()[:16] if paths else ""


def distinct_params(selector: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters without those at their defaults: the same work has the same ones."""
    usual = defaults_of(selector)
    return {
        key: value
        for key, value in params.items()
        if key not in usual
        or value != usual[key]
        or isinstance(value, bool) != isinstance(usual[key], bool)  # True is not 1
    }


def class_of(name: str) -> Any:
    """Return the class of a selector: one of ours, or that of "module:Class"."""
    module, _, outside = name.partition(":")
    if outside:
        return _from_outside(module, outside)
    ours = {ALL_FEATURES: AllFeatures, TRUE_LABELS: featsieve.JASFS}
    return ours[name] if name in ours else getattr(featsieve, name)


def _from_outside(module: str, name: str) -> Any:
    """Return a class of a module that the benchmark does not know, if it is a selector."""
    try:
        found = vars(import_module(module.removesuffix(".py")))
    except ImportError as error:
        raise ValueError(f"{error}: PYTHONPATH must name the folder of {module}.py.") from error
    derived = [
        key
        for key, one in found.items()
        if isinstance(one, type) and issubclass(one, UnsupervisedSelector)
    ]
    file = f"{module}.py"
    if name not in found:
        raise ValueError(f"{file} has no class {name!r}; its selectors: {', '.join(derived)}.")
    if name not in derived:
        raise ValueError(f"{name} of {file} must be a subclass of UnsupervisedSelector.")
    if "n_features_to_select" not in signature(found[name]).parameters:
        raise ValueError(
            f"{name} of {file} needs @estimator above it and a line "
            "n_features_to_select: float = 0.1: docs/extend.md."
        )
    return found[name]
