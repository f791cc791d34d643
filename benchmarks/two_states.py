"""Two states of the code side by side: this one, and another that is given as a folder.

Every fit runs in a process of its own, with the other state and then with this one, and one thread
of the BLAS library ("all threads": as many as it takes by itself, as users' fits have); shown are
processor seconds, the best of some fits after a first that loads everything (tables with many rows:
one fit). Fits are given the numbers of clusters and of features
(100; 50 of 1,000,000 x 500), but for "both automatic". The synthetic tables have clusters in a
tenth of their columns.

"Scores" (``--scores``) are those of the two selections: on real tables ACC/NMI in percent of
k-means on the selected columns ("area") and of `labels_` ("own"), as in quality.md; on the planted
catalogue recall of the planted columns and ARI of `labels_`, as in planted.md.

Usage: git worktree add ../other 03beda3   # the committed pages: the last commit before hypotheses
       (libraries that only the other state needs, here array-api-extra, are found on PYTHONPATH)
       [FEATSIEVE_DATA=folder] python benchmarks/two_states.py ../other/src [--repeat 3] [--scores]
       [--jobs 2] [--tables brain "both automatic" ...] [--output benchmarks/results/two_states.md]
"""

import json
import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import real_data
from common import finish, in_own_process, in_parallel, line, options, table
from featsieve.datasets import make_catalogue_table, make_planted, planted_kinds
from featsieve.evaluation import ClusteringScores, paper_protocol
from quality import COUNTS, GROUPS

SEEDS = 5  # planted tables of a kind, as in planted.md
THIS = str(Path(__file__).resolve().parents[1] / "src")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
ALL_THREADS = ", all threads"
SMALL = {"n_clusters": 4, "n_features_to_select": 100}
Case = tuple[np.ndarray, dict[str, Any]]


def real(name: str) -> Case:
    X, y = real_data.load(name)
    return X, {"n_clusters": len(np.unique(y)), "n_features_to_select": 100}


def mnist() -> Case:
    folder = real_data.folder()
    assert folder is not None
    with np.load(folder / "scale" / "mnist_70000x784.npz") as stored:
        return stored["X"].astype(np.float32), {"n_clusters": 10, "n_features_to_select": 100}


def small(**settings: Any) -> Case:
    return make_planted(1000, 500, n_informative=50, random_state=0).X, settings


def large(n: int, d: int, **settings: int) -> Case:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    means = rng.standard_normal((10, d // 10), dtype=np.float32)
    X[:, : d // 10] += means[rng.integers(10, size=n)]
    return X, settings


def cases() -> dict[str, Callable[[], Case]]:
    """Return the tables with the settings of their fits, by name."""
    found: dict[str, Callable[[], Case]] = {}
    if real_data.folder() is not None:
        for name in ("brain", "breast3", "nci", "jaffe", "lung", "ORL", "mnist"):
            found[name] = partial(real, name)
        found["MNIST, 70,000 x 784"] = mnist
    found["1000 x 500 (not credible: all families)"] = partial(small, **SMALL)
    found["1000 x 500, both automatic"] = partial(small, n_clusters="auto")
    found[f"1000 x 500, both automatic{ALL_THREADS}"] = partial(small, n_clusters="auto")
    given = {"n_clusters": 10, "n_features_to_select": 50}
    found["20,000 x 500"] = partial(large, 20_000, 500, **{**given, "n_features_to_select": 100})
    found["1,000,000 x 500"] = partial(large, 1_000_000, 500, **given)
    return found


# What a process runs: nothing but the featsieve that it finds first.
FIT = """
import json, sys, time
import numpy as np
from featsieve import JASFS
path, settings, repeat = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
X, seconds = np.load(path), []
for _ in range(1 if len(X) > 10_000 else repeat + 1):
    begun = time.process_time()
    JASFS(**settings, random_state=0).fit(X)
    seconds.append(time.process_time() - begun)
print(json.dumps(min(seconds[-repeat:])))
"""


def compare(name: str, case: Callable[[], Case], other: str, repeat: int) -> list[Any]:
    """Return the row of a table."""
    X, settings = case()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "X.npy")
        np.save(path, X)
        seconds = []
        for source in (other, THIS):
            paths = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])
            call = ("-c", FIT, path, json.dumps(settings), str(repeat))
            threads = {} if name.endswith(ALL_THREADS) else ONE_THREAD
            seconds.append(in_own_process(*call, variables={**threads, "PYTHONPATH": paths}))
    row = [name, *(f"{one:.2f}" for one in seconds), f"{seconds[1] / seconds[0]:.1f}"]
    print(line(row), flush=True)
    return row


# Scores: what a process of either state selects, judged by this one ------------------------------

