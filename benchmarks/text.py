"""Which words show the topics? Rules of selection on tables of words, chosen without the labels.

Every rule selects k columns of a tf-idf table (unit rows). Judged is spherical k-means on these
columns: rows scaled to unit length again, the true number of topics given, mean of five seeds, ACC
and NMI in percent. "labels" is the NMI of the clusters that the rule itself worked with.

The synthetic collections are there to choose a rule on: word frequencies by Zipf's law, topics that
favour some of the words, threads (a few documents that share rare words), authors (rare words in
every topic), bursts, and documents of very unequal length. news20 is there to report on. "All
columns" selects nothing; "variance" takes the columns of the largest variance of tf-idf, the
control to beat.

"Agreement" (the list of words, by variance or by contrast between clusters, on which k-means comes
closest to the clusters of the whole table) was devised after other rules had been scored on news20.
It looks at no topics, but its place in the table is not a test on unseen data. With one labelled
collection and nine rules, a lead of a point over "variance" proves nothing. The seconds in the CSV
were taken on a busy machine.

Usage: FEATSIEVE_DATA=folder python benchmarks/text.py [--tables t0 news20] [--rules ...]
       [--features 1000] [--output FILE]
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from common import finish, line, options, table
from featsieve import JASFS, LaplacianScore
from featsieve.arrays import as_operator
from featsieve.evaluation import ClusteringScores
from featsieve.terms import normalised_indicator

SEEDS = range(5)
FEWEST_DOCUMENTS = 5
SYNTHETIC = ("t0", "t1", "t2", "t3", "t4", "t5")


class Words(NamedTuple):
    """A tf-idf table with the topics of its documents."""

    X: sp.csr_array
    y: np.ndarray
    n_features: int


class Selected(NamedTuple):
    """What a rule selects, and the clusters that it worked with, if it did."""

    columns: np.ndarray
    labels: np.ndarray | None = None


# Tables ------------------------------------------------------------------------------------------


def topics(
    seed: int, *, n: int = 2000, d: int = 8000, n_topics: int = 10, strength: float = 3.5
) -> tuple[sp.csr_array, np.ndarray]:
    """Return word counts of a made-up collection, and the topics."""
    rng = np.random.default_rng(seed)
    base = 1.0 / (np.arange(d) + 3.0)
    y = rng.choice(n_topics, size=n, p=rng.dirichlet(np.full(n_topics, 10.0)))
    favoured = rng.random((n_topics, d)) < 0.03
    boost = np.where(favoured, np.exp(rng.normal(strength, 1.0, (n_topics, d))), 1.0)
    boost[:, :100] = 1.0  # the commonest words belong to nobody
    n_threads, n_authors = n // 4, n // 10
    thread = rng.integers(n_threads, size=n)
    y = y[thread]  # a thread has one topic
    author = rng.integers(n_authors, size=n)
    rare = np.arange(d // 10, d)
    of_thread = [rng.choice(rare, 5, replace=False) for _ in range(n_threads)]
    of_author = [rng.choice(rare, 4, replace=False) for _ in range(n_authors)]
    length = np.exp(rng.normal(4.3, 0.8, n))
    share = rng.beta(2.0, 2.0, n)  # of the topic in a document
    rows = []
    for i in range(n):
        rate = base * (1.0 - share[i] + share[i] * boost[y[i]])
        rate *= rng.gamma(0.3, 1.0 / 0.3, d)  # bursts
        rate *= length[i] / rate.sum()
        rate[of_thread[thread[i]]] += 0.3
        rate[of_author[author[i]]] += 0.3
        rows.append(sp.csr_array(rng.poisson(rate)[None, :]))
    return sp.csr_array(sp.vstack(rows)), y


def load(name: str, n_features: int) -> Words | None:
    """Return a table, or None where the data are missing."""
    if name in SYNTHETIC:
        seed = SYNTHETIC.index(name)
        n_topics, strength = ((10, 3.5), (20, 3.5), (10, 3.2))[seed % 3]
        counts, y = topics(seed, n_topics=n_topics, strength=strength)
    else:
        path = Path(os.environ.get("FEATSIEVE_DATA", "")) / "scale" / "news20_15935x62061.npz"
        if not path.is_file():
            return None
        with np.load(path) as file:
            parts = (file["data"], file["indices"], file["indptr"])
            counts = sp.csr_array(parts, shape=tuple(file["shape"]))
            y = np.unique(file["y"], return_inverse=True)[1]
    X = TfidfTransformer().fit_transform(counts.astype(np.float64))
    return Words(sp.csr_array(X), y, n_features if name not in SYNTHETIC else n_features // 5)


# Rules -------------------------------------------------------------------------------------------


def variance(X: sp.csr_array) -> np.ndarray:
    """Return the centred sums of squares of the columns."""
    return as_operator(X).column_norms()


def best(scores: np.ndarray, k: int) -> np.ndarray:
    """Return the columns of the k largest scores."""
    return np.argsort(-scores, kind="stable")[:k]


def between(X: sp.csr_array, labels: np.ndarray, scale: str) -> np.ndarray:
    """Return the sum of squares between clusters of every column: ||z_j'F||^2."""
    F = normalised_indicator(labels, int(labels.max()) + 1)
    return (as_operator(X, scale=scale).rmatmul(F - F.mean(axis=0)) ** 2).sum(axis=1)


def jasfs(table: Words, **options: object) -> JASFS:
    """Return a fitted JASFS."""
    c = int(table.y.max()) + 1
    settings = {"n_features_to_select": table.n_features, "random_state": 0, **options}
    return JASFS(c, **settings).fit(table.X)


