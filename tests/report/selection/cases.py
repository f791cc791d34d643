"""Selections that the tests of their report look at."""

from functools import cache
from inspect import signature

import numpy as np

import featsieve
from featsieve import JASFS, StabilitySelection
from featsieve.datasets import make_planted
from featsieve.report import summarize_selection

EVIL = "</script><script>alert(1)</script>&\"'`${x}\u2028"


@cache
def planted():
    return make_planted(60, 40, n_informative=8, n_clusters=3, signal=3.0, random_state=0)


@cache
def automatic():
    """Return JASFS with its number of features found, and the summary of that."""
    sieve = JASFS(3, random_state=0).fit(planted().X)
    return sieve, summarize_selection(sieve, planted().X)


@cache
def stable():
    sieve = JASFS(3, n_features_to_select=8)
    sieve = StabilitySelection(sieve, n_subsamples=5, random_state=0).fit(planted().X)
    return sieve, summarize_selection(sieve, planted().X, y=planted().labels)


def any_selector(name, n_features=5):
    """Return a selector of some class, with settings that it has."""
    cls = getattr(featsieve, name)
    settings = {"n_clusters": 3, "n_features_to_select": n_features, "random_state": 0}
    return cls(**{key: settings[key] for key in signature(cls).parameters if key in settings})


def noise(n_samples=50, n_features=30):
    return np.random.default_rng(0).standard_normal((n_samples, n_features))
