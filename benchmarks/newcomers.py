"""What a newcomer gets: tables as CSV files, and the command that `featsieve inspect` proposes.

Each table is written as a file with its classes as a column of text, called "class". `featsieve
inspect` is run on it, then the command that it proposes, word for word, with a folder for the
results; nothing else is chosen. zoo and audiology, which are stored as 0/1 columns, have words in
their place; neighbouring columns of which every row has exactly one (the legs of zoo) are one
column again. "Clusters" are those of the selection, ARI compares them with the classes (which judge
only). Beside it k-means (ten starts) on all features: numbers standardised,
words as 0/1 columns, with the true number of classes, which the newcomer does not know, and with
the number that featsieve has found.

On four of these six k-means is level or ahead, with the number that featsieve has found as well,
most on zoo. Many rows of zoo are equal, and the nearest neighbours of a row with five copies are
these copies: in the graphs of neighbours, from which most hypotheses are cut, such rows hold to one
another, which is the likely reason there. On all yes/no answers below k-means is ahead.
The second table has the ARI (mean of three seeds) of JASFS with a given number of clusters,
on all rows and on the different rows alone, whose copies get their labels: zoo, and made-up yes/no
answers of three groups. Counting equal rows once helps some, and does harm where it is the number
of equal rows that shows the clusters; so it is not done.

Usage: [FEATSIEVE_DATA=folder] python benchmarks/newcomers.py [--tables wine ...]
       [--output benchmarks/results/newcomers.md]
"""

import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import real_data
from common import finish, options, table
from featsieve import JASFS
from featsieve.tables import encode

BUNDLED = {
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
    "iris": load_iris,
}
IN_WORDS = ("zoo", "audiology")


def make_table(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table as a spreadsheet would hold it, and its classes as text."""
    if name in BUNDLED:
        data = BUNDLED[name](as_frame=True)
        classes = np.array([f"kind {one}" for one in data.target])
        return data.data, classes
    X, y = real_data.load(name)
    words, start = [], 0
    while start < X.shape[1]:
        filled = np.cumsum(X[:, start:], axis=1)
        whole = np.flatnonzero((filled == 1).all(axis=0))  # one of these columns in every row
        width = int(whole[0]) + 1 if len(whole) and whole[0] else 1
        own = X[:, start : start + width]
        words.append(own.argmax(axis=1) if width > 1 else own[:, 0].astype(int))
        start += width
    # letters: "level 2" would seem to be above "level 1"
    frame = {
        f"column {j + 1}": [f"level {'abcdefghijklm'[k]}" for k in own]
        for j, own in enumerate(words)
    }
    return pd.DataFrame(frame), np.array([f"kind {one}" for one in y])


def by_k_means(frame: pd.DataFrame, classes: np.ndarray, n_clusters: int) -> float:
    """Return the ARI of k-means on all features."""
    X = StandardScaler().fit_transform(pd.get_dummies(frame).astype(float))
    labels = KMeans(n_clusters, n_init=10, random_state=0).fit_predict(X)
    return float(adjusted_rand_score(classes, labels))


def ask(*words: str) -> dict:
    """Run a command of featsieve, and return what it prints for machines."""
    command = [sys.executable, "-m", "featsieve", *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{shlex.join(words)}: {done.stderr}")
    return dict(json.loads(done.stdout))


def measure(name: str, folder: Path) -> list[str]:
    """Return the line of a table."""
    frame, classes = make_table(name)
    path = folder / f"{name.replace(' ', '_')}.csv"
    frame.assign(**{"class": classes}).to_csv(path, index=False)
    proposed = shlex.split(ask("inspect", str(path))["next"])
    at = proposed.index("-o")
    needed = [*proposed[3:at], *proposed[at + 2 :]]
    found = ask("select", str(path), "-o", str(folder / path.stem), *needed)
    rows = pd.read_csv(found["files"]["samples"])
    labels = rows["cluster"].to_numpy()
    c = len(np.unique(labels))
    names = [str(one) for one in found["selected"]]
    shown = ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
    return [
        f"{name} ({len(frame)} x {frame.shape[1]}, {len(frame.drop_duplicates())} different rows)",
        f"`{shlex.join(needed)}`" if needed else "none",
        str(found["structure"]["verdict"]),
        f"{c} of {len(np.unique(classes))}",
        f"{len(names)} ({shown})",
        f"{adjusted_rand_score(classes, labels):.2f}",
        f"{by_k_means(frame, classes, len(np.unique(classes))):.2f}",
        f"{by_k_means(frame, classes, c):.2f}",
    ]


def answers(n_questions: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return yes/no answers of three groups, which give their usual answer 9 times of 10."""
    rng = np.random.default_rng(n_questions)
    group, usual = rng.integers(0, 3, 300), rng.random((3, n_questions)) < 0.5
    given = usual[group] ^ (rng.random((300, n_questions)) < 0.1)
    return pd.DataFrame(given).astype(float).add_prefix("q"), group


def of_different_rows(name: str, X: pd.DataFrame, y: np.ndarray, c: int, groups: dict) -> list[str]:
    """Return the line of a table: JASFS on all rows, and on the different ones alone."""
    _, first, place = np.unique(X, axis=0, return_index=True, return_inverse=True)
    found: dict[str, list[float]] = {"all": [], "different": []}
    for seed in range(3):
        sieve = JASFS(c, n_features_to_select=3, groups=groups or None, random_state=seed)
        found["all"].append(adjusted_rand_score(y, sieve.fit(X).labels_))
        labels = sieve.fit(X.iloc[first]).labels_[place.ravel()]
        found["different"].append(adjusted_rand_score(y, labels))
    k_means = by_k_means(X, y, c)
    values = (f"{np.mean(values):.2f}" for values in (*found.values(), k_means))
    return [f"{name} ({len(X)} x {X.shape[1]}, {len(first)} different rows)", str(c), *values]


def repeated_rows() -> list[str]:
    """Return the table about rows that are equal."""
    rows = []
    if real_data.folder() is not None:
        frame, classes = make_table("zoo")
        X, groups = encode(frame)
        rows += [of_different_rows("zoo", X, classes, c, groups) for c in (4, 5, 6, 7)]
    for n_questions in (6, 8, 12, 16):
        rows.append(of_different_rows("yes/no answers", *answers(n_questions), 3, {}))
    return table(["table", "clusters", "all rows", "different rows", "k-means"], rows)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--tables", nargs="*", default=[*BUNDLED, *IN_WORDS])
    arguments = parser.parse_args()
    names = arguments.tables
    if real_data.folder() is None:
        names = [name for name in names if name not in IN_WORDS]
    head = ["table", "proposed options", "verdict", "clusters", "features", "ARI"]
    head += ["k-means, all features, known number", "k-means, found number"]
    with tempfile.TemporaryDirectory() as folder:
        lines = table(head, [measure(name, Path(folder)) for name in names])
    lines += ["", *repeated_rows()]
    finish(arguments.output, "What a newcomer gets", __doc__, lines)


if __name__ == "__main__":
    main()