def by_jasfs(**options: object) -> Callable[[Words], Selected]:
    """Return the rule: what JASFS selects with some options."""

    def rule(table: Words) -> Selected:
        sieve = jasfs(table, **options)
        return Selected(np.flatnonzero(sieve.support_), sieve.labels_)

    return rule


def frequent(rule: Callable[[Words], Selected]) -> Callable[[Words], Selected]:
    """Return a rule restricted to words that occur in at least five documents."""

    def restricted(table: Words) -> Selected:
        documents = np.bincount(table.X.indices, minlength=table.X.shape[1])
        kept = np.flatnonzero(documents >= FEWEST_DOCUMENTS)
        found = rule(table._replace(X=sp.csr_array(table.X[:, kept])))
        return Selected(kept[found.columns], found.labels)

    return restricted


def by_agreement(table: Words) -> Selected:
    """Return the selection on which k-means comes closest to the clusters of the whole table.

    Compared are the columns of the largest variance, and of the largest contrast in every scale.
    The clusters are those that JASFS finds in the scale "sqrt"; no topics are looked at.
    """
    labels = jasfs(table, scale="sqrt", n_features_to_select=10).labels_
    scores = [variance(table.X), *(between(table.X, labels, s) for s in ("none", "sqrt", "unit"))]
    choices = [best(score, table.n_features) for score in scores]
    agreement = [spherical_scores(table.X[:, np.sort(c)], labels)[1] for c in choices]
    return Selected(choices[int(np.argmax(agreement))], labels)


def laplacian_score(table: Words) -> Selected:
    """Return what LaplacianScore selects."""
    sieve = LaplacianScore(n_features_to_select=table.n_features).fit(table.X)
    return Selected(np.flatnonzero(sieve.support_))


RULES: dict[str, Callable[[Words], Selected]] = {
    "all columns": lambda table: Selected(np.arange(table.X.shape[1])),
    "variance": lambda table: Selected(best(variance(table.X), table.n_features)),
    "LaplacianScore": laplacian_score,
    "JASFS": by_jasfs(),
    "JASFS, 5 documents": frequent(by_jasfs()),
    "JASFS sqrt": by_jasfs(scale="sqrt"),
    "JASFS sqrt, 5 documents": frequent(by_jasfs(scale="sqrt")),
    "JASFS none": by_jasfs(scale="none"),
    "agreement": by_agreement,
}

# Judgement ---------------------------------------------------------------------------------------


def spherical_scores(X: sp.csr_array, y: np.ndarray) -> tuple[float, float]:
    """Return mean ACC and NMI of spherical k-means (k-means of unit rows)."""
    points = normalize(sp.csr_array(X))
    c = int(y.max()) + 1
    found = [KMeans(c, n_init=1, random_state=seed).fit_predict(points) for seed in SEEDS]
    scores = np.array([ClusteringScores.of_labels(y, labels).mean()[:2] for labels in found])
    return tuple(100.0 * scores.mean(axis=0))


def measure(name: str, rule: str, n_features: int) -> dict[str, object] | None:
    """Return one line of the table."""
    table = load(name, n_features)
    if table is None:
        return None
    start = time.perf_counter()
    selected = RULES[rule](table)
    seconds = time.perf_counter() - start
    accuracy, nmi = spherical_scores(table.X[:, np.sort(selected.columns)], table.y)
    own = ""
    if selected.labels is not None:
        own = f"{100.0 * ClusteringScores.of_labels(table.y, selected.labels).mean()[1]:.1f}"
    return {
        "table": name,
        "rule": rule,
        "features": len(selected.columns),
        "ACC": f"{accuracy:.1f}",
        "NMI": f"{nmi:.1f}",
        "labels NMI": own,
        "seconds": f"{seconds:.1f}",
    }


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--tables", nargs="+", default=[*SYNTHETIC, "news20"])
    parser.add_argument("--rules", nargs="+", default=list(RULES), choices=list(RULES))
    parser.add_argument("--features", type=int, default=1000)
    arguments = parser.parse_args()
    rows = []
    for name in arguments.tables:
        for rule in arguments.rules:
            row = measure(name, rule, arguments.features)
            if row is None:
                print(f"text.py: {name} is skipped, FEATSIEVE_DATA does not name its folder.")
                break
            rows.append(row)
            print(" | ".join(str(value) for value in row.values()), flush=True)
    finish(arguments.output, "Words that show topics", __doc__, summary(rows), rows)


def summary(rows: list[dict[str, object]]) -> list[str]:
    """Return a table with the mean over the synthetic collections."""
    names = list(dict.fromkeys(str(row["table"]) for row in rows))
    rules = list(dict.fromkeys(str(row["rule"]) for row in rows))
    found = {(row["table"], row["rule"]): row for row in rows}
    made_up = [name for name in names if name in SYNTHETIC]
    head = ["rule", *([f"mean of {len(made_up)} synthetic"] if made_up else [])]
    head += [name for name in names if name not in SYNTHETIC]
    head += [f"{name}: labels NMI" for name in names if name not in SYNTHETIC]
    lines = table(head, [])
    for rule in rules:
        cells = [rule]
        if made_up:
            pairs = [[float(found[name, rule][key]) for key in ("ACC", "NMI")] for name in made_up]
            cells.append("/".join(f"{value:.1f}" for value in np.mean(pairs, axis=0)))
        others = [found[name, rule] for name in names if name not in SYNTHETIC]
        cells += [f"{row['ACC']}/{row['NMI']}" for row in others]
        cells += [str(row["labels NMI"]) for row in others]
        lines.append(line(cells))
    return lines


if __name__ == "__main__":
    main()
