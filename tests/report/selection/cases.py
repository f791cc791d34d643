"""Selections that the tests of their report look at."""

from functools import cache

import numpy as np

from featsieve import JASFS, StabilitySelection
from featsieve.criteria.structure import untested
from featsieve.datasets import make_planted
from featsieve.report import summarize_selection
from featsieve.tuning import StructureTest


def tested(verdict, *permuted_and_rotated):
    """Return a test of structure: verdict, p-value and value of both kinds of copies."""
    (p_permuted, permuted), (p_rotated, rotated) = permuted_and_rotated
    copies = np.linspace(-0.5, 2.0, 19)
    return StructureTest(
        verdict=verdict,
        p_permuted=p_permuted,
        p_rotated=p_rotated,
        value_permuted=permuted,
        null_permuted=copies,
        value_rotated=rotated,
        null_rotated=np.empty(0) if np.isnan(rotated) else copies,
        n_samples=60,
        n_features=40,
        table_shape=(60, 40),
        level=0.05,
    )


CLEAR = tested("clusters", (0.05, 19.2), (0.05, 8.4))
GRADIENT = tested("gradient", (0.05, 266.0), (0.4, 1.2))
NOTHING = tested("nothing", (0.45, 0.9), (np.nan, np.nan))
EVIL = "</script><script>alert(1)</script>&\"'`${x}\u2028"


@cache
def planted():
    return make_planted(60, 40, n_informative=8, n_clusters=3, signal=3.0, random_state=0)


@cache
def automatic():
    """Return JASFS with its number of features found, and the summary of that."""
    with untested():
        sieve = JASFS(3, random_state=0).fit(planted().X)
    return sieve, summarize_selection(sieve, planted().X, structure=CLEAR)


@cache
def stable():
    sieve = JASFS(3, n_features_to_select=8)
    sieve = StabilitySelection(sieve, n_subsamples=5, random_state=0).fit(planted().X)
    return sieve, summarize_selection(sieve, planted().X, y=planted().labels, structure=CLEAR)


def noise(n_samples=50, n_features=30):
    return np.random.default_rng(0).standard_normal((n_samples, n_features))
