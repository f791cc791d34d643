"""Tables with known truth: planted columns, noise and digits, and what was found in them."""

import warnings
from dataclasses import replace

import numpy as np
from sklearn.datasets import load_digits

from featsieve import JASFS, MaxVariance, RandomSelector, defaults, structure_score
from featsieve.datasets import Planted, make_planted
from featsieve.evaluation import ClusteringScores, paper_protocol
from featsieve.report.page import Entry, PageTable, Row
from featsieve.tuning import NoStructureWarning

N_SAMPLES, N_FEATURES, N_CLUSTERS = 150, 1000, 4
SEEDS = range(3)
# (informative columns, whether every column has a unit of its own)
KINDS = ((20, False), (60, True))
PIXEL_COUNTS = (30, 20, 10)


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


def found_table() -> PageTable:
    """Ask methods for as many columns as are planted, and count the right ones."""
    rows = []
    for (k, units), seed in ((kind, seed) for kind in KINDS for seed in SEEDS):
        planted = planted_table(seed, n_informative=k, units=units)
        selectors = (
            JASFS(N_CLUSTERS, n_features_to_select=k, random_state=0),
            JASFS(N_CLUSTERS, n_features_to_select=k, random_state=0, solver="paper"),
            MaxVariance(n_features_to_select=k),
            RandomSelector(n_features_to_select=k, random_state=seed),
        )
        supports = [selector.fit(planted.X).support_ for selector in selectors]
        found = [int(planted.informative[support].sum()) for support in supports]
        # judged on columns of unit variance, so that units do not decide what k-means sees
        Z = planted.X / planted.X.std(axis=0)
        before, after = (
            paper_protocol(columns, planted.labels).accuracy.mean()
            for columns in (Z, Z[:, supports[0]])
        )
        cells = [Entry(str(count), best=count == max(found)) for count in found]
        scores = _entries(f"{before:.2f}", f"{after:.2f}")
        rows.append(Row(f"{seed}, units" if units else str(seed), (Entry(str(k)), *cells, *scores)))
    methods = ("JASFS", "published", "variance", "random")
    return PageTable(
        "Planted columns found, and accuracy of k-means before and after",
        ("table", "planted", *methods, "ACC before", "ACC after"),
        tuple(rows),
    )


def automatic_table() -> PageTable:
    """Let both numbers be found, in planted tables and in one of nothing but noise."""
    tables = [(f"planted {seed}", planted_table(seed)) for seed in SEEDS]
    noise = np.random.default_rng(0).standard_normal((N_SAMPLES, N_FEATURES))
    tables.append(("noise", replace(tables[0][1], X=noise)))
    rows = []
    for name, planted in tables:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoStructureWarning)  # the row says it
            sieve = JASFS("auto", random_state=0).fit(planted.X)
            structure = structure_score(planted.X, sieve.labels_)
        low, high = sieve.equivalent_range_
        right = "-" if name == "noise" else str(planted.informative[sieve.support_].sum())
        cells = _entries(
            "none" if name == "noise" else str(N_CLUSTERS),
            str(sieve.n_clusters_),
            str(sieve.n_features_selected_),
            right,
            f"{low} to {high}",
        )
        verdict = "" if structure >= defaults.NOISE_SCORE else "nothing there"
        rows.append(Row(name, (*cells, Entry(f"{structure:.2f}", note=verdict))))
    head = ("table", "true clusters", "found", "columns", "planted", "as good", "structure")
    return PageTable("Found by itself", head, tuple(rows))


def digits_table() -> tuple[JASFS, PageTable]:
    """Select pixels without labels, and let the labels judge."""
    X, y = load_digits(return_X_y=True)
    sieve = JASFS(10, random_state=0).fit(X)
    clusterings = [("k-means, all pixels", X.shape[1], paper_protocol(X, y))]
    for k in PIXEL_COUNTS:
        scores = paper_protocol(X[:, sieve.path_.order[:k]], y)
        clusterings.append(("k-means, best pixels", k, scores))
    own = ClusteringScores.of_labels(y, sieve.labels_)
    clusterings.append(("JASFS's own clusters", sieve.n_features_selected_, own))
    rows = []
    for name, count, scores in clusterings:
        accuracy, nmi, _ = scores.mean()
        rows.append(Row(name, _entries(str(count), f"{accuracy:.2f}", f"{nmi:.2f}")))
    head = ("clustering", "pixels", "ACC", "NMI")
    return sieve, PageTable("Agreement with the digits", head, tuple(rows))


def _entries(*texts: str) -> tuple[Entry, ...]:
    """Return plain cells."""
    return tuple(Entry(text, missing=text == "-") for text in texts)
