"""The methods that users would take instead, beside what their authors report.

IF-PCA: errors of clustering (share of samples, after matching clusters with classes) in Jin and
Wang (2016), quoted from memory: the text could not be looked up. Only brain has the authors' size;
the others are public versions of the same studies with other genes or coarser values. "rounds" are
the iterations by F statistics, which are ours.

Sparse k-means: the simulation of Witten and Tibshirani (2010) with 60 samples in 3 clusters, 50
informative of p features, shifts of mu; classification error rate (1 - Rand index) and number of
weights above zero, bound chosen by the gap statistic; means (standard errors in brackets). The
authors' numbers, over 20 tables, are quoted from memory: the text could not be looked up.

SKFR: the published iteration, written as loops over samples and run beside ours from the same
random labels: in how many of the starts labels and features are the same in the end. (Starts that
leave a cluster empty on their way are not counted: the authors go on without it. Distances tie
in colon, whose values are -2, 0 and 2: a sample stays where it is in ours.)

DUFS: two moons and further columns of uniform noise, after the paper's first example: how many of
the two columns of the moons are selected, in five tables together, with columns of unit variance
and as they are. The paper shows a figure, no numbers, in which gates find the two among many: with
unit variance that is not so here. Beside it LaplacianScore, on a graph without gates.

Usage: FEATSIEVE_DATA=folder python benchmarks/published.py [--output FILE]
"""

import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import rand_score

from common import finish, options, table
from featsieve import DUFS, IFPCA, LaplacianScore, SparseKMeans
from featsieve.arrays import as_operator
from featsieve.datasets import load_dataset
from featsieve.evaluation import clustering_accuracy
from featsieve.selectors.skfr import largest
from featsieve.solvers.block_problem import solve
from featsieve.solvers.weighted_kmeans import WeightedKMeans

# Name, IF-PCA's published error, what differs from the authors' table.
ERRORS = (
    ("brain", 0.262, "42 x 5597 as theirs, every sample scaled"),
    ("ALLAML", 0.069, "7129 genes, theirs 3571"),
    ("colon", 0.403, "values -2, 0, 2"),
    ("lung", 0.217, "3312 genes, theirs 12600"),
    ("Prostate-GE", 0.382, "5966 genes, theirs 6033"),
)
# (mu, p): error rate and number of weights of sparse 3-means.
SIMULATED = {
    (0.6, 50): ("0.146 (0.014)", "41.35 (0.895)"),
    (0.6, 200): ("0.157 (0.016)", "167.4 (7.147)"),
    (0.6, 500): ("0.183 (0.015)", "243.1 (31.726)"),
    (0.7, 50): ("0.081 (0.011)", "40.85 (0.642)"),
    (0.7, 200): ("0.049 (0.008)", "195.65 (2.514)"),
    (0.7, 500): ("0.078 (0.013)", "208.85 (19.995)"),
}
TABLES = 10
DUFS_HEAD = ["columns of noise", "DUFS", "no gates", "DUFS, as they are", "no gates, as they are"]


def ifpca_rows():
    for name, published, differs in ERRORS:
        data = load_dataset(name)
        X, y = np.asarray(data.X, dtype=np.float64), data.y
        c, cells = len(np.unique(y)), []
        for rounds in (1, 3):
            fits = [IFPCA(c, n_rounds=rounds, random_state=seed).fit(X) for seed in range(5)]
            errors = [1.0 - clustering_accuracy(y, one.labels_) for one in fits]
            cells.append(f"{np.mean(errors):.3f}")
        yield name, differs, f"{published:.3f}", *cells, fits[0].n_features_selected_


def simulated(mu: float, p: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1, 2], 20)
    X = rng.standard_normal((60, p))
    X[:20, :50] += mu
    X[20:40, :50] -= mu
    return X, labels


def sparse_kmeans_rows():
    for (mu, p), published in SIMULATED.items():
        errors, counts = [], []
        for seed in range(TABLES):
            X, labels = simulated(mu, p, seed)
            fit = SparseKMeans(3, random_state=seed).fit(X)
            errors.append(1.0 - rand_score(labels, fit.labels_))
            counts.append(fit.n_features_selected_)
        ours = [
            f"{np.mean(a):.3f} ({np.std(a, ddof=1) / np.sqrt(TABLES):.3f})"
            for a in (errors, counts)
        ]
        print(mu, p, ours, flush=True)
        yield mu, p, published[0], ours[0], published[1], ours[1]


def published_skfr(Z: np.ndarray, labels: np.ndarray, c: int, k: int):
    """Iterate as the paper says, sample by sample; None if a cluster is left empty."""
    while True:
        centres = np.array([Z[labels == one].mean(axis=0) for one in range(c)])
        criterion = (np.bincount(labels, minlength=c)[:, None] * centres**2).sum(axis=0)
        columns = np.argsort(-criterion, kind="stable")[:k]
        moved = labels.copy()
        for i, x in enumerate(Z[:, columns]):
            moved[i] = np.argmin([np.sum((x - centre) ** 2) for centre in centres[:, columns]])
        if (moved == labels).all():
            return labels, set(columns.tolist())
        if len(np.unique(moved)) < c:
            return None
        labels = moved


def skfr_rows():
    for name, k in (("brain", 100), ("colon", 50), ("lung", 200)):
        data = load_dataset(name)
        X, c = np.asarray(data.X, dtype=np.float64), len(np.unique(data.y))
        Z, rng = (X - X.mean(axis=0)) / X.std(axis=0), np.random.default_rng(0)
        problem = WeightedKMeans(
            as_operator(X, scale="std"), c, lambda b, k=k: largest(b, k), by_steps=True
        )
        same = counted = 0
        for _ in range(20):
            labels = rng.permutation(np.arange(len(X)) % c)
            expected = published_skfr(Z, labels, c, k)
            if expected is not None:
                found = solve(problem, problem.start(labels), tol=1e-15).state
                chosen = set(np.flatnonzero(found.weights).tolist())
                counted += 1
                same += bool((found.labels == expected[0]).all()) and chosen == expected[1]
        yield name, k, counted, same


def dufs_rows():
    for n_noise in (10, 50, 100):
        cells = []
        for scale in ("unit", "none"):
            for method in (DUFS(2, scale=scale, random_state=0), LaplacianScore(2, scale=scale)):
                found = 0
                for seed in range(5):
                    X = make_moons(100, noise=0.1, random_state=seed)[0]
                    X = np.hstack([X, np.random.default_rng(seed).random((100, n_noise))])
                    found += int(method.fit(X).support_[:2].sum())
                cells.append(f"{found} of 10")
        yield n_noise, *cells


def main() -> None:
    arguments = options(__doc__).parse_args()
    lines = ["## IF-PCA", ""]
    head = ["table", "against the authors'", "authors", "ours", "3 rounds", "features"]
    lines += table(head, ifpca_rows())
    lines += ["", "## Sparse k-means", ""]
    head = ["mu", "p", "error, authors", "error, ours", "weights, authors", "weights, ours"]
    lines += table(head, sparse_kmeans_rows())
    lines += ["", "## SKFR", ""]
    lines += table(["table", "features", "starts", "the same end"], skfr_rows())
    lines += ["", "## DUFS", ""]
    lines += table(DUFS_HEAD, dufs_rows())
    finish(arguments.output, "Other methods beside their authors' numbers", __doc__, lines)


if __name__ == "__main__":
    main()