SELECT = """
import json, sys
import numpy as np
from featsieve import JASFS
found = []
with np.load(sys.argv[1]) as stored:
    for i, (c, k) in enumerate(stored["asked"].tolist()):
        sieve = JASFS(c, n_features_to_select=k, random_state=0).fit(stored[f"X{i}"])
        found.append([np.argsort(sieve.ranking_)[:300].tolist(), sieve.labels_.tolist()])
print(json.dumps(found))
"""


def select(tables: list[tuple[np.ndarray, int, int]], source: str) -> list[list[list[int]]]:
    """Return the columns, best first, and the clusters of tables (X, clusters, features)."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "X.npz")
        arrays = {f"X{i}": X for i, (X, _, _) in enumerate(tables)}
        np.savez(path, asked=[asked for _, *asked in tables], **arrays)
        paths = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])
        return in_own_process("-c", SELECT, path, variables={**ONE_THREAD, "PYTHONPATH": paths})


def real_scores(name: str, other: str) -> list[float]:
    """Return area and own labels of a data set, in the other state and in this one."""
    X, y = real_data.prepared(name)
    asked = (X, len(np.unique(y)), min(100, X.shape[1] // 2))
    found: list[float] = []
    for source in (other, THIS):
        [(order, labels)] = select([asked], source)
        counts = [k for k in COUNTS if k <= X.shape[1]]
        area = [paper_protocol(X[:, order[:k]], y).mean()[:2] for k in counts]
        own = ClusteringScores.of_labels(y, np.array(labels)).mean()[:2]
        found += [*(100.0 * np.mean(area, axis=0)).tolist(), *(100.0 * one for one in own)]
    return found


def planted_scores(kind: str, other: str) -> list[float]:
    """Return recall and ARI of a kind of planted tables, in the other state and in this one."""
    made = [make_catalogue_table(kind, random_state=seed) for seed in range(SEEDS)]
    truths = [one for one in made for _ in range(2)]
    forms = [X for one in made for X in (one.X, StandardScaler().fit_transform(one.X))]
    asked = [
        (X, int(one.labels.max()) + 1, int(one.informative.sum()))
        for X, one in zip(forms, truths, strict=True)
    ]
    found: list[float] = []
    for source in (other, THIS):
        scores = [
            (
                100.0 * np.mean(one.informative[order[: one.informative.sum()]]),
                adjusted_rand_score(one.labels, labels),
            )
            for (order, labels), one in zip(select(asked, source), truths, strict=True)
        ]
        found += np.mean(scores, axis=0).tolist()
    return found


def score_tables(other: str, jobs: int) -> list[str]:
    """Return the lines of the page of scores."""
    lines: list[str] = []
    if real_data.folder() is not None:
        names = [name for group in GROUPS.values() for name in group]
        found = in_parallel(real_scores, [(name, other) for name in names], jobs=jobs)
        by_name = dict(zip(names, found, strict=True))
        paper, more = GROUPS["The paper's sets"], GROUPS["Other kinds of tables"]
        means = {
            "the paper's eight": paper,
            "these and 12 of scikit-feature": [name for name in names if name not in more],
            "21 others": more,
        }
        rows = {**by_name}
        for title, members in means.items():
            rows[f"**{title}**"] = np.mean([by_name[name] for name in members], axis=0).tolist()
        head = ["data set", "other: area", "this: area", "other: own", "this: own"]
        pairs = {
            name: [f"{row[i]:.1f}/{row[i + 1]:.1f}" for i in (0, 4, 2, 6)]
            for name, row in rows.items()
        }
        lines += table(head, ([name, *cells] for name, cells in pairs.items()))
    kinds = planted_kinds()
    scores = in_parallel(planted_scores, [(kind, other) for kind in kinds], jobs=jobs)
    rows = dict(zip(kinds, scores, strict=True)) | {"**mean**": np.mean(scores, axis=0).tolist()}
    head = ["kind of planted tables", "other: recall", "this: recall", "other: ARI", "this: ARI"]
    cells = [
        [kind, f"{row[0]:.0f}", f"{row[2]:.0f}", f"{row[1]:.2f}", f"{row[3]:.2f}"]
        for kind, row in rows.items()
    ]
    return [*lines, "", *table(head, cells)]


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("other", help="the folder src of another state")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--scores", action="store_true", help="scores in place of times")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time, for scores")
    parser.add_argument("--tables", nargs="+", metavar="NAME")
    arguments = parser.parse_args()
    other = str(Path(arguments.other).resolve())
    if arguments.scores:
        lines = score_tables(other, arguments.jobs)
        finish(arguments.output, "Scores of two states side by side", __doc__, lines)
        return
    chosen = {name: case for name, case in cases().items() if name in (arguments.tables or cases())}
    rows = [compare(name, case, other, arguments.repeat) for name, case in chosen.items()]
    head = ["table", "other: seconds", "this: seconds", "this / other"]
    finish(arguments.output, "Two states side by side", __doc__, table(head, rows))


if __name__ == "__main__":
    main()
