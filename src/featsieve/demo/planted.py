"""Tables whose informative columns are known: how many are found, and is noise told from signal."""

import warnings
from dataclasses import dataclass, replace

import numpy as np

from featsieve import JASFS, MaxVariance, RandomSelector, structure_score
from featsieve.datasets import Planted, make_planted
from featsieve.evaluation import paper_protocol
from featsieve.tuning import NoStructureWarning

N_SAMPLES, N_FEATURES, N_CLUSTERS = 150, 1000, 4
SEEDS = range(3)
# (informative columns, whether every column has a unit of its own)
KINDS = ((20, False), (60, True))
METHODS = ("JASFS", "published", "variance", "random")


@dataclass(frozen=True)
class FoundRow:
    """What was found in one table: informative columns per method, accuracy of k-means."""

    table: str
    informative: int
    found: dict[str, int]
    before: float  # k-means on all columns
    after: float  # on those that JASFS selected


@dataclass(frozen=True)
class AutomaticRow:
    """What was found in one table of which nothing was told."""

    table: str
    true_clusters: int | None  # None: noise
    clusters: int
    features: int
    informative: int
    equivalent_range: tuple[int, int]
    structure: float


def planted_table(seed: int, *, n_informative: int = 20, units: bool = False) -> Planted:
    """Make a table; with ``units`` every column is in a unit between 1/1000 and 1000."""
    planted = make_planted(
        n_samples=N_SAMPLES,
        n_features=N_FEATURES,
        n_informative=n_informative,
        n_clusters=N_CLUSTERS,
        random_state=seed,
    )
    if units:
        factors = 10.0 ** np.random.default_rng(seed).uniform(-3, 3, N_FEATURES)
        planted = replace(planted, X=planted.X * factors)
    return planted


def found_rows() -> list[FoundRow]:
    """Ask every method for as many columns as are informative, and count the right ones."""
    return [
        _found_row(seed, n_informative, units) for n_informative, units in KINDS for seed in SEEDS
    ]


def _found_row(seed: int, n_informative: int, units: bool) -> FoundRow:
    """Fit the methods to one table."""
    planted = planted_table(seed, n_informative=n_informative, units=units)
    k = n_informative
    selectors = (
        JASFS(N_CLUSTERS, n_features_to_select=k, random_state=0),
        JASFS(N_CLUSTERS, n_features_to_select=k, random_state=0, solver="paper"),
        MaxVariance(n_features_to_select=k),
        RandomSelector(n_features_to_select=k, random_state=seed),
    )
    supports = [selector.fit(planted.X).support_ for selector in selectors]
    found = {
        method: int(planted.informative[support].sum())
        for method, support in zip(METHODS, supports, strict=True)
    }
    # Judged on columns of unit variance, so that units do not decide what k-means sees.
    Z = planted.X / planted.X.std(axis=0)
    before, after = (
        float(paper_protocol(columns, planted.labels).accuracy.mean())
        for columns in (Z, Z[:, supports[0]])
    )
    name = f"{seed}, units" if units else str(seed)
    return FoundRow(name, n_informative, found, before, after)


def automatic_rows() -> list[AutomaticRow]:
    """Let both numbers be found, in planted tables and in one of nothing but noise."""
    rows = []
    for seed in SEEDS:
        planted = planted_table(seed)
        rows.append(_automatic_row(f"planted {seed}", planted.X, planted.informative))
    noise = np.random.default_rng(0).standard_normal((N_SAMPLES, N_FEATURES))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoStructureWarning)  # the row says it
        rows.append(_automatic_row("noise", noise, None))
    return rows


def _automatic_row(name: str, X: np.ndarray, informative: np.ndarray | None) -> AutomaticRow:
    """Fit one table with nothing given."""
    sieve = JASFS("auto", random_state=0).fit(X)
    return AutomaticRow(
        table=name,
        true_clusters=None if informative is None else N_CLUSTERS,
        clusters=sieve.n_clusters_,
        features=sieve.n_features_selected_,
        informative=0 if informative is None else int(informative[sieve.support_].sum()),
        equivalent_range=sieve.equivalent_range_,
        structure=float(structure_score(X, sieve.labels_)),
    )
