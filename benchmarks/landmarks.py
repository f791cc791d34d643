"""What landmarks cost in quality: MNIST with the exact neighbour graph and with landmarks.

For both graphs, and several seeds: how well the clusters agree with the digits (NMI and ACC of
``labels_``), and what 100 selected pixels are worth (the same for the better of two k-means runs
on them). Controls: 100 random pixels, the 100 of largest variance, all 784. The digits are used
for these figures alone.

Usage: FEATSIEVE_DATA=folder python benchmarks/landmarks.py [--sizes 20000 70000] [--seeds 3]
       [--output benchmarks/results/landmarks]
"""

import time

import numpy as np
from sklearn.cluster import KMeans

import real_data
from common import finish, line, options
from featsieve import JASFS
from featsieve.evaluation import clustering_accuracy, normalized_mutual_information

N_PIXELS = 100
FIELDS = [
    "images", "how", "seed", "seconds", "labels_acc", "labels_nmi", "pixels_acc", "pixels_nmi",
]  # fmt: skip


def scores(y: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Return accuracy and NMI in percent."""
    accuracy = 100 * clustering_accuracy(y, labels)
    return round(accuracy, 1), round(100 * normalized_mutual_information(y, labels), 1)


def pixel_scores(X: np.ndarray, y: np.ndarray, pixels: np.ndarray) -> tuple[float, float]:
    """Return the scores of k-means on some pixels."""
    part = X[:, pixels].astype(np.float32)
    return scores(y, KMeans(10, n_init=2, random_state=0).fit(part).labels_)


def measure(n: int, n_seeds: int) -> list[dict]:
    with np.load(real_data.folder() / "scale" / "mnist_70000x784.npz") as stored:
        order = np.sort(np.random.RandomState(0).permutation(len(stored["y"]))[:n])
        X, y = stored["X"][order], stored["y"][order]
    rows = []

    def add(how: str, seed: int | str, seconds: float, labels: tuple, pixels: tuple) -> None:
        values = [n, how, seed, round(seconds, 1), *labels, *pixels]
        rows.append(dict(zip(FIELDS, values, strict=True)))
        print(rows[-1], flush=True)

    for how, init in [("exact graph", "spectral"), ("landmarks", "landmarks")]:
        for seed in range(n_seeds):
            begun = time.perf_counter()
            sieve = JASFS(10, n_features_to_select=N_PIXELS, init=init, random_state=seed).fit(X)
            seconds = time.perf_counter() - begun
            pixels = pixel_scores(X, y, np.flatnonzero(sieve.support_))
            add(how, seed, seconds, scores(y, sieve.labels_), pixels)
    for seed in range(n_seeds):
        chosen = np.random.RandomState(seed).choice(X.shape[1], N_PIXELS, replace=False)
        add("random pixels", seed, 0.0, ("", ""), pixel_scores(X, y, chosen))
    variance = X.var(axis=0, dtype=np.float64)
    largest = np.argsort(-variance)[:N_PIXELS]
    add("largest variance", "", 0.0, ("", ""), pixel_scores(X, y, largest))
    add("all pixels", "", 0.0, ("", ""), pixel_scores(X, y, np.arange(X.shape[1])))
    return rows


def tabulate(rows: list[dict]) -> list[str]:
    """Return the means over the seeds as a table."""
    text = ["Means over the seeds, in percent; in brackets the lowest and the highest.", ""]
    text += ["| images | how | seconds | labels ACC | labels NMI | pixels ACC | pixels NMI |"]
    text += ["|---|---|---|---|---|---|---|"]
    for n, how in dict.fromkeys((row["images"], row["how"]) for row in rows):
        own = [row for row in rows if (row["images"], row["how"]) == (n, how)]
        cells = []
        for name in FIELDS[3:]:
            values = [float(row[name]) for row in own if row[name] != ""]
            spread = f" ({min(values)} to {max(values)})" if len(values) > 1 else ""
            cells.append(f"{np.mean(values):.1f}{spread}" if values and any(values) else "")
        text.append(line([f"{n:,}", how, *cells]))
    return text


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--sizes", nargs="+", type=int, default=[20_000, 70_000])
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    if real_data.folder() is None:
        parser.error("FEATSIEVE_DATA is not set: it names the folder with scale/mnist_*.npz")
    rows = [row for n in arguments.sizes for row in measure(n, arguments.seeds)]
    finish(arguments.output, "What landmarks cost", __doc__, tabulate(rows), rows)


if __name__ == "__main__":
    main()
